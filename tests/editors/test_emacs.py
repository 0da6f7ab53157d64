"""The Emacs package: its own tests inside a real Emacs with the real server, and one look at its screen."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from canaries import Trap
from fakeapi import FakeApi, Reply, text, tool
from mcpserver import entry
from terminal import Terminal
from terminal.editors import ROOT, program

pytestmark = pytest.mark.editor

PACKAGE = ROOT / "editors" / "emacs"
# C-], which ends a minibuffer as C-g does. On a terminal C-g is a signal: one that comes while Emacs still runs a timer
# or a hook quits that instead, and is no key of the minibuffer.
ABORT = "\x1d"
GREETER = 'def greet():\n    return "Helo"\n\n\ndef bye():\n    return "Helo and bye"\n'
QUIET = "(setq inhibit-startup-screen t make-backup-files nil auto-save-default nil native-comp-jit-compilation nil)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "greeter.py").write_text(GREETER)
    (tmp_path / "home").mkdir()
    (tmp_path / "init.el").write_text(configured("--offline"))
    return folder


def configured(*more: str) -> str:
    """A configuration whose server has these arguments, too."""
    words = (sys.executable, "-I", "-m", "assent.cli.main", "serve", "--stdio", *more)
    command = " ".join(f'"{word}"' for word in words)
    return f"{QUIET}(add-to-list 'load-path \"{PACKAGE}\")\n(require 'assent)\n(setq assent-command '({command}))\n"


@pytest.fixture
def env(project: Path) -> dict[str, str]:
    home = project.parent
    return {"HOME": str(home / "home"), "TMPDIR": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


@pytest.fixture
def model() -> Iterator[FakeApi]:
    with FakeApi.threaded() as api:
        api.otherwise(Reply(parts=(text("A title"),)))
        yield api


def test_nothing_of_the_project_runs_when_the_server_starts(tmp_path: Path) -> None:
    trap = Trap(tmp_path, name="project")
    (trap.folder / ".git").mkdir()
    home = tmp_path / "home"
    home.mkdir()
    own = Path(sys.executable).parent
    path = trap.path(f"{own}:{os.environ['PATH']}")
    env = {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "ASSENT_OFFLINE": "1", "PYTHONPATH": str(trap.folder)}
    started = "(progn (assent--start) (princ (process-command (jsonrpc--process assent--connection))))"
    argv = [program("emacs"), "-Q", "--batch", "-L", str(PACKAGE), "-l", "assent", "--eval", started]
    done = subprocess.run(argv, cwd=trap.folder, env=env, capture_output=True, text=True, check=False, timeout=500)
    assert trap.ran() == []
    assert done.stdout == f"({own}/assent serve --stdio)", done.stderr


def test_what_the_package_says_of_itself_holds_in_a_real_emacs(project: Path, env: dict[str, str]) -> None:
    suite = Path(__file__).parent / "emacs" / "assent-tests.el"
    init = str(project.parent / "init.el")
    argv = [program("emacs"), "-Q", "--batch", "-l", init, "-l", str(suite), "-f", "ert-run-tests-batch-and-exit"]
    done = subprocess.run(argv, cwd=project, env=env, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Ran 5 tests, 5 results as expected, 0 unexpected" in done.stderr


@pytest.mark.parametrize("name", ["assent", "assent-form"])
def test_the_package_compiles_without_a_warning(project: Path, env: dict[str, str], name: str) -> None:
    # Not to /dev/null: Emacs renames its output over the target, and as root that takes the device from the machine.
    target = project / f"{name}.elc"
    strict = f'(setq byte-compile-error-on-warn t byte-compile-dest-file-function (lambda (_) "{target}"))'
    compiled = f'(kill-emacs (if (byte-compile-file "{PACKAGE / f"{name}.el"}") 0 1))'
    argv = [program("emacs"), "-Q", "--batch", "-L", str(PACKAGE), "--eval", strict, "--eval", compiled]
    done = subprocess.run(argv, cwd=project, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_chat_and_the_hunks_are_on_the_screen_and_nothing_takes_the_minibuffer(
    project: Path, env: dict[str, str]
) -> None:
    argv = [program("emacs"), "-nw", "-Q", "-l", str(project.parent / "init.el"), "greeter.py"]
    with Terminal(argv, env=env, cwd=project) as emacs:
        emacs.see("def greet():")
        emacs.type("\x1bxassent\r")
        emacs.see("C-c C-c sends")
        emacs.type("replace 'Helo' by 'Hello' in greeter.py\x03\x03")
        screen = emacs.see('return "Hello"', "▲ Assent pending", "C-c . a accept", "asks: C-c C-a")
        assert "Allow this?" not in screen  # until it is called
        emacs.type("\x03\x01")  # C-c C-a
        emacs.see("Allow this?", "no, because")
        emacs.type("y")
        emacs.see("I replaced 'Helo' by 'Hello'")
        emacs.until(lambda: "▲ Assent pending" not in emacs.screen(), "for the hunks to be decided")


def test_a_question_of_the_agent_is_answered_when_it_is_called(
    project: Path, env: dict[str, str], model: FakeApi
) -> None:
    options = [{"label": "Red", "description": "like a rose"}, {"label": "Blue", "description": "like the sea"}]
    question = {"question": "Which colour?", "header": "Colour", "options": options, "multiSelect": False}
    model.reply(tool("AskUserQuestion", questions=[question]))
    model.reply(text("As you like."))
    (project.parent / "init.el").write_text(configured())
    argv = [program("emacs"), "-nw", "-Q", "-l", str(project.parent / "init.el"), "greeter.py"]
    with Terminal(argv, env={**env, **model.env}, cwd=project) as emacs:
        emacs.see("def greet():")
        emacs.type("\x1bxassent\r")
        emacs.see("C-c C-c sends")
        emacs.type("ask me\x03\x03")
        emacs.see("asks: C-c C-a")
        emacs.type("\x03\x01")  # C-c C-a
        emacs.see("Which colour?")
        emacs.type("Bl\t\r")
        emacs.see("As you like.")
    answered = next(call for call in model.calls if call.tool_results)
    assert "Blue" in str(answered.tool_results)


@pytest.fixture
def shop(project: Path, env: dict[str, str], model: FakeApi) -> Iterator[tuple[Terminal, Path]]:
    """An Emacs in which an MCP server has asked for an order, and the file with the answers that the server got."""
    model.reply(tool("ToolSearch", query="select:mcp__shop__order"))
    model.reply(tool("mcp__shop__order", id="toolu_1"))
    model.reply(text("Ordered."))
    heard = project.parent / "heard.txt"
    settings = project.parent / "home" / ".config" / "assent" / "settings.json"
    settings.parent.mkdir(parents=True)
    server = entry("--order", "--log", str(heard))
    settings.write_text(json.dumps({"mcpServers": {"shop": server}, "permissions": {"allow": ["mcp__shop"]}}))
    (project.parent / "init.el").write_text(configured())
    argv = [program("emacs"), "-nw", "-Q", "-l", str(project.parent / "init.el"), "greeter.py"]
    with Terminal(argv, env={**env, **model.env}, cwd=project) as emacs:
        emacs.see("def greet():")
        emacs.type("\x1bxassent\r")
        emacs.see("C-c C-c sends")
        emacs.type("/mcp restart shop\x03\x03")  # a search would wait 5 s for it, which a busy machine may exceed
        emacs.see("shop", ": connected")
        emacs.type("order something\x03\x03")
        emacs.see("asks: C-c C-a")
        emacs.type("\x03\x01")  # C-c C-a
        emacs.see("MCP server shop asks: What may it be?", "Your name:")
        yield emacs, heard


def answers(heard: Path) -> list[dict[str, object]]:
    lines = [line for line in heard.read_text().splitlines() if line.startswith("answered ")]
    return [json.loads(line.removeprefix("answered ")) for line in lines]


def test_a_form_is_filled_in_field_by_field_and_what_is_refused_is_asked_again(shop: tuple[Terminal, Path]) -> None:
    emacs, heard = shop

    def fill(*fields: tuple[str, str]) -> None:
        for prompt, keys in fields:
            emacs.see(prompt)
            emacs.type(f"{keys}\r")

    fill(("Your name:", "Al"), ("count:", "9"), ("shade (may stay empty) (default light):", ""))
    fill(("share (may stay empty):", "half"), ("gift (may stay empty) (default Leave it empty):", ""))
    fill(("note (may stay empty):", ""))
    # The server's reasons; what was right is not asked again.
    fill(("Your name (at least 3 characters are expected): Al", "f"))
    fill(("count (at most 5 is expected): 9", "\x7f4"))
    assert answers(heard) == []
    fill(("share (a number is expected): half", "\x7f\x7f\x7f\x7f"))
    emacs.see("Refused: 4 is even", "asks: C-c C-a")
    assert answers(heard) == [{"action": "accept", "content": {"name": "Alf", "count": 4, "shade": "light"}}]
    emacs.type("\x03\x01")  # C-c C-a
    fill(("Your name:", "Alf"), ("count:", "3"), ("shade (", "da\t"), ("share (", "0.5"), ("gift (", "n"))
    fill(("note (", "soon"))
    emacs.see("Ordered.")
    content = {"name": "Alf", "count": 3, "shade": "dark", "share": 0.5, "gift": False, "note": "soon"}
    assert answers(heard)[1:] == [{"action": "accept", "content": content}]


@pytest.mark.parametrize(("key", "action"), [("d", "decline"), ("c", "cancel")])
def test_quitting_a_form_leaves_it_waiting_or_says_no(shop: tuple[Terminal, Path], key: str, action: str) -> None:
    emacs, heard = shop
    emacs.type("Al\r")
    emacs.see("count:")
    emacs.type(ABORT)
    emacs.see("Your answer?", "[W]ait, [D]ecline, [C]ancel")
    emacs.type("w")
    emacs.see("It goes on waiting", "asks: C-c C-a")
    assert answers(heard) == []
    emacs.type("\x03\x01")  # C-c C-a
    emacs.see("Your name:")
    emacs.type(ABORT)
    emacs.see("Your answer?")
    emacs.type(key)
    emacs.see("Ordered.")  # the model's next words
    assert [each["action"] for each in answers(heard)] == [action]
