"""What is provably unneeded leaves the model's view by itself: seldom, visibly, and never from the transcript (C2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assent.context.microcompact import CLEARED
from assent.context.snip import largest
from assent.context.thresholds import thresholds
from assent.context.tool_results import MARK
from assent.context.unneeded import MIN_SHARE, UNSURE, WORTH_TOKENS, pays, unneeded, why
from assent.engine.pairing import LOST
from assent.engine.recovery import ENDED
from assent.model.folding import NO_RESULT
from assent.sessions.live.closing import SHUT_DOWN
from assent.tools.edit import Edit
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.read import Read
from assent.tools.run.executor import INTERRUPTED, SIBLING_FAILED, WITHDRAWN
from assent.tools.tool import ToolServices
from assent.types.blocks import text_block, tool_result_block
from assent.types.messages import (
    AssistantMessage,
    Attachment,
    CompactBoundary,
    ConversationMessage,
    Tombstone,
    UserMessage,
)
from assent.types.pointers import unchanged
from assent.types.ports import ModelInfo
from enginekit import Stage
from enginekit.stage import MODEL, Spills
from fakeapi import Limits, text, tool

LIMITS = Limits(window=60_000, max_output=8_000)


class Talk:
    """A view made of calls and their results."""

    def __init__(self) -> None:
        self.view: list[ConversationMessage] = []

    def call(self, name: str, result: str | list[Any], *, is_error: bool = False, **input: Any) -> str:
        """The uuid of the message that holds the call."""
        id = f"toolu_{len(self.view)}"
        block = {"type": "tool_use", "id": id, "name": name, "input": input}
        self.view.append(AssistantMessage(uuid=f"m{id}", message_id=f"a{id}", content=(block,), model=MODEL))
        self.view.append(UserMessage(uuid=f"r{id}", content=(tool_result_block(id, result, is_error=is_error),)))
        return f"m{id}"

    @property
    def found(self) -> list[str]:
        return [each.uuid for each in unneeded(self.view)]


def test_a_read_is_unneeded_once_a_later_one_shows_the_same_part_or_the_whole_file() -> None:  # C2
    talk = Talk()
    part = talk.call("Read", "    10→old", file_path="/p/a.py", offset=10, limit=5)
    same = talk.call("Read", "    10→new", file_path="/p/./a.py", offset=10, limit=5)
    other = talk.call("Read", "     1→b", file_path="/p/b.py")
    assert talk.found == [part]
    whole = talk.call("Read", "     1→everything", file_path="/p/a.py", offset=1)
    assert talk.found == [part, same]
    talk.call("Read", "     3→a part of it", file_path="/p/a.py", offset=3)
    assert talk.found == [part, same] and whole not in talk.found and other not in talk.found


@pytest.mark.parametrize(
    "later",
    [
        unchanged("/p/a.py", "toolu_0"),
        CLEARED,
        f"     1→some\n\n… {MARK}, 9,000 characters, is in /x; use Read with offset and limit for the rest.]",
        "     1→some\n[Lines 1 to 2000 of 9000; read on with offset 2001]",
    ],
)
def test_a_read_stays_while_the_later_one_does_not_show_all_of_it(later: str) -> None:  # C2, C7
    talk = Talk()
    talk.call("Read", "    10→old", file_path="/p/a.py", offset=10, limit=5)
    talk.call("Read", later, file_path="/p/a.py")
    assert talk.found == []


def test_a_relative_path_may_be_another_file_after_a_command() -> None:  # C2
    talk = Talk()
    first = talk.call("Read", "     1→one", file_path="a.py")
    talk.call("Read", "     1→two", file_path="a.py")
    talk.call("Bash", "", command="ls; make abcd")
    second = talk.call("Read", "     1→three", file_path="a.py")
    assert talk.found[0] == first and second not in talk.found and len(talk.found) == 2
    talk.call("Bash", "", command="cd sub")
    talk.call("Read", "     1→three", file_path="a.py")
    assert second not in talk.found and len(talk.found) == 2


@pytest.mark.parametrize("moves", ["cd sub", "make && cd ..", "pushd x", ". ./env", "true; . env", "source env"])
def test_the_same_command_in_another_folder_is_another_command(moves: str) -> None:  # C2
    talk = Talk()
    talk.call("Bash", "no", is_error=True, command="make test")
    talk.call("Bash", "", command=moves)
    talk.call("Bash", "yes", command="make test")
    assert talk.found == []


def test_a_failure_is_unneeded_once_the_same_call_succeeded() -> None:  # C2
    talk = Talk()
    failed = talk.call("Bash", "2 tests failed", is_error=True, command="make test", description="run the tests")
    talk.call("Bash", "1 test failed", is_error=True, command="make other")
    assert talk.found == []
    talk.call("Bash", "all passed", command="make test", description="again")
    assert talk.found == [failed]


@pytest.mark.parametrize(
    "words",
    [
        LOST,
        ENDED,
        NO_RESULT,
        SHUT_DOWN,
        INTERRUPTED,
        SIBLING_FAILED,
        WITHDRAWN,
        "Bash timed out after 120 s.",
        UNSURE[3],
    ],
)
def test_a_call_of_which_nobody_knows_what_it_did_stays_in_view(words: str) -> None:  # C2, L9
    talk = Talk()
    talk.call("Bash", words, is_error=True, command="deploy")
    talk.call("Bash", "x" * 2_000 + words, is_error=True, command="deploy")
    talk.call("Bash", [text_block(words)], is_error=True, command="deploy")
    talk.call("Bash", "deployed", command="deploy")
    assert talk.found == []


def test_it_pays_when_the_cache_is_cold_or_the_window_is_full_and_enough_is_freed() -> None:  # C2, C3
    marks = thresholds(ModelInfo(id=MODEL))
    full, enough = marks.microcompact, int(marks.window * MIN_SHARE)
    cases: list[tuple[int, float | None, int | None, bool]] = [
        (1_000, None, None, True),
        (1_000, 300.0, WORTH_TOKENS, True),
        (1_000, 300.0, WORTH_TOKENS - 1, False),
        (1_000, 299.0, None, False),
        (full, 1.0, None, True),
        (full, 1.0, enough, True),
        (full, 1.0, enough - 1, False),
        (full - 1, 1.0, enough, False),
    ]
    for tokens, idle, freed, expected in cases:
        assert pays(tokens, marks, idle_seconds=idle, cache_seconds=300.0, freed=freed) is expected, (
            tokens,
            idle,
            freed,
        )


def test_people_are_told_what_was_let_go() -> None:  # C2
    talk = Talk()
    for _ in range(3):
        talk.call("Read", "     1→one", file_path="/a.py")
    talk.call("Bash", "no", is_error=True, command="make")
    talk.call("Bash", "yes", command="make")
    assert why(unneeded(talk.view)) == "2 reads that a later one replaced and 1 failed call that later succeeded"
    assert why(unneeded(talk.view)[:1]) == "1 read that a later one replaced"


def test_the_largest_parts_of_a_view_are_listed_for_people_with_their_calls() -> None:  # C2
    talk = Talk()
    talk.view.append(UserMessage(uuid="p", content=(text_block("please " * 100),)))
    talk.view.append(CompactBoundary(uuid="b", trigger="auto", tokens_before=1, tokens_after=1, summary="s" * 9_000))
    call = talk.call("Read", "word " * 400, file_path="/a.py")
    talk.view.append(Attachment(uuid="n", kind="memory", content=(text_block("note " * 60),)))
    talk.view.append(
        AssistantMessage(
            uuid="t", message_id="t", model=MODEL, content=({"type": "thinking", "thinking": "hm " * 200},)
        )
    )
    talk.view.append(UserMessage(uuid="small", content=(text_block("ok"),)))
    listed = largest(talk.view)
    assert [each.uuid for each in listed] == [call, "p", "t", "n"]
    labels = [each.label for each in listed]
    assert labels[0] == "Read /a.py" and labels[1].startswith("you: please") and labels[2] == "thinking"
    assert labels[3].startswith("attached (memory): note")
    assert listed[0].tokens > 600 and [each.uuid for each in largest(talk.view, most=1)] == [call]


def reading(folder: Path, **config: Any) -> Stage:
    services = ToolServices(workspace=DiskWorkspace(), spill=Spills())
    return Stage(tools=[Read(), Edit()], cwd=str(folder), services=services, limits=LIMITS, **config)


def unmarked(stage: Stage) -> list[Any]:
    """The messages of the last call, without the marks that say up to where they are cached."""
    blocks = [{**block} for message in stage.api.calls[-1].messages for block in message["content"]]
    for block in blocks:
        block.pop("cache_control", None)
    return blocks


async def read_thrice(stage: Stage, folder: Path) -> None:
    file = folder / "a.txt"
    for number in range(3):
        file.write_text(f"version {number}\n" * 400)
        stage.api.reply(tool("Read", id=f"toolu_{number}", file_path=str(file)))
        stage.api.reply(text("read"))
        await stage.turn(f"read it, {number}")


async def test_superseded_reads_go_when_the_cache_is_cold_and_not_before(tmp_path: Path) -> None:  # C2, M6
    async with reading(tmp_path) as stage:
        await read_thrice(stage, tmp_path)
        before = unmarked(stage)
        stage.api.reply(text("warm"))
        warm = await stage.turn("go on")
        assert warm.of(Tombstone) == []
        assert unmarked(stage)[: len(before)] == before  # the prefix is as it was
        stage.engine._conversation.window.last_call = None
        stage.api.reply(text("cold"))
        cold = await stage.turn("and now?")
        (stone,) = cold.of(Tombstone)
        assert (stone.reason, stone.by, stone.why) == ("snip", "auto", "2 reads that a later one replaced")
        assert stone.snip_id and stone.tokens_freed > 1_000
        assert set(stage.api.calls[-1].tool_results) == {"toolu_2"}
        assert "version 2" in str(stage.api.calls[-1].messages)
        history = str(stage.engine.messages)
        assert all(f"version {number}" in history for number in range(3))  # people keep all of it
        stage.api.reply(text("still"))
        settled = unmarked(stage)
        again = await stage.turn("once more")
        assert again.of(Tombstone) == [] and unmarked(stage)[: len(settled)] == settled
        stage.assert_reloads()


async def test_a_resumed_session_shows_the_model_what_it_saw_after_an_automatic_snip(tmp_path: Path) -> None:  # C2, S1
    async with reading(tmp_path) as stage:
        await read_thrice(stage, tmp_path)
        stage.engine._conversation.window.last_call = None
        stage.api.reply(text("cold"))
        (stone,) = (await stage.turn("and now?")).of(Tombstone)
        assert stone in stage.transcript.written
        resumed = stage.new_engine(messages=stage.engine.messages, snipped=frozenset(stone.message_uuids))
        stage.api.reply(text("resumed"))
        await stage.turn("again", engine=resumed)
        assert set(stage.api.calls[-1].tool_results) == {"toolu_2"}


async def test_what_the_user_brought_back_is_not_snipped_again(tmp_path: Path) -> None:  # C2
    async with reading(tmp_path) as stage:
        await read_thrice(stage, tmp_path)
        stage.engine._conversation.window.last_call = None
        stage.api.reply(text("cold"))
        (stone,) = (await stage.turn("and now?")).of(Tombstone)
        back = stone.message_uuids[:1]
        stage.engine.unsnip(back, snipped=stone.message_uuids[1:], collapsed=())
        resumed = stage.new_engine(
            messages=stage.engine.messages, snipped=frozenset(stone.message_uuids[1:]), spared=frozenset(back)
        )
        for engine in (stage.engine, resumed):
            engine._conversation.window.last_call = None
            stage.api.reply(text("ok"))
            turn = await stage.turn("and now?", engine=engine)
            assert turn.of(Tombstone) == []
            assert set(stage.api.calls[-1].tool_results) == {"toolu_0", "toolu_2"}


async def test_a_snip_that_people_know_of_is_not_told_again(tmp_path: Path) -> None:  # C2
    async with reading(tmp_path) as stage:
        await read_thrice(stage, tmp_path)
        uuids = [message.uuid for message in stage.engine.messages if "version 0" in str(message)]
        for told in (True, False):
            stage.engine.snip(uuids[:1] if told else uuids[1:2], told=told)
            stage.api.reply(text("on"))
            turn = await stage.turn("go on")
            assert len(turn.of(Tombstone)) == (0 if told else len(uuids[1:2]))
        assert "version 0" not in str(stage.api.calls[-1].messages)


async def test_little_that_is_unneeded_stays_though_the_cache_is_cold(tmp_path: Path) -> None:  # C2
    file = tmp_path / "a.txt"
    async with reading(tmp_path) as stage:
        for number in range(2):
            file.write_text(f"version {number}\n")
            stage.api.reply(tool("Read", id=f"toolu_{number}", file_path=str(file)))
            stage.api.reply(text("read"))
            await stage.turn(f"read it, {number}")
        stage.engine._conversation.window.last_call = None
        stage.api.reply(text("cold"))
        assert (await stage.turn("and now?")).of(Tombstone) == []
        assert set(stage.api.calls[-1].tool_results) == {"toolu_0", "toolu_1"}
