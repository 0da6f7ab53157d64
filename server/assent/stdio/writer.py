"""The way out: frames to one file descriptor, without ever making the event loop wait.

What is sent during one turn of the loop leaves together, at its end, in one write, when the descriptor can take it
without blocking; everything else goes to a thread that may block as long as the client likes. Two lanes: answers to
plain editor requests (`urgent`) pass the stream of events; within a lane order is kept. Not aware of what frames hold.
"""

import os
import select
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from assent.stdio.backlog import Backlog

PIPE_ATOM = 4096  # a pipe that polls writable takes this much without blocking (POSIX PIPE_BUF on Linux)
_BATCH = 256 * 1024


class FrameWriter:
    """`on_broken` is called once, from the writing thread, when the client can no longer be written to.

    `frame` puts a body into the wire's envelope.
    `soon` runs a function when the loop's current turn is over (`loop.call_soon`); without it every frame leaves alone.
    """

    def __init__(
        self,
        fd: int,
        *,
        frame: Callable[[bytes], bytes],
        on_broken: Callable[[], None] = lambda: None,
        soon: Callable[[Callable[[], None]], object] | None = None,
        spill_directory: str | None = None,
    ) -> None:
        self._fd = fd
        self._frame = frame
        self._on_broken = on_broken
        self._soon = soon
        self._urgent = Backlog(directory=spill_directory)
        self._stream = Backlog(directory=spill_directory)
        self._fresh_urgent: list[bytes] = []  # sent since the loop's turn began
        self._fresh: list[bytes] = []
        self._direct = _direct_write(fd)
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._handed_over = False  # the thread has, or will have, something to write: nobody else may
        self._broken = False
        self._ended = False
        self._thread_over = False
        self._idle = threading.Event()
        self._idle.set()
        self.frames = 0
        self.bytes = 0
        self._thread = threading.Thread(target=self._run, name="assent-writer", daemon=True)
        self._thread.start()

    @property
    def queued(self) -> int:
        return len(self._urgent) + len(self._stream)

    @property
    def in_memory(self) -> int:
        return self._urgent.in_memory + self._stream.in_memory

    @property
    def broken(self) -> bool:
        return self._broken

    def send(self, body: bytes, *, urgent: bool = False) -> None:
        """Called from the loop's thread only. Never blocks, never raises."""
        if self._broken:
            return
        frame = self._frame(body)
        self.frames += 1
        self.bytes += len(frame)
        waiting = bool(self._fresh or self._fresh_urgent)
        (self._fresh_urgent if urgent else self._fresh).append(frame)
        if self._soon is None:
            self.flush()
        elif not waiting:
            self._soon(self.flush)

    def flush(self) -> None:
        """Send on what this turn of the loop has gathered."""
        if self._broken:
            return
        urgent, self._fresh_urgent = b"".join(self._fresh_urgent), []
        stream, self._fresh = b"".join(self._fresh), []
        if not self._handed_over and self._direct is not None:
            whole = urgent + stream
            sent = self._direct(whole)
            if sent == len(whole):
                return
            if sent:  # a frame is half written and must be finished before any other: this lane goes first
                urgent, stream = whole[sent:], b""
        with self._lock:
            if urgent:
                self._urgent.put(urgent)
            if stream:
                self._stream.put(stream)
            self._handed_over = self._handed_over or bool(urgent or stream)
            self._idle.clear()
        if not self._wake.is_set():
            self._wake.set()

    def close(self, *, timeout: float) -> bool:
        """Wait for what is queued to be written, but not longer than this; the thread itself is never waited for."""
        deadline = time.monotonic() + timeout
        return self._broken or self._idle.wait(max(0.0, deadline - time.monotonic()))

    def end(self) -> None:
        """Write nothing more, end the thread and close the descriptor: for one connection among several."""
        self._broken = True
        if self._direct is not None:
            self._direct.close()
            self._direct = None
        with self._lock:
            self._ended = True
            if self._thread_over:
                os.close(self._fd)
        self._wake.set()

    def _run(self) -> None:
        try:
            self._write()
        finally:
            with self._lock:
                self._thread_over = True
                if self._ended:
                    os.close(self._fd)

    def _write(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            if self._ended:
                return
            while data := self._next():
                try:
                    _write_all(self._fd, data)
                except OSError:
                    self._broken = True
                    self._idle.set()
                    self._on_broken()
                    return

    def _next(self) -> bytes:
        with self._lock:
            data = b"" if self._ended else self._urgent.take(_BATCH) or self._stream.take(_BATCH)
            if not data:
                self._handed_over = False
                self._idle.set()
            return data


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:  # someone made the descriptor non-blocking; wait as a blocking one would
            select.select([], [fd], [])


def _direct_write(fd: int) -> "_NonBlockingWrite | _PipeWrite | _SocketWrite | None":
    """How to write to `fd` without blocking: gives how many bytes were taken. None where there is no sure way."""
    if sys.platform == "win32":
        return None
    mode = os.fstat(fd).st_mode
    if stat.S_ISSOCK(mode):
        return _SocketWrite(fd)
    if not stat.S_ISFIFO(mode):
        return None
    try:
        # A description of our own: making the given one non-blocking would change it for everyone who shares it.
        return _NonBlockingWrite(os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return _PipeWrite(fd) if hasattr(select, "poll") else None


class _NonBlockingWrite:
    def __init__(self, fd: int) -> None:
        self._fd = fd

    def close(self) -> None:
        os.close(self._fd)

    def __call__(self, data: bytes) -> int:
        try:
            return os.write(self._fd, data)
        except OSError:
            return 0  # full, or broken: the thread will find out which


class _PipeWrite:
    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._poll = select.poll()
        self._poll.register(fd, select.POLLOUT)

    def close(self) -> None:
        pass  # the descriptor is the writer's

    def __call__(self, data: bytes) -> int:
        if len(data) > PIPE_ATOM:
            return 0
        try:
            ready = self._poll.poll(0)
            return os.write(self._fd, data) if ready == [(self._fd, select.POLLOUT)] else 0
        except OSError:
            return 0


class _SocketWrite:
    def __init__(self, fd: int) -> None:
        self._socket: Any = socket.socket(fileno=os.dup(fd))
        self._flags = getattr(socket, "MSG_DONTWAIT", 0)

    def close(self) -> None:
        self._socket.close()

    def __call__(self, data: bytes) -> int:
        try:
            return int(self._socket.send(data, self._flags))
        except OSError:
            return 0
