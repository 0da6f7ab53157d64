"""The hook handlers of type `agent` and `mcp_tool` in a session.

An agent investigates with read-only tools and the shell, and returns a verdict. It may do only what the rules allow
without an ask. It fires no hooks, since it would wait for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from assent.engine.chains import chain_beside
from assent.engine.config import EngineConfig
from assent.engine.query_engine import QueryEngine
from assent.engine.services import NoTranscript, Services
from assent.sessions.deps import PermissionFacts, SessionDeps
from assent.sessions.live.session_tools import SessionTools
from assent.tools.bash import Bash
from assent.tools.tool import SessionState
from assent.types.blocks import Json, text_of
from assent.types.errors import ToolError
from assent.types.hooks import NoHooks
from assent.types.mcp import McpCall
from assent.types.messages import Attachment, Result
from assent.types.permissions import Allow, Deny, Verdict
from assent.types.ports import ToolCall
from assent.types.usage import Usage

MOST_STEPS = 50


class HandlerSession(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def deps(self) -> SessionDeps: ...
    @property
    def services(self) -> Services: ...
    @property
    def state(self) -> SessionState: ...
    def configuration(self) -> EngineConfig: ...
    def permission_facts(self) -> PermissionFacts: ...
    @property
    def tools(self) -> SessionTools: ...
    def book(self, model: str, usage: Usage, cost_usd: float, opened: int, /) -> None: ...


async def run_agent(session: HandlerSession, model: str, system: str, prompt: str) -> str:
    """Returns its last text. Raises OSError if it ended without one."""

    async def judge(call: ToolCall) -> Verdict:
        decision = session.deps.decide(call.action, replace(session.permission_facts(), interactive=False))
        if isinstance(decision, Allow | Deny):
            return decision
        return Deny(step=decision.step, reason=f"Nobody is asked for a hook's agent. {decision.reason}")

    place = chain_beside(session.id)
    state = SessionState(cwd=session.state.cwd, mode="default", worktree=session.state.worktree)
    config = replace(
        session.configuration(),
        cwd=session.state.cwd,
        model=model,
        custom_system_prompt=system,
        append_system_prompt=None,
        max_turns=MOST_STEPS,
        max_budget_usd=None,
        task_budget=None,
        json_schema=None,
        memory=False,
        background_calls=frozenset(),
        interactive=False,
        persist=False,
        include_partial_messages=False,
        source="subagent",
        chain=place.id,
        depth=place.depth,
    )
    services = replace(
        session.services,
        tools=lambda: [tool for tool in session.tools.all() if tool.read_only or isinstance(tool, Bash)],
        mcp_clients=tuple,
        commands=tuple,
        agents=tuple,
        memory=None,
        system_context=None,
        attachment_sources=(),
        hooks=NoHooks(),
        scoped_hooks=None,
        can_use_tool=judge,
        handle_elicitation=None,
        transcript=NoTranscript(),
        state=lambda: state,
        set_state=None,
        set_status=_quiet,
        abort=None,
        take_queued=None,
        take_decisions=_nothing,
        publish=_quiet,
        snip_replay=None,
        team=None,
        on_spend=session.book,
    )
    engine = QueryEngine(config, services)
    result: Result | None = None
    try:
        async with aclosing(engine.submit(prompt, is_meta=True)) as messages:
            async for message in messages:
                if isinstance(message, Result):
                    result = message
    finally:
        await engine.aclose()
    if result is None or result.is_error:
        raise OSError(f"the agent gave no verdict: {result.result if result else 'it ended early'}")
    return result.result


def _quiet(_said: object) -> None:
    """What a hook's agent does is its own: people see the verdict."""


def _nothing(_mine: object) -> Sequence[Attachment]:
    return ()


async def call_mcp(session: HandlerSession, server: str, tool: str, given: Json) -> tuple[str, bool]:
    """What a tool of a connected server answers, and whether that is an error. Raises OSError, ToolError."""
    servers = session.tools.mcp
    if servers is None or not servers.knows(server):
        raise OSError(f"there is no MCP server {server} here")
    owner = servers.servers.named(server)
    if owner.status in ("disabled", "needsApproval"):
        raise OSError(f"the MCP server {server} is {owner.status}")
    await owner.connected()
    spec = next((spec for spec in owner.tools if spec.tool == tool), None)
    if spec is None:
        raise ToolError(f"the MCP server {server} has no tool {tool}")
    result = await servers.offer.call(spec, given, McpCall())
    return text_of(result.blocks[1:]), result.is_error  # without the line that warns the model of it
