"""The blocks of a prompt as the model's: text, pictures, files by name, and what the editor put in whole. Pure.

A file that is only linked becomes an @-mention, so that it is read by the Read tool and under its permissions.
"""

import re
from collections.abc import Sequence

from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from assent.text.uris import path_of, split
from assent.types.blocks import Json, text_block
from assent.types.errors import ProtocolError

PromptBlock = (
    TextContentBlock | ImageContentBlock | AudioContentBlock | ResourceContentBlock | EmbeddedResourceContentBlock
)

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_LINES = re.compile(r"L?(\d+)(?:[-:]L?(\d+))?")


def blocks_of(prompt: Sequence[PromptBlock]) -> list[Json]:
    """Neighbouring text is joined: clients cut a sentence in two around a mention."""
    blocks: list[Json] = []
    for part in prompt:
        block = _block(part)
        if block["type"] == "text" and blocks and blocks[-1]["type"] == "text":
            blocks[-1] = text_block(blocks[-1]["text"] + block["text"])
        else:
            blocks.append(block)
    return blocks


def _block(part: PromptBlock) -> Json:
    match part:
        case TextContentBlock():
            return text_block(part.text)
        case ImageContentBlock():
            return _picture(part.data, part.mime_type)
        case ResourceContentBlock():
            return text_block(_mention(part.uri, part.name))
        case EmbeddedResourceContentBlock(resource=TextResourceContents() as resource):
            return text_block(f"\n\n{_mention_plainly(resource.uri)}:\n{fenced_whole(resource.text)}\n\n")
        case EmbeddedResourceContentBlock(resource=BlobResourceContents() as resource):
            return _blob(resource)
        case AudioContentBlock():
            raise ProtocolError(
                "invalidParams", "sound cannot be sent", hint="promptCapabilities.audio is not offered."
            )
        case _:
            raise ProtocolError("invalidParams", "a prompt cannot hold this block")


def _picture(data: str, mime_type: str) -> Json:
    if mime_type.lower() not in PICTURES:
        raise ProtocolError(
            "invalidParams", f"a picture of type {mime_type} cannot be sent", hint=f"Send one of {', '.join(PICTURES)}."
        )
    return {"type": "image", "source": {"type": "base64", "media_type": mime_type.lower(), "data": data}}


def _blob(resource: BlobResourceContents) -> Json:
    if resource.mime_type in PICTURES:
        return _picture(resource.blob, resource.mime_type)
    if resource.mime_type == "application/pdf":
        source = {"type": "base64", "media_type": "application/pdf", "data": resource.blob}
        return {"type": "document", "source": source}
    kind = resource.mime_type or "an unknown type"
    raise ProtocolError("invalidParams", f"{resource.uri} is of {kind}, which cannot be sent")


def _mention(uri: str, name: str) -> str:
    parts = split(uri)
    path = path_of(parts._replace(fragment="", query="").geturl()) if parts.scheme == "file" else None
    if path is None:
        return f"[{name}]({uri})"
    lines = _LINES.fullmatch(parts.fragment)
    span = f"#L{lines[1]}-L{lines[2] or lines[1]}" if lines else ""
    return f'@"{path}{span}"'


def _mention_plainly(uri: str) -> str:
    """What the text is of, without asking for it to be read again."""
    parts = split(uri)
    path = path_of(parts._replace(fragment="", query="").geturl()) if parts.scheme == "file" else None
    return f"{path or uri}{f' ({parts.fragment})' if path and parts.fragment else ''}"


def fenced_whole(text: str) -> str:
    """In a fence, and never cut: the user chose to send all of it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.rstrip()}\n{fence}"
