"""Tells sessions that MCP servers of their folder have changed: one event for many changes."""

import asyncio
from collections.abc import Callable, Iterable, Sequence

import msgspec

from assent.sessions.live.session import Session
from assent.types.blocks import Json
from assent.wire.events import McpChanged
from assent.wire.extensions import McpServerState

COLLECT_SECONDS = 0.05


class McpNews:
    def __init__(self, listed: Callable[[str], Sequence[Json]], sessions: Callable[[], Iterable[Session]]) -> None:
        """`listed` gives the servers of a folder, as `assent/mcp/list` does."""
        self._listed = listed
        self._sessions = sessions
        self._pending: set[str] = set()  # folders whose sessions are told soon

    def changed(self, folder: str) -> None:
        if folder not in self._pending:
            self._pending.add(folder)
            asyncio.get_running_loop().call_later(COLLECT_SECONDS, self._publish, folder)

    def _publish(self, folder: str) -> None:
        self._pending.discard(folder)
        event = McpChanged(msgspec.convert(self._listed(folder), list[McpServerState]))
        for session in list(self._sessions()):
            if session.cwd == folder and not session.closed:
                session.publish(event)
