"""What a strict reader of the protocol's page expects, and a second stranger missed on the wire."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, text, tool
from lspclient import Client, Connect, Json
from lspclient.client import PLUGIN, RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION: Json = {
    "question": "Which?",
    "header": "Pick",
    "multiSelect": False,
    "options": [{"label": "A", "description": "one"}, {"label": "B", "description": "two"}],
}


async def new(client: Client, **params: Any) -> str:
    return (await client.request("assent/session/new", params))["sessionId"]


async def ask(client: Client, session: str, prompt: object, **more: Any) -> Json:
    params = {"sessionId": session, "prompt": prompt, "wait": True, **more}
    return (await client.request("assent/session/send", params))["result"]


async def command(client: Client, name: str, *arguments: Any) -> Any:
    return await client.request("workspace/executeCommand", {"command": name, "arguments": list(arguments)})


@pytest.mark.parametrize("answered", [0, 1], ids=["the first request", "the one sent again"])
async def test_any_request_of_an_ask_may_be_answered_and_the_other_is_withdrawn(
    client: Client, api: FakeApi, workspace: Path, answered: int
) -> None:
    session = await new(client)
    api.reply(tool("Bash", command=f"mkdir asked-{answered}"))
    api.reply(text("Done."))
    answers: list[asyncio.Future[Json]] = [asyncio.get_running_loop().create_future() for _ in range(2)]
    coming = iter(answers)

    async def later(_params: Json) -> Json:
        return await next(coming)

    client.answers["assent/permission/ask"] = later
    before = len(client.heard)

    def requests() -> list[Json]:
        return [m["params"] for m in client.heard[before:] if m.get("method") == "assent/permission/ask"]

    turn = client.start_request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})[1]
    await client.until(lambda: len(requests()) == 1)
    await client.request("assent/session/attach", {"sessionId": session})
    await client.until(lambda: len(requests()) == 2)
    assert requests()[0]["askId"] == requests()[1]["askId"]
    answers[answered].set_result({"decision": "allow"})
    async with asyncio.timeout(60):
        assert (await turn)["result"]["subtype"] == "success"
    assert (workspace / f"asked-{answered}").is_dir()
    withdrawn = [m["params"] for m in client.heard[before:] if m.get("method") == "assent/withdrawn"]
    assert withdrawn == [{"requestId": requests()[1 - answered]["requestId"]}]
    answers[1 - answered].set_result({"decision": "deny"})  # late: dropped silently


@pytest.mark.parametrize("odd", [{"hunks": 7}, {"hunks": "all"}, {"message": 7}], ids=str)
async def test_an_allow_that_is_not_in_shape_is_a_deny(
    client: Client, api: FakeApi, workspace: Path, odd: Json
) -> None:
    session = await new(client)
    api.reply(tool("Bash", command="touch unwanted"))
    api.reply(text("Done."))
    client.answers["assent/permission/ask"] = lambda _params: {"decision": "allow", **odd}
    result = await ask(client, session, "go")
    assert [denial["toolName"] for denial in result["permissionDenials"]] == ["Bash"]
    assert not (workspace / "unwanted").exists()


@pytest.mark.parametrize("rule", ["Bash((", 5])
async def test_an_allow_with_an_invalid_rule_and_no_scope_counts_once_and_says_so(
    client: Client, api: FakeApi, rule: object
) -> None:
    session = await new(client)
    api.reply(tool("Bash", command="mkdir -p once"))
    api.reply(text("Done."))
    client.answers["assent/permission/ask"] = lambda _params: {"decision": "allow", "rule": rule}
    assert (await ask(client, session, "go"))["permissionDenials"] == []
    (notice,) = client.events(session, "notice")
    assert notice["event"]["text"].startswith("Allowed once")


@pytest.mark.parametrize("prompt", ["hello", [{"type": "text", "text": "hello"}]], ids=["a string", "blocks"])
async def test_a_turn_starts_with_the_prompt_as_it_was_sent(client: Client, api: FakeApi, prompt: object) -> None:
    session = await new(client)
    api.reply(text("Hi."))
    await ask(client, session, prompt)
    (started,) = client.events(session, "turnStarted")
    assert started["event"]["prompt"] == prompt


async def test_a_cursor_that_is_none_of_ours_is_an_error(client: Client) -> None:
    session = await new(client)
    with pytest.raises(RpcError) as error:
        await client.request("assent/session/attach", {"sessionId": session, "cursor": "garbage"})
    assert (error.value.kind, bool(error.value.data["hint"])) == ("invalidParams", True)


async def test_numbers_go_on_when_a_closed_session_is_opened_again_and_what_was_missed_is_not_guessed(
    client: Client, api: FakeApi
) -> None:
    session = await new(client)
    api.reply(text("One.")).reply(text("Two."))
    await ask(client, session, "first")
    epoch = (await client.request("assent/session/attach", {"sessionId": session}))["epoch"]
    seen = [event["seq"] for event in client.events(session)]
    await client.request("assent/session/close", {"sessionId": session})
    behind: Json = {"sessionId": session, "epoch": epoch, "afterSeq": seen[-1]}
    again = await client.request("assent/session/attach", behind)
    assert (again["epoch"], again["lastSeq"], again["reset"]) == (epoch, seen[-1], True)
    assert len(again["messages"]) == 2  # another window may have gone on with it meanwhile
    await ask(client, session, "second")
    numbers = [event["seq"] for event in client.events(session)]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) > len(seen)


async def test_a_session_with_a_schema_names_the_tool_for_it(client: Client) -> None:
    answer = await client.request("assent/session/new", {"jsonSchema": {"type": "object"}})
    assert "StructuredOutput" in answer["tools"]


@pytest.mark.parametrize(
    "content",
    [None, {}, {"answers": {}}, {"answers": {"q9": ["A"]}}, {"answers": {"q1": []}}, {"answers": "A"}],
    ids=str,
)
async def test_a_question_accepted_without_an_answer_was_not_answered(
    client: Client, api: FakeApi, content: object
) -> None:
    session = await new(client)
    api.reply(tool("AskUserQuestion", questions=[QUESTION]))
    api.reply(text("Done."))
    client.answers["assent/elicit"] = lambda _params: {"action": "accept", "content": content}
    await ask(client, session, "go")
    (result,) = api.calls[-1].tool_results.values()
    assert result["content"].startswith("The user did not answer")


async def test_a_new_chat_is_answered_and_shown_only_where_the_client_can_show(connect: Connect, place: Path) -> None:
    plain = await connect(home=place / "plain")
    shows = await connect(home=place / "shows", capabilities={"window": {"showDocument": {"support": True}}})
    shows.answers["window/showDocument"] = lambda _params: asyncio.Event().wait()  # it never says that it did
    created: list[str] = []
    for client in (plain, shows):
        created.append((await command(client, "assent.newChat"))["uri"])
    shown = await shows.wait_notification("window/showDocument")
    assert shown["uri"] == created[1] and created[0] != created[1]
    assert not [m for m in plain.heard if m.get("method") == "window/showDocument"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("assent.trust", [5]), ("assent.trust", [None, "no"]), ("assent.trust", [True]), ("assent.interrupt", [5])],
    ids=str,
)
async def test_a_command_with_an_argument_of_the_wrong_kind_does_nothing(
    client: Client, workspace: Path, name: str, arguments: list[Any]
) -> None:
    with pytest.raises(RpcError) as error:
        await command(client, name, *arguments)
    assert error.value.kind == "invalidParams"
    status = [m["params"] for m in client.heard if m.get("method") == "assent/status"][-1]
    assert [folder["trusted"] for folder in status["trust"]] == [False]


async def test_a_hunk_is_decided_by_its_own_id_alone(client: Client, api: FakeApi, workspace: Path) -> None:
    session = await new(client)
    api.reply(tool("Read", file_path="notes.txt"))
    api.reply(tool("Edit", file_path="notes.txt", old_string="two\n", new_string="2\n"))
    api.reply(text("Done."))
    client.answers["assent/permission/ask"] = lambda _params: asyncio.Event().wait()
    turn = client.start_request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})[1]
    proposal = (await client.wait_event("editProposed", session_id=session))["event"]["proposal"]
    with pytest.raises(RpcError) as error:
        await command(client, "assent.acceptHunk", "nobody")
    assert error.value.kind == "unknownHunk"
    await command(client, "assent.acceptHunk", proposal["hunks"][0]["hunkId"])
    async with asyncio.timeout(60):
        await turn
    assert (workspace / "notes.txt").read_text() == "one\n2\n"


async def test_a_change_without_a_version_is_a_change(client: Client, workspace: Path) -> None:
    document = client.open(workspace / "notes.txt")
    for identifier in ({"uri": document.uri}, {"uri": document.uri, "version": None}):
        change = {"textDocument": identifier, "contentChanges": [{"text": f"typed {len(identifier)}\n"}]}
        client.notify("textDocument/didChange", change)
        params = {"name": "Read", "input": {"file_path": str(workspace / "notes.txt")}}
        read = await client.request("assent/tool/run", params)
        assert f"typed {len(identifier)}" in read["content"][0]["text"]
    client.close_document(document.uri)


async def test_a_window_that_only_read_starts_afresh_when_it_takes_over(connect: Connect, place: Path) -> None:
    home = place / "two windows"
    owner = await connect(home=home, assent={"client": dict(PLUGIN)})
    reader = await connect(home=home, assent={"client": dict(PLUGIN)})
    session = await new(owner)
    await ask(owner, session, "hello")
    read = await reader.request("assent/session/attach", {"sessionId": session, "readOnly": True})
    await ask(owner, session, "and again")  # the reader hears nothing of it
    await owner.request("assent/session/close", {"sessionId": session})
    behind: Json = {"sessionId": session, "epoch": read["epoch"], "afterSeq": read["lastSeq"]}
    taken = await reader.request("assent/session/attach", behind)
    assert taken["reset"] is True and len(taken["messages"]) > len(read["messages"])
