"""TaskCreate, TaskUpdate and TaskList: what the agents of a session have to do, seen by all of them and by the user."""

from typing import Annotated, ClassVar

from msgspec import Meta

from assent.tools.task_list import MOST, Status, Task, Team
from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.hooks import HookCall, HookEvent
from assent.types.permissions import Action


class TaskCreateInput(Input, frozen=True):
    subject: Annotated[str, Meta(min_length=1, max_length=300, description="The task in one line, as an order.")]
    description: Annotated[str, Meta(max_length=20_000, description="What whoever takes it must know.")] = ""


class TaskCreate(Tool[TaskCreateInput]):
    name: ClassVar[str] = "TaskCreate"
    input_type: ClassVar[type[Input]] = TaskCreateInput
    timeout: ClassVar[float | None] = None  # hooks have their own

    def description(self) -> str:
        return (
            "Add a task to the list that all agents of this session share. Use it when you hand out work to several "
            "agents; for a plan of your own use TodoWrite."
        )

    def title(self, input: TaskCreateInput) -> str:
        return f"New task: {input.subject}"

    def action(self, input: TaskCreateInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), harmless=True)

    async def call(self, input: TaskCreateInput, ctx: ToolContext) -> ToolOutput:
        team = _team(ctx)
        if len(team.board) >= MOST:
            raise ToolError(f"There are {MOST} tasks already; that is all this list takes")
        task = Task(id=team.board.next_id(), subject=input.subject.strip(), description=input.description.strip())
        if not task.subject:
            raise ToolError("The subject is empty")
        team.board.add(task)  # at once, so that no other call gets its number
        try:
            context = await _hooked("TaskCreated", ctx, team, task)
        except BaseException:
            team.board.drop(task.id)
            raise
        ctx.services.scratchpad()
        return ToolOutput(
            content=f"Task #{task.id} created: {task.subject}{context}",
            summary=f"#{task.id}",
            response=lambda: {"task": {"id": task.id, "subject": task.subject}},
        )


class TaskUpdateInput(Input, frozen=True, rename="camel"):
    task_id: Annotated[str, Meta(min_length=1, description="Its number.")]
    status: Annotated[Status | None, Meta(description="in_progress makes it yours unless owner says otherwise.")] = None
    owner: Annotated[str | None, Meta(description="The id of an agent, or main; empty: nobody.")] = None


class TaskUpdate(Tool[TaskUpdateInput]):
    name: ClassVar[str] = "TaskUpdate"
    input_type: ClassVar[type[Input]] = TaskUpdateInput
    timeout: ClassVar[float | None] = None

    def description(self) -> str:
        return (
            "Change a task of the shared list: take it (in_progress), give it to an agent (owner), or mark it as "
            "completed or cancelled. Mark it completed only when it is really done."
        )

    def title(self, input: TaskUpdateInput) -> str:
        said = ", ".join(filter(None, (input.status, f"owner {input.owner}" if input.owner else "")))
        return f"Task #{input.task_id.removeprefix('#')}: {said or 'no change'}"

    def action(self, input: TaskUpdateInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), harmless=True)

    async def call(self, input: TaskUpdateInput, ctx: ToolContext) -> ToolOutput:
        team = _team(ctx)
        task = _task(team, input.task_id)
        if input.status is None and input.owner is None:
            raise ToolError("Say what changes: status, owner, or both")
        owner = task.owner if input.owner is None else input.owner
        taken = input.status == "in_progress"
        if taken and input.owner is None:
            if task.status == "in_progress" and task.owner not in ("", team.owner):
                raise ToolError(f"Task #{task.id} is being done by {task.owner} already; take another one")
            owner = team.owner
        context = ""
        if input.status == "completed" and task.status != "completed":
            context = await _hooked("TaskCompleted", ctx, team, task)
            task = _task(team, task.id)
        before = task
        task = team.board.change(task, status=input.status or task.status, owner=owner)
        whose = f", of {task.owner}" if task.owner else ""
        return ToolOutput(
            content=f"Task #{task.id} is {task.status}{whose}.{context}",
            summary=task.status,
            response=lambda: _change_response(before, task),
        )


def _change_response(before: Task, now: Task) -> Json:
    changed = [name for name in ("status", "owner") if getattr(before, name) != getattr(now, name)]
    moved = {"statusChange": {"from": before.status, "to": now.status}} if "status" in changed else {}
    return {"success": True, "taskId": now.id, "updatedFields": changed, **moved}


class TaskListInput(Input, frozen=True):
    pass


class TaskList(Tool[TaskListInput]):
    name: ClassVar[str] = "TaskList"
    input_type: ClassVar[type[Input]] = TaskListInput
    read_only: ClassVar[bool] = True

    def description(self) -> str:
        return "The list of tasks that all agents of this session share, with who does what."

    def title(self, input: TaskListInput) -> str:
        return "Task list"

    def concurrency_safe(self, input: TaskListInput) -> bool:
        return True

    def action(self, input: TaskListInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input={}, harmless=True)

    async def call(self, input: TaskListInput, ctx: ToolContext) -> ToolOutput:
        tasks = _team(ctx).board.list()
        if not tasks:
            return ToolOutput(content="There are no tasks.", summary="none", response=lambda: {"tasks": []})
        lines: list[str] = []
        for task in tasks:
            whose = f" ({task.owner})" if task.owner else ""
            lines.append(f"#{task.id} [{task.status}]{whose} {task.subject}")
            if task.description and task.status not in ("completed", "cancelled"):
                lines.append(f"    {task.description}")
        done = sum(task.status == "completed" for task in tasks)
        return ToolOutput(
            content="\n".join(lines),
            summary=f"{done} of {len(tasks)} done",
            response=lambda: {"tasks": [{**task.as_json(), "blockedBy": list[str]()} for task in tasks]},
        )


def _team(ctx: ToolContext) -> Team:
    if ctx.services.team is None:
        raise ToolError("There is no shared task list here")
    return ctx.services.team


def _task(team: Team, task_id: str) -> Task:
    task = team.board.get(task_id)
    if task is None:
        known = ", ".join(f"#{each.id}" for each in team.board.list()) or "none"
        raise ToolError(f"There is no task {task_id}. There are: {known}")
    return task


async def _hooked(event: HookEvent, ctx: ToolContext, team: Team, task: Task) -> str:
    """Words that hooks add. Raises ToolError when one refuses: then nothing happens."""
    hooks = ctx.services.hooks
    if not hooks.wants(event):
        return ""
    call = HookCall(
        event=event,
        session_id=ctx.session_id,
        cwd=ctx.cwd,
        data=team.facts(task),
        tool_use_id=ctx.tool_use_id,
        agent_type=team.name,
        detached=True,
    )
    outcomes = await hooks.run(call)
    for outcome in outcomes:
        if outcome.refuses:
            verb = "created" if event == "TaskCreated" else "marked as completed"
            raise ToolError(f"The task was not {verb}: {outcome.text or 'a hook refused it'}")
    return "".join(f"\n{outcome.context}" for outcome in outcomes if outcome.context)
