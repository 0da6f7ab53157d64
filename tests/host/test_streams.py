"""Many turns, two windows that come and go: each has, in the end, the one stream there is (S6, S7)."""

import os
import random
from typing import Any

import pytest

from hostkit import Desk
from lspclient import Client, Json

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Reader:
    """A client that loses its connection now and then, and attaches again from where it was."""

    def __init__(self, desk: Desk, name: str) -> None:
        self._desk = desk
        self._name = name
        self.client: Client | None = None
        self.events: list[Json] = []
        self._taken = 0
        self._epoch = ""
        self.losses = 0

    async def here(self, session: str | None) -> Client:
        if self.client is None:
            self.client = await self._desk.connect(self._name)
            self._taken = 0
            if session is not None:
                last = self.events[-1]["seq"] if self.events else 0
                asked: Json = {"sessionId": session, "epoch": self._epoch, "afterSeq": last}
                attached = await self.client.request("assent/session/attach", asked)
                assert attached["reset"] is (not self._epoch) or last == 0
                self._epoch = attached["epoch"]
        return self.client

    def begin(self, epoch: str) -> None:
        self._epoch = epoch

    def take(self, session: str) -> None:
        if self.client is not None:
            found = self.client.events(session)
            self.events += found[self._taken :]
            self._taken = len(found)

    async def lose(self, session: str) -> None:
        assert self.client is not None
        self.take(session)
        await self.client.server.kill()  # what was under way to it is lost with it
        await self.client.close()
        self.take(session)
        self.client = None
        self.losses += 1


async def watch(desk: Desk, turns: int, *, seed: int) -> int:
    dice = random.Random(seed)
    first, second = Reader(desk, "First"), Reader(desk, "Second")
    client = await first.here(None)
    session: str = (await client.request("assent/session/new", {}))["sessionId"]
    start: Json = await client.request("assent/session/attach", {"sessionId": session, "epoch": "", "afterSeq": 0})
    first.begin(start["epoch"])
    second.begin(start["epoch"])
    for turn in range(turns):
        readers = [first, second]
        dice.shuffle(readers)
        prompting, other = readers
        client = await prompting.here(session)
        await other.here(session)
        lost = dice.random()
        sent = client.start_request(
            "assent/session/send", {"sessionId": session, "prompt": f"hello {turn}", "clientMessageId": f"m{turn}"}
        )[1]
        await sent
        if lost < 0.06 and other.client is not None:
            await other.lose(session)  # in the middle of the turn

        def done(heard: Client = client, number: int = turn) -> bool:
            return any(
                event["event"].get("clientMessageId") == f"m{number}" for event in heard.events(session, "completed")
            )

        await client.until(done)
        if lost > 0.97:
            await prompting.lose(session)
    streams: list[list[Json]] = []
    for reader in (first, second):
        client = await reader.here(session)
        reader.take(session)
        streams.append(reader.events)
    last = (await client.request("assent/session/attach", {"sessionId": session}))["lastSeq"]
    for reader in (first, second):
        assert reader.client is not None
        seen: Any = reader

        def all_of_it(reader: Reader = seen) -> bool:
            reader.take(session)
            return bool(reader.events) and reader.events[-1]["seq"] >= last

        await reader.client.until(all_of_it)
    one, two = ([event for event in stream if event["seq"] <= last] for stream in streams)
    assert [event["seq"] for event in one] == list(range(one[0]["seq"], last + 1))
    assert one[-len(two) :] == two[-len(one) :] and two[0]["seq"] <= 2
    assert len([event for event in one if event["event"]["type"] == "turnFinished"]) == turns
    return first.losses + second.losses


async def test_two_hundred_turns_with_random_losses_give_identical_streams(desk: Desk) -> None:
    desk.settings(hostIdleSeconds=30)
    assert await watch(desk, int(os.environ.get("ASSENT_TURNS", "200")), seed=7) >= 5
    for client in desk.clients:
        await client.close()
    os.kill(desk.host, 15)
