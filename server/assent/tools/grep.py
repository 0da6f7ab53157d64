"""Grep: search inside files with a regular expression, newest files first."""

import os
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

import msgspec
from anyio import to_thread
from msgspec import Meta

from assent.tools import ripgrep
from assent.tools.files import absolute
from assent.tools.glob_pattern import compiled, name_pattern
from assent.tools.ripgrep import shown_path
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.errors import FileMissing
from assent.types.permissions import Action

MOST = 250  # entries shown unless head_limit says otherwise
CHARACTERS = 28_000
COLUMNS = 500

Mode = Literal["content", "files_with_matches", "count"]


class GrepInput(Input, frozen=True):
    pattern: Annotated[str, Meta(min_length=1, description="A regular expression, in ripgrep's syntax.")]
    path: Annotated[
        str | None, Meta(description="The file or folder to search; the working directory unless given.")
    ] = None
    glob: Annotated[str | None, Meta(description="Only files whose path matches, such as *.{ts,tsx} or !*.min.js.")] = (
        None
    )
    type: Annotated[str | None, Meta(description="Only files of a type that ripgrep knows: py, js, rust, go …")] = None
    output_mode: Annotated[
        Mode, Meta(description="content: the lines; files_with_matches: the paths; count: how many per file.")
    ] = "files_with_matches"
    ignore_case: Annotated[bool, Meta(description="Ignore case.")] = msgspec.field(default=False, name="-i")
    numbers: Annotated[bool, Meta(description="Line numbers with content; on unless false.")] = msgspec.field(
        default=True, name="-n"
    )
    after: Annotated[int, Meta(ge=0, le=200, description="Lines after each match.")] = msgspec.field(
        default=0, name="-A"
    )
    before: Annotated[int, Meta(ge=0, le=200, description="Lines before each match.")] = msgspec.field(
        default=0, name="-B"
    )
    around: Annotated[int, Meta(ge=0, le=200, description="Lines on both sides.")] = msgspec.field(default=0, name="-C")
    head_limit: Annotated[
        Annotated[int, Meta(ge=0)] | None, Meta(description="Show at most so many lines, files or counts.")
    ] = None
    multiline: Annotated[bool, Meta(description="Let a match span lines, and . match line ends.")] = False


class Grep(Tool[GrepInput]):
    name: ClassVar[str] = "Grep"
    input_type: ClassVar[type[Input]] = GrepInput

    def __init__(
        self, *, may_read: Callable[[str], bool] | None = None, find_rg: ripgrep.Find = ripgrep.system_program
    ) -> None:
        self._may_read = may_read
        self._find_rg = find_rg

    def description(self) -> str:
        return (
            "Search inside files with a regular expression (ripgrep's syntax: escape braces and brackets that are "
            "meant literally). Files that .gitignore leaves out and binary files are skipped; the newest files come "
            f"first; at most {MOST} entries are shown unless head_limit says otherwise. It answers with paths unless "
            "output_mode asks for content or count. It sees what is saved on disk."
        )

    def concurrency_safe(self, input: GrepInput) -> bool:
        return True

    def title(self, input: GrepInput) -> str:
        return f"Grep {input.pattern}" + (f" in {input.path}" if input.path else "")

    def action(self, input: GrepInput, *, cwd: str) -> Action:
        base = absolute(input.path, cwd) if input.path else cwd
        return Action(tool=self.name, input=as_json(input), reads=(base,), read_only=True)

    async def call(self, input: GrepInput, ctx: ToolContext) -> ToolOutput:
        base = absolute(input.path, ctx.cwd) if input.path else ctx.cwd
        if not await to_thread.run_sync(os.path.exists, base):
            raise FileMissing(f"{base} does not exist")
        rg = self._find_rg()
        if rg is None:
            from assent.tools.plain_search import Query, matches_below

            query = Query(
                pattern=input.pattern,
                mode=input.output_mode,
                type=input.type,
                ignore_case=input.ignore_case,
                multiline=input.multiline,
                before=input.before or input.around,
                after=input.after or input.around,
            )
            found, complete = await to_thread.run_sync(matches_below, query, base)
        else:
            text = [] if await to_thread.run_sync(os.path.isdir, base) else ["--text"]  # a named file is searched whole
            output, complete = await ripgrep.run(rg, [*_arguments(input), *text, "--", input.pattern, base], ctx)
            found = await to_thread.run_sync(_parsed, output, input.output_mode)
        return await to_thread.run_sync(self._told, input, base, found, complete, ctx.cwd)

    def _told(self, input: GrepInput, base: str, found: "Found", complete: bool, cwd: str) -> ToolOutput:
        paths = [path for path in found if _wanted(input.glob, path, base)]
        if self._may_read is not None:
            paths = [path for path in paths if self._may_read(path)]
        if not paths:
            return ToolOutput(content=f"Nothing matches {input.pattern!r} in {base}", summary="no matches")
        paths = ripgrep.newest_first(paths, cwd)
        limit = MOST if input.head_limit is None else input.head_limit or len(found) + sum(map(len, found.values()))
        entries = _entries(input, paths, found, cwd)
        shown: list[str] = []
        size = 0
        cut = False
        for entry in entries:
            if len(shown) >= limit or size > CHARACTERS:
                cut = True
                break
            shown.append(entry)
            size += len(entry) + 1
        content = "\n".join(shown)
        if cut:
            content += f"\n[Cut here: {_total(input, paths, found)} in all. Narrow the search, or raise head_limit]"
        if not complete:
            content += "\n[The search was stopped early: it finds too much or takes too long. Narrow it]"
        return ToolOutput(content=content, summary=_total(input, paths, found))


Found = dict[str, list[str]]
"""By path: nothing, a count, or lines as `12:text` (a match) and `13-text` (its surroundings), `--` between groups."""


def _arguments(input: GrepInput) -> list[str]:
    match input.output_mode:
        case "files_with_matches":
            flags = ["--files-with-matches", "--null"]
        case "count":
            flags = ["--count", "--null", "--with-filename"]
        case "content":
            flags = ["--null", "--with-filename", "--no-heading", "--line-number"]
            flags += [
                f"--after-context={input.after or input.around}",
                f"--before-context={input.before or input.around}",
            ]
    if input.ignore_case:
        flags.append("--ignore-case")
    if input.multiline:
        flags += ["--multiline", "--multiline-dotall"]
    if input.type:
        flags.append(f"--type={input.type}")
    elif input.glob and not input.glob.startswith("!") and (name := name_pattern(input.glob)):
        flags += ["--type-add", f"wanted:{name}", "--type", "wanted"]  # unlike --glob, this honours .gitignore
    return flags


def _parsed(output: bytes, mode: Mode) -> Found:
    text = os.fsdecode(output)
    if mode == "files_with_matches":
        return {path: [] for path in text.split("\0")[:-1]}
    found: Found = {}
    last = ""
    apart = False
    for line in text.split("\n")[:-1]:
        path, zero, rest = line.partition("\0")
        if not zero:  # `--` between groups of lines
            apart = True
            continue
        lines = found.setdefault(path, [])
        if apart and path == last:
            lines.append("--")
        lines.append(rest)
        last, apart = path, False
    return found


def _wanted(glob: str | None, path: str, base: str) -> bool:
    if not glob:
        return True
    relative = path[len(base) :].lstrip("/") or os.path.basename(path)  # noqa: PTH119 -- many paths, quickly
    if glob.startswith("!"):
        return not compiled(glob[1:]).fullmatch(relative)
    return compiled(glob).fullmatch(relative) is not None


def _entries(input: GrepInput, paths: list[str], found: Found, cwd: str) -> "list[str]":
    match input.output_mode:
        case "files_with_matches":
            return [shown_path(path, cwd) for path in paths]
        case "count":
            return [f"{shown_path(path, cwd)}:{found[path][0]}" for path in paths]
        case "content":
            context = bool(input.after or input.before or input.around)
            entries: list[str] = []
            for path in paths:
                if context and entries:
                    entries.append("--")
                name = shown_path(path, cwd)
                entries += (line if line == "--" else _line(name, line, input.numbers) for line in found[path])
            return entries


def _line(name: str, line: str, numbers: bool) -> str:
    digits = len(line) - len(line.lstrip("0123456789"))
    mark = line[digits : digits + 1]
    text = line.rstrip("\r") if numbers else line[digits + 1 :].rstrip("\r")
    return f"{name}{mark}{text if len(text) <= COLUMNS else text[:COLUMNS] + ' […]'}"


def _total(input: GrepInput, paths: list[str], found: Found) -> str:
    match input.output_mode:
        case "files_with_matches":
            return f"{len(paths)} files"
        case "count":
            return f"{sum(int(found[path][0]) for path in paths)} matches in {len(paths)} files"
        case "content":
            return f"{sum(line != '--' for path in paths for line in found[path])} lines in {len(paths)} files"
