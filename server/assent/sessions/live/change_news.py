"""Tells clients and hooks what changed in a session: its todos, plan, mode, tasks and folder, and that it waits."""

from __future__ import annotations

from typing import Protocol

from assent.sessions.deps import SessionDeps
from assent.sessions.hooks.hooked_session import HookedSession
from assent.sessions.live.owning_session import OwningSession
from assent.sessions.live.waiting import WaitingState
from assent.sessions.stream.translate import wire_tasks, wire_todos
from assent.tools.task_list import TaskBoard
from assent.wire.events import PlanProposed, Status, Tasks, Todos


class ChangingSession(HookedSession, OwningSession, Protocol):
    @property
    def deps(self) -> SessionDeps: ...
    @property
    def tasks(self) -> TaskBoard: ...
    @property
    def waiting(self) -> WaitingState: ...


class ChangeNews:
    def __init__(self, session: ChangingSession) -> None:
        self._session = session
        self._cwd = session.state.cwd

    def waiting_began(self) -> None:
        """Notification: someone is asked for a permission or an answer."""
        session, hooks = self._session, self._session.deps.session_hooks
        if hooks is None or session.closed:
            return
        asks = session.asks.permissions()
        if asks:
            hooks.notify(session, "permission_prompt", f"Assent needs your permission: {asks[-1].title}")
        else:
            hooks.notify(session, "elicitation_dialog", "Assent has a question for you.")

    def state_changed(self, what: str) -> None:
        session, state = self._session, self._session.state
        match what:
            case "cwd":
                self._moved()
            case "todos":
                session.publish(Todos(wire_todos(state.todos)))
            case "plan":
                session.publish(PlanProposed(state.plan))
            case "mode":
                session.publish(Status(session.waiting.status, mode=state.mode))
            case _:
                pass
        session.save_state()

    def tasks_changed(self) -> None:
        self._session.publish(Tasks(wire_tasks(self._session.tasks)))
        self._session.save_state()

    def _moved(self) -> None:
        hooks, now = self._session.deps.session_hooks, self._session.state.cwd
        if hooks is not None and now != self._cwd:
            data = {"old_cwd": self._cwd, "new_cwd": now}
            self._cwd = now
            hooks.tell(self._session, "CwdChanged", data)
