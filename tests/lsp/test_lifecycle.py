"""From the first byte to the last: what is answered when, and when the process is gone."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from lspclient import Client, Connect, Json, RpcError, Server
from lspclient.process import COMMAND
from processes import alive, command_line, descendants

pytestmark = pytest.mark.asyncio(loop_scope="module")

GONE = 120.0  # seconds; the contract says 2, which `benchmarks` measure: a busy machine is not a failure here


async def test_before_initialize_every_request_gets_not_initialized(connect: Connect) -> None:
    client = await connect(initialize=False)
    for method in ("assent/session/new", "textDocument/hover", "shutdown", "no/such"):
        with pytest.raises(RpcError) as caught:
            await client.request(method, {})
        assert (caught.value.code, caught.value.kind) == (-32002, "notInitialized")
        assert caught.value.data["hint"]


async def test_initialize_says_what_we_are(connect: Connect, workspace: Path) -> None:
    client = await connect(initialize=False)
    result = await client.initialize(workspace, assent={})
    assert result["serverInfo"]["name"] == "assent"
    own = result["capabilities"]["experimental"]["assent"]
    assert own["protocol"] == 1
    assert {"assent/session/new", "assent/edit/resolve", "assent/permission/explain"} <= set(own["methods"])
    assert result["capabilities"]["positionEncoding"] == "utf-16"


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["utf-8", "utf-16"], "utf-16"),
        (["utf-8"], "utf-8"),
        (["utf-32", "utf-8"], "utf-32"),
        ([], "utf-16"),
        (["utf-7"], "utf-16"),
    ],
)
async def test_utf_16_is_chosen_whenever_it_is_offered(connect: Connect, offered: list[str], chosen: str) -> None:
    client = await connect(initialize=False)
    result = await client.initialize(None, capabilities={"general": {"positionEncodings": offered}})
    assert result["capabilities"]["positionEncoding"] == chosen


async def test_an_editor_from_the_future_can_initialize(connect: Connect) -> None:
    client = await connect(initialize=False)
    capabilities: Json = {
        "general": {"positionEncodings": ["utf-64", "utf-16"], "regularExpressions": 5},
        "textDocument": {
            "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["made.up", 7]}}},
            "completion": {"completionItem": {"tagSupport": {"valueSet": [1, 99]}}},
            "sparkles": [],
        },
        "workspace": {"symbol": {"symbolKind": {"valueSet": [4000]}}, "workspaceEdit": {"failureHandling": "shrug"}},
    }
    result = await client.initialize(
        None, capabilities=capabilities, trace="deafening", processId="not a pid", workspaceFolders="none", locale=7
    )
    assert "capabilities" in result
    own = await client.request("assent/session/list", {})
    assert own == {"sessions": []}


async def test_one_wrong_initialization_option_costs_only_itself(connect: Connect, workspace: Path) -> None:
    client = await connect(
        assent={
            "client": {"permissions": True, "review": "yes"},
            "maxEventRate": "fast",
            "settings": {"review": "after"},
        }
    )
    status = await client.wait_notification("assent/status")
    assert [warning["kind"] for warning in status["warnings"]] == ["initializationOptions"] * 2
    settings = await client.request("assent/settings/get", {})
    assert settings["withheld"] == ["editor settings: review"]  # taken, though the folder is not trusted yet


async def test_initialize_twice_is_refused(connect: Connect) -> None:
    client = await connect()
    with pytest.raises(RpcError) as caught:
        await client.request("initialize", {"processId": None, "capabilities": {}})
    assert caught.value.kind == "invalidRequest"


async def test_after_shutdown_requests_are_refused_and_exit_is_clean(connect: Connect) -> None:
    client = await connect(assent={})
    assert await client.request("shutdown") is None
    for method in ("assent/session/new", "shutdown", "textDocument/hover", "initialize"):
        with pytest.raises(RpcError) as caught:
            await client.request(method, {})
        assert (caught.value.code, caught.value.kind) == (-32600, "invalidRequest")
    client.notify("exit")
    assert await client.server.ended(within=GONE) == 0


async def test_exit_without_shutdown_ends_with_one(connect: Connect) -> None:
    client = await connect()
    client.notify("exit")
    assert await client.server.ended(within=GONE) == 1


async def test_the_end_of_stdin_ends_the_server(connect: Connect) -> None:
    client = await connect()
    assert client.process.stdin is not None
    client.process.stdin.close()
    await client.server.ended(within=GONE)


async def test_a_signal_ends_the_server(connect: Connect) -> None:
    client = await connect()
    os.kill(client.server.pid, signal.SIGTERM)
    await client.server.ended(within=GONE)


async def test_the_death_of_the_parent_ends_the_server_though_stdin_stays_open(connect: Connect) -> None:
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(600)")
    client = await connect(processId=parent.pid)
    await client.request("assent/session/list", {})
    parent.kill()
    await client.server.ended(within=GONE)
    await parent.wait()


async def test_a_parent_that_is_gone_already_ends_the_server(connect: Connect) -> None:
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", "pass")
    await parent.wait()
    client = await connect(initialize=False)
    await client.initialize(None, processId=parent.pid)
    await client.server.ended(within=GONE)


# The program with one part that breaks on the way up: {} says which, by the name of the app's method.
BROKEN = """
import sys
from assent import app
from assent.cli.main import main

async def broken(*_args):
    raise RuntimeError("this part is broken")

app.App.{} = broken
sys.exit(main(["serve", "--stdio"]))
"""


async def test_a_program_that_breaks_on_the_way_up_says_so_to_every_request(tmp_path: Path) -> None:
    command = (sys.executable, "-c", BROKEN.format("__aenter__"))
    client = Client(Server(tmp_path, env={"ASSENT_OFFLINE": "1"}, command=command))
    await client.start()
    await client.initialize(None, assent={})
    for _before_and_after in range(2):
        with pytest.raises(RpcError) as caught:
            await client.request("assent/edit/list", {})
        assert caught.value.kind == "internal"
        assert "could not start" in str(caught.value)
        assert "this part is broken" in str(caught.value)
    await client.request("shutdown")
    client.notify("exit")
    assert await client.server.ended(within=120) == 0
    await client.close()
    assert "this part is broken" in (client.server.data / "logs" / "server.log").read_text()


async def test_a_server_nobody_reads_from_still_ends(tmp_path: Path) -> None:
    client = Client(Server(tmp_path, env={"ASSENT_OFFLINE": "1"}))
    await client.start(read=False)
    client.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}})
    for number in range(2, 3000):  # half a megabyte of answers that stay in the pipe
        client.send({"jsonrpc": "2.0", "id": number, "method": "no/such", "params": {}})
    client.notify("exit")
    await client.server.ended(within=120)
    await client.close()


# A stand-in for an editor: starts the server as its child, begins a turn that runs a long command, and waits to be killed.
EDITOR = """
import json, os, subprocess, sys, time
server = subprocess.Popen(json.loads(sys.argv[1]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
number = 0
def send(method, params, *, request=True):
    global number
    number += request
    message = {"jsonrpc": "2.0", "method": method, "params": params, **({"id": number} if request else {})}
    body = json.dumps(message).encode()
    server.stdin.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
    server.stdin.flush()
def read():
    length = 0
    while (line := server.stdout.readline()) != b"\\r\\n":
        length = int(line.split(b":")[1])
    return json.loads(server.stdout.read(length))
def answer(id):
    while True:
        message = read()
        if message.get("id") == id and "method" not in message:
            return message["result"]
root = "file://" + sys.argv[2]
flags = {"permissions": True, "partials": True}
send("initialize", {"processId": os.getpid(), "rootUri": root, "capabilities": {}, "workspaceFolders": [{"uri": root, "name": "w"}],
     "initializationOptions": {"assent": {"client": flags}}})
answer(1)
send("initialized", {}, request=False)
send("assent/session/new", {"mode": "bypassPermissions"})
session = answer(2)["sessionId"]
send("assent/session/send", {"sessionId": session, "prompt": "run `sleep 300`"})
answer(3)
while True:
    message = read()
    if message.get("method") == "assent/session/event" and message["params"]["event"]["type"] == "toolStarted":
        break
print(session, server.pid, flush=True)
if sys.argv[3] == "reads":
    while True:
        read()
time.sleep(600)
"""


async def kill_the_editor(tmp_path: Path, workspace: Path, *, reads: bool) -> None:
    server = Server(tmp_path / "home", env={"ASSENT_OFFLINE": "1"})
    server.home.mkdir(parents=True, exist_ok=True)
    editor = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        EDITOR,
        json.dumps(COMMAND),
        str(workspace),
        "reads" if reads else "does not read",
        stdout=asyncio.subprocess.PIPE,
        env=server.env,
    )
    assert editor.stdout is not None
    async with asyncio.timeout(120):
        session, pid = (await editor.stdout.readline()).split()
    family: list[int] = []
    async with asyncio.timeout(120):
        while not any(command_line(member)[:1] == ["sleep"] for member in family):
            family = [int(pid), *descendants(int(pid))]
            await asyncio.sleep(0.01)
    editor.kill()
    await editor.wait()
    async with asyncio.timeout(GONE):
        while any(alive(member) for member in family):  # noqa: ASYNC110 -- other processes set no events of ours
            await asyncio.sleep(0.01)

    client = Client(Server(tmp_path / "home", env={"ASSENT_OFFLINE": "1"}))
    await client.start()
    await client.initialize(workspace, assent={"client": {"partials": True}})
    attached = await client.request("assent/session/attach", {"sessionId": session.decode()})
    assert attached["messages"][0]["content"] == [{"type": "text", "text": "run `sleep 300`"}]
    answer = await client.request(
        "assent/session/send", {"sessionId": session.decode(), "prompt": "hello", "wait": True}
    )
    assert answer["result"]["subtype"] == "success"
    await client.stop()


@pytest.mark.parametrize("run", range(10))
async def test_killing_the_editor_leaves_no_process_and_a_turn_that_can_be_resumed(
    tmp_path: Path, workspace: Path, run: int
) -> None:
    await kill_the_editor(tmp_path, workspace, reads=run % 2 == 0)


@pytest.mark.torture
@pytest.mark.parametrize("run", range(100))
async def test_killing_the_editor_a_hundred_times(tmp_path: Path, workspace: Path, run: int) -> None:
    await kill_the_editor(tmp_path, workspace, reads=run % 2 == 0)
