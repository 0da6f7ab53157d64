"""`assent/agent/*` and `assent/command/*`: the agents and slash commands of a folder."""

from assent.extensions.catalogue import Catalogue
from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.sessions import agent_pages
from assent.sessions.slash.lists import agent_problems, agent_rows
from assent.types.blocks import Json
from assent.wire import extensions


@server.feature("assent/agent/list", on_cancel="stop")
async def list_agents(ls: BaseServer, params: extensions.AgentList) -> Json:
    """The agents that run or ran in the session (or in every live one), and those that can be started."""
    cwd = await ls.folder(session_id=params.session_id, cwd=params.cwd)
    source = ls.app.sessions.deps.definitions
    catalogue = await source.load(cwd) if source is not None else Catalogue()
    live = ls.app.sessions.live
    asked = [live[params.session_id]] if params.session_id in live else [] if params.session_id else live.values()
    started = [session.turns.engine.agents for session in asked]
    runs = [run for agents in started if agents is not None for run in agents.list()]
    return {"agents": runs, "definitions": agent_rows(catalogue), **agent_problems(catalogue)}


@server.feature("assent/agent/stop")
async def stop_agent(ls: BaseServer, params: extensions.AgentStop) -> extensions.AgentStopped:
    """Stop one agent; what it did stays, and the model is told."""
    session = await ls.app.sessions.session(params.session_id)
    agents = session.turns.engine.agents
    return extensions.AgentStopped(stopped=agents is not None and agents.stop(params.agent_id))


@server.feature("assent/agent/read", on_cancel="stop")
async def read_agent(ls: BaseServer, params: extensions.AgentRead) -> extensions.AgentConversation:
    """What an agent was told and said, while it runs or afterwards, also in an earlier process."""
    return await agent_pages.read(await ls.app.sessions.session(params.session_id), params)


@server.feature("assent/command/list", on_cancel="stop")
async def list_commands(ls: BaseServer, params: extensions.CommandList) -> Json:
    cwd = await ls.folder(session_id=params.session_id, cwd=params.cwd)
    return await ls.app.sessions.request("assent/command/list", {"cwd": cwd})
