"""Calls that a server answers with a task: the result is fetched later, and questions come while it runs.

In the modern era that is the extension `io.modelcontextprotocol/tasks`, where the server decides. In the older one a
tool says that it wants to be called so (`execution.taskSupport: required`).
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Literal, cast

import anyio
import mcp_types as types
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

Json = dict[str, Any]
Inputs = Callable[[Json], Awaitable[Json]]
"""Answers a server's questions: (key → {method, params}) → (key → result)."""

EXTENSION = "io.modelcontextprotocol/tasks"
KEEP_MS = 3_600_000  # how long we ask an older server to keep a result
_POLL, _SHORTEST, _LONGEST = 1.0, 0.05, 30.0  # seconds between two looks
_CANCEL_SECONDS = 2.0

report: ContextVar[Callable[[str], Awaitable[None]] | None] = ContextVar("report", default=None)
"""Where the words of the call under way go, if its server says how far the task is."""


class _Any(types.Result):
    """Whatever the server answered."""

    model_config = ConfigDict(extra="allow", alias_generator=to_camel, populate_by_name=True)


class Begun(_Any):
    """The server will do it, and this is the handle; the rest of it is as `tasks/get` answers."""

    result_type: Literal["task"] = "task"
    task_id: str


class _TaskRequest(types.Request[Json, str]):
    name_param = "taskId"


class ServerTasks(ClientExtension):
    identifier = EXTENSION

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return (ResultClaim(result_type="task", model=Begun, resolve=self._resolve),)

    async def _resolve(self, begun: Begun, context: ClaimContext) -> types.CallToolResult:
        state: Json = begun.model_dump(by_alias=True, mode="json", exclude_none=True)
        return await _followed(context.session, state, self._inputs)


async def call_as_task(session: ClientSession, tool: str, arguments: Json) -> types.CallToolResult:
    """The older era: the call begins a task, and another request waits for its result."""
    params = {"name": tool, "arguments": arguments, "task": {"ttl": KEEP_MS}}
    data: Json = {"method": "tools/call", "params": params}
    options: Any = {}
    session._stamp(data, options)  # the SDK's own request takes only the plain kind of result
    begun = await session._dispatcher.send_raw_request("tools/call", data["params"], options)
    if "task" not in begun:
        return types.CallToolResult.model_validate(begun, by_name=False)
    state = cast("Json", begun["task"])
    state = {**state, "pollIntervalMs": state.get("pollInterval")}
    result = await _followed(session, state, None)
    if not result.is_error:
        await session.validate_tool_result(tool, result)
    return result


async def _followed(session: ClientSession, state: Json, inputs: Inputs | None) -> types.CallToolResult:
    """Look at the task until it ended. When we are cancelled, so is it."""
    task = str(state["taskId"])
    answered: set[str] = set()
    try:
        while True:
            await _tell(state)
            match state.get("status"):
                case "completed" | "failed" if inputs is None:
                    return await _payload(session, task)
                case "completed":
                    return types.CallToolResult.model_validate(state.get("result") or {}, by_name=False)
                case "failed":
                    raise MCPError.from_error_data(_error(state))
                case "cancelled":
                    raise MCPError(code=types.INTERNAL_ERROR, message="the server cancelled the task")
                case "input_required" if inputs is None:
                    return await _payload(session, task)  # its questions come while this request waits
                case "input_required":
                    asked = {
                        key: each
                        for key, each in cast("Json", state.get("inputRequests") or {}).items()
                        if key not in answered
                    }
                    if asked and inputs is not None:
                        answered |= asked.keys()
                        given = await inputs(asked)
                        await _send(session, "tasks/update", {"taskId": task, "inputResponses": given})
                case _:
                    pass
            await anyio.sleep(_pause(state))
            state = await _send(session, "tasks/get", {"taskId": task})
            state.setdefault("pollIntervalMs", state.get("pollInterval"))
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True), anyio.move_on_after(_CANCEL_SECONDS), suppress(Exception):
            await _send(session, "tasks/cancel", {"taskId": task})
        raise


async def _payload(session: ClientSession, task: str) -> types.CallToolResult:
    result = await _send(session, "tasks/result", {"taskId": task})
    return types.CallToolResult.model_validate(result, by_name=False)


async def _send(session: ClientSession, method: str, params: Json) -> Json:
    answer = await session.send_request(_TaskRequest(method=method, params=params), _Any)
    return answer.model_dump(by_alias=True, mode="json")


async def _tell(state: Json) -> None:
    words, tell = state.get("statusMessage"), report.get()
    if tell is not None and isinstance(words, str) and words.strip():
        await tell(words.strip())


def _pause(state: Json) -> float:
    wanted = state.get("pollIntervalMs")
    seconds = wanted / 1000 if isinstance(wanted, int | float) else _POLL
    return min(max(seconds, _SHORTEST), _LONGEST)


def _error(state: Json) -> types.ErrorData:
    said = cast("Json", state.get("error") or {})
    code = said.get("code")
    message = said.get("message") or state.get("statusMessage") or "the task failed"
    return types.ErrorData(code=code if isinstance(code, int) else types.INTERNAL_ERROR, message=str(message))
