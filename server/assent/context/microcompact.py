"""Microcompact: old results of reads, searches and commands become one line each, when that pays (C3).

It pays when the prompt cache is cold anyway, or when the window is getting full and enough can be freed at once: a
change in the middle of the conversation costs the whole cache behind it, so it is made rarely and in one go.
"""

from __future__ import annotations

from collections.abc import Sequence

from assent.context.thresholds import Thresholds
from assent.context.tokens import estimate_content
from assent.context.view import Reduced, map_results
from assent.types.blocks import Block, Json
from assent.types.messages import AssistantMessage, ConversationMessage, UserMessage

KEEP_NEWEST = 5
CACHE_SECONDS = 300.0
MIN_SHARE = 0.05  # of the window: less than this is not worth the cache
ERROR_CHARS = 200  # of a failure, at its beginning and at its end
CLEARED = "[Cleared to save room: the output of an earlier call. Call the tool again if you need it.]"
ENDPOINT_EDIT = "clear_tool_uses_20250919"
COMPACTABLE = frozenset(
    {"Read", "Grep", "Glob", "Bash", "BashOutput", "WebFetch", "WebSearch", "Diagnostics", "References", "Symbols"}
)


def microcompact(
    view: Sequence[ConversationMessage],
    *,
    tokens: int,
    marks: Thresholds,
    idle_seconds: float | None,
    cache_seconds: float = CACHE_SECONDS,
) -> Reduced:
    """`idle_seconds` is the time since the last call; None when nothing was sent yet, so the cache is cold.

    `cache_seconds` is how long the endpoint keeps a prompt.
    """
    cold = idle_seconds is None or idle_seconds >= cache_seconds
    full = tokens >= marks.microcompact
    if not (cold or full):
        return Reduced(view=tuple(view))
    clearable = old_results(view)
    saved = sum(clearable.values())
    if not clearable or saved < marks.window * MIN_SHARE:
        return Reduced(view=tuple(view))

    def change(block: Block) -> Block:
        if str(block.get("tool_use_id")) not in clearable:
            return block
        return {**block, "content": _what_is_left(block)}

    smaller, _ = map_results(view, change)
    return Reduced(view=smaller, freed=saved, changed=True)


def endpoint_edit(marks: Thresholds) -> Json:
    """The same, done by the endpoint where it offers that: nothing is sent again, and the cache is edited in place."""
    return {
        "type": ENDPOINT_EDIT,
        "trigger": {"type": "input_tokens", "value": marks.microcompact},
        "keep": {"type": "tool_uses", "value": KEEP_NEWEST},
        "clear_at_least": {"type": "input_tokens", "value": int(marks.window * MIN_SHARE)},
    }


def oldest_results(view: Sequence[ConversationMessage], count: int) -> frozenset[str]:
    """Which results are out of view when the endpoint says that it cleared so many."""
    calls = [
        str(block.get("tool_use_id"))
        for message in view
        if isinstance(message, UserMessage)
        for block in message.content
        if block.get("type") == "tool_result"
    ]
    return frozenset(calls[:count])


def old_results(view: Sequence[ConversationMessage]) -> dict[str, int]:
    """The compactable results that are not among the newest few and not cleared yet, and what clearing each frees."""
    compactable = {
        str(block.get("id"))
        for message in view
        if isinstance(message, AssistantMessage)
        for block in message.content
        if block.get("type") == "tool_use" and block.get("name") in COMPACTABLE
    }
    frees: dict[str, int] = {}
    for message in view:
        if isinstance(message, UserMessage):
            for block in message.content:
                call = str(block.get("tool_use_id"))
                if block.get("type") == "tool_result" and call in compactable:
                    frees[call] = estimate_content(block.get("content")) - estimate_content(_what_is_left(block))
    return {call: frees[call] for call in list(frees)[:-KEEP_NEWEST] if frees[call] > 0}


def _what_is_left(block: Block) -> object:
    """Of a failure its beginning and its end stay: a call that may have run in part must not become one that can simply
    be made again."""
    content: object = block.get("content")
    if not block.get("is_error"):
        return CLEARED
    if not isinstance(content, str) or len(content) <= 3 * ERROR_CHARS:
        return content
    return f"{content[:ERROR_CHARS]}…\n{CLEARED}\n…{content[-ERROR_CHARS:]}"
