"""Agents over the wire, in the whole program: a worktree of one's own, its review, its conversation, its end (T7, S5)."""

import asyncio
import os
import signal
import subprocess
from pathlib import Path

import pytest

from fakeapi import FakeApi, Reply, Request, hold, text, tool
from lspclient import Client, Connect, Json
from lspclient.client import PLUGIN, RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")
ASK = "assent/permission/ask"


def committed(folder: Path) -> None:
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first", "--allow-empty"]):
        subprocess.run([*git, *command], cwd=folder, check=True)


def of_agent(request: Request) -> bool:
    return "working for another agent" in str(request.body.get("system"))


async def new(client: Client) -> str:
    return (await client.request("assent/session/new", {}))["sessionId"]


async def test_an_isolated_agent_in_the_whole_program(connect: Connect, api: FakeApi, workspace: Path) -> None:  # T7
    path = workspace / "greeter.py"
    committed(workspace)
    client = await connect(assent={"client": dict(PLUGIN)}, api=api, root=workspace)
    asked: list[Json] = []

    def answer(params: Json) -> Json:
        asked.append(params)
        return {"decision": "allow"}

    client.answers[ASK] = answer
    before = path.read_text()
    document = client.open(path)
    api.when(
        of_agent,
        Reply(parts=(tool("Read", file_path="greeter.py"),)),
        Reply(parts=(tool("Edit", file_path="greeter.py", old_string="Helo", new_string="Hello"),)),
        Reply(parts=(tool("Bash", command="cat greeter.py"),)),
        Reply(parts=(text("Mended."),)),
    )
    api.reply(tool("Agent", id="toolu_a", description="mend", prompt="Mend it.", isolation="worktree"))
    api.reply(text("Done."))
    session = await new(client)
    await client.request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})
    assert [ask["tool"] for ask in asked] == ["Agent", "Write"]
    assert asked[1]["parentToolUseId"] == "toolu_a" and asked[1]["proposal"]["uri"] == path.as_uri()
    assert document.text == before.replace("Helo", "Hello")  # through the editor, which has it open
    result = str(api.calls[-1].tool_results["toolu_a"]["content"])
    assert "Mended." in result and "greeter.py" in result
    assert "Hello" in str([call for call in api.calls if of_agent(call)][-1].messages)
    assert not (workspace / ".worktrees").exists()
    (run,) = (await client.request("assent/agent/list", {"sessionId": session}))["agents"]
    assert (run["state"], run["background"]) == ("finished", False) and run["tokens"] > 0
    page = await client.request("assent/agent/read", {"sessionId": session, "agentId": run["agentId"]})
    assert "Mend it." in str(page["messages"][0]["content"]) and page["agent"]["state"] == "finished"
    with pytest.raises(RpcError) as refused:
        await client.request("assent/agent/read", {"sessionId": session, "agentId": "none"})
    assert refused.value.kind == "invalidRequest"
    with pytest.raises(RpcError) as ended:
        await client.request("assent/job/foreground", {"sessionId": session, "jobId": run["agentId"]})
    assert ended.value.kind == "invalidRequest"
    await client.stop()


async def test_a_server_killed_with_a_worktree_open_leaves_none_after_the_next_start(
    connect: Connect, api: FakeApi, workspace: Path
) -> None:
    committed(workspace)
    client = await connect(assent={"client": dict(PLUGIN)}, api=api, root=workspace)
    client.answers[ASK] = lambda params: {"decision": "allow"}
    api.when(of_agent, Reply(parts=(text("Work", hold("working"), "ing."),)))
    api.reply(tool("Agent", description="mend", prompt="Mend it.", isolation="worktree"))
    session = await new(client)
    await client.request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": False})
    async with asyncio.timeout(60):
        await api.reached("working")
    (left,) = (workspace / ".worktrees").glob("agent-*")
    os.kill(client.server.pid, signal.SIGKILL)
    await client.close()
    api.release("working")
    assert left.is_dir()
    second = await connect(assent={"client": dict(PLUGIN)}, api=api, root=workspace)
    api.reply(text("Here."))
    again = await new(second)
    await second.request("assent/session/send", {"sessionId": again, "prompt": "hi", "wait": True})
    async with asyncio.timeout(60):  # one goes after the other
        while any(each.exists() for each in (left, workspace / ".worktrees", workspace / ".git" / "worktrees")):
            await second.request("assent/session/list", {})
    await second.stop()


async def test_hooks_in_an_agents_header_run_for_what_it_does_and_for_nothing_else(  # H
    connect: Connect, api: FakeApi, workspace: Path, tmp_path: Path
) -> None:
    home, heard = tmp_path / "home", tmp_path / "heard"
    agents = home / ".claude" / "agents"
    agents.mkdir(parents=True)
    line = f"python3 -c 'import json,sys; print(json.load(sys.stdin)[\\\"hook_event_name\\\"])' >> {heard}"
    (agents / "keen.md").write_text(
        "---\nname: keen\ndescription: looks\nhooks:\n"
        f'  PreToolUse:\n    - matcher: Read\n      hooks:\n        - type: command\n          command: "{line}"\n'
        f'  Stop:\n    - hooks:\n        - type: command\n          command: "{line}"\n'
        "---\nYou are keen.\n"
    )
    client = await connect(assent={"client": dict(PLUGIN)}, api=api, root=workspace, home=home)
    read = tool("Read", file_path=str(workspace / "greeter.py"))
    api.when(
        lambda request: "You are keen." in str(request.body.get("system")),
        Reply(parts=(read,)),
        Reply(parts=(text("Seen."),)),
    )
    api.reply(read)
    api.reply(tool("Agent", description="look", prompt="Look.", subagent_type="keen"))
    api.reply(read)
    api.reply(text("Done."))
    session = await new(client)
    await client.request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})
    assert heard.read_text().split() == ["PreToolUse", "SubagentStop"]
    await client.stop()
