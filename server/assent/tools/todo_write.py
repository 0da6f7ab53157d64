"""TodoWrite: the list of what is to be done, which the user sees."""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from assent.tools.tool import Input, Tool, ToolContext, ToolOutput, as_json
from assent.types.errors import ToolError
from assent.types.ids import new_id
from assent.types.permissions import Action


class Todo(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True, omit_defaults=True, rename="camel"):
    content: Annotated[str, Meta(min_length=1, description="What is to be done, as an order: Run the tests.")]
    status: Literal["pending", "in_progress", "completed"]
    active_form: Annotated[str, Meta(description="The same while it is being done: Running the tests.")] = ""
    id: Annotated[str, Meta(description="Keep the one it has; leave it out for a new one.")] = ""


class TodoWriteInput(Input, frozen=True):
    todos: Annotated[list[Todo], Meta(max_length=200, description="The whole list; it replaces the one before.")]


class TodoWrite(Tool[TodoWriteInput]):
    name: ClassVar[str] = "TodoWrite"
    input_type: ClassVar[type[Input]] = TodoWriteInput

    def description(self) -> str:
        return (
            "Keep a list of the steps of a larger task, for yourself and for the user who watches it. Use it when "
            "there are three steps or more, or when the user gives several things to do; not for a single simple "
            "step. Give the whole list each time. Have exactly one entry in_progress while you work, mark it "
            "completed as soon as it is really done, and drop what is no longer needed."
        )

    def title(self, input: TodoWriteInput) -> str:
        done = sum(todo.status == "completed" for todo in input.todos)
        return f"Todo list: {done} of {len(input.todos)} done"

    def action(self, input: TodoWriteInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), harmless=True)

    async def call(self, input: TodoWriteInput, ctx: ToolContext) -> ToolOutput:
        if sum(todo.status == "in_progress" for todo in input.todos) > 1:
            raise ToolError("Only one entry may be in_progress at a time")
        before = ctx.state.todos
        known = {str(todo["content"]): str(todo["id"]) for todo in ctx.state.todos}
        ctx.state.todos = [
            {
                "id": todo.id or known.get(todo.content) or new_id("t"),
                "content": todo.content,
                "activeForm": todo.active_form or todo.content,
                "status": todo.status,
            }
            for todo in input.todos
        ]
        ctx.state.on_change("todos")
        open_ones = sum(todo.status != "completed" for todo in input.todos)
        now = ctx.state.todos
        return ToolOutput(
            content=f"The list is updated; {open_ones} to do. Go on with the current one.",
            summary=self.title(input),
            response=lambda: {"oldTodos": before, "newTodos": now},
        )
