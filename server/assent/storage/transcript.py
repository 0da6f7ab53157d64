"""A conversation on disk (S1): one append-only file of JSON lines per session.

Rules of the file:
1. The first record is `session/header`, the second `session/format` (0.1 wrote none: format 1). Records that are engine
   messages carry the codec's type; the session's own start with `session/`.
2. Nothing is ever rewritten. `tombstone` withdraws earlier messages by uuid; `session/rewound` with an offset says: the
   conversation before this record is the one that ended at that offset. Undoing a rewind is one more of these.
3. A line that cannot be read is skipped and reported; the history before and after it is shown.

Reading never holds more than a page (or, to resume, what follows the last compaction) in memory.
"""

import base64
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import orjson

from assent.storage.backward_reading import CHUNK, line_at, lines_before, rfind, rfind_line
from assent.storage.lines import decode
from assent.types import codec
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.messages import (
    AssistantFinal,
    AssistantMessage,
    Attachment,
    Collapsed,
    CompactBoundary,
    ConversationMessage,
    Message,
    Result,
    Tombstone,
    UserMessage,
)

FORMAT = 2  # what this version writes; it reads every one up to it, and shows newer ones without touching them
PAGE_MESSAGES = 100
PAGE_BYTES = 512 * 1024
SHOWN = frozenset({"user", "assistant", "attachment", "system/compact_boundary"})
KEPT = SHOWN | {"assistant_final", "tombstone", "collapsed", "tool_use_summary", "max_turns_reached", "spent", "result"}
REWOUND = "session/rewound"
SHOWN_BESIDE = "session/shown"  # an event that people saw between the messages
BESIDE = frozenset({SHOWN_BESIDE, "result"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One readable line: where it starts, where the next begins, and the record."""

    offset: int
    end: int
    record: Json

    @property
    def type(self) -> str:
        return str(self.record.get("type", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some messages, oldest first, and a cursor to the ones before them."""

    entries: tuple[Entry, ...]
    cursor: str | None
    damaged: int = 0
    around: tuple[Entry, ...] = ()  # what was shown between them, in their stretch of the file


@dataclass(slots=True, kw_only=True)
class Loaded:
    """What an engine needs to go on: the view since the last compaction, and the sums so far."""

    messages: list[ConversationMessage] = field(default_factory=list[ConversationMessage])
    snipped: set[str] = field(default_factory=set[str])
    spared: set[str] = field(default_factory=set[str])  # taken back from a snip
    collapsed: list[Collapsed] = field(default_factory=list[Collapsed])
    last_result: Result | None = None
    context_tokens: int = 0  # when it was last measured
    damaged: int = 0


def keep(message: Message) -> bool:
    """Whether this kind of message belongs in the transcript; the rest is about the moment."""
    return message.type in KEPT


def newest_page(
    path: Path, *, cursor: str | None = None, limit: int = PAGE_MESSAGES, max_bytes: int = PAGE_BYTES
) -> Page:
    """The newest messages before the cursor. Reads backwards from the end: cost follows the page, not the file."""
    withdrawn: set[str] = set()
    with path.open("rb") as file:
        end = os.fstat(file.fileno()).st_size
        if cursor is not None:
            end, withdrawn = _from_cursor(cursor, end)
        found: list[Entry] = []
        around: list[Entry] = []
        size = damaged = 0
        position = end
        for start, stop, line in backwards(file.fileno(), end):
            record = decode(line)
            position = start
            if record is None:
                damaged += 1 if line.strip() else 0
                continue
            entry = Entry(offset=start, end=stop, record=record)
            if entry.type == "tombstone" and record.get("reason") != "snip":  # snipped: gone for the model only
                withdrawn.update(cast("list[str]", record.get("message_uuids", [])))
            elif entry.type in SHOWN:
                uuid = str(record.get("uuid"))
                if uuid in withdrawn:
                    withdrawn.discard(uuid)
                    continue
                found.append(entry)
                size += stop - start
                if len(found) >= limit or size >= max_bytes:
                    break
            elif entry.type in BESIDE:
                around.append(entry)
        else:
            position = 0
    found.reverse()
    around.reverse()
    further = _to_cursor(position, withdrawn) if position else None
    return Page(entries=tuple(found), cursor=further, damaged=damaged, around=tuple(around))


def context_tokens(path: Path) -> int:
    """How much of the context the conversation filled when it was last measured, rewinds followed."""
    with path.open("rb") as file:
        for _start, _stop, line in backwards(file.fileno(), os.fstat(file.fileno()).st_size):
            if line.startswith((b'{"type":"assistant_final"', b'{"type":"system/compact_boundary"')):
                message = revive(decode(line) or {})
                if isinstance(message, AssistantFinal) and message.parent_tool_use_id is None:
                    return message.context_tokens or message.usage.context_tokens
                if isinstance(message, CompactBoundary):
                    return message.tokens_after
    return 0


def backwards(fd: int, end: int) -> Iterator[tuple[int, int, bytes]]:
    """Lines from the end to the start, (start, end, bytes) each, following rewinds; the newline is left out."""
    position = end
    while position > 0:
        jump: int | None = None
        for start, stop, line in lines_before(fd, position):
            if line.startswith(b'{"type":"session/rewound"'):
                record = decode(line)
                target = record.get("offset") if record else None
                if isinstance(target, int) and 0 <= target < start:
                    yield start, stop, line
                    jump = target
                    break
            yield start, stop, line
        if jump is None:
            return
        position = jump


def segments(fd: int, end: int) -> list[tuple[int, int]]:
    """The stretches of the file that make up the conversation now, in order: all of it but what was rewound."""
    found: list[tuple[int, int]] = []
    scan = end
    while end > 0:
        at = rfind(fd, b'{"type":"session/rewound"', scan)
        if at < 0:
            found.append((0, end))
            break
        target = (decode(line_at(fd, at)) or {}).get("offset")
        starts_a_line = at == 0 or os.pread(fd, 1, at - 1) == b"\n"
        if starts_a_line and isinstance(target, int) and 0 <= target < at:
            found.append((at, end))
            end = scan = target
        else:
            scan = at  # a rewind of code only, or the same bytes inside a message: the stretch goes on further back
    found.reverse()
    return found


def stream(path: Path, *, start: int = 0) -> Iterator[Entry | int]:
    """Every record of the conversation in order, one line in memory at a time; an int is a damaged line's offset."""
    with path.open("rb") as file:
        for begin, end in segments(file.fileno(), os.fstat(file.fileno()).st_size):
            begin = max(begin, start)
            if begin >= end:
                continue
            file.seek(begin)
            offset = begin
            for line in file:  # binary files split on \n only
                if offset >= end:
                    break
                record = decode(line)
                stop = offset + len(line)
                if record is not None:
                    yield Entry(offset=offset, end=stop, record=record)
                elif line.strip():
                    yield offset
                offset = stop


def shown(path: Path) -> dict[str, int]:
    """The uuids of all messages of the conversation as it is now, in order, with their offsets."""
    found: dict[str, int] = {}
    for entry in stream(path):
        if isinstance(entry, int):
            continue
        if entry.type in SHOWN:
            found[str(entry.record.get("uuid"))] = entry.offset
        elif entry.type == "tombstone" and entry.record.get("reason") != "snip":
            for uuid in cast("list[str]", entry.record.get("message_uuids", [])):
                found.pop(uuid, None)
    return found


def record_at(path: Path, offset: int) -> Json | None:
    with path.open("rb") as file:
        return decode(line_at(file.fileno(), offset))


def load(path: Path) -> Loaded:
    """What to resume with: from the last compaction on, tombstones applied, the totals of the last result."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        boundary = rfind_line(file.fileno(), b'{"type":"system/compact_boundary"', size)
        inside = any(begin <= boundary < end for begin, end in segments(file.fileno(), size))
    last = last_entry(path, "result")
    loaded = Loaded(last_result=_result(last.record if last else None), context_tokens=context_tokens(path))
    by_id: dict[str, ConversationMessage] = {}
    for entry in stream(path, start=boundary if boundary > 0 and inside else 0):
        if isinstance(entry, int):
            loaded.damaged += 1
            continue
        if entry.type == "session/unsnip":
            back = cast("list[str]", entry.record.get("messageIds") or [])
            loaded.snipped.difference_update(back)
            loaded.spared.update(back)
        if entry.type not in KEPT:
            continue
        message = revive(entry.record)
        match message:
            case Tombstone(reason="snip"):
                loaded.snipped.update(message.message_uuids)
            case Tombstone():
                for uuid in message.message_uuids:
                    by_id.pop(uuid, None)
            case Collapsed():
                loaded.collapsed.append(message)
            case CompactBoundary():
                by_id = {message.uuid: message}
                loaded.collapsed.clear()
            case UserMessage() | AssistantMessage() | Attachment():
                by_id[message.uuid] = message
            case _:
                pass
    loaded.messages = list(by_id.values())
    return loaded


def unfinished_turn(path: Path) -> Json | None:
    """The `session/turn` record of a turn that began and has no result, or was cut by our own end (S4)."""
    turn = last_entry(path, "session/turn")
    if turn is None:
        return None
    result, rewound, cut = (last_entry(path, kind, after=turn.offset) for kind in ("result", REWOUND, "session/cut"))
    return turn.record if rewound is None and (result is None or cut is not None) else None


def last_entry(path: Path, kind: str, *, before: int | None = None, after: int = 0) -> Entry | None:
    """The newest record of this type anywhere in the file (or between two offsets), rewound parts included."""
    needle = orjson.dumps({"type": kind})[:-1]
    with path.open("rb") as file:
        fd = file.fileno()
        end = os.fstat(fd).st_size if before is None else before
        while (at := rfind(fd, needle, end, floor=after)) >= 0:
            if at == 0 or os.pread(fd, 1, at - 1) == b"\n":
                line = line_at(fd, at)
                if record := decode(line):
                    return Entry(offset=at, end=at + len(line), record=record)
            end = at
    return None


def find_uuid(path: Path, uuid: str) -> Entry | None:
    """The record that carries this uuid, rewound parts included: one can go back to any message ever said."""
    kinds = SHOWN | {REWOUND}
    return _newest(path, "uuid", uuid, lambda record: record.get("uuid") == uuid and record.get("type") in kinds)


def find_turn(path: Path, client_message_id: str) -> Json | None:
    """The `session/turn` record of the message a client sent under this id, if it ever arrived."""
    found = _newest(path, "clientMessageId", client_message_id, lambda record: record.get("type") == "session/turn")
    return found.record if found else None


def _newest(path: Path, key: str, value: str, fits: Callable[[Json], bool]) -> Entry | None:
    """The last line that says `"key":"value"` somewhere and holds a record that fits."""
    needle = b'"%b":' % key.encode() + orjson.dumps(value)
    with path.open("rb") as file:
        fd = file.fileno()
        end = os.fstat(fd).st_size
        while (at := rfind(fd, needle, end)) >= 0:
            start = rfind(fd, b"\n", at) + 1
            line = line_at(fd, start)
            if (record := decode(line)) is not None and fits(record):
                return Entry(offset=start, end=start + len(line), record=record)
            end = start
    return None


def holds_call(path: Path, tool_use_id: str) -> bool:
    """Whether the conversation has a tool call of this id."""
    needle = b'"id":' + orjson.dumps(tool_use_id)
    with path.open("rb") as file:
        fd = file.fileno()
        end = os.fstat(fd).st_size
        while (at := rfind(fd, needle, end)) >= 0:
            start = rfind(fd, b"\n", at) + 1
            record = decode(line_at(fd, start)) or {}
            if record.get("type") == "assistant":
                return True
            end = start
    return False


def header(path: Path) -> Json:
    """The first record; an empty mapping when it is damaged."""
    with path.open("rb") as file:
        return decode(file.readline()) or {}


def format_of(path: Path) -> int:
    """The newest format any part of the file says it is in: its beginning, or the last state that was written."""
    with path.open("rb") as file:
        first = [decode(file.readline(CHUNK)) or {} for _ in range(2)]
    said = [record.get("version") for record in first if record.get("type") == "session/format"]
    state = last_entry(path, "session/state")
    said.append(state.record.get("format") if state else None)
    return max((version for version in said if type(version) is int), default=1)


def revive(record: Json) -> Message | None:
    """The engine's message, or None when this version cannot make sense of the record."""
    try:
        return codec.from_json(record)
    except (TypeError, ValueError, KeyError, AttributeError):
        return None


def _result(record: Json | None) -> Result | None:
    message = revive(record) if record else None
    return message if isinstance(message, Result) else None


def _to_cursor(position: int, withdrawn: set[str]) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([position, sorted(withdrawn)])).decode()


def _from_cursor(cursor: str, size: int) -> tuple[int, set[str]]:
    """Where to read on."""
    try:
        value: Any = orjson.loads(base64.urlsafe_b64decode(cursor))
        position, withdrawn = value
        return max(0, min(int(position), size)), {str(uuid) for uuid in withdrawn}
    except (ValueError, TypeError):
        hint = "Send the nextCursor of the page before, or none."
        raise ProtocolError("invalidParams", "the cursor is not one of ours", hint=hint) from None
