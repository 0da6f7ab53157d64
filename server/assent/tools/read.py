"""Read: a file as text with line numbers, as a picture, as PDF pages, or as notebook cells."""

import itertools
import re
from pathlib import Path
from typing import Annotated, ClassVar

from msgspec import Meta

from assent.text.words import counted
from assent.tools.files.disk_workspace import absolute
from assent.tools.files.read_marks import mark, numbered
from assent.tools.files.rich_files import read_image, read_notebook, read_pdf
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.tools.tool_responses import text_file_response
from assent.types.blocks import Json
from assent.types.permissions import Action
from assent.types.pointers import unchanged
from assent.types.ports import FileText

LINES = 2000
CHARACTERS = 100_000  # of one result; the rest is read with offset
LONGEST_LINE = 2000
_STRIDE = 64 * 1024
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_IMAGES = {".png", ".jpg", ".jpeg", ".gif", ".webp"}


class ReadInput(Input, frozen=True):
    file_path: Annotated[str, Meta(description="The file to read; relative paths start at the working directory.")]
    offset: Annotated[
        Annotated[int, Meta(ge=0)] | None, Meta(description="The first line (or PDF page, or cell) to read, from 1.")
    ] = None
    limit: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="How many lines (or pages, or cells) to read.")
    ] = None


class Read(Tool[ReadInput]):
    name: ClassVar[str] = "Read"
    read_only: ClassVar[bool] = True
    input_type: ClassVar[type[Input]] = ReadInput
    max_result_chars: ClassVar[int] = 200_000  # it caps itself: a spilled Read would have to be Read again

    def description(self) -> str:
        return (
            "Read a file. What the user has open and unsaved in the editor is what you get.\n"
            f"- Text comes with line numbers, at most {LINES} lines at a time; use offset and limit for the rest of a "
            f"long file. Lines over {LONGEST_LINE} characters are cut.\n"
            "- Images (PNG, JPEG, GIF, WebP) are shown to you; PDF files by page; notebooks as cells with outputs.\n"
            "- A file must be read before it can be edited. Reading several files in one go is fine.\n"
            "- It does not list folders: use Glob."
        )

    def concurrency_safe(self, input: ReadInput) -> bool:
        return True

    def title(self, input: ReadInput) -> str:
        return f"Read {input.file_path}"

    def action(self, input: ReadInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), reads=(absolute(input.file_path, cwd),), read_only=True)

    async def call(self, input: ReadInput, ctx: ToolContext) -> ToolOutput:
        path = absolute(input.file_path, ctx.cwd)
        match Path(path).suffix.lower():
            case suffix if suffix in _IMAGES:
                return await read_image(path)
            case ".pdf":
                return await read_pdf(path, first=max(input.offset or 1, 1), count=input.limit)
            case _:
                text = await ctx.workspace.read(path)
        if path.lower().endswith(".ipynb"):
            output = read_notebook(path, text, offset=input.offset, limit=input.limit)
        else:
            output = _as_lines(input, path, text)
        if _still_in_view(input, path, output, ctx):
            seen = ctx.state.read_files[path]
            return ToolOutput(
                content=unchanged(path, seen.tool_use_id),
                summary="unchanged",
                response=lambda: {"type": "file_unchanged", "file": {"filePath": path}},
            )
        mark(ctx, path, text, offset=input.offset, limit=input.limit)
        return output


def _still_in_view(input: ReadInput, path: str, output: ToolOutput, ctx: ToolContext) -> bool:
    """C7: what the model sees of its last look at this part of this file is, word for word, what it would get now."""
    seen = ctx.state.read_files.get(path)
    return (
        seen is not None
        and (seen.offset, seen.limit) == (input.offset, input.limit)
        and ctx.in_view(seen.tool_use_id) == output.content
    )


def _as_lines(input: ReadInput, path: str, text: FileText) -> ToolOutput:
    first = max(input.offset or 1, 1)
    lines, reached_end, total = _slice(text.text, first, input.limit or LINES)

    def response() -> Json:
        return text_file_response(path, lines, first=first, total=total)

    if not text.text:
        return ToolOutput(content=f"{path} exists and is empty.", summary="empty", response=response)
    if not lines:
        words = f"{path} has only {total} lines; offset {first} is past its end."
        return ToolOutput(content=words, summary="0 lines", response=response)
    parts = [numbered(lines, first)]
    if not reached_end:
        last = first + len(lines) - 1
        parts.append(f"[Lines {first} to {last} of {total}; read on with offset {last + 1}]")
    if text.encoding not in ("utf-8",):
        parts.append(f"[The file is encoded as {text.encoding}; edits keep that]")
    return ToolOutput(content="\n".join(parts), summary=counted(len(lines), "line"), response=response)


def _slice(text: str, first: int, count: int) -> tuple[list[str], bool, int]:
    """Lines from `first`, whether the last of them is the file's last, and how many lines the file has."""
    total = text.count("\n")
    if "\r" in text:
        total += text.count("\r") - text.count("\r\n")
    if text and text[-1] not in "\r\n":
        total += 1
    start = _offset_of_line(text, first)
    lines: list[str] = []
    characters = 0
    for at in _LINE.finditer(text, start):
        if not at.group(2) and not at.group(1):  # the empty string after the last line end is no line
            break
        line = at.group(1)
        if len(line) > LONGEST_LINE:
            line = f"{line[:LONGEST_LINE]}… [{len(line) - LONGEST_LINE} more characters in this line]"
        characters += len(line) + 8
        if len(lines) >= count or (characters > CHARACTERS and lines):
            break
        lines.append(line)
    return lines, first + len(lines) > total, total


def _offset_of_line(text: str, line: int) -> int:
    """Found without splitting the text: files of many megabytes are read in slices."""
    if "\r" in text:
        at = next(itertools.islice(_LINE.finditer(text), line - 1, None), None)
        return at.start() if at else len(text)
    offset = 0
    ahead = line - 1
    while (there := text.count("\n", offset, offset + _STRIDE)) < ahead:  # counting is far quicker than finding
        ahead -= there
        offset += _STRIDE
        if offset >= len(text):
            return len(text)
    for _ in range(ahead):
        offset = text.find("\n", offset) + 1
    return offset
