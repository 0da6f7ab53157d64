"""A folder's names, settings and plugins hold control sequences; no command hands one of them to the terminal."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from terminal import PATIENCE
from terminal.typescript import Typescript

ASSENT = str(Path(sys.executable).with_name("assent"))
STEERING = "\x1b]0;taken over\x07\x1b[2J\u202e"
CONTROLS = ("\x1b", "\x07", "\u202e")


def put(file: Path, content: str | Mapping[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("escapes") / f"project {STEERING}"
    hook = {"matcher": f"Bash{STEERING}", "hooks": [{"type": "command", "command": f"echo {STEERING}"}]}
    put(
        folder / ".assent/settings.json",
        {
            f"key{STEERING}": 1,
            "env": {f"V{STEERING}": STEERING},
            "hooks": {"PreToolUse": [hook], f"Other{STEERING}": []},
            "permissions": {"allow": [f"Bash(ls {STEERING})", f"Broken{STEERING}("]},
        },
    )
    server = {"command": f"sh{STEERING}", "args": [STEERING], "env": {f"A{STEERING}": "1"}}
    put(folder / ".mcp.json", {"mcpServers": {f"s{STEERING}": server, "plain": server, "odd": {"type": STEERING}}})
    put(folder / ".cursor/mcp.json", {"mcpServers": {f"n{STEERING}": server}})
    put(folder / ".vscode/mcp.json", f"{{ not JSON {STEERING}")
    put(folder / ".claude/skills/a/SKILL.md", f"---\nname: a\ndescription: d{STEERING}\n---\n!`ls {STEERING}`\n")
    put(folder / ".claude/agents/b.md", f"---\nname: b\ndescription: d\npermissionMode: x{STEERING}\n---\nwork\n")
    put(
        folder / ".claude-plugin/plugin.json",
        {
            "name": "plug",
            "version": f"1{STEERING}",
            "description": STEERING,
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"echo {STEERING}"}]}]},
            "mcpServers": {"q": server},
            "userConfig": {f"k{STEERING}": {"title": STEERING, "type": "string"}},
        },
    )
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "ASSENT_OFFLINE": "1", "LANG": "C.UTF-8"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["hooks", "list"],
        ["hooks", "test", "PreToolUse"],
        ["mcp", "list"],
        ["mcp", "approve", "plain"],
        ["import"],
        ["doctor"],
        ["plugin", "add", ".", "--yes"],
        ["plugin", "add", f"./missing{STEERING}"],
        ["ask", "hello"],
        ["sessions", "show", f"missing{STEERING}"],
        ["trace"],
    ],
    ids=" ".join,
)
def test_no_command_prints_a_control_sequence_of_the_folder(
    project: Path, env: dict[str, str], arguments: list[str]
) -> None:
    done = subprocess.run(
        [ASSENT, *arguments], cwd=project, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE
    )
    printed = (done.stdout + done.stderr).decode()
    assert printed
    assert not [control for control in CONTROLS if control in printed]


def test_a_conversation_is_shown_readably_on_a_terminal_and_whole_in_a_pipe(
    tmp_path: Path, env: dict[str, str]
) -> None:
    ask = [ASSENT, "ask", f"say hello {STEERING}"]
    subprocess.run(ask, cwd=tmp_path, env=env, check=True, capture_output=True, timeout=PATIENCE)
    listed = subprocess.run(
        [ASSENT, "sessions", "list", "--json"], cwd=tmp_path, env=env, capture_output=True, timeout=PATIENCE
    )
    show = [ASSENT, "sessions", "show", json.loads(listed.stdout)[0]["sessionId"]]
    piped = subprocess.run(show, cwd=tmp_path, env=env, capture_output=True, timeout=PATIENCE)
    assert STEERING in piped.stdout.decode()
    with Typescript(show, cwd=tmp_path, env=env) as shown:
        shown.expect("say hello ⟨U+001B⟩]0;taken over⟨U+0007⟩")
        assert not [control for control in CONTROLS if control in shown.raw]
