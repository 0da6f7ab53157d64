"""In which line of a JSON file each key stands, so that a message can point there.

A plain scan for files that are known to parse; it decodes nothing but keys. What lies below a very long path has no
line: each name holds its whole path, so a file could make the names of a few kilobytes fill the memory.
"""

import re

import orjson

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_LONGEST = 200  # characters of a path that names below it may begin with


def key_lines(data: bytes) -> dict[str, int]:
    """Dotted key → line, counted from 1. Entries of lists are `key[0]`."""
    found: dict[str, int] = {}
    stack: list[tuple[str | None, int]] = []  # (path of the container unless it is too long, index in a list or -1)
    pending = ""  # the key whose value comes next
    line, at = 1, 0
    previous: bytes = b""
    for token in _TOKEN.finditer(data):
        line += data.count(b"\n", at, token.start())
        at = token.start()
        text = token.group()
        in_list = bool(stack) and stack[-1][1] >= 0
        inside, index = stack[-1] if stack else (None, -1)
        if inside is None:
            pass
        elif in_list and text not in (b"]", b",", b"}", b":"):
            pending = f"{inside}[{index}]"
            found.setdefault(pending, line)
        elif not in_list and text[:1] == b'"' and previous in (b"{", b","):
            key = _decoded(text)
            pending = f"{inside}.{key}" if inside else key
            found.setdefault(pending, line)
        match text:
            case b"{" | b"[":
                named = "" if not stack else pending if inside is not None and len(pending) <= _LONGEST else None
                stack.append((named, 0 if text == b"[" else -1))
            case b"}" | b"]":
                if stack:
                    stack.pop()
            case b"," if in_list:
                stack[-1] = (inside, index + 1)
            case _:
                pass
        previous = text
    return found


def _decoded(literal: bytes) -> str:
    try:
        return str(orjson.loads(literal))
    except orjson.JSONDecodeError:
        return literal.decode("utf-8", "replace")
