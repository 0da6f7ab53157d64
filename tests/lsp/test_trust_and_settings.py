"""What the workspace may switch on, and what the editor hands over."""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lspclient import Client, Connect, Json, RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")


def project_settings(place: Path, name: str, values: Json) -> Path:
    folder = place / name
    (folder / ".assent").mkdir(parents=True, exist_ok=True)
    (folder / ".assent" / "settings.json").write_text(json.dumps(values))
    return folder


async def decision(client: Client, cwd: Path, command: str) -> str:
    """What becomes of a command: asked about (and then denied), denied by a rule, or run."""
    session = (await client.request("assent/session/new", {"cwd": str(cwd)}))["sessionId"]
    client.answers["assent/permission/ask"] = lambda params: {"decision": "deny", "message": "asked"}
    params = {"name": "Bash", "input": {"command": command}, "sessionId": session}
    try:
        await client.request("assent/tool/run", params)
    except RpcError as error:
        assert error.kind == "permissionDenied"
        return "asked" if "asked" in str(error) else "denied"
    return "ran"


async def trust(client: Client, folder: Path) -> None:
    """As a client does it: look at what is to be trusted, then say yes to just that."""
    shown = await client.request("assent/trust/get", {"uri": folder.as_uri()})
    answer = {"uri": folder.as_uri(), "trusted": True, "remember": "session", "hash": shown["hash"]}
    await client.request("assent/trust/set", answer)


async def test_trust_is_asked_once_at_the_first_session_that_needs_it(connect: Connect, place: Path) -> None:
    folder = project_settings(place, "untrusted", {"permissions": {"allow": ["Bash(echo:*)"], "deny": ["Bash(true)"]}})
    client = await connect(assent={"client": {"permissions": True}}, root=folder, home=place / "trust")
    asked: list[Json] = []

    def no_answer_yet(params: Json) -> Any:
        asked.append(params)
        return None

    client.answers["window/showMessageRequest"] = no_answer_yet
    await client.request("assent/session/list", {})
    assert asked == []  # never at initialize
    assert await decision(client, folder, "echo hi > out.txt") == "asked"
    assert await decision(client, folder, "true") == "denied"  # its deny rules hold all the same
    await client.until(lambda: len(asked) == 1)
    assert "never asks for Bash(echo:*)" in asked[0]["message"]
    status = await client.wait_notification("assent/status")
    assert status["trust"][0]["trusted"] is False
    assert "allow rules" in status["trust"][0]["withheld"][0]
    await client.request("assent/session/new", {})
    assert len(asked) == 1
    await trust(client, folder)
    got = await client.request("assent/settings/get", {})
    assert got["settings"]["permissions"]["allow"] == ["Bash(echo:*)"]
    await client.stop()


async def test_a_yes_is_remembered_by_the_next_server(connect: Connect, place: Path) -> None:
    folder = project_settings(place, "trusted", {"permissions": {"allow": ["Bash(echo:*)"]}})
    first = await connect(assent={}, root=folder, home=place / "remember")
    first.answers["window/showMessageRequest"] = lambda params: {"title": "Trust this folder"}
    await first.request("assent/session/new", {})
    asked = await first.wait_notification("window/showMessageRequest")
    assert asked["actions"][0]["title"] == "Stay restricted", "editors pre-select the first: it is no yes"
    await first.wait_for(lambda m: m.get("method") == "assent/status" and m["params"]["trust"][0]["trusted"])
    await first.stop()
    second = await connect(assent={}, root=folder, home=place / "remember")
    status = await second.wait_notification("assent/status")
    assert status["trust"][0]["trusted"] is True


async def test_the_client_may_vouch_for_its_workspace(connect: Connect, place: Path) -> None:
    folder = project_settings(place, "vouched", {"permissions": {"allow": ["Bash(echo:*)"]}})
    client = await connect(assent={"trusted": True}, root=folder, home=place / "vouch")
    status = await client.wait_notification("assent/status")
    assert status["trust"][0]["trusted"] is True


async def test_editor_settings_are_pulled_pushed_and_laid_over(connect: Connect, place: Path) -> None:
    capabilities: Json = {"workspace": {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": True}}}
    pulled: Json = {"maxTurns": 7}
    client = await connect(
        assent={"settings": {"maxTurns": 3, "review": "after"}, "settingsLevel": "user", "trusted": True},
        capabilities=capabilities,
        home=place / "editor",
        initialize=False,
    )
    client.answers["workspace/configuration"] = lambda params: [pulled]
    client.answers["client/registerCapability"] = lambda params: None
    await client.initialize(
        place,
        assent={"settings": {"maxTurns": 3, "review": "after"}, "settingsLevel": "user"},
        capabilities=capabilities,
    )
    await client.wait_for(lambda m: m.get("method") == "workspace/configuration")

    async def settled(key: str, value: Any) -> None:
        async with asyncio.timeout(60):
            while (await client.request("assent/settings/get", {"key": key}))["value"] != value:
                pass

    await settled("maxTurns", 7)
    await settled("review", "after")
    registered = await client.wait_for(lambda m: m.get("method") == "client/registerCapability")
    assert registered["params"]["registrations"][0]["method"] == "workspace/didChangeConfiguration"
    pulled["maxTurns"] = 9
    client.notify("workspace/didChangeConfiguration", {"settings": None})
    await settled("maxTurns", 9)
    client.notify("workspace/didChangeConfiguration", {"settings": {"assent": {"maxTurns": 11}}})
    await settled("maxTurns", 11)


async def test_the_log_is_in_the_data_folder_and_holds_no_bodies(connect: Connect, place: Path) -> None:
    client = await connect(assent={"apiKey": "sk-ant-secret-0123456789"}, home=place / "logs")
    await client.request("assent/session/new", {"title": "not for the log"})
    client.raw(b"Content-Length: 5\r\n\r\nhello")
    await client.stop()
    logs = _logs(place / "logs")
    assert "not for the log" not in logs
    assert "sk-ant-secret-0123456789" not in logs


def _logs(home: Path) -> str:
    return "".join(path.read_text() for path in (home / "data").rglob("*.log"))


async def test_status_names_the_file_and_key_of_a_bad_setting(connect: Connect, place: Path) -> None:
    folder = project_settings(place, "misspelt", {"maxTurns": "many"})
    client = await connect(assent={"client": {}}, root=folder, home=place / "misspelt-home")
    status = await client.wait_notification("assent/status")
    assert [warning["kind"] for warning in status["warnings"]] == ["settings"]
    assert "settings.json" in status["warnings"][0]["text"] and "maxTurns" in status["warnings"][0]["text"]
    await client.stop()


def _names_settings(message: Json, *, times: int) -> bool:
    """A status whose warnings are just so many about a settings file."""
    if message.get("method") != "assent/status":
        return False
    return ["settings.json" in warning["text"] for warning in message["params"]["warnings"]] == [True] * times


async def test_status_follows_a_settings_file_that_breaks_and_is_mended(connect: Connect, place: Path) -> None:
    folder = project_settings(place, "breaking", {})
    client = await connect(assent={"client": {}}, root=folder, home=place / "breaking-home")
    await client.wait_notification("assent/status")
    for text, broken in (('{"permissions": ', True), ("{}", False)):
        before = len(client.heard)
        (folder / ".assent" / "settings.json").write_text(text)
        await client.wait_for(partial(_names_settings, times=broken), after=before)
    await client.stop()


async def test_a_project_s_mcp_servers_are_listed_once_it_is_trusted_and_wait_for_approval(
    connect: Connect, place: Path
) -> None:
    folder = project_settings(place, "eager", {"hooks": {"Stop": [{"hooks": []}]}})
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"files": {"command": "sh"}}}))
    client = await connect(assent={"client": {}}, root=folder, home=place / "eager-home")
    client.answers["window/showMessageRequest"] = lambda params: None
    status = await client.wait_notification("assent/status")
    assert ".mcp.json: mcpServers (files)" in status["trust"][0]["withheld"]
    assert await client.request("assent/mcp/list", {}) == {"servers": [], "withheld": 1}
    await trust(client, folder)
    known = [{"name": "files", "status": "needsApproval"}]
    listed = (await client.request("assent/mcp/list", {}))["servers"]
    assert [(server["name"], server["status"], server["shown"]) for server in listed] == [
        ("files", "needsApproval", "command: sh")
    ]
    assert (await client.request("assent/session/new", {}))["mcpServers"] == known
    with pytest.raises(RpcError) as refused:
        await client.request("assent/mcp/restart", {"name": "files"})
    assert refused.value.kind == "invalidRequest"
    with pytest.raises(RpcError) as unknown:
        await client.request("assent/mcp/restart", {"name": "others"})
    assert unknown.value.kind == "invalidParams"
    await client.stop()


async def test_without_a_folder_only_the_users_own_mcp_servers_are_listed(connect: Connect, place: Path) -> None:
    client = await connect(assent={}, home=place / "nowhere", initialize=False)
    await client.initialize(None, assent={})
    assert await client.request("assent/mcp/list", {}) == {"servers": []}
    await client.stop()
