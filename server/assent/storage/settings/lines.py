"""In which line of a JSON file each key stands, so that a message can point there.

A plain scan for files that are known to parse; it decodes nothing but keys.
"""

import re

import orjson

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def key_lines(data: bytes) -> dict[str, int]:
    """Dotted key → line, counted from 1. Entries of lists are `key[0]`."""
    found: dict[str, int] = {}
    stack: list[tuple[str, int]] = []  # (path of the container, index in a list or -1)
    pending = ""  # the key whose value comes next
    line, at = 1, 0
    previous: bytes = b""
    for token in _TOKEN.finditer(data):
        line += data.count(b"\n", at, token.start())
        at = token.start()
        text = token.group()
        in_list = bool(stack) and stack[-1][1] >= 0
        if in_list and text not in (b"]", b",", b"}", b":"):
            pending = f"{stack[-1][0]}[{stack[-1][1]}]"
            found.setdefault(pending, line)
        elif stack and not in_list and text[:1] == b'"' and previous in (b"{", b","):
            key = _decoded(text)
            pending = f"{stack[-1][0]}.{key}" if stack[-1][0] else key
            found.setdefault(pending, line)
        match text:
            case b"{":
                stack.append((pending if stack else "", -1))
            case b"[":
                stack.append((pending if stack else "", 0))
            case b"}" | b"]":
                if stack:
                    stack.pop()
            case b"," if in_list:
                path, index = stack[-1]
                stack[-1] = (path, index + 1)
            case _:
                pass
        previous = text
    return found


def _decoded(literal: bytes) -> str:
    try:
        return str(orjson.loads(literal))
    except orjson.JSONDecodeError:
        return literal.decode("utf-8", "replace")
