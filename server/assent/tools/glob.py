"""Glob: files by name, newest first."""

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from anyio import to_thread
from msgspec import Meta

from assent.text.words import counted
from assent.tools.files import disk
from assent.tools.files.disk_workspace import absolute
from assent.tools.search import ripgrep, unsaved
from assent.tools.search.newest import Dated
from assent.tools.search.patterns import compiled, name_pattern, static_prefix
from assent.tools.search.plain_search import files_below
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.blocks import Json
from assent.types.errors import FileMissing, ToolError
from assent.types.permissions import Action

MOST = 200
Choose = Callable[[Iterable[str]], list[str]]


class GlobInput(Input, frozen=True):
    pattern: Annotated[
        str, Meta(min_length=1, description="Such as src/**/*.ts; a name without / matches at any depth.")
    ]
    path: Annotated[str | None, Meta(description="The folder to look in; the working directory unless given.")] = None


class Glob(Tool[GlobInput]):
    name: ClassVar[str] = "Glob"
    read_only: ClassVar[bool] = True
    input_type: ClassVar[type[Input]] = GlobInput

    def __init__(
        self, *, may_read: ripgrep.MayRead = ripgrep.everything, find_rg: ripgrep.Find = ripgrep.system_program
    ) -> None:
        self._may_read = may_read
        self._find_rg = find_rg

    def description(self) -> str:
        return (
            "Find files by name. *, ?, ** (any folders), {a,b} and [abc] are understood; files that .gitignore leaves "
            f"out are left out. The newest come first, at most {MOST}. To search inside files use Grep."
        )

    def concurrency_safe(self, input: GlobInput) -> bool:
        return True

    def title(self, input: GlobInput) -> str:
        return f"Glob {input.pattern}" + (f" in {input.path}" if input.path else "")

    def action(self, input: GlobInput, *, cwd: str) -> Action:
        base, pattern = _base(input, cwd)
        start = _start(base, pattern)  # a folder in the pattern may be a link
        return Action(tool=self.name, input=as_json(input), reads=tuple(dict.fromkeys((base, start))), read_only=True)

    async def call(self, input: GlobInput, ctx: ToolContext) -> ToolOutput:
        began = time.monotonic()
        base, pattern = _base(input, ctx.cwd)
        if not stat.S_ISDIR(disk.status_of(base).st_mode):  # here, as a thread would cost more
            raise FileMissing(f"{base} is not a folder")
        may_read = self._may_read()
        chosen = _chosen(base, pattern, may_read)
        held = _held(ctx.workspace.unsaved(), base, pattern)
        rg = self._find_rg()
        if rg is None:
            found = await to_thread.run_sync(_plainly, base, _start(base, pattern), chosen, held)
            complete = True
        else:
            flags = ["--files", "--null"]
            if name := name_pattern(pattern):
                flags += ["--type-add", f"wanted:{name}", "--type", "wanted"]
            take = _newest(base, chosen, held, by_name=_names_only(pattern) and may_read is None)
            found, complete = await ripgrep.run(
                rg, [*flags, "--"], ctx, take, folder=base, start=static_prefix(pattern)
            )
        if not found.total:
            nothing = f"No files match {input.pattern} in {base}"
            return ToolOutput(content=nothing, summary="0 files", response=lambda: _response([], 0, complete, began))
        names = [ripgrep.shown_path(ripgrep.joined(base, name), ctx.cwd) for name in found.newest]
        shown = list(names)
        if found.total > MOST:
            shown.append(f"[{MOST} of {found.total} files, the newest; use a narrower pattern for others]")
        if not complete:
            shown.append("[The search was cut short; these are not all the files]")
        return ToolOutput(
            content="\n".join(shown),
            summary=counted(found.total, "file"),
            response=lambda: _response(names, found.total, complete, began),
        )


def _response(names: list[str], total: int, complete: bool, began: float) -> Json:
    return {
        "filenames": names,
        "numFiles": len(names),
        "truncated": total > len(names) or not complete,
        "totalMatches": total,
        "countIsComplete": complete,
        "durationMs": round((time.monotonic() - began) * 1000),
    }


def _chosen(base: str, pattern: str, may_read: Callable[[str], bool] | None) -> Choose:
    """Keeps the names, relative to the base, that are wanted and may be shown."""
    fullmatch = compiled(pattern).fullmatch

    def choose(names: Iterable[str]) -> list[str]:
        kept = [name for name in names if fullmatch(name)]
        return kept if may_read is None else [name for name in kept if may_read(ripgrep.joined(base, name))]

    return choose


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    newest: list[str]  # names relative to the base
    total: int


def _names_only(pattern: str) -> bool:
    """A file's own name decides, in whatever folder it is; rg has looked at that already."""
    last = pattern.removeprefix("**/")
    return last in ("*", "**") or ("/" not in last and name_pattern(pattern) is not None)


def _newest(base: str, choose: Choose, held: list[str], *, by_name: bool) -> Callable[[Iterator[bytes]], _Found]:
    """Looks at the age of each file while rg still searches for the next."""
    unsaved_names = {os.fsencode(ripgrep.HERE + name) for name in held}

    def take(chunks: Iterator[bytes]) -> _Found:
        rest = b""
        with Dated[bytes](base) as dated:
            dated.add_unsaved([os.fsencode(name) for name in choose(held)])
            for chunk in chunks:
                *names, rest = (rest + chunk).split(b"\0")
                if unsaved_names:
                    names = [name for name in names if name not in unsaved_names]
                dated.add(names if by_name else [os.fsencode(name) for name in choose(_decoded(names))])
            found = [os.fsdecode(name).removeprefix(ripgrep.HERE) for name in dated.newest(MOST)]
            return _Found(newest=found, total=len(dated.names))

    return take


def _decoded(names: list[bytes]) -> list[str]:
    return [name.removeprefix(ripgrep.HERE) for name in map(os.fsdecode, names)]


def _plainly(base: str, start: str, choose: Choose, held: list[str]) -> _Found:
    below = len(ripgrep.joined(base, ""))
    unsaved_names = set(held)
    with Dated[str](base) as dated:
        dated.add_unsaved(choose(held))
        names = (path[below:] for path in files_below(start))
        dated.add(choose(name for name in names if name not in unsaved_names))
        return _Found(newest=dated.newest(MOST), total=len(dated.names))


def _held(texts: unsaved.Texts, base: str, pattern: str) -> list[str]:
    """Names, relative to the base, of files that the editor holds unsaved: they count as there, and as the newest."""
    prefix = static_prefix(pattern).strip("/")
    return [f"{prefix}/{name}" if prefix else name for name in unsaved.below(texts, _start(base, pattern))]


def _start(base: str, pattern: str) -> str:
    return ripgrep.joined(base, static_prefix(pattern)).rstrip("/") or "/"


def _base(input: GlobInput, cwd: str) -> tuple[str, str]:
    """The folder the pattern starts from, and the pattern relative to it."""
    base = absolute(input.path, cwd) if input.path else cwd
    pattern = input.pattern.removeprefix("./")
    if pattern.startswith(("/", "~/")) or ".." in pattern.split("/"):
        prefix = static_prefix(pattern)
        if ".." in pattern[len(prefix) :].split("/"):
            raise ToolError("`..` cannot follow a wildcard in a pattern; give the folder as path instead")
        base = absolute(prefix or "/", base)
        pattern = "/" + pattern[len(prefix) :].lstrip("/")
    return base, pattern
