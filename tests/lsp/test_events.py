"""The event stream of a session: ordered, gap-free, merged at the client's rate, replayed on attach."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.wire.events import EVENTS, SessionEvent
from fakeapi import FakeApi, Reply, hold, text, tool
from lspclient import Client, Connect, Json

pytestmark = pytest.mark.asyncio(loop_scope="module")

TYPES = {str(event.__struct_config__.tag): event for event in EVENTS}
WORDS = [f"word{n} " for n in range(300)]


async def new(client: Client, **params: Any) -> str:
    return (await client.request("assent/session/new", params))["sessionId"]


async def turn(client: Client, session: str, prompt: str = "go") -> Json:
    return await client.request("assent/session/send", {"sessionId": session, "prompt": prompt, "wait": True})


def seqs(client: Client, session: str) -> list[int]:
    return [params["seq"] for params in client.events(session)]


async def test_events_have_their_shapes_and_no_gaps(client: Client, api: FakeApi, workspace: Path) -> None:
    session = await new(client)
    api.reply(text("I look."), tool("Read", file_path=str(workspace / "greeter.py")))
    api.reply(text("It greets."))
    await turn(client, session)
    events = client.events(session)
    for params in events:
        msgspec.convert(params, SessionEvent)
        msgspec.convert(params["event"], TYPES[params["event"]["type"]])
    assert seqs(client, session) == list(range(1, len(events) + 1))
    kinds = [params["event"]["type"] for params in events]
    assert kinds[0] == "turnStarted"
    assert kinds[-2:] == ["turnFinished", "status"]
    assert kinds.index("toolPreparing") < kinds.index("toolStarted") < kinds.index("toolFinished")
    assert events[-1]["event"]["state"] == "idle"


async def test_the_answer_that_names_an_id_comes_before_events_that_name_it(client: Client, api: FakeApi) -> None:
    api.otherwise(lambda _call: _reply("ok"))
    for _ in range(5):
        number, created = client.start_request("assent/session/new", {})
        session = (await created)["sessionId"]
        answered = next(i for i, m in enumerate(client.heard) if m.get("id") == number and "method" not in m)
        assert not [m for m in client.heard[:answered] if session in str(m.get("params", ""))]
        number, sent = client.start_request("assent/session/send", {"sessionId": session, "prompt": "go"})
        turn_id = (await sent)["turnId"]
        await client.wait_event("turnFinished", session_id=session)
        answered = next(i for i, m in enumerate(client.heard) if m.get("id") == number and "method" not in m)
        assert not [m for m in client.heard[:answered] if turn_id in str(m.get("params", ""))]


async def test_a_waiting_send_is_answered_after_turn_finished_and_idle(client: Client, api: FakeApi) -> None:
    session = await new(client)
    api.reply(text("Hello."))
    number, answer = client.start_request("assent/session/send", {"sessionId": session, "prompt": "x", "wait": True})
    await answer
    at = next(i for i, m in enumerate(client.heard) if m.get("id") == number and "method" not in m)
    before = [m["params"]["event"]["type"] for m in client.heard[:at] if m.get("method") == "assent/session/event"]
    assert before[-2:] == ["turnFinished", "status"]


async def test_without_merging_every_delta_is_a_frame(client: Client, api: FakeApi) -> None:
    session = await new(client)
    api.reply(text(*WORDS))
    await turn(client, session)
    deltas = client.events(session, "textDelta")
    assert [params["event"]["text"] for params in deltas] == WORDS


async def test_deltas_merge_to_the_rate_and_lose_nothing(connect: Connect, api: FakeApi) -> None:
    client = await connect(assent={"client": {"partials": True}, "maxEventRate": 1}, api=api)
    session = await new(client)
    api.reply(text(*WORDS[:150], hold("half"), *WORDS[150:]))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "go"})
    first = await client.wait_event("textDelta", session_id=session)
    assert first["event"]["text"] == WORDS[0]  # at once, before anything could be merged
    await api.reached("half")
    api.release("half")
    await client.wait_event("turnFinished", session_id=session)
    deltas = [params["event"]["text"] for params in client.events(session, "textDelta")]
    assert "".join(deltas) == "".join(WORDS)
    assert len(deltas) < 40
    assert seqs(client, session) == list(range(1, len(client.events(session)) + 1))


async def test_a_client_that_wants_no_partials_gets_none_and_no_gaps(connect: Connect, api: FakeApi) -> None:
    client = await connect(assent={"client": {}}, api=api)
    session = await new(client)
    api.reply(text(*WORDS))
    await turn(client, session)
    kinds = {params["event"]["type"] for params in client.events(session)}
    assert not kinds & {"textDelta", "thinkingDelta", "toolInputDelta"}
    assert "message" in kinds
    assert seqs(client, session) == list(range(1, len(client.events(session)) + 1))


async def test_attach_replays_what_was_missed_and_nothing_else(client: Client, api: FakeApi) -> None:
    session = await new(client)
    api.reply(text(*WORDS[:20]))
    await turn(client, session)
    original = client.events(session)
    attached = await client.request("assent/session/attach", {"sessionId": session})
    assert attached["reset"] is True
    assert attached["lastSeq"] == original[-1]["seq"]
    before = len(client.heard)
    again = await client.request(
        "assent/session/attach", {"sessionId": session, "epoch": attached["epoch"], "afterSeq": 10}
    )
    assert (again["reset"], again["messages"]) == (False, [])
    await client.wait_for(
        lambda m: m.get("method") == "assent/session/event" and m["params"]["seq"] == original[-1]["seq"], after=before
    )
    replayed = [m["params"] for m in client.heard[before:] if m.get("method") == "assent/session/event"]
    assert replayed == original[10:]


async def test_several_sessions_stream_at_once_each_in_its_own_order(client: Client, api: FakeApi) -> None:
    api.otherwise(lambda _call: _reply(*WORDS[:50]))
    sessions = [await new(client) for _ in range(4)]
    await asyncio.gather(*(turn(client, session) for session in sessions))
    for session in sessions:
        assert seqs(client, session) == list(range(1, len(client.events(session)) + 1))
        text_of = "".join(params["event"]["text"] for params in client.events(session, "textDelta"))
        assert text_of == "".join(WORDS[:50])


async def test_events_go_only_to_clients_that_speak_assent(connect: Connect, api: FakeApi) -> None:
    client = await connect(api=api)
    await client.request("assent/tool/list", {})
    assert not [m for m in client.heard if str(m.get("method", "")).startswith("assent/")]
    session = await new(client)  # from here on it does
    api.reply(text("Hello."))
    await turn(client, session)
    assert client.events(session)


async def test_progress_says_what_is_happening_and_its_cancel_interrupts(connect: Connect, api: FakeApi) -> None:
    client = await connect(api=api, capabilities={"window": {"workDoneProgress": True}})
    client.answers["window/workDoneProgress/create"] = lambda params: None
    session = await new(client)
    api.reply(text("Slowly ", hold("slow"), "now."))
    _, answer = client.start_request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})
    begun = await client.wait_for(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "begin")
    assert begun["params"]["value"] == {"kind": "begin", "title": "Assent", "cancellable": True}
    await api.reached("slow")
    client.notify("window/workDoneProgress/cancel", {"token": begun["params"]["token"]})
    async with asyncio.timeout(120):
        assert (await answer)["result"]["terminal"] == "aborted_streaming"
    await client.wait_for(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end")
    api.release("slow")


def _reply(*parts: str) -> Reply:
    return Reply(parts=(text(*parts),))
