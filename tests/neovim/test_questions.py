"""What waits for the user: asks, plans and questions. None of them may take keys that were typed for a buffer."""

import pytest

from fakeapi import Block, FakeApi, text, tool
from nvimscreen.scenes import GREETER, Start, open_chat, send, session

pytestmark = pytest.mark.editor

PICK = """
_G.picked = {}
vim.ui.select = function(items, options, done)
  local words = vim.tbl_map(options.format_item or tostring, items)
  table.insert(_G.picked, { options.prompt, words })
  for _, wanted in ipairs(_G.wanted) do
    for index, word in ipairs(words) do
      if word:find(wanted, 1, true) then return done(items[index], index) end
    end
  end
  done(nil)
end
"""


def ask_to_choose(*, multi: bool) -> Block:
    options = [{"label": "tabs", "description": "one each"}, {"label": "spaces", "description": "two each"}]
    question = {"question": "How to indent?", "header": "Indent", "options": options, "multiSelect": multi}
    return tool("AskUserQuestion", questions=[question])


def test_a_plan_is_shown_and_approved(newest: Start, model: FakeApi) -> None:
    model.reply(text("Let me think."), tool("ExitPlanMode", plan="1. Fix the spelling\n2. Run the tests"))
    model.reply(text("Now I may."))
    editor = newest(env=model.env)
    open_chat(editor)
    editor.command("Assent mode plan")
    editor.see("· plan")
    send(editor, "plan a fix")
    editor.see("Assent proposes a plan", "1. Fix the spelling", "2. Run the tests", "Alt-y approve the plan")
    editor.command("Assent answer")
    editor.type("y")
    editor.see("Now I may.", "### Plan")
    assert "Assent proposes a plan" not in editor.look()


def test_a_question_waits_in_the_corner_and_is_answered_with_a_picker(newest: Start, model: FakeApi) -> None:
    model.reply(ask_to_choose(multi=False))
    model.reply(text("Spaces it is."))
    editor = newest(env=model.env, config="_G.wanted = { 'spaces' }\n" + PICK)
    open_chat(editor)
    send(editor, "ask me")
    editor.see("Assent has a question", "How to indent?", "• spaces — two each")
    editor.type("i2<Esc>")  # typed for the prompt: no picker may take it
    assert editor.lua("return #_G.picked") == 0
    assert editor.lines(f"assent://prompt/{session(editor)}") == ["2"]
    editor.command("Assent answer")
    editor.type("<CR>")
    editor.see("Spaces it is.")
    assert "spaces" in str(model.calls[-1].body["messages"][-1])


def test_several_answers_to_one_question_all_reach_the_model(newest: Start, model: FakeApi) -> None:
    model.reply(ask_to_choose(multi=True))
    model.reply(text("Both, then."))
    editor = newest(env=model.env, config="_G.wanted = { 'tabs', 'spaces', 'Done' }\n" + PICK)
    open_chat(editor)
    send(editor, "ask me")
    editor.see("Assent has a question")
    editor.command("Assent answer")
    editor.type("<CR>")
    editor.see("Both, then.")
    answered = str(model.calls[-1].body["messages"][-1])
    assert "tabs" in answered and "spaces" in answered


def test_a_closed_picker_is_no_answer_and_the_question_goes_on_waiting(newest: Start, model: FakeApi) -> None:
    model.reply(ask_to_choose(multi=False))
    model.reply(text("As you like."))
    editor = newest(env=model.env, config="_G.wanted = {}\n" + PICK)
    open_chat(editor)
    send(editor, "ask me")
    editor.see("Assent has a question")
    editor.command("Assent answer")
    editor.type("<CR>")
    editor.until(lambda: editor.lua("return #_G.picked") == 1, "for the picker")
    editor.see("Assent has a question")
    editor.command("Assent answer deny")
    editor.see("As you like.")


def test_allowing_for_the_session_shows_its_rule_and_asks_no_more(newest: Start, model: FakeApi) -> None:
    for words in ("one", "one again"):
        model.reply(tool("Bash", command=f"touch {words}"))
    model.reply(text("Both made."))
    editor = newest(env=model.env, config="_G.wanted = { 'touch' }\n" + PICK)
    open_chat(editor)
    send(editor, "make them")
    editor.see("Assent asks", "“session” and “always” allow Bash(touch")
    editor.command("Assent answer")
    editor.type("s")
    editor.see("Both made.")
    assert (editor.project / "again").exists()


def test_parallel_asks_are_answered_one_by_one_and_counted(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Bash", command="touch one"), tool("Bash", command="touch two"))
    model.reply(text("One of them."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "make them")
    editor.see("│$ touch one")  # the ask itself: the command stands in the chat before it is asked about
    editor.command("Assent answer allow")
    editor.see("│$ touch two")
    editor.command("Assent answer deny")
    editor.see("One of them.")
    assert (editor.project / "one").exists() and not (editor.project / "two").exists()


def test_the_ask_leaves_the_prompt_in_sight(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    send(editor, "run `touch made`")
    editor.see("Assent asks")
    editor.type("iwhat I type")
    editor.see("what I type", "Assent asks", "sends · @ files")


def test_a_pending_ask_is_asked_again_when_the_chat_is_taken_up_elsewhere(newest: Start) -> None:
    editor = newest()
    open_chat(editor)
    send(editor, "run `touch made`")
    editor.see("Assent asks")
    editor.command(f"bdelete {editor.lua('return vim.fn.bufnr(...)', f'assent://chat/{session(editor)}')}")
    editor.command("Assent chat")
    editor.see("run", "Waiting for your answer", "Assent asks", "$ touch made")
    editor.command("Assent answer")
    editor.type("y")
    editor.until(lambda: (editor.project / "made").exists(), "for the command to run")
    editor.until(lambda: editor.lua("return require('assent.questions').count()") == 0, "for nothing to wait")


def test_details_show_the_whole_change(newest: Start, model: FakeApi) -> None:
    model.reply(tool("Write", file_path="long.txt", content="".join(f"line {n}\n" for n in range(60))))
    model.reply(text("Left alone."))
    editor = newest(env=model.env)
    open_chat(editor)
    send(editor, "write it")
    editor.see("Assent asks · more below")
    editor.command("Assent answer")
    editor.see("d in this window shows them all")
    editor.type("dG")
    screen = editor.see("+ line 59")
    assert "Assent asks" not in screen  # nothing covers what one wanted to see
    editor.type("q")
    editor.see("Assent asks")
    editor.command("Assent answer deny")
    editor.see("Left alone.")
    assert editor.lines() == GREETER.splitlines()
