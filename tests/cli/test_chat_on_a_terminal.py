"""`assent chat` as a person uses it: on a real terminal, answering its questions by keys."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from terminal import PATIENCE
from terminal.typescript import Typescript


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "greeter.py").write_text('def greet():\n    return "Helo"\n')
    return folder


@pytest.fixture
def start(project: Path) -> Iterator[Callable[..., Typescript]]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL")}
    env = {**kept, "HOME": str(project.parent / "home")}
    with contextlib.ExitStack() as opened:

        def open_terminal(*arguments: str, **more: str) -> Typescript:
            argv = [sys.executable, "-I", "-m", "assent.cli.main", *arguments]
            return opened.enter_context(Typescript(argv, env=env | more, cwd=project))

        yield open_terminal


@pytest.fixture
def chat(start: Callable[..., Typescript]) -> Typescript:
    return start("chat")


def test_a_person_sees_the_diff_says_yes_and_goes_on_chatting(chat: Typescript, project: Path) -> None:
    chat.expect("model offline")
    chat.expect("> ")
    chat.type("replace 'Helo' by 'Hello' in greeter.py\n")
    shown = chat.expect("allow? ")
    assert '-     return "Helo"' in shown and '+     return "Hello"' in shown
    assert "Helo" in (project / "greeter.py").read_text()
    chat.type("y\n")
    chat.expect("✓ completed")
    assert (project / "greeter.py").read_text() == 'def greet():\n    return "Hello"\n'
    chat.expect("> ")
    chat.type("/help\n")
    chat.expect("/compact")
    chat.expect("> ")
    chat.type("\x04")
    assert chat.process.wait(timeout=PATIENCE) == 0


def test_a_person_says_no_with_a_reason_and_nothing_changes(chat: Typescript, project: Path) -> None:
    chat.expect("> ")
    chat.type("replace 'Helo' by 'Hello' in greeter.py\n")
    chat.expect("allow? ")
    chat.type("r\n")
    chat.expect("why not? ")
    chat.type("it is Dutch\n")
    chat.expect("it is Dutch")
    chat.expect("completed")
    assert "Helo" in (project / "greeter.py").read_text()


def test_ctrl_c_stops_the_turn_and_the_chat_goes_on(chat: Typescript) -> None:
    chat.expect("> ")
    chat.type("run `sleep 600`\n")
    chat.expect("allow? ")
    chat.type("y\n")
    chat.expect("● Bash")
    chat.type("\x03")
    chat.expect("aborted")
    chat.expect("> ")
    chat.type("/cost\n")
    chat.expect("This session has cost")
    assert "completed" not in chat.expect("> ")  # a command answered at once needs no summary
    chat.type("\x04")
    assert chat.process.wait(timeout=PATIENCE) == 0  # the person left; how a turn ended was seen


def test_ctrl_c_at_a_question_is_a_no_and_starts_on_a_line_of_its_own(chat: Typescript) -> None:
    chat.expect("> ")
    chat.type("run `touch made`\n")
    chat.expect("allow? ")
    chat.type("\x03")
    assert chat.expect("stopping…").replace("^C", "") == "\r\n"
    chat.expect("aborted_tools")
    chat.expect("> ")


def test_someone_without_a_key_is_told_who_answers_and_what_to_do(start: Callable[..., Typescript]) -> None:
    assert "assent doctor" in start("chat").expect("Ctrl-D leaves")
    assert "assent doctor" not in start("chat", "--offline").expect("Ctrl-D leaves")


def test_a_model_named_without_a_key_is_refused_in_one_line(start: Callable[..., Typescript]) -> None:
    chat = start("chat", "--model", "claude-opus-5-5")
    chat.expect("claude-opus-5-5 cannot be reached: there are no credentials")
    assert chat.process.wait(timeout=PATIENCE) == 1


def test_a_conversation_goes_on_where_it_was_left(start: Callable[..., Typescript]) -> None:
    first = start("chat")
    first.expect("> ")
    first.type("find Helo\n")
    first.expect("completed")
    first.type("\x04")
    assert first.process.wait(timeout=PATIENCE) == 0
    again = start("chat", "--session", "latest")
    assert "greeter.py:2" in again.expect("model offline")
    again.expect("> ")


@pytest.mark.parametrize("wish", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_colours_gets_none(start: Callable[..., Typescript], wish: dict[str, str]) -> None:
    plain = start("chat", **wish)
    plain.expect("> ")
    assert "\x1b[" not in plain.raw
    painted = start("chat", NO_COLOR="")  # an empty one is no wish
    painted.expect("> ")
    assert "\x1b[" in painted.raw


def test_ctrl_c_at_the_prompt_leaves(chat: Typescript) -> None:
    chat.expect("> ")
    chat.type("\x03")
    assert chat.process.wait(timeout=PATIENCE) == 130


def test_ctrl_c_stops_an_answer_that_a_script_waits_for(start: Callable[..., Typescript]) -> None:
    ask = start("ask", "run `sleep 600`", "--allow", "Bash(sleep 600)", "--stream-json")
    ask.expect("toolStarted")
    ask.type("\x03")
    ask.expect("aborted_tools")
    assert ask.process.wait(timeout=PATIENCE) == 130
