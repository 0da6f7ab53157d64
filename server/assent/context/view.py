"""Shared by the reductions: what one gives back, and how messages are cut and joined without breaking a pair."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from assent.types.blocks import Block
from assent.types.messages import AssistantMessage, ConversationMessage, UserMessage

View = tuple[ConversationMessage, ...]

THINKING = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduced:
    """A smaller view, how many tokens that freed, and whether it differs at all."""

    view: View
    freed: int = 0
    changed: bool = False


def call_ids(messages: Iterable[ConversationMessage]) -> set[str]:
    return {
        str(block.get("id"))
        for message in messages
        if isinstance(message, AssistantMessage)
        for block in message.content
        if block.get("type") == "tool_use"
    }


def result_ids(message: ConversationMessage) -> set[str]:
    if not isinstance(message, UserMessage):
        return set()
    return {str(block.get("tool_use_id")) for block in message.content if block.get("type") == "tool_result"}


def without(view: Sequence[ConversationMessage], uuids: Collection[str]) -> View:
    """The view less these messages, and less every half of a call whose other half is among them."""
    gone = [message for message in view if message.uuid in uuids]
    calls = call_ids(gone) | {each for message in gone for each in result_ids(message)}
    kept: list[ConversationMessage] = []
    for message in view:
        if message.uuid in uuids:
            continue
        if isinstance(message, AssistantMessage | UserMessage):
            content = tuple(block for block in message.content if _other_half(block) not in calls)
            if not content:
                continue
            if len(content) != len(message.content):
                kept.append(replace(message, content=content))
                continue
        kept.append(message)
    return without_lone_thinking(kept)


def without_lone_thinking(view: Sequence[ConversationMessage]) -> View:
    """An answer of which only thoughts are left is no answer: the API refuses it."""
    said = {
        message.message_id for message in view if isinstance(message, AssistantMessage) and not _only_thinking(message)
    }
    return tuple(message for message in view if not isinstance(message, AssistantMessage) or message.message_id in said)


def map_results(view: Sequence[ConversationMessage], change: Callable[[Block], Block]) -> tuple[View, int]:
    """The view with every tool_result passed through `change`; how many of them it changed."""
    changed = 0
    out: list[ConversationMessage] = []
    for message in view:
        if isinstance(message, UserMessage) and any(b.get("type") == "tool_result" for b in message.content):
            content = tuple(change(b) if b.get("type") == "tool_result" else b for b in message.content)
            different = sum(new is not old for new, old in zip(content, message.content, strict=True))
            if different:
                changed += different
                out.append(replace(message, content=content))
                continue
        out.append(message)
    return (tuple(out) if changed else tuple(view)), changed


def _only_thinking(message: AssistantMessage) -> bool:
    return all(block.get("type") in THINKING for block in message.content)


def _other_half(block: Block) -> str | None:
    match block.get("type"):
        case "tool_use":
            return str(block.get("id"))
        case "tool_result":
            return str(block.get("tool_use_id"))
        case _:
            return None
