"""The system prompt in layers, and the contexts around it: frozen, in parallel, never waited for (Q8, Q12)."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from assent.extensions.commands import BUILT_IN
from assent.extensions.memory import MemoryFile
from assent.types.messages import (
    Attachment,
    SystemInit,
)
from enginekit import Echo, Stage
from enginekit.stage import WAIT
from fakeapi import Reply, text


class Notes:
    """A memory source: quick, slow or broken."""

    def __init__(self, *files: MemoryFile, gate: anyio.Event | None = None, broken: bool = False) -> None:
        self.files = list(files)
        self.gate = gate
        self.broken = broken

    async def load(self, cwd: str) -> list[MemoryFile]:
        if self.gate is not None:
            await self.gate.wait()
        if self.broken:
            raise OSError("the disk is gone")
        return self.files

    async def nested(self, path: str, cwd: str) -> list[MemoryFile]:
        return []


NOTE = MemoryFile(path="/project/ASSENT.md", text="Use tabs.", scope="project")


async def test_prompt_layers_come_in_order_and_contexts_go_around_them() -> None:  # Q8
    async def git() -> str:
        return "On branch main, clean."

    async with Stage(
        memory=Notes(NOTE),
        custom_system_prompt="You are a pirate.",
        append_system_prompt="Be brief.",
        system_context=git,
    ) as stage:
        stage.api.reply(text("arr"))
        await stage.turn("hello")
        call = stage.api.calls[0]
        layers = [part["text"] for part in call.body["system"]]
        assert layers[0] == "You are a pirate."
        assert layers[1].startswith("# Memory")
        assert layers[2:] == ["Be brief.", "On branch main, clean."]
        first, prompt = call.messages[0]["content"]
        assert "Use tabs." in first["text"] and "/project" in first["text"] and "Today is" in first["text"]
        assert prompt["text"] == "hello"


async def test_contexts_are_frozen_until_a_compaction() -> None:  # Q8
    status = ["clean"]

    async def git() -> str:
        return f"git: {status[0]}"

    notes = Notes(NOTE)
    async with Stage(memory=notes, system_context=git, commands=BUILT_IN) as stage:
        stage.api.reply(text("a"))
        await stage.turn("one")
        status[0] = "dirty"
        notes.files = [replace(NOTE, text="Use spaces.")]
        stage.api.reply(text("b"))
        await stage.turn("two")
        one, two = stage.api.calls
        assert one.body["system"] == two.body["system"]
        assert one.messages[0]["content"][0]["text"] == two.messages[0]["content"][0]["text"]
        stage.api.when("about to be replaced", Reply(parts=(text("<summary>ab</summary>"),)))
        await stage.turn("/compact")
        stage.api.reply(text("c"))
        await stage.turn("three")
        assert "git: dirty" in str(stage.api.calls[-1].body["system"])
        assert "Use spaces." in str(stage.api.calls[-1].messages)


async def test_a_slow_memory_source_does_not_hold_up_the_turn_and_arrives_later() -> None:  # Q12
    gate = anyio.Event()
    async with Stage(memory=Notes(NOTE, gate=gate), source_seconds=0.01) as stage:
        stage.api.reply(text("ok"))
        await stage.turn("one")
        assert "Use tabs." not in str(stage.api.calls[0].body)
        gate.set()
        with anyio.fail_after(WAIT):
            while stage.engine._conversation.background.running:
                await anyio.lowlevel.checkpoint()
        stage.api.reply(text("ok"))
        turn = await stage.turn("two")
        assert [a.kind for a in turn.of(Attachment)] == ["memory"]
        assert "Use tabs." in stage.api.calls[1].last_text


async def test_a_broken_memory_source_is_left_out(caplog: pytest.LogCaptureFixture) -> None:  # Q12
    async with Stage(memory=Notes(broken=True)) as stage:
        stage.api.reply(text("ok"))
        assert (await stage.turn()).result.terminal == "completed"


async def test_without_a_person_the_prompt_says_so_and_questions_are_not_offered() -> None:  # Q2 interactive
    from assent.tools.ask_user_question import AskUserQuestion

    async with Stage(tools=[Echo(), AskUserQuestion()], interactive=False) as stage:
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert "AskUserQuestion" not in turn.of(SystemInit)[0].tools
        assert "Nobody is there" in str(stage.api.calls[0].body["system"])
