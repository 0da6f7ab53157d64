"""kill -9 of the host, of a bridge or of a client at seeded points of a turn, with shell jobs, edits under review and two
windows: nothing acknowledged is lost, every session goes on, no file is half-written, no process is left, and the spend
is what was called (S1, S4, S7).

`make torture` runs 1,000 seeds. `ASSENT_SEED=n ASSENT_SEEDS=m` runs others, so that a broken run goes on where it was:
with `ASSENT_FIGURES=file` each seed leaves a line there, and those that have one are not run again.
"""

import asyncio
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest

from fakeapi import FakeApi, Request, text, tool
from fakeapi.body import blocks_of
from fakeapi.script import Reply
from hostkit import Desk, mine
from lspclient import Client, Json, RpcError
from lspclient.client import TIMEOUT
from processes import alive

pytestmark = pytest.mark.asyncio(loop_scope="module")

OUTPUT = 10  # tokens of every answer, so that spend counts calls
LINES = 400
JOB = "sleep 1000"
LEFT = TIMEOUT / 3  # seconds; a bound for a busy machine. The figures say how long it took
TOGETHER = 40  # seeds that one session lives through

Target = Literal["host", "bridge", "client"]


def body(number: int) -> str:
    """A file's text that shows whether all of it is of one writing."""
    return f"{number}\n" * LINES


class Run:
    """One session through many deaths."""

    def __init__(self, desk: Desk, api: FakeApi) -> None:
        self.desk = desk
        self.api = api
        self.file = desk.workspace / "file.txt"
        self.file.write_text(body(0))
        self.session = ""
        self.written = 0
        self.acknowledged: list[str] = []
        self.windows: list[Client] = []
        self.answered = 0  # answers that the endpoint has given
        self.review = asyncio.Event()  # not set: an edit under review waits
        api.otherwise(self._answer)

    def _answer(self, request: Request) -> Reply:
        """A background job and a whole new text for the file; then a word."""
        self.answered += 1
        if any(block["type"] == "tool_result" for block in blocks_of(request.messages[-1])):
            return Reply(parts=(text("Done."),), output_tokens=OUTPUT, every=0.001)
        self.written += 1
        return Reply(
            parts=(
                tool("Bash", command=JOB, run_in_background=True),
                tool("Write", file_path=str(self.file), content=body(self.written)),
            ),
            output_tokens=OUTPUT,
            every=0.001,
        )

    async def window(self, name: str) -> Client:
        client = await self.desk.connect(name, api=self.api)
        client.answers["assent/permission/ask"] = self._reviewed
        if not self.session:
            self.session = (await client.request("assent/session/new", {}))["sessionId"]
            await client.request("assent/tool/run", {"sessionId": self.session, **_read(self.file)})
        attached = await self._attach(client)
        assert not attached.get("readOnly") and not attached.get("damaged")
        return client

    async def _reviewed(self, _params: Json) -> Json:
        await self.review.wait()
        return {"decision": "allow"}

    async def spent(self, client: Client) -> tuple[int, int]:
        """The output tokens that the session has counted, and the calls of which it says that they reported nothing."""
        told = await client.request("assent/session/cost", {"sessionId": self.session})
        return sum(model["outputTokens"] for model in told["models"]), told.get("unreported", 0)

    async def round(self, seed: int) -> Json:
        """Its figures: what was killed, when, how long anything of it was left, and calls that died before they reported
        what they cost."""
        dice = random.Random(seed)
        target: Target = dice.choices(("host", "bridge", "client"), weights=(1, 3, 3))[0]
        events, held = dice.randrange(1, 45), dice.random() < 0.4
        while len(self.windows) < 2:
            self.windows.append(await self.window(f"window {seed}.{len(self.windows)}"))
        first, second = self.windows
        counted, answered = await self.spent(second), self.answered
        if held:
            self.review.clear()  # the edit is under review when the kill comes
        else:
            self.review.set()
        before = len(first.heard)
        sent = first.start_request(
            "assent/session/send", {"sessionId": self.session, "prompt": f"go {seed}", "clientMessageId": f"m{seed}"}
        )[1]

        def now() -> bool:
            asked = any(message.get("method") == "assent/permission/ask" for message in first.heard[before:])
            return len(first.heard) >= before + events or (held and asked) or _over(first, before)

        try:
            await first.until(now)
            await sent
            self.acknowledged.append(f"go {seed}")
        except RpcError:
            pass
        left = await self._kill(target, first, second)
        self.review.set()
        watcher = self.windows[0] if self.windows else await self.window(f"after {seed}")
        self.windows = [watcher]
        silent = await self._settled(watcher, counted, answered, survived=target != "host")
        return {"seed": seed, "target": target, "events": events, "held": held, "left": left, "unreported": silent}

    async def _kill(self, target: Target, first: Client, second: Client) -> float:
        """Seconds until nothing of it was left."""
        host = self.desk.host
        bridges = {window.server.pid for window in self.windows}
        jobs = [pid for pid in mine(str(self.desk.home)) if pid not in bridges] if target == "host" else []
        began = time.monotonic()
        if target == "host":
            os.kill(host, signal.SIGKILL)
            for window in self.windows:
                assert await window.server.ended(within=LEFT) == 1  # each editor sees its server end
                await window.close()
            self.windows = []
            await _gone([host, *jobs])
        elif target == "bridge":
            await first.close()  # kills it
            self.windows = [second]
        else:
            assert first.process.stdin is not None
            first.process.stdin.close()  # what is left of an editor that dies: the ends of its pipes
            await first.server.ended(within=LEFT)
            await first.close()
            self.windows = [second]
        return round(time.monotonic() - began, 3)

    async def _settled(self, watcher: Client, counted: tuple[int, int], answered: int, *, survived: bool) -> int:
        """The turn has ended, or was cut off and can be played again; all that must hold then does."""
        heard = len(watcher.heard)
        attached = await self._attach(watcher)
        while attached["running"]:
            await watcher.wait_event("turnFinished", session_id=self.session, after=heard)
            heard, attached = len(watcher.heard), await self._attach(watcher)
        pages, cursor = [attached["messages"]], attached.get("nextCursor")
        while cursor:
            page = await watcher.request("assent/session/attach", {"sessionId": self.session, "cursor": cursor})
            pages, cursor = [page["messages"], *pages], page.get("nextCursor")
        known = str(pages) + str(attached.get("queue"))
        assert [message for message in self.acknowledged if f"'{message}'" not in known] == []
        text = self.file.read_text()
        assert text == body(int(text.partition("\n")[0]))
        tokens, silent = (now - before for now, before in zip(await self.spent(watcher), counted, strict=True))
        whole, begun = divmod(tokens, OUTPUT)  # an answer says 1 when it begins, and all of it at its end
        assert begun <= 1 and silent <= 1 and begun + silent <= 1, (tokens, silent)  # one call at a time
        given = self.answered - answered
        assert given - silent <= whole + begun <= given, (given, tokens, silent)  # a call may die before it is sent
        assert not (survived and (begun or silent)), (tokens, silent)
        return silent

    async def _attach(self, client: Client) -> Json:
        return await client.request("assent/session/attach", {"sessionId": self.session})

    def told(self) -> list[list[str]]:
        """What each window heard last, for a failure."""
        return [[_kind(message) for message in window.heard[-30:]] for window in self.windows]

    async def end(self) -> float:
        for window in self.windows:
            await window.server.kill()
        began = time.monotonic()
        await self.desk.host_gone(within=LEFT)
        await _gone(mine(str(self.desk.home)))
        return round(time.monotonic() - began, 3)


async def kill_often(count: int) -> list[Json]:
    first = int(os.environ.get("ASSENT_SEED", "0"))
    figures = _kept()
    known = {figure["seed"] for figure in figures}
    seeds = [
        seed for seed in range(first, first + int(os.environ.get("ASSENT_SEEDS", str(count)))) if seed not in known
    ]
    for at in range(0, len(seeds), TOGETHER):
        async for figure in _together(seeds[at : at + TOGETHER]):
            figures.append(figure)
            _keep(figure)
    return figures


def _kept() -> list[Json]:
    file = Path(os.environ.get("ASSENT_FIGURES", os.devnull))
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def _keep(figure: Json) -> None:
    with Path(os.environ.get("ASSENT_FIGURES", os.devnull)).open("a") as file:
        file.write(json.dumps(figure) + "\n")


async def _together(seeds: list[int]) -> AsyncIterator[Json]:
    with TemporaryDirectory(prefix="desk-", ignore_cleanup_errors=True) as folder:
        desk = Desk(Path(folder))
        desk.settings(hostIdleSeconds=0, permissions={"allow": [f"Bash({JOB})"]})
        async with FakeApi() as api:
            run = Run(desk, api)
            try:
                for seed in seeds:
                    began = time.monotonic()
                    try:
                        figure = await run.round(seed)
                    except BaseException as error:
                        error.add_note(f"seed {seed}: {run.told()}")
                        raise
                    yield figure | {"seconds": round(time.monotonic() - began, 2)}
            finally:
                await run.end()


async def test_forty_deaths_lose_nothing() -> None:
    targets = Counter(figure["target"] for figure in await kill_often(40))
    assert min(targets[target] for target in ("host", "bridge", "client")) >= 1


@pytest.mark.torture
@pytest.mark.timeout(0)
async def test_a_thousand_deaths_lose_nothing() -> None:
    figures = await kill_often(1000)
    assert len({figure["seed"] for figure in figures}) == len(figures)


def _read(file: Path) -> Json:
    return {"name": "Read", "input": {"file_path": str(file)}}


def _kind(message: Json) -> str:
    if message.get("method") == "assent/session/event":
        return str(message["params"]["event"]["type"])
    return str(message.get("method") or message)[:200]


def _over(client: Client, after: int) -> bool:
    return any(
        message.get("method") == "assent/session/event" and message["params"]["event"]["type"] == "turnFinished"
        for message in client.heard[after:]
    )


async def _gone(pids: list[int]) -> None:
    async with asyncio.timeout(LEFT):
        while [pid for pid in pids if alive(pid)]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
