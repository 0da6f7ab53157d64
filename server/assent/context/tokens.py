"""Counting tokens without asking: the last real usage, plus an estimate of what came after it (M8).

An estimate is 3.3 bytes a token. Older models make about one of four bytes, those since 4.7 about one of three: better
to think the window fuller than it is than to be refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, cast

from assent.types.blocks import Block
from assent.types.messages import AssistantMessage, CompactBoundary, ConversationMessage

BYTES_PER_TOKEN = 3.3
MEDIA_TOKENS = 1_600  # an image of the size models are sent; a document page costs about the same
OVERHEAD = 6  # of a block or a message around its text


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A count the API gave: everything in the view up to the end of this answer."""

    message_id: str
    tokens: int
    freed: int = 0  # by reductions since


def count(view: Sequence[ConversationMessage], anchor: Anchor | None, *, overhead: int = 0) -> int:
    """How many tokens a request with this view will hold. `overhead` is for system and tools when nothing is known."""
    if anchor is None:
        return overhead + estimate_all(view)
    after = 0
    for message in reversed(view):
        if isinstance(message, AssistantMessage) and message.message_id == anchor.message_id:
            return max(0, anchor.tokens - anchor.freed) + after
        after += estimate(message)
    return overhead + after


def estimate_all(messages: Iterable[ConversationMessage]) -> int:
    return sum(estimate(message) for message in messages)


def estimate(message: ConversationMessage) -> int:
    if isinstance(message, AssistantMessage) and message.error is not None:
        return 0  # never sent
    if isinstance(message, CompactBoundary):
        return OVERHEAD + estimate_text(message.summary) + sum(estimate_block(block) for block in message.kept)
    return sum(estimate_block(block) for block in message.content)


def estimate_block(block: Block) -> int:
    match block.get("type"):
        case "text":
            return OVERHEAD + estimate_text(str(block.get("text", "")))
        case "image" | "document":
            return MEDIA_TOKENS
        case "tool_result":
            return OVERHEAD + estimate_content(block.get("content", ""))
        case "thinking":
            return OVERHEAD + estimate_text(str(block.get("thinking", "")) + str(block.get("signature", "")))
        case _:
            return OVERHEAD + estimate_json(block)


def estimate_content(content: object) -> int:
    if isinstance(content, str):
        return estimate_text(content)
    if isinstance(content, Sequence):
        return sum(estimate_block(block) for block in cast("Sequence[Block]", content))
    return 0


def estimate_text(text: str) -> int:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return ceil(size / BYTES_PER_TOKEN)


def estimate_json(value: object) -> int:
    return int(_size(value) / BYTES_PER_TOKEN)


def _size(value: object) -> int:
    """About as many bytes as the JSON of it."""
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value)
        return 2 + sum(len(key) + 4 + _size(item) for key, item in items.items())
    if isinstance(value, list | tuple):
        return 2 + sum(1 + _size(item) for item in cast("Sequence[Any]", value))
    return 5
