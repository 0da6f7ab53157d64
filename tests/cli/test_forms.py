"""Forms of MCP servers at the terminal: asked field by field, and again where an answer does not fit."""

from pathlib import Path
from typing import Any

import pytest

from assent.cli.chat.terminal import Terminal
from assent.cli.chat.terminal_questions import Questions

FORM: dict[str, Any] = {
    "type": "object",
    "required": ["when", "count", "colour"],
    "properties": {
        "when": {"type": "string", "format": "date", "title": "Day of travel"},
        "count": {"type": "integer", "minimum": 1, "maximum": 5, "default": 2},
        "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]},
        "sizes": {"type": "array", "minItems": 1, "items": {"enum": ["s", "m", "l"]}},
        "mail": {"type": "boolean"},
        "note": {"type": "string", "description": "for the driver"},
    },
}


class Typing(Terminal):
    """A terminal at which these lines are typed; only the keyboard is not there."""

    def __init__(self, *lines: str) -> None:
        super().__init__()
        self.lines = list(lines)
        self.prompts: list[str] = []

    async def ask(self, prompt: str) -> str | None:
        self.prompts.append(prompt)
        return self.lines.pop(0) if self.lines else None


async def answer(terminal: Terminal, **more: Any) -> Any:
    questions = Questions(terminal, Path("/"), answer_for_me=False)
    return await questions.elicit({"message": "Where to?", "schema": FORM, **more})


async def test_defaults_choices_and_skipped_fields_are_answered_and_what_does_not_fit_is_asked_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    typed = ("tomorrow", "", "2026-01-31", "9", "", "3", "2", "", "maybe", "yes", "")
    terminal = Typing(*typed)
    said = await answer(terminal)
    assert said == {"action": "accept", "content": {"when": "2026-01-31", "count": 2, "colour": "g", "mail": True}}
    shown = capsys.readouterr().out
    for words in (
        "a date like 2026-01-31 is expected",
        "it is required",
        "at most 5 is expected",
        "2. Green",
        "for the driver",
    ):
        assert words in shown
    assert terminal.lines == [] and "Enter: 2" in terminal.prompts[3] and "Enter skips it" in terminal.prompts[-1]


async def test_several_are_chosen_by_number_and_the_end_of_input_cancels(capsys: pytest.CaptureFixture[str]) -> None:
    fields = ("2026-01-31", "", "1", "1, 3", "n", "left door")
    said = await answer(Typing(*fields), problems={"when": "a date is expected"})
    assert said["content"]["sizes"] == ["s", "l"]
    assert (said["content"]["mail"], said["content"]["note"]) == (False, "left door")
    assert "when: a date is expected" in capsys.readouterr().out
    assert await answer(Typing("2026-01-31")) == {"action": "cancel"}
