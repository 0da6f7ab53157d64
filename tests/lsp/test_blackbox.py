"""What a stranger found who knew only the page of the protocol and spoke it by hand."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, Reply, hold, text, tool
from lspclient import Client, Connect, Json
from lspclient.client import Document, RpcError

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
        *(sys.executable, "-I", "-m", "assent.cli.main", "explain"),
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


def opened(client: Client, uri: str, text: str) -> None:
    client.documents[uri] = Document(uri, text)
    item = {"uri": uri, "languageId": "plaintext", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": item})


async def test_a_mentioned_document_that_was_never_saved_comes_along(client: Client, api: FakeApi) -> None:
    session = (await client.request("assent/session/new", {}))["sessionId"]
    opened(client, "untitled:Untitled-1", "alpha\nbeta\ngamma\n")
    line = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 4}}
    for mention, words in (({}, "alpha\nbeta\ngamma"), ({"range": line}, "```\nbeta\n```")):
        api.reply(text("Seen."))
        params = {"sessionId": session, "prompt": "look", "wait": True}
        await client.request("assent/session/send", {**params, "mentions": [{"uri": "untitled:Untitled-1", **mention}]})
        told = "".join(block["text"] for block in api.requests[-1].body["messages"][-1]["content"])
        assert "look" in told and words in told
    assert "alpha" not in told.split("beta")[0], "of a range, only that"


async def test_what_the_editor_attaches_is_told_in_its_words_and_mentions_nothing_itself(
    client: Client, api: FakeApi, workspace: Path
) -> None:
    (workspace / "secret.txt").write_text("hidden words\n")
    session = (await client.request("assent/session/new", {}))["sessionId"]
    api.reply(text("Seen."))
    problems = {"uri": "assent-context:problems", "label": "2 problems", "text": "a.py:3 broken ``` @secret.txt"}
    params = {"sessionId": session, "prompt": "look", "wait": True, "mentions": [problems]}
    await client.request("assent/session/send", params)
    blocks = api.requests[-1].body["messages"][-1]["content"]
    assert [block["text"] for block in blocks if "look" in block["text"]] == ["look"]
    told = next(block["text"] for block in blocks if "broken" in block["text"])
    assert told == "The user attached 2 problems:\n````\na.py:3 broken ``` @secret.txt\n````"
    assert "hidden words" not in str(api.requests[-1].body)
    listed = (await client.request("assent/session/list", {}))["sessions"]
    assert [each["title"] for each in listed if each["sessionId"] == session] == ["look"]


async def test_a_chat_document_that_was_never_saved_talks_in_the_first_folder(client: Client, api: FakeApi) -> None:
    api.reply(text("Hello to you."))
    opened(client, "untitled:talk.assent.md", "## You\n\nhello\n")
    client.answers["workspace/applyEdit"] = client.apply_edit
    await client.request(
        "workspace/executeCommand", {"command": "assent.send", "arguments": ["untitled:talk.assent.md"]}
    )
    await client.until(lambda: "Hello to you." in client.documents["untitled:talk.assent.md"].text)


async def test_a_notebook_the_editor_holds_is_not_changed_behind_its_back(client: Client, workspace: Path) -> None:
    cell: Json = {"cell_type": "code", "id": "c1", "source": ["x = 1"], "metadata": {}, "outputs": []}
    notebook = workspace / "n.ipynb"
    notebook.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    before = notebook.read_bytes()
    client.answers["assent/permission/ask"] = lambda _params: {"decision": "allow"}
    client.notify("notebookDocument/didOpen", {"notebookDocument": {"uri": notebook.as_uri(), "version": 1}})
    await client.request("assent/tool/run", {"name": "Read", "input": {"file_path": str(notebook)}})
    change = {"notebook_path": str(notebook), "cell_id": "c1", "new_source": "y = 2"}
    with pytest.raises(RpcError, match="open as a notebook"):
        await client.request("assent/tool/run", {"name": "NotebookEdit", "input": change})
    assert notebook.read_bytes() == before, "not a byte of it"
    client.notify("notebookDocument/didClose", {"notebookDocument": {"uri": notebook.as_uri()}})
    made = await client.request("assent/tool/run", {"name": "NotebookEdit", "input": change})
    assert not made["isError"] and "y = 2" in notebook.read_text()


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("assent/session/new", {}),
        ("assent/session/configure", {"mode": "plan"}),
        ("assent/session/export", {"format": "json"}),
        ("assent/session/send", {"prompt": "x"}),
        ("assent/complete", {"text": "@", "offset": 1}),
        ("textDocument/hover", {"textDocument": {"uri": "file:///x"}, "position": {"line": 0, "character": 0}}),
    ],
)
async def test_a_request_cancelled_in_the_same_breath_is_answered(
    client: Client, api: FakeApi, method: str, params: Json
) -> None:
    session = (await client.request("assent/session/new", {}))["sessionId"]
    api.otherwise(Reply(parts=(text("Said."),)))
    number, answer = client.start_request(method, {"sessionId": session, **params})
    client.notify("$/cancelRequest", {"id": number})
    async with asyncio.timeout(60):
        try:
            await answer
        except RpcError as error:
            assert (error.code, error.kind) == (-32800, "cancelled")
    assert (await ask(client, session, "on we go"))["subtype"] == "success"


async def test_a_waiting_send_cancelled_in_the_same_breath_has_an_aborted_result(client: Client, api: FakeApi) -> None:
    session = (await client.request("assent/session/new", {}))["sessionId"]
    api.otherwise(Reply(parts=(text("Said."),)))
    number, answer = client.start_request("assent/session/send", {"sessionId": session, "prompt": "x", "wait": True})
    client.notify("$/cancelRequest", {"id": number})
    async with asyncio.timeout(60):
        result = (await answer)["result"]
    assert (result["subtype"], result["result"]) == ("error_during_execution", "Aborted")


async def test_cancelling_what_changes_a_session_leaves_no_half_of_it_behind(client: Client, api: FakeApi) -> None:
    session = (await client.request("assent/session/new", {}))["sessionId"]
    api.otherwise(Reply(parts=(text("Said."),)))
    await ask(client, session, "hello")
    for method in ("close", "attach", "rename", "configure", "fork", "close", "delete"):
        number, answer = client.start_request(f"assent/session/{method}", {"sessionId": session, "title": "New"})
        client.notify("$/cancelRequest", {"id": number})
        async with asyncio.timeout(60):
            await answer
    with pytest.raises(RpcError) as gone:
        await client.request("assent/session/attach", {"sessionId": session})
    assert gone.value.kind == "unknownSession", "deleted, not held by ourselves"
