"""The engine of one session: built from the transcript when the first turn needs it, and again after a rewind."""

from __future__ import annotations

import anyio
import anyio.to_thread

from assent.engine.agents.runs import AgentRuns
from assent.engine.conversation_past import ConversationPast
from assent.engine.query_engine import QueryEngine
from assent.sessions.live.engine_output import EngineOutput
from assent.sessions.live.owning_session import OwningSession
from assent.storage import transcript


class SessionEngine:
    def __init__(self, session: OwningSession, output: EngineOutput, *, reopened: bool) -> None:
        self.current: QueryEngine | None = None
        self.home = ""  # the folder in which its turns begin, outside of worktrees
        self._session = session
        self._output = output
        self._reopened = reopened
        self._building = anyio.Lock()
        self._stale = False

    async def get(self, *, in_turn: bool, played: bool) -> QueryEngine:
        """The engine. A turn that runs on it keeps it; between turns it gets the configuration of this moment.

        `played`: the transcript holds turns of this process.
        """
        async with self._building:
            if self.current is not None and in_turn:
                return self.current
            return await self._fresh(played=played)

    async def for_turn(self, *, played: bool) -> QueryEngine:
        """The engine for a turn that begins."""
        async with self._building:
            return await self._fresh(played=played)

    async def _fresh(self, *, played: bool) -> QueryEngine:
        if self.current is None or self._stale:
            engine = self.current = await self._built(played=played)
        else:
            engine = self.current
            engine.configure(self._session.configuration())
        self._output.engine_ready()
        return engine

    async def _built(self, *, played: bool) -> QueryEngine:
        session = self._session
        old, self.current, self._stale = self.current, None, False
        if old is not None:
            session.promised.lose(old)
            await old.aclose()
        loaded = transcript.Loaded()
        if self._reopened or played:
            loaded = await anyio.to_thread.run_sync(transcript.load, session.record.path)
        if loaded.damaged:
            session.notice("warning", f"{loaded.damaged} damaged lines in this conversation were left out.")
        self._output.engine_built()
        self.home = session.state.cwd
        past = ConversationPast(
            messages=tuple(loaded.messages),
            snipped=frozenset(loaded.snipped),
            spared=frozenset(loaded.spared),
            collapsed=tuple(loaded.collapsed),
            result=loaded.last_result,
            spent=session.spent,
            context_tokens=loaded.context_tokens,
            orphans=session.orphans.calls(),
        )
        engine = session.deps.engine(session.configuration(), session.services, past)
        for notice in session.promised.notices(session.deps.clock()):
            engine.enqueue(notice)
        return engine

    @property
    def agents(self) -> AgentRuns | None:
        """Its subagents; None before the engine is built."""
        return self.current.agents if self.current is not None else None

    def holds(self, id: str) -> bool:
        """Whether the model has yet to read that this agent or job ended."""
        return self.current is not None and self.current.holds(id)

    def forget(self) -> None:
        """Build a new engine for the next turn: the conversation in the transcript has changed."""
        self._stale = True

    async def aclose(self) -> None:
        if self.current is not None:
            await self.current.aclose()
