"""The prompt: what goes along with it is seen before it is sent, and what was said and written is at hand."""

import base64
import json
from typing import Any

import pytest

from fakeapi import FakeApi, Reply, hold, text, tool
from nvimscreen import Neovim
from nvimscreen.scenes import Start, open_chat, send, session

pytestmark = pytest.mark.editor

CODE = "Try this:\n\n```python\nimport this\nprint(this)\n```\n\nand then\n\n```sh\nls\n```\n"
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def prompt(editor: Neovim) -> list[str]:
    return editor.lines(f"assent://prompt/{session(editor)}")


def sent(model: FakeApi, index: int = -1) -> Any:
    """What the user's last message to the model holds."""
    return [message for message in model.calls[index].body["messages"] if message["role"] == "user"][-1]["content"]


def test_up_and_down_go_through_what_was_sent_and_back_to_what_is_being_written(newest: Start, model: FakeApi) -> None:
    for answer in ("First.", "Second."):
        model.reply(text(answer))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "one")
    editor.see("First.")
    send(editor, "two")
    editor.see("Second.")
    editor.type("ihalf<Up>")
    editor.until(lambda: prompt(editor) == ["two"], "for the last prompt")
    editor.type("<Up>")
    editor.until(lambda: prompt(editor) == ["one"], "for the one before")
    editor.type("<Down><Down>")
    editor.until(lambda: prompt(editor) == ["half"], "for what was being written")


def test_code_is_coloured_taken_and_put_into_the_file_by_key_and_messages_are_jumped_to(
    start: Start, model: FakeApi
) -> None:
    model.reply(text(*(CODE[at : at + 7] for at in range(0, len(CODE), 7))))
    editor = start(env=model.env, config="vim.o.clipboard = ''\n")
    editor.command("normal! G")
    open_chat(editor)
    send(editor, "show me")
    editor.see("import this", "and then", "idle")
    editor.command("wincmd k")
    colour = "return vim.fn.synIDattr(vim.fn.synID(vim.fn.search('import this', 'nw'), 1, 1), 'name')"
    editor.until(lambda: editor.lua(colour).startswith("python"), "for the colours of the language")
    editor.type("gg]]")
    editor.until(lambda: editor.nvim.current.line == "## Assent", "for the next message")
    editor.type("[[")
    editor.until(lambda: editor.nvim.current.line == "## You", "for the one before")
    editor.command("call search('print(this)')")
    editor.type("gy")
    editor.see("2 lines of code taken")
    assert editor.lua("return vim.fn.getreg('\"')") == "import this\nprint(this)\n"
    editor.type("Ggp")
    editor.until(lambda: editor.lines()[-1] == "ls", "for the last block in the file")


def test_selected_lines_are_named_above_the_prompt_and_go_along_once(start: Start, model: FakeApi) -> None:
    for answer in ("A greeting.", "Nothing more."):
        model.reply(text(answer))
    editor = start(env=model.env, config="vim.keymap.set('x', 'gC', '<Plug>(assent-chat)')\n")
    editor.type("ggVjgC")
    editor.see("+ greeter.py:1-2 · <CR> or <C-s> sends")
    send(editor, "what is it?")
    editor.see("A greeting.")
    assert "[Lines 1 to 2 of" in json.dumps(model.calls[0].body["messages"])
    assert "+ greeter.py" not in editor.look()
    send(editor, "and now?")
    editor.see("Nothing more.")
    editor.lua("vim.g.assent = vim.tbl_deep_extend('force', vim.g.assent, { chat = { attach = 'file' } })")
    editor.command("redrawstatus!")
    editor.see("+ greeter.py · <CR>")


def test_words_stand_for_what_the_editor_has_and_a_picture_goes_along(newest: Start, model: FakeApi) -> None:
    model.reply(text("I see."))
    editor = newest(env=model.env)
    (editor.project / "dot.png").write_bytes(DOT)
    editor.lua(
        "local s = vim.api.nvim_create_namespace('x')\n"
        "vim.diagnostic.set(s, 0, { { lnum = 1, col = 4, message = 'misspelt word', severity = 2, source = 'spell' } })\n"
        "vim.fn.setqflist({ { filename = 'greeter.py', lnum = 5, text = 'look here' } })"
    )
    editor.command("Assent image dot.png")
    editor.see("[image 1]")
    editor.type("A see @diagnostics and @quickfix<Esc><CR>")
    editor.see("[image 1]  see @diagnostics and @quickfix", "[@diagnostics]", "[@quickfix]", "I see.")
    content = sent(model)
    words = [block.get("text", "") for block in content]
    assert any("greeter.py:2:5: warn: misspelt word" in each for each in words)
    assert any("greeter.py:5: look here" in each for each in words)
    assert [block["source"]["media_type"] for block in content if block["type"] == "image"] == ["image/png"]


def test_git_is_asked_by_the_server_under_its_rules(newest: Start, model: FakeApi) -> None:
    model.reply(text("I see."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "what of @git?")
    editor.until(lambda: bool(model.calls) or "Assent asks" in editor.look(), "for an answer or an ask")
    if not model.calls:
        editor.type("<M-y>")
    editor.see("[@git]", "I see.")


def test_a_conversation_is_toggled_renamed_copied_deleted_and_gone_on_with(newest: Start, model: FakeApi) -> None:
    model.reply(text("Hello to you."))
    choose = "vim.ui.select = function(items, _, done) done(items[2], 2) end\n"
    editor = newest(env=model.env, config=choose)
    open_chat(editor)
    send(editor, "hello")
    editor.see("Hello to you.", "idle")
    editor.command("Assent toggle")
    editor.until(lambda: "Hello to you." not in editor.look(), "for the chat to go")
    editor.command("Assent toggle")
    editor.see("Hello to you.")
    editor.command("Assent rename A fine greeting")
    editor.see("this conversation is called “A fine greeting”")
    first = session(editor)
    editor.command("Assent fork")
    editor.see("this is a copy", "Hello to you.")
    assert session(editor) != first
    editor.command("Assent delete")
    editor.see("the conversation is deleted")
    assert "Hello to you." not in editor.look()
    editor.command("Assent continue")
    editor.see("Hello to you.")
    assert session(editor) == first


def test_a_plan_is_approved_together_with_its_edits(start: Start, model: FakeApi) -> None:
    model.reply(tool("ExitPlanMode", plan="1. Greet"))
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(tool("Edit", file_path="greeter.py", old_string='"Helo"', new_string='"Hello"'))
    model.reply(text("Done as planned."))
    editor = start(env=model.env)
    open_chat(editor)
    editor.command("Assent mode plan")
    editor.see("· plan")
    send(editor, "plan it")
    editor.see("Assent proposes a plan", "1. Greet")
    editor.command("Assent answer")
    editor.see("e approve and accept edits")
    editor.type("e")
    editor.see("Done as planned.", "· acceptEdits", "Assent landed")
    assert editor.lines()[1] == '    return "Hello"'


def test_an_inline_prompt_says_beside_its_line_how_it_goes_and_events_tell_others(
    newest: Start, model: FakeApi
) -> None:
    model.when("fix", Reply(parts=(text("Wait ", hold("more"), "done."),)))
    note = (
        "_G.heard = {}\nvim.api.nvim_create_autocmd('User', { pattern = 'Assent*', callback = function(event)\n"
        "table.insert(_G.heard, event.match) end })\n"
    )
    editor = newest(env=model.env, config=note)
    editor.command("2Assent prompt fix it")
    screen = editor.see('return "Helo"', "Assent: writing")
    assert 'return "Helo"' in next(line for line in screen.splitlines() if "Assent: writing" in line)
    model.release("more")
    editor.until(
        lambda: (
            "Assent: "
            not in editor.lua("return vim.inspect(vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, {details = true}))")
        ),
        "for the words to go",
    )
    wanted = {"AssentTurnStarted", "AssentStatus", "AssentTurnFinished"}
    editor.until(lambda: wanted <= set(editor.lua("return _G.heard")), "for the events")
