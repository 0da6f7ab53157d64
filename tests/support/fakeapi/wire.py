"""Just enough HTTP/1.1 for one client on loopback: keep-alive, chunked answers, and breaking off on purpose."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        sock = writer.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    async def read_request(self) -> Head | None:
        """The next request with its whole body, or None when the client is done."""
        try:
            raw = await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        lines = raw.decode("latin-1").split("\r\n")
        method, path, _ = lines[0].split(" ", 2)
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines[1:] if line)
        }
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = await self._read_chunked()
        else:
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return Head(method=method, path=path, headers=headers, body=body)

    async def send_whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self._writer.write(_head(status, {**headers, "content-length": str(len(body))}) + body)
        await self.drain()

    def start_stream(self, headers: Mapping[str, str]) -> None:
        self._writer.write(_head(200, {**headers, "transfer-encoding": "chunked"}))

    def write_chunk(self, data: bytes) -> None:
        if data:
            self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))

    async def end_stream(self) -> None:
        self._writer.write(b"0\r\n\r\n")
        await self.drain()

    async def drain(self) -> None:
        await self._writer.drain()

    async def gone(self) -> None:
        """Waits until the client closes its side."""
        await self._reader.read()

    def close(self, *, reset: bool = False) -> None:
        if reset:
            sock = self._writer.get_extra_info("socket")
            # With zero linger the kernel answers with RST instead of an orderly FIN.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._writer.transport.abort()
        self._writer.close()

    async def _read_chunked(self) -> bytes:
        body = bytearray()
        while True:
            size = int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16)
            chunk = await self._reader.readexactly(size + 2)
            if size == 0:
                return bytes(body)
            body += chunk[:-2]


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} {REASONS.get(status, 'Answer')}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
