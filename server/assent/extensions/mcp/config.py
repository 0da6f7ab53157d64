"""One MCP server's configuration: reading an entry, expanding variables, and the hash that an approval is keyed on.

Entries have the shape that `.mcp.json` files of other programs have. Pure: it reads no file and starts nothing.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import orjson

from assent.types.blocks import Json

Transport = Literal["stdio", "http", "sse"]
Scope = Literal["user", "project", "local", "editor", "cli", "session", "policy", "plugin", "client"]
OWN_SCOPES: frozenset[Scope] = frozenset({"user", "cli", "session", "policy", "client"})
"""Servers that the user configured: they need no approval, and their entries may name secrets."""

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_SECRET = re.compile(
    r"^(ANTHROPIC_|ASSENT_|CLAUDE_CODE_|AWS_)|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY",
    re.IGNORECASE,
)
_TYPES: dict[str, Transport] = {"stdio": "stdio", "http": "http", "streamable-http": "http", "sse": "sse"}
_SHORTEST_TIMEOUT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthOptions:
    client_id: str = ""
    callback_port: int = 0
    scopes: str = ""


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
        return hashlib.sha256(orjson.dumps([*parts, sorted(self.headers)])).hexdigest()

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
    own: bool | None = None,
    lenient: bool = False,
) -> ServerConfig | Rejected:
    """One entry of `mcpServers`. `variables` is the environment that `${NAME}` looks into.

    `lenient` takes a `url` without a `type`, as files of Cursor have it. `own` overrides what the scope says about
    whether the user wrote the entry, for editor settings that the editor marks as the user's.
    """

    def rejected(problem: str) -> Rejected:
        return Rejected(name=name, scope=scope, source=source, problem=problem)

    if not _NAME.fullmatch(name.replace(":", "_") if scope == "plugin" else name):
        return rejected("a server's name holds only letters, digits, `_` and `-`")
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
        texts = _Texts(variables, secrets_allowed=(scope in OWN_SCOPES) if own is None else own)
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
            headers_helper=str(raw.get("headersHelper", "")) if transport != "stdio" else "",
            oauth=_oauth(raw.get("oauth", {})),
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
    address = urlsplit(config.url)
    if transport != "stdio" and (address.scheme not in ("http", "https") or not address.netloc):
        return rejected("`url` must begin with http:// or https://")
    return config


def tool_name(server: str, tool: str) -> str:
    """The name the model uses. Characters that the API does not take become `_`."""
    return f"mcp__{safe_name(server)}__{safe_name(tool)}"[:128]


def safe_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def secret_shaped(variable: str) -> bool:
    return _SECRET.search(variable) is not None


class _Texts:
    """Expands variables in strings, and keeps what is odd about them."""

    def __init__(self, variables: Mapping[str, str], *, secrets_allowed: bool) -> None:
        self._variables = variables
        self._secrets_allowed = secrets_allowed
        self.problems: list[str] = []

    def one(self, where: str, text: object) -> str:
        if not isinstance(text, str):
            raise TypeError(f"`{where}` must hold text")
        if text != text.strip():
            self.problems.append(f"`{where}` begins or ends with white space: {text!r}")

        def value(match: re.Match[str]) -> str:
            name, default = match.group(1), cast("str | None", match.group(2))
            if not self._secrets_allowed and secret_shaped(name):
                self.problems.append(f"`{where}` names {name}, which only your own settings may pass on")
                return match.group(0)
            found = self._variables.get(name) or default
            if found is None:
                self.problems.append(f"`{where}` names the variable {name}, which is not set")
                return match.group(0)
            return found

        return _VARIABLE.sub(value, text)

    def table(self, where: str, values: object) -> dict[str, str]:
        if not isinstance(values, Mapping):
            raise TypeError(f"`{where}` must be an object")
        return {
            str(key): self.one(f"{where}.{key}", str(value) if isinstance(value, int | float) else value)
            for key, value in cast("Json", values).items()
            if value is not None
        }


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("`args` must be a list")
    return cast("list[Any]", value)


def _oauth(value: object) -> OAuthOptions:
    if not isinstance(value, Mapping):
        raise TypeError("`oauth` must be an object")
    raw = cast("Json", value)
    metadata = str(raw.get("authServerMetadataUrl", ""))
    if metadata and not metadata.startswith("https://"):
        raise TypeError("`oauth.authServerMetadataUrl` must begin with https://")
    port = raw.get("callbackPort", 0)
    return OAuthOptions(
        client_id=str(raw.get("clientId", "")),
        callback_port=port if isinstance(port, int) and 0 <= port < 65536 else 0,
        scopes=str(raw.get("scopes", "")),
    )


def _timeout(value: object) -> float | None:
    return value / 1000 if isinstance(value, int | float) and value >= _SHORTEST_TIMEOUT else None


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w@%+=:,./-]+", word) else "'" + word.replace("'", "'\\''") + "'"
