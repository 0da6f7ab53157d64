"""What the model is told between steps (L11), and what a prompt brings along (Q4)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from assent.engine.prompting.user_input import mentions, parse_token_budget
from assent.extensions.commands import BUILT_IN
from assent.extensions.memory import MemoryFiles
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.read import Read
from assent.tools.tool import SessionState, ToolContext, ToolOutput, ToolServices
from assent.types.blocks import Json, text_block
from assent.types.messages import Attachment, Message, ToolStarted, UserMessage
from enginekit import Echo, Stage, TurnLog
from enginekit.tools import Simple, TextInput
from fakeapi import text, tool


def said(message: str, uuid: str = "q1") -> UserMessage:
    return UserMessage(uuid=uuid, content=(text_block(message),))


def kinds(turn: TurnLog) -> list[str]:
    return [attachment.kind for attachment in turn.of(Attachment)]


async def test_what_the_user_types_meanwhile_goes_in_between_steps() -> None:
    queue = [said("also the tests, please")]

    def take() -> list[UserMessage]:
        taken = list(queue)
        queue.clear()
        return taken

    async with Stage(tools=[Echo()], take_queued=take) as stage:
        stage.api.reply(tool("Echo", text="a"))
        stage.api.reply(text("ok"))
        await stage.turn()
        assert "also the tests, please" in stage.api.calls[1].last_text
        stage.assert_reloads()


async def test_an_interruption_between_queued_messages_loses_none_of_them() -> None:  # L11, L14
    """`ahead=1`: the turn waits at each message until it is read, so the abort comes between two of them."""
    queue = [said(f"wish {number}", f"q{number}") for number in range(4)]

    def take() -> list[UserMessage]:
        taken = list(queue)
        queue.clear()
        return taken

    async with Stage(tools=[Echo()], take_queued=take, ahead=1) as stage:

        def stop(_at: int, message: Message) -> None:
            if isinstance(message, UserMessage) and message.uuid == "q0":
                stage.engine.abort()

        stage.api.reply(tool("Echo", text="a"))
        turn = await stage.turn(on_message=stop)
        assert turn.result.terminal == "aborted_tools"
        assert [m.uuid for m in turn.of(UserMessage)][-4:] == ["q0", "q1", "q2", "q3"]
        stage.assert_reloads()
        stage.api.reply(text("ok"))
        await stage.turn("go on")
        assert "wish 3" in str(stage.api.calls[-1].messages)


async def test_later_messages_wait_for_sleep_or_for_the_next_turn() -> None:
    class Sleep(Simple):
        name = "Sleep"

    async with Stage(tools=[Echo(), Sleep()]) as stage:
        stage.engine.enqueue(said("when you have time", "later"), "later")
        stage.api.reply(tool("Echo", text="a"))
        stage.api.reply(tool("Sleep", text="a"))
        stage.api.reply(text("ok"))
        await stage.turn("go", uuid="p")
        # It was waiting before the turn began, so it comes with the prompt.
        assert "when you have time" in str(stage.api.calls[0].messages)

    async with Stage(tools=[Echo(), Sleep()]) as stage:

        def on(_at: int, message: Message) -> None:
            if isinstance(message, ToolStarted) and message.tool == "Echo":
                stage.engine.enqueue(said("when you have time", "later"), "later")

        stage.api.reply(tool("Echo", text="a"))
        stage.api.reply(tool("Sleep", text="a"))
        stage.api.reply(text("ok"))
        await stage.turn(on_message=on)
        assert "when you have time" not in str(stage.api.calls[1].messages)
        assert "when you have time" in str(stage.api.calls[2].messages)


async def test_sources_are_asked_in_the_background_and_only_what_settled_is_used() -> None:
    slow = anyio.Event()

    async def quick_source() -> Sequence[Attachment]:
        return [Attachment(uuid="d1", kind="diagnostics", content=(text_block("a.py:1 is red"),))]

    async def slow_source() -> Sequence[Attachment]:
        await slow.wait()
        return [Attachment(uuid="never", kind="memory", content=(text_block("too late"),))]

    async with Stage(tools=[Echo()], attachment_sources=(quick_source, slow_source)) as stage:
        stage.api.reply(tool("Echo", text="a"))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert kinds(turn) == ["diagnostics"]
        assert "a.py:1 is red" in stage.api.calls[1].last_text
        assert "too late" not in str(stage.api.calls[1].messages)


async def test_a_file_that_changed_since_it_was_read_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("one\n")
    state = SessionState(cwd=str(tmp_path))

    class Touch(Simple):
        """Changes the file behind the model's back."""

        name = "Touch"

        async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
            path.write_text("two, longer\n")
            return await super().call(input, ctx)

    async with Stage(
        tools=[Read(), Touch(), Echo()],
        cwd=str(tmp_path),
        state=lambda: state,
        services=ToolServices(workspace=DiskWorkspace()),
    ) as stage:
        stage.api.reply(tool("Read", file_path=str(path)))
        stage.api.reply(tool("Touch", text="x"))
        stage.api.reply(tool("Echo", text="x"))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert kinds(turn) == ["file_changed"]
        assert "a.py has changed since you read it" in stage.api.calls[2].last_text
        assert "has changed since" not in stage.api.calls[3].last_text


async def test_memory_beside_a_file_is_told_when_the_file_is_read_and_only_once(tmp_path: Path) -> None:
    inner = tmp_path / "pkg"
    inner.mkdir()
    (inner / "AGENTS.md").write_text("Only tabs in this folder.")
    for name in ("a.py", "b.py"):
        (inner / name).write_text("x\n")
    async with Stage(
        tools=[Read()],
        cwd=str(tmp_path),
        memory=MemoryFiles(home=tmp_path.parent),
        services=ToolServices(workspace=DiskWorkspace()),
    ) as stage:
        for name in ("a.py", "b.py"):
            stage.api.reply(tool("Read", file_path=str(inner / name)))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert kinds(turn) == ["memory"]
        assert "Only tabs in this folder." in stage.api.calls[1].last_text
        assert "Only tabs" not in str(stage.api.calls[0].messages)


async def test_memory_beside_a_file_is_told_again_once_a_compaction_took_it_out_of_view(
    tmp_path: Path,
) -> None:  # Q1, C5
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "AGENTS.md").write_text("Only tabs in this folder.")
    file = tmp_path / "pkg" / "a.py"
    file.write_text("x\n")
    async with Stage(
        tools=[Read()],
        cwd=str(tmp_path),
        commands=BUILT_IN,
        memory=MemoryFiles(home=tmp_path.parent),
        services=ToolServices(workspace=DiskWorkspace()),
    ) as stage:
        stage.api.reply(tool("Read", file_path=str(file)))
        stage.api.reply(text("ok"))
        await stage.turn()
        stage.api.reply(text("<summary>They read a file.</summary>"))
        await stage.turn("/compact")
        stage.api.reply(tool("Read", file_path=str(file)))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert kinds(turn) == ["memory"]
        assert str(stage.api.calls[-1].messages).count("Only tabs in this folder.") == 1


async def test_mentioned_files_come_with_the_prompt_and_are_not_attached_twice(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print('a')\n")
    (tmp_path / "my notes.md").write_text("note one\nnote two\nnote three\n")
    async with Stage(tools=[Read()], cwd=str(tmp_path), services=ToolServices(workspace=DiskWorkspace())) as stage:
        stage.api.reply(text("ok"))
        first = await stage.turn('compare @a.py and @"my notes.md#L2-2", mail me@example.org, see @nowhere.py')
        assert kinds(first) == ["file", "file"]
        sent = stage.api.calls[0].last_text
        assert "print('a')" in sent and "note two" in sent and "note three" not in sent
        stage.api.reply(text("ok"))
        second = await stage.turn("again @a.py")
        assert kinds(second) == []
        stage.assert_reloads()


async def test_plan_mode_is_remembered() -> None:
    state = SessionState(cwd="/project", mode="plan")
    async with Stage(tools=[Echo()], state=lambda: state) as stage:
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert kinds(turn) == ["plan_mode"]
        assert "change nothing" in stage.api.calls[0].last_text


async def test_a_todo_list_nobody_touches_is_shown_again() -> None:
    items: list[Json] = [{"content": "write the tests", "status": "pending"}]
    state = SessionState(cwd="/project", todos=items)
    async with Stage(tools=[Echo()], state=lambda: state) as stage:
        for number in range(11):
            stage.api.reply(tool("Echo", text=str(number)))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert kinds(turn) == ["todo_reminder"]


async def test_a_session_that_goes_on_past_midnight_is_told() -> None:  # Q8
    async with Stage(tools=[Echo()]) as stage:
        now = [1_700_000_000.0]
        engine = stage.new_engine(now=lambda: now[0])
        stage.api.reply(text("ok"))
        await stage.turn("one", engine=engine)
        now[0] += 86_400
        stage.api.reply(text("ok"))
        turn = await stage.turn("two", engine=engine)
        assert kinds(turn) == ["date"]
        assert stage.api.calls[0].messages[0]["content"][0] == stage.api.calls[1].messages[0]["content"][0]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("fix it +500k", ("fix it", 500_000)),
        ("fix it +1.5M", ("fix it", 1_500_000)),
        ("fix it\n+20k\n", ("fix it", 20_000)),
        ("what is 3 +5", ("what is 3 +5", None)),
        ("+500k", ("+500k", None)),
        ("a+500k", ("a+500k", None)),
    ],
)
def test_a_token_target_ends_a_prompt(prompt: str, expected: tuple[str, int | None]) -> None:  # L12
    assert parse_token_budget(prompt) == expected


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("see @src/a.py.", [("src/a.py", None, None)]),
        ("see @a.py#L3-9 and @a.py#7", [("a.py", 3, 7), ("a.py", 7, 1)]),
        ('read @"my file.md"!', [("my file.md", None, None)]),
        ("mail ada@example.org", []),
        ("@a @a", [("a", None, None)]),
    ],
)
def test_mentions_are_paths_with_lines(prompt: str, expected: list[tuple[str, int | None, int | None]]) -> None:
    assert mentions(prompt) == expected
