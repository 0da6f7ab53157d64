"""Slash commands answered locally, and what they change (Q7)."""

from __future__ import annotations

from typing import Any

from assent.extensions.commands import BUILT_IN
from assent.tools.tool import SessionState
from assent.types.messages import (
    CompactBoundary,
    SystemInit,
)
from enginekit import Echo, Stage
from enginekit.invariants import reloaded
from enginekit.stage import OTHER_MODEL
from fakeapi import Reply, text


async def test_local_commands_answer_without_a_model_call() -> None:  # Q7
    async with Stage(tools=[Echo()], commands=BUILT_IN) as stage:
        for prompt, words in [
            ("/help", "/compact [what to keep in mind]"),
            ("/cost", "$0.0000"),
            ("/context", "compaction at"),
            ("/status", "model: claude-opus-4-8"),
            ("/model", "The model is claude-opus-4-8."),
            ("/mode nonsense", "There is no mode 'nonsense'"),
        ]:
            turn = await stage.turn(prompt)
            assert turn.kinds == ["system/init", "assistant", "result"]
            assert words in turn.result.result
            assert turn.result.subtype == "success"
        assert stage.api.calls == []
        assert stage.engine.messages == []


async def test_commands_change_model_and_mode_for_the_turns_to_come() -> None:
    state = SessionState(cwd="/project")
    async with Stage(commands=BUILT_IN, state=lambda: state) as stage:
        await stage.turn(f"/model {OTHER_MODEL}")
        await stage.turn("/mode acceptedits")
        assert state.mode == "acceptEdits"
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        init = turn.of(SystemInit)[0]
        assert (init.model, init.permission_mode) == (OTHER_MODEL, "acceptEdits")


async def test_set_app_state_is_the_way_the_mode_is_changed() -> None:  # Q2 get/set_app_state
    state = SessionState(cwd="/project")
    changed: list[str] = []

    def change(f: Any) -> None:
        changed.append("asked")
        f(state)

    async with Stage(commands=BUILT_IN, state=lambda: state, set_state=change) as stage:
        await stage.turn("/mode plan")
        assert (state.mode, changed) == ("plan", ["asked"])


async def test_clear_forgets_the_conversation_and_the_transcript_keeps_it() -> None:
    async with Stage(commands=BUILT_IN) as stage:
        stage.api.reply(text("noted"))
        await stage.turn("my name is Ada")
        await stage.turn("/clear")
        stage.api.reply(text("who?"))
        await stage.turn("what is my name?")
        assert "Ada" not in str(stage.api.calls[1].messages)
        assert "Ada" in str(stage.engine.messages)
        stage.assert_reloads()
        resumed = stage.new_engine(messages=reloaded(stage.transcript.written))
        stage.api.reply(text("who?"))
        await stage.turn("and now?", engine=resumed)
        assert "Ada" not in str(stage.api.calls[2].messages)


async def test_compact_by_hand_summarises_with_the_users_instructions() -> None:  # C5
    async with Stage(tools=[Echo()], commands=BUILT_IN) as stage:
        stage.api.reply(text("noted"))
        await stage.turn("my name is Ada")
        stage.api.when("keep the name", Reply(parts=(text("<summary>The user is Ada.</summary>"),)))
        turn = await stage.turn("/compact keep the name")
        assert turn.kinds == ["system/init", "system/compacting", "system/compact_boundary", "assistant", "result"]
        (boundary,) = turn.of(CompactBoundary)
        assert (boundary.trigger, boundary.summary) == ("manual", "The user is Ada.")
        assert boundary.tokens_before > 0
        stage.api.reply(text("Ada"))
        await stage.turn("what is my name?")
        sent = stage.api.calls[-1]
        assert "The user is Ada." in str(sent.messages)
        assert "noted" not in str(sent.messages)
        assert "Ada" in str(stage.engine.messages[0])
        summarising = stage.api.calls[1]
        assert summarising.body["system"] == stage.api.calls[0].body["system"]  # the same cached prefix
        assert [t["name"] for t in summarising.body["tools"]] == [t["name"] for t in stage.api.calls[0].body["tools"]]
