"""A re-read stub points only at a full result that is in the model's view now (C7), and what the model never saw does
not count as read."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from assent.context.microcompact import CLEARED
from assent.context.reread import result_in_view
from assent.context.tool_results import BATCH_CHARS
from assent.extensions.hooks import Hook, InProcessHooks
from assent.tools.edit import Edit
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.read import Read
from assent.tools.tool import AnyTool, SessionState, ToolServices
from assent.types.blocks import Json
from assent.types.hooks import HookCall, HookOutcome
from assent.types.messages import ConversationMessage, UserMessage
from enginekit import Echo, Stage
from enginekit.stage import Spills
from fakeapi import Limits, Reply, text, tool

STUB = "is unchanged since you last read it"


def reading(folder: Path, *more: AnyTool, **config: Any) -> Stage:
    services = ToolServices(workspace=DiskWorkspace(), spill=Spills())
    return Stage(tools=[Read(), Edit(), *more], cwd=str(folder), services=services, **config)


def results(messages: list[ConversationMessage]) -> dict[str, str]:
    return {
        str(block["tool_use_id"]): str(block["content"])
        for message in messages
        if isinstance(message, UserMessage)
        for block in message.content
        if block.get("type") == "tool_result"
    }


async def test_a_read_whose_answer_was_withdrawn_is_not_pointed_at(tmp_path: Path) -> None:  # C7, L10
    (tmp_path / "a.txt").write_text("the fact\n")
    async with reading(tmp_path) as stage:
        stage.api.cut(tool("Read", id="toolu_1", file_path="a.txt"), text("and more words to come"), at_event=10)
        stage.api.reply(tool("Read", id="toolu_2", file_path="a.txt"))
        stage.api.reply(text("done"))
        turn = await stage.turn()
        assert turn.transitions == ["stream_retry", "next_turn"]
        assert results(stage.engine.messages) == {"toolu_2": "     1→the fact"}


async def test_a_file_read_only_by_a_withdrawn_answer_must_be_read_before_it_is_changed(tmp_path: Path) -> None:  # T3
    (tmp_path / "a.txt").write_text("the fact\n")
    async with reading(tmp_path) as stage:
        stage.api.cut(tool("Read", id="toolu_1", file_path="a.txt"), text("and more words to come"), at_event=10)
        stage.api.reply(tool("Edit", id="toolu_2", file_path="a.txt", old_string="the", new_string="a"))
        stage.api.reply(text("done"))
        await stage.turn()
        assert "has not been read yet" in results(stage.engine.messages)["toolu_2"]
    assert (tmp_path / "a.txt").read_text() == "the fact\n"


async def test_a_result_that_the_batch_cap_shortened_is_not_pointed_at(tmp_path: Path) -> None:  # C7, C1
    line = "x" * 99 + "\n"
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(line * 900)
    async with reading(tmp_path) as stage:
        stage.api.reply(*(tool("Read", id=f"toolu_{name}", file_path=name) for name in ("a", "b", "c")))
        stage.api.reply(*(tool("Read", id=f"again_{name}", file_path=name) for name in ("a", "b", "c")))
        stage.api.reply(text("done"))
        await stage.turn()
        found = results(stage.engine.messages)
        for name in ("a", "b", "c"):
            whole = found[f"toolu_{name}"].count("→") == 900
            assert (STUB in found[f"again_{name}"]) == whole
        assert sum(len(content) for content in found.values()) < 2 * BATCH_CHARS
        assert any(STUB in found[f"again_{name}"] for name in "abc")  # a whole one is still pointed at
        assert any(STUB not in found[f"again_{name}"] for name in "abc")


async def test_two_reads_of_one_file_in_one_answer_both_show_it(tmp_path: Path) -> None:  # C7
    (tmp_path / "a.txt").write_text("the fact\n")
    async with reading(tmp_path) as stage:
        stage.api.reply(
            tool("Read", id="toolu_1", file_path="a.txt"),
            tool("Read", id="toolu_2", file_path="a.txt"),
        )
        stage.api.reply(text("done"))
        await stage.turn()
        assert set(results(stage.engine.messages).values()) == {"     1→the fact"}


async def test_a_prompt_that_a_hook_blocked_leaves_no_file_marked_as_read(tmp_path: Path) -> None:  # C7, T3
    (tmp_path / "a.txt").write_text("the fact\n")
    blocking = True

    async def guard(call: HookCall) -> HookOutcome:
        return HookOutcome(status="blocked", text="not now") if blocking else HookOutcome()

    hooks = InProcessHooks((Hook(event="UserPromptSubmit", run=guard),))
    async with reading(tmp_path, hooks=hooks) as stage:
        assert (await stage.turn("see @a.txt")).result.terminal == "hook_stopped"
        blocking = False
        stage.api.reply(tool("Edit", id="toolu_1", file_path="a.txt", old_string="the", new_string="a"))
        stage.api.reply(tool("Read", id="toolu_2", file_path="a.txt"))
        stage.api.reply(text("done"))
        await stage.turn("go")
        found = results(stage.engine.messages)
        assert "has not been read yet" in found["toolu_1"]
        assert found["toolu_2"] == "     1→the fact"


async def test_a_mentioned_file_that_is_still_in_view_is_not_sent_again(tmp_path: Path) -> None:  # C7, L11
    (tmp_path / "a.txt").write_text("the fact\n")
    async with reading(tmp_path) as stage:
        stage.api.reply(tool("Read", id="toolu_1", file_path="a.txt"))
        for _ in range(2):
            stage.api.reply(text("done"))
        await stage.turn("see @a.txt")
        assert STUB in results(stage.engine.messages)["toolu_1"]  # the mention shows it
        await stage.turn("and @a.txt again")
        assert str(stage.api.calls[-1].messages).count("1→the fact") == 1


async def test_a_stub_goes_with_the_result_that_it_points_at(tmp_path: Path) -> None:  # C7, C3
    (tmp_path / "a.txt").write_text("a long line of facts\n" * 1_000)
    for number in range(4):
        (tmp_path / f"b{number}.txt").write_text("short\n")
    async with reading(tmp_path, limits=Limits(window=60_000, max_output=8_000)) as stage:
        for call in ("toolu_1", "toolu_2"):
            stage.api.reply(tool("Read", id=call, file_path="a.txt"))
        for number in range(4):
            stage.api.reply(tool("Read", id=f"toolu_b{number}", file_path=f"b{number}.txt"))
        for _ in range(2):
            stage.api.reply(text("done"))
        await stage.turn()
        assert STUB in results(stage.engine.messages)["toolu_2"]
        assert STUB in str(stage.api.calls[-1].tool_results["toolu_2"]["content"])  # while it is in view
        stage.engine._conversation.window.last_call = None  # the cache is cold: old results are cleared
        await stage.turn("and now?")
        last = stage.api.calls[-1].tool_results
        assert {call: last[call]["content"] for call in ("toolu_1", "toolu_2")} == dict.fromkeys(
            ("toolu_1", "toolu_2"), CLEARED
        )


async def test_a_stub_goes_with_a_result_that_was_snipped_also_in_a_resumed_session(tmp_path: Path) -> None:  # C7, C2
    (tmp_path / "a.txt").write_text("the fact\n")
    async with reading(tmp_path) as stage:
        for call in ("toolu_1", "toolu_2"):
            stage.api.reply(tool("Read", id=call, file_path="a.txt"))
        stage.api.reply(text("done"))
        await stage.turn()
        call = next(m for m in stage.engine.messages if "toolu_1" in str(m))
        resumed = stage.new_engine(messages=stage.engine.messages, snipped=frozenset({call.uuid}))
        stage.engine.snip({call.uuid})
        for engine in (stage.engine, resumed):
            stage.api.reply(text("done"))
            await stage.turn("and now?", engine=engine)
            last = stage.api.calls[-1].tool_results
            assert "toolu_1" not in last and last["toolu_2"]["content"] == CLEARED


def shows(stage_messages: list[Json], content: str) -> bool:
    """Whether this very content is in what the endpoint was sent: as a result, or beside a mention."""
    for message in stage_messages:
        for block in message["content"]:
            if block.get("type") == "text" and block["text"] == content:
                return True
            if block.get("type") == "tool_result":
                parts = block["content"]
                texts = [parts] if isinstance(parts, str) else [part.get("text") for part in parts]
                if content in texts:
                    return True
    return False


async def test_whatever_happened_before_a_stub_stands_for_content_the_model_can_see(tmp_path: Path) -> None:  # C7
    """Random reads, mentions, changes, cut answers, caps, snips, clearings and compactions; every stub is checked
    against the very request that the call came from."""
    await _random_seeds(tmp_path, 3)


@pytest.mark.torture
@pytest.mark.timeout(0)
async def test_whatever_happened_before_a_stub_for_many_seeds(tmp_path: Path) -> None:  # C7
    await _random_seeds(tmp_path, 20_000)


async def _random_seeds(folder: Path, count: int) -> None:
    """ASSENT_SEED is the first one, ASSENT_SEEDS how many."""
    first = int(os.environ.get("ASSENT_SEED", "0"))
    seeds = range(first, first + int(os.environ.get("ASSENT_SEEDS", str(count))))
    stubs = 0
    for seed in seeds:
        (folder / str(seed)).mkdir()
        stubs += await _random_reads(folder / str(seed), random.Random(seed))
        shutil.rmtree(folder / str(seed))
    assert stubs >= len(seeds)  # stubs are given: what was checked did happen


async def _random_reads(folder: Path, chance: random.Random) -> int:
    names = [f"f{number}.txt" for number in range(4)]
    contents = {name: f"{name} version 0\n" * chance.choice((1, 300)) for name in names}
    for name, content in contents.items():
        (folder / name).write_text(content)
    state = SessionState(cwd=str(folder))
    stubs = 0
    async with reading(folder, Echo(), state=lambda: state, limits=Limits(window=60_000, max_output=8_000)) as stage:
        stage.api.when("about to be replaced", *[Reply(parts=(text("<summary>So far.</summary>"),))] * 30)
        for step in range(18):
            name = chance.choice(names)
            call = f"toolu_{step}"
            prompt = "go"
            match chance.randrange(8):
                case 0:
                    contents[name] = f"{name} version {step + 1}\n" * chance.choice((1, 300))
                    (folder / name).write_text(contents[name])
                    continue
                case 1:
                    reads = tool("Read", id=f"{call}x", file_path=name)
                    stage.api.cut(reads, text("and more words to come"), at_event=chance.choice((4, 8, 10)))
                case 2:
                    stage.engine.snip({m.uuid for m in stage.engine.messages if chance.random() < 0.3})
                case 3:
                    stage.api.reply(tool("Echo", id=f"{call}e", text="y" * 30_000))
                case 4:
                    stage.engine._conversation.window.last_call = None  # the cache is cold: old results are cleared
                case 5:
                    prompt = f"see @{name}"
                case _:
                    pass
            stage.api.reply(tool("Read", id=call, file_path=name))
            stage.api.reply(text("done"))
            await stage.turn(prompt)
            if STUB in results(stage.engine.messages).get(call, ""):
                stubs += 1
                numbered = "\n".join(f"{at:>6}→{line}" for at, line in enumerate(contents[name].splitlines(), 1))
                assert shows(stage.api.calls[-2].messages, numbered), f"step {step}: {name} is not in view"
        stage.api.forget()
    return stubs


def test_a_result_the_endpoint_cleared_is_not_in_view() -> None:  # C3, C7
    view = (UserMessage(uuid="u", content=({"type": "tool_result", "tool_use_id": "t", "content": "words"},)),)
    assert result_in_view(view, "t") == "words"
    assert result_in_view(view, "t", cleared={"t"}) is None
    assert result_in_view(view, "other") is None
