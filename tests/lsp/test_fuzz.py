"""Two thousand malformed frames through the spawned program: every request answered, no exit, no hang, bounded memory."""

import asyncio
import json
import random

import pytest

from assent.wire import CLIENT_REQUESTS
from lspclient import Connect
from lspclient.process import peak_resident

pytestmark = pytest.mark.asyncio(loop_scope="module")

FRAMES = 2000
METHODS = [
    *sorted(CLIENT_REQUESTS),
    "textDocument/codeAction",
    "textDocument/hover",
    "workspace/executeCommand",
    "no/such",
]


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def broken(rng: random.Random) -> bytes:
    """Bytes that are no request: framing, JSON and envelopes gone wrong."""
    body = json.dumps({"jsonrpc": "2.0", "method": "x" * rng.randrange(20), "params": {"jsonrpc": 1}}).encode()
    whole = frame(body)
    match rng.randrange(12):
        case 0:
            return rng.randbytes(rng.randrange(300))
        case 1:
            return whole[: rng.randrange(1, len(whole))]
        case 2:
            return b"Content-Length: 1000000000000\r\n\r\n" + body
        case 3:
            return b"Content-Length: " + b"9" * rng.choice([5, 19, 4400]) + b"\r\n\r\n"
        case 4:
            return b"content-length: %d\n\n" % len(body) + body
        case 5:
            return frame(b"[" * rng.choice([10, 5000, 100_000]))
        case 6:
            return frame(rng.randbytes(40))
        case 7:
            return frame(rng.choice([b"null", b"5", b"[]", b"[{}]", b'"x"', b"true", b'{"id":null}']))
        case 8:
            return frame(json.dumps({"jsonrpc": "2.0", "id": "nobody asked", "result": {"a": 1}}).encode())
        case 9:
            return frame(
                json.dumps(
                    {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"textDocument": 5}}
                ).encode()
            )
        case 10:
            return frame(json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": [1]}).encode())
        case _:
            flipped = bytearray(whole)
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
            return bytes(flipped)


def nonsense(rng: random.Random, depth: int = 0) -> object:
    """A JSON value that fits nothing in particular."""
    match rng.randrange(7 if depth < 3 else 5):
        case 0:
            return rng.choice([None, True, False])
        case 1:
            return rng.randrange(-(2**40), 2**40)
        case 2:
            return "".join(rng.choice("aé\u2028😀\0/.") for _ in range(rng.randrange(9)))
        case 3:
            return 1e300 * rng.random()
        case 4:
            return {}
        case 5:
            return [nonsense(rng, depth + 1) for _ in range(rng.randrange(4))]
        case _:
            keys = [
                "sessionId",
                "jsonrpc",
                "id",
                "class",
                "_meta",
                "uri",
                "textDocument",
                "position",
                "command",
                "prompt",
            ]
            return {rng.choice(keys): nonsense(rng, depth + 1) for _ in range(rng.randrange(5))}


async def test_two_thousand_malformed_frames_leave_every_request_answered(connect: Connect) -> None:
    rng = random.Random(5)
    client = await connect()
    await client.request("textDocument/codeLens", {"textDocument": {"uri": "file:///x"}})  # everything is loaded
    before = peak_resident(client.server.pid)
    expected: dict[str, object] = {}
    for number in range(FRAMES):
        client.raw(broken(rng))
        id = f"q{number}"
        request = {"jsonrpc": "2.0", "id": id, "method": rng.choice(METHODS), "params": nonsense(rng)}
        client.raw(frame(json.dumps(request).encode()))
        expected[id] = request
        if number % 50 == 0:
            assert client.process.stdin is not None
            await client.process.stdin.drain()

    def answered() -> set[object]:
        return {m.get("id") for m in client.heard if "method" not in m}

    async with asyncio.timeout(120):
        await client.until(lambda: expected.keys() <= answered(), timeout=120)
    errors = [m["error"] for m in client.heard if "error" in m]
    assert all({"kind", "hint"} <= set(error["data"]) for error in errors)
    bugs = [m for m in client.heard if m.get("error", {}).get("data", {}).get("kind") == "internal"]
    assert not [(bug["error"]["message"], expected.get(bug["id"])) for bug in bugs], "a bug behind the boundary"
    assert "Traceback" not in str(errors)
    assert peak_resident(client.server.pid) - before < 80 * 1024 * 1024
    assert await client.stop() == 0


async def test_a_body_over_the_limit_is_refused_under_its_id_and_forgotten(connect: Connect) -> None:
    client = await connect()
    await client.request("textDocument/codeLens", {"textDocument": {"uri": "file:///x"}})
    before = peak_resident(client.server.pid)
    head = b'{"jsonrpc":"2.0","id":"big","method":"assent/complete","params":{"text":"'
    size = 80 * 1024 * 1024
    client.raw(b"Content-Length: %d\r\n\r\n" % (len(head) + size + 12) + head)
    assert client.process.stdin is not None
    for _ in range(size // 1_048_576):
        client.raw(b"x" * 1_048_576)
        await client.process.stdin.drain()
    client.raw(b'","offset":1}}'[:12])
    answer = await client.answer_to("big")
    assert answer["error"]["data"]["kind"] == "tooLarge"
    assert "sessions" in await client.request("assent/session/list", {})
    assert peak_resident(client.server.pid) - before < 30 * 1024 * 1024
