"""Every method of the wire against the spawned program: its result has the shape `protocol` says, its errors too."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.wire import CLIENT_REQUESTS, METHODS
from fakeapi import FakeApi, hold, text, tool
from lspclient import Client, Json, RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def client(shared: Client) -> Client:
    shared.answers = {"assent/permission/ask": lambda params: {"decision": "allow"}}
    return shared


async def ask(client: Client, method: str, params: Json | None = None) -> Any:
    """The result, checked against the type that the protocol names for it."""
    result = await client.request(method, params or {})
    expected = CLIENT_REQUESTS[method].result
    assert expected is not None
    msgspec.convert(result, expected, strict=True)
    return result


async def new(client: Client, **params: Any) -> str:
    return (await ask(client, "assent/session/new", params))["sessionId"]


async def talked(client: Client, api: FakeApi, *words: str) -> str:
    """A session with one finished turn per word."""
    session = await new(client)
    for word in words or ("hi",):
        api.reply(text(f"You said {word}."))
        await ask(client, "assent/session/send", {"sessionId": session, "prompt": word, "wait": True})
    return session


async def fails(client: Client, method: str, params: Any) -> RpcError:
    with pytest.raises(RpcError) as caught:
        await client.request(method, params)
    assert "Traceback" not in str(caught.value.error)
    assert set(caught.value.data) >= {"kind", "hint"}
    return caught.value


async def test_new_and_send(client: Client, api: FakeApi, workspace: Path) -> None:
    created = await ask(client, "assent/session/new", {"title": "First", "mode": "default"})
    assert "Read" in created["tools"]
    assert len(created["sessionId"]) <= 12
    api.reply(text("Hello."))
    answer = await ask(client, "assent/session/send", {"sessionId": created["sessionId"], "prompt": "hi", "wait": True})
    assert (answer["result"]["subtype"], answer["result"]["result"]) == ("success", "Hello.")
    assert answer["result"]["sessionId"] == created["sessionId"]
    at_once = api.reply(text("Again.")) and await ask(
        client, "assent/session/send", {"sessionId": created["sessionId"], "prompt": "hi", "clientMessageId": "m1"}
    )
    assert at_once["queued"] is False
    again = await ask(
        client, "assent/session/send", {"sessionId": created["sessionId"], "prompt": "hi", "clientMessageId": "m1"}
    )
    assert again == at_once
    await client.until(lambda: len(client.events(created["sessionId"], "turnFinished")) == 2)


async def test_prompts_may_be_blocks_and_mention_documents(client: Client, api: FakeApi, workspace: Path) -> None:
    session = await new(client)
    api.reply(text("I see."))
    uri = (workspace / "notes.txt").as_uri()
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    params = {"sessionId": session, "prompt": [{"type": "text", "text": "what is this?"}], "wait": True}
    await ask(client, "assent/session/send", {**params, "mentions": [{"uri": uri, "range": span}]})
    sent = str(api.calls[-1].messages)
    assert "what is this?" in sent
    assert "notes.txt" in sent


async def test_list_search_rename_export_fork_delete(client: Client, api: FakeApi, workspace: Path) -> None:
    session = await talked(client, api, "zebra")
    await ask(client, "assent/session/rename", {"sessionId": session, "title": "Stripes"})
    listed = await ask(client, "assent/session/list", {"cwd": str(workspace)})
    assert [entry["title"] for entry in listed["sessions"] if entry["sessionId"] == session] == ["Stripes"]
    found = await ask(client, "assent/session/search", {"query": "zebra"})
    assert session in [entry["sessionId"] for entry in found["sessions"]]
    markdown = await ask(client, "assent/session/export", {"sessionId": session, "format": "markdown"})
    assert "You said zebra." in markdown["text"]
    assert "zebra" in (await ask(client, "assent/session/export", {"sessionId": session, "format": "json"}))["text"]
    fork = await ask(client, "assent/session/fork", {"sessionId": session})
    assert fork["sessionId"] != session
    attached = await ask(client, "assent/session/attach", {"sessionId": fork["sessionId"]})
    assert "zebra" in str(attached["messages"])
    await ask(client, "assent/session/delete", {"sessionId": session})
    assert (await fails(client, "assent/session/attach", {"sessionId": session})).kind == "unknownSession"


async def test_configure_context_cost_close(client: Client, api: FakeApi) -> None:
    session = await talked(client, api)
    configured = await ask(
        client, "assent/session/configure", {"sessionId": session, "mode": "plan", "review": "after"}
    )
    assert (configured["mode"], configured["review"]) == ("plan", "after")
    context = await ask(client, "assent/session/context", {"sessionId": session})
    assert 0 < context["used"] < context["window"]
    cost = await ask(client, "assent/session/cost", {"sessionId": session})
    assert cost["totalCostUsd"] > 0
    await ask(client, "assent/session/close", {"sessionId": session})
    assert (await ask(client, "assent/session/attach", {"sessionId": session}))["messages"]


async def test_interrupt_ends_the_turn_and_keeps_what_waits(client: Client, api: FakeApi) -> None:
    session = await new(client)
    api.reply(text("This takes ", hold("long"), "for ever."))
    await ask(client, "assent/session/send", {"sessionId": session, "prompt": "go"})
    await api.reached("long")
    await ask(client, "assent/session/send", {"sessionId": session, "prompt": "later", "clientMessageId": "later"})
    answer = await ask(client, "assent/session/interrupt", {"sessionId": session})
    assert answer == {"interrupted": True, "queued": ["later"]}
    assert client.events(session, "turnFinished")[-1]["event"]["result"]["terminal"] == "aborted_streaming"
    assert await ask(client, "assent/session/interrupt", {"sessionId": session}) == {
        "interrupted": False,
        "queued": ["later"],
    }
    api.release("long")


async def test_cancelling_a_waiting_send_answers_an_aborted_result(client: Client, api: FakeApi) -> None:
    session = await new(client)
    api.reply(text("Wait ", hold("cancel me"), "more."))
    number, answer = client.start_request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})
    await api.reached("cancel me")
    client.notify("$/cancelRequest", {"id": number})
    async with asyncio.timeout(120):
        result = (await answer)["result"]
    assert (result["subtype"], result["terminal"]) == ("error_during_execution", "aborted_streaming")
    api.release("cancel me")


async def test_when_busy_refuse_and_steer(client: Client, api: FakeApi, workspace: Path) -> None:
    session = await new(client)
    api.reply(text("Reading ", hold("busy")), tool("Read", file_path=str(workspace / "notes.txt")))
    api.reply(text("Done, and noted."))
    await ask(client, "assent/session/send", {"sessionId": session, "prompt": "read"})
    await api.reached("busy")
    refused = await fails(client, "assent/session/send", {"sessionId": session, "prompt": "x", "whenBusy": "refuse"})
    assert (refused.kind, refused.code) == ("busy", -32803)
    steered = await ask(
        client, "assent/session/send", {"sessionId": session, "prompt": "shorter!", "whenBusy": "steer"}
    )
    assert steered["queued"] is True
    api.release("busy")
    await client.wait_event("turnFinished", session_id=session)
    assert "shorter!" in str(api.calls[-1].messages)


async def test_rewind_shows_what_it_would_do_and_does_it(client: Client, api: FakeApi, workspace: Path) -> None:
    session = await talked(client, api, "first", "second")
    messages = (await ask(client, "assent/session/attach", {"sessionId": session}))["messages"]
    second = next(m["id"] for m in messages if m["role"] == "user" and "second" in str(m["content"]))
    params = {"sessionId": session, "messageId": second, "restore": "both"}
    assert await ask(client, "assent/session/rewind", {**params, "dryRun": True}) == {"files": [], "conflicts": []}
    await ask(client, "assent/session/rewind", params)
    left = (await ask(client, "assent/session/attach", {"sessionId": session}))["messages"]
    assert "second" not in str([m["content"] for m in left])


async def test_tools_are_listed_and_run_without_a_model(client: Client, workspace: Path) -> None:
    tools = await ask(client, "assent/tool/list")
    assert {"Read", "Bash", "Edit"} <= {one["name"] for one in tools["tools"]}
    path = str(workspace / "notes.txt")
    ran = await ask(client, "assent/tool/run", {"name": "Read", "input": {"file_path": path}})
    assert ran["isError"] is False
    assert "two" in str(ran["content"])
    bad = await ask(client, "assent/tool/run", {"name": "Read", "input": {"nonsense": 1}})
    assert bad["isError"] is True


async def test_a_tool_run_reports_progress_and_can_be_cancelled(client: Client) -> None:
    params = {"name": "Bash", "input": {"command": "echo started; sleep 60"}, "workDoneToken": "tok"}
    before = len(client.heard)
    number, answer = client.start_request("assent/tool/run", params)
    begun = await client.wait_for(
        lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "report", after=before
    )
    assert begun["params"]["token"] == "tok"
    client.notify("$/cancelRequest", {"id": number})
    with pytest.raises(RpcError) as caught:
        async with asyncio.timeout(120):
            await answer
    assert (caught.value.code, caught.value.kind) == (-32800, "cancelled")


async def test_explain_answers_without_asking(client: Client, workspace: Path) -> None:
    params = {"tool": "Bash", "input": {"command": "git push"}, "cwd": str(workspace)}
    assert (await ask(client, "assent/permission/explain", params))["decision"] == "ask"
    allowed = await ask(client, "assent/permission/explain", {**params, "rules": {"allow": ["Bash(git push:*)"]}})
    assert allowed["decision"] == "allow"
    denied = await ask(client, "assent/permission/explain", {**params, "rules": {"deny": ["Bash"]}})
    assert (denied["decision"], denied["step"]) == ("deny", "rules")


@pytest.mark.parametrize("cwd", ["/tmp\0", "relative"])
async def test_explain_refuses_a_directory_that_is_none(client: Client, cwd: str) -> None:
    params = {"tool": "Bash", "input": {"command": "ls"}, "cwd": cwd}
    error = await fails(client, "assent/permission/explain", params)
    assert error.kind == "invalidParams"
    assert "`cwd`" in str(error)


async def test_complete_offers_files_and_commands(client: Client) -> None:
    files = await ask(client, "assent/complete", {"text": "look at @gree", "offset": 13})
    assert any("greeter.py" in item["label"] for item in files["items"])
    commands = await ask(client, "assent/complete", {"text": "/comp", "offset": 5})
    assert any("compact" in item["label"] for item in commands["items"])


async def test_our_own_documents_can_be_read(client: Client, api: FakeApi) -> None:
    session = await talked(client, api, "readme")
    read = await ask(client, "assent/document/read", {"uri": f"assent:/session/{session}.md"})
    assert read["languageId"] == "markdown"
    assert "You said readme." in read["text"]
    plain = await client.request("workspace/textDocumentContent", {"uri": f"assent:/session/{session}.md"})
    assert plain["text"] == read["text"]
    assert (await fails(client, "assent/document/read", {"uri": "file:///etc/passwd"})).kind == "unsupported"
    assert (await fails(client, "assent/document/read", {"uri": "assent:/nothing.md"})).kind == "unsupported"


async def test_lists_of_what_there_is(client: Client) -> None:
    assert isinstance((await ask(client, "assent/mcp/list"))["servers"], list)
    assert any(agent["name"] == "explore" for agent in (await ask(client, "assent/agent/list"))["definitions"])
    assert any(command["name"] == "compact" for command in (await ask(client, "assent/command/list"))["commands"])
    assert (await ask(client, "assent/job/list")) == {"jobs": []}
    assert (await ask(client, "assent/job/kill", {"jobId": "nope"})) == {"killed": False}
    assert (await fails(client, "assent/mcp/restart", {"name": "nope"})).code < 0


async def test_settings_can_be_read_and_written(client: Client, workspace: Path) -> None:
    await ask(client, "assent/settings/set", {"key": "permissions.deny", "value": ["WebFetch"], "scope": "user"})
    got = await ask(client, "assent/settings/get", {"key": "permissions.defaultMode"})
    assert "WebFetch" in got["settings"]["permissions"]["deny"]
    assert (await fails(client, "assent/settings/set", {"key": "no.such", "value": 1})).kind == "invalidParams"
    await ask(client, "assent/settings/set", {"key": "permissions.deny", "value": None, "scope": "user"})


async def test_trust_is_set_by_request(client: Client, workspace: Path) -> None:
    uri = workspace.as_uri()
    assert await ask(client, "assent/trust/set", {"uri": uri, "trusted": True, "remember": "session"}) == {
        "trusted": True
    }
    status = await client.wait_for(
        lambda m: m.get("method") == "assent/status" and m["params"]["trust"][0]["trusted"], after=0
    )
    assert status["params"]["trust"][0]["uri"] == uri
    await ask(client, "assent/trust/set", {"uri": uri, "trusted": False, "remember": "session"})
    assert (await fails(client, "assent/trust/set", {"uri": "untitled:1", "trusted": True})).kind == "invalidParams"


async def test_methods_that_are_announced_are_served_and_planned_ones_are_unknown(client: Client) -> None:
    for row in METHODS:
        if row.direction == "clientRequest":
            known = await _known(client, row.name)
            assert known == (not row.planned), row.name


async def test_a_wrong_field_is_named_by_its_path_and_an_unknown_one_passes(client: Client) -> None:
    wrong = {"proposalId": "p", "decisions": [{"hunkId": "h", "decision": "perhaps"}]}
    refused = await fails(client, "assent/edit/resolve", wrong)
    assert (refused.kind, refused.data["path"]) == ("invalidParams", "$.decisions[0].decision")
    await ask(client, "assent/session/list", {"cwd": "/", "somethingNewer": 1})


async def _known(client: Client, method: str) -> bool:
    """Whether the method is served; parameters that no method takes keep it from doing anything."""
    try:
        await client.request(method, {"sessionId": 0, "cwd": 0, "uri": 0, "name": 0, "text": 0})
    except RpcError as error:
        return error.kind != "methodNotFound"
    return True


@pytest.mark.parametrize("method", sorted(CLIENT_REQUESTS))
async def test_wrongly_typed_params_are_invalid_params(client: Client, method: str) -> None:
    fields = CLIENT_REQUESTS[method].params.__struct_fields__
    wrong: Json = {_camel(name): {"jsonrpc": "2.0", "id": 1, "class": []} for name in fields}
    assert (await fails(client, method, wrong)).code == -32602
    assert (await fails(client, method, [1, 2])).code == -32602


@pytest.mark.parametrize(
    ("method", "params", "kind"),
    [
        ("assent/session/send", {"sessionId": "nope", "prompt": "x"}, "unknownSession"),
        ("assent/session/attach", {"sessionId": "../../etc"}, "unknownSession"),
        ("assent/session/export", {"sessionId": "nope"}, "unknownSession"),
        ("assent/edit/resolve", {"proposalId": "nope", "decisions": {"all": "accept"}}, "unknownProposal"),
        ("assent/no/such", {}, "methodNotFound"),
        ("textDocument/nothing", {}, "methodNotFound"),
        ("workspace/executeCommand", {"command": "assent.nothing"}, "invalidParams"),
        ("workspace/executeCommand", {"command": "assent.answerAsk", "arguments": [{"askId": "x"}]}, "unknownAsk"),
        ("workspace/executeCommand", {"command": "assent.acceptHunk", "arguments": [5]}, "invalidParams"),
        ("workspace/executeCommand", {"command": "assent.revertHunk", "arguments": ["nope"]}, "unknownHunk"),
        ("textDocument/codeAction", {"textDocument": 5}, "invalidParams"),
        ("textDocument/hover", {}, "invalidParams"),
        ("assent/session/new", {"cwd": "/nonexistent/folder"}, "invalidParams"),
    ],
)
async def test_each_error_says_its_kind(client: Client, method: str, params: Json, kind: str) -> None:
    assert (await fails(client, method, params)).kind == kind


async def test_a_code_action_request_from_a_newer_editor_is_served(client: Client, workspace: Path) -> None:
    spot = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
    diagnostic = {"range": spot, "message": "x", "severity": 99, "tags": [77]}
    context = {"diagnostics": [diagnostic], "triggerKind": 12}
    params: Json = {"textDocument": {"uri": (workspace / "greeter.py").as_uri()}, "range": spot, "context": context}
    actions = await client.request("textDocument/codeAction", params)
    assert actions[0]["title"] == "Assent: Explain"


async def test_a_custom_request_without_params_is_served(client: Client) -> None:
    client.send({"jsonrpc": "2.0", "id": "bare", "method": "assent/session/list"})
    assert "sessions" in (await client.answer_to("bare"))["result"]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)
