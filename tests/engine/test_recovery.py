"""Details of recovery that the table of reasons does not show (L5–L7, L10, M5)."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from assent.engine.recovery import ENDED
from assent.tools.bash import Bash
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.tool import ToolServices
from assent.types.blocks import text_of, tool_result_block
from assent.types.messages import (
    ApiRetry,
    AssistantMessage,
    CompactBoundary,
    Message,
    Tombstone,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    UserMessage,
)
from assent.types.permissions import Deny, Verdict
from assent.types.ports import ToolCall
from enginekit import Change, Echo, Gate, Reader, Stage
from enginekit.stage import OTHER_MODEL, WAIT
from fakeapi import Limits, Reply, failure, text, thinking, tool
from processes import alive


async def test_thoughts_of_one_model_are_never_sent_to_another() -> None:  # L10, M7
    async with Stage(
        tools=[Echo()], fallback_model=OTHER_MODEL, thinking={"type": "adaptive"}, model="claude-opus-5"
    ) as stage:
        stage.api.reply(thinking("let me see"), tool("Echo", text="a"))
        for _ in range(3):
            stage.api.error(529)
        stage.api.reply(thinking("I take over"), tool("Echo", text="b"))
        stage.api.reply(text("done"))
        turn = await stage.turn()
        assert turn.transitions == ["next_turn", "fallback_model_retry", "next_turn"]
        assert [call.body["model"] for call in stage.api.calls][-2:] == [OTHER_MODEL] * 2  # for the rest of the turn
        assert "let me see" not in str(stage.api.calls[-1].messages)
        assert "I take over" in str(stage.api.calls[-1].messages)
        stage.api.reply(text("back"))
        await stage.turn("next")  # the endpoint would refuse a signature made by another model
        assert stage.api.calls[-1].body["model"] == "claude-opus-5"


async def test_safe_calls_of_a_withdrawn_answer_are_cancelled() -> None:  # L10
    gate = Gate()
    async with Stage(tools=[gate]) as stage:
        stage.api.cut(tool("Gate", text="first"), text("and more words to come"), at_event=10)
        stage.api.reply(text("without it"))
        turn = await stage.turn()
        assert turn.transitions == ["stream_retry"]
        assert gate.cancelled == ["first"]
        (stone,) = turn.of(Tombstone)
        shown = {m.uuid for m in turn.of(AssistantMessage) if m.uuid in stone.message_uuids}
        assert shown
        assert "Gate" not in str(stage.api.calls[-1].messages)


async def test_waits_between_retries_are_told_before_they_begin() -> None:  # Q5, M3
    async with Stage() as stage:
        stage.api.error(500)
        stage.api.error(429, retry_after=7)
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        told = turn.of(ApiRetry)
        assert [(retry.attempt, retry.status) for retry in told] == [(1, 500), (2, 429)]
        assert told[1].delay_ms == 7_000
        assert stage.clock.slept == [0.5, 7.0]
        assert turn.errors == []


async def test_a_surfaced_error_keeps_the_words_that_were_shown() -> None:  # L10
    async with Stage() as stage:
        for _ in range(11):
            stage.api.cut(text("half of ", "an answer"), at_event=3)
        turn = await stage.turn()
        assert turn.result.terminal == "model_error"
        assert [text_of(m.content) for m in turn.of(AssistantMessage) if not m.error] == ["half of "]
        stage.assert_reloads()


async def test_calls_of_an_answer_that_ends_the_turn_are_told_so_before_the_error_is_shown() -> None:  # L9
    gate = Gate()
    async with Stage(tools=[gate]) as stage:
        stage.api.reply(tool("Gate", id="toolu_g", text="x"), stop_reason="refusal")
        turn = await stage.turn()
        assert turn.result.terminal == "refusal"
        _, _, answered, error = stage.engine.messages
        assert isinstance(answered, UserMessage) and isinstance(error, AssistantMessage)
        assert answered.content == (tool_result_block("toolu_g", ENDED, is_error=True),)
        assert error.error == "refusal"


async def test_an_overflow_compacts_once_and_the_turn_goes_on_from_the_summary() -> None:  # C6, L7
    async with Stage(tools=[Reader(size=4_000)]) as stage:
        for number in range(6):
            stage.api.reply(tool("Read", text=f"file{number}"))
        stage.api.error(400, "prompt is too long: 210000 tokens > 200000 maximum")
        stage.api.when("about to be replaced", Reply(parts=(text("<summary>Read six files.</summary>"),)))
        stage.api.reply(tool("Read", text="file6"))
        stage.api.reply(text("done"))
        turn = await stage.turn("read them")
        assert turn.transitions == [*["next_turn"] * 6, "reactive_compact_retry", "next_turn"]
        (boundary,) = turn.of(CompactBoundary)
        assert (boundary.trigger, boundary.summary) == ("reactive", "Read six files.")
        assert "file0" not in str(stage.api.calls[-1].messages)
        assert "file0" in str(stage.engine.messages)


async def test_the_summarising_call_is_made_shorter_until_it_fits() -> None:  # C5
    async with Stage(tools=[Reader(size=4_000)]) as stage:
        for number in range(6):
            stage.api.reply(tool("Read", text=f"file{number}"))
        stage.api.error(400, "prompt is too long: 210000 tokens > 200000 maximum")
        too_long = "prompt is too long: 201000 tokens > 200000 maximum"
        stage.api.when(
            "about to be replaced", failure(400, too_long), Reply(parts=(text("<summary>Files.</summary>"),))
        )
        stage.api.reply(text("done"))
        turn = await stage.turn("read them")
        assert turn.result.terminal == "completed"
        asked = [len(call.messages) for call in stage.api.requests if "about to be replaced" in call.last_text]
        assert len(asked) == 2 and asked[1] < asked[0]


async def test_autocompact_stops_trying_after_three_failures(caplog: pytest.LogCaptureFixture) -> None:  # C5
    async with Stage(tools=[Echo()], limits=Limits(window=60_000, max_output=8_000)) as stage:
        stage.api.when("about to be replaced", *[Reply(parts=(text("<analysis>hm"),)) for _ in range(9)])
        for number in range(30):
            stage.api.reply(tool("Echo", text=f"{number} " * 1_400))
        stage.api.otherwise(Reply(parts=(text("done"),)))
        turn = await stage.turn()
        assert turn.result.terminal == "blocking_limit"
        assert sum("about to be replaced" in call.last_text for call in stage.api.calls) == 9  # each tried three times
        assert "/compact" in turn.result.result


async def test_a_summary_that_does_not_help_is_not_asked_for_again_and_again() -> None:  # C5
    async with Stage(tools=[Echo()], limits=Limits(window=60_000, max_output=8_000)) as stage:
        endless = f"<summary>{'word ' * 33_000}</summary>"
        stage.api.when("about to be replaced", *[Reply(parts=(text(endless, piece=100_000),)) for _ in range(3)])
        for number in range(24):
            stage.api.reply(tool("Echo", text=f"{number} " * 1_400))
        stage.api.otherwise(Reply(parts=(text("done"),)))
        turn = await stage.turn()
        assert turn.result.terminal in ("completed", "blocking_limit")
        assert 1 <= sum("about to be replaced" in call.last_text for call in stage.api.calls) <= 3


async def test_a_surfaced_overflow_keeps_the_words_and_an_earlier_one_takes_them_back() -> None:  # L7, L10
    async with Stage() as stage:
        stage.api.reply(text("first try"), stop_reason="model_context_window_exceeded")
        stage.api.when("about to be replaced", Reply(parts=(text("<summary>So far.</summary>"),)))
        stage.api.reply(text("second try"), stop_reason="model_context_window_exceeded")
        turn = await stage.turn()
        assert turn.result.terminal == "prompt_too_long"
        said = [text_of(m.content) for m in stage.engine.messages if isinstance(m, AssistantMessage) and not m.error]
        assert said == ["second try"]
        assert [stone.reason for stone in turn.of(Tombstone)] == ["reactive_compact_retry"]


async def test_an_abort_at_any_message_of_a_command_leaves_none_of_its_processes(tmp_path: Path) -> None:  # L14, T5
    """From the first message of the turn to the output of the running command; its children die with it."""
    seen: list[Message] = []
    ended: list[str] = []
    at = 0
    while not any(isinstance(message, ToolProgress) for message in seen):
        tools = ToolServices(workspace=DiskWorkspace())
        async with Stage(tools=[Bash()], cwd=str(tmp_path), services=tools, ahead=1) as stage:
            pids = tmp_path / f"pids{at}"
            command = f"(sleep 1000 & echo $! >> {pids}; sleep 1000 & echo $! >> {pids}; echo ready; wait)"
            stage.api.reply(text("Waiting."), tool("Bash", command=command))

            def stop(now: int, _message: Message, at: int = at, stage: Stage = stage) -> None:
                if now == at:
                    stage.engine.abort()

            turn = await stage.turn(on_message=stop)
            seen = turn.messages[: at + 1]
            ended.append(turn.result.terminal)
            with anyio.fail_after(WAIT):
                for pid in pids.read_text().split() if pids.exists() else ():
                    while alive(int(pid)):
                        await anyio.lowlevel.checkpoint()
            await stage.nothing_left_running()
            stage.api._script.clear()  # pyright: ignore[reportPrivateUsage] -- what an early abort did not ask for
            stage.api.reply(text("ok"))
            assert (await stage.turn()).result.terminal == "completed"
            at += 1
    assert (tmp_path / f"pids{at - 1}").read_text().split()  # the last round did stop running processes
    assert set(ended) == {"aborted_streaming", "aborted_tools"} and ended[-1] == "aborted_tools"


async def test_progress_is_shown_while_the_tool_still_runs() -> None:  # T2
    gate = Gate()
    async with Stage(tools=[gate, Change()]) as stage:
        stage.api.reply(tool("Gate", text="x"))
        stage.api.reply(text("ok"))

        def open_it(_at: int, message: Message) -> None:
            if isinstance(message, ToolProgress):
                gate.opened.set()

        turn = await stage.turn(on_message=open_it)
        kinds = turn.kinds
        assert kinds.index("tool_started") < kinds.index("tool_progress") < kinds.index("tool_finished")
        assert turn.of(ToolStarted)[0].title == "Gate x"


async def test_every_call_is_seen_to_end_also_one_that_never_ran() -> None:  # L9
    async def refuse(call: ToolCall) -> Verdict:
        return Deny(step="rules", reason="not here")

    async with Stage(tools=[Echo(), Change()], can_use_tool=refuse) as stage:
        stage.api.reply(tool("Echo", id="toolu_1", text="a"), tool("Nothing", id="toolu_2"))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        ended = {end.tool_use_id: (end.is_error, end.summary, end.duration_ms) for end in turn.of(ToolFinished)}
        assert ended["toolu_1"][:2] == (True, "not here")
        assert ended["toolu_2"][0] and ended["toolu_2"][2] == 0
        assert turn.of(ToolStarted) == []


async def test_a_call_is_answered_when_its_answer_ends_in_an_error_about_images() -> None:  # L7, L9
    """Nothing can be taken out, so the turn ends; no call may stay without a result."""
    gate = Gate()
    too_large = {"type": "invalid_request_error", "message": "image exceeds 5 MB maximum: 6 bytes > 5 bytes"}
    async with Stage(tools=[gate]) as stage:
        stage.api.add(Reply(parts=(tool("Gate", id="toolu_g", text="a"), text("words")), error=too_large))
        turn = await stage.turn()
        assert turn.result.terminal == "image_error"
        (answered,) = turn.of(UserMessage)
        assert answered.content == (tool_result_block("toolu_g", ENDED, is_error=True),)
        assert gate.cancelled == gate.log
