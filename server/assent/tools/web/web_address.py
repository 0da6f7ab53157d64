"""Which web addresses may be fetched, and where exactly they lead.

A URL is taken only in its plainest form. Its host is resolved once and the connection goes to that very address, so a
name cannot mean a public address when it is checked and a private one when it is used.
"""

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from anyio import to_thread

from assent.types.addresses import is_public
from assent.types.errors import ToolError

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A URL whose host was looked up: `ip` is where to connect, `host` whom to speak to."""

    url: str
    scheme: str
    host: str
    port: int
    ip: str
    target: str  # path and query


def normal_url(url: str, *, upgrade: bool = True) -> SplitResult:
    """The URL in plain form, http made https unless it names a port. Raises ToolError for what could be misread."""
    url = url.strip()
    if any(ord(c) <= 32 or ord(c) == 127 for c in url) or "\\" in url or len(url) > 4000:
        raise ToolError("The URL holds spaces, control characters or backslashes, or is too long")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ToolError(f"The URL cannot be understood: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise ToolError("Only http and https URLs can be fetched")
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise ToolError("A URL with a user name or password is not fetched")
    host = _host(parts.hostname or "")
    shown = f"[{host}]" if ":" in host else host
    scheme = "https" if upgrade and parts.scheme == "http" and port is None else parts.scheme
    netloc = shown if port is None else f"{shown}:{port}"
    return SplitResult(scheme=scheme, netloc=netloc, path=parts.path or "/", query=parts.query, fragment="")


async def looked_up(
    parts: SplitResult, *, resolve: Resolve, private_allowed: Callable[[str], bool], proxied: bool = False
) -> Address:
    """Resolve the host and refuse private addresses; every answer must be public, not just one of them.

    Behind a proxy the name may be known to the proxy alone: then it is the proxy that decides where it leads.
    """
    host = parts.hostname or ""
    port = origin(parts)[2]
    try:
        found = await resolve(host, port)
    except OSError as error:
        if not proxied:
            raise ToolError(f"{host} cannot be found: {error.strerror or error}") from None
        return _address(parts, host, port, host)
    if not found:
        raise ToolError(f"{host} has no address")
    if not private_allowed(host):
        for ip in found:
            if not is_public(ip):
                raise ToolError(
                    f"{host} leads to {ip}, a private or local address, which is not fetched. "
                    "The user can allow the host in the settings (allowPrivateAddresses)"
                )
    return _address(parts, host, port, host if proxied else found[0])


def origin(parts: SplitResult) -> tuple[str, str, int]:
    """Whom a URL speaks to: another scheme or port is another program, whatever the name."""
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def proxy_for(parts: SplitResult) -> str | None:
    """The proxy that the user's environment names for this URL."""
    from urllib.request import getproxies_environment, proxy_bypass  # slow to import, and seldom needed

    if proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies_environment()
    found = proxies.get(parts.scheme) or proxies.get("all")
    return found if found and found.startswith(("http://", "https://", "socks5")) else None


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """What the system says, in its order of preference."""
    found = await to_thread.run_sync(
        lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), abandon_on_cancel=True
    )
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _address(parts: SplitResult, host: str, port: int, ip: str) -> Address:
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    return Address(url=parts.geturl(), scheme=parts.scheme, host=host, port=port, ip=ip, target=target)


def _host(host: str) -> str:
    host = host.rstrip(".").lower()
    if not host:
        raise ToolError("The URL names no host")
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            raise ToolError(f"{host} is not a valid address") from None
    try:
        encoded = host.encode("idna").decode("ascii")
    except UnicodeError:
        raise ToolError(f"{host} is not a valid host name") from None
    if not all(c.isalnum() or c in "-._" for c in encoded):
        raise ToolError(f"{host} is not a valid host name")
    return encoded
