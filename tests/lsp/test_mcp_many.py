"""Twenty configured servers, half of them dead or silent: nobody waits for them, and none is left (T9).

How long it takes is measured in `benchmarks/bench_mcp.py`; here it is what happens, in which order.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from fakeapi import FakeApi, text
from lspclient import Connect, Json
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


EDITOR = """
import json, subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for number, (method, params) in enumerate(json.loads(sys.stdin.readline())):
    asked = {} if method == "initialized" else {"id": number}
    data = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **asked}).encode()
    server.stdin.write(b"Content-Length: %d\\r\\n\\r\\n" % len(data) + data)
    server.stdin.flush()
print(server.pid, flush=True)
while server.stdout.read(1):
    pass
"""


async def test_no_server_outlives_an_editor_that_is_killed(place: Path) -> None:
    home = place / "killed"
    file = home / "config" / "assent" / "settings.json"
    file.parent.mkdir(parents=True)
    pids = [home / f"pid{number}" for number in range(3)]
    flags = (("--child",), ("--silent",), ("--slow-start", "60"))
    servers = {f"s{at}": entry(*flags[at], "--pid", str(pid)) for at, pid in enumerate(pids)}
    file.write_text(json.dumps({"mcpServers": servers}))
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "ASSENT_OFFLINE": "1"}
    env |= {f"XDG_{kind.upper()}_HOME": str(home / kind) for kind in ("config", "data", "cache")}
    said: list[tuple[str, Json]] = [
        ("initialize", {"processId": None, "rootUri": home.as_uri(), "capabilities": {}}),
        ("initialized", {}),
        ("assent/session/new", {}),
    ]
    serve = [sys.executable, "-I", "-m", "assent.cli.main", "serve", "--stdio"]
    pipe = asyncio.subprocess.PIPE
    editor = await asyncio.create_subprocess_exec(
        sys.executable, "-c", EDITOR, *serve, stdin=pipe, stdout=pipe, env=env, cwd=home
    )
    assert editor.stdin is not None and editor.stdout is not None
    editor.stdin.write(json.dumps(said).encode() + b"\n")
    server = int(await editor.stdout.readline())
    async with asyncio.timeout(120):
        while not all(pid.exists() and pid.read_text() for pid in pids):  # noqa: ASYNC110 -- processes notify nobody
            await asyncio.sleep(0.05)
    below = [server, *descendants(server)]
    assert len(below) >= 5
    editor.kill()
    await editor.wait()
    async with asyncio.timeout(120):
        while any(alive(pid) for pid in below):  # noqa: ASYNC110 -- processes notify nobody
            await asyncio.sleep(0.05)
