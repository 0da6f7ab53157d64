"""MCP servers that an agent's own file defines: there while it runs, and started under the rules for all (T7, T9)."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from fakeapi import FakeApi, Reply, Request, hold, text, tool
from lspclient import Client, Connect, Json
from lspclient.client import PLUGIN
from mcpserver import entry

pytestmark = pytest.mark.asyncio(loop_scope="module")
ASK, ELICIT = "assent/permission/ask", "assent/elicit"


def defined(folder: Path, pid: Path, *flags: str) -> None:
    """An agent with a server of its own; JSON is YAML too."""
    folder.mkdir(parents=True)
    servers = json.dumps([{"db": entry("--pid", str(pid), *flags)}, "elsewhere"])
    words = f"name: keeper\ndescription: looks things up\ntools: Read\nmcpServers: {servers}"
    (folder / "keeper.md").write_text(f"---\n{words}\n---\nYou keep the database.")


async def started(connect: Connect, api: FakeApi, home: Path, root: Path) -> Client:
    client = await connect(assent={"client": dict(PLUGIN), "maxEventRate": 0}, api=api, home=home, root=root)
    client.answers[ASK] = lambda _params: {"decision": "allow", "scope": "once"}
    return client


def of_keeper(request: Request) -> bool:
    return "You keep the database." in str(request.body.get("system"))


def names(request: Request) -> list[str]:
    return [each["name"] for each in request.body.get("tools", [])]


async def called(client: Client, api: FakeApi, session: str, *replies: Reply, wait: str = "") -> list[Request]:
    """Start the agent from a prompt; the agent's own requests. With `wait`, its first answer takes until that server is
    connected: a busy machine may need longer than an agent waits."""
    before = len(api.calls)
    first = Reply(parts=(text("One moment", hold("connected")), tool("ListMcpResources")))
    api.when(of_keeper, *((first,) if wait else ()), *replies)
    api.reply(tool("Agent", description="look", prompt="Look.", subagent_type="keeper"))
    api.reply(text("Done."))
    sending = asyncio.create_task(
        client.request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})
    )
    if wait:
        async with asyncio.timeout(120):
            while wait not in await connected(client):  # noqa: ASYNC110 -- a process notifies nobody here
                await asyncio.sleep(0.05)
            api.release("connected")
    await sending
    return [call for call in api.calls[before:] if of_keeper(call)][bool(wait) :]


async def connected(client: Client) -> list[str]:
    rows = (await client.request("assent/mcp/list", {}))["servers"]
    return [row["name"] for row in rows if row["status"] == "connected"]


async def gone(pid: int) -> None:
    """The server of an agent that ended is told to end; that takes a moment."""
    async with asyncio.timeout(60):
        while True:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return
            await asyncio.sleep(0.02)


async def resting(client: Client) -> None:
    """Its process has ended; that the connection has, too, is noticed a moment later."""
    async with asyncio.timeout(60):
        while True:
            rows = (await client.request("assent/mcp/list", {}))["servers"]
            assert [(row["name"], row["scope"]) for row in rows] == [("keeper/db", "user")]
            if rows[0]["status"] == "idle":
                return
            await asyncio.sleep(0.02)


async def test_an_agent_of_the_user_s_has_its_server_while_it_runs_and_nobody_else_has(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    home, folder, pid = place / "mine-home", place / "mine", place / "mine-pid"
    folder.mkdir()
    defined(home / ".claude" / "agents", pid)
    client = await started(connect, api, home, folder)
    session = (await client.request("assent/session/new", {}))["sessionId"]
    first, second = await called(
        client,
        api,
        session,
        Reply(parts=(tool("mcp__db__echo", text="hello"),)),
        Reply(parts=(text("Found."),)),
        wait="keeper/db",
    )
    assert "mcp__db__echo" in names(first) and "Write" not in names(first)
    assert "ToolSearch" in names(first)
    assert "echo: hello" in json.dumps(second.body["messages"][-1])
    asked = [each["params"]["tool"] for each in client.heard if each.get("method") == ASK]
    assert "mcp__db__echo" in asked, "its calls pass the permission chain"
    assert not any("mcp__db__echo" in names(call) for call in api.calls if not of_keeper(call))
    await gone(int(pid.read_text()))
    await resting(client)
    notices = [each for each in client.heard if "names what is not here: MCP server elsewhere" in json.dumps(each)]
    assert notices, "a server that it only names and nobody configured is told"
    sent = {"sessionId": session, "prompt": "/agents", "wait": True}
    listed = (await client.request("assent/session/send", sent))["result"]["result"]
    assert "keeper: look — finished" in listed and "tokens, $" in listed
    await client.stop()


async def test_a_project_s_agent_brings_its_server_only_after_trust_and_approval(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    home, folder, pid = place / "theirs-home", place / "theirs", place / "theirs-pid"
    defined(folder / ".claude" / "agents", pid, "--tools", "40")
    client = await started(connect, api, home, folder)
    asked: list[Json] = []

    def answer(params: Json) -> Json:
        asked.append(params)
        return {"action": "decline"}

    client.answers[ELICIT] = answer
    trust = {"uri": folder.as_uri()}
    shown = await client.request("assent/trust/get", trust)
    (item,) = [item for item in shown["items"] if item["kind"] == "agent"]
    assert item["dangerous"] and "plain.py" in item["value"], "trust shows what the agent would start"
    await client.request("assent/trust/set", {**trust, "trusted": True, "hash": shown["hash"]})
    session = (await client.request("assent/session/new", {}))["sessionId"]
    (alone,) = await called(client, api, session, Reply(parts=(text("I could not look."),)))
    assert "mcp__db__echo" not in names(alone) and not pid.exists()
    told = [json.dumps(each) for each in client.heard if "works without one of its MCP servers" in json.dumps(each)]
    assert "keeper/db is needsApproval" in told[0]
    await client.until(lambda: any("The agent keeper wants to start" in json.dumps(each) for each in asked))
    (question,) = [each for each in asked if "The agent keeper wants to start" in json.dumps(each)]
    assert "plain.py" in json.dumps(question)
    (row,) = (await client.request("assent/mcp/list", {}))["servers"]
    await client.request("assent/mcp/approve", {"name": "keeper/db", "hash": row["hash"]})
    first, second, third = await called(
        client,
        api,
        session,
        Reply(parts=(tool("ToolSearch", query="select:mcp__db__extra_7"),)),
        Reply(parts=(tool("mcp__db__extra_7", text="x"),)),
        Reply(parts=(text("Found."),)),
        wait="keeper/db",
    )
    assert not any(name.startswith("mcp__db__") for name in names(first)), "49 tools are past the budget"
    assert "mcp__db__extra_7" in names(second)
    assert "extra_7" in json.dumps(third.body["messages"][-1])
    await client.stop()
