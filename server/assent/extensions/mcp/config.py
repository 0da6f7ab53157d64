"""One MCP server's configuration: reading an entry, expanding variables, and the hash that an approval is keyed on.

Entries have the shape that `.mcp.json` files of other programs have. Pure: it reads no file and starts nothing.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import orjson

from assent.text.uris import split
from assent.types.blocks import Json
from assent.types.secret_names import secret_named

Transport = Literal["stdio", "http", "sse"]
Scope = Literal["user", "project", "local", "editor", "cli", "session", "policy", "plugin", "client"]
OWN_SCOPES: frozenset[Scope] = frozenset({"user", "cli", "session", "policy", "client"})
"""Servers that the user configured: they need no approval, and their entries may name secrets."""

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_OURS = re.compile(r"(?:ANTHROPIC|ASSENT|CLAUDE_CODE|AWS)_", re.IGNORECASE)
_LOOPBACK = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?/")
_TYPES: dict[str, Transport] = {"stdio": "stdio", "http": "http", "streamable-http": "http", "sse": "sse"}
_SHORTEST_TIMEOUT = 1000
LONGEST_NAME = 128  # of a tool, as the API takes it


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthOptions:
    client_id: str = ""
    callback_port: int = 0
    scopes: str = ""
    metadata_url: str = ""  # where the authorization server describes itself, instead of what discovery finds
    client_metadata_url: str = ""  # a document that says who we are, for servers that take its address as a client id


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """One server, with its variables expanded. `source` names the file that holds the entry."""

    name: str
    scope: Scope
    source: str
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    headers_helper: str = ""
    oauth: OAuthOptions = field(default_factory=OAuthOptions)
    timeout: float | None = None  # seconds a tool call may take
    always_load: bool = False
    cwd: str = ""  # unset: the folder the session works in
    disabled: bool = False
    sampling: bool = False  # the user lets this server call the model
    problems: tuple[str, ...] = ()
    withheld: str = ""  # why it may not even be approved now

    @property
    def own(self) -> bool:
        return self.scope in OWN_SCOPES

    @property
    def hash(self) -> str:
        """What an approval covers: command, arguments, names of variables, address, and what supplies headers."""
        parts = [
            self.transport,
            self.command,
            list(self.args),
            sorted(self.env),
            self.url,
            self.headers_helper,
            self.cwd,
        ]
        asked = [self.oauth.metadata_url] if self.oauth.metadata_url else []  # it says where the user signs in
        return hashlib.sha256(orjson.dumps([*parts, sorted(self.headers), *asked])).hexdigest()

    @property
    def endpoint(self) -> tuple[str, ...]:
        """What it is reached by: two entries with the same one are the same server."""
        return (self.transport, self.command, *self.args, self.url)

    @property
    def identity(self) -> str:
        """What cached knowledge is keyed on: the approval's hash, and the server's name."""
        return hashlib.sha256(f"{self.name}\n{self.hash}".encode()).hexdigest()[:32]

    @property
    def shown(self) -> str:
        """The whole configuration in words, for a person who has to approve it. Values of variables are not shown."""
        if self.transport == "stdio":
            lines = ["command: " + " ".join(_quoted(word) for word in (self.command, *self.args))]
        else:
            lines = [f"{self.transport}: {self.url}"]
        if self.cwd:
            lines.append(f"runs in: {self.cwd}")
        if self.env:
            lines.append("variables: " + ", ".join(sorted(self.env)))
        if self.headers:
            lines.append("headers: " + ", ".join(sorted(self.headers)))
        if self.headers_helper:
            lines.append(f"command for headers: {self.headers_helper}")
        if self.oauth.metadata_url:
            lines.append(f"you sign in as described at: {self.oauth.metadata_url}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """An entry that cannot be used, and why."""

    name: str
    scope: Scope
    source: str
    problem: str


def read_entry(
    name: str,
    entry: object,
    *,
    scope: Scope,
    source: str,
    variables: Mapping[str, str],
    given: Mapping[str, str] | None = None,
    own: bool | None = None,
    lenient: bool = False,
) -> ServerConfig | Rejected:
    """One entry of `mcpServers`. `variables` is the environment that `${NAME}` looks into, `given` comes before it.

    `lenient` takes a `url` without a `type`, as files of Cursor have it. `own` overrides what the scope says about
    whether the user wrote the entry, for editor settings that the editor marks as the user's.
    """

    def rejected(problem: str) -> Rejected:
        return Rejected(name=name, scope=scope, source=source, problem=problem)

    known_by = name.replace(":", "_") if scope == "plugin" else name
    if not _NAME.fullmatch(known_by):
        return rejected("a server's name holds only letters, digits, `_` and `-`")
    if "__" in known_by or known_by.endswith("_"):
        return rejected("a server's name holds no `__` and ends in no `_`: `__` separates it from its tools in rules")
    if not isinstance(entry, Mapping):
        return rejected("the entry must be an object")
    raw = cast("Json", entry)
    said = raw.get("type", "http" if lenient and "url" in raw and "command" not in raw else None)
    if said is None and "url" in raw and "command" not in raw:
        return rejected('a `url` needs a `type`: "http" or "sse"')
    if said == "ws":
        return rejected("the transport `ws` is not supported; use http")
    transport = _TYPES.get(str(said or "stdio"))
    if transport is None:
        return rejected(f"{said!r} is not a transport; use stdio, http or sse")
    try:
        oauth = _oauth(raw.get("oauth", {}))
        texts = _Texts(variables, given or {}, secrets_allowed=(scope in OWN_SCOPES) if own is None else own)
        config = ServerConfig(
            name=name,
            scope="user" if own and scope == "editor" else scope,
            source=source,
            transport=transport,
            command=texts.one("command", raw.get("command", "")) if transport == "stdio" else "",
            args=tuple(texts.one("args", word) for word in _list(raw.get("args", []))) if transport == "stdio" else (),
            env=texts.table("env", raw.get("env", {})) if transport == "stdio" else {},
            url=texts.one("url", raw.get("url", "")) if transport != "stdio" else "",
            headers=texts.table("headers", raw.get("headers", {})) if transport != "stdio" else {},
            headers_helper=_plain("headersHelper", str(raw.get("headersHelper", ""))) if transport != "stdio" else "",
            oauth=oauth,
            timeout=_timeout(raw.get("timeout")),
            always_load=raw.get("alwaysLoad") is True,
            cwd=texts.one("cwd", raw.get("cwd", "")) if transport == "stdio" else "",
            disabled=raw.get("disabled") is True,
            sampling=raw.get("sampling") is True and ((scope in OWN_SCOPES) if own is None else own),
            problems=tuple(texts.problems),
        )
    except TypeError as error:
        return rejected(str(error))
    if transport == "stdio" and not config.command:
        return rejected("`command` is missing")
    if transport != "stdio" and not config.url:
        return rejected("not configured: `url` is empty")
    address = split(config.url)
    if transport != "stdio" and (address.scheme not in ("http", "https") or not address.netloc):
        return rejected("`url` must begin with http:// or https://")
    return config


def tool_name(server: str, tool: str) -> str:
    """The name the model uses. Characters that the API does not take become `_`."""
    return f"mcp__{safe_name(server)}__{safe_name(tool)}"[:LONGEST_NAME]


def safe_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def secret_shaped(variable: str) -> bool:
    return secret_named(variable) or _OURS.match(variable) is not None


class _Texts:
    """Expands variables in strings, and keeps what is odd about them."""

    def __init__(self, variables: Mapping[str, str], given: Mapping[str, str], *, secrets_allowed: bool) -> None:
        self._variables = variables
        self._given = given  # known by us, whatever their names look like
        self._secrets_allowed = secrets_allowed
        self.problems: list[str] = []

    def one(self, where: str, text: object) -> str:
        if not isinstance(text, str):
            raise TypeError(f"`{where}` must hold text")
        if text != text.strip():
            self.problems.append(f"`{where}` begins or ends with white space: {text!r}")

        def value(match: re.Match[str]) -> str:
            name, default = match.group(1), cast("str | None", match.group(2))
            if name in self._given:
                return self._given[name]
            if not self._secrets_allowed and secret_shaped(name):
                self.problems.append(f"`{where}` names {name}, which only your own settings may pass on")
                return match.group(0)
            found = self._variables.get(name)
            found = default if default is not None and not found else found
            if found is None:
                self.problems.append(f"`{where}` names the variable {name}, which is not set")
                return match.group(0)
            return found

        return _plain(where, _VARIABLE.sub(value, text))

    def table(self, where: str, values: object) -> dict[str, str]:
        if not isinstance(values, Mapping):
            raise TypeError(f"`{where}` must be an object")
        return {
            _plain(where, str(key)): self.one(f"{where}.{key}", str(value) if isinstance(value, int | float) else value)
            for key, value in cast("Json", values).items()
            if value is not None
        }


def _plain(where: str, text: str) -> str:
    """Raises TypeError for what neither a program nor an address takes, wherever it came from."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise TypeError(f"`{where}` holds a character that cannot be passed on")
    return text


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("`args` must be a list")
    return cast("list[Any]", value)


def _oauth(value: object) -> OAuthOptions:
    if not isinstance(value, Mapping):
        raise TypeError("`oauth` must be an object")
    raw = cast("Json", value)
    metadata, document = (
        _plain("oauth", str(raw.get(key, ""))) for key in ("authServerMetadataUrl", "clientMetadataUrl")
    )
    if metadata and not (metadata.startswith("https://") or _LOOPBACK.match(metadata)):
        raise TypeError("`oauth.authServerMetadataUrl` must begin with https://")
    if document and not document.startswith("https://"):
        raise TypeError("`oauth.clientMetadataUrl` must begin with https://")
    port = raw.get("callbackPort", 0)
    return OAuthOptions(
        client_id=_plain("oauth", str(raw.get("clientId", ""))),
        callback_port=port if isinstance(port, int) and 0 <= port < 65536 else 0,
        scopes=_plain("oauth", str(raw.get("scopes", ""))),
        metadata_url=metadata,
        client_metadata_url=document,
    )


def _timeout(value: object) -> float | None:
    return value / 1000 if isinstance(value, int | float) and value >= _SHORTEST_TIMEOUT else None


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w@%+=:,./-]+", word) else "'" + word.replace("'", "'\\''") + "'"
