"""The SDK's cancel scopes belong to the task that entered them; one task owns a connection, whatever calls do (T9)."""

import asyncio
import logging
import os
import random
import signal
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from assent.extensions.mcp.pipe import Pipe
from assent.types.blocks import Json
from assent.types.mcp import McpCall, McpResult
from assent.types.ports import Elicitation, ElicitationAnswer
from mcpserver import entry
from mcpserver.stage import Stage, stage

CALLS = 120


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncGenerator[Stage, None]:
    async with stage(tmp_path) as staged:
        yield staged


async def nobody(_question: Elicitation) -> ElicitationAnswer:
    """Someone who never answers."""
    return await asyncio.get_running_loop().create_future()


async def use(scene: Stage, tool: str, call: McpCall | None = None, **arguments: object) -> McpResult:
    offer = scene.offer()
    spec = next(spec for spec in (*offer.offered(), *offer.deferred()) if spec.tool == tool)
    return await offer.call(spec, arguments, call or McpCall())


def text(result: McpResult) -> str:
    return "\n".join(str(block.get("text", "")) for block in result.blocks)


class Said:
    """All that the worker says: on its pipe, and on its stderr, which is ours while its log is wanted."""

    def __init__(
        self, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._capfd = capfd
        self._messages: list[Json] = []
        caplog.set_level(logging.DEBUG, "assent.extensions.mcp.pipe")
        heard = Pipe._heard  # pyright: ignore[reportPrivateUsage]

        def listen(pipe: Pipe, process: Process, message: Json) -> None:
            self._messages.append(message)
            heard(pipe, process, message)

        monkeypatch.setattr(Pipe, "_heard", listen)

    def faults(self) -> list[str]:
        stderr = self._capfd.readouterr().err
        errors = {str(message["error"]) for message in self._messages if "error" in message} - {"cancelled"}
        return [*errors, *([stderr] if "cancel scope" in stderr or "Traceback" in stderr else [])]


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Said:
    return Said(caplog, capfd, monkeypatch)


def _stderr_of(process: object) -> Path:
    return Path(f"/proc/{process}/fd/2").readlink()


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_many_calls_cancelled_at_random_leave_the_connection_usable_and_no_scope_behind(
    scene: Stage, said: Said, era: str
) -> None:
    pid = scene.place / "pid"
    scene.add("plain", entry("--pid", str(pid), era=era))
    scene.servers.begin()
    await scene.servers.named("plain").connected()
    worker, server = scene.folders.worker, pid.read_text()
    assert _stderr_of(worker) == _stderr_of("self")
    choice = random.Random(16)
    begun: dict[asyncio.Task[McpResult], str] = {}
    for number in range(CALLS):
        tool = choice.choice(["echo", "never", "slow", "ask", "visit"])
        seen = asyncio.Event()
        call = McpCall(elicit=nobody, progress=lambda _words, seen=seen: seen.set())
        begun[asyncio.create_task(use(scene, tool, call, text=str(number)))] = tool
        for _ in range(choice.randrange(20)):
            await asyncio.sleep(0)
        if tool == "slow" and choice.random() < 0.3:
            await seen.wait()  # it runs at the server
        elif choice.random() < 0.3:
            assert f"echo: after {number}" in text(await use(scene, "echo", text=f"after {number}"))
        choice.choice(list(begun)).cancel()
    for task in choice.sample(list(begun), CALLS):
        if begun[task] != "echo":
            task.cancel()
    ended = await asyncio.gather(*begun, return_exceptions=True)
    odd = [end for end in ended if not isinstance(end, McpResult | asyncio.CancelledError)]
    assert odd == []
    endless = [task for task, tool in begun.items() if tool in ("never", "slow")]
    assert len(endless) > CALLS / 4 and all(task.cancelled() for task in endless)
    assert "echo: alive" in text(await use(scene, "echo", text="alive"))
    assert (scene.folders.worker, pid.read_text(), scene.status("plain")) == (worker, server, "connected")
    await scene.servers.restart("plain")  # its owner leaves the scopes that it entered
    assert "echo: again" in text(await use(scene, "echo", text="again"))
    await scene.folders.aclose()
    assert said.faults() == []


async def test_attempts_to_connect_that_are_cancelled_at_random_leave_no_scope_behind(scene: Stage, said: Said) -> None:
    scene.add("plain", entry())
    scene.add("other", entry())
    for name in ("plain", "other"):
        await scene.servers.named(name).connected()
    worker = scene.folders.worker
    choice = random.Random(17)
    for _ in range(12):
        attempt = asyncio.create_task(scene.servers.restart("other"))
        for _ in range(choice.randrange(3)):
            assert "echo: on" in text(await use(scene, "echo", text="on"))
        if choice.random() < 0.5:
            scene.servers.switch("other", on=False)  # it is closed while it connects
            scene.servers.switch("other", on=True)
        await asyncio.gather(attempt, return_exceptions=True)
    await scene.servers.named("other").connected()
    assert (scene.folders.worker, scene.status("other")) == (worker, "connected")
    await scene.folders.aclose()
    assert said.faults() == []


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_call_that_is_cancelled_before_the_worker_read_it_never_reaches_the_server(
    scene: Stage, era: str
) -> None:
    log = scene.place / "log"
    scene.add("plain", entry("--log", str(log), era=era))
    scene.servers.begin()
    await scene.servers.named("plain").connected()
    worker = scene.folders.worker
    assert worker is not None
    log.write_text("")
    os.kill(worker, signal.SIGSTOP)
    try:
        call = asyncio.create_task(use(scene, "echo", text="not wanted"))
        for _ in range(10):
            await asyncio.sleep(0)  # it is in the pipe now
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    finally:
        os.kill(worker, signal.SIGCONT)
    assert "echo: wanted" in text(await use(scene, "echo", text="wanted"))
    assert log.read_text().count("tools/call") == 1
