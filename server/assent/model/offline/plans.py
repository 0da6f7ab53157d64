"""How each wish is carried out: one generator per kind, yielding calls and being sent their answers.

A plan is replayed from the start on every model call with the answers the conversation holds; where they run out is
the next thing to do. So plans must be deterministic, and remember nothing outside themselves.
"""

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from assent.model.offline import source
from assent.model.offline.offline_history import Exchange, OfflineHistory, unnumbered
from assent.model.offline.wishes import (
    AddDocstring,
    AddTest,
    AskMe,
    Explain,
    Find,
    Help,
    MakeTodos,
    Plan,
    Replace,
    RunCommand,
    RunTests,
    Unknown,
    Wish,
    describe,
)

SKILLS = """\
- explain or read a file: "explain greeter.py"
- find text, or where a symbol is defined: "find where greet is defined"
- replace text: "replace 'Helo' by 'Hello' in greeter.py"
- add a docstring, or a test stub: "add a docstring to greet", "write a test for greet"
- run a command, or the tests: "run `ls -l`", "run the tests"
- make a todo list: "make a todo list: buy milk, call Ada"
- ask you something: "ask me whether to use tabs or spaces"
- plan first: "plan: replace 'a' by 'b' in notes.txt, then run the tests"
and several of these in one request, joined by "then" or "and"."""

MANY = 40  # lines of a result that are repeated in an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    tool: str
    input: dict[str, Any] = field(default_factory=dict[str, Any])
    say: str = ""  # said before the call


class StepFailed(Exception):
    """A step could not be done; the words are for the user."""


Steps = Generator[PlannedCall, Exchange, str]
"""Yields calls, is sent their answers, returns what to tell the user."""


def carry_out(wishes: Sequence[Wish], history: OfflineHistory, tools: frozenset[str]) -> Steps:
    told: list[str] = []
    for at, wish in enumerate(wishes):
        try:
            told.append((yield from _steps(wish, history, tools)))
        except StepFailed as problem:
            told.append(str(problem))
            left = [describe(each) for each in wishes[at + 1 :]]
            if left:
                told.append(f"I stopped there. Not done: {'; '.join(left)}.")
            break
    return "\n\n".join(each for each in told if each)


def _steps(wish: Wish, history: OfflineHistory, tools: frozenset[str]) -> Steps:
    match wish:
        case Explain(path):
            return _explain(path, history)
        case Find():
            return _find(wish)
        case Replace():
            return _replace(wish, history)
        case AddDocstring():
            return _docstring(wish, history)
        case AddTest():
            return _test(wish, history)
        case RunCommand(command):
            return _run(command)
        case RunTests():
            return _run_tests()
        case MakeTodos(items):
            return _todos(items)
        case AskMe(question, options):
            return _ask(question, options)
        case Plan(steps, goal):
            return _plan(steps, goal, history, tools)
        case Help():
            return _say(f"This is what I can do:\n{SKILLS}")
        case Unknown(words):
            return _say(f"I do not understand {words!r}. I am not a language model. What I can do:\n{SKILLS}")


def _say(words: str) -> Steps:
    yield from ()  # makes it a generator
    return words


def _explain(path: str, history: OfflineHistory) -> Steps:
    text = yield from _read(path, history)
    return source.explained(path, text)


def _find(wish: Find) -> Steps:
    pattern = source.definition_pattern(wish.what) if wish.definition else re.escape(wish.what)
    where = {"path": wish.path} if wish.path else {}
    wanted = f"where `{wish.what}` is defined" if wish.definition else f"`{wish.what}`"
    found = yield PlannedCall(
        tool="Grep",
        input={"pattern": pattern, "output_mode": "content", "-n": True, **where},
        say=f"Looking for {wanted}.",
    )
    _check(found, f"I could not search for {wanted}")
    lines = _matches(found.text)
    if not lines:
        return f"I found {wanted} nowhere."
    shown = "\n".join(lines[:MANY]) + (f"\n… and {len(lines) - MANY} more" if len(lines) > MANY else "")
    return f"I found {wanted} in {_counted(len(lines), 'place')}:\n```\n{shown}\n```"


def _replace(wish: Replace, history: OfflineHistory) -> Steps:
    paths = [wish.path] if wish.path else (yield from _files_with(wish.old))
    told: list[str] = []
    for path in paths:
        text = yield from _read(path, history)
        count = text.count(wish.old)
        if not count:
            raise StepFailed(f"{wish.old!r} does not occur in {path}, so I changed nothing there.")
        change: dict[str, Any] = {"file_path": path, "old_string": wish.old, "new_string": wish.new}
        if count > 1:
            change["replace_all"] = True
        made = yield PlannedCall(
            tool="Edit",
            input=change,
            say=f"Replacing {wish.old!r} by {wish.new!r} in {path} ({_counted(count, 'place')}).",
        )
        _check(made, f"I did not change {path}")
        told.append(f"I replaced {wish.old!r} by {wish.new!r} in {path} ({_counted(count, 'place')}).")
    return "\n".join(told)


def _docstring(wish: AddDocstring, history: OfflineHistory) -> Steps:
    path = wish.path or (yield from _file_defining(wish.function))
    text = yield from _read(path, history)
    function = wish.function or _named_at(text, wish.line, path)
    change = source.with_docstring(path, text, function)
    if isinstance(change, str):
        raise StepFailed(change)
    made = yield PlannedCall(
        tool="Edit",
        input={"file_path": path, "old_string": change.old, "new_string": change.new},
        say=f"Adding a docstring to `{function}` in {path}.",
    )
    _check(made, f"I did not change {path}")
    return f"`{function}` in {path} has a docstring now. I wrote it from the name alone: please make it say more."


def _test(wish: AddTest, history: OfflineHistory) -> Steps:
    path = wish.path or (yield from _file_defining(wish.function))
    function = wish.function or _named_at((yield from _read(path, history)), wish.line, path)
    if not path.endswith(".py"):
        raise StepFailed(f"I can write test stubs for Python only, and `{function}` is in {path}.")
    target = source.test_path(path)
    existing = yield PlannedCall(
        tool="Glob", input={"pattern": target}, say=f"Looking whether {target} is there already."
    )
    _check(existing, "I could not look for a test file")
    before = ""
    if target in existing.text.split("\n"):
        before = yield from _read(target, history)
        if source.has_test(before, function):
            return f"{target} has a test for `{function}` already."
    made = yield PlannedCall(
        tool="Write",
        input={"file_path": target, "content": source.with_test(before, path, function)},
        say=f"Writing a test stub for `{function}` to {target}.",
    )
    _check(made, f"I did not write {target}")
    return f"{target} has a test stub for `{function}`. It fails until you say what to expect."


def _run(command: str, why: str = "") -> Steps:
    done = yield PlannedCall(
        tool="Bash",
        input={"command": command, "description": why or f"Run {command}"[:80]},
        say=f"Running `{command}`.",
    )
    shown = source.tail(done.text, MANY)
    if done.is_error:
        raise StepFailed(f"`{command}` did not succeed:\n```\n{shown}\n```")
    return f"`{command}` succeeded:\n```\n{shown}\n```"


def _run_tests() -> Steps:
    found = yield PlannedCall(
        tool="Glob",
        input={"pattern": "{Makefile,package.json,Cargo.toml,go.mod,pytest.ini,pyproject.toml,**/test_*.py}"},
        say="Looking how this project is tested.",
    )
    _check(found, "I could not look for tests")
    files = set(found.text.split("\n"))
    if "Makefile" in files:
        target = yield PlannedCall(
            tool="Grep", input={"pattern": r"^test\s*:", "path": "Makefile", "output_mode": "content"}
        )
        if not target.is_error and _matches(target.text):
            return (yield from _run("make test", "Run the project's tests"))
    if "pyproject.toml" in files or "pytest.ini" in files:
        uses = yield PlannedCall(
            tool="Grep", input={"pattern": "pytest", "glob": "{pyproject.toml,pytest.ini}", "output_mode": "count"}
        )
        if not uses.is_error and _matches(uses.text):
            return (yield from _run("python3 -m pytest -q", "Run the project's tests"))
    command = source.test_command(files)
    if command is None and source.python_tests(files):
        # Plain functions are pytest's; classes of the standard library are found without it.
        classes = yield PlannedCall(
            tool="Grep", input={"pattern": "import unittest", "glob": "test_*.py", "output_mode": "count"}
        )
        plain = classes.is_error or not _matches(classes.text)
        command = "python3 -m pytest -q" if plain else "python3 -m unittest"
    if command is None:
        raise StepFailed("I found no tests here: no Makefile with a test target, package.json, or test files I know.")
    return (yield from _run(command, "Run the project's tests"))


def _todos(items: tuple[str, ...]) -> Steps:
    if not items:
        raise StepFailed('Tell me what goes on the list: "make a todo list: first thing, second thing".')
    todos = [{"content": item, "status": "pending", "activeForm": item} for item in items]
    made = yield PlannedCall(tool="TodoWrite", input={"todos": todos}, say="Writing the list.")
    _check(made, "I could not write the list")
    return f"The list has {_counted(len(items), 'entry', 'entries')}."


def _ask(question: str, options: tuple[str, ...]) -> Steps:
    choices = [{"label": option[:60], "description": ""} for option in (options if len(options) > 1 else ("Yes", "No"))]
    asked: dict[str, Any] = {"question": question, "header": "Question", "options": choices, "multiSelect": False}
    answer = yield PlannedCall(tool="AskUserQuestion", input={"questions": [asked]})
    _check(answer, "I could not ask")
    return f"Thank you. {answer.text.replace('The user answered', 'You answered')}"


def _plan(steps: Sequence[Wish], goal: str, history: OfflineHistory, tools: frozenset[str]) -> Steps:
    understood = [step for step in steps if not isinstance(step, Unknown)]
    if not understood:
        return f"I can only plan what I can do.{f' I do not understand {goal!r}.' if goal else ''} That is:\n{SKILLS}"
    words = [describe(step) for step in understood]
    plan = "\n".join(f"{number}. {step[0].upper()}{step[1:]}" for number, step in enumerate(words, 1))
    if not {"EnterPlanMode", "ExitPlanMode"} <= tools:
        return f'This is the plan:\n{plan}\nSay the steps again without "plan" and I will do them.'
    entered = yield PlannedCall(tool="EnterPlanMode", say="Planning first.")
    _check(entered, "I could not start to plan")
    approved = yield PlannedCall(tool="ExitPlanMode", input={"plan": plan})
    _check(approved, "The plan was not approved")
    return (yield from carry_out(understood, history, tools))


def _read(path: str, history: OfflineHistory) -> Generator[PlannedCall, Exchange, str]:
    shown = yield PlannedCall(tool="Read", input={"file_path": path}, say=f"Reading {path}.")
    _check(shown, f"I could not read {path}")
    text = unnumbered(shown.text)
    if text is None and "unchanged" in shown.text:
        text = history.known_text(path)
    return text if text is not None else ("" if "empty" in shown.text else shown.text)


def _files_with(text: str) -> Generator[PlannedCall, Exchange, list[str]]:
    found = yield PlannedCall(tool="Grep", input={"pattern": re.escape(text)}, say=f"Looking for files with {text!r}.")
    _check(found, f"I could not search for {text!r}")
    paths = _matches(found.text)
    if not paths:
        raise StepFailed(f"{text!r} occurs in no file here.")
    if len(paths) == 1:
        return paths
    options = [{"label": path, "description": ""} for path in paths[:5]] + [{"label": "All of them", "description": ""}]
    asked: dict[str, Any] = {"question": f"{text!r} occurs in several files. Which do you mean?", "header": "Files"}
    answer = yield PlannedCall(
        tool="AskUserQuestion", input={"questions": [{**asked, "options": options, "multiSelect": True}]}
    )
    _check(answer, "I could not ask which files you mean")
    chosen = paths if "All of them" in answer.text else [path for path in paths if path in answer.text]
    if not chosen:
        raise StepFailed("I do not know which file you mean, so I changed none.")
    return chosen


def _named_at(text: str, line: int, path: str) -> str:
    name = source.function_at(text, line)
    if name is None:
        raise StepFailed(f"I found no function at line {line} of {path}.")
    return name


def _file_defining(name: str) -> Generator[PlannedCall, Exchange, str]:
    found = yield PlannedCall(
        tool="Grep",
        input={"pattern": source.definition_pattern(name), "output_mode": "files_with_matches"},
        say=f"Looking where `{name}` is defined.",
    )
    _check(found, f"I could not look for `{name}`")
    paths = _matches(found.text)
    if not paths:
        raise StepFailed(f"I found no definition of `{name}` here.")
    return paths[0]


def _check(exchange: Exchange, otherwise: str) -> None:
    if exchange.is_error:
        raise StepFailed(f"{otherwise}: {source.tail(exchange.text, 12) or 'no reason was given'}")


def _matches(text: str) -> list[str]:
    """The lines of a search result that are results."""
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("[")]
    return [] if len(lines) == 1 and lines[0].startswith(("Nothing matches", "No files match")) else lines


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"
