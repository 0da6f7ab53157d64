"""The commands about definitions, plugins, hooks and other tools' files, in a home that is full and partly broken (X)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.types.blocks import Json
from terminal.typescript import Typescript

ASSENT = str(Path(sys.executable).with_name("assent"))


class Filled:
    """A home with sixty good definitions and one of each broken kind, three plugins, hooks and other tools' files."""

    def __init__(self, root: Path) -> None:
        self.root, self.home, self.project = root, root / "home", root / "project"

    def write(self, path: str, text: str | bytes | Json) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        data = (
            text
            if isinstance(text, bytes)
            else (text if isinstance(text, str) else json.dumps(text, indent=1)).encode()
        )
        file.write_bytes(data)
        return file

    def fill(self) -> None:
        (self.project / ".git").mkdir(parents=True)
        for at in range(20):
            self.write(f"home/.claude/skills/s{at}/SKILL.md", f"---\nname: s{at}\ndescription: skill {at}\n---\nx\n")
            self.write(f"home/.claude/commands/c{at}.md", f"---\ndescription: command {at}\n---\nx\n")
            self.write(f"home/.claude/agents/a{at}.md", f"---\nname: a{at}\ndescription: agent {at}\n---\nx\n")
        self.write("home/.claude/skills/unclosed/SKILL.md", "---\nname: unclosed\ndescription: d\n")
        self.write("home/.claude/skills/binary/SKILL.md", b"\xff\xfe\x00---\n")
        self.write("home/.claude/commands/bad.md", "---\nallowed-tools Bash\n---\nx\n")
        self.write("home/.claude/agents/nodesc.md", "---\nname: nodesc\n---\nx\n")
        self.write("project/.claude/agents/mine.md", "---\nname: mine\ndescription: d\n---\nx\n")
        own = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo checked"}]}]}
        lacking = {"Stop": [{"hooks": [{"type": "command"}, {"type": "command", "command": "exit 3"}]}]}
        self.write("home/.claude/settings.json", {"hooks": {**own, **lacking}})
        self.write("project/.claude/settings.json", {"hooks": own})
        self.write("project/.claude/settings.local.json", "{ broken")
        self.write("home/.codex/config.toml", '[mcp_servers.db]\ncommand = "db"\n[mcp_servers.none]\ncommand = 5\n')
        self.write("home/.cursor/mcp.json", {"mcpServers": {"cur": {"command": "cur"}, "odd": 7}})
        self.write("home/.config/opencode/opencode.json", "{ broken")
        self.write("project/.vscode/mcp.json", '{ // ours\n "servers": {"vs": {"command": "x",}}}')
        for at in range(3):
            self.write(f"p{at}/.claude-plugin/plugin.json", {"name": f"p{at}", "version": "1"})
            self.write(f"p{at}/commands/x.md", "do x\n")
            self.write(f"p{at}/agents/good.md", "---\nname: good\ndescription: d\n---\nx\n")
        self.write("p1/agents/deep/broken.md", "---\nname: a:b\n---\nx\n")
        self.write("p2/skills/empty/SKILL.md", "x\n")

    def assent(self, *words: str) -> subprocess.CompletedProcess[str]:
        env = {"HOME": str(self.home), "PATH": f"{Path(ASSENT).parent}:/usr/bin:/bin", "ASSENT_OFFLINE": "1"}
        return subprocess.run(
            [ASSENT, *words],
            env=env,
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )

    def install(self) -> list[subprocess.CompletedProcess[str]]:
        return [self.assent("plugin", "add", str(self.root / f"p{at}"), "--yes") for at in range(3)]


@pytest.fixture
def filled(tmp_path: Path) -> Filled:
    made = Filled(tmp_path)
    made.fill()
    return made


def test_installing_and_listing_plugins_names_the_files_of_theirs_that_are_not_used(filled: Filled) -> None:
    added = filled.install()
    assert [done.returncode for done in added] == [0, 0, 0]
    assert "agents/deep/broken.md:2: 'a:b' cannot be the name of an agent" in added[1].stdout
    assert "skills/empty/SKILL.md:1: has no description, so the skill is not used" in added[2].stdout
    assert str(filled.home) not in added[1].stdout, "the copy has a name that nobody can look for"
    listed = filled.assent("plugin")
    assert [line for line in listed.stdout.splitlines() if not line.startswith(" ")] == [
        f"p{at} 1  from {filled.root}/p{at}" for at in range(3)
    ]
    assert listed.stdout.count("command p") == listed.stdout.count("agent p") == 3
    for words in ("agents/deep/broken.md:2: 'a:b' cannot", "skills/empty/SKILL.md:1: has no description"):
        assert listed.stderr.count(words) == 1
    assert listed.returncode == 0, "the plugins themselves are well"
    rows = json.loads(filled.assent("plugin", "--json").stdout)
    assert "problems" not in rows[0]
    assert rows[1]["problems"] == [
        "agents/deep/broken.md:2: 'a:b' cannot be the name of an agent: it holds `:` or begins with `-`"
    ]


def test_nothing_that_a_plugin_brings_is_open_to_other_users(filled: Filled) -> None:
    filled.install()
    data = filled.home / ".local/share/assent"
    opened = [str(path) for path in (data, *data.rglob("*")) if path.lstat().st_mode & 0o077]
    assert opened == []


def test_hooks_that_cannot_run_are_named_beside_those_that_can(filled: Filled) -> None:
    listed = filled.assent("hooks")
    assert listed.returncode == 0
    assert listed.stdout.count("echo checked") == 2 and "exit 3" in listed.stdout
    assert "withheld: the folder is not trusted" in listed.stdout
    lacking = f"{filled.home}/.claude/settings.json:15: hooks.Stop: "
    broken = f"{filled.project}/.claude/settings.local.json:1: is not valid JSON"
    for words in (lacking, broken):
        assert listed.stderr.count(words) == 1, listed.stderr
    found = json.loads(filled.assent("hooks", "list", "--json").stdout)
    assert len(found["hooks"]) == 3 and len(found["problems"]) == 2
    tried = filled.assent("hooks", "test", "PreToolUse")
    assert (tried.returncode, tried.stdout.count("printed: checked")) == (0, 1)
    assert filled.assent("hooks", "test", "Stop").returncode == 1


def test_import_tells_what_cannot_be_read_and_takes_the_rest(filled: Filled) -> None:
    listed = filled.assent("import")
    lines = [line.strip() for line in listed.stdout.splitlines()]
    for line in (
        "+ Codex, MCP server db: can be taken over",
        "- Codex, MCP server none: it has no command",
        "+ Cursor, MCP server cur: can be taken over",
        "- Cursor, MCP server odd: it is not an object",
        "+ VS Code, MCP server vs: can be taken over",
        "✓ Claude Code, agents .claude/agents (21): read as it is",
        "✓ Claude Code, hooks .claude/settings.json: its hooks and permission rules count here",
        "- Claude Code, hooks .claude/settings.local.json: it is not valid JSON; of it only deny and ask rules count",
    ):
        assert line in lines, listed.stdout
    assert "opencode.json:1: cannot be read" in listed.stderr
    taken = filled.assent("import", "--all")
    assert taken.returncode == 0
    assert not [line for line in taken.stdout.splitlines() if line.rstrip().endswith(":")], taken.stdout
    own = json.loads((filled.home / ".config/assent/settings.json").read_text())
    assert list(own["mcpServers"]) == ["db", "cur"]
    assert "There is nothing to take over." in filled.assent("import", "--all").stdout


def test_doctor_names_every_definition_that_is_not_used_and_counts_the_others(filled: Filled) -> None:
    filled.install()
    found: list[Json] = json.loads(filled.assent("doctor", "--json").stdout)
    told = [each for each in found if each["name"] == "definitions"]
    (counted,) = [each["text"] for each in told if each["state"] == "ok"]
    assert counted == "24 commands, 20 skills, 25 agents, 3 styles can be used; 1 more once this folder is trusted"
    wrong = [os.path.relpath(each["text"].split(": ")[0], filled.home) for each in told if each["state"] == "note"]
    assert [each for each in wrong if not each.startswith(".local")] == [
        ".claude/commands/bad.md:2",
        ".claude/skills/binary/SKILL.md:1",
        ".claude/skills/unclosed/SKILL.md:1",
        ".claude/agents/nodesc.md:1",
    ]
    assert len(wrong) == 6  # and one of each of two plugins
    assert any("settings.json:15: hooks.Stop: " in each["text"] for each in found if each["name"] == "hooks")


@pytest.fixture
def chat(filled: Filled) -> Iterator[Typescript]:
    filled.install()
    env = {"HOME": str(filled.home), "PATH": f"{Path(ASSENT).parent}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    argv = [sys.executable, "-I", "-m", "assent.cli.main", "chat"]
    with Typescript(argv, env=env, cwd=filled.project) as opened:
        opened.expect("❯")
        yield opened


def test_the_lists_of_the_chat_name_what_there_is_and_what_is_wrong(chat: Typescript) -> None:
    chat.type("/cost\n")  # what is wrong with files is told once, with the first prompt
    chat.expect("This session has cost")
    chat.expect("❯")
    for prompt, words, not_there in (
        ("/agents", ("a19: agent 19", "p1:good: d", "not used: this folder is not trusted", "nodesc.md:1"), "bad.md"),
        ("/skills", ("s19: skill 19", "binary/SKILL.md:1", "unclosed/SKILL.md:1"), "nodesc.md"),
        ("/hooks", ("Stop: command exit 3", "hooks.Stop: a handler of type command needs"), "nodesc.md"),
        ("/plugins", ("p0 1", "p1 1", "agents/deep/broken.md:2", "p2 1", "skills/empty/SKILL.md:1"), "nodesc.md"),
    ):
        chat.type(f"{prompt}\n")
        chat.expect(f"{prompt[1:].capitalize()}:")
        shown = "".join(chat.expect("❯").split())  # lines are broken where they end
        for word in words:
            assert "".join(word.split()) in shown, f"{prompt}: {word} is not in {shown}"
        assert not_there not in shown, prompt
