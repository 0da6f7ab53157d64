"""Typing beside a review: small, coalesced events for clients that claim `editMoved`, `editUpdated` for the others."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, text, tool
from lspclient import Client, Connect, Json
from lspclient.client import PLUGIN, Document

pytestmark = pytest.mark.asyncio(loop_scope="module")

HUNKS = 20
KEYS = 50
LIMIT = 15_000  # bytes for all keys


def lines() -> str:
    """Twenty lines to change, each in a paragraph of its own, and a last line to type in."""
    return "".join(f"before {n}\nold line {n}\nafter {n}\n\n" for n in range(HUNKS)) + "type here: \n"


async def reviewing(client: Client, api: FakeApi, place: Path) -> tuple[str, Document, Json, asyncio.Future[Any]]:
    """A session that waits for the review of twenty hunks."""
    file = place / "workspace" / "twenty.txt"
    file.write_text(lines())
    document = client.open(file)

    async def never(_params: Json) -> Json:
        await asyncio.Event().wait()
        raise AssertionError

    client.answers["assent/permission/ask"] = never
    api.reply(tool("Read", file_path=str(file)))
    api.reply(tool("Write", file_path=str(file), content=lines().replace("old line", "new line")))
    api.reply(text("Done."))
    session = (await client.request("assent/session/new", {}))["sessionId"]
    _, answer = client.start_request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})
    proposed = await client.wait_event("editProposed", session_id=session)
    return session, document, proposed["event"]["proposal"], answer


async def finish(client: Client, proposal: Json, answer: asyncio.Future[Any], decision: str = "reject") -> None:
    await client.request("assent/edit/resolve", {"proposalId": proposal["proposalId"], "decisions": {"all": decision}})
    async with asyncio.timeout(60):
        await answer


def updates(client: Client, session: str, kind: str, document: Document) -> list[Json]:
    """The events of a kind, up to the one that knows the document's newest version."""
    found = [each["event"] for each in client.events(session, kind)]
    newest = [each for each in found if _version(each) == document.version]
    return found if newest else []


def _version(event: Json) -> int:
    return event["version"] if "version" in event else event["proposal"]["version"]


async def test_fifty_keys_beside_twenty_hunks_cost_few_bytes(
    connect: Connect, shared_api: FakeApi, place: Path
) -> None:
    client = await connect(assent={"client": {**PLUGIN, "editMoved": True}}, api=shared_api)
    session, document, proposal, answer = await reviewing(client, shared_api, place)
    assert len(proposal["hunks"]) == HUNKS
    begin = len(client.heard)
    for number in range(KEYS):
        at = len(document.text) - 1
        client.type(document, at, at, "x" if number % 25 else "\n")
        await client.request("assent/edit/list", {"sessionId": session})  # the key has arrived
    await client.until(lambda: bool(updates(client, session, "editMoved", document)))
    events = [message for message in client.heard[begin:] if message.get("method") == "assent/session/event"]
    sent = [message for message in events if message["params"]["event"]["type"].startswith("edit")]
    assert {message["params"]["event"]["type"] for message in sent} == {"editMoved"}
    cost = sum(len(json.dumps(message, ensure_ascii=False)) for message in sent)
    assert cost <= LIMIT, cost
    await finish(client, proposal, answer)


async def test_ranges_that_moved_are_those_that_edit_list_tells(
    connect: Connect, shared_api: FakeApi, place: Path
) -> None:
    client = await connect(assent={"client": {**PLUGIN, "editMoved": True}}, api=shared_api)
    session, document, proposal, answer = await reviewing(client, shared_api, place)
    ranges = {hunk["hunkId"]: hunk["range"] for hunk in proposal["hunks"]}
    middle = document.text.index("before 10")
    for _ in range(3):
        client.type(document, middle, middle, "one more line\n")
    await client.until(lambda: bool(updates(client, session, "editMoved", document)))
    for event in client.events(session, "editMoved"):
        ranges |= {hunk["hunkId"]: hunk["range"] for hunk in event["event"]["hunks"]}
    (listed,) = (await client.request("assent/edit/list", {"sessionId": session}))["proposals"]
    assert ranges == {hunk["hunkId"]: hunk["range"] for hunk in listed["hunks"]}
    named = {hunk["hunkId"] for event in client.events(session, "editMoved") for hunk in event["event"]["hunks"]}
    assert named == {hunk["hunkId"] for hunk in proposal["hunks"][10:]}  # those before did not move
    sequence = [event["seq"] for event in client.events(session)]
    assert sequence == list(range(sequence[0], sequence[0] + len(sequence)))
    await finish(client, proposal, answer)


async def test_a_change_of_state_is_told_whole_and_at_once(connect: Connect, shared_api: FakeApi, place: Path) -> None:
    client = await connect(assent={"client": {**PLUGIN, "editMoved": True}}, api=shared_api)
    session, document, proposal, answer = await reviewing(client, shared_api, place)
    inside = document.text.index("old line 3") + 4
    client.type(document, inside, inside, "my ")
    updated = await client.wait_event("editUpdated", session_id=session)
    states = [hunk["state"] for hunk in updated["event"]["proposal"]["hunks"]]
    assert states.count("conflict") == 1 and states[3] == "conflict"
    assert all(isinstance(hunk["open"], bool) for hunk in updated["event"]["proposal"]["hunks"])
    await finish(client, proposal, answer)
    resolved = client.events(session, "editResolved")[-1]["event"]
    assert resolved["proposal"]["proposalId"] == resolved["proposalId"] == proposal["proposalId"]
    assert {hunk["state"] for hunk in resolved["proposal"]["hunks"]} == {"rejected"}


async def test_a_client_that_does_not_claim_it_gets_every_update_whole(
    connect: Connect, shared_api: FakeApi, place: Path
) -> None:
    client = await connect(assent={"client": dict(PLUGIN)}, api=shared_api)
    session, document, proposal, answer = await reviewing(client, shared_api, place)
    at = len(document.text) - 1
    client.type(document, at, at, "x")
    await client.until(lambda: bool(updates(client, session, "editUpdated", document)))
    assert client.events(session, "editMoved") == []
    await finish(client, proposal, answer)
