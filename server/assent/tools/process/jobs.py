"""Shell commands of one session (T5, S5): running in front, in the background, or moved from one to the other.

A job outlives its turn, never its session. Owns the session's supervisor, through which the search tools start their
processes, too. Knows nothing of permissions or sandboxes: it runs the argv it is given.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import anyio

from assent.tools.process.shell_process import Enclosure, Keeper, Process
from assent.tools.tool import Mine, anyone
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.ids import new_id

State = Literal["running", "completed", "failed", "killed"]
MOST_RUNNING = 32
MOST_FINISHED = 50  # remembered, the newest


class Job:
    """One command; `settled` fires when there is no more reason to wait in front of it."""

    def __init__(self, command: str, process: Process, *, tool_use_id: str, background: bool) -> None:
        self.job_id = new_id("j")
        self.command = command
        self.process = process
        self.tool_use_id = tool_use_id
        self.background = background
        self.killed = False
        self.read_to = 0  # how much of its output the model has seen
        self.told = False  # the model knows how it ended
        self.settled = anyio.Event()
        self.front: anyio.Event | None = None  # someone took it to the front again; fires when that is over

    @property
    def state(self) -> State:
        if not self.process.ended.is_set():
            return "running"
        if self.killed:
            return "killed"
        return "completed" if self.process.status == 0 else "failed"

    def look(self, read_to: int) -> Callable[[], None]:
        """The model sees the output up to there, and the end if there is one; what undoes that."""
        before = self.read_to, self.told
        self.read_to, self.told = read_to, self.state != "running"

        def undo() -> None:
            self.read_to, self.told = before

        return undo

    def as_json(self) -> Json:
        """As the protocol tells of a job."""
        told: Json = {"jobId": self.job_id, "command": self.command, "state": self.state}
        if self.tool_use_id:
            told["toolUseId"] = self.tool_use_id
        if self.front is not None or not self.background:
            told["foreground"] = True
        if self.process.status is not None:
            told["exitCode"] = self.process.status
        return told


class ShellJobs:
    """Implements `tool.Jobs`. `on_change` hears of every background job that starts or ends; `nice` says how far what
    nobody waits for stands back."""

    def __init__(
        self, on_change: Callable[[Json], None] = lambda _job: None, *, nice: Callable[[], int] = lambda: 0
    ) -> None:
        self.keeper = Keeper()
        self._jobs: dict[str, Job] = {}
        self._on_change = on_change
        self._nice = nice
        self._behind = False

    async def start(
        self,
        argv: Sequence[str],
        *,
        command: str,
        cwd: str,
        env: Mapping[str, str],
        tool_use_id: str,
        background: bool = False,
        report: bool = False,
        enclosure: Enclosure | None = None,
    ) -> Job:
        if sum(job.state == "running" for job in self._jobs.values()) >= MOST_RUNNING:
            if enclosure is not None:
                enclosure.discard()
            raise ToolError(f"{MOST_RUNNING} commands are running already; stop some with KillShell first")
        process = await self.keeper.start(argv, cwd=cwd, env=env, report=report, enclosure=enclosure)
        job = Job(command, process, tool_use_id=tool_use_id, background=background)
        self._jobs[job.job_id] = job
        process.on_end = lambda: self._ended(job)
        if background or self._behind:
            self._stand_back(job)
        if background:
            self._on_change(job.as_json())
        return job

    def get(self, job_id: str) -> Job:
        """Raises ToolError, naming the jobs there are."""
        job = self._jobs.get(job_id)
        if job is None or not job.background:
            known = ", ".join(job.job_id for job in self._jobs.values() if job.background)
            raise ToolError(
                f"There is no background command {job_id}. " + (f"There are: {known}" if known else "None runs")
            )
        return job

    def move_to_background(self, tool_use_id: str) -> str | None:
        """Stop waiting in front of a running command; its job id, or None when it no longer runs."""
        for job in self._jobs.values():
            in_front = not job.background or job.front is not None
            if job.tool_use_id == tool_use_id and in_front and job.state == "running":
                front, job.front = job.front, None
                job.background = True
                self._stand_back(job)
                job.settled.set()
                if front is not None:
                    front.set()
                self._on_change(job.as_json())
                return job.job_id
        return None

    def move_to_foreground(self, job_id: str) -> str | None:
        """The turn waits for a background command again; the call it came from, or None when it no longer runs."""
        job = self._jobs.get(job_id)
        if job is None or not job.background or job.state != "running":
            return None
        if job.front is None:
            job.front = anyio.Event()
            self._on_change(job.as_json())
        return job.tool_use_id

    def stand_behind(self, behind: bool) -> None:
        """The whole session is in the background now, or no longer: so are the commands that run and those to come."""
        self._behind = behind
        for job in self._jobs.values():
            if behind and job.state == "running":
                self._stand_back(job)

    def _stand_back(self, job: Job) -> None:
        if nice := self._nice():
            self.keeper.stand_back(job.process, nice)

    def in_front(self, mine: Mine = anyone) -> list[anyio.Event]:
        """For each command that someone took to the front again: what fires when it ends or is sent back."""
        jobs = [job for job in self._jobs.values() if job.state == "running" and mine(job.tool_use_id)]
        return [job.front for job in jobs if job.front is not None]

    def untold(self, job_id: str) -> bool:
        """Whether it ended and the model does not know."""
        job = self._jobs.get(job_id)
        return job is not None and job.background and job.state != "running" and not job.told

    def promised(self) -> list[Json]:
        """Background jobs whose end the model does not know yet, those that run included."""
        return [job.as_json() for job in self._jobs.values() if job.background and not job.told]

    def take_finished(self, mine: Mine = anyone) -> list[Json]:
        """Background jobs of calls that are `mine` whose end has not been told yet; each is given once (L11)."""
        ended = [job for job in self._jobs.values() if job.background and not job.told and job.state != "running"]
        ended = [job for job in ended if mine(job.tool_use_id)]
        for job in ended:
            job.told = True
        return [job.as_json() for job in ended]

    def list(self) -> list[Json]:
        return [job.as_json() for job in self._jobs.values() if job.background or job.state == "running"]

    async def kill(self, job_id: str) -> bool:
        """Stop a job and all that came from it; False when there was nothing to stop."""
        job = self._jobs.get(job_id)
        if job is None or job.state != "running":
            return False
        await self.stop(job)
        return True

    async def stop(self, job: Job, *, grace: float = 2.0) -> None:
        job.killed = True
        await self.keeper.stop(job.process, grace=grace)

    async def close(self) -> None:
        """The session ends: nothing it started goes on."""
        for job in self._jobs.values():
            job.killed = job.killed or job.state == "running"
        await self.keeper.close()

    def _ended(self, job: Job) -> None:
        job.settled.set()
        if job.front is not None:
            job.front.set()
        if not job.background:
            del self._jobs[job.job_id]
            return
        self._on_change(job.as_json())
        finished = [key for key, job in self._jobs.items() if job.state != "running"]
        for key in finished[:-MOST_FINISHED]:
            del self._jobs[key]


def exit_words(status: int) -> str:
    """How it ended, in words: exit codes, and signals by name."""
    if status >= 0:
        return f"Exit code {status}"
    import signal

    try:
        return f"Killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"Killed by signal {-status}"


def shell_program() -> str:
    """bash where there is one: commands are judged by its grammar."""
    return next(
        (path for path in ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash") if os.access(path, os.X_OK)), "bash"
    )
