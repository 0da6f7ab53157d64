"""Grep: search inside files with a regular expression, newest files first."""

import stat
from dataclasses import replace
from functools import partial
from typing import Annotated, ClassVar

import msgspec
from anyio import to_thread
from msgspec import Meta

from assent.tools.files import disk
from assent.tools.files.disk_workspace import absolute
from assent.tools.search import ripgrep, unsaved
from assent.tools.search.matches import MOST, Found, Mode, SearchRequest, found_in
from assent.tools.search.patterns import name_pattern
from assent.tools.search.plain_search import Query, matches_below, matches_in
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.errors import ToolError
from assent.types.permissions import Action


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
    read_only: ClassVar[bool] = True
    input_type: ClassVar[type[Input]] = GrepInput

    def __init__(
        self, *, may_read: ripgrep.MayRead = ripgrep.everything, find_rg: ripgrep.Find = ripgrep.system_program
    ) -> None:
        self._may_read = may_read
        self._find_rg = find_rg

    def description(self) -> str:
        return (
            "Search inside files with a regular expression (ripgrep's syntax: escape braces and brackets that are "
            "meant literally). Files that .gitignore leaves out and binary files are skipped; the newest files come "
            f"first; at most {MOST} entries are shown unless head_limit says otherwise. It answers with paths unless "
            "output_mode asks for content or count. Files open in the editor are searched as they are there, unsaved."
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
        texts = ctx.workspace.unsaved()
        text = unsaved.text_at(texts, base)
        folder, name = _place(base) if text is None else _split(base)
        if text is not None:
            buffers = {name: text}
        else:
            buffers = {} if name else unsaved.below(texts, folder)
        rg = self._find_rg()
        in_buffers = await _search_buffers(rg, input, buffers, ctx, explicit=bool(name)) if buffers else {}
        wanted = SearchRequest(
            pattern=input.pattern,
            mode=input.output_mode,
            base=base,
            folder=folder,
            cwd=ctx.cwd,
            glob=input.glob,
            numbers=input.numbers,
            context=bool(input.after or input.before or input.around),
            limit=input.head_limit,
            may_read=self._may_read(),
            unsaved={each: in_buffers.get(each) for each in buffers},
        )
        if text is not None:
            return wanted.told({})
        if rg is None:
            output, complete = await to_thread.run_sync(_plainly, input, wanted)
        else:
            arguments = [*_arguments(input), *(["--text"] if name else []), "--", input.pattern]
            output, complete = await ripgrep.run(rg, arguments, ctx, wanted.told_from, folder=folder, start=name)
        if not complete:
            note = "[The search was stopped early: it finds too much or takes too long. Narrow it]"
            output = replace(output, content=f"{output.content}\n{note}")
        return output


def _place(base: str) -> tuple[str, str]:
    """The folder to search in, and the one file in it that is meant, if it is one."""
    status = disk.status_of(base)
    if stat.S_ISDIR(status.st_mode):
        return base, ""
    disk.refuse_kind(base, status)
    if disk.is_large_binary(base, status):
        raise ToolError(f"{base} is binary and too large to search ({status.st_size:,} bytes)")
    return _split(base)


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder or "/", name


async def _search_buffers(
    rg: str | None, input: GrepInput, buffers: unsaved.Texts, ctx: ToolContext, *, explicit: bool
) -> Found:
    """The same search over what the editor holds, by the names of the files."""
    with unsaved.laid_out(buffers) as (folder, names):
        if rg is None:
            paths = [ripgrep.joined(folder, short) for short in names]
            by_path, _ = await to_thread.run_sync(lambda: matches_in(_query(input), paths, explicit=explicit))
            found = {path[len(folder) + 1 :]: entries for path, entries in by_path.items()}
        else:
            flags = [*_arguments(input), "--no-ignore", *(["--text"] if explicit else []), "--", input.pattern]
            take = partial(found_in, mode=input.output_mode)
            found, _ = await ripgrep.run(rg, flags, ctx, take, folder=folder)
        return {names[short]: entries for short, entries in found.items()}


def _plainly(input: GrepInput, wanted: SearchRequest) -> tuple[ToolOutput, bool]:
    found, complete = matches_below(_query(input), wanted.base)
    below = len(ripgrep.joined(wanted.folder, ""))
    return wanted.told({path[below:]: entries for path, entries in found.items()}), complete


def _query(input: GrepInput) -> Query:
    return Query(
        pattern=input.pattern,
        mode=input.output_mode,
        type=input.type,
        ignore_case=input.ignore_case,
        multiline=input.multiline,
        before=input.before or input.around,
        after=input.after or input.around,
    )


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
