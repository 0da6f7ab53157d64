"""The stdio transport: one server process, one JSON message per line, a bound on the length of a line.

The SDK's own transport has no such bound and does not keep the server's stderr, so this one takes its place.
"""

import asyncio
import contextlib
import ctypes
import os
import re
import signal
import sys
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

LONGEST_LINE = 32 * 1024 * 1024
_GRACE = 1.0  # seconds to end by itself after its stdin closed, and again after SIGTERM
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG

_ID = rb'"id"\s*:\s*(\d{1,15})'
_ANSWER = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID + rb'\s*,\s*"(?:result|error)"')
_ANSWER_AT_END = re.compile(rb",\s*" + _ID + rb"\s*\}\s*\Z")  # our own ids are numbers

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


class ServerLog:
    """The last lines a server wrote to its stderr."""

    def __init__(self, most: int = 40) -> None:
        self._lines: deque[str] = deque(maxlen=most)

    def add(self, text: str) -> None:
        self._lines.extend(line[:500] for line in text.splitlines() if line.strip())

    @property
    def tail(self) -> str:
        return "\n".join(self._lines)[-4000:]


class StdioServer:
    """One server process. `ended` is set when its stdout ends, for whatever reason."""

    def __init__(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], log: ServerLog) -> None:
        self._argv, self._cwd, self._env, self._log = argv, cwd, env, log
        self.ended = anyio.Event()
        self.problem = ""  # why we gave up on it
        self.process: asyncio.subprocess.Process | None = None

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[Streams, None]:
        """A transport as the SDK's client takes it. Raises OSError when the program cannot be started."""
        self.process = process = await asyncio.create_subprocess_exec(
            *self._argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._cwd,
            env=dict(self._env),
            limit=LONGEST_LINE,
            start_new_session=True,
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # this process has one thread
        )
        to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._read, process, to_session)
                group.start_soon(self._write, process, from_session)
                group.start_soon(self._read_stderr, process)
                try:
                    yield from_server, to_server
                finally:
                    with anyio.CancelScope(shield=True):
                        await _stop(process)
                    group.cancel_scope.cancel()
        finally:
            for stream in (to_session, from_server, to_server, from_session):
                stream.close()

    async def _read(
        self, process: asyncio.subprocess.Process, out: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        assert process.stdout is not None
        try:
            async with out:
                while True:
                    try:
                        line = await process.stdout.readline()
                    except ValueError:
                        self.problem = f"it sent a message longer than {LONGEST_LINE // 1024 // 1024} MB"
                        return
                    if not line:
                        return
                    if not line.strip():
                        continue
                    await out.send(_parsed(line, self._log))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the session is gone
        finally:
            self.ended.set()

    async def _write(
        self, process: asyncio.subprocess.Process, outgoing: MemoryObjectReceiveStream[SessionMessage]
    ) -> None:
        assert process.stdin is not None
        async with outgoing:
            async for item in outgoing:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    process.stdin.write(text.encode() + b"\n")
                    await process.stdin.drain()
                except (OSError, RuntimeError):
                    self.ended.set()
                    return

    async def _read_stderr(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while data := await process.stderr.read(65536):
            self._log.add(data[-16384:].decode("utf-8", "replace"))


def not_started(error: OSError, config: Mapping[str, Any]) -> str:
    """Why the program could not be started, in words."""
    if not os.path.isdir(config["cwd"]):  # noqa: PTH112 -- one look
        return f"the folder it is to run in, {config['cwd']!r}, does not exist"
    if isinstance(error, FileNotFoundError):
        return f"the program {config['command']!r} was not found"
    return f"the program {config['command']!r} could not be started: {error.strerror}"


def _parsed(line: bytes, log: ServerLog) -> SessionMessage | Exception:
    """A message; an answer that cannot be read counts as an error, so that whoever waits for it does not wait on."""
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        log.add(f"[not a message] {line[:200].decode('utf-8', 'replace')}")
        found = _ANSWER.match(line) or _ANSWER_AT_END.search(line[-100:])
        if found is None:
            return error
        unreadable = types.ErrorData(code=types.PARSE_ERROR, message="its answer cannot be read")
        return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=int(found[1]), error=unreadable))


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Close its stdin, wait, SIGTERM to its group, wait, SIGKILL."""
    if process.stdin is not None:
        with contextlib.suppress(OSError, RuntimeError):
            process.stdin.close()
    for number in (signal.SIGTERM, signal.SIGKILL):
        with anyio.move_on_after(_GRACE):
            while process.returncode is None:  # noqa: ASYNC110 -- `wait` also waits for pipes a grandchild holds
                await anyio.sleep(0.01)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, number)
        if process.returncode is not None:
            break
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)  # what it started itself


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
