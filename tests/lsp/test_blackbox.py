"""What a stranger found who knew only the page of the protocol and spoke it by hand."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, hold, text, tool
from lspclient import Client, Connect, Json
from lspclient.client import RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def ask(client: Client, session: str, prompt: object) -> Json:
    params = {"sessionId": session, "prompt": prompt, "wait": True}
    async with asyncio.timeout(60):
        return (await client.request("assent/session/send", params))["result"]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "nope"},
        {"type": "text", "text": 5},
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"},
        {"type": "image", "source": "picture.png"},
    ],
    ids=["unknown", "text that is none", "a tool's result", "an image without a source"],
)
async def test_a_block_the_model_would_refuse_never_enters_the_history(
    client: Client, api: FakeApi, workspace: Path, block: Json
) -> None:
    session = (await client.request("assent/session/new", {}))["sessionId"]
    with pytest.raises(RpcError) as error:
        await client.request("assent/session/send", {"sessionId": session, "prompt": [block]})
    assert (error.value.code, error.value.kind) == (-32602, "invalidParams")
    api.reply(text("Still here."))
    assert (await ask(client, session, "hello"))["result"] == "Still here."


async def test_an_allow_with_an_input_that_is_none_is_a_deny(client: Client, api: FakeApi, workspace: Path) -> None:
    session = (await client.request("assent/session/new", {}))["sessionId"]
    api.reply(tool("Bash", command="touch unwanted.txt"))
    api.reply(text("Done."))
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow", "updatedInput": "touch other.txt"}
    result = await ask(client, session, "go")
    assert [denial["toolName"] for denial in result["permissionDenials"]] == ["Bash"]
    assert not (workspace / "unwanted.txt").exists()


@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
async def test_explain_says_the_same_on_the_wire_and_on_the_command_line(
    client: Client, workspace: Path, mode: str
) -> None:
    settings = client.server.home / "config" / "assent" / "settings.json"
    questions: list[dict[str, Any]] = [
        {"tool": "Bash", "input": {"command": "ls"}, "cwd": str(workspace), "mode": mode},
        {"tool": "Write", "input": {"file_path": str(settings), "content": "{}"}, "cwd": str(workspace), "mode": mode},
    ]
    on_the_wire = [await client.request("assent/permission/explain", question) for question in questions]
    assert on_the_wire[1]["step"] == "ironGate"  # our own settings are protected wherever they live
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assent.cli.main", "explain"),
        env=client.server.env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate("".join(json.dumps(question) + "\n" for question in questions).encode())
    assert [json.loads(line) for line in out.splitlines()] == on_the_wire


async def test_an_action_that_came_with_its_command_keeps_it_when_resolved(connect: Connect, workspace: Path) -> None:
    plain = await connect()
    document = plain.open(workspace / "notes.txt")
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
    params: Json = {"textDocument": {"uri": document.uri}, "range": place, "context": {"diagnostics": []}}
    actions = await plain.request("textDocument/codeAction", params)
    ready = [action for action in actions if "command" in action]
    assert ready
    for action in ready:
        assert (await plain.request("codeAction/resolve", action))["command"] == action["command"]


async def test_a_send_that_waits_in_the_queue_is_answered_when_its_session_closes(
    client: Client, api: FakeApi, workspace: Path
) -> None:
    session = (await client.request("assent/session/new", {}))["sessionId"]
    api.reply(text("begun", hold("closing")))
    params: Json = {"sessionId": session, "prompt": "one", "wait": True}
    running = client.start_request("assent/session/send", params)[1]
    await api.reached("closing")
    queued = client.start_request("assent/session/send", {**params, "prompt": "two", "clientMessageId": "later"})[1]
    await client.wait_event("queued", session_id=session)
    assert await client.request("assent/session/close", {"sessionId": session}) == {}
    async with asyncio.timeout(60):
        results = [(await answer)["result"] for answer in (running, queued)]
    assert [result["result"] for result in results] == ["Aborted", "Aborted"]
    assert (await client.request("assent/session/attach", {"sessionId": session}))["queued"] == ["later"]


async def test_deleting_a_session_tells_those_who_show_its_hunks(client: Client, api: FakeApi, workspace: Path) -> None:
    session = (await client.request("assent/session/new", {}))["sessionId"]
    api.reply(tool("Write", file_path="fresh.txt", content="new\n"))
    client.answers["assent/permission/ask"] = lambda params: asyncio.Event().wait()  # nobody answers
    turn = client.start_request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})[1]
    proposal = (await client.wait_event("editProposed", session_id=session))["event"]["proposal"]
    assert await client.request("assent/session/delete", {"sessionId": session}) == {}
    resolved = (await client.wait_event("editResolved", session_id=session))["event"]
    assert resolved["proposalId"] == proposal["proposalId"]
    assert [decision["decision"] for decision in resolved["decisions"]] == ["reject"]
    async with asyncio.timeout(60):
        assert (await turn)["result"]["result"] == "Aborted"
    assert not (workspace / "fresh.txt").exists()


@pytest.mark.parametrize(
    ("method", "params", "kind"),
    [
        ("assent/session/send", [], "invalidParams"),
        ("assent/session/rename", {"sessionId": "", "title": ""}, "invalidParams"),
        ("assent/session/new", {"cwd": "here"}, "invalidParams"),
        ("workspace/executeCommand", {"command": "assent.acceptHunk", "arguments": [5]}, "invalidParams"),
        ("initialize", {"capabilities": {}}, "invalidRequest"),
    ],
)
async def test_every_error_says_what_to_do(client: Client, method: str, params: Any, kind: str) -> None:
    with pytest.raises(RpcError) as error:
        await client.request(method, params)
    assert error.value.kind == kind and error.value.data["hint"]


async def test_completing_in_a_session_nobody_knows_is_an_error(client: Client) -> None:
    with pytest.raises(RpcError) as error:
        await client.request("assent/complete", {"sessionId": "nobody", "text": "/", "offset": 1})
    assert error.value.kind == "unknownSession"


async def test_cancelling_the_progress_of_a_tool_run_cancels_the_run(client: Client, workspace: Path) -> None:
    before = len(client.heard)
    params = {"name": "Bash", "input": {"command": "echo started; sleep 60"}, "workDoneToken": "mine"}
    client.answers["assent/permission/ask"] = lambda _params: {"decision": "allow"}
    _, answer = client.start_request("assent/tool/run", params)
    begun = await client.wait_notification("$/progress", after=before)
    assert begun["value"]["kind"] == "begin" and begun["value"]["cancellable"] is True
    await client.wait_for(
        lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "report", after=before
    )
    client.notify("window/workDoneProgress/cancel", {"token": "mine"})
    with pytest.raises(RpcError) as cancelled:
        async with asyncio.timeout(60):
            await answer
    assert (cancelled.value.code, cancelled.value.kind) == (-32800, "cancelled")
