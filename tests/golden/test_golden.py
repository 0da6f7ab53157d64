"""Whatever an earlier version left on disk opens in this one (S1): transcripts, index, proposals, settings, trust."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, text
from lspclient import Client, Json, Server

HERE = Path(__file__).parent
VERSIONS = sorted(folder.name for folder in HERE.iterdir() if (folder / "data").is_dir())
MADE_IN = "/tmp/golden"
TITLES = {"Fix the greeting", "A long talk", "Another way", "Cut off"}

pytestmark = pytest.mark.asyncio


def laid_out(version: str, place: Path) -> Path:
    """The files of that version as if they had been written in `place`."""
    shutil.copytree(HERE / version, place)
    for file in place.rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes().replace(MADE_IN.encode(), str(place).encode()))
    return place / "project"


async def opened(place: Path, project: Path, api: FakeApi) -> Client:
    client = Client(Server(place, env=api.env))
    await client.start()
    await client.initialize(project, assent={"client": {"permissions": True, "review": True}})
    return client


async def by_title(client: Client) -> dict[str, Json]:
    listed: list[Json] = (await client.request("assent/session/list", {}))["sessions"]
    return {str(session["title"]): session for session in listed}


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_session_of_an_earlier_version_is_listed_shown_and_goes_on(version: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    project = laid_out(version, place)
    async with FakeApi() as api:
        client = await opened(place, project, api)
        sessions = await by_title(client)
        assert set(sessions) == TITLES
        assert sessions["Fix the greeting"]["costUsd"] > 0 and sessions["Fix the greeting"]["turns"] == 2
        for title, session in sessions.items():
            attached = await client.request("assent/session/attach", {"sessionId": session["sessionId"]})
            assert attached["messages"] and not attached.get("damaged"), title
            if title == "Cut off":
                continue
            api.reply(text(f"Still here: {title}."))
            send = {"sessionId": session["sessionId"], "prompt": "are you there?", "wait": True}
            answer = await client.request("assent/session/send", send)
            assert answer["result"]["result"] == f"Still here: {title}."
            assert answer["result"]["totalCostUsd"] >= session["costUsd"]
        await client.stop()
        await client.close()


@pytest.mark.parametrize("version", VERSIONS)
async def test_what_was_said_and_done_is_shown_as_it_was(version: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    project = laid_out(version, place)
    async with FakeApi() as api:
        client = await opened(place, project, api)
        sessions = await by_title(client)
        fixed = await client.request("assent/session/export", _markdown(sessions["Fix the greeting"]))
        for words in ("fix the typo", "Let me look.", "The greeting is right now.", "remove it", "Then it stays."):
            assert words in fixed["text"]
        long = await client.request("assent/session/attach", {"sessionId": sessions["A long talk"]["sessionId"]})
        assert "They asked three questions" in json.dumps(long["messages"])
        cut = await client.request("assent/session/attach", {"sessionId": sessions["Cut off"]["sessionId"]})
        assert [hunk["newText"] for proposal in cut["proposals"] for hunk in proposal["hunks"]] == [
            '    return "Good day"\n'
        ]
        await client.stop()
        await client.close()


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_edit_of_an_earlier_version_can_be_taken_back(version: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    project = laid_out(version, place)
    greeter = project / "greeter.py"
    assert "Hello" in greeter.read_text()
    async with FakeApi() as api:
        client = await opened(place, project, api)
        session = (await by_title(client))["Fix the greeting"]["sessionId"]
        attached = await client.request("assent/session/attach", {"sessionId": session})
        prompt = next(m for m in attached["messages"] if "fix the typo" in json.dumps(m["content"]))
        rewind = {"sessionId": session, "messageId": prompt["id"], "restore": "both"}
        done = await client.request("assent/session/rewind", rewind)
        made = ["made.txt"] if version != "0.1" else []  # 0.1 did not follow commands
        assert [Path(file["path"]).name for file in done["files"]] == ["greeter.py", *made]
        assert "Helo" in greeter.read_text()
        await client.stop()
        await client.close()


@pytest.mark.parametrize("version", VERSIONS)
async def test_settings_and_trust_of_an_earlier_version_count(version: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    project = laid_out(version, place)
    async with FakeApi() as api:
        client = await opened(place, project, api)
        got: Json = await client.request("assent/settings/get", {})
        assert got["warnings"] == []
        permissions: Any = got["settings"]["permissions"]
        assert {"Bash(make test)", "Edit(src/**)"} <= set(permissions["allow"])
        assert permissions["deny"] == ["Read(~/.ssh/**)", "Bash(curl:*)"] and got["settings"]["maxBudgetUsd"] == 5
        trust: Json = await client.request("assent/trust/get", {"uri": project.as_uri()})
        assert {item["name"] for item in trust["items"]} == {"review", "Bash(make lint)"}
        assert trust["changed"] is (version == "0.1"), "0.1 remembered the folder, not what it showed"
        await client.stop()
        await client.close()


def _markdown(session: Json) -> Json:
    return {"sessionId": session["sessionId"], "format": "markdown"}
