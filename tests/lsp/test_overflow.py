"""A conversation that outgrows its endpoint, as a client sees it (C6, L7)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from fakeapi import FakeApi, Reply, Request, failure, text
from fakeapi.script import Answer
from lspclient import Client, Connect, Json

pytestmark = pytest.mark.asyncio(loop_scope="module")

MOST = 60_000  # characters of `messages` as JSON
PROMPTS = ("first " + "a" * 40_000, "second " + "b" * 40_000, "and now the short one")


def endpoint(request: Request) -> Answer:
    if len(json.dumps(request.messages)) > MOST:
        return failure(400, "prompt is too long")
    if "about to be replaced" in request.last_text:
        return Reply(parts=(text("<summary>They sent a long text.</summary>"),))
    return Reply(parts=(text("Understood."),))


async def ask(client: Client, session: str, prompt: str) -> Json:
    async with asyncio.timeout(120):
        params = {"sessionId": session, "prompt": prompt, "wait": True}
        return (await client.request("assent/session/send", params))["result"]


def last_asked(api: FakeApi) -> str:
    return json.dumps(api.calls[-1].messages)


async def test_every_prompt_is_answered_word_for_word_by_an_endpoint_that_takes_little(
    connect: Connect, api: FakeApi, tmp_path: Path, workspace: Path
) -> None:  # C6, L5, L7
    api.otherwise(endpoint)
    client = await connect(assent={"client": {}}, api=api, home=tmp_path)
    session = (await client.request("assent/session/new", {}))["sessionId"]
    for prompt in PROMPTS:
        result = await ask(client, session, prompt)
        assert (result["terminal"], result["isError"], result["result"]) == ("completed", False, "Understood.")
        assert prompt in last_asked(api)
    compacted = [each["event"] for each in client.events(session, "compacted")]
    assert [each["trigger"] for each in compacted] == ["reactive"]
    assert "They sent a long text." in compacted[0]["summary"]
    assert not [each for each in client.events(session, "notice") if each["event"]["level"] == "error"]
    await client.close()
    again = await connect(assent={"client": {}}, api=api, home=tmp_path)
    await again.request("assent/session/attach", {"sessionId": session})
    assert (await ask(again, session, "once more"))["result"] == "Understood."
    assert all(prompt in last_asked(api) for prompt in (PROMPTS[1], PROMPTS[2], "once more", "They sent a long text."))
    api.forget()
