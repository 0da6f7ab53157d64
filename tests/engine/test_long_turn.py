"""A turn far longer than the window: every reduction takes its part, and the work still ends well (L4, C1–C8)."""

from __future__ import annotations

import re

from assent.context.microcompact import CLEARED
from assent.tools.tool import AnyTool
from assent.types.blocks import Json
from assent.types.messages import Attachment, Collapsed, CompactBoundary, Notice, Tombstone
from enginekit import Change, Echo, Long, Reader, Stage
from enginekit.stage import MODEL
from fakeapi import Answer, Limits, Reply, Request, failure, text, tool

WINDOW = Limits(window=60_000, max_output=8_000)
STEPS = 200


async def test_two_hundred_steps_in_a_small_window_pass_through_every_reduction_and_complete() -> (
    None
):  # L4, C2, C3, C4, C5
    tools: list[AnyTool] = [Reader(size=3_000), Echo(), Long()]
    async with Stage(
        tools=tools, limits=WINDOW, verbose=True, background_calls=frozenset({"collapse"}), max_turns=400
    ) as stage:
        step = 0

        def answer(request: Request) -> Answer:
            nonlocal step
            said = str(request.messages[-1]["content"])
            if "about to be replaced by a summary" in said:
                return Reply(parts=(text(f"<analysis>…</analysis><summary>Step {step} is done.</summary>"),))
            if "finished stretch" in said:
                return failure(529) if step > 120 else Reply(parts=(text("Read some files; nothing stood out."),))
            offered = re.search(r"let go of them with Snip by number:\n(\d+)", said.replace("\\n", "\n"))
            if offered is not None:
                return Reply(parts=(tool("Snip", {"numbers": [1, 2, 3]}),))
            step += 1
            if step > STEPS:
                return Reply(parts=(text("All two hundred steps are done."),))
            if step % 50 == 7:
                return Reply(parts=(tool("Long", text=str(step)),))
            if step % 2:
                return Reply(parts=(text(f"Step {step}."), tool("Echo", text=f"note {step} " * 150)))
            return Reply(parts=(text(f"Step {step}."), tool("Read", text=f"file {step}")))

        stage.api.otherwise(answer)
        turn = await stage.turn("Read two hundred files.")

        assert turn.result.terminal == "completed"
        assert turn.result.result == "All two hundred steps are done."
        assert set(turn.transitions) == {"next_turn"}

        notices = " ".join(notice.text for notice in turn.of(Notice))
        assert "snip freed" in notices
        assert "microcompact freed" in notices
        assert "collapse freed" in notices
        assert [b.trigger for b in turn.of(CompactBoundary)] != []
        assert {b.trigger for b in turn.of(CompactBoundary)} == {"auto"}
        assert [stone.reason for stone in turn.of(Tombstone)] and {s.reason for s in turn.of(Tombstone)} == {"snip"}
        assert len(stage.spills.files) == 4  # C1: each long result is in a file, whole
        assert all(content.endswith("line 4999") for content in stage.spills.files.values())

        requests = [call for call in stage.api.calls if call.body["model"] == "claude-opus-4-8"]
        assert any(CLEARED in str(call.messages) for call in requests)
        assert any("Earlier work, summarised" in str(call.messages) for call in requests)
        assert all(call.cache is not None and call.cache.total < WINDOW.window for call in requests)

        history = stage.engine.messages
        results = [m for m in history if m.type == "user" and not m.is_meta]
        assert len(results) >= STEPS  # people see all of it: nothing was cleared from the history
        assert not any(CLEARED in str(message) for message in history)
        assert any(isinstance(m, Attachment) and m.kind == "context_full" for m in history)
        stage.assert_reloads()


def accounted_for(messages: list[Json]) -> set[int]:
    """The steps that these messages tell of: by the words beside a call, or by a summary."""
    said = str(messages)
    known = {int(number) for number in re.findall(r"Step (\d+)\.", said)}
    for first, last in re.findall(r"Steps (\d+) to (\d+) are done", said):
        known |= set(range(int(first), int(last) + 1))
    return known


def runs(numbers: set[int]) -> str:
    """The same as words of a summary, a range for each stretch without gaps."""
    starts = sorted(number for number in numbers if number - 1 not in numbers)
    ends = sorted(number for number in numbers if number + 1 not in numbers)
    return " ".join(f"Steps {first} to {last} are done." for first, last in zip(starts, ends, strict=True))


async def test_five_hundred_steps_with_collapse_on_are_each_done_once_and_never_forgotten() -> None:  # C4, C6, L4
    """The model knows only what its request says; a step that no request tells of would be done again."""
    steps, prompt = 500, "Do five hundred steps, in order."
    change = Change()
    small = Limits(window=40_000, max_output=8_000)
    async with Stage(
        tools=[change, Reader(size=3_000)], limits=small, verbose=True, background_calls=frozenset({"collapse"})
    ) as stage:

        def answer(request: Request) -> Answer:
            said = str(request.messages[-1]["content"])
            known = accounted_for(request.messages)
            if "about to be replaced by a summary" in said:
                return Reply(parts=(text(f"<summary>{runs(known)}</summary>"),))
            if "finished stretch" in said:
                return Reply(parts=(text(runs(known)),))
            assert prompt in str(request.messages)
            step = next(number for number in range(1, steps + 2) if number not in known)
            if step > steps:
                return Reply(parts=(text("All of it is done."),))
            name, words = ("Change", f"{step} " + "word " * 300) if step % 3 else ("Read", str(step))
            return Reply(parts=(text(f"Step {step}."), tool(name, text=words)))

        stage.api.otherwise(answer)
        turn = await stage.turn(prompt)
        assert (turn.result.terminal, turn.result.result) == ("completed", "All of it is done.")
        done = [int(words.split()[0]) for words in change.log]
        assert done == [number for number in range(1, steps + 1) if number % 3]
        asked = [call for call in stage.api.calls if call.body["model"] == MODEL]
        assert any("Earlier work, summarised" in str(call.messages) for call in asked)
        assert all(call.cache is not None and call.cache.total < small.window for call in asked)
        assert len(turn.of(Collapsed)) > 10
        stage.assert_reloads()


async def test_over_a_twenty_step_turn_the_prefix_is_read_from_cache() -> None:  # M6, Q8
    async with Stage(tools=[Reader(size=2_000), Echo()]) as stage:
        for number in range(19):
            stage.api.reply(text(f"step {number}"), tool("Read", text=f"a{number}"), tool("Echo", text="b"))
        stage.api.reply(text("done"))
        turn = await stage.turn("twenty steps, please")
        assert turn.result.num_turns == 20
        assert stage.api.cache_share() >= 0.95
        used = turn.result.usage
        assert used.cache_read_input_tokens > 10 * used.input_tokens
