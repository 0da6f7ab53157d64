"""A client that stops reading costs bounded memory, blocks nobody, and loses nothing when it reads again."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, Reply, text
from lspclient import Client, Server
from lspclient.process import resident

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORD = "x" * 1000
DELTAS = 12_000  # each in a frame of its own: 15 MB of frames, twice what is kept in memory


def say(client: Client, id: int, method: str, params: object) -> None:
    client.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


async def test_a_client_that_reads_late_reads_everything(place: Path, workspace: Path, api: FakeApi) -> None:
    client = Client(Server(place / "slow", env=api.env))
    await client.start()
    await client.initialize(workspace, assent={"client": {"partials": True}, "maxEventRate": 0})
    flood = Reply(parts=(text(*([WORD] * DELTAS)),))

    async def send() -> tuple[str, asyncio.Future[Any], int]:
        session = (await client.request("assent/session/new", {}))["sessionId"]
        before = resident(client.server.pid)
        if len(client.events(kind="turnFinished")) == 2:
            assert client._reading is not None
            client._reading.cancel()  # from here on nobody reads
            await asyncio.gather(client._reading, return_exceptions=True)
        api.add(flood)
        params = {"sessionId": session, "prompt": "flood", "wait": True}
        return session, client.start_request("assent/session/send", params)[1], before

    costs: list[int] = []  # of an answer of this size: the first time, with everything loaded, and unread
    for _ in range(2):
        _, answer, before = await send()
        async with asyncio.timeout(300):
            await answer
        costs.append(resident(client.server.pid) - before)
    session, answer, before = await send()
    async with asyncio.timeout(300):
        # The transcript shows that the turn went on and ended without us.
        while not _ended(place / "slow", session):  # noqa: ASYNC110 -- another process writes the file
            await asyncio.sleep(0.1)
    costs.append(resident(client.server.pid) - before)
    client.read()
    async with asyncio.timeout(300):
        assert (await answer)["result"]["subtype"] == "success"
    deltas = [params["event"]["text"] for params in client.events(session, "textDelta")]
    assert sum(map(len, deltas)) == len(WORD) * DELTAS
    seqs = [params["seq"] for params in client.events(session)]
    assert seqs == list(range(1, len(seqs) + 1))
    assert costs[2] < costs[1] * 1.5 + 40 * 1024 * 1024, costs
    await client.stop()


async def test_a_flood_of_requests_without_reading_is_held_back(place: Path) -> None:
    client = Client(Server(place / "flood", env={"ASSENT_OFFLINE": "1"}))
    await client.start(read=False)
    say(client, 1, "initialize", {"processId": None, "capabilities": {}})
    asking = 5_000
    for number in range(2, asking):
        say(client, number, "assent/permission/explain", {"tool": "Bash", "input": {"command": "ls"}, "cwd": "/"})
    client.read()
    answer = await client.answer_to(asking - 1, timeout=120)
    assert answer["result"]["decision"]
    assert len([m for m in client.heard if "id" in m]) == asking - 1
    client.notify("exit")
    await client.server.ended(within=120)


def _ended(home: Path, session: str) -> bool:
    """Whether the transcript holds the turn's result."""
    return any(b'"duration_api_ms"' in file.read_bytes() for file in (home / "data").rglob(f"{session}.jsonl"))
