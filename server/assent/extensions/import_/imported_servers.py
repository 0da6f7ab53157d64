"""MCP servers as other tools write them, made into entries of our own settings.

Each reader takes the parsed file of one tool and gives server by server an entry, or why there can be none. Variables
become `${NAME}`, which is expanded when the server starts. Starts nothing and contacts nobody.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from assent.types.blocks import Json

_ENV = re.compile(r"\$\{env:([A-Za-z_]\w*)\}|\{env:([A-Za-z_]\w*)\}")
_INPUT = re.compile(r"\$\{input:([^}]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundServer:
    name: str
    entry: Json | None  # None: it cannot be taken over
    note: str = ""  # why not, or what is lost


Reader = Callable[[Json], Iterator[FoundServer]]


def claude_style(said: Json, key: str = "mcpServers") -> Iterator[FoundServer]:
    """Claude, Cursor, Copilot CLI: our own form already, but for variables and a missing `type`."""
    yield from _not_objects(said.get(key))
    for name, entry in _entries(said.get(key)):
        kind = str(entry.get("type") or ("http" if entry.get("url") else "stdio"))
        kind = {"streamable-http": "http", "local": "stdio", "remote": "http"}.get(kind, kind)
        yield _server(name, {**entry, "type": kind})


def vscode(said: Json) -> Iterator[FoundServer]:
    """`servers`, with `inputs` that VS Code asks for: those become variables the user sets."""
    yield from _not_objects(said.get("servers"))
    for name, entry in _entries(said.get("servers")):
        asked = sorted(set(_INPUT.findall(str(entry))))
        plain = cast("Json", _replaced(entry, _INPUT, lambda match: f"${{{_variable(match[1])}}}"))
        kind = str(plain.get("type") or ("http" if plain.get("url") else "stdio"))
        if str(plain.get("url", "")).startswith(("unix:", "pipe:")):
            yield FoundServer(name=name, entry=None, note="it listens on a local socket, which is not supported")
            continue
        if "cwd" in plain or "envFile" in plain:
            left = [key for key in ("cwd", "envFile") if key in plain]
            note = f"{', '.join(left)} cannot be taken over"
        else:
            note = ""
        if asked:
            names = ", ".join(_variable(each) for each in asked)
            note = "; ".join(filter(None, (note, f"set the variables {names} before it is used")))
        found = _server(name, {**plain, "type": kind})
        yield FoundServer(name=found.name, entry=found.entry, note="; ".join(filter(None, (found.note, note))))


def codex(said: Json) -> Iterator[FoundServer]:
    """`[mcp_servers.NAME]` of config.toml."""
    yield from _not_objects(said.get("mcp_servers"))
    for name, entry in _entries(said.get("mcp_servers")):
        if entry.get("enabled") is False:
            yield FoundServer(name=name, entry=None, note="it is switched off there")
            continue
        notes: list[str] = []
        if entry.get("url"):
            headers = {key: str(value) for key, value in _object(entry.get("http_headers")).items()}
            headers |= {key: f"${{{value}}}" for key, value in _object(entry.get("env_http_headers")).items()}
            if token := entry.get("bearer_token_env_var"):
                headers["Authorization"] = f"Bearer ${{{token}}}"
            plain: Json = {"type": "http", "url": entry["url"], "headers": headers}
        else:
            env = {key: str(value) for key, value in _object(entry.get("env")).items()}
            env |= {str(name): f"${{{name}}}" for name in cast("list[object]", entry.get("env_vars") or [])}
            plain = {"type": "stdio", "command": entry.get("command"), "args": entry.get("args"), "env": env}
        if seconds := entry.get("tool_timeout_sec"):
            plain["timeout"] = int(float(seconds) * 1000)
        for key in ("enabled_tools", "disabled_tools", "cwd", "http_headers_helper"):
            if entry.get(key):
                notes.append(f"{key} cannot be taken over")
        found = _server(name, plain)
        yield FoundServer(name=found.name, entry=found.entry, note="; ".join(filter(None, (found.note, *notes))))


def opencode(said: Json) -> Iterator[FoundServer]:
    """`mcp`, whose `command` is a list and whose variables are in `environment`."""
    yield from _not_objects(said.get("mcp"))
    for name, entry in _entries(said.get("mcp")):
        if entry.get("enabled") is False:
            yield FoundServer(name=name, entry=None, note="it is switched off there")
        elif entry.get("type") == "remote" or entry.get("url"):
            yield _server(name, {"type": "http", "url": entry.get("url"), "headers": entry.get("headers")})
        else:
            words = entry.get("command")
            command, *args = [str(word) for word in cast("list[object]", words)] if isinstance(words, list) else [words]
            environment = entry.get("environment")
            yield _server(name, {"type": "stdio", "command": command, "args": args, "env": environment})


def _server(name: str, said: Json) -> FoundServer:
    """One entry in our form; what is empty is left out."""
    plain = cast("Json", _replaced(said, _ENV, lambda match: f"${{{match[1] or match[2]}}}"))
    ours = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")
    note = f"it is called {ours} here" if ours != name else ""
    if not ours:
        return FoundServer(name=name, entry=None, note="its name has no usable character")
    match plain.get("type"):
        case "stdio" if isinstance(plain.get("command"), str) and plain["command"]:
            keys = ("command", "args", "env", "timeout")
        case "http" | "sse" | "ws" if isinstance(plain.get("url"), str) and plain["url"]:
            keys = ("type", "url", "headers", "oauth", "timeout")
        case kind:
            what = "no command" if kind == "stdio" else "no address"
            return FoundServer(name=ours, entry=None, note=f"it has {what}")
    return FoundServer(name=ours, entry={key: plain[key] for key in keys if plain.get(key)}, note=note)


def _replaced(value: Any, pattern: re.Pattern[str], by: Callable[[re.Match[str]], str]) -> Any:
    if isinstance(value, str):
        return pattern.sub(by, value)
    if isinstance(value, dict):
        return {key: _replaced(each, pattern, by) for key, each in cast("Json", value).items()}
    if isinstance(value, list):
        return [_replaced(each, pattern, by) for each in cast("list[Any]", value)]
    return value


def _variable(text: str) -> str:
    return re.sub(r"\W+", "_", text).upper()


def _entries(value: object) -> Iterator[tuple[str, Json]]:
    for name, entry in _object(value).items():
        if isinstance(entry, dict):
            yield name, cast("Json", entry)


def _not_objects(value: object) -> Iterator[FoundServer]:
    for name, entry in _object(value).items():
        if not isinstance(entry, dict):
            yield FoundServer(name=name, entry=None, note="it is not an object")


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}
