"""The early answer to `initialize`: a small trick in front of the server, and the only one.

Importing asyncio, msgspec, the engine and pygls takes far longer than an editor should wait for `initialize`, and the
answer depends on one field of the request only. So before any of them is imported, the first frame is read here with
the standard library. If it is a plain `initialize` request it is answered, and its parameters are handed to the loop;
anything else (a broken frame, another method, an end of the stream) is handed over unread, as bytes, and the loop
treats it as if this module did not exist. Nothing is decided here.
"""

import json
import os
import signal
from typing import Any, NamedTuple, cast

from assent.lsp.capabilities import initialize_result

_HEADER = b"Content-Length: "
_LONGEST = 4 * 1024 * 1024  # bytes of a first frame; a longer one is left to the loop
_CHUNK = 64 * 1024


class Opening(NamedTuple):
    """How the conversation began: descriptors, the parameters of an answered `initialize`, bytes not yet handled."""

    incoming: int
    outgoing: int
    initialize: "dict[str, Any] | None" = None
    unread: bytes = b""
    notice: str = ""  # something the user should be told about how this server runs


def answer_initialize(incoming: int, outgoing: int) -> Opening:
    """Waits for the first frame. Signals that end the server later end the process at once here: nothing is open."""
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _leave)
    received = b""
    while (size := _missing(received)) > 0:
        try:
            chunk = os.read(incoming, max(size, _CHUNK))
        except OSError:
            break
        if not chunk:
            break
        received += chunk
    request, end = _initialize_request(received)
    if request is None:
        return Opening(incoming, outgoing, None, received)
    params: dict[str, Any] = request.get("params") or {}
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": initialize_result(params)}
    body = json.dumps(answer, separators=(",", ":")).encode()
    data = memoryview(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    try:
        while data:
            data = data[os.write(outgoing, data) :]
    except OSError:  # the client has gone, which the loop will notice when it reads
        return Opening(incoming, outgoing, None, b"")
    return Opening(incoming, outgoing, params, received[end:])


def _missing(received: bytes) -> int:
    """How many bytes of the first frame are still to come, at least; 0 when it is whole or not for us."""
    if len(received) < len(_HEADER):
        return 1 if _HEADER.startswith(received) else 0
    start, length = _frame(received)
    if length < 0:
        return 0
    return 1 if start == 0 else start + length - len(received)


def _frame(received: bytes) -> tuple[int, int]:
    """Where the first body starts (0: its header is not whole yet) and its length (-1: not a frame for us)."""
    if not received.startswith(_HEADER):
        return 0, -1
    digits, end, _ = received[len(_HEADER) : len(_HEADER) + 16].partition(b"\r\n\r\n")
    if not end:
        return 0, 0 if len(received) < len(_HEADER) + 16 else -1
    if not digits.isdigit() or not 0 < int(digits) <= _LONGEST:
        return 0, -1
    return len(_HEADER) + len(digits) + len(end), int(digits)


def _initialize_request(received: bytes) -> "tuple[dict[str, Any] | None, int]":
    start, length = _frame(received)
    if length <= 0 or start == 0 or len(received) < start + length:
        return None, 0
    try:
        message: Any = json.loads(received[start : start + length], parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None, 0
    if not isinstance(message, dict):
        return None, 0
    request = cast("dict[str, Any]", message)
    plain = (
        request.get("jsonrpc") == "2.0"
        and request.get("method") == "initialize"
        and isinstance(request.get("id"), int | str)
        and not isinstance(request["id"], bool)
        and isinstance(request.get("params", {}), dict)
    )
    return (request, start + length) if plain else (None, 0)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _leave(_number: int, _frame: Any) -> None:
    os._exit(0)
