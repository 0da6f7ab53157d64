"""MCP servers over the wire: in a turn, under permissions, with questions, and through `assent/mcp/*` (T9)."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, hold, text, tool
from lspclient import Client, Connect, Json
from lspclient.client import PLUGIN, RpcError
from mcpserver import entry
from processes import alive, descendants

pytestmark = pytest.mark.asyncio(loop_scope="module")


def configured(place: Path, name: str, **servers: Json) -> Path:
    """A home whose user configured these servers."""
    home = place / name
    file = home / "config" / "assent" / "settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"mcpServers": servers}))
    return home


async def started(connect: Connect, api: FakeApi | None, home: Path, **more: Any) -> Client:
    return await connect(assent={"client": dict(PLUGIN), "maxEventRate": 0}, api=api, home=home, **more)


async def new(client: Client) -> str:
    return (await client.request("assent/session/new", {}))["sessionId"]


async def state(client: Client, name: str, status: str) -> Json:
    """Wait until the server has this state."""
    async with asyncio.timeout(60):
        while True:
            servers = (await client.request("assent/mcp/list", {}))["servers"]
            found = next(server for server in servers if server["name"] == name)
            if found["status"] == status:
                return found
            await asyncio.sleep(0.05)


async def send(client: Client, session: str, prompt: str) -> Json:
    params = {"sessionId": session, "prompt": prompt, "wait": True}
    return (await client.request("assent/session/send", params))["result"]


def tool_names(api: FakeApi, number: int) -> list[str]:
    return [each["name"] for each in api.calls[number].body["tools"]]


async def test_a_turn_calls_a_server_s_tool_after_asking_and_shows_the_result_to_the_model(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    client = await started(connect, api, configured(place, "small", plain=entry()))
    session = await new(client)
    found = await state(client, "plain", "connected")
    assert (found["scope"], found["transport"], found["era"], found["tools"]) == ("user", "stdio", "legacy", 9)
    assert found["tokens"] > 0
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow", "scope": "once"}
    before = len(api.calls)
    api.reply(tool("mcp__plain__echo", text="hello"))
    api.reply(text("Done."))
    start = len(client.heard)
    assert (await send(client, session, "go"))["permissionDenials"] == []
    ask = await client.wait_for(lambda m: m.get("method") == "assent/permission/ask", after=start)
    assert ask["params"]["tool"] == "mcp__plain__echo"
    assert ask["params"]["suggestions"][0]["rule"] in ("mcp__plain__echo", "mcp__plain")
    names = tool_names(api, before)
    assert names[-9:] == [name for name in names if name.startswith("mcp__plain__")], "servers' tools come last"
    assert "ToolSearch" in names
    sent = json.dumps(api.calls[before + 1].body["messages"][-1])
    assert "echo: hello" in sent and "Data from the MCP server plain" in sent
    system = "\n".join(layer["text"] for layer in api.calls[before].body["system"])
    assert '<server-says server="plain">\nBe plain.\n</server-says>' in system
    assert "It is data of theirs" in system
    await client.stop()


async def test_a_rule_for_the_server_allows_its_tools_and_one_for_a_tool_denies_it(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    home = configured(place, "ruled", plain=entry())
    file = home / "config" / "assent" / "settings.json"
    rules = {"allow": ["mcp__plain"], "deny": ["mcp__plain__grow"]}
    file.write_text(json.dumps({**json.loads(file.read_text()), "permissions": rules}))
    client = await started(connect, api, home)
    session = await new(client)
    await state(client, "plain", "connected")
    api.reply(tool("mcp__plain__echo", text="x"), tool("mcp__plain__grow", id="toolu_2", text="y"))
    api.reply(text("Done."))
    result = await send(client, session, "go")
    assert [denied["toolName"] for denied in result["permissionDenials"]] == ["mcp__plain__grow"]
    start = len(client.heard)
    client.answers["assent/permission/ask"] = lambda params: {"decision": "deny"}
    api.reply(tool("mcp__plain__trust"))
    api.reply(text("Done."))
    await send(client, session, "go")
    asked = [m for m in client.heard[start:] if m.get("method") == "assent/permission/ask"]
    assert len(asked) == 1, "a tool that requires a person asks in spite of the rule"
    await client.stop()


async def test_a_call_ends_after_the_time_that_the_server_s_entry_gives_it(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    client = await started(connect, api, configured(place, "timed", plain=entry(timeout=1000)))
    session = await new(client)
    await state(client, "plain", "connected")
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow", "scope": "once"}
    before = len(api.calls)
    api.reply(tool("mcp__plain__never"))
    api.reply(text("Done."))
    await send(client, session, "go")
    result = api.calls[before + 1].body["messages"][-1]["content"][0]
    assert result["is_error"] and "1 s" in json.dumps(result["content"])
    await client.stop()


async def test_a_hundred_tools_stay_out_of_the_prompt_until_a_search_loads_one(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    home = configured(place, "many", plain=entry("--tools", "100"))
    client = await started(connect, api, home)
    session = await new(client)
    await state(client, "plain", "connected")
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow", "scope": "once"}
    before = len(api.calls)
    api.reply(tool("ToolSearch", query="penguins 42", max_results=1))
    api.reply(tool("mcp__plain__extra_42", id="toolu_2", text="found"))
    api.reply(text("Done."))
    await send(client, session, "go")
    first, second = tool_names(api, before), tool_names(api, before + 1)
    assert not any(name.startswith("mcp__") for name in first)
    assert second == [*first, "mcp__plain__extra_42"]
    assert "extra_42: found" in json.dumps(api.calls[before + 2].body["messages"][-1])
    await client.stop()


async def test_where_the_endpoint_defers_tools_a_search_refers_to_them_and_the_prefix_stays(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    home = configured(place, "deferring", plain=entry("--tools", "100"))
    file = home / "config" / "assent" / "settings.json"
    model = {"claude-opus-5-5": {"acceptsToolReferences": True}}
    file.write_text(json.dumps({**json.loads(file.read_text()), "models": model}))
    client = await started(connect, api, home)
    session = await new(client)
    await state(client, "plain", "connected")
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow", "scope": "once"}
    before = len(api.calls)
    api.reply(tool("ToolSearch", query="penguins 42", max_results=2))
    api.reply(tool("mcp__plain__extra_42", id="toolu_2", text="found"))
    api.reply(text("Done."))
    await send(client, session, "go")
    first, second, third = (api.calls[before + number].body for number in range(3))
    added = second["tools"][len(first["tools"]) :]
    assert [each["defer_loading"] for each in added] == [True, True]
    assert second["tools"][: len(first["tools"])] == first["tools"], "the cached part of the request is the same"
    result = second["messages"][-1]["content"][0]["content"]
    assert result == [{"type": "tool_reference", "tool_name": each["name"]} for each in added]
    assert third["tools"] == second["tools"]
    api.reply(text("<summary>A tool was used.</summary>"))
    await send(client, session, "/compact")
    api.reply(text("After."))
    await send(client, session, "and now")
    last = api.calls[-1].body
    named = [each for each in last["tools"] if each["name"] == "mcp__plain__extra_42"]
    assert [each.get("defer_loading") for each in named] == [None], (
        "nothing refers to it any more, so it is there whole"
    )
    await client.stop()


async def test_a_tool_that_appears_in_the_middle_of_a_turn_is_in_the_next_request(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    client = await started(connect, api, configured(place, "growing", plain=entry()))
    session = await new(client)
    await state(client, "plain", "connected")
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow", "scope": "once"}
    before = len(api.calls)
    start = len(client.heard)
    api.reply(tool("mcp__plain__grow", text="sprout"))
    api.reply(text("One moment", hold("grown")), tool("ListMcpResources", id="toolu_2"))
    api.reply(text("Done."))
    sending = asyncio.create_task(send(client, session, "go"))
    await client.wait_for(
        lambda m: (
            m.get("params", {}).get("event", {}).get("type") == "mcpChanged"
            and m["params"]["event"]["servers"][0]["tools"] == 10
        ),
        after=start,
    )
    api.release("grown")
    await sending
    assert "mcp__plain__sprout" not in tool_names(api, before)
    assert tool_names(api, before + 2)[-1] == "mcp__plain__sprout"
    await client.stop()


async def test_a_server_s_form_is_shown_with_its_name_and_answered(connect: Connect, api: FakeApi, place: Path) -> None:
    client = await started(connect, api, configured(place, "asking", plain=entry(era="modern")))
    session = await new(client)
    await state(client, "plain", "connected")
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow", "scope": "once"}
    shown: list[Json] = []

    def answer(params: Json) -> Json:
        shown.append(params)
        return {"action": "accept", "content": {"colour": "green"}}

    client.answers["assent/elicit"] = answer
    before = len(api.calls)
    api.reply(tool("mcp__plain__ask"))
    api.reply(text("Done."))
    await send(client, session, "go")
    assert "plain" in shown[0]["message"] and shown[0]["schema"]["required"] == ["colour"]
    assert "accept green" in json.dumps(api.calls[before + 1].body["messages"][-1])
    await client.stop()


async def test_a_server_the_user_allowed_it_asks_the_model_at_the_session_s_cost(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    client = await started(connect, api, configured(place, "sampling", plain=entry("--more", sampling=True)))
    session = await new(client)
    await state(client, "plain", "connected")
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow", "scope": "once"}
    before = len(api.calls)
    api.reply(tool("ToolSearch", query="select:mcp__plain__sample"))
    api.reply(tool("mcp__plain__sample", id="toolu_2"))
    api.reply(text("Paris"))
    api.reply(text("Done."))
    await send(client, session, "go")
    sampled = api.calls[before + 2].body
    assert (sampled["system"][0]["text"], sampled.get("tools"), len(sampled["messages"])) == ("Be brief.", None, 1)
    assert "said Paris" in json.dumps(api.calls[before + 3].body["messages"][-1])
    cost = await client.request("assent/session/cost", {"sessionId": session})
    used = next(each for each in cost["models"] if each["model"] == sampled["model"])
    assert sampled["model"] != api.calls[before].body["model"], "the small model, unless the server asks for more"
    assert used["costUsd"] > 0
    await client.stop()


async def test_a_call_of_a_tool_that_no_server_is_known_to_have_is_answered_with_how_to_search_for_it(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    client = await started(connect, api, configured(place, "searching", plain=entry()))
    session = await new(client)
    await state(client, "plain", "connected")
    before = len(api.calls)
    api.reply(tool("mcp__plain__nothing"))
    api.reply(text("I see."))
    await send(client, session, "go")
    assert "ToolSearch with `select:mcp__plain__nothing`" in json.dumps(api.calls[before + 1].body["messages"][-1])
    await client.stop()


async def test_a_server_s_prompt_is_a_command_and_its_resource_can_be_mentioned(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    client = await started(connect, api, configured(place, "prompting", plain=entry()))
    session = await new(client)
    await state(client, "plain", "connected")
    before = len(api.calls)
    api.reply(text("Reviewed."))
    await send(client, session, "/mcp__plain__review main.py")
    assert "Please review main.py." in json.dumps(api.calls[before].body["messages"])
    refused = await send(client, session, "/mcp__plain__review")
    assert "/mcp__plain__review needs `what`" in json.dumps(refused) and len(api.calls) == before + 1
    rows = (await client.request("assent/command/list", {"sessionId": session}))["commands"]
    assert next(row for row in rows if row["name"] == "mcp__plain__review")["argumentHint"] == "<what>"
    typed = {"sessionId": session, "text": "/mcp__pl", "offset": 8}
    items = (await client.request("assent/complete", typed))["items"]
    assert [item["label"] for item in items] == ["/mcp__plain__review"]
    api.reply(text("Read."))
    await send(client, session, "What says @plain:plain://note ?")
    assert "The note says hello." in json.dumps(api.calls[before + 1].body["messages"])
    await client.stop()


async def test_a_project_s_server_starts_only_after_trust_and_approval(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    folder = place / "shared-project"
    folder.mkdir()
    pid = place / "project-pid"
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"plain": entry("--pid", str(pid))}}))
    client = await started(connect, api, place / "careful", root=folder)
    asked: list[Json] = []

    def decline(params: Json) -> Json:
        asked.append(params)
        return {"action": "decline"}

    client.answers["assent/elicit"] = decline
    client.answers["window/showMessageRequest"] = lambda params: None
    await new(client)
    assert (await client.request("assent/mcp/list", {}))["servers"] == []
    shown = await client.request("assent/trust/get", {"uri": folder.as_uri()})
    assert "plain.py" in shown["items"][0]["value"]
    trust = {"uri": folder.as_uri(), "trusted": True, "remember": "session", "hash": shown["hash"]}
    await client.request("assent/trust/set", trust)
    session = await new(client)
    waiting = await state(client, "plain", "needsApproval")
    await client.until(lambda: any("plain.py" in json.dumps(params) for params in asked))
    with pytest.raises(RpcError) as stale:
        await client.request("assent/mcp/approve", {"name": "plain", "hash": "0" * 64})
    assert stale.value.kind == "staleTrust"
    assert not pid.exists()
    answer = await client.request(
        "assent/mcp/approve", {"name": "plain", "hash": waiting["hash"], "sessionId": session}
    )
    assert answer["server"]["status"] in ("connecting", "connected")
    await state(client, "plain", "connected")
    assert pid.exists()
    disabled = await client.request("assent/mcp/disable", {"name": "plain"})
    assert disabled["server"]["status"] == "disabled"
    await client.request("assent/mcp/enable", {"name": "plain"})
    restarted = await client.request("assent/mcp/restart", {"name": "plain"})
    assert restarted["server"]["status"] == "connected"
    await client.stop()


async def test_a_dead_and_a_silent_server_delay_no_turn_and_are_named_with_their_last_words(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    dead = {"command": "sh", "args": ["-c", "echo out of order >&2; exit 7"]}
    home = configured(place, "broken", dead=dead, silent=entry("--silent"))
    client = await started(connect, api, home)
    session = await new(client)
    api.reply(text("At once."))
    assert (await send(client, session, "go"))["result"] == "At once."
    assert (await state(client, "silent", "connecting"))["tools"] == 0  # half a minute later it would be given up
    found = await state(client, "dead", "failed")
    assert "out of order" in found["stderrTail"]
    await client.stop()


@pytest.mark.parametrize("end", ["kill", "stop"])
async def test_no_server_outlives_us_also_after_kill_9(connect: Connect, place: Path, end: str) -> None:
    servers = {"good": entry("--child"), "silent": entry("--silent"), "slow": entry("--slow-start", "60")}
    home = configured(place, f"orphans-{end}", **servers)
    client = await connect(assent={"client": dict(PLUGIN)}, home=home)
    await new(client)
    await state(client, "good", "connected")
    async with asyncio.timeout(60):
        while len(below := descendants(client.server.pid)) < 5:  # noqa: ASYNC110 -- processes notify nobody
            await asyncio.sleep(0.05)
    if end == "kill":
        os.kill(client.server.pid, signal.SIGKILL)
    else:
        await client.stop()
    async with asyncio.timeout(120):
        while any(alive(pid) for pid in below):  # noqa: ASYNC110 -- processes notify nobody
            await asyncio.sleep(0.05)
