"""Emacs with its own eglot, and Helix: no plugin, only the configuration we publish. Read from the screen."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from terminal import Terminal
from terminal.editors import program

pytestmark = pytest.mark.editor

ROOT = Path(__file__).parents[2]
GREETER = 'def greet():\n    return "Helo"\n'
PROMPT = "## You\n\nreplace 'Helo' by 'Hello' in greeter.py\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "greeter.py").write_text(GREETER)
    (folder / "talk.assent.md").write_text(PROMPT)
    (tmp_path / "home" / ".config" / "helix").mkdir(parents=True)
    launcher = tmp_path / "bin" / "assent"
    launcher.parent.mkdir()
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -m assent.cli.main "$@" --offline\n')
    launcher.chmod(0o755)
    return folder


@pytest.fixture
def env(project: Path) -> dict[str, str]:
    home = project.parent
    homes = {"HOME": str(home / "home"), "TMPDIR": str(home)}  # Emacs leaves files there when it is ended
    return {**homes, "PATH": f"{home / 'bin'}:{os.environ['PATH']}", "LANG": "C.UTF-8"}


@pytest.fixture
def emacs(project: Path, env: dict[str, str]) -> Iterator[Terminal]:
    init = project.parent / "init.el"
    init.write_text(
        "(setq inhibit-startup-screen t make-backup-files nil auto-save-default nil)\n"
        "(setq native-comp-jit-compilation nil)\n"  # it would compile its own library anew in every fresh home
        f'(load "{ROOT / "editors" / "emacs" / "zero-plugin.el"}")\n'
    )
    argv = [program("emacs"), "-nw", "-Q", "-l", str(init), "talk.assent.md"]
    with Terminal(argv, env=env, cwd=project) as terminal:
        terminal.see("[eglot] Connected!")
        yield terminal


@pytest.fixture
def helix(project: Path, env: dict[str, str]) -> Iterator[Terminal]:
    config = project.parent / "home" / ".config" / "helix" / "languages.toml"
    # Python files, too, so that the agent sees their unsaved text and their hunks show in them.
    python = '\n[[language]]\nname = "python"\nlanguage-servers = ["assent"]\n'
    config.write_text((ROOT / "editors" / "helix" / "languages.toml").read_text() + python)
    with Terminal([program("helix"), "talk.assent.md"], env=env, cwd=project) as terminal:
        terminal.see("NOR", "talk.assent.md")
        yield terminal


def send_from_emacs(emacs: Terminal) -> str:
    emacs.type("\x03\x03")  # C-c C-c
    while "Timed out" in emacs.until(
        lambda: "Pick an action" in emacs.screen() or "Timed out" in emacs.screen(), "for the code actions"
    ):
        emacs.type("\x07")  # C-g; on a busy machine the server was still starting, and eglot waits ten seconds only
        emacs.until(lambda: "Timed out" not in emacs.screen(), "for the message to go")
        emacs.type("\x03\x03")
    emacs.see("Pick an action", "Assent: Send")
    emacs.type("\r")
    return emacs.see("## Assent", "not a language model", "Choose an option")


def test_emacs_sends_from_a_chat_document_and_shows_the_change_before_it_asks(emacs: Terminal, project: Path) -> None:
    screen = send_from_emacs(emacs)
    assert '-    return "Helo"' in screen and '+    return "Hello"' in screen
    assert "Choose an option: Deny" in screen  # what is pre-selected is never a yes
    assert (project / "greeter.py").read_text() == GREETER


def test_emacs_approves_and_the_edit_lands(emacs: Terminal, project: Path) -> None:
    send_from_emacs(emacs)
    emacs.type("\x01\x0bAllow once\r")  # C-a C-k
    emacs.see("I replaced 'Helo' by 'Hello'")
    assert (project / "greeter.py").read_text() == GREETER.replace("Helo", "Hello")


def test_emacs_denies_by_default(emacs: Terminal, project: Path) -> None:
    send_from_emacs(emacs)
    emacs.type("\r")
    emacs.see("I did not change greeter.py")
    assert (project / "greeter.py").read_text() == GREETER


def send_from_helix(helix: Terminal) -> None:
    helix.type(" a")
    while "Assent: Send" not in helix.until(
        lambda: any(words in helix.screen() for words in ("Assent: Send", "No code actions", "No configured")),
        "for the code actions",
    ):
        helix.type("j")  # the server was still starting; any key clears the message
        helix.until(lambda: "No co" not in helix.screen(), "for the message to go")
        helix.type(" a")
    helix.type("\r")
    helix.see("## Assent", "not a language model", "Waiting for you")


def answer_in_helix(helix: Terminal, words: str) -> None:
    helix.type(" a")
    helix.see("Assent: Deny Edit", "Assent: Allow once Edit")
    for _ in range(words.startswith("Allow")):
        helix.type("\x0e")  # C-n: the next entry
    helix.type("\r")


def test_helix_sends_from_a_chat_document_and_waits(helix: Terminal, project: Path) -> None:
    send_from_helix(helix)
    assert (project / "greeter.py").read_text() == GREETER


def test_helix_approves_by_code_action_and_the_edit_lands(helix: Terminal, project: Path) -> None:
    send_from_helix(helix)
    answer_in_helix(helix, "Allow")
    helix.see("I replaced 'Helo' by 'Hello'")
    assert (project / "greeter.py").read_text() == GREETER.replace("Helo", "Hello")


def test_helix_denies_by_code_action(helix: Terminal, project: Path) -> None:
    send_from_helix(helix)
    answer_in_helix(helix, "Deny")
    helix.see("I did not change greeter.py")
    assert (project / "greeter.py").read_text() == GREETER


@pytest.mark.parametrize("decision", ["Accept", "Reject"])
def test_helix_shows_a_hunk_where_it_is_and_decides_by_code_action(
    helix: Terminal, project: Path, decision: str
) -> None:
    send_from_helix(helix)
    helix.type(":o greeter.py\r")
    helix.see("def greet():")
    helix.type("j")
    helix.see("Assent proposes", '-    return "Helo"', '+    return "Hello"')
    helix.type(" a")
    helix.see("Assent: Deny Edit", "Assent: Accept hunk at line 2", "Assent: Reject hunk at line 2")
    helix.type("\x0e" * (2 if decision == "Accept" else 3) + "\r")
    helix.until(lambda: "Assent proposes" not in helix.screen(), "for the hunk to be decided")
    wanted = "Hello" if decision == "Accept" else "Helo"
    helix.see(f'return "{wanted}"')
    assert (
        project / "greeter.py"
    ).read_text() == GREETER  # it lands in the editor, on its undo stack; nothing is saved
