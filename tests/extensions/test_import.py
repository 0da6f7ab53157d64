"""What other tools left: every tool's MCP servers in our form, and what is read where it lies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assent.extensions.import_ import imported_servers
from assent.extensions.import_.findings import Finding, look, take_over, without_json_comments
from assent.extensions.import_.imported_servers import FoundServer, Reader
from oddfiles import ODD, put

CASES: list[tuple[str, Reader, dict[str, Any], FoundServer]] = [
    (
        "Claude, a program",
        imported_servers.claude_style,
        {"mcpServers": {"a": {"command": "x", "args": ["-v"], "env": {"K": "v"}}}},
        FoundServer(name="a", entry={"command": "x", "args": ["-v"], "env": {"K": "v"}}),
    ),
    (
        "Cursor, an address without a type, and a variable",
        imported_servers.claude_style,
        {"mcpServers": {"a": {"url": "https://h/${env:TOKEN}"}}},
        FoundServer(name="a", entry={"type": "http", "url": "https://h/${TOKEN}"}),
    ),
    (
        "Claude, the other name of http",
        imported_servers.claude_style,
        {"mcpServers": {"a": {"type": "streamable-http", "url": "https://h", "headers": {"X": "1"}}}},
        FoundServer(name="a", entry={"type": "http", "url": "https://h", "headers": {"X": "1"}}),
    ),
    (
        "a name that ours cannot have",
        imported_servers.claude_style,
        {"mcpServers": {"my server!": {"command": "x"}}},
        FoundServer(name="my_server", entry={"command": "x"}, note="it is called my_server here"),
    ),
    (
        "neither program nor address",
        imported_servers.claude_style,
        {"mcpServers": {"a": {"type": "http", "url": ""}}},
        FoundServer(name="a", entry=None, note="it has no address"),
    ),
    (
        "VS Code, with a question",
        imported_servers.vscode,
        {"servers": {"a": {"command": "x", "env": {"K": "${input:api-key}"}}}, "inputs": [{"id": "api-key"}]},
        FoundServer(
            name="a",
            entry={"command": "x", "env": {"K": "${API_KEY}"}},
            note="set the variables API_KEY before it is used",
        ),
    ),
    (
        "VS Code, a local socket",
        imported_servers.vscode,
        {"servers": {"a": {"type": "http", "url": "unix:///tmp/s"}}},
        FoundServer(name="a", entry=None, note="it listens on a local socket, which is not supported"),
    ),
    (
        "Codex, a program",
        imported_servers.codex,
        {"mcp_servers": {"a": {"command": "x", "env": {"A": "1"}, "env_vars": ["B"], "tool_timeout_sec": 2}}},
        FoundServer(name="a", entry={"command": "x", "env": {"A": "1", "B": "${B}"}, "timeout": 2000}),
    ),
    (
        "Codex, an address with a token",
        imported_servers.codex,
        {"mcp_servers": {"a": {"url": "https://h", "bearer_token_env_var": "T", "env_http_headers": {"X": "Y"}}}},
        FoundServer(
            name="a",
            entry={"type": "http", "url": "https://h", "headers": {"X": "${Y}", "Authorization": "Bearer ${T}"}},
        ),
    ),
    (
        "Codex, switched off",
        imported_servers.codex,
        {"mcp_servers": {"a": {"command": "x", "enabled": False}}},
        FoundServer(name="a", entry=None, note="it is switched off there"),
    ),
    (
        "opencode, a program",
        imported_servers.opencode,
        {"mcp": {"a": {"type": "local", "command": ["x", "-v"], "environment": {"K": "{env:V}"}}}},
        FoundServer(name="a", entry={"command": "x", "args": ["-v"], "env": {"K": "${V}"}}),
    ),
    (
        "opencode, an address",
        imported_servers.opencode,
        {"mcp": {"a": {"type": "remote", "url": "https://h"}}},
        FoundServer(name="a", entry={"type": "http", "url": "https://h"}),
    ),
]


@pytest.mark.parametrize(("what", "reader", "said", "expected"), CASES, ids=[case[0] for case in CASES])
def test_servers_of_every_tool_get_our_form(
    what: str, reader: Reader, said: dict[str, Any], expected: FoundServer
) -> None:
    assert list(reader(said)) == [expected]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    return tmp_path


def found(place: Path, *, known: tuple[str, ...] = ()) -> dict[str, Finding]:
    return {each.name: each for each in look(cwd=str(place / "app"), home=str(place), known=known).findings}


def put_file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_files_of_every_tool_are_found_where_it_keeps_them(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    app = place / "app"
    one = {"command": "x"}
    claude = {"mcpServers": {"c1": one}, "projects": {str(app): {"mcpServers": {"c2": one}}, "/else": {}}}
    put_file(place / ".claude.json", json.dumps(claude))
    put_file(place / ".codex" / "config.toml", '[mcp_servers.x1]\ncommand = "x"\n')
    put_file(app / ".codex" / "config.toml", '[mcp_servers.x2]\ncommand = "x"\n')
    put_file(place / ".cursor" / "mcp.json", json.dumps({"mcpServers": {"u1": one}}))
    put_file(app / ".cursor" / "mcp.json", json.dumps({"mcpServers": {"u2": one}}))
    put_file(place / ".config" / "Code" / "User" / "mcp.json", json.dumps({"servers": {"v1": one}}))
    put_file(app / ".vscode" / "mcp.json", '{\n // comment\n "servers": {"v2": {"command": "x"},},}')
    put_file(place / ".copilot" / "mcp-config.json", json.dumps({"mcpServers": {"g1": one}}))
    put_file(place / ".config" / "opencode" / "opencode.json", json.dumps({"mcp": {"o1": {"command": ["x"]}}}))
    put_file(app / "opencode.jsonc", '{"mcp": {"o2": {"command": ["x"]}}} // end')
    scopes = {name: (each.tool, each.scope, each.state) for name, each in found(place).items()}
    assert scopes == {
        "c1": ("Claude Code", "user", "offered"),
        "c2": ("Claude Code", "project", "offered"),
        "x1": ("Codex", "user", "offered"),
        "x2": ("Codex", "project", "offered"),
        "u1": ("Cursor", "user", "offered"),
        "u2": ("Cursor", "project", "offered"),
        "v1": ("VS Code", "user", "offered"),
        "v2": ("VS Code", "project", "offered"),
        "g1": ("Copilot", "user", "offered"),
        "o1": ("opencode", "user", "offered"),
        "o2": ("opencode", "project", "offered"),
    }
    assert found(place, known=("u1",))["u1"].state == "live"


def test_what_is_read_where_it_lies_is_said_so(place: Path) -> None:
    put_file(place / "app" / ".claude" / "skills" / "a" / "SKILL.md", "x")
    put_file(place / "app" / ".cursorrules", "x")
    put_file(place / ".codex" / "hooks.json", "{}")
    states = {name: (each.kind, each.state, each.meaning) for name, each in found(place).items()}
    assert states == {
        ".claude/skills": ("skills", "live", "read as it is, once the folder is trusted"),
        ".cursorrules": ("rules", "live", "read as it is"),
        ".codex/hooks.json": ("hooks", "unusable", "not read; copy hooks you want into your own settings"),
    }


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ODD)
def test_odd_files_are_named_and_the_rest_is_found(place: Path, kind: str) -> None:
    put(kind, place / ".cursor" / "mcp.json")
    put_file(place / ".codex" / "config.toml", '[mcp_servers.x]\ncommand = "x"\n')
    put_file(place / "app" / ".codex" / "config.toml", "[broken")
    result = look(cwd=str(place / "app"), home=str(place))
    assert [each.name for each in result.findings] == ["x"]
    told = [Path(notice.file).relative_to(place).as_posix() for notice in result.notices]
    assert told == ["app/.codex/config.toml", ".cursor/mcp.json"]


def test_only_what_is_offered_is_taken_over_each_into_its_own_place(place: Path) -> None:
    put_file(place / ".cursor" / "mcp.json", json.dumps({"mcpServers": {"a": {"command": "x"}, "b": {}}}))
    put_file(place / "app" / ".cursor" / "mcp.json", json.dumps({"mcpServers": {"c": {"command": "y"}}}))
    taken: list[tuple[str, dict[str, Any]]] = []

    def take(scope: str, entries: dict[str, Any]) -> str:
        taken.append((scope, entries))
        return scope

    assert take_over(look(cwd=str(place / "app"), home=str(place)).findings, take) == ["user", "project"]
    assert taken == [("user", {"a": {"command": "x"}}), ("project", {"c": {"command": "y"}})]


def test_comments_and_last_commas_leave_texts_alone() -> None:
    text = '{"a": "// no /* comment */,]", /* x */ "b": [1, 2,], // y\n}'
    assert json.loads(without_json_comments(text)) == {"a": "// no /* comment */,]", "b": [1, 2]}


@pytest.mark.parametrize(
    "path",
    [
        "~/.claude/rules/style.md",
        "~/.claude/output-styles/terse.md",
        "~/.copilot/agents/a.agent.md",
        "~/.copilot/skills/s/SKILL.md",
        "~/.config/opencode/commands/c.md",
        "CLAUDE.local.md",
        ".claude/CLAUDE.md",
        ".claude/output-styles/terse.md",
        ".opencode/command/c.md",
    ],
)
def test_every_place_that_is_read_is_listed(tmp_path: Path, path: str) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    file = home / path[2:] if path.startswith("~/") else project / path
    file.parent.mkdir(parents=True)
    file.write_text("x")
    (found,) = look(cwd=str(project), home=str(home)).findings
    assert (found.state, found.scope) == ("live", "user" if path.startswith("~/") else "project")


def test_a_moved_claude_folder_is_looked_into(tmp_path: Path) -> None:
    (tmp_path / "moved" / "skills" / "pdf").mkdir(parents=True)
    (found,) = look(cwd=str(tmp_path / "p"), home=str(tmp_path), claude=str(tmp_path / "moved")).findings
    assert (found.kind, found.file) == ("skills", str(tmp_path / "moved" / "skills"))
