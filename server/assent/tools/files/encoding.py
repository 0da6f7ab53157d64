"""Bytes to text and back, losing nothing.

`decode` names the encoding under which the text gives back the very bytes; `encode` is its inverse. What is not text
is said so, by looking at the bytes and never at the name. Knows nothing of paths or files.
"""

import codecs
from dataclasses import dataclass

from assent.types.errors import ToolError

_SAMPLE = 64 * 1024
_BOMS = (  # the longer ones first: UTF-32's little-endian mark begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - {7, 8, 9, 10, 12, 13, 27}) + b"\x7f"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    text: str
    encoding: str
    bom: bytes


class NotText(ToolError):
    """The bytes are a picture, a program or the like."""


def decode(data: bytes) -> Decoded:
    """The text these bytes are. Raises NotText when they are none."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            text = _strictly(data[len(bom) :], encoding)
            if text is not None:
                return Decoded(text=text, encoding=encoding, bom=bom)
    sample = data[:_SAMPLE]
    if b"\0" in sample:
        encoding = _wide(sample)
        text = _strictly(data, encoding) if encoding else None
        if encoding and text is not None:
            return Decoded(text=text, encoding=encoding, bom=b"")
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    text = _strictly(data, "utf-8")
    if text is not None:
        if _mostly(controls, sample, share=0.10):
            raise NotText("it is binary")
        return Decoded(text=text, encoding="utf-8", bom=b"")
    if _mostly(controls, sample, share=0.05):
        raise NotText("it is binary")
    return Decoded(text=data.decode("latin-1"), encoding="latin-1", bom=b"")


def encode(text: str, *, encoding: str, bom: bytes) -> bytes:
    """The bytes of the text. Raises ToolError naming the first character that the encoding does not have."""
    try:
        return bom + text.encode(encoding)
    except UnicodeEncodeError as error:
        bad = text[error.start]
        raise ToolError(
            f"the file is encoded as {encoding}, which has no {bad!r} (U+{ord(bad):04X}); "
            "use other characters, or convert the file first"
        ) from None


def _strictly(data: bytes, encoding: str) -> str | None:
    """Decoded, if encoding it again gives the same bytes: some codecs accept what they would not write."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    if encoding == "utf-8":  # strict UTF-8 has one spelling for each text
        return text
    try:
        return text if text.encode(encoding) == data else None
    except UnicodeEncodeError:
        return None


def _wide(sample: bytes) -> str | None:
    """UTF-16 without a mark: nearly every second byte of Western text is zero."""
    if len(sample) % 2 or len(sample) < 8:
        return None
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.7 * half and even < 0.1 * half:
        return "utf-16-le"
    if even > 0.7 * half and odd < 0.1 * half:
        return "utf-16-be"
    return None


def _mostly(controls: int, sample: bytes, *, share: float) -> bool:
    """A few stray control bytes do not make a small text binary."""
    return controls > 8 and controls > share * len(sample)
