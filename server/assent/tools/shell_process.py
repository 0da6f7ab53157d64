"""Processes of a session, started through its supervisor (see `supervisor.py`).

A process here has a marked place in the session: it dies with it, whatever happens to the server. Output is read as it
comes, kept up to a cap (head and tail) and thrown away beyond, so a chatty command costs bounded memory. No task runs
for a process: the event loop's reader callbacks do the work. Knows nothing of tools.
"""

import array
import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import anyio

from assent.tools.supervisor import REPORT_FD, kill_command
from assent.types.errors import ToolError
from assent.types.ids import new_id

KEEP = 8 * 1024 * 1024  # bytes kept of the head, and again of the tail
FLOOD = 1024 * 1024 * 1024  # a command that says more than this is stopped
GRACE = 2.0  # seconds between asking a command to end and killing it
_CHUNK = 256 * 1024
__all__ = ["REPORT_FD", "Keeper", "Process"]
_LENGTH = struct.Struct("!I")


class Process:
    """One running or finished command."""

    def __init__(self, id: str, report: int | None, keep: int) -> None:
        self.id = id
        self.keep = keep
        self.pid: int | None = None
        self.status: int | None = None  # exit code, or minus the signal; None while running
        self.error: str | None = None  # it could not be started, or its keeper is gone
        self.received = 0
        self.reported = b""  # what it wrote to its third descriptor
        self.ended = anyio.Event()
        self.flooded = False
        self.on_output: Callable[[], None] = lambda: None
        self.on_end: Callable[[], None] = lambda: None
        self._head = bytearray()
        self._tail = bytearray()
        self._output = -1
        self._report = report

    @property
    def dropped(self) -> int:
        return self.received - len(self._head) - len(self._tail)

    def output(self, start: int = 0) -> bytes:
        """What it has said so far, from an offset into all it ever said."""
        if not self.dropped:
            whole = bytes(self._head) + bytes(self._tail)
            return whole[start:]
        gap = b"\n[... %d bytes not kept ...]\n" % self.dropped
        tail_at = self.received - len(self._tail)
        if start >= tail_at:
            return bytes(self._tail[start - tail_at :])
        return bytes(self._head[start:]) + gap + bytes(self._tail)

    def watch(self, loop: asyncio.AbstractEventLoop, output: int) -> None:
        self._output = output
        loop.add_reader(output, self._readable, loop)

    def finish(self, loop: asyncio.AbstractEventLoop, status: int | None, error: str | None = None) -> None:
        """The shell itself ended. What it left in the pipe is read; what its children say later is read and dropped."""
        while self._output >= 0 and self._take(loop):
            pass
        if self._report is not None:
            with contextlib.suppress(OSError):
                self.reported = os.read(self._report, 8192)
            os.close(self._report)
            self._report = None
        self.status = status
        self.error = error
        self.ended.set()
        self.on_end()

    def close(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._output >= 0:
            loop.remove_reader(self._output)
            os.close(self._output)
            self._output = -1

    def _readable(self, loop: asyncio.AbstractEventLoop) -> None:
        self._take(loop)

    def _take(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Read one chunk; False when there is none now, or never again."""
        try:
            data = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self.close(loop)
            return False
        if self.ended.is_set():
            return True
        self._keep(data)
        self.flooded = self.received > FLOOD
        self.on_output()
        return True

    def _keep(self, data: bytes) -> None:
        self.received += len(data)
        room = self.keep - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail += data
            if len(self._tail) > 2 * self.keep:
                del self._tail[: -self.keep]


class Keeper:
    """The server's end of one supervisor: started with the first process, closed with the session."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._supervisor: int | None = None
        self._processes: dict[str, Process] = {}
        self._inbox = bytearray()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def start(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], report: bool = False, keep: int = KEEP
    ) -> Process:
        """Start a process with stdout and stderr on one pipe; with `report`, another on descriptor REPORT_FD."""
        process, output = self._started(argv, cwd, env, report=report, keep=keep)
        os.set_blocking(output, False)
        process.watch(asyncio.get_running_loop(), output)
        return process

    def start_piped(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> tuple[Process, int]:
        """Start a process whose output the caller reads, and must close."""
        return self._started(argv, cwd, env, report=False, keep=0)

    def _started(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], *, report: bool, keep: int
    ) -> tuple[Process, int]:
        if self._closed:
            raise ToolError("The session is closed")
        keeper = self._connected()
        program = argv[0] if "/" in argv[0] else shutil.which(argv[0], path=env.get("PATH")) or argv[0]
        out_read, out_write = os.pipe()
        fds = [out_write, out_write]
        reading: int | None = None
        if report:
            reading, writing = os.pipe()
            os.set_blocking(reading, False)
            fds.append(writing)
        process = Process(new_id("c"), reading, keep)
        self._processes[process.id] = process
        body = json.dumps(
            {"op": "start", "id": process.id, "argv": [program, *argv[1:]], "cwd": cwd, "env": dict(env)}
        ).encode()
        try:
            _send(keeper, body, fds)
        except OSError:
            self._lost()
        finally:
            for fd in set(fds):
                os.close(fd)
        return process, out_read

    def signal(self, process: Process, number: int) -> None:
        """Signal the process, its group and everything that came from it."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                _send(self._socket, json.dumps({"op": "kill", "id": process.id, "signal": number}).encode(), [])

    async def stop(self, process: Process, *, grace: float = GRACE) -> None:
        """End it: first asked, then killed."""
        self.signal(process, signal.SIGTERM)
        with anyio.move_on_after(grace):
            await process.ended.wait()
        self.signal(process, signal.SIGKILL)
        with anyio.move_on_after(grace):
            await process.ended.wait()

    async def close(self) -> None:
        """Kill everything that is left of the session, and wait until the supervisor has done so."""
        self._closed = True
        pid, self._supervisor = self._supervisor, None
        if pid is None:
            return
        self._lost()
        with anyio.move_on_after(3, shield=True):
            await _gone(pid)

    def _connected(self) -> socket.socket:
        if self._socket is not None:
            return self._socket
        ours, theirs = socket.socketpair()
        program = Path(__file__).with_name("supervisor.py")
        with theirs:
            os.set_inheritable(theirs.fileno(), True)
            self._supervisor = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", str(program), str(theirs.fileno())],
                {"PATH": os.defpath},
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setsid=True,
            )
        ours.setblocking(False)
        self._socket = ours
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(ours.fileno(), self._heard)
        return ours

    def _heard(self) -> None:
        assert self._socket is not None
        try:
            data = self._socket.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lost()
            return
        self._inbox += data
        while len(self._inbox) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._inbox)
            if len(self._inbox) < _LENGTH.size + length:
                return
            message = json.loads(self._inbox[_LENGTH.size : _LENGTH.size + length])
            del self._inbox[: _LENGTH.size + length]
            self._told(message)

    def _told(self, message: dict[str, int | str]) -> None:
        process = self._processes.get(str(message["id"]))
        if process is None or self._loop is None:
            return
        if "pid" in message:
            process.pid = int(message["pid"])
        else:
            del self._processes[process.id]
            status = message.get("status")
            process.finish(
                self._loop, int(status) if status is not None else None, str(message.get("error", "")) or None
            )

    def _lost(self) -> None:
        """No word will come from the supervisor any more: whatever still ran is over for us."""
        ours, self._socket = self._socket, None
        self._inbox.clear()
        if ours is not None and self._loop is not None:
            self._loop.remove_reader(ours.fileno())
            ours.close()
        if self._supervisor is not None:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._supervisor, os.WNOHANG)
        processes, self._processes = self._processes, {}
        for process in processes.values():
            if not self._closed:  # the supervisor was killed, and could not do this itself
                kill_command(process.pid, process.id, signal.SIGKILL)
            if self._loop is not None:
                process.finish(self._loop, None, "the session ended")
                process.close(self._loop)


def _send(to: socket.socket, body: bytes, fds: list[int]) -> None:
    """Small and rare messages: the socket is made to wait for the supervisor, which always reads."""
    to.setblocking(True)
    try:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        to.sendmsg([_LENGTH.pack(len(body))], rights)
        to.sendall(body)
    finally:
        to.setblocking(False)


async def _gone(pid: int) -> None:
    while True:
        try:
            if os.waitpid(pid, os.WNOHANG)[0]:  # noqa: ASYNC222 -- with WNOHANG it does not wait
                return
        except ChildProcessError:
            return
        await anyio.sleep(0.005)
