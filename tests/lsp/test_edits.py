"""Edits over the wire: proposed, decided hunk by hunk, landed through the editor, shown to plain clients too."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.wire.shapes import Proposal
from fakeapi import FakeApi, text, tool
from lspclient import Client, Connect, Json, RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOWHERE: Json = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}


async def new(client: Client, **params: Any) -> str:
    return (await client.request("assent/session/new", params))["sessionId"]


def begin(client: Client, session: str) -> asyncio.Future[Any]:
    return client.start_request("assent/session/send", {"sessionId": session, "prompt": "fix it", "wait": True})[1]


async def finished(answer: asyncio.Future[Any]) -> Json:
    async with asyncio.timeout(60):
        return (await answer)["result"]


async def never(_params: Json) -> Json:
    await asyncio.Event().wait()
    raise AssertionError


def edits(api: FakeApi, path: Path) -> None:
    """Script one turn: read the file, change two places in it, say so."""
    changes = [{"old_string": "Helo", "new_string": "Hello"}, {"old_string": "Bye", "new_string": "Goodbye"}]
    api.reply(tool("Read", file_path=str(path)))
    api.reply(text("Two words are wrong:"), tool("MultiEdit", file_path=str(path), edits=changes))
    api.reply(text("Fixed."))


def content(path: Path) -> str:
    return path.read_text()


@pytest.fixture
def greeter(workspace: Path) -> Path:
    return workspace / "greeter.py"


async def test_an_ask_with_a_proposal_lands_in_the_buffer_when_allowed(
    client: Client, api: FakeApi, greeter: Path
) -> None:
    document = client.open(greeter)
    edits(api, greeter)
    asks: list[Json] = []

    def allow(params: Json) -> Json:
        asks.append(params)
        return {"decision": "allow"}

    client.answers["assent/permission/ask"] = allow
    session = await new(client)
    result = await finished(begin(client, session))
    assert result["subtype"] == "success"
    msgspec.convert(asks[0]["proposal"], Proposal)
    assert len(asks[0]["proposal"]["hunks"]) == 2
    assert document.text == content(greeter).replace("Helo", "Hello").replace("Bye", "Goodbye")
    assert "Helo" in content(greeter)  # the buffer changed, saving it is the user's
    client.close_document(document.uri)


async def test_hunks_are_decided_one_by_one_and_the_model_is_told(client: Client, api: FakeApi, greeter: Path) -> None:
    document = client.open(greeter)
    edits(api, greeter)
    client.answers["assent/permission/ask"] = never
    session = await new(client)
    start = len(client.heard)
    turn = begin(client, session)
    proposal = (await client.wait_event("editProposed", session_id=session, after=start))["event"]["proposal"]
    listed = await client.request("assent/edit/list", {"sessionId": session})
    assert [one["proposalId"] for one in listed["proposals"]] == [proposal["proposalId"]]
    assert proposal["reason"] == "Two words are wrong"
    first, second = proposal["hunks"]
    accept = [{"hunkId": first["hunkId"], "decision": "accept"}]
    answer = await client.request("assent/edit/resolve", {"proposalId": proposal["proposalId"], "decisions": accept})
    assert [hunk["state"] for hunk in answer["proposal"]["hunks"]] == ["accepted", "pending"]
    assert not turn.done()
    edit = [{"hunkId": second["hunkId"], "decision": "edit", "newText": '    return "Farewell"\n'}]
    await client.request("assent/edit/resolve", {"proposalId": proposal["proposalId"], "decisions": edit})
    await finished(turn)
    assert '"Hello"' in document.text
    assert '"Farewell"' in document.text
    assert "Farewell" in str(api.calls[-1].messages[-1])
    resolved = await client.wait_event("permissionResolved", session_id=session, after=start)
    assert resolved["event"]["by"] == "review"
    client.close_document(document.uri)


async def test_typing_meanwhile_rebases_and_an_old_version_is_stale(
    client: Client, api: FakeApi, greeter: Path
) -> None:
    document = client.open(greeter)
    edits(api, greeter)
    client.answers["assent/permission/ask"] = never
    session = await new(client)
    start = len(client.heard)
    turn = begin(client, session)
    proposal = (await client.wait_event("editProposed", session_id=session, after=start))["event"]["proposal"]
    client.type(document, 0, 0, "# typed by the user\n")
    updated = (await client.wait_event("editUpdated", session_id=session, after=start))["event"]["proposal"]
    assert updated["hunks"][0]["hunkId"] == proposal["hunks"][0]["hunkId"]
    assert updated["hunks"][0]["range"]["start"]["line"] == proposal["hunks"][0]["range"]["start"]["line"] + 1
    params: Json = {"proposalId": proposal["proposalId"], "decisions": {"all": "accept"}}
    with pytest.raises(RpcError) as caught:
        await client.request("assent/edit/resolve", {**params, "version": proposal["version"]})
    assert (caught.value.kind, caught.value.code) == ("staleProposal", -32803)
    assert caught.value.data["proposal"]["version"] == document.version
    await client.request("assent/edit/resolve", {**params, "version": document.version})
    await finished(turn)
    assert document.text.startswith("# typed by the user\n")
    assert '"Hello"' in document.text
    with pytest.raises(RpcError) as caught:
        await client.request(
            "assent/edit/resolve",
            {"proposalId": proposal["proposalId"], "decisions": [{"hunkId": "nope", "decision": "accept"}]},
        )
    assert caught.value.kind == "unknownHunk"
    client.close_document(document.uri)


async def test_a_closed_file_is_written_to_disk(client: Client, api: FakeApi, greeter: Path) -> None:
    edits(api, greeter)
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow"}
    await finished(begin(client, await new(client)))
    assert '"Hello"' in content(greeter)


async def test_an_editor_that_refuses_the_edit_loses_nothing(client: Client, api: FakeApi, greeter: Path) -> None:
    document = client.open(greeter)
    before = document.text
    edits(api, greeter)
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow"}
    client.answers["workspace/applyEdit"] = lambda params: {"applied": False, "failureReason": "read-only"}
    result = await finished(begin(client, await new(client)))
    assert result["subtype"] == "success"  # the model heard of it and went on
    assert document.text == before
    assert content(greeter) == before
    client.close_document(document.uri)


async def test_hover_tells_who_wrote_a_line_and_the_line_can_be_taken_back(
    client: Client, api: FakeApi, greeter: Path
) -> None:
    document = client.open(greeter)
    edits(api, greeter)
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow"}
    await finished(begin(client, await new(client)))
    position = {"textDocument": {"uri": document.uri}, "position": {"line": 1, "character": 6}}
    hover = await client.request("textDocument/hover", position)
    assert "fix it" in hover["contents"]["value"]
    assert "Revert hunk" in hover["contents"]["value"]
    elsewhere = {"textDocument": {"uri": document.uri}, "position": {"line": 0, "character": 0}}
    assert await client.request("textDocument/hover", elsewhere) is None
    hunk = client.events(kind="editProposed")[-1]["event"]["proposal"]["hunks"][0]["hunkId"]
    await client.request("workspace/executeCommand", {"command": "assent.revertHunk", "arguments": [hunk]})
    assert '"Helo"' in document.text
    assert '"Goodbye"' in document.text
    client.close_document(document.uri)


async def test_a_client_with_review_gets_no_marks_from_us(client: Client, api: FakeApi, greeter: Path) -> None:
    document = client.open(greeter)
    edits(api, greeter)
    client.answers["assent/permission/ask"] = never
    session = await new(client)
    start = len(client.heard)
    turn = begin(client, session)
    await client.wait_event("editProposed", session_id=session, after=start)
    assert await client.request("textDocument/codeLens", {"textDocument": {"uri": document.uri}}) == []
    params: Json = {"textDocument": {"uri": document.uri}, "range": NOWHERE, "context": {"diagnostics": []}}
    actions = await client.request("textDocument/codeAction", params)
    assert not [action for action in actions if "hunk" in action["title"]]
    assert not [m for m in client.heard if m.get("method") == "textDocument/publishDiagnostics"]
    await client.request("assent/session/interrupt", {"sessionId": session})
    await finished(turn)
    client.close_document(document.uri)


async def test_a_plain_client_sees_hunks_as_diagnostics_lenses_and_actions(
    connect: Connect, api: FakeApi, greeter: Path, place: Path
) -> None:
    client = await connect(
        api=api, home=place / "plain", capabilities={"workspace": {"workspaceEdit": {"documentChanges": True}}}
    )
    client.answers["window/showMessageRequest"] = never
    document = client.open(greeter)
    uri = document.uri
    session = await new(client)

    async def proposed() -> tuple[asyncio.Future[Any], list[Json]]:
        edits(api, greeter)
        start = len(client.heard)
        turn = begin(client, session)
        marks = await client.wait_for(
            lambda m: m.get("method") == "textDocument/publishDiagnostics" and len(m["params"]["diagnostics"]) == 2,
            after=start,
        )
        return turn, marks["params"]["diagnostics"]

    turn, marks = await proposed()
    assert {(mark["source"], mark["severity"]) for mark in marks} == {("assent", 3)}
    assert "Hello" in marks[0]["message"]
    lenses = await client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    titles = [lens["command"]["title"] for lens in lenses]
    assert titles == ["Accept hunk", "Reject hunk", "Accept hunk", "Reject hunk"]
    assert lenses[0]["command"]["arguments"][1] == marks[0]["code"]
    await client.request("workspace/executeCommand", lenses[1]["command"])
    params: Json = {"textDocument": {"uri": uri}, "range": marks[1]["range"], "context": {"diagnostics": []}}
    actions = await client.request("textDocument/codeAction", params)
    accept = next(a for a in actions if a["title"].startswith("Assent: Accept hunk"))
    await client.request("workspace/executeCommand", accept["command"])
    await finished(turn)
    assert '"Helo"' in document.text
    assert '"Goodbye"' in document.text
    await client.wait_for(
        lambda m: m.get("method") == "textDocument/publishDiagnostics" and m["params"]["diagnostics"] == []
    )
    client.close_document(uri)
    document = client.open(greeter, content(greeter))
    turn, _ = await proposed()
    await client.request("workspace/executeCommand", {"command": "assent.acceptFile", "arguments": [uri]})
    await finished(turn)
    assert '"Hello"' in document.text


async def test_the_editors_own_language_servers_are_asked(
    connect: Connect, api: FakeApi, place: Path, workspace: Path
) -> None:
    flags = {"permissions": True, "review": True, "editorQueries": True, "save": True, "partials": True}
    client = await connect(api=api, home=place / "queries", assent={"client": flags, "maxEventRate": 0})
    document = client.open(workspace / "greeter.py")
    place_found = {"uri": document.uri, "range": document.range(4, 9)}
    asked: list[Json] = []

    def query(params: Json) -> Json:
        asked.append(params)
        return {"status": "success", "value": [place_found]}

    client.answers["assent/editor/query"] = query
    path = str(workspace / "greeter.py")
    ran = await client.request(
        "assent/tool/run", {"name": "Definition", "input": {"file_path": path, "line": 1, "symbol": "greet"}}
    )
    assert ran["isError"] is False, ran
    assert "greeter.py" in str(ran["content"])
    assert {"requestId", "kind", "timeoutMs"} <= set(asked[-1])
    assert asked[-1]["kind"] == "definition"


async def test_a_search_by_the_model_sees_what_was_typed_and_not_saved(
    client: Client, api: FakeApi, greeter: Path
) -> None:
    document = client.open(greeter)
    client.type(document, 0, 0, "# quickly typed\n")
    session = await new(client)
    api.reply(tool("Grep", pattern="quickly", path=str(greeter.parent), output_mode="content"))
    api.reply(text("Found."))
    await finished(begin(client, session))
    assert "greeter.py:1:# quickly typed" in str(api.calls[-1].body["messages"][-1])
    assert "quickly" not in content(greeter)
    client.close_document(document.uri)


async def test_single_lines_of_a_hunk_are_accepted_and_the_model_is_told_both(
    client: Client, api: FakeApi, workspace: Path
) -> None:
    file = workspace / "lines.txt"
    file.write_text("keep\nfirst\nsecond\n")
    document = client.open(file)
    client.answers["assent/permission/ask"] = never
    api.reply(tool("Read", file_path=str(file)))
    api.reply(tool("Write", file_path=str(file), content="keep\nFIRST\nSECOND\n"))
    api.reply(text("Done."))
    session = await new(client)
    answer = begin(client, session)
    proposal = (await client.wait_event("editProposed", session_id=session))["event"]["proposal"]
    (hunk,) = proposal["hunks"]
    decision = {"hunkId": hunk["hunkId"], "decision": "accept", "lines": {"old": [[0, 1]], "new": [[0, 1]]}}
    resolved = await client.request(
        "assent/edit/resolve", {"proposalId": proposal["proposalId"], "decisions": [decision]}
    )
    assert [each["state"] for each in resolved["proposal"]["hunks"]] == ["edited"]
    assert (await finished(answer))["subtype"] == "success"
    assert document.text == "keep\nsecond\nFIRST\n"
    told = json.dumps(api.requests[-1].body["messages"][-1], ensure_ascii=False)
    assert "these old lines stay: `second`" in told and "these new lines were left out: `SECOND`" in told
    client.close_document(document.uri)
