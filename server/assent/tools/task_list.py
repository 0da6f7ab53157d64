"""The tasks that the agents of a session share: who does what, and how far it is. Data; `tools/tasks.py` changes it.

The list belongs to the session, so a subagent sees what the main agent wrote, and it is kept with the session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from assent.types.blocks import Json

Status = Literal["pending", "in_progress", "completed", "cancelled"]
STATUSES: tuple[Status, ...] = get_args(Status)
MAIN = "main"  # the agent that the user talks to
MOST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    id: str
    subject: str
    description: str = ""
    status: Status = "pending"
    owner: str = ""  # the id of an agent, or `main`; empty: nobody's yet

    def as_json(self) -> Json:
        found: Json = {"id": self.id, "subject": self.subject, "status": self.status}
        more = {"description": self.description, "owner": self.owner}
        return found | {key: value for key, value in more.items() if value}


@dataclass(slots=True)
class TaskBoard:
    on_change: Callable[[], None] = lambda: None
    _tasks: dict[str, Task] = field(default_factory=dict[str, Task])
    _last: int = 0

    def __len__(self) -> int:
        return len(self._tasks)

    def list(self) -> list[Task]:
        return list(self._tasks.values())

    def get(self, task_id: str) -> Task | None:
        return self._tasks.get(task_id.removeprefix("#"))

    def next_id(self) -> str:
        return str(self._last + 1)

    def add(self, task: Task) -> None:
        self._last = max(self._last, int(task.id))
        self._tasks[task.id] = task
        self.on_change()

    def drop(self, task_id: str) -> None:
        if self._tasks.pop(task_id, None) is not None:
            self.on_change()

    def change(self, task: Task, **changes: Any) -> Task:
        changed = self._tasks[task.id] = replace(task, **changes)
        self.on_change()
        return changed

    def give_back(self, owner: str) -> list[Task]:
        """This agent has ended: what it had in progress is nobody's again, so that another one can take it."""
        left = [task for task in self._tasks.values() if task.status == "in_progress" and task.owner == owner]
        return [self.change(task, status="pending", owner="") for task in left]

    def to_json(self) -> list[Json]:
        return [task.as_json() for task in self._tasks.values()]

    def restored(self, saved: Sequence[Mapping[str, Any]]) -> TaskBoard:
        """What another process has saved, as it is; entries that make no sense are left out."""
        self._tasks.clear()
        for each in saved:
            task_id, subject, status = (str(each.get(key) or "") for key in ("id", "subject", "status"))
            if task_id.isdecimal() and subject and status in STATUSES:
                described, owner = str(each.get("description") or ""), str(each.get("owner") or "")
                self._tasks[task_id] = Task(
                    id=task_id, subject=subject, status=status, description=described, owner=owner
                )
                self._last = max(self._last, int(task_id))
        return self

    def load(self, saved: Sequence[Mapping[str, Any]]) -> None:
        """What was saved when other agents ran: none of them does any more, so only the main agent has work."""
        self.restored(saved)
        for task in self.list():
            if task.status == "in_progress" and task.owner not in (MAIN, ""):
                self._tasks[task.id] = replace(task, status="pending", owner="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """The tasks as one agent sees them. There is a team once there is a task."""

    board: TaskBoard
    owner: str = MAIN
    name: str = MAIN

    def member(self, name: str, owner: str) -> Team:
        return replace(self, name=name, owner=owner)

    @property
    def active(self) -> bool:
        return len(self.board) > 0

    def owned_tasks(self) -> list[Task]:
        """The in-progress tasks of this agent (L13)."""
        return [task for task in self.board.list() if task.status == "in_progress" and task.owner == self.owner]

    def facts(self, task: Task) -> Json:
        """What hooks are told of a task."""
        facts: Json = {"task_id": task.id, "task_subject": task.subject, "teammate_name": self.name}
        return facts | ({"task_description": task.description} if task.description else {})
