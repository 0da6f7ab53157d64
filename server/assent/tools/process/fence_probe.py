"""One command through a supervisor of its own, waited for: how a fence is tried before it counts.

The same supervisor, messages and fence as for real commands, so what is shown here holds there. Blocks, for a moment.
"""

import json
import os
import select
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assent.tools.process.shell_process import Enclosure, send, start_request, start_supervisor

_LENGTH = struct.Struct("!I")
_MOST_OUTPUT = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    output: str = ""
    status: int | None = None
    error: str = ""  # why it was not run


def run_once(
    argv: Sequence[str], *, cwd: str, env: Mapping[str, str], enclosure: Enclosure | None = None, seconds: float = 10
) -> Ran:
    """Run a command inside its fence and give what it wrote and how it ended."""
    ours, pid = start_supervisor()
    reading, writing = os.pipe()
    try:
        body, passed = start_request("probe", argv, cwd, env, report=False, enclosure=enclosure or Enclosure())
        try:
            send(ours, body, [writing, writing, *passed])
        finally:
            for fd in (writing, *passed):
                os.close(fd)
        ours.setblocking(True)
        ours.settimeout(seconds)
        answer = _frame(ours)
        if "error" not in answer:
            answer = _frame(ours)
        return Ran(output=_drained(reading, seconds), status=answer.get("status"), error=str(answer.get("error") or ""))
    except (OSError, EOFError) as error:
        return Ran(error=f"the supervisor did not answer ({error or 'it ended'})")
    finally:
        os.close(reading)
        ours.close()
        os.waitpid(pid, 0)


def _frame(ours: socket.socket) -> dict[str, int | None]:
    (length,) = _LENGTH.unpack(_exactly(ours, _LENGTH.size))
    return json.loads(_exactly(ours, length))


def _exactly(ours: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = ours.recv(size - len(data))
        if not chunk:
            raise EOFError
        data += chunk
    return data


def _drained(reading: int, seconds: float) -> str:
    """What the command wrote; it has ended, but what it started may still hold the pipe."""
    until = time.monotonic() + seconds
    data = b""
    while len(data) < _MOST_OUTPUT and select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
        chunk = os.read(reading, _MOST_OUTPUT)
        if not chunk:
            break
        data += chunk
    return data.decode("utf-8", "replace")
