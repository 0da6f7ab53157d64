"""KillShell: stop a background command and everything it started."""

from typing import Annotated, ClassVar

from msgspec import Meta

from assent.tools.process.jobs import Job, ShellJobs
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.errors import ToolError
from assent.types.permissions import Action


class KillShellInput(Input, frozen=True):
    shell_id: Annotated[str, Meta(description="The id that Bash gave.")]


class KillShell(Tool[KillShellInput]):
    name: ClassVar[str] = "KillShell"
    input_type: ClassVar[type[Input]] = KillShellInput

    def description(self) -> str:
        return "Stop a command that runs in the background, with every process it started."

    def title(self, input: KillShellInput) -> str:
        return f"Stop {input.shell_id}"

    def action(self, input: KillShellInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), harmless=True)

    async def call(self, input: KillShellInput, ctx: ToolContext) -> ToolOutput:
        if not isinstance(ctx.jobs, ShellJobs):
            raise ToolError("This session has no background commands")
        job = ctx.jobs.get(input.shell_id)
        job.told = True
        if not await ctx.jobs.kill(job.job_id):
            return _told(job, f"{job.job_id} had already ended ({job.state}).", job.state)
        return _told(job, f"Stopped {job.job_id}: {job.command}", "stopped")


def _told(job: Job, message: str, summary: str) -> ToolOutput:
    said = {"message": message, "shell_id": job.job_id, "command": job.command}
    return ToolOutput(content=message, summary=summary, response=lambda: said)
