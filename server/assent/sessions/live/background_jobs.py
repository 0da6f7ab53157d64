"""Commands and agents that run in the background of a session, and their way there and back (S5).

The model reads of an end in the next turn. When the user waits for the end of a job ("foreground") and no turn runs,
its end begins one.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from assent.sessions.live.owning_session import OwningSession
from assent.sessions.live.turns import SessionTurns
from assent.storage.history import FileHistory
from assent.tools.process.jobs import ShellJobs
from assent.tools.tool import Jobs
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.wire.events import Job


class BackgroundJobs:
    def __init__(
        self,
        session: OwningSession,
        turns: SessionTurns,
        history: FileHistory,
        start_turn: Callable[[str], Coroutine[Any, Any, None]],
    ) -> None:
        self._session = session
        self._turns = turns
        self._history = history
        self._start_turn = start_turn
        self._ended: list[str] = []  # foreground jobs whose end no turn has reported to the model
        make = session.deps.jobs
        self.jobs: Jobs | None = make(session.id, self._changed) if make is not None else None

    def move_to_background(self, tool_use_id: str) -> str:
        """A running command or agent goes on without its call; returns the id of the job."""
        shell, agents = self._shell, self._turns.engine.agents
        moved = shell.move_to_background(tool_use_id) if shell is not None else None
        if moved is None and agents is not None:
            moved = agents.move_to_background(tool_use_id)
        if moved is None:
            hint = "Only a running command or agent can be moved."
            raise ProtocolError("invalidRequest", "This call does not run in the foreground", hint=hint)
        self._session.save_state()
        return moved

    def move_to_foreground(self, job_id: str) -> str:
        """A turn waits for a background command or agent again; without a turn, its end begins one."""
        shell, agents = self._shell, self._turns.engine.agents
        moved = shell.move_to_foreground(job_id) if shell is not None else None
        if moved is None and agents is not None:
            moved = agents.move_to_foreground(job_id)
        if moved is None:
            hint = "Only a command or agent that still runs in the background can be waited for."
            raise ProtocolError("invalidRequest", "This does not run in the background", hint=hint)
        return moved

    def foreground_ended(self, job_id: str) -> None:
        """A job that the user waits for has ended."""
        self._ended.append(job_id)
        if self._turns.current is None:
            self.report_ended()

    def report_ended(self) -> None:
        """Begin a turn about foreground jobs that ended, unless the model has read of all of them."""
        ended, self._ended = self._ended, []
        shell, engine = self._shell, self._turns.engine
        unread = [id for id in ended if (shell is not None and shell.untold(id)) or engine.holds(id)]
        if unread and not self._session.closed:
            prompt = f"What I have been waiting for has ended: {', '.join(unread)}. Go on."
            self._session.spawn(lambda: self._start_turn(prompt))

    @property
    def _shell(self) -> ShellJobs | None:
        return self.jobs if isinstance(self.jobs, ShellJobs) else None

    def _changed(self, job: Json) -> None:
        session = self._session
        session.events.publish(msgspec.convert(job, Job), outside_turn=True)
        if job["state"] == "running":
            words = f"a command that ran in the background: {job.get('command', '')}"
            self._history.untracked(words[:300], at=session.record.end)
        if not session.closed:
            session.save_state()
        if job.get("foreground") and job["state"] != "running":
            self.foreground_ended(str(job["jobId"]))
