"""Content blocks, exactly as the Messages API writes them.

A block stays the mapping it arrived as: unknown kinds and fields pass through unharmed, and what goes back to the
model is byte for byte what came from it. Nothing here ever changes a block; build a new one.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

Json = dict[str, Any]
Block = Mapping[str, Any]

_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def tool_result_block(tool_use_id: str, content: str | list[Json], *, is_error: bool = False) -> Json:
    block: Json = {"type": "tool_result", "tool_use_id": tool_use_id, "content": content}
    if is_error:
        block["is_error"] = True
    return block


def text_of(content: str | Iterable[Block]) -> str:
    """The plain text of some content: text blocks, and the text inside tool results."""
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for block in content:
        if block.get("type") == "text":
            parts.append(str(block.get("text", "")))
        elif block.get("type") == "tool_result":
            parts.append(text_of(cast("str | list[Block]", block.get("content", ""))))
    return "\n".join(part for part in parts if part)


def image_type(data: bytes) -> str | None:
    """The media type of an image by how it begins; None for kinds that models do not take."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _IMAGES if data.startswith(start)), None)
