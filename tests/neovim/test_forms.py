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
  local typed = table.remove(_G.typed, 1)
  done(typed == "ENTER" and (options.default or "") or typed)
end
vim.ui.open = function(address) _G.opened = address end
"""


CHECKED = {
    "type": "object",
    "required": ["day", "sizes"],
    "properties": {
        "day": {"type": "string", "format": "date"},
        "sizes": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"enum": ["s", "m", "l"]}},
        "a_mail": {"type": "string", "format": "email"},
        "b_page": {"type": "string", "format": "uri"},
        "c_time": {"type": "string", "format": "date-time"},
        "d_share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    },
}
DEFAULTS = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "default": "Ada"},
        "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g"}], "default": "g"},
        "copy": {"type": "boolean", "default": False},
        "sizes": {"type": "array", "items": {"enum": ["s", "m", "l"]}, "default": ["m", "l"]},
        "shade": {"type": "string", "enum": ["dark", "light"]},
        "sure": {"type": "boolean"},
        "tags": {"type": "array", "items": {"enum": ["x"]}},
        "note": {"type": "string", "minLength": 3},
    },
}


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
    editor.see("Assent has a question", "Who are you?", "Alt-n decline", ":Assent answer to answer")
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


def test_every_limit_of_a_field_is_checked_while_it_is_asked(newest: Start, tmp_path: Path) -> None:
    typed = ["soon", "2026-02-30", "2026-01-31", "me", "me@example.org", "example.org", "https://example.org"]
    typed += ["2026-01-31", "2026-01-31T09:30:00Z", "1", "0.5"]
    listed = ", ".join(f"'{word}'" for word in typed)
    config = f"_G.typed = {{ {listed} }}\n_G.picks = {{ 'Done', 's', 'l' }}\n"
    editor, answer = ask(newest, tmp_path, {"message": "Where to?", "schema": CHECKED}, config)
    editor.see("Where to?")
    editor.command("Assent answer")
    editor.type("<CR>")
    assert answered(editor, answer)["content"] == {
        "day": "2026-01-31",
        "sizes": ["s", "l"],
        "a_mail": "me@example.org",
        "b_page": "https://example.org",
        "c_time": "2026-01-31T09:30:00Z",
        "d_share": 0.5,
    }
    prompts = "\n".join(editor.lua("return _G.asked"))
    for words in (
        "a date like",
        "at least 1",
        "an e-mail address like",
        "an address like",
        "a date and time like",
        "less than 1",
    ):
        assert words in prompts, words


def test_defaults_are_filled_in_and_optional_fields_are_skipped_with_enter(newest: Start, tmp_path: Path) -> None:
    config = """_G.typed = { "ENTER", "ENTER" }
    vim.ui.select = function(items, options, done) -- Enter: whatever stands first
      table.insert(_G.asked, options.prompt)
      done(items[1], 1)
    end
    """
    editor, answer = ask(newest, tmp_path, {"message": "Who?", "schema": DEFAULTS}, config)
    editor.see("Who?")
    editor.command("Assent answer")
    editor.type("<CR>")
    assert answered(editor, answer) == {
        "action": "accept",
        "content": {"name": "Ada", "colour": "g", "copy": False, "sizes": ["m", "l"]},
    }


def test_an_answer_that_the_server_refused_is_shown_with_its_reasons_and_filled_in_again(
    newest: Start, tmp_path: Path
) -> None:
    question = {
        "message": "Which day?",
        "schema": {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
        "problems": {"day": "a day of this week is expected"},
        "given": {"day": "2026-01-31"},
    }
    editor, answer = ask(newest, tmp_path, question, "_G.typed = { 'ENTER' }\n")
    editor.see("Which day?", "day: a day of this week is expected")
    editor.command("Assent answer")
    editor.type("<CR>")
    assert answered(editor, answer)["content"] == {"day": "2026-01-31"}
    assert "a day of this week is expected" in editor.lua("return _G.asked")[0]


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
