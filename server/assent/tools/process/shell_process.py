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
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio

from assent.tools.process.leftovers import kill_command, remove
from assent.tools.process.spares import Identity, Spare, Spares
from assent.tools.process.supervisor import REPORT_FD
from assent.types.errors import ToolError
from assent.types.ids import new_id

KEEP = 8 * 1024 * 1024  # bytes kept of the head, and again of the tail
FLOOD = 1024 * 1024 * 1024  # a command that says more than this is stopped
GRACE = 2.0  # seconds between asking a command to end and killing it
_CHUNK = 256 * 1024
__all__ = ["REPORT_FD", "Enclosure", "Keeper", "Process"]
_LENGTH = struct.Struct("!I")


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosure:
    """What the supervisor puts around one process, besides what the argv itself does."""

    kind: Literal["landlock", "filter", "none"] = "none"  # "filter": bubblewrap loads it from FILTER_FD
    ruleset: int = -1  # a descriptor, which the keeper closes, or keeps for another command
    rules: Identity = ()  # under which the ruleset and the scratch folder may be kept for another command
    filter: bytes = b""
    capabilities: int = 0  # those that root keeps, as bits
    scratch: str = ""  # a folder of this process's own, removed when it ends

    def discard(self) -> None:
        """Let go of it without a start."""
        if self.ruleset >= 0:
            os.close(self.ruleset)
        if self.scratch:
            remove(self.scratch)


class Process:
    """One running or finished command."""

    def __init__(self, id: str, report: int | None, keep: int) -> None:
        self.id = id
        self.keep = keep
        self.pid: int | None = None
        self.status: int | None = None  # exit code, or minus the signal; None while running
        self.error: str | None = None  # it could not be started, or its keeper is gone
        self.unfenced = False  # it was not started because its fence failed
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
        self.kept: Spare | None = None  # the fence it runs in, if another command may have that afterwards

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
        self.spares = Spares()
        self._socket: socket.socket | None = None
        self._supervisor: int | None = None
        self._processes: dict[str, Process] = {}
        self._inbox = bytearray()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        report: bool = False,
        keep: int = KEEP,
        enclosure: Enclosure | None = None,
    ) -> Process:
        """Start a process with stdout and stderr on one pipe; with `report`, another on descriptor REPORT_FD."""
        process, output = self._started(argv, cwd, env, report=report, keep=keep, enclosure=enclosure or Enclosure())
        os.set_blocking(output, False)
        process.watch(asyncio.get_running_loop(), output)
        return process

    def start_piped(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> tuple[Process, int]:
        """Start a process whose output the caller reads, and must close."""
        return self._started(argv, cwd, env, report=False, keep=0, enclosure=Enclosure())

    def _started(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        *,
        report: bool,
        keep: int,
        enclosure: Enclosure,
    ) -> tuple[Process, int]:
        if self._closed:
            enclosure.discard()
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
        body, passed = start_request(process.id, [program, *argv[1:]], cwd, env, report=report, enclosure=enclosure)
        fds += passed
        process.kept = _kept(enclosure)
        try:
            send(keeper, body, fds)
        except OSError:
            self._lost()
        finally:
            for fd in {*fds} - ({enclosure.ruleset} if enclosure.rules else set()):
                os.close(fd)
        return process, out_read

    def signal(self, process: Process, number: int) -> None:
        """Signal the process, its group and everything that came from it."""
        self._ask({"op": "kill", "id": process.id, "signal": number})

    def stand_back(self, process: Process, nice: int) -> None:
        """The process and everything that came from it leave the processor to others first."""
        self._ask({"op": "nice", "id": process.id, "nice": nice})

    def _ask(self, request: dict[str, int | str]) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):
                send(self._socket, json.dumps(request).encode(), [])

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
        self.spares.close()
        pid, self._supervisor = self._supervisor, None
        if pid is None:
            return
        self._lost()
        with anyio.move_on_after(3, shield=True):
            await _gone(pid)

    def _connected(self) -> socket.socket:
        if self._socket is not None:
            return self._socket
        ours, self._supervisor = start_supervisor()
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
            process.unfenced = bool(message.get("unfenced"))
            self._let_go(process, spare=bool(message.get("spare")))
            process.finish(
                self._loop, int(status) if status is not None else None, str(message.get("error", "")) or None
            )

    def _let_go(self, process: Process, *, spare: bool) -> None:
        """Its fence is for the next command, or for none."""
        kept, process.kept = process.kept, None
        if kept is not None and spare:
            self.spares.give(kept)
        elif kept is not None:
            os.close(kept.ruleset)

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
            self._let_go(process, spare=False)
            if not self._closed:  # the supervisor was killed, and could not do this itself
                kill_command(process.pid, process.id, signal.SIGKILL)
            if self._loop is not None:
                process.finish(self._loop, None, "the session ended")
                process.close(self._loop)


def _kept(enclosure: Enclosure) -> Spare | None:
    if not enclosure.rules:
        return None
    folder = 0  # that of no folder
    with contextlib.suppress(OSError):
        folder = os.stat(enclosure.scratch).st_ino  # noqa: PTH116
    return Spare(rules=enclosure.rules, scratch=enclosure.scratch, ruleset=enclosure.ruleset, folder=folder)


def start_supervisor() -> tuple[socket.socket, int]:
    """Our end of its socket, and its process."""
    ours, theirs = socket.socketpair()
    program = Path(__file__).with_name("supervisor.py")
    with theirs:
        os.set_inheritable(theirs.fileno(), True)
        pid = os.posix_spawn(
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
    return ours, pid


def start_request(
    id: str, argv: Sequence[str], cwd: str, env: Mapping[str, str], *, report: bool, enclosure: Enclosure
) -> tuple[bytes, list[int]]:
    """The message that starts a process, and the descriptors that go with it after those for its output."""
    request: dict[str, object] = {"op": "start", "id": id, "argv": list(argv), "cwd": cwd, "env": dict(env)}
    request |= {"report": report, "scratch": enclosure.scratch}
    fds: list[int] = []
    if enclosure.kind == "landlock":
        fds.append(enclosure.ruleset)
        fence = {"filter": enclosure.filter.hex(), "capabilities": enclosure.capabilities}
        request["fence"] = {"kind": "landlock", **fence}
    elif enclosure.kind == "filter":
        fds.append(_readable(enclosure.filter))
        request["fence"] = {"kind": "filter"}
    return json.dumps(request).encode(), fds


def _readable(content: bytes) -> int:
    """A descriptor that gives these bytes, few enough for a pipe, and then ends."""
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    return reading


def send(to: socket.socket, body: bytes, fds: list[int]) -> None:
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
