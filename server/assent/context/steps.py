"""A view seen as steps: one answer, its results, and what was attached before the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assent.types.blocks import Block, text_of
from assent.types.messages import AssistantMessage, Attachment, CompactBoundary, ConversationMessage, UserMessage

QUOTED = 2_000


@dataclass(frozen=True, slots=True)
class Step:
    start: int
    end: int  # exclusive


def steps(view: Sequence[ConversationMessage]) -> list[Step]:
    """Every whole step. A prompt belongs to no step; it ends the one before it."""
    found: list[Step] = []
    start: int | None = None
    message_id = ""
    for at, message in enumerate(view):
        if isinstance(message, AssistantMessage):
            if start is not None and message.message_id == message_id:
                continue
            if start is not None:
                found.append(Step(start, at))
            start, message_id = at, message.message_id
        elif is_prompt(message) or isinstance(message, CompactBoundary):
            if start is not None:
                found.append(Step(start, at))
            start = None
    if start is not None:
        found.append(Step(start, len(view)))
    return found


def is_prompt(message: ConversationMessage) -> bool:
    """Words of the user: not results, not something we said in their name."""
    return (
        isinstance(message, UserMessage)
        and not message.is_meta
        and not any(block.get("type") == "tool_result" for block in message.content)
    )


def as_text(messages: Iterable[ConversationMessage]) -> str:
    """A stretch of conversation written out plainly, long parts shortened: what a summary is made from."""
    lines: list[str] = []
    for message in messages:
        match message:
            case AssistantMessage():
                lines += [_block_text("Assistant", block) for block in message.content]
            case UserMessage() | Attachment():
                lines += [_block_text("User", block) for block in message.content]
            case CompactBoundary():
                lines.append(f"Summary of what came before: {message.summary}")
    return "\n".join(line for line in lines if line)


def _block_text(who: str, block: Block) -> str:
    match block.get("type"):
        case "text":
            return f"{who}: {_short(str(block.get('text', '')))}"
        case "tool_use":
            return f"{who} called {block.get('name')} with {_short(str(block.get('input')))}"
        case "tool_result":
            how = "failed" if block.get("is_error") else "gave"
            return f"The call {how}: {_short(text_of([block]))}"
        case _:
            return ""


def _short(text: str) -> str:
    return text if len(text) <= QUOTED else f"{text[:QUOTED]} … ({len(text) - QUOTED:,} more characters)"
