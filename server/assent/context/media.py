"""Images and documents, taken out of a view that is too heavy with them (L7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from assent.context.tokens import MEDIA_TOKENS
from assent.context.view import Reduced
from assent.types.blocks import Block, text_block
from assent.types.messages import Attachment, ConversationMessage, UserMessage

KINDS = frozenset({"image", "document"})
REMOVED = "[An attachment was removed: it was too large to send.]"


def strip_media(view: Sequence[ConversationMessage]) -> Reduced:
    removed = 0

    def clean(blocks: Sequence[Block]) -> tuple[Block, ...]:
        nonlocal removed
        out: list[Block] = []
        for block in blocks:
            content = block.get("content")
            if block.get("type") in KINDS:
                removed += 1
                out.append(text_block(REMOVED))
            elif block.get("type") == "tool_result" and isinstance(content, list):
                out.append({**block, "content": list(clean(cast("list[Block]", content)))})
            else:
                out.append(block)
        return tuple(out)

    cleaned: list[ConversationMessage] = []
    for message in view:
        if isinstance(message, UserMessage | Attachment):
            before = removed
            content = clean(message.content)
            cleaned.append(replace(message, content=content) if removed != before else message)
        else:
            cleaned.append(message)
    return Reduced(view=tuple(cleaned), freed=removed * MEDIA_TOKENS, changed=removed > 0)
