"""What holds after every turn, however it ended (Q3, L9, L14, S1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assent.engine.pairing import repaired
from assent.types import codec
from assent.types.messages import (
    AssistantMessage,
    Attachment,
    CompactBoundary,
    ConversationMessage,
    Message,
    Result,
    SystemInit,
    Tombstone,
    UserMessage,
)


def assert_turn_valid(messages: Sequence[Message]) -> Result:
    """Exactly one init, first; exactly one result, last."""
    kinds = [message.type for message in messages]
    assert isinstance(messages[0], SystemInit), kinds
    assert kinds.count("system/init") == 1, kinds
    result = messages[-1]
    assert isinstance(result, Result), kinds
    assert kinds.count("result") == 1, kinds
    for message in messages:
        assert codec.from_json(codec.to_json(message)) == message
    return result


def assert_conversation_valid(messages: Sequence[ConversationMessage]) -> None:
    """Every tool_use has exactly one result, right after its answer; nothing would have to be repaired."""
    assert repaired(messages) == list(messages)
    uses = Counter(
        block["id"]
        for message in messages
        if isinstance(message, AssistantMessage)
        for block in message.content
        if block.get("type") == "tool_use"
    )
    results = Counter(
        block["tool_use_id"]
        for message in messages
        if isinstance(message, UserMessage)
        for block in message.content
        if block.get("type") == "tool_result"
    )
    assert uses == results
    assert all(count == 1 for count in uses.values())


def reloaded(written: Sequence[Message]) -> list[ConversationMessage]:
    """The conversation a transcript gives back: in order, without what was withdrawn."""
    kept: dict[str, ConversationMessage] = {}
    for message in written:
        again = codec.from_json(codec.to_json(message))
        match again:
            case UserMessage() | AssistantMessage() | Attachment() | CompactBoundary():
                kept[again.uuid] = again
            case Tombstone() if again.reason != "snip":
                for uuid in again.message_uuids:
                    kept.pop(uuid, None)
            case _:
                pass
    return list(kept.values())
