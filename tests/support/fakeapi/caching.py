"""The prompt cache as the endpoint keeps it: exact prefixes, at the marks, found again up to 20 blocks back.

Tokens are a deterministic estimate (four bytes each), so tests and benchmarks can compare numbers between runs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import orjson

from fakeapi.body import Json, blocks_of, field, items

LOOK_BACK = 20
MEDIA_TOKENS = 1_500


def tokens(value: object) -> int:
    return max(1, -(-len(value if isinstance(value, bytes) else orjson.dumps(value)) // 4))


@dataclass(frozen=True, slots=True)
class Segment:
    """One tool, system block or content block: where it ends in the prefix, and whether a mark stands on it."""

    digest: str
    end: int  # tokens up to and including this one
    marked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheUse:
    read: int
    written: int
    fresh: int
    possible: int  # what an ideal set of marks would have read, given the requests before

    @property
    def total(self) -> int:
        return self.read + self.written + self.fresh

    def usage(self) -> Json:
        return {
            "input_tokens": self.fresh,
            "cache_creation_input_tokens": self.written,
            "cache_read_input_tokens": self.read,
        }


class PromptCache:
    def __init__(self, *, minimum: int = 0) -> None:
        self._minimum = minimum
        self._entries: set[str] = set()
        self._seen: set[str] = set()

    def use(self, body: Json) -> CacheUse:
        """What this request reads and writes; afterwards its own prefixes are cached."""
        segments = prefix_segments(body)
        total = segments[-1].end if segments else 0
        marks = [at for at, segment in enumerate(segments) if segment.marked and segment.end >= self._minimum]
        last = segments[marks[-1]].end if marks else 0
        read = max((self._hit(segments, mark) for mark in marks), default=0)
        possible = max((each.end for each in segments if each.digest in self._seen), default=0)
        self._entries.update(segments[mark].digest for mark in marks)
        self._seen.update(each.digest for each in segments)
        return CacheUse(read=read, written=max(0, last - read), fresh=total - max(last, read), possible=possible)

    def _hit(self, segments: list[Segment], mark: int) -> int:
        for at in range(mark, max(-1, mark - LOOK_BACK), -1):
            if segments[at].digest in self._entries:
                return segments[at].end
        return 0


def prefix_segments(body: Json) -> list[Segment]:
    """The request in the order the endpoint reads it: tools, system, messages. Key order counts, as bytes do."""
    global _last
    if _last[0] is not body:  # a request is looked at twice: is it too long, and what of it is cached
        _last = (body, _segments(body))
    return _last[1]


_last: tuple[Json, list[Segment]] = ({}, [])


def _segments(body: Json) -> list[Segment]:
    running = hashlib.sha256(str(body.get("model")).encode())
    segments: list[Segment] = []
    end = 0

    def add(label: str, value: Json) -> None:
        nonlocal end
        bare = orjson.dumps({key: each for key, each in value.items() if key != "cache_control"})
        running.update(label.encode() + b"\0" + bare + b"\0")
        end += _weight(value, bare)
        segments.append(Segment(running.hexdigest(), end, value.get("cache_control") is not None))

    for each in items(body, "tools"):
        add("tool", each)
    for each in items(body, "system"):
        add("system", each)
    # The endpoint drops the cached messages (not tools or system) when these change.
    running.update(orjson.dumps([body.get("tool_choice"), field(body, "thinking").get("type")]))
    for message in items(body, "messages"):
        for each in blocks_of(message):
            add(message["role"], each)
    return segments


def _weight(block: Json, data: bytes) -> int:
    """Pictures and pages are counted as such, not by the bytes of their base64."""
    if block.get("type") in ("image", "document"):
        return MEDIA_TOKENS
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        return sum(_weight(each, orjson.dumps(each)) for each in items(block, "content")) + 10
    return tokens(data)
