"""Glob: files by name, newest first."""

import os
from collections.abc import Callable
from typing import Annotated, ClassVar

from anyio import to_thread
from msgspec import Meta

from assent.tools import ripgrep
from assent.tools.files import absolute
from assent.tools.glob_pattern import compiled, name_pattern, static_prefix
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.errors import FileMissing, ToolError
from assent.types.permissions import Action

MOST = 200


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
        base, _ = _base(input, cwd)
        return Action(tool=self.name, input=as_json(input), reads=(base,), read_only=True)

    async def call(self, input: GlobInput, ctx: ToolContext) -> ToolOutput:
        base, pattern = _base(input, ctx.cwd)
        if not await to_thread.run_sync(os.path.isdir, base):
            raise FileMissing(f"{base} is not a folder")
        wanted = compiled(pattern)
        start = f"{base}/{static_prefix(pattern)}".rstrip("/")
        paths, complete = await _files(self._find_rg(), start, pattern, ctx)
        cut = len(base) + 1 if base != "/" else 1

        def chosen() -> list[str]:
            full = paths
            kept = [path for path in full if wanted.fullmatch(path, cut)]
            if self._may_read is not None:
                kept = [path for path in kept if self._may_read(path)]
            return ripgrep.newest_first(kept, ctx.cwd)

        found = await to_thread.run_sync(chosen)
        if not found:
            return ToolOutput(content=f"No files match {input.pattern} in {base}", summary="0 files")
        shown = [ripgrep.shown_path(path, ctx.cwd) for path in found[:MOST]]
        if len(found) > MOST:
            shown.append(f"[{MOST} of {len(found)} files, the newest; use a narrower pattern for others]")
        if not complete:
            shown.append("[The search was cut short; these are not all the files]")
        return ToolOutput(content="\n".join(shown), summary=f"{len(found)} files")


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


async def _files(rg: str | None, start: str, pattern: str, ctx: ToolContext) -> tuple[list[str], bool]:
    """Every file below a folder that is not ignored, absolute."""
    if rg is None:
        from assent.tools.plain_search import files_below

        return await to_thread.run_sync(files_below, start), True
    arguments = ["--files", "--null"]
    if name := name_pattern(pattern):
        arguments += ["--type-add", f"wanted:{name}", "--type", "wanted"]
    output, complete = await ripgrep.run(rg, [*arguments, "--", start], ctx)
    return os.fsdecode(output).split("\0")[:-1], complete
