"""The few words before a client is served: frames of a length and JSON, and descriptors beside the first.

    client → host   {protocols: [n], version, token, methods, config, offline, env, initialize, unread}  + descriptors
    host → client   {protocol, pid, version}  or  {refused: kind, text}
    host → client   {exit: code}, when the client's connection is over

After its hello the client's LSP goes over the descriptors it handed over: one for both ways, or one to read from and
one to write to. The first connection stays open, so each side notices when the other has died. Standard library only.
"""

import json
import socket
from typing import Any, cast

PROTOCOLS = (1,)
LARGEST = 32 * 1024 * 1024
_DESCRIPTORS = 2


class Broken(Exception):
    """The other end closed the connection, or said what cannot be understood."""


def send(connection: socket.socket, message: "dict[str, Any]", descriptors: "tuple[int, ...]" = ()) -> None:
    body = json.dumps(message, separators=(",", ":")).encode("utf-8", "surrogatepass")
    data = len(body).to_bytes(4, "big") + body
    if descriptors:
        sent = socket.send_fds(connection, [data[:4]], list(descriptors))
        data = data[sent:]
    connection.sendall(data)


def receive(connection: socket.socket) -> "tuple[dict[str, Any], list[int]]":
    """One frame and the descriptors that came with it. Raises Broken, or TimeoutError where the socket has one."""
    head, descriptors, _, _ = socket.recv_fds(connection, 4, _DESCRIPTORS)
    try:
        while 0 < len(head) < 4:
            head += _more(connection, 4 - len(head))
        length = int.from_bytes(head, "big")
        if len(head) < 4 or not 0 < length <= LARGEST:
            raise Broken("the connection was closed" if not head else "a frame of no possible length")
        body = bytearray()
        while len(body) < length:
            body += _more(connection, length - len(body))
        message: Any = json.loads(body.decode("utf-8", "surrogatepass"))
        if not isinstance(message, dict):
            raise Broken("a frame that holds no object")
        words = cast("dict[str, Any]", message)
    except BaseException as error:
        close_all(descriptors)
        if isinstance(error, (ValueError, RecursionError)):
            raise Broken("a frame that is no JSON") from None
        raise
    return words, descriptors


def common(protocols: object) -> "int | None":
    """The newest protocol that both sides speak."""
    theirs = cast("list[Any]", protocols) if isinstance(protocols, list) else []
    return max((known for known in PROTOCOLS if known in theirs), default=None)


def close_all(descriptors: "list[int]") -> None:
    import os

    for descriptor in descriptors:
        os.close(descriptor)


def _more(connection: socket.socket, size: int) -> bytes:
    data = connection.recv(min(size, 1 << 20))
    if not data:
        raise Broken("the connection was closed in the middle of a frame")
    return data
