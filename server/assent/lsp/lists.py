"""What there is: MCP servers, agents, commands, background jobs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assent.sessions.stream.front import Call
from assent.types.blocks import Json
from assent.types.errors import ProtocolError

if TYPE_CHECKING:
    from assent.lsp.connection import Connection
    from assent.sessions.live.session import Session


HOME = str(Path.home())  # where only the user's own settings count


async def mcp_list(connection: "Connection", params: Json, call: Call) -> Json:
    cwd = await _folder(connection, params, otherwise=HOME)
    return {"servers": connection.app.mcp_servers(cwd)}


async def mcp_restart(connection: "Connection", params: Json, call: Call) -> Json:
    await connection.app.mcp_restart(params["name"], await _folder(connection, params, otherwise=HOME))
    return {}


async def agent_list(connection: "Connection", params: Json, call: Call) -> Json:
    cwd = await _folder(connection, params)
    return {"agents": list(connection.app.sessions.deps.agents(cwd, connection.app.trust.trusted(cwd)))}


async def command_list(connection: "Connection", params: Json, call: Call) -> Json:
    cwd = await _folder(connection, params)
    return {"commands": list(connection.app.sessions.deps.commands(cwd, connection.app.trust.trusted(cwd)))}


async def explain(connection: "Connection", params: Json, call: Call) -> Json:
    return await connection.app.explain(params)


async def job_list(connection: "Connection", params: Json, call: Call) -> Json:
    jobs: list[Json] = []
    for session in await _sessions(connection, params):
        if session.jobs is not None:
            jobs += [{"sessionId": session.id, **job} for job in session.jobs.list()]
    return {"jobs": jobs}


async def job_kill(connection: "Connection", params: Json, call: Call) -> Json:
    for session in await _sessions(connection, params):
        if session.jobs is not None and await session.jobs.kill(params["jobId"]):
            return {"killed": True}
    return {"killed": False}


HANDLERS: dict[str, Any] = {
    "assent/mcp/list": mcp_list,
    "assent/mcp/restart": mcp_restart,
    "assent/agent/list": agent_list,
    "assent/command/list": command_list,
    "assent/permission/explain": explain,
    "assent/job/list": job_list,
    "assent/job/kill": job_kill,
}


async def _sessions(connection: "Connection", params: Json) -> "list[Session]":
    if "sessionId" in params:
        return [await connection.app.sessions.get(params)]
    return list(connection.app.sessions.live.values())


async def _folder(connection: "Connection", params: Json, *, otherwise: str = "") -> str:
    if "sessionId" in params:
        return (await connection.app.sessions.get(params)).cwd
    if "cwd" in params:
        return str(params["cwd"])
    roots = connection.client.roots()
    if not roots and otherwise:
        return otherwise
    if not roots:
        raise ProtocolError(
            "invalidParams", "say which folder: there is no workspace", hint="Give `cwd` or `sessionId`."
        )
    return roots[0]
