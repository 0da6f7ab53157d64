"""Bytes to message bodies, whatever the other side sends.

Owns the `Content-Length` framing and nothing of what is inside a body. Rules:

1. A header line ends with LF, with or without CR; names are case-insensitive; unknown headers are ignored; of two
   Content-Lengths the last one counts.
2. A body over the cap is never buffered: it is skipped, and told as a `Fault` with the start of it.
3. `Content-Length: n` followed by a raw line end cannot occur inside valid JSON. Wherever it shows up, a new frame
   begins there: that is how we find our feet again after garbage, a wrong length or an oversized body.
4. Nothing raises, and memory stays within one body plus one chunk.
"""

import re
from dataclasses import dataclass
from typing import Literal

MAX_BODY = 64 * 1024 * 1024
MAX_HEADER = 8 * 1024
KEPT_START = 4096

_HEADER_LINE = re.compile(rb"[Cc][Oo][Nn][Tt][Ee][Nn][Tt]-[Ll][Ee][Nn][Gg][Tt][Hh][ \t]*:[ \t]*[0-9]{1,20}[ \t]*\r?\n")
_LONGEST_HEADER_LINE = 256
_HALF_A_HEADER_LINE = re.compile(
    rb"(?i:c(?:o(?:n(?:t(?:e(?:n(?:t(?:-(?:l(?:e(?:n(?:g(?:t(?:h"
    rb"(?:[ \t]*:[ \t]*[0-9]{0,20}[ \t]*\r?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)\Z"
)
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BLANK = re.compile(rb"[ \t\r\n]*\n")


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


FaultKind = Literal["garbage", "header", "tooLarge"]


@dataclass(frozen=True, slots=True)
class Frame:
    body: bytes


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that was not a frame; `start` is as much of it as may help to find the id it was sent with."""

    kind: FaultKind
    reason: str
    start: bytes = b""


class FrameDecoder:
    """Feed it chunks; it gives back frames and faults in order."""

    def __init__(self, *, max_body: int = MAX_BODY) -> None:
        self._max_body = max_body
        self._buffer = bytearray()
        self._state = self._header
        self._length: int | None = None  # what the header said so far, or the length of the body we are in
        self._header_size = 0
        self._scanned = 0  # how much of the body has been searched for a header that cannot be there

    @property
    def buffered(self) -> int:
        return len(self._buffer)

    def feed(self, data: bytes) -> list[Frame | Fault]:
        self._buffer += data
        out: list[Frame | Fault] = []
        while self._state(out):
            pass
        return out

    # --- the header -----------------------------------------------------------------------------------------------

    def _header(self, out: list[Frame | Fault]) -> bool:
        if not self._header_size and (blank := _BLANK.match(self._buffer)):
            del self._buffer[: blank.end()]  # blank lines between frames harm nobody
        end = self._buffer.find(b"\n", 0, MAX_HEADER + 1)
        if end < 0:
            if len(self._buffer) <= MAX_HEADER:
                return False
            return self._lose(out, "garbage", "a header without an end", start=bytes(self._buffer[:KEPT_START]))
        line = bytes(self._buffer[: end + 1])
        text = line.strip(b" \t\r\n")
        name, colon, value = text.partition(b":")
        name = name.strip(b" \t").lower()
        self._header_size += len(line)
        if text and (not colon or not _NAME.fullmatch(name)):
            return self._lose(out, "garbage", "bytes that are no header", start=line[:KEPT_START])
        if name != b"content-length" and _HEADER_LINE.search(line):
            return self._lose(out, "garbage", "bytes before a header", start=line[:KEPT_START])
        if self._header_size > MAX_HEADER:
            return self._lose(out, "header", "a header longer than 8 KB")
        if name == b"content-length":
            value = value.strip(b" \t")
            if not value.isdigit() or len(value) > 20:  # before int(), which raises on a bomb of digits
                del self._buffer[:1]  # a sound header may follow on this very line
                return self._lose(out, "header", "a Content-Length that is not a length")
            self._length = int(value)
        del self._buffer[: end + 1]
        return True if text else self._end_of_header(out)

    def _end_of_header(self, out: list[Frame | Fault]) -> bool:
        if self._length is None:
            return self._lose(out, "header", "a header without Content-Length")
        if self._length > self._max_body:
            self._state = self._oversized
        elif self._length == 0:
            out.append(Fault("header", "an empty body"))
            self._begin()
        else:
            self._state = self._body
        return True

    # --- the body -------------------------------------------------------------------------------------------------

    def _body(self, out: list[Frame | Fault]) -> bool:
        length = self._length or 0
        # A header may begin in this body and end just behind it, so look a little past the end.
        found = self._find_header(self._scanned, length + _LONGEST_HEADER_LINE)
        if found is not None and found < length:
            body = bytes(self._buffer[:found]).strip()
            del self._buffer[:found]
            self._begin()
            out.append(Frame(body) if body else Fault("garbage", "a frame cut short"))
            return True
        if len(self._buffer) < length:
            self._scanned = max(0, len(self._buffer) - _LONGEST_HEADER_LINE)
            return False
        if self._buffer[length - 1] != 0x7D:  # no object ends like this: half of the next header may be in here
            half = _HALF_A_HEADER_LINE.search(self._buffer, max(0, length - _LONGEST_HEADER_LINE), length)
            length = length if half is None else half.start()
        out.append(Frame(bytes(self._buffer[:length])) if length else Fault("garbage", "a frame cut short"))
        del self._buffer[:length]
        self._begin()
        return True

    def _oversized(self, out: list[Frame | Fault]) -> bool:
        if not self._buffer:
            return False  # the body's first bytes hold the id that the sender waits for
        found = self._find_header(0, KEPT_START)
        start = bytes(self._buffer[: KEPT_START if found is None else found])
        return self._lose(
            out, "tooLarge", f"a body of {self._length} bytes; the limit is {self._max_body}", start=start
        )

    def _find_header(self, start: int, end: int) -> int | None:
        if self._buffer.find(b"\n", start, end) < 0:  # compact JSON has no line ends: the common case is one memchr
            return None
        found = _HEADER_LINE.search(self._buffer, start, end)
        return None if found is None else found.start()

    # --- finding our feet -----------------------------------------------------------------------------------------

    def _lose(
        self,
        out: list[Frame | Fault],
        kind: FaultKind,
        reason: str,
        *,
        start: bytes = b"",
    ) -> bool:
        out.append(Fault(kind, reason, start))
        self._begin()
        self._state = self._resync
        return True

    def _resync(self, out: list[Frame | Fault]) -> bool:
        found = self._find_header(0, len(self._buffer))
        if found is None:
            if len(self._buffer) > _LONGEST_HEADER_LINE:
                del self._buffer[:-_LONGEST_HEADER_LINE]
            return False
        del self._buffer[:found]
        self._begin()
        return True

    def _begin(self) -> None:
        self._state = self._header
        self._length = None
        self._header_size = 0
        self._scanned = 0
