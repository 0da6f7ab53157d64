"""`assent chat` as somebody meets it who does not know it: keys at odd moments, a window that closes, errors."""

import contextlib
import os
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fakeapi import FakeApi, hold, text, tool
from processes import command_line, descendants, wait_for_end
from terminal import PATIENCE
from terminal.typescript import Typescript

Start = Callable[..., Typescript]
CHAT = [sys.executable, "-I", "-m", "assent.cli.main", "chat"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def start(project: Path) -> Iterator[Start]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL")}
    env = {**kept, "HOME": str(project.parent / "home"), "PS1": "shell "}
    with contextlib.ExitStack() as opened:

        def open_terminal(
            *arguments: str, argv: list[str] | None = None, columns: int = 140, **more: str
        ) -> Typescript:
            words = argv or [*CHAT, *arguments]
            chat = opened.enter_context(Typescript(words, env=env | more, cwd=project, columns=columns))
            if argv is None:
                chat.expect("❯")
            return chat

        yield open_terminal


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi.threaded() as fake:
        yield fake


def test_keys_typed_before_a_question_is_shown_do_not_answer_it(start: Start, api: FakeApi, project: Path) -> None:
    api.reply(text("Let me see.\n\n", hold("thinking")), tool("Bash", command="touch made"))
    api.reply(text("As you wish."))
    chat = start(**api.env)
    chat.type("go\n")
    chat.expect("Let me see.")
    chat.type("yes please")
    chat.expect("yes please")  # the terminal has them
    api.release("thinking")
    chat.expect("allow?")
    chat.type("n")
    chat.expect("completed")
    assert not (project / "made").exists()


def test_ctrl_z_suspends_at_the_prompt_and_at_a_question(start: Start, project: Path) -> None:
    shell = start(argv=["bash", "--norc", "--noprofile", "-i"])
    shell.expect("shell ")
    shell.type(" ".join(CHAT) + "\n")
    shell.expect("❯")
    shell.type("run `touch made`\x1a")
    shell.expect("Stopped")
    shell.type("fg\n")
    shell.expect("❯ run `touch made`")
    shell.type("\n")
    shell.expect("allow?")
    shell.type("\x1a")
    shell.expect("Stopped")
    shell.type("fg\n")
    shell.expect("allow?")
    shell.type("y")
    shell.expect("completed")
    assert (project / "made").exists()


def test_a_paste_at_a_question_answers_nothing_and_ctrl_d_still_says_no(start: Start, project: Path) -> None:
    chat = start()
    chat.type("run `touch made`\n")
    chat.expect("allow?")
    chat.type("\x1b[200~yes\ny\n\x1b[201~\x04")
    chat.expect("The user denied this call")
    chat.expect("completed")
    assert not (project / "made").exists()


def test_ctrl_c_ends_the_search_of_earlier_prompts_and_nothing_else(start: Start) -> None:
    chat = start()
    chat.type("/cost\n")
    chat.expect("This session has cost")
    chat.expect("❯")
    chat.type("\x12cos")
    chat.expect("reverse-i-search")
    chat.type("\x03")
    chat.expect("❯")
    chat.type("/cost\n")
    chat.expect("This session has cost")


@pytest.mark.parametrize("word", ["/exit", "/quit"])
def test_the_words_that_other_programs_know_leave_too(start: Start, word: str) -> None:
    chat = start()
    chat.type(f"{word}\n")
    assert chat.process.wait(timeout=PATIENCE) == 0


def test_going_back_counts_prompts_and_not_the_results_of_calls(start: Start, api: FakeApi, project: Path) -> None:
    (project / "note.txt").write_text("a word of the file\n")
    api.reply(tool("Read", file_path=str(project / "note.txt")))
    api.reply(text("Done."))
    chat = start(**api.env)
    chat.type("read the note\n")
    chat.expect("completed")
    chat.expect("❯")
    chat.type("/rewind\n")
    chat.expect("newest first")
    assert "a word of the file" not in chat.expect("read the note")


def test_a_model_that_needs_a_key_is_not_taken_without_one(start: Start) -> None:
    chat = start()
    chat.type("/model opus\n")
    chat.expect("The model was not changed: opus cannot be reached")
    chat.expect("❯")
    chat.type("/model\n")
    chat.expect("The model is offline")


def test_an_error_is_told_once(start: Start, api: FakeApi) -> None:
    chat = start(**api.env)
    chat.type("/nonsense\n")
    chat.expect("There is no command /nonsense")
    assert "no command" not in chat.expect("❯")
    api.error(400, "the tea is cold")
    chat.type("hello\n")
    chat.expect("the tea is cold")
    assert "the tea" not in chat.expect("✗ model_error (1 step")


def test_an_answer_that_is_cut_off_does_not_run_into_the_next_one(start: Start, api: FakeApi) -> None:
    api.cut(text("half an answer that is cut", " off here"), at_event=3)
    api.reply(text("The whole answer."))
    chat = start(**api.env)
    chat.type("hello\n")
    shown = chat.expect("The whole answer.")
    assert "half an answer" in shown.partition("… retry 1")[0] and "half" not in shown.partition("… retry 1")[2]


def test_an_answer_that_was_stopped_is_shown_as_far_as_it_came(start: Start, api: FakeApi) -> None:
    api.reply(text("First.\n\nThe beginning ", hold("more"), "and the end."))
    chat = start(**api.env)
    chat.type("hello\n")
    chat.expect("First.")
    chat.type("\x03")
    assert "The beginning" in chat.expect("✗ aborted_streaming")
    chat.expect("❯")
    api.reply(text("Another one."))
    chat.type("again\n")
    assert "The beginning" not in chat.expect("Another one.")


def test_the_newest_conversation_goes_on_and_its_prompts_are_told_from_its_answers(start: Start) -> None:
    first = start()
    first.type("find Helo\n")
    first.expect("completed")
    first.expect("❯")
    first.type("\x04")
    assert first.process.wait(timeout=PATIENCE) == 0
    again = start("--continue")  # up to the mark of what was asked
    again.expect("find Helo")
    again.expect("session ")


def test_the_first_lines_break_between_words(start: Start) -> None:
    chat = start(columns=60)
    _session, *hints = chat.plain().partition("❯")[0].splitlines()
    assert "Ctrl-D leaves." in " ".join(hints)
    assert max(len(line) for line in hints) <= 60


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_whoever_kills_it_at_the_prompt_gets_the_terminal_back_as_it_was(start: Start, number: signal.Signals) -> None:
    chat = start()
    chat.type("half a")
    chat.expect("half a")
    chat.process.send_signal(number)
    assert chat.process.wait(timeout=PATIENCE) == 128 + number
    assert chat.modes() & termios.ECHO and chat.modes() & termios.ICANON


def test_a_window_closed_in_a_turn_leaves_no_process_and_loses_nothing(start: Start) -> None:
    chat = start()
    chat.type("run `sleep 600`\n")
    chat.expect("allow?")
    chat.type("y")
    chat.expect("● Bash")
    below: list[int] = []
    while not any(command_line(pid)[:1] == ["sleep"] for pid in below):  # the server and, a moment later, the command
        below = descendants(chat.process.pid)
    chat.hang_up()
    chat.process.wait(timeout=PATIENCE)
    for pid in below:
        wait_for_end(pid)
    assert "run `sleep 600`" in start("--continue").expect("session ")
