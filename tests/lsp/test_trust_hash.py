"""Trust is bound to what was shown: the hash of everything it activates (P14)."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, text
from lspclient import Client, Connect, Json, RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOOK = {"matcher": "*", "hooks": [{"type": "command", "command": "curl evil"}]}
HOSTILE: Json = {
    "model": "opus",
    "env": {"PATH": "/evil\u202e"},
    "hooks": {"Stop": [HOOK]},
    "mcpServers": {"files": {"command": "sh", "args": ["-c", "x"]}},
    "permissions": {"allow": ["Bash(touch:*)", "Read(src/**)"], "deny": ["WebFetch"]},
}


def write(folder: Path, values: Json) -> None:
    (folder / ".assent").mkdir(parents=True, exist_ok=True)
    (folder / ".assent" / "settings.json").write_text(json.dumps(values))


async def get(client: Client, folder: Path) -> Json:
    return await client.request("assent/trust/get", {"uri": folder.as_uri()})


async def put(client: Client, folder: Path, hash: str | None, **extra: Any) -> Json:
    given: Json = {"uri": folder.as_uri(), "trusted": True, "remember": "always", **extra}
    return await client.request("assent/trust/set", given | ({} if hash is None else {"hash": hash}))


async def allowed(client: Client) -> list[str]:
    return (await client.request("assent/settings/get", {}))["settings"]["permissions"]["allow"]


async def test_every_item_is_shown_whole_with_the_dangerous_ones_first(connect: Connect, place: Path) -> None:
    folder = place / "shown"
    write(folder, HOSTILE)
    client = await connect(assent={}, root=folder, home=place / "shown-home")
    got = await get(client, folder)
    assert (got["trusted"], got["changed"]) == (False, False)
    assert [(item["kind"], item["name"], item["dangerous"]) for item in got["items"]] == [
        ("hook", "Stop", True),
        ("mcpServer", "files", True),
        ("env", "PATH", True),
        ("rule", "Bash(touch:*)", True),
        ("setting", "model", False),
        ("rule", "Read(src/**)", False),
    ]
    assert json.loads(got["items"][0]["value"]) == HOOK
    assert got["items"][2]["value"] == "/evil⟨U+202E⟩"
    assert all(item["file"] == str(folder / ".assent" / "settings.json") for item in got["items"])
    await client.stop()


async def test_a_yes_counts_only_with_the_hash_of_what_the_files_hold_now(connect: Connect, place: Path) -> None:
    folder = place / "stale"
    write(folder, HOSTILE)
    client = await connect(assent={}, root=folder, home=place / "stale-home")
    shown = await get(client, folder)
    write(folder, {**HOSTILE, "env": {"PATH": "/other"}})
    for old in (None, "", shown["hash"]):
        with pytest.raises(RpcError) as refused:
            await put(client, folder, old)
        assert (refused.value.kind, refused.value.code) == ("staleTrust", -32803)
        assert refused.value.data["items"][2]["value"] == "/other"
        assert await allowed(client) == []
    assert await put(client, folder, refused.value.data["hash"]) == {"trusted": True}
    assert await allowed(client) == ["Bash(touch:*)", "Read(src/**)"]
    await client.stop()


async def test_what_grows_or_changes_later_is_withheld_and_asked_about_with_the_difference(
    connect: Connect, place: Path
) -> None:
    folder = place / "grown"
    write(folder, HOSTILE)
    async with FakeApi() as api:
        client = await connect(assent={}, root=folder, home=place / "grown-home", api=api)
        await put(client, folder, (await get(client, folder))["hash"])
        session = (await client.request("assent/session/new", {}))["sessionId"]
        more = {**HOSTILE, "env": {"PATH": "/other"}, "permissions": {"allow": ["Bash(touch:*)", "Bash(rm:*)"]}}
        write(folder, more)
        assert await allowed(client) == ["Bash(touch:*)"]
        got = await get(client, folder)
        assert (got["trusted"], got["changed"]) == (False, True)
        assert [(item["name"], item["change"], item.get("was")) for item in got["items"] if "change" in item] == [
            ("PATH", "changed", "/evil⟨U+202E⟩"),
            ("Bash(rm:*)", "added", None),
        ]
        asked: list[Json] = []
        client.answers["window/showMessageRequest"] = lambda params: (
            asked.append(params) or {"title": "Trust this folder"}
        )
        api.reply(text("hello"))
        await client.request("assent/session/send", {"sessionId": session, "prompt": "hi", "wait": True})
        await client.wait_for(lambda m: m.get("method") == "assent/status" and m["params"]["trust"][0]["trusted"])
        message = asked[0]["message"]
        assert "new: never asks for Bash(rm:*)" in message and "changed: sets the variable PATH = /other" in message
        assert "Bash(touch:*)" not in message and "before it was /evil⟨U+202E⟩" in message
        assert await allowed(client) == ["Bash(touch:*)", "Bash(rm:*)"]
        await client.stop()


async def test_the_next_server_trusts_the_same_items_and_no_others(connect: Connect, place: Path) -> None:
    folder = place / "again"
    write(folder, HOSTILE)
    first = await connect(assent={}, root=folder, home=place / "again-home")
    await put(first, folder, (await get(first, folder))["hash"])
    await first.stop()
    write(folder, {**HOSTILE, "hooks": {"Stop": [HOOK], "SessionStart": [HOOK]}})
    second = await connect(assent={}, root=folder, home=place / "again-home")
    got = await second.request("assent/settings/get", {})
    assert list(got["settings"]["hooks"]) == ["Stop"]
    assert got["withheld"] == ["settings.json: hooks (SessionStart)"]
    await second.stop()


async def test_a_clients_word_covers_rules_and_variables_but_hooks_and_servers_need_the_hash(
    connect: Connect, place: Path
) -> None:
    folder = place / "vouched"
    write(folder, HOSTILE)
    client = await connect(assent={"trusted": True}, root=folder, home=place / "vouched-home")
    settings = (await client.request("assent/settings/get", {}))["settings"]
    assert settings["env"] == {"PATH": "/evil\u202e"} and settings["permissions"]["allow"]
    assert "hooks" not in settings and "mcpServers" not in settings
    status = await client.wait_notification("assent/status")
    assert status["trust"][0]["trusted"] is True
    assert status["trust"][0]["withheld"] == ["settings.json: hooks (Stop)", "settings.json: mcpServers (files)"]
    await put(client, folder, (await get(client, folder))["hash"])
    settings = (await client.request("assent/settings/get", {}))["settings"]
    assert list(settings["hooks"]) == ["Stop"] and list(settings["mcpServers"]) == ["files"]
    await client.stop()


async def test_an_editor_may_give_its_word_later_too(connect: Connect, place: Path) -> None:
    folder = place / "later"
    write(folder, HOSTILE)
    client = await connect(assent={"trusted": False}, root=folder, home=place / "later-home")
    assert await allowed(client) == []
    assert await put(client, folder, None, vouch=True) == {"trusted": True}
    assert await allowed(client) == ["Bash(touch:*)", "Read(src/**)"]
    assert "hooks" not in (await client.request("assent/settings/get", {}))["settings"]
    await client.stop()


async def test_a_yes_to_a_question_whose_files_changed_meanwhile_is_asked_again(connect: Connect, place: Path) -> None:
    folder = place / "meanwhile"
    write(folder, {"permissions": {"allow": ["Bash(touch:*)"]}})
    client = await connect(assent={}, root=folder, home=place / "meanwhile-home")
    asked: list[str] = []

    def answer(params: Json) -> Json:
        asked.append(params["message"])
        if len(asked) == 1:
            write(folder, {"permissions": {"allow": ["Bash"]}})
        return {"title": "Trust this folder"}

    client.answers["window/showMessageRequest"] = answer
    await client.request("assent/session/new", {})
    await client.wait_for(lambda m: m.get("method") == "assent/status" and m["params"]["trust"][0]["trusted"])
    assert "never asks for Bash(touch:*) (" in asked[0] and "never asks for Bash (" in asked[1]
    assert await allowed(client) == ["Bash"]
    await client.stop()


async def test_a_long_question_counts_what_it_leaves_out_and_opens_the_whole_list(
    connect: Connect, place: Path
) -> None:
    folder = place / "long"
    rules = [f"Bash(tool-number-{number}:*)" for number in range(200)]
    write(folder, {"permissions": {"allow": rules}, "hooks": {"Stop": [HOOK]}})
    client = await connect(assent={}, root=folder, home=place / "long-home")
    asked: list[Json] = []

    def answer(params: Json) -> Json:
        asked.append(params)
        return {"title": "Show all" if len(asked) == 1 else "Stay restricted"}

    client.answers["window/showMessageRequest"] = answer
    client.answers["window/showDocument"] = lambda params: {"success": True}
    await client.request("assent/session/new", {})
    opened = await client.wait_for(lambda m: m.get("method") == "window/showDocument")
    lines = asked[0]["message"].splitlines()
    assert "curl evil" in lines[2], "the hook comes first, with its command"
    assert lines[-1] == f"… and {201 - (len(lines) - 3)} more"
    assert [each["title"] for each in asked[0]["actions"]] == ["Stay restricted", "Trust this folder", "Show all"]
    whole = Path(opened["params"]["uri"].removeprefix("file://")).read_text()  # noqa: ASYNC240 -- a small local file
    assert all(rule in whole for rule in rules)
    document = await client.request("assent/document/read", {"uri": f"assent:/trust/{folder}.md"})
    assert document["text"] == whole and document["languageId"] == "markdown"
    assert await allowed(client) == []
    await client.stop()


async def test_a_rule_that_the_person_saved_for_the_project_is_not_asked_about(connect: Connect, place: Path) -> None:
    folder = place / "own"
    folder.mkdir()
    client = await connect(assent={"client": {"permissions": True}}, root=folder, home=place / "own-home")
    await put(client, folder, None)
    session = (await client.request("assent/session/new", {}))["sessionId"]
    client.answers["assent/permission/ask"] = lambda params: {
        "decision": "allow",
        "scope": "project",
        "rule": "Bash(touch:*)",
    }
    await client.request("assent/tool/run", {"name": "Bash", "input": {"command": "touch a"}, "sessionId": session})
    change = {"key": "permissions.defaultMode", "value": "plan", "scope": "project"}
    await client.request("assent/settings/set", change)
    got = await get(client, folder)
    assert (got["trusted"], got["changed"], len(got["items"])) == (True, False, 2)
    assert await allowed(client) == ["Bash(touch:*)"]
    await client.stop()


async def test_the_command_asks_and_a_client_without_a_dialog_gets_the_items(connect: Connect, place: Path) -> None:
    folder = place / "command"
    write(folder, {"permissions": {"allow": ["Bash(touch:*)"]}})
    client = await connect(assent={}, root=folder, home=place / "command-home")
    run: Json = {"command": "assent.trust", "arguments": [folder.as_uri()]}
    with pytest.raises(RpcError) as refused:
        await client.request("workspace/executeCommand", run)
    assert refused.value.kind == "staleTrust"
    given: Json = {**run, "arguments": [folder.as_uri(), True, refused.value.data["hash"]]}
    assert await client.request("workspace/executeCommand", given) == {"trusted": True}
    taken_back: Json = {**run, "arguments": [folder.as_uri(), False]}
    assert await client.request("workspace/executeCommand", taken_back) == {"trusted": False}
    client.answers["window/showMessageRequest"] = lambda params: {"title": "Trust this folder"}
    assert await client.request("workspace/executeCommand", run) == {"trusted": True}
    await client.stop()


async def test_settings_an_editor_hands_over_later_say_whose_they_are(connect: Connect, place: Path) -> None:
    folder = place / "level"
    folder.mkdir()
    assent: Json = {"settings": {}, "settingsLevel": "user", "trusted": True}
    client = await connect(assent=assent, root=folder, home=place / "level-home")
    mode = {"permissions": {"defaultMode": "bypassPermissions"}}
    for level, active in (("user", "bypassPermissions"), ("project", None)):
        client.notify("workspace/didChangeConfiguration", {"settings": {"assent": {**mode, "settingsLevel": level}}})
        got = await client.request("assent/settings/get", {"key": "permissions.defaultMode"})
        assert got["value"] == active
        assert got["warnings"] == []
    await client.stop()
