"""Every built-in slash command over the wire, one after the other in one conversation (X, Q7).

The same table drives them in a terminal (`tests/cli/test_chat_on_a_terminal.py`), in real Neovim
(`tests/neovim/test_slash_commands.py`) and in real VS Code (`tests/vscode/workbench/everyday.test.mjs`).
"""

import json
from pathlib import Path

import pytest

from assent.sessions.slash.commands import RESERVED
from fakeapi import FakeApi, text, tool
from lspclient import Connect
from lspclient.client import PLUGIN

TABLE: list[tuple[str, str]] = json.loads(
    (Path(__file__).parents[1] / "cases" / "slash-commands.json").read_text(encoding="utf-8")
)
"""A prompt, and words of its answer; `model` where the prompt goes to the model."""
PROMPTS = {"/init": ("ASSENT.md", "AGENTS.md", "build", "test"), "/review": ("git diff", "file", "line")}
LONG = "There is much to say about it. " * 40  # so that there is something to snip


def test_the_table_has_every_built_in_command() -> None:
    asked_for = (
        "clear compact context cost model mode memory permissions resume rewind fork export help init mcp agents hooks "
        "skills todos status doctor review snip trace"
    )
    driven = {prompt.removeprefix("/") for prompt, _ in TABLE if prompt.startswith("/")}
    assert set(asked_for.split()) <= driven
    elsewhere = {"new", "allowed-tools", "add-dir", "output-style"}  # other names, and those with tests of their own
    assert set(RESERVED) - elsewhere <= driven


@pytest.mark.asyncio(loop_scope="module")
async def test_every_built_in_command_answers_over_the_wire(connect: Connect, api: FakeApi, place: Path) -> None:
    folder = place / "commands"
    folder.mkdir()
    client = await connect(assent={"client": dict(PLUGIN)}, api=api, root=folder, home=place / "commands-home")
    session = (await client.request("assent/session/new", {}))["sessionId"]
    for number, (prompt, words) in enumerate(TABLE):
        before = len(api.calls)
        if words == "model" or prompt == "/compact":
            api.reply(text(f"Answer {number}. {LONG}"))
        sent = {"sessionId": session, "prompt": prompt, "wait": True}
        result = (await client.request("assent/session/send", sent))["result"]
        assert result["subtype"] == "success", (prompt, result)
        if words == "model":
            assert result["result"].startswith(f"Answer {number}.")
            asked = str(api.calls[-1].messages[-1])
            assert all(each in asked for each in PROMPTS.get(prompt, (prompt,))), f"{prompt} is a real prompt"
        else:
            assert words in result["result"], prompt
            assert len(api.calls) - before == (prompt == "/compact"), f"{prompt} is answered here"
    await client.stop()


FULL: list[tuple[str, tuple[str, ...]]] = [
    ("CALL", ()),
    ("/skills", ("calm", "keeps calm", "SKILL.md")),
    ("/agents", ("scout", "finds things", "scout.md")),
    ("/hooks", ("Stop", "echo stopped", "settings.json")),
    ("/memory", ("ASSENT.md", "tokens")),
    ("/permissions", ("Bash(git push:*)", "deny", "settings.json")),
    ("/todos", ("write the test",)),
    ("/mcp", ("far", "user, stdio")),
    ("/model haiku", ("is now claude-haiku-5-5",)),
    ("/model", ("claude-haiku-5-5",)),
    ("/mode plan", ("plan",)),
    ("/mode", ("plan",)),
    ("/status", ("claude-haiku-5-5", "plan", "far")),
    ("/context", ("memory", "messages", "tokens in use")),
    ("/cost", ("has cost $0.", "read from cache")),
    ("/rewind", ("remember the todo",)),
    ("/help", ("/tidy", "tidies up")),
    ("/trace", ("remember the todo", "0 of 1 done")),
]
"""Prompts in a home that has something of everything, and what each answer names."""


@pytest.mark.asyncio(loop_scope="module")
async def test_the_answers_name_what_there_is(connect: Connect, api: FakeApi, place: Path) -> None:
    folder, home = place / "full", place / "full-home"
    files = {
        ".claude/skills/calm/SKILL.md": "---\nname: calm\ndescription: keeps calm\n---\nBe calm.",
        ".claude/agents/scout.md": "---\nname: scout\ndescription: finds things\n---\nFind.",
        ".claude/commands/tidy.md": "---\ndescription: tidies up\n---\nTidy.",
        "config/assent/ASSENT.md": "Use tabs.\n",
        "config/assent/settings.json": json.dumps(
            {
                "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo stopped"}]}]},
                "permissions": {"deny": ["Bash(git push:*)"]},
                "mcpServers": {"far": {"command": "/nonexistent/server"}},
            }
        ),
    }
    folder.mkdir()
    for name, words in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(words, encoding="utf-8")
    client = await connect(assent={"client": dict(PLUGIN)}, api=api, root=folder, home=home)
    session = (await client.request("assent/session/new", {}))["sessionId"]
    api.reply(tool("TodoWrite", {"todos": [{"content": "write the test", "status": "pending"}]}))
    api.reply(text("Noted."))
    for prompt, named in FULL:
        said = "remember the todo" if prompt == "CALL" else prompt
        sent = {"sessionId": session, "prompt": said, "wait": True}
        result = (await client.request("assent/session/send", sent))["result"]
        assert result["subtype"] == "success", (prompt, result)
        missing = [words for words in named if words not in result["result"]]
        assert not missing, (prompt, missing, result["result"])
    await client.stop()
