"""What the model still sees of an earlier result: a re-read of an unchanged file may be a stub only then (C7).

Derived from the view each time it is asked, so there is nothing to keep in step with retries, caps and reductions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from assent.context.microcompact import CLEARED
from assent.context.view import View, map_results
from assent.types.blocks import Block
from assent.types.messages import Attachment, ConversationMessage, UserMessage
from assent.types.pointers import points_at


def result_in_view(
    view: Sequence[ConversationMessage], tool_use_id: str, *, cleared: Collection[str] = ()
) -> str | list[Any] | None:
    """The result of this call as the model sees it now; None when it is not in view.

    `cleared` names results that the endpoint took out by itself (C3): they are in our view and not in the model's.
    """
    if tool_use_id in cleared:
        return None
    for message in reversed(view):
        if isinstance(message, UserMessage):
            for block in message.content:
                if block.get("type") == "tool_result" and block.get("tool_use_id") == tool_use_id:
                    return block.get("content")
        elif isinstance(message, Attachment) and message.data.get("tool_use_id") == tool_use_id:
            body = [dict(block) for block in message.content[1:]]  # the first says what this is
            only = body[0] if len(body) == 1 else {}
            return str(only["text"]) if only.get("type") == "text" else body
    return None


def without_dangling(
    view: Sequence[ConversationMessage], history: Sequence[ConversationMessage], *, cleared: Collection[str] = ()
) -> View:
    """The view in which no stub points at a result that is gone from it, or shorter than in the history."""
    dangling = {call for call, meant in _stubs(view).items() if not _is_whole(view, history, meant, cleared)}
    if not dangling:
        return tuple(view)

    def change(block: Block) -> Block:
        return {**block, "content": CLEARED} if block.get("tool_use_id") in dangling else block

    return map_results(view, change)[0]


def _stubs(view: Sequence[ConversationMessage]) -> dict[str, str]:
    """Calls whose results only point at another, and the call each points at."""
    return {
        str(block.get("tool_use_id")): meant
        for message in view
        if isinstance(message, UserMessage)
        for block in message.content
        if block.get("type") == "tool_result" and (meant := points_at(block.get("content"))) is not None
    }


def _is_whole(
    view: Sequence[ConversationMessage], history: Sequence[ConversationMessage], call: str, cleared: Collection[str]
) -> bool:
    seen = result_in_view(view, call, cleared=cleared)
    if seen is None or seen == CLEARED:
        return False
    made = result_in_view(history, call)
    return made is None or made == seen
