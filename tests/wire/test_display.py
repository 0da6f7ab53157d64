"""Display text: one policy in the server, so that no front can leave a hidden character out."""

import pytest

from assent.editor.hunks import Hunk, short_diff
from assent.lsp.plain_asks import diff_of
from assent.sessions.asking.ask_display import displayed_ask, displayed_elicit
from assent.text.visible import display_lines, readable, visible
from assent.wire import shapes as wire
from assent.wire.asks import PendingAsk, PendingElicit
from assent.wire.shapes import CommandPart, Option, Question, ShellCommand, Suggestion

HIDDEN = ["\u061c", "\u2028", "\u2029", "\u200b", "\u202e", "\u2066", "\U000e0041", "\ufeff", "\x1b", "\x00", "\u3164"]


@pytest.mark.parametrize("char", HIDDEN, ids=lambda char: f"U+{ord(char):04X}")
def test_unseen_and_direction_turning_characters_are_spelled_out_everywhere(char: str) -> None:
    spelled = f"a⟨U+{ord(char):04X}⟩b"
    assert visible(f"a{char}b") == spelled
    assert readable(f"a{char}b") == spelled
    assert display_lines(f"a{char}b\r\n") == f"{spelled}\n"


def test_display_text_is_the_same_when_it_is_rendered_again() -> None:
    once = visible("".join(HIDDEN) + "é ⟨ok⟩\n")
    assert visible(once) == once


@pytest.mark.parametrize("text", ["👩‍💻 done", "❤️‍🔥", "می‌خواهم", "全角　空白", "plain\ttext\n", "naïve – “quoted”"])
def test_emoji_and_other_scripts_stay_readable_in_whole_texts(text: str) -> None:
    assert readable(text) == text
    assert display_lines(text) is None


def test_text_with_windows_line_ends_needs_no_display_of_its_own() -> None:
    assert display_lines("one\r\ntwo\r\n") is None
    assert display_lines("one\rtwo") == "one⟨U+000D⟩two"


def test_an_ask_shows_its_command_and_rules_and_keeps_what_goes_back_exact() -> None:
    rule = Suggestion("Bash(rm \u2028:*)", scope="project", covers="`rm \u2028` with any arguments")
    shown = displayed_ask(
        PendingAsk(
            session_id="s",
            turn_id="t",
            ask_id="a",
            tool_use_id="u",
            tool="Bash",
            input={"command": "rm \u061ca"},
            title="rm \u202e",
            reason="x",
            step="tool",
            suggestions=[rule],
            command=ShellCommand("rm \u061ca", [CommandPart(["rm", "\u061ca"], "ask")]),
        )
    )
    assert shown.title == "rm ⟨U+202E⟩"
    part = CommandPart(["rm", "\u061ca"], "ask", display="rm ⟨U+061C⟩a")
    assert shown.command == ShellCommand("rm \u061ca", [part], display="rm ⟨U+061C⟩a")
    (suggested,) = shown.suggestions
    assert (suggested.rule, suggested.display) == (rule.rule, "Bash(rm ⟨U+2028⟩:*)")
    assert suggested.covers == "`rm ⟨U+2028⟩` with any arguments"


def test_a_question_shows_its_labels_and_keeps_them_as_answers() -> None:
    options = [Option("A\u200b"), Option("B")]
    question = Question("q", "H", "Which\u200b?", multi_select=False, options=options, allow_other=True)
    shown = displayed_elicit(PendingElicit("s", "e", "m\u2028", questions=[question]))
    assert shown.message == "m⟨U+2028⟩"
    (asked,) = shown.questions or []
    assert asked.question == "Which⟨U+200B⟩?"
    assert asked.options == [Option("A\u200b", display="A⟨U+200B⟩"), Option("B")]


def test_plain_dialogs_show_display_text_and_answer_with_the_exact_one() -> None:
    top = wire.Range(wire.Position(0, 0), wire.Position(1, 0))
    hunk = wire.Hunk("h", top, "a\r\n", "b\u202e\r\n", "pending", new_display="b⟨U+202E⟩\n")
    proposal = wire.Proposal("p", "file:///a", version=1, base_hash="", hunks=[hunk], tool="Edit", reason="")
    assert diff_of(proposal) == "file:///a\n@@ line 1 @@\n-a\n+b⟨U+202E⟩"
    assert short_diff(Hunk(start=0, end=0, old_text="", new_text="x\u061cy\n")) == "+x⟨U+061C⟩y"
