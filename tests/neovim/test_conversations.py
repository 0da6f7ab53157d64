"""Earlier conversations and their windows: what the list says, where one opens, and what stands in the way."""

import re
from pathlib import Path

import pytest

from fakeapi import FakeApi, hold, text, tool
from nvimscreen import Neovim
from nvimscreen.scenes import Start, open_chat, send, session

pytestmark = pytest.mark.editor

PICK = """
_G.pick = 1
vim.ui.select = function(items, options, done)
  _G.prompt, _G.offered = options.prompt, vim.tbl_map(options.format_item or tostring, items)
  done(items[_G.pick], _G.pick)
end
"""


def titled(model: FakeApi, editor: Neovim, prompt: str, answer: str) -> None:
    model.reply(text(answer))
    open_chat(editor)
    send(editor, prompt)
    editor.see(answer, "idle")


def test_the_list_says_what_one_picks_by_and_leaves_out_what_is_empty(start: Start, model: FakeApi) -> None:
    editor = start(env=model.env, config=PICK)
    titled(model, editor, "about birds", "They fly.")
    editor.command("Assent! chat")  # nothing is said in this one
    editor.until(lambda: "They fly." not in editor.look(), "for the empty chat")
    empty = session(editor)
    editor.command("Assent sessions")
    editor.see("They fly.")
    offered = editor.lua("return _G.offered")
    assert len(offered) == 1
    assert re.fullmatch(r".*\w.* · (just now|\d+ min ago) · 1 turn · \$\d+\.\d\d", offered[0]), offered
    assert empty not in str(offered) and session(editor) not in str(offered)
    editor.command("Assent sessions fly")  # those in which it was said, and where
    editor.until(lambda: "They ›fly‹." in str(editor.lua("return _G.offered")), "for the place in the list")


def test_a_running_one_says_so(start: Start, model: FakeApi) -> None:
    model.reply(text("Still ", hold("more"), "at it."))
    editor = start(env=model.env, config=PICK)
    open_chat(editor)
    send(editor, "take your time")
    editor.see("Still")
    editor.command("Assent sessions")
    editor.until(lambda: "running" in str(editor.lua("return _G.offered or {}")), "for the list")
    model.release("more")
    editor.see("at it.", "idle")


def test_one_that_is_picked_takes_the_place_of_the_chat(start: Start, model: FakeApi) -> None:
    editor = start(env=model.env, config=PICK)
    titled(model, editor, "about birds", "They fly.")
    editor.command("Assent! chat")
    editor.until(lambda: "They fly." not in editor.look(), "for the new chat")
    titled(model, editor, "about fish", "They swim.")
    windows = editor.lua("return vim.api.nvim_tabpage_list_wins(0)")
    editor.lua("_G.pick = 2")
    editor.command("Assent sessions")
    screen = editor.see("They fly.", "sends · @ files")
    assert "They swim." not in screen
    assert editor.lua("return vim.api.nvim_tabpage_list_wins(0)") == windows


def test_the_chat_keeps_its_share_of_the_screen(start: Start) -> None:
    editor = start(size=(200, 45))
    open_chat(editor)
    width = "return vim.api.nvim_win_get_width(0)"
    assert editor.lua(width) == 120
    editor.nvim.ui_try_resize(100, 30)
    editor.until(lambda: editor.lua(width) == 60, "for the chat to be narrower")
    editor.nvim.ui_try_resize(200, 45)
    editor.until(lambda: editor.lua(width) == 120, "for the chat to be wider again")
    assert editor.lua("return vim.api.nvim_win_get_height(0)") == 4
    editor.command("wincmd h | vnew")  # the files share what is theirs
    editor.command("wincmd b")
    assert editor.lua(width) == 120


def test_a_conversation_open_elsewhere_is_read_or_gone_on_with_in_a_copy(start: Start, model: FakeApi) -> None:
    first = start(env=model.env, config=PICK)
    titled(model, first, "about birds", "They fly.")
    second = start(env=model.env, config=PICK)
    second.lua(
        """
vim.ui.select = function(items, options, done)
  _G.prompt, _G.offered = options.prompt, vim.tbl_map(options.format_item or tostring, items)
  done(items[options.kind == "assent_session" and 1 or _G.pick])
end
"""
    )
    second.command("Assent sessions")
    second.see("They fly.", "can only be read")
    assert second.lua("return _G.offered") == ["Read it here", "Go on in a copy of it", "Leave it"]
    second.lua("_G.pick, _G.offered = 2, nil")
    model.reply(text("And sing."))
    send(second, "what else?")
    second.until(lambda: session(second) != session(first), "for the copy")
    prompt = f"assent://prompt/{session(second)}"
    second.until(lambda: second.lines(prompt) == ["what else?"], "for the words in the copy's prompt")
    second.type("<CR>")
    second.see("They fly.", "And sing.", "idle")
    assert "And sing." not in first.look()


def without_complaint(editor: Neovim) -> None:
    said = editor.messages()
    assert "stack traceback" not in said and "Error" not in said and "E5108" not in said, said


def proposed(start: Start, before: str, name: str = "other.txt", config: str = "") -> Neovim:
    editor = start(config=config)
    (editor.project / "other.txt").write_text("Helo\n")
    editor.command(before)
    open_chat(editor)
    send(editor, f"replace 'Helo' by 'Hello' in {name}")
    editor.see("Assent asks")
    return editor


def test_a_changed_buffer_that_cannot_be_hidden_keeps_its_window(start: Start) -> None:
    editor = proposed(start, "set nohidden | call setline(1, 'changed')")
    editor.command("wincmd h")
    editor.type("]h")
    editor.see("changed", "Hello", "hunk 1 of 1")
    editor.type("gha")
    editor.until(lambda: editor.lines("other.txt") == ["Hello"], "for the hunk to land")
    without_complaint(editor)


def test_a_read_only_file_is_reviewed_like_another(start: Start) -> None:
    editor = start()
    other = editor.project / "other.txt"
    other.write_text("Helo\n")
    other.chmod(0o444)
    editor.command("edit other.txt | set readonly")
    open_chat(editor)
    send(editor, "replace 'Helo' by 'Hello' in other.txt")
    editor.see("hunk 1 of 1")
    editor.command("wincmd h")
    editor.type("gha")
    editor.until(lambda: editor.lines("other.txt") == ["Hello"], "for the hunk to land")
    without_complaint(editor)


def test_a_buffer_without_a_name_can_be_asked_about_and_holds_no_hunks(start: Start, model: FakeApi) -> None:
    model.reply(text("A haiku."))
    editor = start(env=model.env, config="vim.ui.input = function(_, done) done('what is this?') end\n")
    editor.command("enew | call setline(1, ['old pond', 'a frog jumps in'])")
    for command in ("accept", "reject", "accept file", "edit", "diff", "next", "review"):
        editor.command(f"Assent {command}")
    editor.command("1,2Assent ask what is this?")
    editor.see("A haiku.", "idle")
    assert "a frog jumps in" in str(model.calls[0].body["messages"])
    editor.command("wincmd h | Assent prompt")
    without_complaint(editor)


def test_a_file_open_in_another_neovim_is_gone_to_without_a_question(start: Start) -> None:
    other = start(file="", config="vim.o.swapfile = true\n", swap=True)
    (other.project / "other.txt").write_text("Helo\n")
    other.command("edit other.txt | call setline(1, 'Helo') | preserve")
    editor = proposed(start, "set swapfile")
    editor.command("wincmd h")
    editor.type("]h")
    editor.see("Hello", "hunk 1 of 1")
    without_complaint(editor)


def test_help_is_found_where_no_plugin_manager_made_its_tags(start: Start, tmp_path: Path) -> None:
    editor = start()
    editor.command("help assent-review")
    editor.see("REVIEWING EDITS")
    for tag in (":Assent", "g:assent", "assent-asks"):
        editor.command(f"help {tag}")
    tags = Path(editor.lua("return vim.api.nvim_get_runtime_file('doc/tags', true)[1]"))
    (tmp_path / "doc").mkdir()
    (tmp_path / "doc" / "assent.txt").write_text((tags.parent / "assent.txt").read_text())
    editor.command(f"helptags {tmp_path / 'doc'}")
    assert (tmp_path / "doc" / "tags").read_text() == tags.read_text()


def test_an_ask_that_trust_would_end_says_so(start: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command="touch made"))
    model.reply(text("Then not."))
    editor = start(env=model.env)
    (editor.project / ".assent").mkdir()
    (editor.project / ".assent" / "settings.json").write_text('{"permissions": {"allow": ["Bash(touch made)"]}}')
    open_chat(editor)
    editor.see("Assent has a question")
    editor.command("Assent answer")
    editor.type("1")  # it stays restricted
    editor.until(lambda: "Assent has a question" not in editor.look(), "for the answer")
    editor.command("Assent chat")
    send(editor, "make it")
    editor.see("$ touch made", "what its own settings allow is asked. :Assent trust ends that")
    editor.command("Assent answer deny")
    editor.see("Then not.")
