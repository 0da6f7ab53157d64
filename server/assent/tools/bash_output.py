"""BashOutput: what a background command has said since it was last asked."""

import re
from tempfile import TemporaryDirectory
from typing import Annotated, ClassVar

import anyio
from msgspec import Meta

from assent.tools.process.jobs import ShellJobs, exit_words
from assent.tools.search import ripgrep
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json, kept_where
from assent.types.errors import ToolError
from assent.types.permissions import Action

_MOST = 24_000


class BashOutputInput(Input, frozen=True):
    bash_id: Annotated[str, Meta(description="The id that Bash gave.")]
    filter: Annotated[str | None, Meta(description="A regular expression: only lines that match are shown.")] = None


class BashOutput(Tool[BashOutputInput]):
    name: ClassVar[str] = "BashOutput"
    input_type: ClassVar[type[Input]] = BashOutputInput

    def __init__(self, *, find_rg: ripgrep.Find = ripgrep.system_program) -> None:
        self._find_rg = find_rg

    def description(self) -> str:
        return (
            "Show what a background command has written since you last looked, and whether it still runs. "
            "It does not wait: you are told when the command ends, so do not poll."
        )

    def concurrency_safe(self, input: BashOutputInput) -> bool:
        return True

    def title(self, input: BashOutputInput) -> str:
        return f"Output of {input.bash_id}"

    def action(self, input: BashOutputInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), harmless=True)

    async def call(self, input: BashOutputInput, ctx: ToolContext) -> ToolOutput:
        if not isinstance(ctx.jobs, ShellJobs):
            raise ToolError("This session has no background commands")
        job = ctx.jobs.get(input.bash_id)
        seen = job.process.received  # more may come while the filter runs
        text = job.process.output(job.read_to).decode("utf-8", "replace")
        if input.filter is not None:
            text = await self._matching(text, input.filter, ctx)
        ctx.if_withdrawn(job.look(seen))
        if len(text) > _MOST:
            where = f"; all of it {kept_where(text, ctx)}" if ctx.spill else ""
            text = f"[… the first {len(text) - _MOST:,} characters left out{where} …]\n{text[-_MOST:]}"
        state = job.state if job.process.status in (None, 0) else f"{job.state}, {exit_words(job.process.status)}"
        return ToolOutput(content=f"[{state}]\n{text.rstrip() or '(nothing new)'}", summary=state)

    async def _matching(self, text: str, pattern: str, ctx: ToolContext) -> str:
        """The lines that match, found by rg: its time grows with the text alone, whatever the pattern is.

        A pattern can keep Python's own search busy for ever, and with it the whole server.
        """
        rg = self._find_rg()
        try:
            if rg is None:
                wanted = re.compile(pattern)
                return "\n".join(line for line in text.split("\n") if wanted.search(line))
            with TemporaryDirectory(prefix="assent-") as folder:
                await anyio.Path(folder, "output").write_text(text, encoding="utf-8", newline="")
                flags = ["--text", "--no-filename", "--no-line-number", "--", pattern]
                found, _ = await ripgrep.run(rg, flags, ctx, b"".join, folder=folder, start="output")
                return found.decode("utf-8", "replace")
        except (re.error, ToolError) as error:
            raise ToolError(f"The filter is not a valid regular expression: {error}") from None
