"""Our end of the worker's pipe: requests with answers, events, and the worker's life.

The worker starts with the first request and ends with us: when its stdin closes it kills every server it started. If it
is killed itself, we end the servers it left behind, which carry a variable with its number.
"""

import asyncio
import contextlib
import contextvars
import itertools
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import orjson

from assent.extensions.mcp.processes import marked
from assent.types.blocks import Json
from assent.types.ids import new_id
from assent.types.programs import NEUTRAL, python

log = logging.getLogger(__name__)

MARKER = "ASSENT_MCP"
_LONGEST = 64 * 1024 * 1024

Answer = Callable[[Json], Awaitable[Json]]
"""Answers a question of a server: (kind, server, params as one object) → answer."""


class WorkerError(Exception):
    """A request that failed. `kind`: failed, needsAuth, needsMore, gone, ended, invalid, refused, cancelled."""

    def __init__(self, message: str, *, kind: str = "failed", stderr: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.stderr = stderr


class _Pending:
    def __init__(self, answer: Answer | None, progress: Callable[[Json], None] | None) -> None:
        self.done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.answer = answer
        self.progress = progress
        self.context = contextvars.copy_context()  # of whoever called: the server's questions are answered in it


class Pipe:
    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._pending: dict[int, _Pending] = {}
        self._questions: dict[int, asyncio.Task[None]] = {}
        self._numbers = itertools.count(1)
        self._closed = False
        self.marker = new_id("w")
        self.on_event: Callable[[Json], None] = lambda _event: None  # changed, closed, died
        self.answer: Answer | None = None  # for questions that belong to no call

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def request(
        self, op: str, *, answer: Answer | None = None, progress: Callable[[Json], None] | None = None, **fields: Any
    ) -> Any:
        """Raises WorkerError. Cancelling it cancels the request at the server."""
        process = await self._running()
        number = next(self._numbers)
        pending = self._pending[number] = _Pending(answer, progress)
        try:
            self._send(process, {"id": number, "op": op, **fields})
            return await pending.done
        except asyncio.CancelledError:
            with contextlib.suppress(WorkerError):
                self._send(process, {"op": "cancel", "id": number})
            raise
        finally:
            self._pending.pop(number, None)

    async def aclose(self) -> None:
        self._closed = True
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), 1.0)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                self._end_left_behind()
        if self._reading is not None:
            self._reading.cancel()
        for question in self._questions.values():
            question.cancel()

    # --- the process -------------------------------------------------------------------------------------------------

    async def _running(self) -> asyncio.subprocess.Process:
        async with self._starting:
            if self._closed:
                raise WorkerError("the session ended", kind="gone")
            if self._process is None:
                self._process = process = await asyncio.create_subprocess_exec(
                    *python("-m", "assent.extensions.mcp.worker"),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=None if log.isEnabledFor(logging.DEBUG) else asyncio.subprocess.DEVNULL,
                    cwd=NEUTRAL,
                    env=_environment(os.environ),
                    limit=_LONGEST,
                    start_new_session=True,
                )
                self._reading = asyncio.create_task(self._read(process), name="reading from the MCP worker")
            return self._process

    def _send(self, process: asyncio.subprocess.Process, message: Json) -> None:
        assert process.stdin is not None
        if process.stdin.is_closing():
            raise WorkerError("the worker process ended", kind="gone")
        process.stdin.write(orjson.dumps(message) + b"\n")

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                self._heard(process, cast("Json", orjson.loads(line)))
        except ValueError as error:
            log.warning("the MCP worker sent something we cannot read: %s", error)
        if self._process is process:
            self._process = None
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            self._end_left_behind()
            for pending in list(self._pending.values()):
                _fail(pending, WorkerError("the worker process ended", kind="gone"))
            self.on_event({"event": "died"})

    def _heard(self, process: asyncio.subprocess.Process, message: Json) -> None:
        match message.get("event"):
            case None:
                pending = self._pending.get(message["id"])
                if pending is None or pending.done.done():
                    return
                if "error" in message:
                    _fail(
                        pending,
                        WorkerError(message["error"], kind=message["kind"], stderr=str(message.get("stderr", ""))),
                    )
                else:
                    pending.done.set_result(message["result"])
            case "progress":
                pending = self._pending.get(message["id"])
                if pending is not None and pending.progress is not None:
                    pending.progress(message)
            case "ask":
                pending = self._pending.get(message.get("call") or 0)
                asked = self._asked(process, message, pending)
                context = pending.context.copy() if pending is not None else None
                self._questions[message["ask"]] = asyncio.create_task(asked, context=context)
            case "withdrawn":
                if question := self._questions.pop(message["ask"], None):
                    question.cancel()
            case "ready":
                pass
            case _:
                self.on_event(message)

    async def _asked(self, process: asyncio.subprocess.Process, message: Json, pending: _Pending | None) -> None:
        answer = (pending.answer if pending is not None else None) or self.answer
        try:
            result = await answer(message) if answer is not None else {"action": "cancel", "error": "nobody is there"}
        except Exception as error:
            log.warning("a question of an MCP server was not answered: %s", error)
            result = {"action": "cancel", "error": "the question could not be shown"}
        self._questions.pop(message["ask"], None)
        with contextlib.suppress(WorkerError):
            self._send(process, {"op": "answer", "ask": message["ask"], "result": result})

    def _end_left_behind(self) -> None:
        if sys.platform == "linux":
            for pid in marked(MARKER, self.marker):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


_PASSED = frozenset((
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_DATA_HOME",
    "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY",
    "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "MCP_CLIENT_SECRET", "ASSENT_MCP_KEYRING",
))  # fmt: skip


def _environment(base: Mapping[str, str]) -> dict[str, str]:
    """What the worker itself needs. What servers get comes with their configuration."""
    return {name: value for name, value in base.items() if name in _PASSED}


def _fail(pending: _Pending, error: WorkerError) -> None:
    if not pending.done.done():
        pending.done.set_exception(error)
