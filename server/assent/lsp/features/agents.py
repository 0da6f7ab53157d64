"""`assent/agent/*` and `assent/command/*`: the agents and slash commands of a folder."""

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.sessions.slash.lists import agent_rows
from assent.types.blocks import Json
from assent.wire import extensions


@server.feature("assent/agent/list", on_cancel="stop")
async def list_agents(ls: BaseServer, params: extensions.AgentList) -> Json:
    """The agents that run or ran in the session (or in every live one), and those that can be started."""
    cwd = await ls.folder(session_id=params.session_id, cwd=params.cwd)
    source = ls.app.sessions.deps.definitions
    definitions = agent_rows(await source.load(cwd)) if source is not None else []
    live = ls.app.sessions.live
    asked = [live[params.session_id]] if params.session_id in live else [] if params.session_id else live.values()
    runs = [run for session in asked if session.turns.agents is not None for run in session.turns.agents.list()]
    return {"agents": runs, "definitions": definitions}


@server.feature("assent/agent/stop")
async def stop_agent(ls: BaseServer, params: extensions.AgentStop) -> extensions.AgentStopped:
    """Stop one agent; what it did stays, and the model is told."""
    session = await ls.app.sessions.session(params.session_id)
    agents = session.turns.agents
    return extensions.AgentStopped(stopped=agents is not None and agents.stop(params.agent_id))


@server.feature("assent/command/list", on_cancel="stop")
async def list_commands(ls: BaseServer, params: extensions.CommandList) -> Json:
    cwd = await ls.folder(session_id=params.session_id, cwd=params.cwd)
    return await ls.app.sessions.request("assent/command/list", {"cwd": cwd})
