"""Which IP addresses lie on the open Internet: the one place that says so, for rules and for the fetching tool alike.

What Python's `ipaddress` knows of the registries of special-purpose addresses differs from version to version, so
`LISTED` names what must never be taken for public, whichever Python runs. An address that carries an IPv4 address
inside counts as public only if the inner one does too.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

LISTED: dict[str, str] = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private use",
    "100.64.0.0/10": "shared by carriers (CGNAT)",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local, cloud metadata",
    "172.16.0.0/12": "private use",
    "192.0.0.0/24": "protocol assignments",
    "192.0.2.0/24": "documentation",
    "192.88.99.0/24": "6to4 relays, retired",
    "192.168.0.0/16": "private use",
    "198.18.0.0/15": "benchmarks between networks",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved, broadcast",
    "::/128": "unspecified",
    "::1/128": "loopback",
    "64:ff9b:1::/48": "translation inside a network",
    "100::/64": "discarded",
    "100:0:0:1::/64": "dummy prefix",
    "2001::/32": "Teredo, a tunnel to an address behind a NAT",
    "2001:2::/48": "benchmarks",
    "2001:10::/28": "ORCHID, retired",
    "2001:20::/28": "ORCHID, no addresses of hosts",
    "2001:db8::/32": "documentation",
    "3fff::/20": "documentation",
    "5f00::/16": "segment routing",
    "fc00::/7": "private use",
    "fe80::/10": "link-local",
    "fec0::/10": "site-local, retired",
    "ff00::/8": "multicast",
}
"""Networks that are not the open Internet, and what they are."""

EMBEDDING: dict[str, str] = {
    "::/96": "IPv4-compatible, retired",
    "::ffff:0:0/96": "IPv4-mapped",
    "::ffff:0:0:0/96": "IPv4-translated",
    "64:ff9b::/96": "translated by NAT64",
}
"""Networks whose last 32 bits are an IPv4 address. 6to4 and ISATAP carry theirs elsewhere."""

_LISTED = tuple(ip_network(network) for network in LISTED)
_EMBEDDING = tuple(IPv6Network(network) for network in EMBEDDING)
_SIX_TO_FOUR = IPv6Network("2002::/16")
_ISATAP = (0x00005EFE, 0x02005EFE)


def is_public(address: str | IPv4Address | IPv6Address) -> bool:
    """Reachable on the open Internet, also when the address wraps another one. Raises ValueError for no address."""
    if isinstance(address, str):
        address = ip_address(address.split("%", 1)[0])
    if any(address in network for network in _LISTED if _same_family(address, network)):
        return False
    inner = _inner(address) if isinstance(address, IPv6Address) else None
    if inner is not None:
        return is_public(inner)
    return address.is_global and not address.is_multicast


def _same_family(address: IPv4Address | IPv6Address, network: IPv4Network | IPv6Network) -> bool:
    return address.version == network.version


def _inner(address: IPv6Address) -> IPv4Address | None:
    number = int(address)
    if any(address in network for network in _EMBEDDING) or (number >> 32) & 0xFFFFFFFF in _ISATAP:
        return IPv4Address(number & 0xFFFFFFFF)
    if address in _SIX_TO_FOUR:
        return IPv4Address((number >> 80) & 0xFFFFFFFF)
    return None
