"""Snip: spans that the model or the user marked as no longer needed leave the view, not the transcript (C2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from assent.context.tokens import estimate_all, estimate_block, estimate_content
from assent.context.view import THINKING, Reduced, without
from assent.text.words import one_line
from assent.types.blocks import Block, text_of
from assent.types.messages import AssistantMessage, Attachment, CompactBoundary, ConversationMessage, UserMessage

LISTED = 12
WORTH_TOKENS = 500
LEAST_TOKENS = 50  # smaller ones are not listed for people


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


def largest(view: Sequence[ConversationMessage], most: int = 15) -> list[Snippable]:
    """What a person could take out: calls with their results, prompts, answers, attachments; the largest first."""
    sizes: dict[str, int] = {}
    for message in view:
        if isinstance(message, UserMessage):
            for block in message.content:
                if block.get("type") == "tool_result":
                    sizes[str(block.get("tool_use_id"))] = estimate_block(block)
    found: list[Snippable] = []
    for message in view:
        if isinstance(message, CompactBoundary) or (
            isinstance(message, AssistantMessage) and message.error is not None
        ):
            continue
        call = next((block for block in message.content if block.get("type") == "tool_use"), None)
        id = str(call["id"]) if call is not None else ""
        if isinstance(message, UserMessage) and any(block.get("type") == "tool_result" for block in message.content):
            continue  # counted with its call
        tokens = estimate_all((message,)) + sizes.get(id, 0)
        if tokens >= LEAST_TOKENS:
            found.append(Snippable(uuid=message.uuid, tool_use_id=id, label=_described(message, call), tokens=tokens))
    return sorted(found, key=lambda each: each.tokens, reverse=True)[:most]


def _described(message: UserMessage | AssistantMessage | Attachment, call: Block | None) -> str:
    if call is not None:
        return _label(call)
    words = one_line(text_of(message.content), most=80)
    match message:
        case Attachment():
            return f"attached ({message.kind}): {words}"
        case UserMessage():
            return f"{'a note to the model' if message.is_meta else 'you'}: {words}"
        case AssistantMessage():
            kinds = {str(block.get("type")) for block in message.content}
            return "thinking" if kinds & THINKING else f"answer: {words}"


def _label(block: Block) -> str:
    arguments: object = block.get("input")
    values = cast("Mapping[str, object]", arguments).values() if isinstance(arguments, Mapping) else ()
    first = next((value for value in values if isinstance(value, str) and value), "")
    return f"{block.get('name')} {first.partition(chr(10))[0][:80]}".strip()
