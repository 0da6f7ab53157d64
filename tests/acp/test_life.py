"""The process behind ACP: garbage, the end of stdin, what is missing, and the command Zed is told to start."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import acp
from acpclient import COMMAND, PATIENCE, always, environment, running
from fakeapi import FakeApi, tool
from processes import descendants, wait_for_end

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = Path(__file__).parents[2]
GONE = 120.0  # seconds; only a hang reaches it


class Raw:
    """The program with a client that sends whatever bytes it likes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process, self.stdin, self.stdout = process, process.stdin, process.stdout

    def send(self, *lines: bytes) -> None:
        self.stdin.write(b"".join(line + b"\n" for line in lines))

    async def answer(self, id: object) -> Any:
        """The next message with this id; others are passed over."""
        async with asyncio.timeout(PATIENCE):
            while True:
                message: Any = json.loads(await self.stdout.readline())
                if "id" in message and message["id"] == id:
                    return message


@asynccontextmanager
async def raw(home: Path) -> AsyncGenerator[Raw]:
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment(home, {"ASSENT_OFFLINE": "1"}),
        cwd=home,
    )
    try:
        yield Raw(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


INITIALIZE = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}'


async def test_garbage_is_answered_and_the_stream_goes_on(tmp_path: Path) -> None:
    async with raw(tmp_path) as client:
        client.send(INITIALIZE)
        assert (await client.answer(0))["result"]["protocolVersion"] == 1
        for line, code in (
            (b"this is not JSON", -32700),
            (b"\xff\xfe\x00", -32700),
            (b"[]", -32600),
            (b"42", -32600),
            (b'"\\ud800"', -32600),  # half a surrogate pair is JSON, and no request
            (b"{}", -32600),
            (b'{"jsonrpc":"2.0","method":7}', -32600),
            (b'{"jsonrpc":"2.0","id":{"a":1},"method":"session/new"}', -32600),
            (b"[" * 5000, -32700),
        ):
            client.send(line)
            assert (await client.answer(None))["error"]["code"] == code, line
        client.send(
            b"",
            b"\r",
            b'{"jsonrpc":"2.0","id":[1],"result":{}}',  # replies that answer nothing must not end anything
            b'{"jsonrpc":"2.0","id":77,"error":"no object"}',
            b'{"jsonrpc":"2.0","id":78,"result":null}',
            b'{"jsonrpc":"2.0","method":"no/such"}',
            b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":5}}',
            b'{"jsonrpc":"2.0","id":"a","method":"no/such","params":{}}',
        )
        assert (await client.answer("a"))["error"]["code"] == -32601
        client.send(b'{"jsonrpc":"2.0","id":"b","method":"session/new","params":[1]}')
        assert (await client.answer("b"))["error"]["code"] == -32600
        client.send(b'{"jsonrpc":"2.0","id":"c","method":"session/new","params":{"cwd":5}}')
        assert (await client.answer("c"))["error"]["code"] == -32602
        asked: Any = {
            "jsonrpc": "2.0",
            "id": "d",
            "method": "session/new",
            "params": {"cwd": str(tmp_path), "mcpServers": []},
        }
        client.send(json.dumps(asked).encode())
        assert (await client.answer("d"))["result"]["sessionId"]


async def test_every_client_is_told_the_version_we_speak_and_nothing_works_before(tmp_path: Path) -> None:
    async with raw(tmp_path) as client:
        asked: Any = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "session/new",
            "params": {"cwd": str(tmp_path), "mcpServers": []},
        }
        client.send(json.dumps(asked).encode())
        assert "initialize" in (await client.answer(1))["error"]["message"]
        for version in (0, 1, 2, 999, "2024-11-05"):
            hello = {"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {"protocolVersion": version}}
            client.send(json.dumps(hello).encode())
            assert (await client.answer(2))["result"]["protocolVersion"] == acp.PROTOCOL_VERSION


async def test_a_line_in_pieces_is_one_message_and_an_endless_one_is_none(tmp_path: Path) -> None:
    async with raw(tmp_path) as client:
        for at in range(0, len(INITIALIZE), 7):
            client.stdin.write(INITIALIZE[at : at + 7])
            await client.stdin.drain()
        client.send(b"")
        assert "result" in await client.answer(0)
        for _ in range(65):
            client.stdin.write(b"x" * 1024 * 1024)
            await client.stdin.drain()
        assert (await client.answer(None))["error"]["code"] == -32600
        client.send(b" the rest of it", INITIALIZE)
        assert "result" in await client.answer(0)


async def test_the_end_of_stdin_ends_the_process_and_its_children_in_the_middle_of_a_command(tmp_path: Path) -> None:
    async with FakeApi() as api:
        api.reply(tool("Bash", command="echo be''gun; sleep 600"))
        async with running(tmp_path / "home", env=api.env) as run:
            run.editor.answer = always("allow")
            session = await run.new(tmp_path)
            asking = asyncio.create_task(run.prompt(session, "wait"))
            await run.editor.until(
                lambda: any(call.get("status") == "in_progress" for call in run.editor.calls().values())
            )
            await run.editor.until(lambda: "begun" in str(run.editor.calls()))
            below = descendants(run.process.pid)
            assert below
            run.process.stdin.close()  # pyright: ignore[reportOptionalMemberAccess] -- piped
            assert await run.ended(within=GONE) == 0
            for pid in below:
                await asyncio.to_thread(wait_for_end, pid)
            asking.cancel()


async def test_a_client_that_vanishes_while_asked_has_not_allowed(tmp_path: Path) -> None:
    async with FakeApi() as api:
        api.reply(tool("Bash", command=f"touch {tmp_path / 'never.txt'}"))
        async with running(tmp_path / "home", env=api.env) as run:

            async def never(_asked: object) -> str:
                await asyncio.Event().wait()
                raise AssertionError

            run.editor.answer = never
            session = await run.new(tmp_path)
            asking = asyncio.create_task(run.prompt(session, "make it"))
            await run.editor.until(lambda: run.editor.asked)
            run.process.stdin.close()  # pyright: ignore[reportOptionalMemberAccess] -- piped
            await run.ended(within=GONE)
            asking.cancel()
    assert not (tmp_path / "never.txt").exists()


async def test_the_command_zed_is_told_to_start_is_an_agent(tmp_path: Path) -> None:
    page = (ROOT / "editors" / "zed" / "README.md").read_text()
    [snippet] = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    [(name, server)] = json.loads(snippet)["agent_servers"].items()
    assert (name, server["type"]) == ("Assent", "custom")
    launcher = tmp_path / "bin" / server["command"]
    launcher.parent.mkdir()
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -m assent.cli.main "$@"\n')
    launcher.chmod(0o755)
    env = {**server.get("env", {}), "PATH": f"{launcher.parent}:{os.environ['PATH']}"}
    async with running(tmp_path / "home", env=env, command=(str(launcher), *server["args"])) as run:
        session = await run.new(tmp_path)
        assert (await run.prompt(session, "hello")).stop_reason == "end_turn"
        assert "stand-in" in run.editor.notes()
