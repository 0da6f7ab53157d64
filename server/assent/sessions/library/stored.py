"""The requests that the files of sessions answer, open or not: list, search, fork, export, trace. And retention."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread

from assent.sessions.deps import SessionDeps
from assent.sessions.library import catalogue, retention, traces
from assent.sessions.library.export import export
from assent.sessions.library.summaries import listed
from assent.sessions.live import opening
from assent.sessions.stream.front import Call
from assent.storage.index import Index
from assent.types.redaction import redact
from assent.wire import requests, results

RETENTION_AFTER = 60.0  # seconds after the start


class RunningSession(Protocol):
    @property
    def running(self) -> bool: ...


class StoredSessions:
    def __init__(
        self,
        deps: SessionDeps,
        index: Index,
        *,
        live: Mapping[str, RunningSession],
        closing: Callable[[], Collection[str]],
    ) -> None:
        """`closing`: the ids of sessions that are being closed or deleted."""
        self.forked: set[str] = set()  # copies that were not opened yet
        self._deps = deps
        self._index = index
        self._live = live
        self._closing = closing

    async def list(self, params: requests.SessionList, call: Call) -> results.Sessions:
        page = partial(catalogue.page, self._index, cwd=params.cwd, query=params.query, cursor=params.cursor)
        found = await anyio.to_thread.run_sync(page)
        others = [summary for summary in found.summaries if summary.session_id not in self._live]
        elsewhere = await anyio.to_thread.run_sync(catalogue.running, self._deps.data_dir, others)
        running = {*elsewhere, *(id for id, session in self._live.items() if session.running)}
        rows = [
            listed(each, running=each.session_id in running, hits=found.hits.get(each.session_id))
            for each in found.summaries
        ]
        return results.Sessions(rows, next_cursor=found.cursor, unread=found.unread or None)

    async def fork(self, params: requests.SessionFork, call: Call) -> results.Forked:
        source = catalogue.found(self._deps.data_dir, params.session_id)
        await anyio.to_thread.run_sync(opening.check_format, source.transcript)
        copy = partial(
            catalogue.fork,
            self._deps.data_dir,
            source,
            message_id=params.message_id,
            before=params.before is True,
            now=self._deps.clock(),
        )
        session_id = await anyio.to_thread.run_sync(copy)
        self.forked.add(session_id)
        return results.Forked(session_id)

    async def export(self, params: requests.SessionExport, call: Call) -> results.Exported:
        paths = catalogue.found(self._deps.data_dir, params.session_id)
        text = await anyio.to_thread.run_sync(lambda: redact(export(paths.transcript, format=params.format)))
        return results.Exported(text)

    async def trace(self, params: requests.SessionTrace, call: Call) -> results.Traced:
        paths = catalogue.found(self._deps.data_dir, params.session_id)
        found = await anyio.to_thread.run_sync(traces.turns, paths.transcript)
        if params.turn is not None:
            found = [each for each in found if each["turn"] == params.turn]
        elif not params.all:
            found = found[-1:]
        return results.Traced(turns=found, text=redact(traces.as_text(found)))

    async def keep_only_recent(self) -> None:
        """`retention.days`: sweep some time after the start, and then once a day."""
        pause = RETENTION_AFTER
        while True:
            await anyio.sleep(pause)
            await self.sweep()
            pause = retention.DAY

    async def sweep(self) -> list[str]:
        """Delete the sessions that are older than the user's own settings allow; returns their ids."""
        deps = self._deps
        cwd = next(iter(deps.roots()), str(Path.home()))
        days = deps.settings.load(cwd, trust=deps.trust.of(cwd)).get("retention.days")
        if not isinstance(days, int):
            return []
        is_open = {*self._live, *self._closing()}
        work = partial(retention.sweep, deps.data_dir, self._index, days=days, now=deps.clock(), is_open=is_open)
        return await anyio.to_thread.run_sync(work)
