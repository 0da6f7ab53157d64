"""`assent chat` as a person uses it: on a real terminal, answering its questions by keys."""

import contextlib
import json
import os
import re
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
    chat.expect("❯")
    chat.type("replace 'Helo' by 'Hello' in greeter.py\n")
    shown = chat.expect("allow?")
    assert '-     return "Helo"' in shown and '+     return "Hello"' in shown
    assert "Helo" in (project / "greeter.py").read_text()
    chat.type("y\n")
    chat.expect("✓ completed")
    assert (project / "greeter.py").read_text() == 'def greet():\n    return "Hello"\n'
    chat.expect("❯")
    chat.type("/help\n")
    chat.expect("/compact")
    chat.expect("❯")
    chat.type("\x04")
    assert chat.process.wait(timeout=PATIENCE) == 0


def test_a_person_says_no_with_a_reason_and_nothing_changes(chat: Typescript, project: Path) -> None:
    chat.expect("❯")
    chat.type("replace 'Helo' by 'Hello' in greeter.py\n")
    chat.expect("allow?")
    chat.type("r\n")
    chat.expect("why not?")
    chat.type("it is Dutch\n")
    chat.expect("it is Dutch")
    chat.expect("completed")
    assert "Helo" in (project / "greeter.py").read_text()


def test_ctrl_c_stops_the_turn_and_the_chat_goes_on(chat: Typescript) -> None:
    chat.expect("❯")
    chat.type("run `sleep 600`\n")
    chat.expect("allow?")
    chat.type("y\n")
    chat.expect("● Bash")
    chat.type("\x03")
    chat.expect("aborted")
    chat.expect("❯")
    chat.type("/cost\n")
    chat.expect("This session has cost")
    assert "completed" not in chat.expect("❯")  # a command answered at once needs no summary
    chat.type("\x04")
    assert chat.process.wait(timeout=PATIENCE) == 0  # the person left; how a turn ended was seen


def test_ctrl_c_at_a_question_is_a_no_and_stops_the_turn(chat: Typescript) -> None:
    chat.expect("❯")
    chat.type("run `touch made`\n")
    chat.expect("allow?")
    chat.type("\x03")
    chat.expect("stopping…")
    chat.expect("aborted_tools")
    chat.expect("❯")


def test_hunks_are_answered_one_by_one_and_one_of_them_edited(chat: Typescript, project: Path) -> None:
    file = project / "many.py"
    file.write_text("".join(f"x{n} = 'Helo'\n" + "pass\n" * 9 for n in range(3)))
    chat.expect("❯")
    chat.type("replace 'Helo' by 'Hello' in many.py\n")
    assert "[h] hunk by hunk" in chat.expect("allow?")
    chat.type("h")
    chat.expect("hunk 1 of 3")
    chat.type("y")
    chat.expect("hunk 2 of 3")
    chat.type("n")
    chat.expect("hunk 3 of 3")
    chat.type("e")
    chat.expect("Ctrl-S or Alt-Enter")
    chat.expect("x2")
    chat.type("\x05  # mine\x13")
    chat.expect("completed")
    assert [line for line in file.read_text().splitlines() if line != "pass"] == [
        "x0 = 'Hello'", "x1 = 'Helo'", "x2 = 'Hello'  # mine",
    ]  # fmt: skip


def test_tab_completes_a_mention_and_ctrl_c_empties_the_line(chat: Typescript) -> None:
    chat.expect("❯")
    chat.type("look at @gree")
    chat.expect("@gree")
    chat.type("\t")
    chat.expect("ter.py")
    chat.type("\x03")  # empties the line, and does not leave
    chat.type("/cost\n")
    chat.expect("This session has cost")


def test_several_lines_are_one_prompt_and_history_brings_it_back(chat: Typescript, project: Path) -> None:
    chat.expect("❯")
    chat.type("find Helo\x1b\rin all files\n")
    chat.expect("completed")
    chat.expect("❯")
    chat.type("\x1b[A")
    chat.expect("in all files")
    history = project.parent / "home/.local/share/assent/chat-history"
    assert "+find Helo\n+in all files\n" in history.read_text()
    assert oct(history.stat().st_mode & 0o777) == "0o600"


def test_someone_without_a_key_is_told_who_answers_and_what_to_do(start: Callable[..., Typescript]) -> None:
    assert "assent doctor" in start("chat").expect("Ctrl-D leaves")
    assert "assent doctor" not in start("chat", "--offline").expect("Ctrl-D leaves")


def test_a_model_named_without_a_key_is_refused_in_one_line(start: Callable[..., Typescript]) -> None:
    chat = start("chat", "--model", "claude-opus-5-5")
    chat.expect("claude-opus-5-5 cannot be reached: there are no credentials")
    assert chat.process.wait(timeout=PATIENCE) == 1


def test_a_conversation_goes_on_where_it_was_left(start: Callable[..., Typescript]) -> None:
    first = start("chat")
    first.expect("❯")
    first.type("find Helo\n")
    first.expect("completed")
    first.expect("❯")
    first.type("\x04")
    assert first.process.wait(timeout=PATIENCE) == 0
    again = start("chat", "--session", "latest")
    assert "greeter.py:2" in again.expect("model offline")
    again.expect("❯")


def test_a_dumb_terminal_gets_plain_lines(start: Callable[..., Typescript]) -> None:
    plain = start("chat", TERM="dumb")
    plain.expect("> ")
    assert "\x1b" not in plain.raw
    plain.type("/cost\n")
    plain.expect("This session has cost")


def test_who_wants_no_colours_gets_none(start: Callable[..., Typescript]) -> None:
    plain = start("chat", NO_COLOR="1")
    plain.expect("❯")
    assert not re.search(r"\x1b\[[0-9;]*[34][0-9]m", plain.raw)
    painted = start("chat", NO_COLOR="")  # an empty one is no wish
    painted.expect("❯")
    assert re.search(r"\x1b\[2m", painted.raw)


def test_ctrl_c_at_the_prompt_leaves(chat: Typescript) -> None:
    chat.expect("❯")
    chat.type("\x03")
    assert chat.process.wait(timeout=PATIENCE) == 130


def test_ctrl_c_stops_an_answer_that_a_script_waits_for(start: Callable[..., Typescript]) -> None:
    ask = start("ask", "run `sleep 600`", "--allow", "Bash(sleep 600)", "--stream-json")
    ask.expect("toolStarted")
    ask.type("\x03")
    ask.expect("aborted_tools")
    assert ask.process.wait(timeout=PATIENCE) == 130


def test_every_built_in_command_answers_in_the_terminal(chat: Typescript) -> None:  # X
    table: list[tuple[str, str]] = json.loads(
        (Path(__file__).parents[1] / "cases" / "slash-commands.json").read_text(encoding="utf-8")
    )
    chat.expect("❯")
    for prompt, words in table:
        chat.type(f"{prompt}\n")
        chat.expect("I am" if words == "model" else " ".join(words.split()[:2]))  # lines are broken where they end
        chat.expect("❯")


FILLED = {
    ".claude/skills/calm/SKILL.md": "---\nname: calm\ndescription: keeps calm\n---\nBe calm.",
    ".claude/agents/scout.md": "---\nname: scout\ndescription: finds things\n---\nFind.",
    ".claude/commands/tidy.md": "---\ndescription: tidies up\n---\nTidy.",
    ".config/assent/ASSENT.md": "Use tabs.\n",
    ".config/assent/settings.json": json.dumps(
        {
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo stopped"}]}]},
            "permissions": {"deny": ["Bash(git push:*)"]},
            "mcpServers": {"far": {"command": "/nonexistent/server"}},
        }
    ),
}
NAMED = (
    ("/skills", "calm", "keeps", "SKILL.md"),
    ("/agents", "scout", "finds", "scout.md"),
    ("/hooks", "Stop", "echo stopped", "settings.json"),
    ("/memory", "ASSENT.md", "tokens"),
    ("/permissions", "deny", "Bash(git", "push:*)", "settings.json"),
    ("/mcp", "far", "user", "stdio"),
    ("/status", "far"),
    ("/help", "/tidy", "tidies"),
)
"""Commands in a home that has something of everything, and what each answer names, in its order."""


def test_the_answers_in_the_terminal_name_what_there_is(project: Path, start: Callable[..., Typescript]) -> None:  # X
    for name, words in FILLED.items():
        file = project.parent / "home" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(words, encoding="utf-8")
    chat = start("chat")
    chat.expect("❯")
    for prompt, *named in NAMED:
        chat.type(f"{prompt}\n")
        for words in named:
            chat.expect(words)
        chat.expect("❯")


def test_a_slash_opens_the_list_of_commands_and_tab_completes_one(chat: Typescript) -> None:
    chat.expect("❯")
    chat.type("/")
    assert "forget the conversation" in chat.expect("/clear") + chat.expect("afresh")  # each with what it does
    chat.type("perm")
    chat.expect("perm")
    chat.type("\t")
    chat.expect("issions")
    chat.type("\n")
    chat.expect("❯")
    chat.type("/cost\n")
    chat.expect("This session has cost")
