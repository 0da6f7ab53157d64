"""Glob: files by name, newest first."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, ClassVar

from anyio import to_thread
from msgspec import Meta

from assent.tools import ripgrep
from assent.tools.files import absolute
from assent.tools.glob_pattern import compiled, name_pattern, static_prefix
from assent.tools.plain_search import files_below
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.tools.words import counted
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
    input_type: ClassVar[type[Input]] = GlobInput

    def __init__(
        self, *, may_read: Callable[[str], bool] | None = None, find_rg: ripgrep.Find = ripgrep.system_program
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
        base, pattern = _base(input, ctx.cwd)
        if not os.path.isdir(base):  # noqa: PTH112, ASYNC240 -- one stat; a thread would cost more
            raise FileMissing(f"{base} is not a folder")
        start = _start(base, pattern)
        rg = self._find_rg()
        chosen = self._chosen(base, pattern, by_name=rg is not None and _names_only(pattern))
        if rg is None:
            found = await to_thread.run_sync(lambda: ripgrep.newest_first(chosen(files_below(start))))
            complete = True
        else:
            arguments = ["--files", "--null"]
            if name := name_pattern(pattern):
                arguments += ["--type-add", f"wanted:{name}", "--type", "wanted"]
            found, complete = await ripgrep.run(rg, [*arguments, "--", start], ctx, _newest_first(chosen))
        if not found:
            return ToolOutput(content=f"No files match {input.pattern} in {base}", summary="0 files")
        shown = [ripgrep.shown_path(path, ctx.cwd) for path in found[:MOST]]
        if len(found) > MOST:
            shown.append(f"[{MOST} of {len(found)} files, the newest; use a narrower pattern for others]")
        if not complete:
            shown.append("[The search was cut short; these are not all the files]")
        return ToolOutput(content="\n".join(shown), summary=counted(len(found), "file"))

    def _chosen(self, base: str, pattern: str, *, by_name: bool) -> Choose:
        """Keeps the paths that are wanted and may be shown; `by_name`: rg has picked the wanted ones already."""
        fullmatch = compiled(pattern).fullmatch
        cut = len(base) + 1 if base != "/" else 1
        may_read = self._may_read

        def choose(paths: Iterable[str]) -> list[str]:
            kept = list(paths) if by_name else [path for path in paths if fullmatch(path, cut)]
            return kept if may_read is None else [path for path in kept if may_read(path)]

        return choose


def _names_only(pattern: str) -> bool:
    """A file's own name decides, in whatever folder it is."""
    return "/" not in pattern.removeprefix("**/") and name_pattern(pattern) is not None


def _newest_first(choose: Choose) -> Callable[[Iterator[bytes]], list[str]]:
    """Looks at the age of each file while rg still searches for the next."""

    def take(chunks: Iterator[bytes]) -> list[str]:
        found: list[tuple[float, str]] = []
        rest = b""
        for chunk in chunks:
            *whole, rest = (rest + chunk).split(b"\0")
            found += ripgrep.stamped(choose(map(os.fsdecode, whole)))
        return ripgrep.in_order(found)

    return take


def _start(base: str, pattern: str) -> str:
    return f"{base}/{static_prefix(pattern)}".rstrip("/") or "/"


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
