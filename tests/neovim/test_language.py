"""What the agent learns from the user's own language servers: a real one is attached, and the agent's tools ask it."""

import sys
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, text, tool
from nvimscreen import Neovim
from nvimscreen.scenes import Start, open_chat, send

pytestmark = pytest.mark.editor

# What stands before a name tells bytes, UTF-16 units and characters apart.
SOURCE = 'def greet():\n    return "Helo"\n\n\ndef both():\n    return "é😀", greet()   \n'


def attach(editor: Neovim) -> None:
    (editor.project / "greeter.py").write_text(SOURCE)
    editor.command("edit! greeter.py")
    server = Path(__file__).parent / "spelling_server.py"
    editor.lua("vim.lsp.start({ name = 'spelling', cmd = { ... } })", sys.executable, str(server))
    editor.until(lambda: editor.lua("return #vim.diagnostic.get(0)") == 1, "for the server to have looked at the file")


def answers(model: FakeApi) -> list[str]:
    """What the tools told the model, in order."""
    results: dict[str, Any] = next(call for call in reversed(model.calls) if call.tool_results).tool_results
    return [str(results[key]["content"]) for key in sorted(results)]


def test_the_agents_lookups_are_answered_by_the_users_own_language_server(newest: Start, model: FakeApi) -> None:
    here = {"file_path": "greeter.py", "line": 6, "symbol": "greet"}
    model.reply(
        tool("Definition", here),
        tool("References", here),
        tool("Hover", here),
        tool("Symbols", file_path="greeter.py"),
        tool("Symbols", query="bot"),
        tool("Diagnostics", file_path="greeter.py"),
        tool("CodeActions", file_path="greeter.py", line=2),
    )
    model.reply(text("Now I know."))
    editor = newest(env=model.env)
    attach(editor)
    open_chat(editor)
    send(editor, "look around")
    editor.see("Now I know.", "idle")
    definition, references, hover, symbols, named, diagnostics, actions = answers(model)
    assert definition == "greeter.py:1: def greet():"
    assert references.splitlines() == ["greeter.py:1: def greet():", 'greeter.py:6: return "é😀", greet()']
    assert hover == "*greet* is a word"
    assert symbols.splitlines() == ["1: function greet", "5: function both"]
    assert named == "greeter.py:5: function bot"
    assert diagnostics == "greeter.py:2:13: error: Helo is Hello (spelling S1)"
    assert actions == "Spell it right: Helo is Hello"


def test_a_rename_computed_by_the_language_server_is_reviewed_like_any_edit(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Rename", file_path="greeter.py", line=6, symbol="greet", new_name="hail"))
    model.reply(text("Renamed."))
    editor = newest(env=model.env)
    attach(editor)
    open_chat(editor)
    send(editor, "rename it")
    editor.see("def hail():", 'return "é😀", hail()', "hunk 2 of 2")
    assert editor.lines() == SOURCE.splitlines()  # nothing is applied behind the user's back
    editor.command("Assent accept all")
    editor.see("Renamed.")
    assert editor.lines() == SOURCE.replace("greet", "hail").splitlines()


USER = "from greeter import greet\n\nprint(greet())\n"


def test_a_rename_across_two_files_is_reviewed_in_both(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Rename", file_path="greeter.py", line=1, symbol="greet", new_name="hail"))
    model.reply(text("Renamed where you wanted."))
    editor = newest(env=model.env)
    (editor.project / "user.py").write_text(USER)
    attach(editor)
    editor.command("edit user.py")
    editor.lua("vim.lsp.buf_attach_client(0, vim.lsp.get_clients({ name = 'spelling' })[1].id)")
    editor.command("edit greeter.py")
    open_chat(editor)
    send(editor, "rename it")
    editor.see("Assent asks", "hunk 2 of 2", "4 hunks")
    editor.command("wincmd h | Assent review")
    editor.see("greeter.py|1| [pending]", "greeter.py|6| [pending]", "user.py|1| [pending]", "user.py|3| [pending]")
    editor.command("cclose | wincmd t | 1")
    editor.type("gha")
    editor.until(lambda: editor.lines()[0] == "def hail():", "for the first hunk")
    editor.type("]hgha")
    editor.until(lambda: "hail()" in editor.lines()[5], "for the second hunk")
    assert editor.lines("user.py") == USER.splitlines()  # the other file waits for its own decision
    editor.type("]h")
    editor.until(lambda: editor.nvim.current.buffer.name.endswith("user.py"), "for the other file")
    editor.see("from greeter import hail", "hunk 1 of 2")
    editor.type("gha")
    editor.until(lambda: editor.lines("user.py")[0] == "from greeter import hail", "for its first hunk")
    editor.type("]hghr")
    editor.see("Renamed where you wanted.")
    assert editor.lines() == SOURCE.replace("greet", "hail").splitlines()
    assert editor.lines("user.py") == ["from greeter import hail", "", "print(greet())"]
    told = answers(model)[-1]
    assert "greeter.py" in told and "user.py" in told and "hunk 2 rejected by the user" in told
    assert "Assent asks" not in editor.look()


def test_formatting_and_quick_fixes_go_through_review_too(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Format", file_path="greeter.py"))
    model.reply(tool("CodeActions", file_path="greeter.py", line=2, apply="Spell it right: Helo is Hello"))
    model.reply(text("Tidy now."))
    editor = newest(env=model.env)
    attach(editor)
    open_chat(editor)
    send(editor, "tidy up")
    editor.see("hunk 1 of 1")
    editor.command("Assent accept all")
    editor.see("CodeActions greeter.py", '+     return "Hello"', "hunk 1 of 1")
    editor.command("Assent accept all")
    editor.see("Tidy now.")
    assert "Workspace edit" not in editor.messages()
    assert editor.lines() == SOURCE.replace("Helo", "Hello").replace("   \n", "\n").splitlines()


def test_the_model_is_told_of_problems_that_its_edit_brought(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(tool("Edit", file_path="greeter.py", old_string="def both():", new_string="# Helo\ndef both():"))
    model.reply(text("I see."))
    editor = newest(env=model.env)
    attach(editor)
    open_chat(editor)
    send(editor, "comment it")
    editor.see("hunk 1 of 1")
    editor.command("Assent accept all")
    editor.see("I see.")
    told = answers(model)[-1]
    assert "Helo is Hello" in told and ":5:" in told
    assert ":2:" not in told  # it was there before


@pytest.mark.torture  # a variation of the scene above it
def test_a_file_that_is_not_open_is_asked_about_too(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Definition", file_path="other.py", line=2, symbol="late"))
    model.reply(text("There."))
    editor = newest(env=model.env)
    (editor.project / "other.py").write_text("def late(): ...\nlate()\n")
    attach(editor)
    open_chat(editor)
    send(editor, "look")
    editor.see("There.")
    assert answers(model) == ["other.py:1: def late(): ..."]


@pytest.mark.torture  # a variation of the scene above it
def test_without_a_language_server_the_model_is_told_what_to_use_instead(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Definition", file_path="greeter.py", line=1, symbol="greet"))
    model.reply(text("So be it."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "look")
    editor.see("So be it.")
    assert "use Grep and Read instead" in answers(model)[0]


def test_the_selection_and_what_is_open_reach_the_model_and_a_file_is_shown_without_taking_the_focus(
    newest: Start, model: FakeApi
) -> None:
    model.reply(tool("CurrentSelection"), tool("OpenFile", file_path="other.txt", line=2))
    model.reply(text("Seen and shown."))
    editor = newest(env=model.env)
    (editor.project / "other.txt").write_text("one\ntwo\n")
    editor.command("2,2Assent prompt what is this?")
    editor.see("two")
    editor.until(lambda: model.left == 0 and len(model.calls) > 1, "for both steps")
    selection, _ = answers(model)
    assert 'return "Helo"' in selection and "greeter.py" in selection
