"""Which hooks may run at all, and what those that call a server may reach: limits from settings files. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

POLICY_ONLY = "allowManagedHooksOnly"
URLS = "allowedHttpHookUrls"
VARIABLES = "httpHookAllowedEnvVars"
_ODD = re.compile(r"[\x00-\x20\\\x7f-\x9f]")  # what one parser skips and another reads as a part of the host


@dataclass(frozen=True, slots=True, kw_only=True)
class HookLimits:
    """Each level of settings with a list, the user's own and the project's, has to allow: a project widens nothing."""

    policy_only: bool = False  # hooks of the policy alone, and those of the program that embeds us
    urls: tuple[tuple[str, ...], ...] = ()
    variables: tuple[tuple[str, ...], ...] = ()

    def allow_url(self, url: str) -> bool:
        return all(any(_matches(pattern, url) for pattern in level) for level in self.urls)

    def allowed_variables(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if all(name in level for level in self.variables)]


def _matches(pattern: str, url: str) -> bool:
    """`*` stands for anything. Names of hosts are compared as DNS does; an address with a user in it never matches."""
    if _ODD.search(url):
        return False
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    if not host or "@" in parts.netloc:
        return False
    host = f"[{host}]" if ":" in host else host.rstrip(".")
    rest = f"{parts.path}?{parts.query}" if parts.query else parts.path
    wanted = _plain_host(pattern)
    plain = f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{rest}"
    expression = "".join(".*" if part == "*" else re.escape(part) for part in re.split(r"(\*)", wanted))
    return re.fullmatch(expression, plain, re.DOTALL) is not None


def _plain_host(pattern: str) -> str:
    scheme, mark, rest = pattern.partition("://")
    place, slash, path = rest.partition("/")
    name, colon, port = place.rpartition(":") if re.search(r":[\d*]*$", place) else (place, "", "")
    return f"{scheme.lower()}{mark}{name.lower().rstrip('.')}{colon}{port}{slash}{path}"
