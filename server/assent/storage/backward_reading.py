"""Reading a large file of lines from its end, in chunks, so that memory stays flat. Not aware of what the lines say."""

import os
from collections.abc import Iterator

CHUNK = 256 * 1024


def rfind(fd: int, needle: bytes, end: int, *, floor: int = 0) -> int:
    """The last place in [floor, end) where these bytes start, or -1; in chunks, so memory stays flat."""
    overlap = len(needle) - 1
    size = CHUNK
    while end > floor:
        start = max(floor, end - size)
        data = os.pread(fd, end - start + overlap, start)
        at = data.rfind(needle, 0, end - start + overlap)
        if at >= 0:
            return start + at
        end = start
        size = 4 * CHUNK
    return -1


def rfind_line(fd: int, beginning: bytes, end: int) -> int:
    """The last line that begins like this, or -1."""
    while (at := rfind(fd, beginning, end)) > 0 and os.pread(fd, 1, at - 1) != b"\n":
        end = at
    return at


def lines_before(fd: int, end: int) -> Iterator[tuple[int, int, bytes]]:
    """Plain lines that end at or before `end`, last first."""
    tail = b""  # the beginning of this is not yet known to be a line's start
    position = end
    size = CHUNK
    while position > 0:
        start = max(0, position - size)
        block = os.pread(fd, position - start, start) + tail
        lines = block.split(b"\n")
        tail = lines[0]
        offset = start + len(block)
        for line in reversed(lines[1:]):
            begin = offset - len(line)
            if line:
                yield begin, begin + len(line) + 1, line
            offset = begin - 1
        position = start
        # A line longer than the block would be joined again and again: read further each time.
        size = min(size * 2, 64 * CHUNK) if len(lines) == 1 else CHUNK
    if tail:
        yield 0, len(tail) + 1, tail


def line_at(fd: int, offset: int) -> bytes:
    parts: list[bytes] = []
    while block := os.pread(fd, CHUNK, offset):
        cut = block.find(b"\n")
        if cut >= 0:
            parts.append(block[: cut + 1])
            break
        parts.append(block)
        offset += len(block)
    return b"".join(parts)
