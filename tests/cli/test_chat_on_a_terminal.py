"""`assent chat` as a person uses it: on a real terminal, answering its questions by keys."""

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PATIENCE = 60.0  # seconds; only ever spent when something is broken


def _take_terminal() -> None:
    """In the child: the pseudo-terminal becomes its own, so that Ctrl-C is a signal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    def __init__(self, arguments: list[str], env: dict[str, str], cwd: Path) -> None:
        self._fd, child = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "assent.cli.main", *arguments],
            stdin=child, stdout=child, stderr=child, env=env, cwd=cwd, start_new_session=True, preexec_fn=_take_terminal,
        )  # fmt: skip
        os.close(child)
        self._seen = ""

    def expect(self, text: str) -> str:
        """Wait until `text` is on the screen; give back everything up to it."""
        deadline = time.monotonic() + PATIENCE
        while text not in (plain := re.sub(r"\x1b\[[0-9;]*m", "", self._seen)):
            ready, _, _ = select.select([self._fd], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"never saw {text!r}; the screen says:\n{plain}"
            try:
                piece = os.read(self._fd, 65536)
            except OSError:
                piece = b""
            assert piece, f"ended before {text!r}; the screen says:\n{plain}"
            self._seen += piece.decode(errors="replace")
        before, _, self._seen = plain.partition(text)
        return before

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._fd)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "greeter.py").write_text('def greet():\n    return "Helo"\n')
    return folder


@pytest.fixture
def start(project: Path) -> Iterator[Callable[..., Terminal]]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL")}
    env = {**kept, "HOME": str(project.parent / "home"), "TERM": "xterm-256color"}
    opened: list[Terminal] = []

    def open_terminal(*arguments: str, **more: str) -> Terminal:
        opened.append(Terminal(list(arguments), env | more, project))
        return opened[-1]

    yield open_terminal
    for terminal in opened:
        terminal.close()


@pytest.fixture
def chat(start: Callable[..., Terminal]) -> Terminal:
    return start("chat")


def test_a_person_sees_the_diff_says_yes_and_goes_on_chatting(chat: Terminal, project: Path) -> None:
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


def test_a_person_says_no_with_a_reason_and_nothing_changes(chat: Terminal, project: Path) -> None:
    chat.expect("> ")
    chat.type("replace 'Helo' by 'Hello' in greeter.py\n")
    chat.expect("allow? ")
    chat.type("r\n")
    chat.expect("why not? ")
    chat.type("it is Dutch\n")
    chat.expect("it is Dutch")
    chat.expect("completed")
    assert "Helo" in (project / "greeter.py").read_text()


def test_ctrl_c_stops_the_turn_and_the_chat_goes_on(chat: Terminal) -> None:
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


def test_ctrl_c_at_a_question_is_a_no_and_starts_on_a_line_of_its_own(chat: Terminal) -> None:
    chat.expect("> ")
    chat.type("run `touch made`\n")
    chat.expect("allow? ")
    chat.type("\x03")
    assert chat.expect("stopping…").replace("^C", "") == "\r\n"
    chat.expect("aborted_tools")
    chat.expect("> ")


def test_someone_without_a_key_is_told_who_answers_and_what_to_do(start: Callable[..., Terminal]) -> None:
    assert "assent doctor" in start("chat").expect("Ctrl-D leaves")
    assert "assent doctor" not in start("chat", "--offline").expect("Ctrl-D leaves")


def test_a_model_named_without_a_key_is_refused_in_one_line(start: Callable[..., Terminal]) -> None:
    chat = start("chat", "--model", "claude-opus-5-5")
    chat.expect("claude-opus-5-5 cannot be reached: there are no credentials")
    assert chat.process.wait(timeout=PATIENCE) == 1


def test_a_conversation_goes_on_where_it_was_left(start: Callable[..., Terminal]) -> None:
    first = start("chat")
    first.expect("> ")
    first.type("find Helo\n")
    first.expect("completed")
    first.type("\x04")
    assert first.process.wait(timeout=PATIENCE) == 0
    again = start("chat", "--session", "latest")
    assert "greeter.py:2" in again.expect("model offline")
    again.expect("> ")
