"""The `tool_response` of PostToolUse hooks: for each of the tools that existing scripts know, the object they read.

`ToolOutput.response` gives it, made only when a hook wants it. The other way round, `response_words` is what the model
reads where a hook gave such an object as `updatedToolOutput`. Pure.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import Any, NamedTuple, cast

import orjson

from assent.text.diff import changed_blocks
from assent.text.lines import split_lines
from assent.types.blocks import Json, text_of

_CONTEXT = 3  # lines around a change
_TEXTS = ("content", "result", "output", "message")  # the keys under which a response holds its text


class LineBlock(NamedTuple):
    """Lines `[start, end)` of the old text became `[new_start, new_end)` of the new one, counted from 0."""

    start: int
    end: int
    new_start: int
    new_end: int


def command_response(stdout: str, *, notes: str = "", background: str = "") -> Json:
    """Of Bash: `stdout` is all that the command wrote, in order; `stderr` is what we have to say about it."""
    found: Json = {"stdout": stdout, "stderr": notes, "interrupted": False, "isImage": False}
    return {**found, "backgroundTaskId": background} if background else found


def text_file_response(path: str, lines: list[str], *, first: int, total: int) -> Json:
    file = {"filePath": path, "content": "\n".join(lines), "numLines": len(lines), "startLine": first}
    return {"type": "text", "file": {**file, "totalLines": total}}


def edit_response(path: str, *, before: str | None, after: str | None, planned: str) -> Json:
    """What every tool that changes a file says of it; `after` is None when nothing was written."""
    now = after if after is not None else before or ""
    return {
        "filePath": path,
        "success": after is not None and after != before,
        "originalFile": before,
        "structuredPatch": structured_patch(before or "", now),
        "userModified": now != planned,
    }


def structured_patch(before: str, after: str) -> list[Json]:
    """The hunks of a unified diff, each line with its sign and without its end."""
    old, new = split_lines(before), split_lines(after)
    return [_hunk(cluster, old, new) for cluster in _clusters(_line_blocks(before, after, old, new))]


def _line_blocks(before: str, after: str, old: list[str], new: list[str]) -> list[LineBlock]:
    starts, new_starts = ([0, *accumulate(map(len, lines))] for lines in (old, new))
    return [
        LineBlock(
            bisect_left(starts, block.start),
            bisect_left(starts, block.end),
            bisect_left(new_starts, block.new_start),
            bisect_left(new_starts, block.new_end),
        )
        for block in changed_blocks(before, after)
    ]


def _clusters(blocks: list[LineBlock]) -> list[list[LineBlock]]:
    """Changes whose surroundings touch are one hunk."""
    found: list[list[LineBlock]] = []
    for block in blocks:
        if found and block.start - found[-1][-1].end <= 2 * _CONTEXT:
            found[-1].append(block)
        else:
            found.append([block])
    return found


def _hunk(cluster: list[LineBlock], old: list[str], new: list[str]) -> Json:
    begin = max(cluster[0].start - _CONTEXT, 0)
    finish = min(cluster[-1].end + _CONTEXT, len(old))
    lines: list[str] = []
    at = begin
    for block in cluster:
        lines += _signed(" ", old[at : block.start])
        lines += _signed("-", old[block.start : block.end])
        lines += _signed("+", new[block.new_start : block.new_end])
        at = block.end
    lines += _signed(" ", old[at:finish])
    grown = sum((block.new_end - block.new_start) - (block.end - block.start) for block in cluster)
    new_begin = begin + cluster[0].new_start - cluster[0].start
    return {
        "oldStart": begin + 1,
        "oldLines": finish - begin,
        "newStart": new_begin + 1,
        "newLines": finish - begin + grown,
        "lines": lines,
    }


def _signed(sign: str, lines: list[str]) -> list[str]:
    return [sign + line.rstrip("\r\n") for line in lines]


def response_words(given: object) -> str:
    """What the model reads of a response: its text where it has one that is known, else all of it as JSON."""
    if isinstance(given, str):
        return given
    if isinstance(given, list):
        blocks = cast("list[Any]", given)
        if blocks and all(isinstance(block, dict) and "type" in block for block in blocks):
            return text_of(cast("list[Json]", blocks))
    if isinstance(given, dict):
        found = cast("Json", given)
        if isinstance(found.get("stdout"), str):
            return "\n".join(part for part in (found["stdout"], found.get("stderr")) if isinstance(part, str) and part)
        if isinstance(file := found.get("file"), dict) and isinstance(cast("Json", file).get("content"), str):
            return str(cast("Json", file)["content"])
        for key in _TEXTS:
            if isinstance(found.get(key), str | list):
                return response_words(found[key])
        if isinstance(names := found.get("filenames"), list):
            return "\n".join(map(str, cast("list[Any]", names)))
    return orjson.dumps(given, default=str).decode()
