"""What someone may want of the offline model, as data. `phrases` finds it in words, `plans` carries it out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explain:
    path: str


@dataclass(frozen=True, slots=True)
class Find:
    what: str
    definition: bool = False
    path: str = ""


@dataclass(frozen=True, slots=True)
class Replace:
    old: str
    new: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class AddDocstring:
    """`function` is empty when a place was named instead: the one at `line` is meant."""

    function: str
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class AddTest:
    function: str
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class RunCommand:
    command: str


@dataclass(frozen=True, slots=True)
class RunTests:
    pass


@dataclass(frozen=True, slots=True)
class MakeTodos:
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskMe:
    question: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    steps: tuple["Wish", ...]
    goal: str


@dataclass(frozen=True, slots=True)
class Help:
    pass


@dataclass(frozen=True, slots=True)
class Unknown:
    words: str


Wish = (
    Explain
    | Find
    | Replace
    | AddDocstring
    | AddTest
    | RunCommand
    | RunTests
    | MakeTodos
    | AskMe
    | Plan
    | Help
    | Unknown
)


def describe(wish: Wish) -> str:
    """One wish in words, as a step of a plan or as something left undone."""
    match wish:
        case Explain(path):
            return f"read {path}"
        case Find(what, definition, _):
            return f"find where {what} is defined" if definition else f"find {what!r}"
        case Replace(old, new, path):
            return f"replace {old!r} by {new!r}" + (f" in {path}" if path else "")
        case AddDocstring(function, path, _):
            return f"add a docstring to {function or path}"
        case AddTest(function, path, _):
            return f"write a test for {function or path}"
        case RunCommand(command):
            return f"run `{command}`"
        case RunTests():
            return "run the tests"
        case MakeTodos(items):
            return f"make a todo list of {len(items)}"
        case AskMe(question, _):
            return f"ask: {question}"
        case Plan(_, goal):
            return f"plan {goal}"
        case Help():
            return "say what I can do"
        case Unknown(words):
            return words
