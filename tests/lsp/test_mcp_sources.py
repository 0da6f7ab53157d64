"""Where live MCP servers come from besides settings: plugins and what `assent import` took over; and `/mcp` (T9)."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from fakeapi import FakeApi, text, tool
from lspclient import Client, Connect, Json
from lspclient.client import PLUGIN, RpcError
from mcpserver import entry

pytestmark = pytest.mark.asyncio(loop_scope="module")
ASSENT = str(Path(sys.executable).with_name("assent"))


def assent(home: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "ASSENT_OFFLINE": "1"}
    env |= {f"XDG_{kind.upper()}_HOME": str(home / kind) for kind in ("config", "data", "cache")}
    return subprocess.run([ASSENT, *words], env=env, cwd=cwd, capture_output=True, text=True, timeout=120, check=True)


async def started(connect: Connect, api: FakeApi | None, home: Path, root: Path) -> Client:
    return await connect(assent={"client": dict(PLUGIN), "maxEventRate": 0}, api=api, home=home, root=root)


async def servers(client: Client) -> list[Json]:
    return (await client.request("assent/mcp/list", {}))["servers"]


async def state(client: Client, name: str, status: str) -> Json:
    async with asyncio.timeout(60):
        while True:
            found = next(server for server in await servers(client) if server["name"] == name)
            if found["status"] == status:
                return found
            await asyncio.sleep(0.05)


async def said(client: Client, session: str, prompt: str) -> str:
    params = {"sessionId": session, "prompt": prompt, "wait": True}
    return (await client.request("assent/session/send", params))["result"]["result"]


async def test_a_plugin_s_server_runs_after_trust_and_approval_under_its_own_name(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    home, folder, plugin = place / "plugin-home", place / "plugin-project", place / "tools"
    folder.mkdir()
    home.mkdir()
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": "tools"}))
    server = entry("--pid", "${ASSENT_PLUGIN_ROOT}/../../pid")
    (plugin / ".mcp.json").write_text(json.dumps({"mcpServers": {"plain": server}}))
    assent(home, folder, "plugin", "add", str(plugin), "--yes")
    client = await started(connect, api, home, folder)
    client.answers["assent/elicit"] = lambda params: {"action": "decline"}
    await client.request("assent/session/new", {})
    name = "plugin:tools:plain"
    waiting = await state(client, name, "needsApproval")
    assert "not trusted" in waiting["error"] and "hash" not in waiting
    with pytest.raises(RpcError) as refused:
        await client.request("assent/mcp/approve", {"name": name, "hash": "0" * 64})
    assert refused.value.kind == "untrusted"
    await client.request("assent/trust/set", {"uri": folder.as_uri(), "trusted": True, "remember": "session"})
    waiting = await state(client, name, "needsApproval")
    assert "plain.py" in waiting["change"] and "${" not in waiting["change"], "the names are expanded"
    await client.request("assent/mcp/approve", {"name": name, "hash": waiting["hash"]})
    await state(client, name, "connected")
    assert list((home / "data").rglob("pid")), "the plugin's folder was filled in"
    session = (await client.request("assent/session/new", {}))["sessionId"]
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow", "scope": "once"}
    before = len(api.calls)
    api.reply(tool("mcp__plugin_tools_plain__echo", text="hello"))
    api.reply(text("Done."))
    await said(client, session, "go")
    assert "echo: hello" in json.dumps(api.calls[before + 1].body["messages"][-1])
    await client.stop()


@pytest.mark.parametrize("kind", ["project", "plugin"])
async def test_a_server_that_is_exchanged_while_its_call_is_asked_about_is_not_started_by_the_answer(
    connect: Connect, api: FakeApi, place: Path, kind: str
) -> None:
    """The person allowed a call of the server that was approved, and of no other (P4)."""
    folder, home, mark = place / f"{kind}-swapped", place / f"{kind}-swapped-home", place / f"{kind}-mark"
    folder.mkdir()
    home.mkdir()
    plain = entry()
    changed = {"command": "sh", "args": ["-c", f'touch {mark}; exec "$0" "$@"', plain["command"], *plain["args"]]}
    if kind == "plugin":
        source = place / "swapped-plugin"
        (source / ".claude-plugin").mkdir(parents=True)
        (source / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": "tools"}))
        (source / ".mcp.json").write_text(json.dumps({"mcpServers": {"plain": plain}}))
        assent(home, folder, "plugin", "add", str(source), "--yes")
        (file,) = [path for path in (home / "data").rglob(".mcp.json") if path.is_file()]
        name, called = "plugin:tools:plain", "mcp__plugin_tools_plain__echo"
    else:
        file = folder / ".mcp.json"
        file.write_text(json.dumps({"mcpServers": {"plain": plain}}))
        name, called = "plain", "mcp__plain__echo"
    client = await started(connect, api, home, folder)
    client.answers["assent/elicit"] = lambda _params: {"action": "decline"}
    client.answers["window/showMessageRequest"] = lambda _params: None
    await client.request("assent/session/new", {})
    shown = await client.request("assent/trust/get", {"uri": folder.as_uri()})
    trust = {"uri": folder.as_uri(), "trusted": True, "remember": "session", "hash": shown["hash"]}
    await client.request("assent/trust/set", trust)
    session = (await client.request("assent/session/new", {}))["sessionId"]
    waiting = await state(client, name, "needsApproval")
    await client.request("assent/mcp/approve", {"name": name, "hash": waiting["hash"], "sessionId": session})
    await state(client, name, "connected")
    asked: list[Json] = []

    async def exchanged(params: Json) -> Json:
        asked.append(params)
        file.write_text(json.dumps({"mcpServers": {"plain": changed}}))
        async with asyncio.timeout(60):
            while "connected" in [each["status"] for each in await servers(client)]:  # noqa: ASYNC110 -- seen by looking
                await asyncio.sleep(0.05)
        return {"decision": "allow"}

    client.answers["assent/permission/ask"] = exchanged
    api.reply(tool(called, text="hello"))
    api.reply(text("Done."))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})
    assert len(asked) == 1 and not mark.exists()
    assert "echo: hello" not in api.calls[-1].last_text
    await client.stop()


async def test_a_server_that_import_took_over_is_live_and_mcp_shows_and_switches_it(
    connect: Connect, place: Path
) -> None:
    home, folder = place / "import-home", place / "import-project"
    folder.mkdir()
    (home / ".cursor").mkdir(parents=True)
    (home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": {"plain": entry()}}))
    assent(home, folder, "import", "--all")
    client = await started(connect, None, home, folder)
    session = (await client.request("assent/session/new", {}))["sessionId"]
    found = await state(client, "plain", "connected")
    assert (found["scope"], found["tools"]) == ("user", 9)
    listed = await said(client, session, "/mcp")
    assert "**plain**: connected (user, stdio, legacy, 9 tools" in listed
    shown = await client.request("assent/mcp/show", {"name": "plain"})
    assert [each["tool"] for each in shown["tools"]][:2] == ["echo", "ask"]
    assert sum(each["tokens"] for each in shown["tools"]) == found["tokens"]
    assert shown["instructions"] == "Be plain."
    assert "plain server started" in shown["log"]
    assert shown["prompts"] == [{"name": "review", "description": "Review it."}]
    words = await said(client, session, "/mcp show plain")
    assert "`mcp__plain__echo`" in words and "plain server started" in words
    assert "disabled" in await said(client, session, "/mcp disable plain")
    assert "no MCP server nobody" in await said(client, session, "/mcp restart nobody")
    await said(client, session, "/mcp enable plain")
    assert "connected" in await said(client, session, "/mcp restart plain")
    await client.stop()


async def test_servers_of_the_editor_s_user_settings_run_without_approval_and_those_of_a_workspace_s_do_not(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    folder, pids = place / "editor-project", place / "editor-pids"
    folder.mkdir()
    pids.mkdir()

    async def opened(level: Json) -> tuple[Client, str]:
        """An editor that hands over a server with its settings."""
        marked = level.get("settingsLevel", "project")
        servers = {"plain": entry("--pid", str(pids / marked))}
        options = {"client": dict(PLUGIN), "maxEventRate": 0, "settings": {"mcpServers": servers}, **level}
        client = await connect(assent=options, api=api, home=place / f"editor-{marked}", root=folder)
        client.answers["assent/elicit"] = lambda _params: {"action": "decline"}
        client.answers["assent/permission/ask"] = lambda _params: {"decision": "allow", "scope": "once"}
        return client, (await client.request("assent/session/new", {}))["sessionId"]

    client, session = await opened({"settingsLevel": "user"})
    found = await state(client, "plain", "connected")
    assert (found["scope"], "hash" in found) == ("user", False)
    before = len(api.calls)
    api.reply(tool("mcp__plain__echo", text="from the editor"))
    api.reply(text("Done."))
    await said(client, session, "go")
    assert "echo: from the editor" in json.dumps(api.calls[before + 1].body["messages"][-1])
    assert not [m for m in client.heard if m.get("method") == "assent/elicit"], "nobody was asked to approve it"
    await client.stop()
    client, _session = await opened({})
    assert (await client.request("assent/mcp/list", {}))["servers"] == [], "a file of the workspace may have named it"
    shown = await client.request("assent/trust/get", {"uri": folder.as_uri()})
    trust = {"uri": folder.as_uri(), "trusted": True, "remember": "session", "hash": shown["hash"]}
    await client.request("assent/trust/set", trust)
    waiting = await state(client, "plain", "needsApproval")
    assert (waiting["scope"], waiting["error"]) == ("editor", "nobody approved it yet")
    assert not (pids / "project").exists()
    await client.stop()
