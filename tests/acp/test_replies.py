"""Asks over the bare wire, answered by a client that keeps to no protocol: nothing runs without a clear yes."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from acpclient import COMMAND, PATIENCE, environment
from fakeapi import FakeApi, text, tool

ALLOW = {"outcome": {"outcome": "selected", "optionId": "allow"}}
REFUSED = {"code": -1, "message": "no"}


class BareClient:
    """Lines in and out of a spawned agent."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process, self._last = process, 0

    async def send(self, **message: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self._process.stdin.drain()

    async def begin(self, method: str, **params: Any) -> int:
        self._last += 1
        await self.send(id=self._last, method=method, params=params)
        return self._last

    async def message(self, wanted: Any) -> dict[str, Any]:
        """The next message that has these members."""
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            while True:
                line = await self._process.stdout.readline()
                assert line, "the agent ended"
                said = json.loads(line)
                if wanted.items() <= said.items():
                    return said

    async def answer(self, request: int) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while "method" in (said := await self.message({"id": request})):
                pass
        return said


async def test_replies_that_are_no_clear_yes_are_a_no_and_the_turn_goes_on(tmp_path: Path) -> None:
    made = tmp_path / "made"
    async with FakeApi() as api:
        process = await asyncio.create_subprocess_exec(
            *COMMAND, stdin=-1, stdout=-1, env=environment(tmp_path / "home", api.env), cwd=tmp_path, limit=1 << 26
        )
        try:
            client = BareClient(process)
            await client.answer(await client.begin("initialize", protocolVersion=1, clientCapabilities={}))
            opened = await client.answer(await client.begin("session/new", cwd=str(tmp_path), mcpServers=[]))
            session = opened["result"]["sessionId"]
            replies: list[Any] = [
                {"result": ALLOW, "error": REFUSED},
                {"result": ALLOW, "error": "no"},
                {"error": "no"},
                {"error": {}},
                {},
                {"result": None},
                {"result": "allow"},
                {"result": {"outcome": {"outcome": "selected", "optionId": ["allow"]}}},
                {"result": {"outcome": {"outcome": "allowed", "optionId": "allow"}}},
            ]
            for reply in replies:
                api.reply(tool("Bash", command=f"touch {made}"))
                api.reply(text("Then not."))
                words = [{"type": "text", "text": "make it"}]
                turn = await client.begin("session/prompt", sessionId=session, prompt=words)
                asked = await client.message({"method": "session/request_permission"})
                await client.send(id=asked["id"] + 1, result=ALLOW)  # of no ask, or of the next one
                await client.send(id=str(asked["id"]), result=ALLOW)
                await client.send(id=asked["id"], **reply)
                await client.send(id=asked["id"], result=ALLOW)  # an answer is given once
                assert (await client.answer(turn))["result"]["stopReason"] == "end_turn", reply
                assert not made.exists(), reply
        finally:
            process.kill()
            await process.wait()


@pytest.mark.parametrize("end", ["hang up", "half a line"])
async def test_who_hangs_up_in_the_middle_of_an_ask_has_allowed_nothing(tmp_path: Path, end: str) -> None:
    made = tmp_path / "made"
    async with FakeApi() as api:
        process = await asyncio.create_subprocess_exec(
            *COMMAND, stdin=-1, stdout=-1, env=environment(tmp_path / "home", api.env), cwd=tmp_path, limit=1 << 26
        )
        assert process.stdin is not None
        try:
            client = BareClient(process)
            await client.answer(await client.begin("initialize", protocolVersion=1, clientCapabilities={}))
            opened = await client.answer(await client.begin("session/new", cwd=str(tmp_path), mcpServers=[]))
            api.reply(tool("Bash", command=f"touch {made}"))
            words = [{"type": "text", "text": "make it"}]
            await client.begin("session/prompt", sessionId=opened["result"]["sessionId"], prompt=words)
            asked = await client.message({"method": "session/request_permission"})
            if end == "half a line":
                process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": ALLOW}).encode())
            process.stdin.close()
            async with asyncio.timeout(PATIENCE):
                assert await process.wait() == 0
            assert not made.exists()
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
