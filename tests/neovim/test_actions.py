"""Code actions: there from the first file on, about every problem, and answered in the plugin's own chat."""

import json

import pytest

from fakeapi import FakeApi, text
from nvimscreen import Neovim
from nvimscreen.scenes import Start, open_chat, send, session

pytestmark = pytest.mark.editor

PICK = """
vim.ui.select = function(items, options, done)
  local titles = vim.tbl_map(options.format_item or tostring, items)
  _G.offered = titles
  for index, item in ipairs(items) do
    if _G.wanted and titles[index]:find(_G.wanted, 1, true) then return done(item, index) end
  end
end
"""


def act(editor: Neovim, title: str, keys: str = "") -> list[str]:
    """Take a code action as a picker would, and give the titles of all that were offered."""
    editor.until(
        lambda: bool(editor.lua("return #vim.lsp.get_clients({ bufnr = 0, method = 'textDocument/codeAction' }) > 0")),
        "for someone to offer actions",
    )
    editor.lua("_G.wanted, _G.offered = ..., nil", title)
    editor.type(f"{keys}<Cmd>lua vim.lsp.buf.code_action()<CR>")
    editor.until(lambda: bool(editor.lua("return _G.offered ~= nil")), "for code actions")
    return editor.lua("return _G.offered")


def asked(model: FakeApi, call: int = -1) -> str:
    return json.dumps(model.calls[call].body["messages"][-1])


def test_actions_are_there_before_the_first_command_and_one_starts_the_chat(start: Start, model: FakeApi) -> None:
    model.reply(text("It greets."))
    editor = start(env=model.env, config=PICK)
    editor.see("def greet")
    titles = act(editor, "Explain")
    assert [title.partition(" [")[0] for title in titles] == [
        "Assent: Explain",
        "Assent: Refactor…",
        "Assent: Write tests",
        "Assent: Document",
        "Assent: Ask about selection",
    ]
    editor.see("Explain @greeter.py line 1", "It greets.", "idle", "sends · @ files")
    assert len(act(editor, "nothing of it", "<C-w>h")) == len(titles)  # the server's own now, and each of them once


def test_explain_answers_in_the_chat_that_is_open(start: Start, model: FakeApi) -> None:
    model.reply(text("Hello."))
    model.reply(text("It greets."))
    editor = start(env=model.env, config=PICK)
    open_chat(editor)
    send(editor, "hi")
    editor.see("Hello.", "idle")
    before = session(editor)
    act(editor, "Explain", "<C-w>h2G")
    editor.see("Hello.", "Explain @greeter.py line 2", "It greets.")
    assert session(editor) == before


def test_ask_about_selection_opens_the_prompt_with_the_selection_and_writes_no_file(
    start: Start, model: FakeApi
) -> None:
    model.reply(text("Two of them."))
    editor = start(env=model.env, config=PICK)
    editor.see("def greet")
    act(editor, "Ask about selection", "ggVj")
    editor.see("@greeter.py#L1-L2", "sends · @ files")
    editor.type("how many lines?<Esc><CR>")
    editor.see("@greeter.py#L1-L2 how many lines?", "Two of them.")
    assert 'return \\"Helo\\"' in json.dumps(model.calls[0].body["messages"]).replace('\\\\"', '\\"')
    assert sorted(path.name for path in editor.project.iterdir() if path.name != ".git") == ["greeter.py"]


def test_refactor_asks_what(start: Start, model: FakeApi) -> None:
    model.reply(text("Shorter now."))
    editor = start(env=model.env, config=PICK + "vim.ui.input = function(_, done) done('make it shorter') end\n")
    open_chat(editor)
    act(editor, "Refactor", "<C-w>h2G")
    editor.see("Refactor @greeter.py line 2: make it shorter", "Shorter now.")


@pytest.mark.parametrize("running", [False, True])
def test_fix_is_offered_on_a_problem_that_anyone_found(start: Start, model: FakeApi, running: bool) -> None:
    model.reply(text("I would spell it Hello."))
    editor = start(env=model.env, config=PICK)
    if running:
        open_chat(editor)
        editor.command("wincmd h")
    editor.lua(
        "vim.diagnostic.set(vim.api.nvim_create_namespace('linter'), 0, {{ lnum = 1, col = 12, end_col = 16, "
        "severity = 2, message = 'misspelt greeting', source = 'linter' }})"
    )
    titles = act(editor, "Fix", "2G")
    assert titles[0].startswith("Assent: Fix: misspelt greeting")
    editor.see("Fix this problem in @greeter.py line 2: misspelt greeting (linter)", "I would spell it Hello.")
    assert not any("Fix" in title for title in act(editor, "nothing of it", "<C-w>h1G"))
