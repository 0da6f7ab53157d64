"""The rest of what `:Assent` does, and what shows of the agent outside the chat."""

import json
from pathlib import Path

import pytest

from fakeapi import FakeApi, Reply, hold, text, thinking, tool
from nvimscreen.scenes import Start, open_chat, send, session

pytestmark = pytest.mark.editor

TRUSTED = "vim.g.assent = vim.tbl_extend('force', vim.g.assent, { trusted = true })\n"


def test_a_visual_selection_is_asked_about_and_reaches_the_model(newest: Start, model: FakeApi) -> None:
    model.reply(text("It returns a greeting."))
    config = (
        "vim.keymap.set('x', 'gA', '<Plug>(assent-ask)')\nvim.ui.input = function(_, done) done('what is it?') end\n"
    )
    editor = newest(env=model.env, config=config)
    editor.type("ggjVgA")
    editor.see("## You", "what is it?", "It returns a greeting.")
    prompt = str(model.calls[0].body["messages"])
    assert 'return "Helo"' in prompt and "[Lines 2 to 2 of" in prompt


def test_the_inline_prompt_changes_the_lines_it_is_about_without_opening_a_chat(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(tool("Edit", file_path="greeter.py", old_string='"Helo"', new_string='"Hello"'))
    model.reply(text("Fixed."))
    editor = newest(env=model.env, config="vim.ui.input = function(_, done) done('fix the spelling') end\n")
    editor.type("ggj:Assent prompt<CR>")
    screen = editor.see("hunk 1 of 1", 'return "Hello"')
    assert "sends · @ files" not in screen
    assert "greeter.py" in json.dumps(model.calls[0].body["messages"])
    editor.type("gha")
    editor.until(lambda: editor.lines()[1] == '    return "Hello"', "for the hunk to land")
    editor.see("done: Fixed.")


def test_always_shows_its_rule_and_writes_it_for_the_project(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command="touch one"))
    model.reply(tool("Bash", command="touch one two"))
    model.reply(text("Both made."))
    editor = newest(env=model.env, config=TRUSTED + "vim.ui.select = function(items, _, done) done(items[1], 1) end\n")
    open_chat(editor)
    send(editor, "make them")
    editor.see("“session” and “always” allow Bash(touch one:*) from now on", "a always")
    editor.command("Assent answer")
    editor.type("a")
    editor.see("`Bash(touch one:*)` is now always allowed", "Both made.")
    settings = json.loads((editor.project / ".assent" / "settings.local.json").read_text())
    assert settings["permissions"]["allow"] == ["Bash(touch one:*)"]


def test_a_subagent_shows_on_the_line_of_its_call_and_its_asks_wait_like_others(newest: Start, model: FakeApi) -> None:
    task = {"description": "count files", "prompt": "Count the files.", "subagent_type": "general-purpose"}
    model.when(lambda call: "There is one." in str(call.tool_results), Reply(parts=(text("One file, it says."),)))
    model.when(lambda call: "touch counted" in str(call.messages), Reply(parts=(text("There is one."),)))
    model.when("Count the files.", Reply(parts=(tool("Bash", command="touch counted"),)))
    model.reply(tool("Agent", task))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "how many files?")
    screen = editor.see("Assent asks", "$ touch counted", "Agent", "count files")
    assert "There is one." not in screen
    editor.command("Assent answer allow")
    editor.see("One file, it says.", "idle")
    assert (editor.project / "counted").exists()
    assert sum("Agent" in line for line in editor.lines(f"assent://chat/{session(editor)}")) == 1


def test_thinking_and_output_are_folded_and_open_like_any_fold(newest: Start, model: FakeApi) -> None:
    model.reply(
        thinking("First this.\nThen that.\nAt last."), text("Thought through."), tool("Bash", command="seq 1 9")
    )
    model.reply(text("Counted."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "think")
    screen = editor.see("⋯ It thought for 3 lines: First this.", "⋯ 9 lines of output", "Counted.")
    assert "Then that." not in screen
    editor.command("wincmd k | call search('First this') | normal! zo")
    editor.see("┊ Then that.")


def test_the_status_line_says_what_is_going_on(newest: Start, model: FakeApi) -> None:
    model.reply(text("Once ", hold("more"), "upon a time."))
    model.reply(tool("Bash", command="touch made"))
    model.reply(text("The end."))
    editor = newest(env=model.env)
    assert "Assent" not in editor.look().splitlines()[-2]
    open_chat(editor)
    send(editor, "tell me")
    editor.see("Once", "Assent ◐ · writing")
    model.release("more")
    editor.see("upon a time.", "Assent ●")
    send(editor, "go on")
    editor.see("Assent ? · Run touch made · 1 waiting")
    editor.command("Assent answer deny")
    editor.see("The end.", "Assent ●")


def test_trusting_the_folder_is_remembered_and_can_be_taken_back(newest: Start) -> None:
    editor = newest()
    (editor.project / ".assent").mkdir()
    (editor.project / ".assent" / "settings.json").write_text('{"permissions": {"allow": ["Bash(touch made)"]}}')
    editor.command("Assent trust")
    editor.see("never asks for Bash(touch made)", "2  Trust this folder")
    editor.command("Assent answer")
    editor.type("2")
    editor.see("Assent: this folder is trusted")
    open_chat(editor)
    send(editor, "run `touch made`")
    editor.until(lambda: (editor.project / "made").exists(), "for the rule of the project to count")
    assert "Assent asks" not in editor.look()
    editor.command("Assent trust no")
    editor.see("Assent: this folder is not trusted")
    send(editor, "run `touch made`")
    editor.see("Assent asks", "$ touch made")


def test_the_log_opens_and_says_where_it_is_when_there_is_none(newest: Start) -> None:
    editor = newest()
    editor.command("Assent log")
    editor.see("there is no log yet")
    logs = Path(editor.env["XDG_DATA_HOME"]) / "assent" / "logs"
    logs.mkdir(parents=True)
    (logs / "server.log").write_text("2026-01-01 something to read\n")
    editor.command("Assent log")
    editor.see("something to read")
    assert editor.nvim.current.buffer.name.endswith("server.log")


def test_model_and_mode_are_chosen_and_shown(newest: Start, model: FakeApi) -> None:
    choose = """
vim.ui.select = function(items, options, done)
  for _, item in ipairs(items) do
    if item == "plan" or item.id == "claude-sonnet-5-5" then return done(item) end
  end
end
"""
    editor = newest(env=model.env, config=choose)
    open_chat(editor)
    editor.command("Assent model claude-haiku-5-5")
    editor.see("claude-haiku-5-5 · default")
    editor.command("Assent mode")
    editor.see("claude-haiku-5-5 · plan")
    editor.command("Assent model")
    editor.see("claude-sonnet-5-5 · plan")


def test_typing_an_at_opens_a_menu_that_follows_the_typing_and_writes_nothing_by_itself(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    editor.type("ilook at @gree")
    editor.see("look at @gree", "greeter.py")
    prompt = f"assent://prompt/{session(editor)}"
    editor.until(lambda: editor.lua("return vim.fn.pumvisible()") == 1, "for the menu")
    assert editor.lines(prompt) == ["look at @gree"]
    editor.type("<C-n><C-y>")
    editor.until(lambda: editor.lines(prompt) == ["look at @greeter.py"], "for the match to be taken")
    editor.type(" and me@example<Esc>")
    editor.until(lambda: editor.lines(prompt) == ["look at @greeter.py and me@example"], "for the words")
    assert editor.lua("return vim.o.completeopt") == editor.lua(
        "return vim.api.nvim_get_option_info2('completeopt', {}).default"
    )


def test_the_prompt_is_completed_by_the_language_server_for_every_completion_plugin(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    editor.type("ilook at @gree")
    editor.until(lambda: editor.lines(f"assent://prompt/{session(editor)}") == ["look at @gree"], "for the words")
    found = editor.lua(
        """
local params = vim.lsp.util.make_position_params(0, "utf-16")
local answers = vim.lsp.buf_request_sync(0, "textDocument/completion", params, 30000)
local labels = {}
for _, answer in pairs(answers) do
  for _, item in ipairs(answer.result.items) do table.insert(labels, item.textEdit.newText) end
end
return labels
"""
    )
    assert any("greeter.py" in label for label in found)


def test_the_chat_opens_where_it_is_wanted_and_closes_leaving_the_file_and_the_words(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    editor.type("iwords kept<Esc>q")
    for layout in ("right", "left", "bottom", "tab", "float"):
        editor.until(lambda: "sends · @ files" not in editor.look(), "for the chat to close")
        editor.see("def greet():")
        editor.command(f"Assent chat {layout}")
        screen = editor.see("sends · @ files", "idle", "words kept")
        assert ("def greet():" in screen) == (layout != "tab")
        editor.type("q")
