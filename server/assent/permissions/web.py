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

from assent.types.addresses import is_public

MAX_CARRIED = 256  # characters of a path or a query that a rule for the host covers: more could carry data out

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
    long: bool = False  # its path or query could carry data out


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
    long = len(parts.query) > MAX_CARRIED or len(parts.path) > MAX_CARRIED
    return Site(host=host, port=odd_port, private=is_private(host), doubt=_number_doubt(host), long=long)


def host_matches(site: Site, pattern: str, *, any_length: bool = False) -> bool:
    """Exact, or one or more labels below for `*.x`. A doubtful URL or an unusual port matches nothing.

    Nor does a path or query long enough to carry data out, unless the rule says so.
    """
    if site.doubt or site.port is not None or not site.host or (site.long and not any_length):
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
        return not is_public(_plain_number(host))
    except ValueError:
        return "." not in host  # a single label is a name of the local network


def _plain_number(host: str) -> str:
    """127.1 and 0x7f000001 as the address that most resolvers take them for."""
    if not _NUMBERS.fullmatch(host):
        return host
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return host


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
