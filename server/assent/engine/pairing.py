"""Every tool_use gets exactly one tool_result, right after it (L9).

Pure functions over messages: they find unanswered calls and complete the history with their results.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from assent.types.blocks import Block, Json, tool_result_block
from assent.types.messages import AssistantMessage, ConversationMessage, UserMessage

LOST = "No result: the session ended before this call finished. It may have run in part; check before repeating it."


def unanswered(messages: Sequence[ConversationMessage]) -> list[Block]:
    """The tool calls at the end of the conversation that still wait for a result, in order."""
    answered: set[str] = set()
    waiting: list[Block] = []
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            ids = result_ids(message)
            if not ids:
                break
            answered |= ids
        elif isinstance(message, AssistantMessage):
            for block in reversed(message.content):
                if block.get("type") == "tool_use" and block.get("id") not in answered:
                    waiting.append(block)
    waiting.reverse()
    return waiting


def answers(calls: Iterable[Block], results: Mapping[str, Json], missing: str) -> tuple[Json, ...]:
    """A result block for each call: its own where there is one, a synthetic error otherwise."""
    return tuple(
        results.get(str(call["id"])) or tool_result_block(str(call["id"]), missing, is_error=True) for call in calls
    )


def result_ids(message: UserMessage) -> set[str]:
    return {str(block["tool_use_id"]) for block in message.content if block.get("type") == "tool_result"}


def repaired(
    messages: Iterable[ConversationMessage], *, missing: str = LOST, leave: Collection[str] = ()
) -> list[ConversationMessage]:
    """The same conversation with each call answered once, directly after the answer that made it.

    `leave` names calls at the very end whose answers are still to come (Q11).

    Results that answer nothing, or come a second time, are dropped: the API refuses them.
    """
    fixed: list[ConversationMessage] = []
    open_calls: dict[str, None] = {}
    last_assistant: AssistantMessage | None = None

    def close() -> None:
        nonlocal last_assistant
        if open_calls and last_assistant is not None:
            content = tuple(tool_result_block(call, missing, is_error=True) for call in open_calls)
            fixed.append(
                UserMessage(
                    uuid=f"{last_assistant.uuid}r"[-12:],
                    content=content,
                    timestamp=last_assistant.timestamp,
                    is_meta=True,
                )
            )
        open_calls.clear()
        last_assistant = None

    for message in messages:
        if isinstance(message, AssistantMessage):
            if last_assistant is not None and message.message_id != last_assistant.message_id:
                close()
            last_assistant = message
            for block in message.content:
                if block.get("type") == "tool_use":
                    open_calls[str(block["id"])] = None
            fixed.append(message)
        elif isinstance(message, UserMessage):
            kept = _matching(message, open_calls)
            if kept is None:
                continue
            if not result_ids(kept):
                close()
            fixed.append(kept)
        else:
            fixed.append(message)
    for call in leave:
        open_calls.pop(call, None)
    close()
    return fixed


def _matching(message: UserMessage, open_calls: dict[str, None]) -> UserMessage | None:
    """The message without results that match no open call; None when nothing is left of it."""
    kept: list[Block] = []
    for block in message.content:
        if block.get("type") == "tool_result":
            call = str(block.get("tool_use_id"))
            if call not in open_calls:
                continue
            del open_calls[call]
        kept.append(block)
    if len(kept) == len(message.content):
        return message
    return replace(message, content=tuple(kept)) if kept else None
