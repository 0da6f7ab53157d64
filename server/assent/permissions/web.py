"""Which host a URL really names, and whether that host is inside the user's own network.

One strict reading: what two parsers could disagree on (userinfo, backslashes, blanks, odd numbers) is called doubtful,
and no rule ever allows it. Resolves no names; the fetching tool checks addresses again, at every hop.
"""

import ipaddress
import re
import socket
import unicodedata
from dataclasses import dataclass
from urllib.parse import urlsplit

_LABEL = r"(?!-)[a-z0-9_-]{1,63}(?<!-)"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NUMBERS = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+))*")
_LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".intranet", ".lan", ".home", ".corp", ".home.arpa")
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A URL's host, lower-case ASCII; `doubt` says why no rule may vouch for it."""

    host: str = ""
    port: int | None = None
    private: bool = False
    doubt: str = ""


def site_of(url: str) -> Site:
    if any(ord(c) < 33 or ord(c) == 127 for c in url):
        return Site(doubt="the URL holds blanks or control characters")
    if "\\" in url:
        return Site(doubt="the URL holds a backslash, which browsers and libraries read differently")
    if any(unicodedata.category(c) in ("Cf", "Zs", "Zl", "Zp", "Cs") for c in url):
        return Site(doubt="the URL holds invisible characters")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return Site(doubt=f"the URL cannot be read: {error}")
    if parts.scheme not in DEFAULT_PORTS:
        return Site(doubt="only http and https URLs are fetched")
    if "@" in parts.netloc:
        return Site(host=_ascii(parts.hostname or ""), doubt="the URL holds a user name, which can pass for a host")
    if "%" in parts.netloc:
        return Site(doubt="the host is percent-encoded")
    given = parts.hostname or ""
    host = _ascii(given)
    if not host:
        return Site(doubt="the URL names no valid host")
    if given.endswith(".") or parts.netloc.endswith(":"):
        return Site(host=host, private=is_private(host), doubt="the host ends in an unusual way")
    if not given.isascii() and "xn--" not in host:
        return Site(host=host, private=is_private(host), doubt="the host is written with letters that only look plain")
    odd_port = port if port is not None and port != DEFAULT_PORTS[parts.scheme] else None
    return Site(host=host, port=odd_port, private=is_private(host), doubt=_number_doubt(host))


def host_matches(site: Site, pattern: str) -> bool:
    """Exact, or one or more labels below for `*.x`. A doubtful URL or an unusual port matches nothing."""
    if site.doubt or site.port is not None or not site.host:
        return False
    if pattern.startswith("*."):
        return site.host.endswith(pattern[1:])
    return site.host == pattern


def host_denied(site: Site, pattern: str) -> bool:
    """For deny and ask rules: any reading of the host that meets the rule counts, also subdomains and odd ports."""
    bare = pattern.removeprefix("*.")
    return bool(site.host) and (site.host == bare or site.host.endswith("." + bare))


def valid_domain_pattern(host: str) -> bool:
    bare = host.removeprefix("*.")
    return _ascii(bare) == bare and bool(bare) and (bare == host or "." in bare)


def is_private(host: str) -> bool:
    """Loopback, private, link-local or otherwise not on the public Internet, by name or by address."""
    if host == "localhost" or host.endswith(_LOCAL_SUFFIXES):
        return True
    try:
        address = ipaddress.ip_address(_plain_number(host))
    except ValueError:
        return "." not in host  # a single label is a name of the local network
    mapped = getattr(address, "ipv4_mapped", None) or getattr(address, "sixtofour", None) or _embedded(address)
    return not address.is_global or address.is_multicast or (mapped is not None and not mapped.is_global)


def _plain_number(host: str) -> str:
    """127.1 and 0x7f000001 as the address that most resolvers take them for."""
    if not _NUMBERS.fullmatch(host):
        return host
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return host


_EMBEDDING = tuple(ipaddress.IPv6Network(network) for network in ("::/96", "64:ff9b::/96", "64:ff9b:1::/48"))
"""IPv6 networks whose last 32 bits are an IPv4 address: the old compatible form, and translation (NAT64)."""


def _embedded(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if isinstance(address, ipaddress.IPv6Address) and any(address in network for network in _EMBEDDING):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _number_doubt(host: str) -> str:
    """0x7f.1 and 2130706433 are addresses to some resolvers and names to others."""
    if ":" in host or not _NUMBERS.fullmatch(host):
        return ""
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return "the host is a number in an unusual form"
    return ""


def _ascii(host: str) -> str:
    """The host in ASCII without a final dot, or empty when it is no host name."""
    host = host.casefold().removesuffix(".")
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            return ""
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return ""
    return host if len(host) <= 253 and _NAME.fullmatch(host) else ""
