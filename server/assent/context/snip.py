"""Snip: spans that the model or the user marked as no longer needed leave the view, not the transcript (C2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from assent.context.tokens import estimate_all, estimate_content
from assent.context.view import Reduced, without
from assent.types.blocks import Block
from assent.types.messages import AssistantMessage, ConversationMessage, UserMessage

LISTED = 12
WORTH_TOKENS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippable:
    """One tool result that could go: the call's message, what it was, and how big."""

    uuid: str
    tool_use_id: str
    label: str
    tokens: int


def snip(view: Sequence[ConversationMessage], marked: Collection[str]) -> Reduced:
    """Take the marked messages out, with the other halves of their calls."""
    if not marked or not any(message.uuid in marked for message in view):
        return Reduced(view=tuple(view))
    smaller = without(view, marked)
    freed = max(0, estimate_all(view) - estimate_all(smaller))
    return Reduced(view=smaller, freed=freed, changed=True)


def snippable(view: Sequence[ConversationMessage]) -> list[Snippable]:
    """The largest tool results in view, in the order they came: what is worth marking. The newest step is left out."""
    sizes: dict[str, int] = {}
    for message in view:
        if isinstance(message, UserMessage):
            for block in message.content:
                if block.get("type") == "tool_result":
                    sizes[str(block.get("tool_use_id"))] = estimate_content(block.get("content"))
    newest = next((m.message_id for m in reversed(view) if isinstance(m, AssistantMessage)), "")
    found: list[Snippable] = []
    for message in view:
        if isinstance(message, AssistantMessage) and message.message_id != newest:
            for block in message.content:
                size = sizes.get(str(block.get("id")), 0)
                if block.get("type") == "tool_use" and size >= WORTH_TOKENS:
                    found.append(
                        Snippable(uuid=message.uuid, tool_use_id=str(block["id"]), label=_label(block), tokens=size)
                    )
    largest = sorted(found, key=lambda each: each.tokens, reverse=True)[:LISTED]
    return [each for each in found if each in largest]


def _label(block: Block) -> str:
    arguments: object = block.get("input")
    values = cast("Mapping[str, object]", arguments).values() if isinstance(arguments, Mapping) else ()
    first = next((value for value in values if isinstance(value, str) and value), "")
    return f"{block.get('name')} {first.partition(chr(10))[0][:80]}".strip()
