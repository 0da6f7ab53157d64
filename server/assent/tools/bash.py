"""Bash: run a shell command, in front or in the background."""

import os
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, ClassVar

import anyio
import anyio.to_thread
from msgspec import Meta

from assent.tools.process.environment import QUIET, hardened, left_out, user_environment
from assent.tools.process.fence import Fence, FencedRun
from assent.tools.process.jobs import Job, ShellJobs, exit_words, shell_program
from assent.tools.process.shell_process import REPORT_FD, Enclosure
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json, kept_where
from assent.tools.tool_responses import command_response
from assent.types.errors import ToolError
from assent.types.permissions import Action
from assent.types.ports import TerminalEnd

DEFAULT_TIMEOUT = 120_000
LONGEST_TIMEOUT = 600_000
_PREVIEW = 24_000  # characters of a long output shown; head and tail
_CANCEL_GRACE = 0.5
_PROGRESS_EVERY = 0.1
_MOVES = re.compile(r"\b(?:cd|pushd|popd|eval|source)\b|(?:^|[;&|\s])\.\s")
_TELL_CWD = f"trap 'pwd -P >&{REPORT_FD}' EXIT; "
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
ReadOnly = Callable[[str, str, Sequence[str]], bool]
"""Does a command only read, at this directory, in a workspace of these folders (none: the session's own)?"""
_ONE_MEANS_NO = frozenset(["grep", "egrep", "fgrep", "rg", "diff", "cmp", "test", "[", "pgrep", "find"])


class BashInput(Input, frozen=True):
    command: Annotated[str, Meta(description="The command line to run.")]
    description: Annotated[str, Meta(description="What it does, in five to ten words, for the user.")] = ""
    timeout: Annotated[
        Annotated[int, Meta(ge=1, le=LONGEST_TIMEOUT)] | None,
        Meta(description="In milliseconds; 120000 unless given, 600000 at most."),
    ] = None
    run_in_background: Annotated[
        bool, Meta(description="Return at once with an id; read on with BashOutput, stop with KillShell.")
    ] = False


class Bash(Tool[BashInput]):
    name: ClassVar[str] = "Bash"
    input_type: ClassVar[type[Input]] = BashInput
    timeout: ClassVar[float | None] = None  # its own, so that a timed-out command can still tell its output

    def __init__(
        self,
        *,
        is_read_only: ReadOnly = lambda _command, _cwd, _roots: False,
        secrets: Callable[[], Collection[str]] = lambda: (),
        fence: Fence | None = None,
    ) -> None:
        self._is_read_only = is_read_only
        self._fence = fence
        self._secrets = secrets
        self._shell = shell_program()

    def description(self) -> str:
        return (
            "Run a command with bash.\n"
            "- The working directory is kept from one call to the next; nothing else is (no variables, no functions).\n"
            "- There is no terminal: use flags that avoid questions and pagers.\n"
            "- stdout and stderr come together. Long output is cut in the middle; the whole is kept in a file whose "
            "path is given, which Read can show.\n"
            "- It is stopped after two minutes unless timeout says otherwise. Start servers, watchers and long builds "
            "with run_in_background, never with &.\n"
            "- Use Read, Edit, Write, Grep and Glob for files: they are quicker, and the user can review edits. "
            "Before a command runs, files you changed in the editor are saved.\n"
            "- Join commands that depend on each other with &&; make independent ones separate calls."
        )

    def safe_at(self, input: BashInput, *, cwd: str) -> bool:
        """A line that changes the directory runs alone: beside it, nobody could say where another one runs."""
        stays = not input.run_in_background and not _MOVES.search(input.command)
        return stays and self._is_read_only(input.command, cwd, ())

    def title(self, input: BashInput) -> str:
        return input.description or input.command.strip().split("\n", 1)[0][:120]

    def action(self, input: BashInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), command=input.command)

    async def call(self, input: BashInput, ctx: ToolContext) -> ToolOutput:
        if "\0" in input.command:
            raise ToolError("The command holds a NUL character")
        if not input.command.strip():
            raise ToolError("The command is empty")
        unsaved = await ctx.workspace.save_barrier()
        if isinstance(ctx.jobs, ShellJobs):
            return await self._run(input, ctx, ctx.jobs, unsaved)
        if input.run_in_background:
            raise ToolError("This session cannot run commands in the background")
        jobs = ShellJobs()
        try:
            return await self._run(input, ctx, jobs, unsaved)
        finally:
            with anyio.CancelScope(shield=True):
                await jobs.close()

    async def _run(self, input: BashInput, ctx: ToolContext, jobs: ShellJobs, unsaved: str) -> ToolOutput:
        if not os.path.isdir(ctx.cwd):  # noqa: PTH112, ASYNC240 -- one stat of a local folder, quicker than a thread
            raise ToolError(f"The working directory {ctx.cwd} is gone; the command was not run")
        env = user_environment(extra=ctx.env, secrets=self._secrets())
        env["PWD"] = ctx.cwd
        judged = ctx.fenced if ctx.fenced is not None else self._is_read_only(input.command, ctx.cwd, ctx.roots)
        if judged or self._is_read_only(input.command, ctx.cwd, ctx.roots):
            env = hardened(env, roots=(ctx.cwd, *ctx.roots))
        moves = not input.run_in_background and bool(_MOVES.search(input.command))
        script = _TELL_CWD + input.command if moves else input.command
        argv: Sequence[str] = [self._shell, "--norc", "--noprofile", "-c", script]
        enclosure: Enclosure | None = None
        wants_fence = self._fence is not None and self._fence.wants(judged=judged)
        if not (wants_fence or judged or moves or input.run_in_background):
            seconds = (input.timeout or DEFAULT_TIMEOUT) / 1000
            ended = await _in_terminal(input.command, ctx, env, seconds)
            if ended is not None:
                return _terminal_output(input, ctx, ended, seconds, unsaved)
        if self._fence is not None and wants_fence:
            results = str(ctx.spill.folder) if ctx.spill is not None else ""
            wanted = FencedRun(
                argv=argv,
                env=env,
                judged=judged,
                cwd=ctx.cwd,
                roots=ctx.roots,
                results=results,
                spares=jobs.keeper.spares,
            )
            # in a thread: it looks at folders that may be slow, and the first time tries which fence works here
            around = await anyio.to_thread.run_sync(self._fence.surround, wanted)
            argv, env, enclosure = around.start.argv, dict(around.env), around.start.enclosure
        job = await jobs.start(
            argv,
            command=input.command,
            cwd=ctx.cwd,
            env=env,
            tool_use_id=ctx.tool_use_id,
            background=input.run_in_background,
            report=moves,
            enclosure=enclosure,
        )
        if input.run_in_background:
            return _in_background(job, unsaved)
        return await self._in_front(input, ctx, jobs, job, unsaved)

    async def _in_front(
        self, input: BashInput, ctx: ToolContext, jobs: ShellJobs, job: Job, unsaved: str
    ) -> ToolOutput:
        process = job.process
        seconds = (input.timeout or DEFAULT_TIMEOUT) / 1000
        told_at = 0.0

        def heard() -> None:
            nonlocal told_at
            if process.flooded:
                job.settled.set()
            elif (now := time.monotonic()) - told_at >= _PROGRESS_EVERY:
                told_at = now
                ctx.progress(_last_lines(process.output(max(process.received - 2000, 0))))

        process.on_output = heard
        try:
            with anyio.move_on_after(seconds) as scope:
                await job.settled.wait()
            if job.background:
                return _in_background(job, unsaved)
            if not process.ended.is_set():
                await jobs.stop(job)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await jobs.stop(job, grace=_CANCEL_GRACE)
            raise
        notes: list[str] = []
        if scope.cancelled_caught:
            notes.append(_stopped(seconds))
        elif process.flooded:
            notes.append("The command wrote more than a gigabyte and was stopped")
        elif process.unfenced and self._fence is not None:
            raise self._fence.failed(process.error or "")
        elif process.error:
            raise ToolError(f"The command could not be run: {process.error}")
        elif process.status:
            notes.append(exit_words(process.status))
        notes += self._moved(ctx, process.reported)
        if unsaved:
            notes.append(unsaved)
        failed = bool(
            scope.cancelled_caught
            or process.flooded
            or (process.status and not _just_no(input.command, process.status))
        )
        return _told(_shown(process.output(), ctx), notes, failed=failed)

    def _moved(self, ctx: ToolContext, reported: bytes) -> list[str]:
        """Take over the directory the command ended in, if it lies inside the workspace."""
        where = os.fsdecode(reported).rstrip("\n")
        if not where.startswith("/") or where == os.path.realpath(ctx.cwd):
            return []
        roots = [os.path.realpath(root) for root in (*ctx.roots, *([ctx.state.worktree] if ctx.state.worktree else []))]
        if roots and not any(where == root or where.startswith(root.rstrip("/") + "/") for root in roots):
            return [f"The working directory is still {ctx.cwd}: {where} lies outside the workspace"]
        ctx.state.cwd = where
        ctx.state.on_change("cwd")
        return []


async def _in_terminal(command: str, ctx: ToolContext, env: Mapping[str, str], seconds: float) -> TerminalEnd | None:
    """In the client's terminal, where it has one; its environment is the client's, with what ours must say besides."""
    if ctx.services.terminal is None:
        return None
    own = {name: env[name] for name in (*QUIET, *ctx.env) if name in env}
    return await ctx.services.terminal.run(
        command,
        cwd=ctx.cwd,
        env=own,
        without=left_out(os.environ, env),
        tool_use_id=ctx.tool_use_id,
        seconds=seconds,
        most=Bash.max_result_chars,
    )


def _terminal_output(
    input: BashInput, ctx: ToolContext, ended: TerminalEnd, seconds: float, unsaved: str
) -> ToolOutput:
    notes: list[str] = []
    if ended.timed_out:
        notes.append(_stopped(seconds))
    elif ended.signal is not None:
        notes.append(f"The command was ended by {ended.signal}")
    elif ended.status:
        notes.append(exit_words(ended.status))
    if ended.truncated:
        notes.append("The terminal kept only the end of the output")
    if unsaved:
        notes.append(unsaved)
    failed = (
        ended.timed_out or ended.signal is not None or bool(ended.status and not _just_no(input.command, ended.status))
    )
    return _told(_shown(ended.output.encode(errors="replace"), ctx), notes, failed=failed)


def _told(text: str, notes: Sequence[str], *, failed: bool) -> ToolOutput:
    return ToolOutput(
        content="\n".join(part for part in (text, *notes) if part) or "(no output)",
        is_error=failed,
        summary=notes[0] if notes else _first_line(text),
        response=lambda: command_response(text, notes="\n".join(notes)),
    )


def _stopped(seconds: float) -> str:
    return f"The command was stopped after {seconds:g} seconds. Give a longer timeout, or run it in the background"


def _in_background(job: Job, unsaved: str) -> ToolOutput:
    told = (
        f"Running in the background with id {job.job_id}. Read its output with BashOutput; you are told when it ends."
    )
    return ToolOutput(
        content=f"{told}\n{unsaved}" if unsaved else told,
        summary=f"in the background: {job.job_id}",
        response=lambda: command_response("", notes=unsaved, background=job.job_id),
    )


def _shown(output: bytes, ctx: ToolContext) -> str:
    """The output as text; a long one as head and tail, the whole of it spilled (C1)."""
    text = _ESCAPES.sub("", output.decode("utf-8", "replace")).replace("\r\n", "\n").rstrip()
    if len(text) <= Bash.max_result_chars - 2000:
        return text
    head, tail = text[: _PREVIEW // 2], text[-_PREVIEW // 2 :]
    where = f"; the whole output {kept_where(text, ctx)}" if ctx.spill else ""
    return (
        f"{head}\n\n[… {len(text) - len(head) - len(tail):,} of {len(text):,} characters left out{where} …]\n\n{tail}"
    )


def _just_no(command: str, status: int) -> bool:
    """grep, diff and test end with 1 to say no, which is no failure."""
    last = re.split(r"\|\|?|&&|;|\n", command.strip())[-1].split()
    return status == 1 and bool(last) and last[0] in _ONE_MEANS_NO


def _last_lines(output: bytes) -> str:
    return "\n".join(output.decode("utf-8", "replace").splitlines()[-5:])


def _first_line(text: str) -> str:
    """The first line that says something: test runners begin with a rule of dashes or dots."""
    lines = text.splitlines()
    return next((line for line in lines if any(map(str.isalnum, line))), lines[0] if lines else "")[:120]
