"""What the model can provably do without (C2): reads that a later one replaced, failures of calls that later succeeded.

Only what follows from the view itself counts. A failure after which nobody knows what was done is no mere failure: it
stays. Like every change in the middle of a conversation it costs the cache behind it, so it is made when that pays.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import orjson

from assent.context.microcompact import CLEARED, MIN_SHARE
from assent.context.thresholds import Thresholds
from assent.context.tokens import estimate_block
from assent.context.tool_results import MARK
from assent.text.words import counted
from assent.types.blocks import Block
from assent.types.messages import AssistantMessage, ConversationMessage, UserMessage
from assent.types.pointers import points_at

WORTH_TOKENS = 500  # less is not worth the news, even where the cache is cold
READ_ON = "; read on with offset "  # the end of a Read that did not reach the end of the file
WORKTREES = frozenset({"EnterWorktree", "ExitWorktree"})
MOVES = re.compile(
    r"\b(?:cd|pushd|popd|source|eval|exec)\b|(?:^|[\s;&|(])\.\s"
)  # commands after which we may be elsewhere
WORDS_ONLY = frozenset({"description", "timeout"})  # of a call's input: they do not change what is done
UNSURE = ("interrupted", "cancelled", "no result", "may have run", "timed out")
LOOKED_AT = 400  # characters at both ends of a failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Unneeded:
    uuid: str  # of the message that holds the call
    kind: Literal["read", "failure"]
    tokens: int  # of the call and its result


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    uuid: str
    name: str
    input: Mapping[str, Any]
    result: Block
    place: tuple[str, int]  # the file, and unless its path is absolute, the stretch in which we were in the same folder
    tokens: int

    @property
    def failed(self) -> bool:
        return bool(self.result.get("is_error"))


def pays(
    tokens: int, marks: Thresholds, *, idle_seconds: float | None, cache_seconds: float, freed: int | None = None
) -> bool:
    """Whether to look, and with `freed` whether what was found is worth it: the cache is cold, or the window full."""
    if idle_seconds is None or idle_seconds >= cache_seconds:
        return freed is None or freed >= WORTH_TOKENS
    return tokens >= marks.microcompact and (freed is None or freed >= marks.window * MIN_SHARE)


def unneeded(view: Sequence[ConversationMessage]) -> list[Unneeded]:
    """In the order they came."""
    found: list[Unneeded] = []
    whole: set[tuple[str, int]] = set()  # files that a later call shows to their end
    parts: set[tuple[tuple[str, int], object, object]] = set()  # and parts of files
    done: set[bytes] = set()  # calls that succeed later
    for call in reversed(_calls(view)):
        again = _same(call)
        if call.failed:
            if again in done and not _unsure(call.result):
                found.append(Unneeded(uuid=call.uuid, kind="failure", tokens=call.tokens))
            continue
        done.add(again)
        if call.name != "Read" or not call.input.get("file_path"):
            continue
        part = (call.place, call.input.get("offset"), call.input.get("limit"))
        if call.place in whole or part in parts:
            found.append(Unneeded(uuid=call.uuid, kind="read", tokens=call.tokens))
        elif _shows(call):
            parts.add(part)
            if _from_the_start(call) and _to_the_end(call):
                whole.add(call.place)
    found.reverse()
    return found


def why(found: Sequence[Unneeded]) -> str:
    """For people: what was let go."""
    reads = sum(each.kind == "read" for each in found)
    failures = len(found) - reads
    said = [f"{counted(reads, 'read')} that a later one replaced"] if reads else []
    if failures:
        said.append(f"{counted(failures, 'failed call')} that later succeeded")
    return " and ".join(said)


def _calls(view: Sequence[ConversationMessage]) -> list[_Call]:
    results: dict[str, Block] = {
        str(block.get("tool_use_id")): block
        for message in view
        if isinstance(message, UserMessage)
        for block in message.content
        if block.get("type") == "tool_result"
    }
    calls: list[_Call] = []
    stretch = 0
    for message in view:
        if not isinstance(message, AssistantMessage):
            continue
        for block in message.content:
            if block.get("type") != "tool_use":
                continue
            name, given, result = str(block.get("name")), block.get("input"), results.get(str(block.get("id")))
            input = cast("Mapping[str, Any]", given if isinstance(given, Mapping) else {})
            stretch += name in WORKTREES or (name == "Bash" and MOVES.search(str(input.get("command"))) is not None)
            if result is None or not input or len(message.content) != 1:
                continue
            calls.append(
                _Call(
                    uuid=message.uuid,
                    name=name,
                    input=input,
                    result=result,
                    place=_place(str(input.get("file_path", "")), stretch),
                    tokens=estimate_block(block) + estimate_block(result),
                )
            )
    return calls


def _place(path: str, stretch: int) -> tuple[str, int]:
    return posixpath.normpath(path), 0 if path.startswith("/") else stretch


def _same(call: _Call) -> bytes:
    meant = {key: value for key, value in call.input.items() if key not in WORDS_ONLY}
    return orjson.dumps([call.name, call.place[1], meant], option=orjson.OPT_SORT_KEYS, default=str)


def _shows(call: _Call) -> bool:
    """Whether the result is there in the view, and not words that stand for it."""
    content: object = call.result.get("content")
    if not isinstance(content, str):
        return bool(content)
    return content != CLEARED and points_at(content) is None and MARK not in content[-LOOKED_AT:]


def _from_the_start(call: _Call) -> bool:
    return (call.input.get("offset") or 1) <= 1


def _to_the_end(call: _Call) -> bool:
    content: object = call.result.get("content")
    return isinstance(content, str) and READ_ON not in content[-LOOKED_AT:]


def _unsure(result: Block) -> bool:
    """Whether nobody knows what the call did before it ended."""
    content: object = result.get("content")
    if not isinstance(content, str):
        return True
    words = f"{content[:LOOKED_AT]} {content[-LOOKED_AT:]}".lower()
    return any(each in words for each in UNSURE)
