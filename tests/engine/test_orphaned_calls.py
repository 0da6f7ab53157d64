"""Calls whose question was open when their process ended: run, refused or decided, each once, in one batch (Q11)."""

from __future__ import annotations

from typing import Any

from assent.engine.conversation_past import OrphanedPermission, OrphanOutcome
from assent.types.blocks import text_block
from assent.types.messages import AssistantMessage, ConversationMessage, ToolFinished, ToolStarted, UserMessage
from enginekit import Change, Stage
from enginekit.stage import MODEL
from fakeapi import text


def left(*calls: str) -> list[ConversationMessage]:
    uses = tuple({"type": "tool_use", "id": call, "name": "Change", "input": {"text": call}} for call in calls)
    return [
        UserMessage(uuid="u", content=(text_block("change it"),)),
        AssistantMessage(uuid="a", message_id="m", model=MODEL, content=uses),
    ]


def orphan(call: str, **more: Any) -> OrphanedPermission:
    return OrphanedPermission(tool_use_id=call, tool="Change", input={"text": call}, **more)


async def landed() -> OrphanOutcome:
    return OrphanOutcome(text="2 of 3 hunks were accepted.", made=True)


async def refused() -> OrphanOutcome:
    return OrphanOutcome(text="The user rejected it.", made=False)


async def test_edits_that_were_decided_meanwhile_are_not_made_again_and_what_waits_is_run() -> None:
    change = Change()
    async with Stage(tools=[change]) as stage:
        orphans = (
            orphan("toolu_1", outcome=landed),
            orphan("toolu_2"),
            orphan("toolu_3", outcome=refused),
            orphan("toolu_9"),  # of an answer that is not there
        )
        engine = stage.new_engine(messages=left("toolu_1", "toolu_2", "toolu_3"), orphans=orphans)
        stage.api.reply(text("I see."))
        turn = await stage.turn("go on", engine=engine)
        assert change.log == ["toolu_2"]
        results = stage.api.calls[0].tool_results
        assert {call: (block["content"], bool(block.get("is_error"))) for call, block in results.items()} == {
            "toolu_1": ("2 of 3 hunks were accepted.", False),
            "toolu_2": ("Change: toolu_2", False),
            "toolu_3": ("The user rejected it.", True),
        }
        assert [(d.tool_use_id, d.tool_name, d.tool_input) for d in turn.result.permission_denials] == [
            ("toolu_3", "Change", {"text": "toolu_3"})
        ]
        kinds = [message.type for message in turn.messages]
        assert kinds[0] == "system/init" and kinds.index("tool_started") < kinds.index("request_start")
        assert [m.tool_use_id for m in turn.of(ToolStarted)] == ["toolu_2"]
        assert "toolu_2" in [m.tool_use_id for m in turn.of(ToolFinished)]
        answers = [m for m in engine.messages if isinstance(m, UserMessage) and "tool_result" in str(m.content)]
        assert len(answers) == 1  # in one batch


async def test_without_a_call_that_waits_nothing_is_asked_or_run() -> None:
    change = Change()
    async with Stage(tools=[change]) as stage:
        engine = stage.new_engine(orphans=(orphan("toolu_1"), orphan("toolu_2", outcome=landed)))
        stage.api.reply(text("Hello."))
        turn = await stage.turn("hello", engine=engine)
        assert change.log == [] and turn.of(ToolStarted) == [] and stage.api.calls[0].tool_results == {}
