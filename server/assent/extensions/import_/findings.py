"""What other tools left: their MCP servers, hooks, rules, instructions, skills, commands and agents.

Most of it is read where it lies and needs no import; only servers of other tools are taken over into our settings, on
request. A project's own files are looked at like all of its files: nothing in them starts here.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import orjson

from assent.extensions.definitions import FileNotice
from assent.extensions.import_ import imported_servers
from assent.extensions.import_.imported_servers import FoundServer, Reader
from assent.extensions.places import moved_claude_home
from assent.types.blocks import Json
from assent.types.regular_files import read_regular

LARGEST = 20_000_000  # ~/.claude.json grows with the history it keeps
Scope = Literal["user", "project"]
State = Literal["live", "offered", "unusable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`live` is used as it is, `offered` can be taken over, `unusable` says why in `meaning`."""

    tool: str
    kind: str
    name: str
    file: str
    scope: Scope
    state: State
    meaning: str
    entry: Json | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Importable:
    findings: tuple[Finding, ...]
    notices: tuple[FileNotice, ...]


@dataclass(frozen=True, slots=True)
class _File:
    tool: str
    path: str
    scope: Scope
    read: Reader


def look(*, cwd: str, home: str, claude: str = "", known: Sequence[str] = ()) -> Importable:
    """Everything there is. `claude` is where `~/.claude` was moved to, if it was; `known` are the servers that our own
    settings name already."""
    findings: list[Finding] = []
    notices: list[FileNotice] = []
    for file in _server_files(cwd, home):
        for server in _servers(file, notices):
            findings.append(_server_finding(file, server, known))
    findings += _live(cwd, home, claude or f"{home}/.claude")
    return Importable(findings=tuple(findings), notices=tuple(notices))


def _server_finding(file: _File, server: FoundServer, known: Sequence[str]) -> Finding:
    state: State = "offered" if server.entry is not None else "unusable"
    if server.entry is None:
        meaning = server.note
    elif server.name in known:
        state, meaning = "live", "a server of this name is in your settings already"
    else:
        meaning = "can be taken over" + (f"; {server.note}" if server.note else "")
    return Finding(
        tool=file.tool,
        kind="mcpServer",
        name=server.name,
        file=file.path,
        scope=file.scope,
        state=state,
        meaning=meaning,
        entry=server.entry,
    )


def _server_files(cwd: str, home: str) -> Iterator[_File]:
    def of_project(said: Json) -> Iterator[FoundServer]:
        projects = said.get("projects")
        mine = cast("Json", projects).get(cwd) if isinstance(projects, dict) else None
        yield from imported_servers.claude_style(cast("Json", mine) if isinstance(mine, dict) else {})

    claude = f"{moved_claude_home() or home}/.claude.json"
    code = f"{home}/Library/Application Support/Code" if sys.platform == "darwin" else f"{home}/.config/Code"
    yield _File("Claude Code", claude, "user", imported_servers.claude_style)
    yield _File("Claude Code", claude, "project", of_project)
    yield _File("Codex", f"{home}/.codex/config.toml", "user", imported_servers.codex)
    yield _File("Codex", f"{cwd}/.codex/config.toml", "project", imported_servers.codex)
    yield _File("Cursor", f"{home}/.cursor/mcp.json", "user", imported_servers.claude_style)
    yield _File("Cursor", f"{cwd}/.cursor/mcp.json", "project", imported_servers.claude_style)
    yield _File("VS Code", f"{code}/User/mcp.json", "user", imported_servers.vscode)
    yield _File("VS Code", f"{cwd}/.vscode/mcp.json", "project", imported_servers.vscode)
    yield _File("Copilot", f"{home}/.copilot/mcp-config.json", "user", imported_servers.claude_style)
    for name in ("opencode.json", "opencode.jsonc"):
        yield _File("opencode", f"{home}/.config/opencode/{name}", "user", imported_servers.opencode)
        yield _File("opencode", f"{cwd}/{name}", "project", imported_servers.opencode)


def _servers(file: _File, notices: list[FileNotice]) -> list[FoundServer]:
    try:
        data = read_regular(file.path, limit=LARGEST).data
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        notices.append(FileNotice(file=file.path, text=f"is not read: it {error.strerror or error}"))
        return []
    try:
        return list(file.read(_parsed(file.path, data)))
    except (ValueError, TypeError, KeyError) as error:
        notices.append(FileNotice(file=file.path, line=getattr(error, "lineno", None), text=f"cannot be read: {error}"))
        return []


def _parsed(path: str, data: bytes) -> Json:
    text = data.decode("utf-8-sig", "replace")
    value: Any
    if path.endswith(".toml"):
        import tomllib

        value = tomllib.loads(text)
    else:
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            value = orjson.loads(without_json_comments(text))
    if not isinstance(value, dict):
        raise ValueError("it must hold one object")
    return cast("Json", value)


_TEXT = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'  # one that nothing closes takes all the rest, and so does a comment
_JSON_PART = re.compile(rf"{_TEXT}|//[^\n]*+|/\*(?:.*?\*/|.*+)", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_TEXT})|,(?=\s*+[}}\]])", re.DOTALL)


def without_json_comments(text: str) -> str:
    """JSON out of JSON with comments and commas after the last item, as editors write it."""
    plain = _JSON_PART.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
    return _LAST_COMMA.sub(lambda match: match[1] or "", plain)


def _live(cwd: str, home: str, claude: str) -> Iterator[Finding]:
    """What is used where it lies, as far as something is there."""

    def place(path: str, scope: Scope) -> str:
        inside = path.removeprefix(".claude/")
        if scope == "user" and inside != path:
            return f"{claude}/{inside}"
        return f"{home if scope == 'user' else cwd}/{path}"

    for tool, kind, path, scope, meaning in _LIVE:
        file = place(path, scope)
        count = _count(file)
        if count:
            name = path if count == 1 and not file.endswith("/") else f"{path} ({count})"
            state: State = "live"
            if file.endswith(".json") and not _is_json(file):
                state, meaning = "unusable", "it is not valid JSON; of it only deny and ask rules count"
            yield Finding(tool=tool, kind=kind, name=name, file=file, scope=scope, state=state, meaning=meaning)
    for tool, kind, path, scope, meaning in _NOT_READ:
        file = place(path, scope)
        if os.path.exists(file):  # noqa: PTH110 -- a handful of names
            yield Finding(tool=tool, kind=kind, name=path, file=file, scope=scope, state="unusable", meaning=meaning)


def _is_json(path: str) -> bool:
    try:
        _parsed(path, read_regular(path, limit=LARGEST).data)
    except (OSError, ValueError):
        return False
    return True


def _count(path: str) -> int:
    """A file counts as one; a folder as many as it has entries."""
    if os.path.isfile(path):  # noqa: PTH113
        return 1
    try:
        return sum(not name.startswith(".") for name in os.listdir(path))  # noqa: PTH208
    except OSError:
        return 0


_READ = "read as it is"
_TRUSTED = "read as it is, once the folder is trusted"
_LIVE: tuple[tuple[str, str, str, Scope, str], ...] = (
    ("Claude Code", "hooks", ".claude/settings.json", "user", "its hooks and permission rules count here"),
    ("Claude Code", "hooks", ".claude/settings.json", "project", "deny and ask rules count; hooks after trust"),
    ("Claude Code", "hooks", ".claude/settings.local.json", "project", "deny and ask rules count; hooks after trust"),
    ("Claude Code", "servers", ".mcp.json", "project", "each server is asked about once"),
    ("Claude Code", "instructions", ".claude/CLAUDE.md", "user", _READ),
    ("Claude Code", "instructions", "CLAUDE.md", "project", _READ),
    ("Claude Code", "instructions", ".claude/CLAUDE.md", "project", _READ),
    ("Claude Code", "instructions", "CLAUDE.local.md", "project", _READ),
    ("Claude Code", "rules", ".claude/rules", "user", _READ),
    ("Claude Code", "rules", ".claude/rules", "project", _READ),
    ("Claude Code", "skills", ".claude/skills", "user", _READ),
    ("Claude Code", "skills", ".claude/skills", "project", _TRUSTED),
    ("Claude Code", "commands", ".claude/commands", "user", _READ),
    ("Claude Code", "commands", ".claude/commands", "project", _TRUSTED),
    ("Claude Code", "agents", ".claude/agents", "user", _READ),
    ("Claude Code", "agents", ".claude/agents", "project", _TRUSTED),
    ("Claude Code", "output styles", ".claude/output-styles", "user", _READ),
    ("Claude Code", "output styles", ".claude/output-styles", "project", _TRUSTED),
    ("several", "instructions", "AGENTS.md", "project", _READ),
    ("several", "skills", ".agents/skills", "user", _READ),
    ("several", "skills", ".agents/skills", "project", _TRUSTED),
    ("Copilot", "instructions", ".github/copilot-instructions.md", "project", _READ),
    ("Copilot", "rules", ".github/instructions", "project", _READ),
    ("Copilot", "rules", ".copilot/instructions", "user", _READ),
    ("Copilot", "commands", ".github/prompts", "project", _TRUSTED),
    ("Copilot", "agents", ".github/agents", "project", _TRUSTED),
    ("Copilot", "agents", ".copilot/agents", "user", _READ),
    ("Copilot", "hooks", ".github/hooks", "project", _TRUSTED),
    ("Copilot", "skills", ".github/skills", "project", _TRUSTED),
    ("Copilot", "skills", ".copilot/skills", "user", _READ),
    ("Cursor", "rules", ".cursor/rules", "project", _READ),
    ("Cursor", "rules", ".cursorrules", "project", _READ),
    ("opencode", "commands", ".opencode/commands", "project", _TRUSTED),
    ("opencode", "commands", ".opencode/command", "project", _TRUSTED),
    ("opencode", "commands", ".config/opencode/commands", "user", _READ),
    ("opencode", "commands", ".config/opencode/command", "user", _READ),
    ("opencode", "skills", ".opencode/skills", "project", _TRUSTED),
    ("opencode", "skills", ".config/opencode/skills", "user", _READ),
)
_NOT_READ: tuple[tuple[str, str, str, Scope, str], ...] = (
    ("Codex", "hooks", ".codex/hooks.json", "user", "not read; copy hooks you want into your own settings"),
    ("Copilot", "hooks", ".copilot/hooks", "user", "not read; copy hooks you want into your own settings"),
    ("Codex", "instructions", ".codex/AGENTS.md", "user", "not read; link it as AGENTS.md in your config folder"),
    ("Claude Code", "plugins", ".claude/plugins/installed_plugins.json", "user", "install with `assent plugin add`"),
)

Take = Callable[[Scope, dict[str, Json]], str]
"""Adds servers to the user's settings, or to those of the project; gives back which file was written."""


def take_over(findings: Sequence[Finding], take: Take) -> list[str]:
    """Write every offered server where it belongs; the files that were written."""
    written: list[str] = []
    for scope in ("user", "project"):
        entries: dict[str, Json] = {}
        for finding in findings:
            if finding.scope == scope and finding.state == "offered" and finding.entry is not None:
                entries.setdefault(finding.name, finding.entry)
        if entries:
            written.append(take(scope, entries))
    return written
