"""Conversations with the offline model, through tools that act like the real ones."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from assent.model.offline import make_call_model
from assent.model.offline.model import HELLO, NOTHING_MORE
from assent.model.offline.phrases import understand
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
)
from assent.tools.builtin import builtin_tools
from assent.types.blocks import Json
from assent.types.messages import (
    AssistantFinal,
    AssistantMessage,
    Attachment,
    CompactBoundary,
    ConversationMessage,
    StreamEvent,
    UserMessage,
)
from assent.types.ports import ModelEvent, ModelRequest, QuerySource
from fakeapi.talk import result, user

NAMES = (
    "Read",
    "Edit",
    "Write",
    "Grep",
    "Glob",
    "Bash",
    "TodoWrite",
    "AskUserQuestion",
    "EnterPlanMode",
    "ExitPlanMode",
)
REAL = {tool.name: tool for tool in builtin_tools()}
DEMO = "find where greet is defined, replace 'Helo' by 'Hello' in greeter.py, then run the tests"


@pytest.mark.parametrize(
    ("words", "wishes"),
    [
        (DEMO, [Find("greet", definition=True), Replace("Helo", "Hello", "greeter.py"), RunTests()]),
        ("explain greeter.py", [Explain("greeter.py")]),
        ("What does src/app.ts do?", [Explain("src/app.ts")]),
        ("read @notes.md and run `ls -l`", [Explain("notes.md"), RunCommand("ls -l")]),
        ("search for TODO", [Find("TODO")]),
        ("find all uses of greet in greeter.py", [Find("greet", path="greeter.py")]),
        ("where is greet defined?", [Find("greet", definition=True)]),
        ("find the function greet", [Find("greet", definition=True)]),
        ("find 'run the tests'", [Find("run the tests")]),
        ("change foo to bar", [Replace("foo", "bar")]),
        ("please rename greet to welcome in greeter.py. Run the tests.", [Replace("greet", "welcome", "greeter.py"), RunTests()]),
        ('replace "find it and run" with "x" in a.txt', [Replace("find it and run", "x", "a.txt")]),
        ("add a docstring to greet in greeter.py", [AddDocstring("greet", "greeter.py")]),
        ("document greet", [AddDocstring("greet")]),
        ("write a test stub for greet() then run the tests", [AddTest("greet"), RunTests()]),
        ("run the command make -k all", [RunCommand("make -k all")]),
        ("run pytest -q and then explain a.py", [RunCommand("pytest -q"), Explain("a.py")]),
        ("make a todo list: buy milk, find Ada and sleep", [MakeTodos(("buy milk", "find Ada", "sleep"))]),
        ("ask me whether to use tabs or spaces", [AskMe("Tabs or spaces?", ("tabs", "spaces"))]),
        ("ask me a question", [AskMe("What shall I do next?", ("Explain a file", "Find something", "Run the tests"))]),
        ("plan: replace a by b in n.txt, then run tests", [Plan((Replace("a", "b", "n.txt"), RunTests()), "replace a by b in n.txt, then run tests")]),
        ("Explain @a.py lines 3-4. Change nothing.\n\n```\nfind x\n```", [Explain("a.py")]),
        ("Document @a.py line 4 in the style of this project. Change no code.", [AddDocstring("", "a.py", 4)]),
        ("Write tests for @a.py lines 4-5, in the style and place this project keeps its tests.", [AddTest("", "a.py", 4)]),
        ("help", [Help()]),
        ("", [Help()]),
        ("write me a poem", [Unknown("write me a poem")]),
        ("find x, then sing", [Find("x"), Unknown("sing")]),
    ],
)  # fmt: skip
def test_it_understands(words: str, wishes: list[Wish]) -> None:
    assert understand(words) == wishes


@dataclass
class Project:
    """A folder, tools that work on it the way ours do, and the conversation so far."""

    folder: Path
    messages: list[ConversationMessage] = field(default_factory=list[ConversationMessage])
    calls: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])
    refuse: dict[str, str] = field(default_factory=dict[str, str])
    answers: dict[str, str] = field(default_factory=dict[str, str])
    tools: list[str] = field(default_factory=lambda: list(NAMES))
    seen: set[str] = field(default_factory=set[str])

    async def ask(self, prompt: str, **fields: Any) -> str:
        """One turn: everything the model says until it stops calling tools; gives its last words."""
        self.messages.append(user(prompt))
        return await self.go_on(**fields)

    async def go_on(self, *, source: QuerySource = "main", limit: int = 30) -> str:
        for _ in range(limit):
            events = await self.step(source=source)
            closed = [event for event in events if isinstance(event, AssistantMessage)]
            self.messages += closed
            uses = [block for message in closed for block in message.content if block["type"] == "tool_use"]
            if not uses:
                return "".join(block["text"] for message in closed for block in message.content)
            self.messages.append(user(*(self._run(block["id"], block["name"], block["input"]) for block in uses)))
        raise AssertionError("it never stopped")

    async def step(self, *, source: QuerySource = "main") -> list[ModelEvent]:
        definitions = tuple({"name": name, "input_schema": {"type": "object"}} for name in self.tools)
        request = ModelRequest(model="offline", messages=tuple(self.messages), tools=definitions, source=source)
        return [event async for event in make_call_model()(request)]

    def _run(self, id: str, name: str, input: Json) -> Json:
        self.calls.append((name, input))
        REAL[name].parse(input)  # the real tool must take it
        if name in self.refuse:
            return result(id, self.refuse[name], error=True)
        act: Callable[[Json], tuple[str, bool]] = getattr(
            self, name.lower(), lambda _: (self.answers.get(name, "done"), False)
        )
        said, failed = act(input)
        return result(id, said, error=failed)

    def read(self, input: Json) -> tuple[str, bool]:
        path = self.folder / input["file_path"]
        if not path.exists():
            return f"{path.name} does not exist", True
        if str(path) in self.seen:
            return f"{path} is unchanged since you last read it; that result, above, still holds.", False
        self.seen.add(str(path))
        lines = path.read_text().splitlines()
        return "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, 1)), False

    def edit(self, input: Json) -> tuple[str, bool]:
        path = self.folder / input["file_path"]
        text = path.read_text()
        if text.count(input["old_string"]) != 1 and not input.get("replace_all"):
            return "not unique", True
        path.write_text(text.replace(input["old_string"], input["new_string"]))
        self.seen.discard(str(path))
        return "Changed", False

    def write(self, input: Json) -> tuple[str, bool]:
        (self.folder / input["file_path"]).write_text(input["content"])
        return "Created", False

    def grep(self, input: Json) -> tuple[str, bool]:
        files = [input["path"]] if "path" in input else self.names()
        found = [
            (name, number, line)
            for name in files
            for number, line in enumerate((self.folder / name).read_text().splitlines(), 1)
            if re.search(input["pattern"], line)
        ]
        if not found:
            return f"Nothing matches {input['pattern']!r} in {self.folder}", False
        if input.get("output_mode") == "content":
            return "\n".join(f"{name}:{number}:{line}" for name, number, line in found), False
        return "\n".join(dict.fromkeys(name for name, _, _ in found)), False

    def names(self) -> list[str]:
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file())

    def glob(self, input: Json) -> tuple[str, bool]:
        names = self.names()
        wanted = names if "{" in input["pattern"] else [name for name in names if name == input["pattern"]]
        return "\n".join(wanted) or f"No files match {input['pattern']} in {self.folder}", False

    def bash(self, input: Json) -> tuple[str, bool]:
        done = subprocess.run(
            input["command"], shell=True, cwd=self.folder, capture_output=True, text=True, timeout=60, check=False
        )
        return done.stdout + done.stderr, done.returncode != 0


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "greeter.py").write_text('"""Says hello."""\n\n\ndef greet(name):\n    return f"Helo, {name}!"\n')
    (tmp_path / "test_greeter.py").write_text(
        "import unittest\n\nfrom greeter import greet\n\n\nclass T(unittest.TestCase):\n"
        '    def test_it(self):\n        self.assertEqual(greet("Ada"), "Hello, Ada!")\n'
    )
    (tmp_path / "Makefile").write_text("test:\n\t@python3 -m unittest\n")
    return Project(tmp_path)


async def test_the_demo_searches_reads_edits_tests_and_reports(project: Project) -> None:
    told = await project.ask(DEMO)
    assert [name for name, _ in project.calls] == ["Grep", "Read", "Edit", "Glob", "Grep", "Bash"]
    assert project.calls[2][1] == {"file_path": "greeter.py", "old_string": "Helo", "new_string": "Hello"}
    assert project.calls[5][1]["command"] == "make test"
    assert "Hello" in (project.folder / "greeter.py").read_text()
    assert "greeter.py:4" in told
    assert "`make test` succeeded" in told


async def test_it_says_what_it_is_in_its_first_answer_and_when_it_does_not_understand(project: Project) -> None:
    first = await project.ask("explain greeter.py")
    spoken = [
        block["text"]
        for message in project.messages
        if isinstance(message, AssistantMessage)
        for block in message.content
        if block["type"] == "text"
    ]
    assert HELLO in spoken[0]
    assert HELLO not in first
    second = await project.ask("write me a poem")
    assert "not a language model" in second
    assert "replace text" in second


async def test_a_first_answer_without_tools_says_it_too(project: Project) -> None:
    assert HELLO in await project.ask("hello")


async def test_it_tells_of_failing_tests(project: Project) -> None:
    told = await project.ask("run the tests")
    assert "`make test` did not succeed" in told
    assert "AssertionError" in told


@pytest.mark.parametrize(
    ("test", "command"),
    [("import unittest\n", "python3 -m unittest"), ("def test_it():\n    assert True\n", "python3 -m pytest -q")],
)
async def test_tests_inside_a_package_are_found_and_run_the_way_they_are_written(
    tmp_path: Path, test: str, command: str
) -> None:
    (tmp_path / "package" / "tests").mkdir(parents=True)
    (tmp_path / "package" / "tests" / "test_it.py").write_text(test)
    project = Project(tmp_path)
    await project.ask("run the tests")
    assert project.calls[-1] == ("Bash", {"command": command, "description": "Run the project's tests"})


async def test_a_denied_edit_is_told_and_the_rest_is_left(project: Project) -> None:
    project.refuse["Edit"] = "The user said no: not now"
    told = await project.ask(DEMO)
    assert "I did not change greeter.py: The user said no: not now" in told
    assert "Not done: run the tests" in told
    assert "Bash" not in [name for name, _ in project.calls]


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("explain nowhere.py", "I could not read nowhere.py"),
        ("replace 'zzz' by 'y' in greeter.py", "'zzz' does not occur in greeter.py"),
        ("replace 'zzz' by 'y'", "occurs in no file"),
        ("find zzz", "I found `zzz` nowhere"),
        ("add a docstring to nobody", "no definition of `nobody`"),
        ("run `exit 3`", "did not succeed"),
    ],
)
async def test_what_cannot_be_done_is_told(project: Project, prompt: str, words: str) -> None:
    assert words in await project.ask(prompt)


async def test_explaining_tells_what_a_file_defines(project: Project) -> None:
    told = await project.ask("explain greeter.py")
    assert "Says hello." in told
    assert "def `greet`, line 4" in told


async def test_a_file_it_has_read_before_is_known_when_reading_it_again_says_unchanged(project: Project) -> None:
    await project.ask("explain greeter.py")
    await project.ask("replace 'Helo' by 'Hello' in greeter.py")
    assert "Hello" in (project.folder / "greeter.py").read_text()


async def test_a_file_that_was_mentioned_is_known_as_it_was_then(project: Project) -> None:
    await project.ask("replace 'Helo' by 'Hello' in greeter.py")
    shown, _ = project.read({"file_path": "greeter.py"})
    content: tuple[Json, ...] = ({"type": "text", "text": f"The user mentioned greeter.py:\n{shown}"},)
    project.messages.append(Attachment(uuid="m", kind="file", content=content, data={"path": "greeter.py"}))
    assert "I replaced" in await project.ask("replace 'Hello' by 'Hi' in @greeter.py")
    assert "Hi" in (project.folder / "greeter.py").read_text()


async def test_several_places_are_replaced_at_once(project: Project) -> None:
    (project.folder / "twice.txt").write_text("a b a\n")
    told = await project.ask("replace 'a' by 'x' in twice.txt")
    assert "2 places" in told
    assert (project.folder / "twice.txt").read_text() == "x b x\n"


async def test_it_asks_which_file_when_there_are_several(project: Project) -> None:
    (project.folder / "other.txt").write_text("Helo too\n")
    project.answers["AskUserQuestion"] = "Which do you mean? → other.txt"
    await project.ask("replace 'Helo' by 'Hello'")
    assert (project.folder / "other.txt").read_text() == "Hello too\n"
    assert "Helo" in (project.folder / "greeter.py").read_text()


async def test_a_docstring_goes_under_the_definition(project: Project) -> None:
    await project.ask("add a docstring to greet")
    assert 'def greet(name):\n    """Greet."""\n    return' in (project.folder / "greeter.py").read_text()
    assert "has a docstring already" in await project.ask("add a docstring to greet in greeter.py")


async def test_a_test_stub_is_valid_python_that_fails_until_it_says_something(project: Project) -> None:
    (project.folder / "sums.py").write_text("def add(a, b):\n    return a + b\n")
    await project.ask("write a test for add")
    text = (project.folder / "test_sums.py").read_text()
    compile(text, "test_sums.py", "exec")
    assert "from sums import add" in text
    output, failed = project.bash({"command": "python3 -m unittest test_sums"})
    assert failed
    assert "say what add should do" in output


async def test_a_test_stub_joins_the_tests_that_are_there(project: Project) -> None:
    await project.ask("write a test stub for greet in greeter.py")
    text = (project.folder / "test_greeter.py").read_text()
    compile(text, "test_greeter.py", "exec")
    assert "def test_it(self)" in text
    assert "def test_greet(self)" in text


@pytest.mark.parametrize(("line", "where"), [(5, "greet"), (1, "greet")])
async def test_what_the_editors_actions_ask_for_at_a_place_is_done_there(
    project: Project, line: int, where: str
) -> None:
    await project.ask(f"Document @greeter.py line {line} in the style of this project. Change no code.")
    assert f'def {where}(name):\n    """Greet."""' in (project.folder / "greeter.py").read_text()


async def test_a_place_without_a_function_is_told(project: Project) -> None:
    (project.folder / "empty.py").write_text("x = 1\n")
    assert "no function at line 1" in await project.ask("write tests for @empty.py line 1")


async def test_a_todo_list_is_written_with_the_tool(project: Project) -> None:
    await project.ask("make a todo list: one thing, another")
    assert project.calls == [
        (
            "TodoWrite",
            {
                "todos": [
                    {"content": "one thing", "status": "pending", "activeForm": "one thing"},
                    {"content": "another", "status": "pending", "activeForm": "another"},
                ]
            },
        )
    ]


async def test_a_question_is_asked_with_the_tool_and_the_answer_told(project: Project) -> None:
    project.answers["AskUserQuestion"] = "Tabs or spaces? → spaces"
    told = await project.ask("ask me whether to use tabs or spaces")
    (question,) = project.calls[0][1]["questions"]
    assert [option["label"] for option in question["options"]] == ["tabs", "spaces"]
    assert "→ spaces" in told


async def test_a_plan_is_shown_first_and_carried_out_once_approved(project: Project) -> None:
    await project.ask("plan: replace 'Helo' by 'Hello' in greeter.py, then run the tests")
    assert [name for name, _ in project.calls][:3] == ["EnterPlanMode", "ExitPlanMode", "Read"]
    assert project.calls[1][1]["plan"].startswith("1. Replace 'Helo' by 'Hello' in greeter.py\n2. Run the tests")
    assert "Hello" in (project.folder / "greeter.py").read_text()


async def test_a_plan_that_is_turned_down_changes_nothing(project: Project) -> None:
    project.refuse["ExitPlanMode"] = "The user wants it otherwise"
    told = await project.ask("plan: replace 'Helo' by 'Hello' in greeter.py")
    assert "The plan was not approved: The user wants it otherwise" in told
    assert "Helo" in (project.folder / "greeter.py").read_text()


async def test_without_the_tool_it_needs_it_says_so(project: Project) -> None:
    project.tools.remove("Grep")
    assert "the tool Grep" in await project.ask("find greet")


async def test_what_is_typed_while_it_works_is_the_next_request(project: Project) -> None:  # L11
    project.messages += [user("explain greeter.py")]
    events = await project.step()
    project.messages += [event for event in events if isinstance(event, AssistantMessage)]
    (id,) = [
        block["id"]
        for event in events
        if isinstance(event, AssistantMessage)
        for block in event.content
        if "id" in block
    ]
    project.messages.append(UserMessage(uuid="r", content=(result(id, "     1→x"),)))
    queued: Json = {"type": "text", "text": "find Helo"}
    project.messages.append(Attachment(uuid="q", kind="queued_message", content=(queued,)))
    assert "I found `Helo`" in await project.go_on()


async def test_a_nudge_after_it_is_done_does_not_make_it_repeat_itself(project: Project) -> None:  # L12
    await project.ask("explain greeter.py")
    project.messages.append(user("Keep working.", meta=True))
    assert await project.go_on() == NOTHING_MORE


async def test_it_summarises_a_conversation_for_compaction(project: Project) -> None:  # C5
    await project.ask(DEMO)
    project.messages.append(user("Summarise all this.", meta=True))
    told = await project.go_on(source="compact")
    for words in ("find where greet is defined", "Edit greeter.py (done)", "Files it was about: greeter.py"):
        assert words in told


async def test_it_goes_on_after_a_compaction(project: Project) -> None:
    boundary = CompactBoundary(uuid="c", trigger="auto", tokens_before=9, tokens_after=1, summary="Earlier: nothing.")
    project.messages.append(boundary)
    told = await project.ask("find Helo")
    assert "I found `Helo`" in told
    assert HELLO not in told


@pytest.mark.parametrize(
    ("source", "words"),
    [("title", "find where greet is defined"), ("classifier", "ask"), ("suggestion", "NONE"), ("memory", "NONE")],
)
async def test_housekeeping_calls_get_short_answers(project: Project, source: QuerySource, words: str) -> None:
    await project.ask(DEMO)
    assert words in await project.go_on(source=source)


async def test_the_same_conversation_gives_the_same_answer(project: Project) -> None:
    project.messages.append(user("find Helo"))

    def plain(events: list[ModelEvent]) -> list[Any]:
        return [event.content for event in events if isinstance(event, AssistantMessage)]

    assert plain(await project.step()) == plain(await project.step())


async def test_it_streams_like_a_real_one(project: Project) -> None:
    project.messages.append(user("find Helo"))
    events = await project.step()
    raw = [event.event["type"] for event in events if isinstance(event, StreamEvent)]
    assert raw[0] == "message_start"
    assert raw[-2:] == ["message_delta", "message_stop"]
    assert raw.count("content_block_delta") > 4
    final = events[-1]
    assert isinstance(final, AssistantFinal)
    assert (final.stop_reason, final.cost_usd, final.model) == ("tool_use", 0.0, "offline")
    assert final.usage.input_tokens > 0
    assert final.usage.output_tokens > 1


async def test_an_answer_that_must_be_data_is_given_with_the_tool_for_it() -> None:  # Q10
    schema: Json = {
        "type": "object",
        "properties": {
            "answer": {"type": "string"},
            "count": {"type": "integer", "minimum": 1},
            "kind": {"enum": ["a", "b"]},
        },
        "required": ["answer", "count", "kind"],
    }
    request = ModelRequest(
        model="offline", messages=(user("hello"),), tools=({"name": "StructuredOutput", "input_schema": schema},)
    )
    events = [event async for event in make_call_model()(request)]
    (block,) = [event.content[0] for event in events if isinstance(event, AssistantMessage)]
    assert block["name"] == "StructuredOutput"
    assert (block["input"]["count"], block["input"]["kind"]) == (1, "a")
    assert "explain or read a file" in block["input"]["answer"]
