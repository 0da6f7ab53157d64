"""Twenty configured servers, half of them dead or silent: nobody waits for them, and none is left (T9).

How long it takes is measured in `benchmarks/bench_mcp.py`; here it is what happens, in which order.
"""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from fakeapi import FakeApi, text
from lspclient import Connect
from lspclient.client import PLUGIN
from mcpserver import entry
from processes import alive, command_line, descendants

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_twenty_servers_delay_neither_initialize_nor_the_first_answer_and_none_outlives_the_editor(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    home = place / "twenty"
    file = home / "config" / "assent" / "settings.json"
    file.parent.mkdir(parents=True)
    servers = {f"good{number}": entry() for number in range(10)}
    servers |= {f"dead{number}": {"command": "false"} for number in range(5)}
    servers |= {f"silent{number}": entry("--silent") for number in range(5)}
    file.write_text(json.dumps({"mcpServers": servers}))
    client = await connect(assent={"client": dict(PLUGIN), "maxEventRate": 0}, api=api, home=home)
    assert not _workers(client.server.pid), "nothing of it runs before a session"
    session = (await client.request("assent/session/new", {}))["sessionId"]
    api.reply(text("At once."))
    before = len(api.calls)
    answer = await client.request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})
    assert answer["result"]["result"] == "At once."
    names = [each["name"] for each in api.calls[before].body["tools"]]
    assert "ToolSearch" in names, "they can be searched before any has answered"
    async with asyncio.timeout(120):
        while True:
            found = (await client.request("assent/mcp/list", {}))["servers"]
            status = {server["name"]: server["status"] for server in found}
            reached = [status[f"good{number}"] == "connected" for number in range(10)]
            reached += [status[f"dead{number}"] == "failed" for number in range(5)]
            if all(reached):
                break
            await asyncio.sleep(0.1)  # servers connect on their own; bounded above
    # The silent ones are given up after half a minute, which a busy machine may need for the others.
    assert {status[f"silent{number}"] for number in range(5)} <= {"connecting", "failed"}
    below = descendants(client.server.pid)
    assert len(below) >= 11
    os.kill(client.server.pid, signal.SIGKILL)
    async with asyncio.timeout(120):
        while any(alive(pid) for pid in below):  # noqa: ASYNC110 -- processes notify nobody
            await asyncio.sleep(0.05)


def _workers(pid: int) -> list[int]:
    return [each for each in descendants(pid) if "assent.extensions.mcp.worker" in command_line(each)]
