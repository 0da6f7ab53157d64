"""The way in: a thread that reads a file descriptor and hands chunks to the event loop.

A thread, because stdin may be a pipe, a socket, a file or a terminal, and only a blocking read works on all of them.
It stops reading while the loop is behind or told to pause, and still notices when the other side goes away.
"""

import asyncio
import contextlib
import os
import select
import sys
import threading
from collections.abc import Callable

_CHUNK = 64 * 1024
_AHEAD = 16  # chunks read but not yet handled
_PAUSE_POLL_MS = 100


class ChunkReader:
    """`on_data(chunk)` runs in the loop's thread; `on_end()` once, in the reader's: the loop may be busy or stuck."""

    def __init__(
        self,
        fd: int,
        loop: asyncio.AbstractEventLoop,
        *,
        on_data: Callable[[bytes], None],
        on_end: Callable[[], None],
        stoppable: bool = False,
    ) -> None:
        """`stoppable`: `stop` ends the thread, which then closes `fd`; without, it ends with the process."""
        self._fd = fd
        self._loop = loop
        self._on_data = on_data
        self._on_end = on_end
        self._ahead = threading.BoundedSemaphore(_AHEAD)
        self._running = threading.Event()
        self._running.set()
        self._wake = os.pipe() if stoppable else None
        self._thread = threading.Thread(target=self._run, name="assent-reader", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def pause(self) -> None:
        self._running.clear()

    def resume(self) -> None:
        self._running.set()

    def stop(self) -> None:
        """Hand over nothing more. The descriptor's number may mean another file from here on."""
        if self._wake is not None:
            with contextlib.suppress(OSError):
                os.close(self._wake[1])  # the thread is told by the end of this pipe
        self.resume()

    @property
    def paused(self) -> bool:
        return not self._running.is_set()

    def _run(self) -> None:
        try:
            self._read()
        finally:
            if self._wake is not None:
                os.close(self._fd)
                os.close(self._wake[0])

    def _read(self) -> None:
        try:
            while self._may_read():
                if self._wake is not None and _readable_first(self._wake[0], self._fd):
                    return
                chunk = os.read(self._fd, _CHUNK)
                if not chunk:
                    break
                self._loop.call_soon_threadsafe(self._deliver, chunk)
        except OSError:
            pass  # as good as an end
        except RuntimeError:
            return  # the loop is closed: nobody is left to tell
        self._on_end()

    def _may_read(self) -> bool:
        """Waits for room; False when the other side has gone meanwhile."""
        while not self._running.wait(_PAUSE_POLL_MS / 1000):
            if _hung_up(self._fd):
                return False
        while not self._ahead.acquire(timeout=_PAUSE_POLL_MS / 1000):
            if _hung_up(self._fd):
                return False
        return True

    def _deliver(self, chunk: bytes) -> None:
        self._ahead.release()
        self._on_data(chunk)


def _readable_first(wake: int, fd: int) -> bool:
    """Waits for either of them; whether the first has news."""
    poll = select.poll()
    poll.register(wake, select.POLLIN)
    poll.register(fd, select.POLLIN)
    return any(ready == wake for ready, _ in poll.poll())


def _hung_up(fd: int) -> bool:
    """Has the writing end been closed? Asked without reading, so nothing that waits there is taken out."""
    if sys.platform == "win32" or not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(fd, 0)  # POLLHUP and POLLERR are always reported
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))
