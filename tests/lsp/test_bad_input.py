"""Nonsense from the model or the user, through the spawned server: a clear message, and the session goes on (issue 3)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, Reply, text, tool
from lspclient import Client, Connect, RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def new(client: Client, **params: Any) -> str:
    return (await client.request("assent/session/new", params))["sessionId"]


async def say(client: Client, session: str, prompt: Any) -> Any:
    params = {"sessionId": session, "prompt": prompt, "wait": True}
    return (await client.request("assent/session/send", params))["result"]


async def still_alive(client: Client, api: FakeApi, session: str) -> None:
    api.reply(text("alive"))
    assert (await say(client, session, "well?"))["result"] == "alive"


CALLS = [
    ("cut JSON", tool("Read", id="toolu_x", raw_json='{"file_path": "gre'), "cut off before it was complete"),
    ("no JSON", tool("Read", id="toolu_x", raw_json="please read it"), "cut off before it was complete"),
    ("an unknown tool", tool("Teleport", id="toolu_x", to="mars"), "There is no tool named 'Teleport'"),
    ("a missing field", tool("Read", id="toolu_x"), "file_path"),
    ("a wrong type", tool("Read", id="toolu_x", file_path=7), "Expected `str`, got `int`"),
    ("an unknown field", tool("Read", id="toolu_x", file_path="a", colour="red"), "unknown field `colour`"),
]


@pytest.mark.parametrize(("call", "words"), [row[1:] for row in CALLS], ids=[row[0].replace(" ", "-") for row in CALLS])
async def test_a_bad_call_is_answered_with_what_is_wrong(client: Client, api: FakeApi, call: Any, words: str) -> None:
    session = await new(client)
    seen = len(api.calls)
    api.reply(text("Trying."), call)
    api.reply(text("I see."))
    result = await say(client, session, "go")
    assert (result["terminal"], result["result"]) == ("completed", "I see.")
    told = api.calls[seen + 1].tool_results["toolu_x"]
    assert told["is_error"] and words in str(told["content"])
    await still_alive(client, api, session)


@pytest.mark.parametrize("prompt", ["", "  \n", [], [{"type": "text", "text": ""}]])
async def test_an_empty_prompt_is_refused_in_words(client: Client, api: FakeApi, prompt: Any) -> None:
    session = await new(client)
    seen = len(api.requests)
    try:
        said = (await say(client, session, prompt))["result"]
    except RpcError as refused:
        said = str(refused)
    assert "prompt" in said and "empty" in said
    assert len(api.requests) == seen
    await still_alive(client, api, session)


async def test_ten_megabytes_of_prompt_go_to_a_file_the_model_can_read(client: Client, api: FakeApi) -> None:
    session = await new(client)
    seen = len(api.calls)
    words = "all work and no play makes a dull prompt\n" * (10 * 1024 * 1024 // 41)
    api.reply(text("In parts, then."))
    assert (await say(client, session, words))["terminal"] == "completed"
    sent = api.calls[seen]
    assert len(sent.raw) < 200_000
    path = sent.last_text.partition("All of it is in ")[2].partition(";")[0]
    api.reply(tool("Read", id="toolu_p", file_path=path, offset=200_000, limit=1))
    api.reply(text("dull"))
    await say(client, session, "read the end of it")
    assert "no play makes a dull prompt" in str(api.calls[-1].tool_results["toolu_p"]["content"])
    await still_alive(client, api, session)


ABSURD: list[dict[str, Any]] = [
    {"maxTurns": 0},
    {"maxTurns": -1},
    {"maxTurns": "many"},
    {"maxTurns": 1e300},
    {"maxBudgetUsd": -1},
    {"maxBudgetUsd": "rich"},
    {"maxBudgetUsd": math.nan},
    {"taskBudget": -5},
    {"taskBudget": {"total": 0}},
    {"model": ""},
    {"model": 7},
    {"jsonSchema": "a string"},
]


@pytest.mark.parametrize("params", ABSURD, ids=str)
async def test_an_absurd_limit_or_no_model_is_refused_in_words(client: Client, params: dict[str, Any]) -> None:
    with pytest.raises(RpcError) as refused:
        await new(client, **params)
    assert refused.value.kind in ("invalidParams", "invalidRequest")
    assert await new(client)


@pytest.mark.parametrize("tokens", [0, -1, 10**15])
async def test_an_absurd_token_target_does_no_harm(client: Client, api: FakeApi, tokens: int) -> None:
    session = await new(client, maxTurns=3)
    api.otherwise(Reply(parts=(text("done"),)))
    params = {"sessionId": session, "prompt": "go", "wait": True, "tokenBudget": tokens}
    try:
        result = (await client.request("assent/session/send", params))["result"]
    except RpcError as refused:
        assert refused.kind == "invalidParams"
    else:
        assert not result["isError"]


async def test_a_model_nobody_knows_is_told_as_the_endpoint_told_it(client: Client, api: FakeApi) -> None:
    session = await new(client, model="claude-imaginary-9")
    api.expect_refusal()
    result = await say(client, session, "go")
    assert result["isError"] and "claude-imaginary-9" in result["result"]
    await client.request("assent/session/configure", {"sessionId": session, "model": "claude-opus-5"})
    await still_alive(client, api, session)


async def test_a_data_folder_that_takes_nothing_is_named_with_what_to_do(connect: Connect, place: Path) -> None:
    blocked = place / "blocked"
    blocked.write_text("a file where the folder should be")
    client = await connect(env={"XDG_DATA_HOME": str(blocked)}, home=place / "elsewhere")
    with pytest.raises(RpcError) as caught:
        await client.request("assent/session/new", {})
    assert str(blocked) in str(caught.value)
    assert "XDG_DATA_HOME" in caught.value.data["hint"]
