"""The host process: takes clients in, serves each by a loop of its own, and ends when it is no longer needed.

Life: it holds the lock of its place and touches it as a heartbeat. `hostIdleSeconds` after the last client left it
ends, unless a turn is to go on without a window. Whoever is another user, or has an engine above it, is refused before
a word of its hello is believed.
"""

import asyncio
import base64
import binascii
import contextlib
import json
import logging
import os
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from assent import __version__
from assent.host import handshake, peers
from assent.host.place import HostPlace, Unusable, config_dir, read_private
from assent.lsp.early import Opening
from assent.lsp.served import METHODS
from assent.lsp.server_loop import ServerLoop, end_on_signals
from assent.stdio import freed_memory, life
from assent.stdio.background import in_thread
from assent.stdio.logs import start_logging
from assent.types.blocks import Json
from assent.types.file_locks import wait_for_lock

if TYPE_CHECKING:
    from assent.editor.client_edits import ClientEdits
    from assent.lsp.backend import Backend
    from assent.lsp.client import ConnectedClient

log = logging.getLogger("assent.host")

HANDSHAKE = 10.0  # seconds that a client gets for its hello
FIRST = 20.0  # seconds that we wait for the first client
UNLOADED = 2.0  # and for the next one, where the first left before anything was loaded
HEARTBEAT = 5.0
_POLL = 0.25


class Program(Protocol):
    """What runs in a host; `assent.shared` is it."""

    def running(self) -> AbstractAsyncContextManager[Any]: ...

    @property
    def idle_seconds(self) -> float: ...

    @property
    def must_go_on(self) -> bool: ...

    @property
    def nice(self) -> int: ...

    def build(
        self, client: "ConnectedClient", editor: "ClientEdits", *, words: Json, entered: Callable[[], Awaitable[None]]
    ) -> "Backend": ...


class Maker(Protocol):
    """`load` imports what is slow to import, in a thread; `make` is called once, afterwards."""

    def load(self) -> None: ...

    def make(self) -> Program: ...


def serve(listener: socket.socket, place: HostPlace, workspace: str, maker: Maker) -> None:
    """Be the host; ends the process."""
    start_logging(Path(place.folder).parents[1] / "logs")
    life.be_an_engine()
    freed_memory.give_back()
    loop = asyncio.new_event_loop()
    life.leave(loop.run_until_complete(Host(listener, place, workspace, maker).run()))


class Host:
    def __init__(self, listener: socket.socket, place: HostPlace, workspace: str, maker: Maker) -> None:
        self._listener = listener
        self._place = place
        self._workspace = workspace
        self._maker = maker
        self._program: Program | None = None
        self._runs: asyncio.Task[None] | None = None
        self._entered = asyncio.Event()
        self._stop = asyncio.Event()
        self._clients: set[life.Ending] = set()
        self._arriving = 0
        self._moved = asyncio.Event()  # a client came or left
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self) -> int:
        self._life = life.Life()
        end_on_signals(self._life)
        self._spawn(life.reap_orphans())
        self._listener.setblocking(False)
        self._listener.listen(64)  # once more: from here on the kernel names us as the one who listens
        lock = await self._own()
        self._spawn(self._take_in())
        self._spawn(self._end_when_idle())
        self._spawn(self._beat(lock))
        await self._life.over()
        log.info("the host ends: %s", self._life.reason)
        self._listener.close()
        await self._close()
        return self._life.code

    # --- its place ---------------------------------------------------------------------------------------------------

    async def _own(self) -> int:
        """The lock, once an earlier host that is still ending has let go of it: its sessions' files are its own."""
        fd = os.open(self._place.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        await in_thread(lambda: wait_for_lock(fd))
        owner = {
            "pid": os.getpid(),
            "workspace": self._workspace,
            "version": __version__,
            "protocols": list(handshake.PROTOCOLS),
            "since": time.time(),
        }
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps(owner).encode(), 0)
        return fd

    async def _beat(self, lock: int) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            with contextlib.suppress(OSError):
                os.utime(lock)

    # --- clients -----------------------------------------------------------------------------------------------------

    async def _take_in(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                control, _ = await loop.sock_accept(self._listener)
            except OSError as error:  # out of descriptors, or the listener was closed
                log.warning("nobody can be taken in: %s", error)
                await asyncio.sleep(_POLL)
                continue
            self._spawn(self._serve(control))

    async def _serve(self, control: socket.socket) -> None:
        self._arriving += 1
        self._moved.set()
        try:
            met = await self._meet(control)
        finally:
            self._arriving -= 1
            self._moved.set()
        if met is None:
            control.close()
            return
        words, descriptors = met
        ending = life.Ending()
        self._clients.add(ending)
        try:
            code = await self._converse(control, words, descriptors, ending)
            with contextlib.suppress(OSError):
                handshake.send(control, {"exit": code})
        finally:
            control.close()
            self._clients.discard(ending)
            self._moved.set()

    async def _meet(self, control: socket.socket) -> tuple[Json, list[int]] | None:
        """The client's hello and its descriptors, once it was let in; None where it was refused or only looked."""
        met: list[tuple[Json, list[int]]] = []
        await in_thread(lambda: met.extend(self._heard(control)))
        if not met:
            return None
        words, descriptors = met[0]
        if not descriptors:
            return None
        return words, descriptors if len(descriptors) > 1 else [descriptors[0], os.dup(descriptors[0])]

    def _heard(self, control: socket.socket) -> list[tuple[Json, list[int]]]:
        """In a thread: a client may take its time."""
        try:
            control.setblocking(True)
            control.settimeout(HANDSHAKE)
            pid, uid = peers.credentials(control)
            if uid != os.geteuid():
                raise _Refusal("user", "this host is another user's")
            with peers.same_process(control) as alive:
                if peers.below_an_engine(pid) or not alive():
                    raise _Refusal("descendant", "a process that an engine started is not served")
            words, descriptors = handshake.receive(control)
            try:
                answer = self._agreed(words)
            except _Refusal:
                handshake.close_all(descriptors)
                raise
            handshake.send(control, answer)
        except _Refusal as refusal:
            log.warning("refused a client: %s", refusal)
            _refuse(control, refusal)
            return []
        except (OSError, handshake.Broken) as error:
            log.info("a client went before it was served: %s", error)
            return []
        return [(words, descriptors)]

    def _agreed(self, words: Json) -> Json:
        try:
            token = read_private(self._place.token)
        except (OSError, Unusable):
            token = b""
        given = words.get("token")
        if (
            not token
            or not isinstance(given, str)
            or not secrets.compare_digest(given.encode("utf-8", "surrogatepass"), token)
        ):
            raise _Refusal("token", "the token is not this host's")
        protocol = handshake.common(words.get("protocols"))
        methods: Any = words.get("methods")
        known = isinstance(methods, list) and set(METHODS).issuperset(map(str, cast("list[Any]", methods)))
        if protocol is None or not known:
            raise _Refusal("protocol", f"this host is of another version, {__version__}")
        if words.get("config") != os.path.realpath(config_dir()):
            raise _Refusal("config", "this host has other settings: XDG_CONFIG_HOME differs")
        return {"protocol": protocol, "pid": os.getpid(), "version": __version__}

    async def _converse(self, control: socket.socket, words: Json, descriptors: list[int], ending: life.Ending) -> int:
        loop = asyncio.get_running_loop()
        control.setblocking(False)
        loop.add_reader(control, _closed_ends, control, ending)
        params = words.get("initialize")
        opening = Opening(
            descriptors[0],
            descriptors[1],
            cast("Json", params) if isinstance(params, dict) else None,
            _bytes(words.get("unread")),
        )

        def build(client: "ConnectedClient", editor: "ClientEdits") -> "Backend":
            return self._started().build(client, editor, words=words, entered=self._has_entered)

        try:
            return await ServerLoop(opening, build, preload=self._maker.load, ending=ending, shared=True).run()
        finally:
            loop.remove_reader(control)
            control.setblocking(True)
            control.settimeout(1.0)

    # --- the program -------------------------------------------------------------------------------------------------

    def _started(self) -> Program:
        if self._program is None:
            self._program = self._maker.make()
            self._runs = asyncio.create_task(self._run(self._program))
        return self._program

    async def _run(self, program: Program) -> None:
        """In one task, from beginning to end: what is entered in it must be left in it."""
        async with program.running():
            self._entered.set()
            await self._stop.wait()

    async def _has_entered(self) -> None:
        assert self._runs is not None
        waiting = asyncio.create_task(self._entered.wait())
        await asyncio.wait({waiting, self._runs}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._runs.done():
            self._runs.result()

    # --- the end -----------------------------------------------------------------------------------------------------

    async def _end_when_idle(self) -> None:
        unloaded = FIRST
        while True:
            self._moved.clear()
            if self._clients or self._arriving:
                unloaded = UNLOADED if self._clients else unloaded
                await self._moved.wait()
            else:
                program = self._program
                seconds = unloaded if program is None else program.idle_seconds
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await self._moved.wait()
                    continue
                if program is None or not program.must_go_on:
                    self._life.end("nobody is left")
                    return
                life.stand_back(program.nice)  # nobody waits for its commands
                await asyncio.sleep(_POLL)  # a turn goes on; when it is over there is nobody to tell

    async def _close(self) -> None:
        for ending in list(self._clients):
            ending.end("the host ends", 0)
        self._stop.set()
        if self._runs is not None:
            runs = self._runs
            await life.close_within(lambda: runs)
        for task in self._tasks:
            task.cancel()

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Refusal(Exception):
    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def _refuse(control: socket.socket, refusal: _Refusal) -> None:
    """Say why, and let it finish its own words: a connection closed over unread ones loses ours."""
    with contextlib.suppress(OSError):
        control.settimeout(1.0)
        handshake.send(control, {"refused": refusal.kind, "text": str(refusal)})
        control.shutdown(socket.SHUT_WR)
        left = handshake.LARGEST
        while left > 0 and (data := control.recv(1 << 16)):
            left -= len(data)


def _closed_ends(control: socket.socket, ending: life.Ending) -> None:
    """A client says nothing after its hello: news on this connection are its end."""
    with contextlib.suppress(BlockingIOError):
        try:
            if control.recv(4096):
                return
        except BlockingIOError:
            raise
        except OSError:
            pass
        asyncio.get_running_loop().remove_reader(control)
        ending.end("the client's bridge has gone", 1)


def _bytes(text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except (ValueError, binascii.Error):
        return b""
