"""`assent/agent/*` and `assent/command/*`: the agents and slash commands of a folder."""

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.types.blocks import Json
from assent.wire import extensions


@server.feature("assent/agent/list", on_cancel="stop")
async def list_agents(ls: BaseServer, params: extensions.AgentList) -> Json:
    cwd = await ls.folder(session_id=params.session_id, cwd=params.cwd)
    return {"agents": list(ls.app.sessions.deps.agents(cwd, ls.app.trust.trusted(cwd)))}


@server.feature("assent/command/list", on_cancel="stop")
async def list_commands(ls: BaseServer, params: extensions.CommandList) -> Json:
    cwd = await ls.folder(session_id=params.session_id, cwd=params.cwd)
    return {"commands": list(ls.app.sessions.deps.commands(cwd, ls.app.trust.trusted(cwd)))}
