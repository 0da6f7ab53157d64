"""Rules that change while a session lives count at its next call: for searches and mentions as for reads."""

from pathlib import Path

import pytest

from fakeapi import FakeApi, text
from lspclient import Client, Connect, RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def shown(client: Client, session: str, tool: str, input: dict[str, str]) -> str:
    try:
        answer = await client.request("assent/tool/run", {"name": tool, "input": input, "sessionId": session})
    except RpcError as error:
        assert error.kind == "permissionDenied"
        return "denied"
    return str(answer)


@pytest.mark.parametrize("where", ["user", "project"])
async def test_a_deny_rule_made_during_a_session_counts_for_every_way_to_a_file(
    connect: Connect, place: Path, where: str
) -> None:
    folder, home = place / f"mid-{where}", place / f"mid-home-{where}"
    (folder / "secrets").mkdir(parents=True)
    (folder / "secrets" / "k.txt").write_text("needle\n")
    (folder / "open.txt").write_text("needle\n")
    client = await connect(assent={"client": {}}, root=folder, home=home)
    session = (await client.request("assent/session/new", {"cwd": str(folder)}))["sessionId"]
    calls = {
        "Grep": {"pattern": "needle", "output_mode": "files_with_matches"},
        "Glob": {"pattern": "**/*.txt"},
        "Read": {"file_path": str(folder / "secrets" / "k.txt")},
    }
    for tool, input in calls.items():
        assert "k.txt" in await shown(client, session, tool, input) or tool == "Read"
    file = (home / "config" / "assent" if where == "user" else folder / ".assent") / "settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('{"permissions": {"deny": ["Read(secrets/**)"]}}')
    for tool in ("Grep", "Glob"):
        found = await shown(client, session, tool, calls[tool])
        assert "k.txt" not in found and "open.txt" in found, tool
    assert await shown(client, session, "Read", calls["Read"]) == "denied"
    file.write_text("{}")
    for tool in ("Grep", "Glob"):
        assert "k.txt" in await shown(client, session, tool, calls[tool]), tool
    await client.stop()


async def test_a_deny_rule_made_during_a_session_counts_for_its_next_mention(
    connect: Connect, api: FakeApi, place: Path
) -> None:
    folder = place / "mid-mention"
    (folder / "secrets").mkdir(parents=True)
    (folder / "secrets" / "k.txt").write_text("needle\n")
    (folder / "secrets" / "l.txt").write_text("thread\n")
    client = await connect(assent={"client": {}}, root=folder, home=place / "mid-mention-home", api=api)
    session = (await client.request("assent/session/new", {"cwd": str(folder)}))["sessionId"]
    sent: list[str] = []
    for name in ("k", "l"):
        api.reply(text("Seen."))
        params = {"sessionId": session, "prompt": f"look at @secrets/{name}.txt", "wait": True}
        await client.request("assent/session/send", params)
        sent.append(str(api.calls[-1].messages))
        (folder / ".assent").mkdir(exist_ok=True)
        (folder / ".assent" / "settings.json").write_text('{"permissions": {"deny": ["Read(secrets/**)"]}}')
    assert "needle" in sent[0]
    assert "thread" not in sent[1]
    await client.stop()
