"""`assent plugin` and `assent import` as a person runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ASSENT = str(Path(sys.executable).with_name("assent"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return tmp_path / "home"


def assent(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"HOME": str(home), "PATH": f"{Path(ASSENT).parent}:/usr/bin:/bin", "ASSENT_OFFLINE": "1"}
    return subprocess.run(
        [ASSENT, *words],
        env=env,
        cwd=home.parent / "project",
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = tmp_path / "tools"
    (root / ".claude-plugin").mkdir(parents=True)
    (root / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": "tools", "version": "1.0"}))
    (root / "commands").mkdir()
    (root / "commands" / "x.md").write_text("do x\n")
    (root / "hooks").mkdir()
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "evil.sh"}]}]}}
    (root / "hooks" / "hooks.json").write_text(json.dumps(hooks))
    return root


def test_a_plugin_is_shown_installed_updated_as_a_diff_and_removed(home: Path, source: Path) -> None:
    shown = assent(home, "plugin", "add", str(source))
    assert shown.returncode == 1
    assert "hook on Stop: evil.sh" in shown.stdout
    assert "Nothing has changed. --yes installs it." in shown.stdout
    assert json.loads(assent(home, "plugin", "list", "--json").stdout) == []

    assert assent(home, "plugin", "add", str(source), "--yes").returncode == 0
    (row,) = json.loads(assent(home, "plugin", "--json").stdout)
    assert row == {
        "name": "tools",
        "version": "1.0",
        "source": str(source),
        "enabled": True,
        "parts": ["command tools:x", "hook Stop"],
    }
    assert "up to date" in assent(home, "plugin", "update").stdout

    (source / "commands" / "x.md").write_text("do y\n")
    update = assent(home, "plugin", "update", "tools")
    assert (update.returncode, "-do x" in update.stdout, "+do y" in update.stdout) == (1, True, True)
    assert assent(home, "plugin", "update", "tools", "--yes").returncode == 0
    assert assent(home, "plugin", "remove", "tools").returncode == 0
    assert json.loads(assent(home, "plugin", "--json").stdout) == []


def test_a_wrong_source_is_said_in_one_line(home: Path) -> None:
    done = assent(home, "plugin", "add", "nothing-here")
    assert done.returncode == 1
    assert done.stderr == "assent: 'nothing-here' is neither a folder nor the address of a git repository\n"


def test_servers_of_other_tools_are_listed_taken_over_and_named_by_doctor(home: Path) -> None:
    project = home.parent / "project"
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": {"db": {"command": "run-db"}}}))
    (project / ".vscode").mkdir()
    (project / ".vscode" / "mcp.json").write_text(json.dumps({"servers": {"web": {"url": "https://example.org"}}}))
    listed = assent(home, "import")
    assert "+ Cursor, MCP server db: can be taken over" in listed.stdout
    assert "+ VS Code, MCP server web: can be taken over" in listed.stdout
    doctor = json.loads(assent(home, "doctor", "--json").stdout)
    (told,) = [finding for finding in doctor if finding["name"] == "other tools"]
    assert told["text"] == "MCP servers that are not used here: db of Cursor, web of VS Code"

    assert assent(home, "import", "--take", "nobody").returncode == 2
    assert assent(home, "import", "--all").returncode == 0
    own = json.loads((home / ".config" / "assent" / "settings.json").read_text())
    assert own == {"mcpServers": {"db": {"command": "run-db"}}}
    local = json.loads((project / ".assent" / "settings.local.json").read_text())
    assert local == {"mcpServers": {"web": {"type": "http", "url": "https://example.org"}}}


def test_servers_that_are_taken_over_stand_beside_those_that_were_there(home: Path) -> None:
    project = home.parent / "project"
    (project / ".assent").mkdir()
    local, own = project / ".assent" / "settings.local.json", home / ".config" / "assent" / "settings.json"
    own.parent.mkdir(parents=True, exist_ok=True)
    for file, name in ((local, "mine"), (own, "ours")):
        file.write_text(json.dumps({"mcpServers": {name: {"command": "x"}}, "review": "off"}))
    servers = {"mcpServers": {"db": {"command": "run-db"}, "mine": {"command": "other"}}}
    for folder in (project / ".cursor", home / ".cursor"):
        folder.mkdir(exist_ok=True)
        (folder / "mcp.json").write_text(json.dumps(servers))
    assert assent(home, "import", "--all").returncode == 0
    for file, name in ((local, "mine"), (own, "ours")):
        after = json.loads(file.read_text())
        assert after["mcpServers"] == {name: {"command": "x"}, "db": {"command": "run-db"}}
        assert after["review"] == "off"


def test_what_a_plugin_asks_for_is_set_by_hand_and_reaches_its_hooks(home: Path, source: Path) -> None:
    asked = {"who": {"type": "string", "title": "Who", "required": True}, "key": {"type": "string", "sensitive": True}}
    (source / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": "tools", "userConfig": asked}))
    line = 'echo "${user_config.who} $CLAUDE_PLUGIN_OPTION_WHO $ASSENT_PLUGIN_OPTION_KEY"'
    exec_form = {"type": "command", "command": "echo", "args": ["exec", "${user_config.who}"]}
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line}, exec_form]}]}}
    (source / "hooks" / "hooks.json").write_text(json.dumps(hooks))
    added = assent(home, "plugin", "add", str(source), "--yes")
    assert "It asks for:" in added.stdout and "plugin configure tools KEY=VALUE" in added.stdout
    assert "Stop" not in assent(home, "hooks", "list").stdout, "nothing of it runs before the value is there"
    wrong = assent(home, "plugin", "configure", "tools", "who")
    assert wrong.returncode == 2 and "KEY=VALUE" in wrong.stderr
    done = assent(home, "plugin", "configure", "tools", "who=me & you", "key=s3cret")
    assert (done.returncode, "who = me & you" in done.stdout, "s3cret" in done.stdout) == (0, True, False)
    ran = assent(home, "hooks", "test", "Stop", "--json").stdout
    assert "me & you me & you s3cret" in ran and "exec me & you" in ran
    assert "s3cret" not in assent(home, "hooks", "list").stdout
