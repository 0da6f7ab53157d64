"""What is really sent has no field that the types of the wire (and so their mirrors) do not know."""

from pathlib import Path
from typing import Any, cast

import pytest

from assent.wire.schema import schema
from fakeapi import FakeApi, failure, text, tool
from lspclient import Client, Connect, Json
from lspclient.client import PLUGIN

pytestmark = pytest.mark.asyncio(loop_scope="module")
WIRE = schema()


def unknown(value: Any, described: Json, at: str) -> list[str]:
    """Fields of a value that its description does not have, all the way down."""
    options = [described, *cast("list[Json]", described.get("anyOf", ()))]
    if isinstance(value, list):
        items: Json = next((option["items"] for option in options if "items" in option), cast("Json", {}))
        found = cast("list[Any]", value)
        return [fault for index, item in enumerate(found) for fault in unknown(item, items, f"{at}[{index}]")]
    known: Json | None = next((option["properties"] for option in options if "properties" in option), None)
    if not isinstance(value, dict) or known is None:
        return []
    faults: list[str] = []
    for key, item in cast("Json", value).items():
        faults += [f"{at}.{key}"] if key not in known else unknown(item, known[key], f"{at}.{key}")
    return faults


def undeclared(value: Json, fields: Json, at: str) -> list[str]:
    return unknown(value, {"properties": {name: field["schema"] for name, field in fields.items()}}, at)


async def test_nothing_is_sent_that_the_protocol_does_not_name(
    connect: Connect, shared_api: FakeApi, place: Path
) -> None:
    api = shared_api
    claims = {"client": {**PLUGIN, "editorQueries": True}, "maxEventRate": 0, "trusted": True}
    client = await connect(assent=claims, api=api)
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow"}
    client.answers["assent/elicit"] = lambda params: {"action": "decline"}
    client.answers["assent/editor/query"] = lambda params: {"status": "noServer", "value": None}
    file = place / "workspace" / "notes.txt"
    document = client.open(file)
    todo = {"content": "Do it", "activeForm": "Doing it", "status": "in_progress"}
    question = {"question": "Which?", "header": "Which", "options": [{"label": "A"}, {"label": "B"}]}
    api.add(failure(529))
    api.reply(tool("TodoWrite", todos=[todo]), tool("AskUserQuestion", questions=[{**question, "multiSelect": False}]))
    api.reply(tool("Read", file_path=str(file)))
    api.reply(tool("Edit", file_path=str(file), old_string="one", new_string="1"))
    api.reply(tool("Bash", command="touch fields.txt"), tool("Symbols", query="greet"))
    api.reply(text("Done."))
    session = (await _asked(client, "assent/session/new", {}))["sessionId"]
    prompt: Json = {"sessionId": session, "prompt": "go", "wait": True}
    await _asked(client, "assent/session/send", prompt)
    await _asked(client, "assent/session/configure", {"sessionId": session, "mode": "acceptEdits"})
    api.reply(tool("Edit", file_path=str(file), old_string="two", new_string="2"))
    api.reply(tool("Bash", command="true", run_in_background=True))
    api.reply(text("Done."))
    await _asked(client, "assent/session/send", prompt)
    (proposal,) = (await _asked(client, "assent/edit/list", {"sessionId": session}))["proposals"]
    resolve = {"proposalId": proposal["proposalId"], "decisions": {"all": "reject"}}
    await _asked(client, "assent/edit/resolve", resolve)
    attached = await _asked(client, "assent/session/attach", {"sessionId": session})
    assert (attached["title"], attached["queued"]) == ("go", [])
    await _asked(client, "assent/settings/get", {"key": "model"})
    explain = {"tool": "Bash", "input": {"command": "ls"}, "cwd": str(file.parent)}
    await _asked(client, "assent/permission/explain", explain)
    client.close_document(document.uri)

    faults: list[str] = []
    kinds: set[str] = set()
    for message in client.heard:
        method, params = message.get("method", ""), cast("Json", message.get("params"))
        if method == "assent/session/event":
            event = dict(params["event"])
            kind = event.pop("type")
            kinds.add(kind)
            faults += undeclared(event, WIRE["events"][kind], kind)
        elif method.startswith("assent/"):
            described = (WIRE["serverRequests"] | WIRE["serverNotifications"])[method]
            faults += undeclared(params, described["params"], method)
    assert faults == []
    assert {"turnStarted", "usage", "retrying", "message", "editProposed", "permissionPending", "todos"} <= kinds
    (started, *_) = client.events(session, "turnStarted")
    assert started["event"]["messageId"]
    assert client.events(session, "usage")[-1]["event"]["totalCostUsd"] > 0


async def test_a_session_that_is_only_read_is_told_in_the_declared_shape(connect: Connect) -> None:
    first = await connect(assent={"client": dict(PLUGIN)})
    session = (await first.request("assent/session/new", {}))["sessionId"]
    await first.request("assent/session/send", {"sessionId": session, "prompt": "hello", "wait": True})
    second = await connect(assent={"client": dict(PLUGIN)})
    looked_at = await _asked(second, "assent/session/attach", {"sessionId": session, "readOnly": True})
    assert (looked_at["readOnly"], looked_at["title"]) == (True, "hello")


async def _asked(client: Client, method: str, params: Json) -> Json:
    """The answer, once it was seen to hold nothing its type does not name."""
    answer = await client.request(method, params)
    assert undeclared(answer, WIRE["requests"][method]["result"], method) == []
    return answer
