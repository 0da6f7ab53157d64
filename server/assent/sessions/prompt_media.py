"""Pictures and documents of a prompt: what the model's endpoint would refuse is refused before it is in the history.

There it would be sent again with every later turn, and fail each of them.
"""

import base64
import binascii
from typing import cast

from assent.types.blocks import Json, image_type
from assent.types.errors import ProtocolError

PDF = "application/pdf"


def checked(block: Json) -> Json:
    """The block, a picture with the media type that its bytes have. Raises ProtocolError."""
    source = cast("Json", block["source"])
    if source.get("type") != "base64":
        return block
    data = _decoded(source.get("data"), str(block["type"]))
    if block["type"] == "image":
        found = image_type(data)
        if found is None:
            hint = "A PNG, JPEG, GIF or WebP picture can be sent."
            raise ProtocolError("invalidParams", "what was sent as a picture is none", hint=hint)
        return {**block, "source": {**source, "media_type": found}}
    if source.get("media_type") == PDF and b"%PDF" not in data[:1024]:
        raise ProtocolError("invalidParams", "what was sent as a PDF is none")
    return block


def _decoded(data: object, kind: str) -> bytes:
    try:
        found = base64.b64decode(data, validate=True) if isinstance(data, str) else b""
    except (binascii.Error, ValueError):  # the latter for characters that are not ASCII
        found = b""
    if not found:
        raise ProtocolError("invalidParams", f"the data of the {kind} is empty or not base64")
    return found
