"""Hooks in the editor: one that refuses a call is seen with its reason, and the lists open by keys."""

import json
from pathlib import Path

import pytest

from fakeapi import FakeApi, text, tool
from nvimscreen.scenes import Start, open_chat, send, session

pytestmark = pytest.mark.editor


def test_a_hook_that_denies_a_call_is_seen_with_its_reason(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command="touch made"))
    model.reply(text("Then I will not."))
    editor = newest(env=model.env)
    settings = Path(editor.env["HOME"]) / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    handler = {"type": "command", "command": "echo 'no files on Fridays' >&2; exit 2"}
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}}))
    open_chat(editor)
    send(editor, "make a file")
    editor.see("hook `PreToolUse` › blocked", "no files on Fridays", "Then I will not.")
    chat = f"assent://chat/{session(editor)}"
    editor.until(lambda: f"`{settings}:1`" in "\n".join(editor.lines(chat)), "for the file and line that name the hook")
    assert not (editor.project / "made").exists()
    send(editor, "/hooks")
    editor.see("What they did, newest first", "echo 'no files on Fridays'")


def test_the_lists_of_what_counts_here_open_by_keys(newest: Start, model: FakeApi) -> None:
    editor = newest(env=model.env)
    (editor.project / "AGENTS.md").write_text("Be brief.\n")
    skill = Path(editor.env["HOME"]) / ".claude" / "skills" / "careful" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: careful\ndescription: works with care\n---\nMind the gap.\n")
    open_chat(editor)
    for command, seen in (
        ("/permissions deny Bash(rm:*) session", "deny Bash(rm:*)"),
        ("/permissions", "/permissions remove N"),
        ("/memory", "AGENTS.md"),
        ("/agents", "general-purpose"),
        ("/skills", "works with care"),
    ):
        send(editor, command)
        editor.see(seen)
