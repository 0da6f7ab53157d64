"""Everything a client can do to a session, at once and in any order: nothing breaks, and the file tells what was said."""

import logging
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from assent.sessions.stream.front import Call
from assent.storage import transcript
from assent.tools.read import Read
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ports import ModelRequest
from sessions.harness import Harness, TestFront, running, say, use
from sessions.test_turns import Held

EXPECTED = {"busy", "invalidRequest", "invalidParams"}  # what a client may be told that comes at a bad moment


class Chatter:
    """A model that reads a file now and then, and gives others a chance in the middle of everything."""

    def __init__(self, seed: int, path: Path) -> None:
        self._random = random.Random(seed)
        self._path = path
        self._calls = 0

    async def __call__(self, _request: ModelRequest) -> Sequence[Json]:
        for _ in range(self._random.randrange(4)):
            await anyio.lowlevel.checkpoint()
        self._calls += 1
        if self._random.random() < 0.5:
            return [use("Read", f"tu{self._calls}", file_path=str(self._path))]
        return say(f"answer {self._calls}")


class Crowd:
    def __init__(self, app: Harness, session: str, seed: int, front: TestFront) -> None:
        self.app, self.session, self.front = app, session, front
        self.random = random.Random(seed)
        self.prompts: list[str] = []

    async def act(self, number: int) -> None:
        for _ in range(self.random.randrange(12)):
            await anyio.lowlevel.checkpoint()
        method, params = self.choose(number)
        try:
            body = {"sessionId": self.session, **params}
            await self.app.hub.request(f"assent/session/{method}", body, Call(front=self.front))
        except ProtocolError as error:
            assert error.kind in EXPECTED, (method, error.kind, error)

    def choose(self, number: int) -> tuple[str, Json]:
        started = [event["messageId"] for event in self.front.of("turnStarted")]
        kind = self.random.choice(
            ["send", "send", "send", "steer", "interrupt", "rewind", "context", "model", "attach"]
        )
        match kind:
            case "send" | "steer":
                more = {"whenBusy": "steer"} if kind == "steer" else {}
                return "send", {"prompt": f"prompt {number}", "clientMessageId": f"c{number}", **more}
            case "rewind" if started:
                return "rewind", {"messageId": self.random.choice(started), "restore": "conversation"}
            case "model":
                return "configure", {"model": f"model-{number % 3}"}
            case "attach" | "context" | "interrupt":
                return kind, {}
            case _:
                return "context", {}


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_comes_at_once_no_turn_breaks_and_the_file_tells_it_all(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    path = tmp_path / "project" / "notes.txt"
    path.parent.mkdir(parents=True)
    path.write_text("one\ntwo\n")
    chatter, front = Chatter(seed, path), TestFront()
    answers: list[Any] = [chatter] * 400
    with caplog.at_level(logging.WARNING):
        async with running(tmp_path, *answers, tools=[Read()]) as app:
            session = await app.new(front)
            crowd = Crowd(app, session, seed, front)
            with anyio.fail_after(120):
                async with anyio.create_task_group() as group:
                    for number in range(60):
                        group.start_soon(crowd.act, number)
                await app.send(session, "the last word", front, wait=True)
                while app.hub.live[session].turns.busy:
                    await anyio.lowlevel.checkpoint()
            live = app.hub.live[session]
            engine: Any = await live.turns.ready_engine()
            held = [message.uuid for message in engine.messages]
            loaded = [message.uuid for message in transcript.load(live.record.path).messages]
            assert held == loaded
            results = [event["result"] for event in front.of("turnFinished")]
            assert {result["terminal"] for result in results} <= {"completed", "aborted_streaming", "aborted_tools"}
            assert len(front.of("turnStarted")) == len(results)
            numbers = [params["seq"] for params in front.params]
            assert sorted(set(numbers)) == list(range(1, max(numbers) + 1))
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_asking_for_the_context_does_not_end_a_turn_whose_settings_changed(tmp_path: Path) -> None:
    held = Held(*say("done after all"))
    async with running(tmp_path, held) as app:
        session = await app.new()
        results: list[Json] = []
        async with anyio.create_task_group() as group:

            async def turn() -> None:
                results.append((await app.send(session, "go", wait=True))["result"])

            group.start_soon(turn)
            await held.asked.wait()
            await app.request("session/configure", sessionId=session, effort="low")
            await app.request("session/context", sessionId=session)
            held.go.set()
        assert results[0]["result"] == "done after all"


async def test_one_engine_serves_a_reopened_session_however_many_ask_for_it_at_once(tmp_path: Path) -> None:
    async with running(tmp_path, say("one")) as app:
        session = await app.new()
        await app.send(session, "first", wait=True)
    async with running(tmp_path, say("two"), say("three")) as app:

        async def context() -> None:
            await app.request("session/context", sessionId=session)

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(context)
            await app.send(session, "second", wait=True)
        assert len(app.engines) == 1
        await app.send(session, "third", wait=True)
        assert "second" in str(app.model.requests[-1].messages)


async def test_what_is_sent_during_a_rewind_waits_for_it(tmp_path: Path) -> None:
    front = TestFront()
    async with running(tmp_path, say("one"), say("two"), say("three")) as app:
        session = await app.new(front)
        await app.send(session, "first", front, wait=True)
        await app.send(session, "second", front, wait=True)
        target = front.of("turnStarted")[1]["messageId"]

        async def send() -> None:
            await app.send(session, "instead", front, wait=True)

        async with anyio.create_task_group() as group:
            group.start_soon(send)
            await app.request("session/rewind", sessionId=session, messageId=target, restore="conversation")
        said = str(app.model.requests[-1].messages)
        assert "first" in said and "instead" in said and "second" not in said


@pytest.mark.parametrize("ending", ["close", "delete"])
async def test_a_session_closed_and_opened_at_once_is_opened_again(tmp_path: Path, ending: str) -> None:
    held = Held()
    found: Any = None
    async with running(tmp_path, say("one"), held) as app:
        session = await app.new()
        await app.send(session, "first", wait=True)
        await app.send(session, "second")
        await held.asked.wait()
        async with anyio.create_task_group() as group:

            async def close() -> None:
                await app.request(f"session/{ending}", sessionId=session)

            group.start_soon(close)
            await anyio.lowlevel.checkpoint()
            try:
                found = await app.request("session/attach", TestFront(), sessionId=session)
            except ProtocolError as error:
                assert error.kind == "unknownSession"
        said = [message["content"][0]["text"] for message in found["messages"]] if found else []
        assert said == (["first", "one", "second"] if ending == "close" else [])
