"""The limits that nobody should wait for: 5 s of ToolSearch, 5,000 tokens of definitions, 1.5 s of the probe (T9).

The event loop's clock stands still and is moved by hand, so nothing here depends on how fast this machine is.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage

from assent.extensions.mcp.offer import Offer
from assent.extensions.mcp.worker.connection import Connection
from assent.extensions.mcp.worker.failure import Failed
from assent.tools.tool_search import ToolSearch, ToolSearchInput
from mcpserver import entry, rogue
from mcpserver.stage import Stage, stage

TURNS = 200  # of the event loop: whatever could go on by itself does


class Clock:
    """The clock of the running event loop, moved by hand. Only input, and no timer, can wake the loop meanwhile."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        self._now = loop.time()
        monkeypatch.setattr(loop, "time", lambda: self._now)

    async def move(self, seconds: float) -> None:
        self._now += seconds
        for _ in range(TURNS):
            await asyncio.sleep(0)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncGenerator[Stage, None]:
    async with stage(tmp_path) as staged:
        yield staged


async def searched(offer: Offer, query: str) -> str:
    output = await ToolSearch(offer).call(ToolSearchInput(query=query), cast("Any", None))
    return str(output.content)


async def test_a_search_waits_five_seconds_for_a_silent_server_and_then_names_it(
    scene: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.add("plain", entry())
    scene.add("silent", entry("--silent"))
    scene.servers.begin()
    await scene.servers.named("plain").connected()
    with monkeypatch.context() as patched:
        clock = Clock(patched)
        search = asyncio.create_task(searched(scene.offer(), "echo"))
        await clock.move(0)
        await clock.move(4.999)
        assert not search.done()
        await clock.move(0.001)
        assert search.done()
    assert "mcp__plain__echo" in search.result()
    assert "Still connecting, search again later: silent" in search.result()
    assert scene.status("silent") == "connecting", "the search ended, the attempt did not"


async def test_tools_that_are_known_are_loaded_by_name_without_waiting_for_a_silent_server(
    scene: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.add("plain", entry("--tools", "20"))
    scene.add("silent", entry("--silent"))
    scene.servers.begin()
    await scene.servers.named("plain").connected()
    with monkeypatch.context() as patched:
        clock = Clock(patched)
        known = asyncio.create_task(searched(scene.offer(), "select:mcp__plain__echo"))
        await clock.move(0.001)
        assert "mcp__plain__echo" in known.result()
        unknown = asyncio.create_task(searched(scene.offer(), "select:mcp__plain__echo,mcp__silent__x"))
        await clock.move(0)
        await clock.move(4.999)
        assert not unknown.done(), "the silent one may have it"
        await clock.move(0.001)
        assert unknown.done()


async def test_a_search_ends_with_the_last_server_that_connects_and_not_with_the_limit(
    scene: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.add("plain", entry())
    with monkeypatch.context() as patched:
        Clock(patched)  # nobody moves it: only what the server says can end the search
        found = await searched(scene.offer(), "echo")
    assert "mcp__plain__echo" in found and "Still connecting" not in found


# --- the budget ------------------------------------------------------------------------------------------------------


async def nine_tools(scene: Stage, tokens: int) -> Offer:
    """Nine tools whose definitions cost so many tokens together."""

    def tools(more: int) -> list[dict[str, Any]]:
        schema = {"type": "object", "properties": {"a": {"type": "string", "description": "x" * 2000}}}
        described = ["Wide." + "y" * (more if number == 0 else 0) for number in range(9)]
        return [{"name": f"t{n}", "description": described[n], "inputSchema": schema} for n in range(9)]

    async def listed(name: str, more: int) -> int:
        scene.entries.clear()
        scene.add(name, rogue(scene.place / f"{name}.json", lists=[tools(more)]))
        scene.servers.refresh()
        await scene.servers.named(name).connected()
        return scene.servers.summaries()[0]["tokens"]

    missing = tokens - await listed("slim", 0)
    assert missing > 0
    await listed("wide", 4 * missing)
    return scene.offer()


@pytest.mark.parametrize(("tokens", "stay"), [(5_000, 9), (5_001, 0)])
async def test_nine_tools_stay_in_the_request_up_to_five_thousand_tokens(scene: Stage, tokens: int, stay: int) -> None:
    offer = await nine_tools(scene, tokens)
    assert sum(spec.tokens for spec in (*offer.offered(), *offer.deferred())) == tokens
    assert (len(offer.offered()), len(offer.deferred())) == (stay, 9 - stay)


async def test_tools_that_are_too_wide_for_the_request_are_loaded_one_by_one(scene: Stage) -> None:
    offer = await nine_tools(scene, 5_001)
    await offer.search("select:mcp__wide__t3", 5)
    assert [spec.tool for spec in offer.offered()] == ["t3"]


# --- the probe -------------------------------------------------------------------------------------------------------


class Wired(Connection):
    """A connection whose other end is the test."""

    def __init__(self) -> None:
        config = {"name": "wired", "transport": "stdio", "era": ""}
        super().__init__("wired", config, ask=cast("Any", None), notify=lambda _event: None)
        self.to_us, self._incoming = anyio.create_memory_object_stream[SessionMessage | Exception](100)
        self._outgoing, self.from_us = anyio.create_memory_object_stream[SessionMessage](100)

    @asynccontextmanager
    async def _transport(self) -> AsyncGenerator[Any, None]:
        yield self._incoming, self._outgoing

    def sent(self) -> list[str]:
        """The methods of what it wrote since the last look."""
        found: list[str] = []
        while self.from_us.statistics().current_buffer_used:
            found.append(str(getattr(self.from_us.receive_nowait().message, "method", "")))
        return found


async def test_a_server_that_ignores_the_probe_is_asked_as_an_older_one_after_one_and_a_half_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wired = Wired()
    with monkeypatch.context() as patched:
        clock = Clock(patched)
        owner = asyncio.create_task(wired.run())
        await clock.move(0)
        assert wired.sent() == ["server/discover"]
        await clock.move(1.499)
        assert wired.sent() == []
        await clock.move(0.001)
        asked = wired.from_us.receive_nowait().message
        assert isinstance(asked, types.JSONRPCRequest) and asked.method == "initialize"
        said = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "old", "version": "1"}}
        answer = types.JSONRPCResponse(jsonrpc="2.0", id=asked.id, result=said)
        await wired.to_us.send(SessionMessage(answer))
        assert (await wired.ready())["era"] == "legacy"
    await wired.close()
    await owner


async def test_a_server_that_answers_nothing_is_given_up_after_thirty_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    wired = Wired()
    with monkeypatch.context() as patched:
        clock = Clock(patched)
        owner = asyncio.create_task(wired.run())
        await clock.move(0)
        await clock.move(29.999)
        assert not owner.done()
        await clock.move(0.001)
        assert owner.done()
    with pytest.raises(Failed, match="it did not answer within 30 s"):
        await wired.ready()
