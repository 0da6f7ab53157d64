"""The writer: never blocks, loses nothing, keeps order, and costs bounded memory when nobody reads."""

import os
import socket
import threading
from pathlib import Path

import pytest

from assent.lsp.rpc.framing import Frame, FrameDecoder, framed
from assent.stdio.backlog import Backlog
from assent.stdio.writer import FrameWriter


class Reading:
    """The other end, read in a thread until so many frames have come."""

    def __init__(self, fd: int, *, frames: int) -> None:
        self._frames = frames
        self.decoder = FrameDecoder()
        self.bodies: list[bytes] = []
        self._fd = fd
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while len(self.bodies) < self._frames and (chunk := os.read(self._fd, 65536)):
            self.bodies += [piece.body for piece in self.decoder.feed(chunk) if isinstance(piece, Frame)]

    def finish(self) -> list[bytes]:
        self._thread.join(120)
        assert not self._thread.is_alive()
        return self.bodies


@pytest.fixture(params=["pipe", "socket"])
def ends(request: pytest.FixtureRequest) -> tuple[int, int]:
    if request.param == "pipe":
        return os.pipe()
    left, right = socket.socketpair()
    return left.detach(), right.detach()


def test_frames_arrive_whole_and_in_order(ends: tuple[int, int]) -> None:
    read, write = ends
    writer = FrameWriter(write, frame=framed)
    bodies = [b"%d:" % n + b"x" * (n * 37 % 9000) for n in range(2000)]
    reading = Reading(read, frames=len(bodies))
    for body in bodies:
        writer.send(body)
    assert writer.close(timeout=120)
    assert reading.finish() == bodies


def test_a_client_that_does_not_read_costs_bounded_memory_and_loses_nothing(ends: tuple[int, int]) -> None:
    read, write = ends
    writer = FrameWriter(write, frame=framed)
    bodies = [b"%06d" % n + b"y" * 100_000 for n in range(800)]  # 80 MB
    for body in bodies:
        writer.send(body)  # returns at once, though the pipe took only its first 64 KB
    assert writer.in_memory < 9 * 1024 * 1024
    assert not writer.close(timeout=0.05)
    reading = Reading(read, frames=len(bodies))
    assert writer.close(timeout=120)
    assert reading.finish() == bodies


def test_urgent_frames_pass_the_stream_but_never_cut_a_frame(ends: tuple[int, int]) -> None:
    read, write = ends
    writer = FrameWriter(write, frame=framed)
    stream = [b"s%04d" % n + b"z" * 20_000 for n in range(600)]
    urgent = [b"u%d" % n for n in range(50)]
    for body in stream:
        writer.send(body)
    for body in urgent:
        writer.send(body, urgent=True)
    reading = Reading(read, frames=len(stream) + len(urgent))
    assert writer.close(timeout=120)
    received = reading.finish()
    assert [body for body in received if body.startswith(b"s")] == stream
    assert [body for body in received if body.startswith(b"u")] == urgent
    assert received.index(b"u49") < received.index(stream[-1])


def test_a_client_that_has_gone_is_reported_once(ends: tuple[int, int]) -> None:
    read, write = ends
    gone = threading.Event()
    writer = FrameWriter(write, frame=framed, on_broken=gone.set)
    os.close(read)
    writer.send(b"x" * 100_000)
    assert gone.wait(120)
    writer.send(b"nobody hears this")
    assert writer.broken
    assert writer.close(timeout=120)


def test_the_backlog_gives_back_what_it_was_given_whatever_the_limit(tmp_path: Path) -> None:
    for limit in (0, 1, 10, 1000, 10**9):
        backlog = Backlog(memory_limit=limit, directory=str(tmp_path))
        pieces = [bytes([n % 251]) * (n % 17 + 1) for n in range(500)]
        taken = b""
        for number, piece in enumerate(pieces):
            backlog.put(piece)
            if number % 3 == 0:
                taken += backlog.take(11)
            assert backlog.in_memory <= max(limit, 0) + 17
        while data := backlog.take(100):
            taken += data
        assert taken == b"".join(pieces)
        assert len(backlog) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_costs_memory_but_no_frame() -> None:
    backlog = Backlog(memory_limit=10, directory="/nonexistent-folder")
    for n in range(100):
        backlog.put(b"%02d" % n)
    assert backlog.take(10_000) == b"".join(b"%02d" % n for n in range(100))
