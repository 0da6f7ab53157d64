"""Forms and addresses that a question may bring, answered with vim.ui as the user set it up."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from nvimscreen import Neovim
from nvimscreen.scenes import Start, open_chat

pytestmark = pytest.mark.editor

WIRE = Path(__file__).parent / "wire_server.py"
FORM = {
    "type": "object",
    "required": ["name", "count"],
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "count": {"type": "integer", "minimum": 1, "maximum": 5},
        "colour": {"type": "string", "enum": ["red", "green"], "enumNames": ["Rot", "Grün"]},
        "sizes": {"type": "array", "items": {"enum": ["s", "m", "l"]}},
        "mail": {"type": "boolean", "description": "send a copy"},
    },
}
# One picker and one input line that answer from lists, and keep what they were asked.
SCRIPTED = """
_G.asked = {}
vim.ui.select = function(items, options, done)
  table.insert(_G.asked, options.prompt)
  local wanted = table.remove(_G.picks, 1)
  for index, item in ipairs(items) do
    if (options.format_item or tostring)(item) == wanted then return done(item, index) end
  end
  done(nil)
end
vim.ui.input = function(options, done)
  table.insert(_G.asked, options.prompt)
  done(table.remove(_G.typed, 1))
end
vim.ui.open = function(address) _G.opened = address end
"""


def ask(start: Start, tmp_path: Path, question: dict[str, Any], config: str) -> tuple[Neovim, Path]:
    """An editor whose server puts this question, and where the answer will be."""
    words, answer = tmp_path / "question.json", tmp_path / "answer.json"
    words.write_text(json.dumps({"requestId": "r1", "sessionId": "s1", "elicitId": "e1", **question}))
    server = ", ".join(f"[[{word}]]" for word in (sys.executable, WIRE, words, answer))
    editor = start(server=server, config=SCRIPTED + config)
    open_chat(editor)
    return editor, answer


def answered(editor: Neovim, answer: Path) -> Any:
    editor.until(lambda: answer.exists() and bool(answer.read_text()), "for the answer")
    return json.loads(answer.read_text())


def test_a_form_is_asked_field_by_field_and_what_does_not_fit_is_asked_again(newest: Start, tmp_path: Path) -> None:
    config = "_G.typed = { 'A', 'Ada', 'many', '9', '3' }\n_G.picks = { 'Grün', 'yes', 's', 'l', 'Done' }\n"
    editor, answer = ask(newest, tmp_path, {"message": "Who are you?", "schema": FORM}, config)
    editor.see("Assent has a question", "Who are you?", "Alt-n decline", ":Assent answer for more")
    editor.type("i5<Esc>")  # typed for the prompt
    assert editor.lua("return #_G.asked") == 0 and not answer.exists()
    editor.command("Assent answer")
    editor.type("<CR>")
    assert answered(editor, answer) == {
        "action": "accept",
        "content": {"name": "Ada", "count": 3, "colour": "green", "sizes": ["s", "l"], "mail": True},
    }
    prompts = editor.lua("return _G.asked")
    assert prompts[0].startswith("Your name") and any("send a copy" in prompt for prompt in prompts)
    assert "Assent has a question" not in editor.look()


@pytest.mark.torture  # a variation of the scene above it
def test_a_form_that_is_left_half_way_goes_on_waiting_and_can_be_declined(newest: Start, tmp_path: Path) -> None:
    editor, answer = ask(newest, tmp_path, {"message": "Who are you?", "schema": FORM}, "_G.typed, _G.picks = {}, {}\n")
    editor.see("Who are you?")
    editor.command("Assent answer")
    editor.type("<CR>")
    editor.until(lambda: editor.lua("return #_G.asked") == 1, "for the first field")
    editor.see("Assent has a question", "Who are you?")
    assert not answer.exists()
    editor.command("Assent answer")
    editor.type("n")
    assert answered(editor, answer) == {"action": "decline"}


def test_an_address_is_shown_whole_and_opened_only_when_the_user_says_so(newest: Start, tmp_path: Path) -> None:
    question = {"message": "Sign in, please", "url": "https://example.org/sign-in?state=1"}
    editor, answer = ask(newest, tmp_path, question, "_G.picks = { 'Open' }\n")
    editor.see("Assent has a question", "Sign in, please", "https://example.org/sign-in?state=1")
    assert editor.lua("return _G.opened == nil")
    editor.command("Assent answer")
    editor.type("<CR>")
    assert answered(editor, answer) == {"action": "accept"}
    assert editor.lua("return _G.opened") == "https://example.org/sign-in?state=1"


@pytest.mark.torture  # a variation of the scene above it
def test_an_address_that_is_no_web_page_is_never_opened(newest: Start, tmp_path: Path) -> None:
    editor, answer = ask(newest, tmp_path, {"message": "Look", "url": "file:///etc/passwd"}, "_G.picks = { 'Open' }\n")
    editor.see("file:///etc/passwd")
    editor.command("Assent answer")
    editor.type("<CR>")
    assert answered(editor, answer) == {"action": "decline"}
    assert editor.lua("return _G.opened == nil")
