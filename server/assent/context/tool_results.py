"""The first and lightest reduction: a tool result over its cap goes to a file, and a preview stays (C1).

Decided once, when the result is made, and for results loaded from elsewhere the first time they are seen. The same
result always becomes the same text, so the cached prefix is not touched. The file is written by whoever is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assent.context.tokens import estimate_content
from assent.context.view import Reduced, map_results
from assent.types.blocks import Block, Json, text_of
from assent.types.messages import ConversationMessage

PREVIEW_CHARS = 2_000
BATCH_CHARS = 200_000  # of all results of one answer together
MARK = "[The whole output"

Spill = Callable[[str, str], str | None]
"""(tool_use_id, text) -> where the text can be read; None when the disk did not take it."""


def capped(block: Json, cap: int, spill: Spill | None) -> Json:
    """The block itself, or one that holds a preview and says where the rest is."""
    content = block.get("content", "")
    text = content if isinstance(content, str) else text_of(content)
    if len(text) <= cap or MARK in text[-400:]:
        return block
    preview = _preview(text, min(PREVIEW_CHARS, cap))
    path = spill(str(block.get("tool_use_id", "")), text) if spill is not None else None
    if path is not None:
        note = f"{MARK}, {len(text):,} characters, is in {path}; use Read with offset and limit for the rest.]"
    elif spill is not None:
        note = f"{MARK}, {len(text):,} characters, could not be saved; only its beginning is kept.]"
    else:
        note = f"{MARK}, {len(text):,} characters, was too long and only its beginning is kept.]"
    shorter = f"{preview}\n\n… {note}"
    if isinstance(content, str):
        return {**block, "content": shorter}
    media = [each for each in content if each.get("type") not in ("text",)]
    return {**block, "content": [{"type": "text", "text": shorter}, *media]}


def capped_batch(blocks: Sequence[Json], caps: Sequence[int], spill: Spill | None) -> list[Json]:
    """Each result under its own cap, then the largest ones spilled until the batch is under the common one."""
    done = [capped(block, cap, spill) for block, cap in zip(blocks, caps, strict=True)]
    while sum(map(_chars, done)) > BATCH_CHARS:
        largest = max(range(len(done)), key=lambda at: _chars(done[at]))
        smaller = capped(done[largest], PREVIEW_CHARS, spill)
        if smaller is done[largest]:
            break
        done[largest] = smaller
    return done


def budget(view: Sequence[ConversationMessage], cap: int, spill: Spill | None) -> Reduced:
    """The same for a whole view: what a transcript from elsewhere may hold."""
    freed = 0

    def change(block: Block) -> Block:
        nonlocal freed
        smaller = capped(dict(block), cap, spill)
        if smaller.get("content") is block.get("content"):
            return block
        freed += max(0, estimate_content(block.get("content")) - estimate_content(smaller.get("content")))
        return smaller

    reduced, changed = map_results(view, change)
    return Reduced(view=reduced, freed=freed, changed=True) if changed else Reduced(view=tuple(view))


def _preview(text: str, size: int) -> str:
    """The head, cut at a line end where one is near."""
    head = text[:size]
    end = head.rfind("\n", size // 2)
    return head[:end] if end > 0 else head


def _chars(block: Json) -> int:
    content = block.get("content", "")
    return len(content) if isinstance(content, str) else len(text_of(content))
