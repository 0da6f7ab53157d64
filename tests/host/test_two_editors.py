"""Two editors, one session: the whole scene, and whose text of a file counts (S7)."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from fakeapi import FakeApi, text, tool
from hostkit import Desk
from lspclient import Client, Json

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"


@pytest_asyncio.fixture(loop_scope="module")
async def api() -> AsyncIterator[FakeApi]:
    async with FakeApi() as fake:
        yield fake


def edits(api: FakeApi, file: Path, *changes: tuple[str, str]) -> None:
    """Script one turn: read the file, change it, say so."""
    made = [{"old_string": old, "new_string": new} for old, new in changes]
    api.reply(tool("Read", file_path=str(file)))
    api.reply(tool("MultiEdit", file_path=str(file), edits=made))
    api.reply(text("Done."))


def first_hunk(params: Json) -> Json:
    return {"decision": "allow", "hunks": [{"hunkId": params["proposal"]["hunks"][0]["hunkId"], "decision": "accept"}]}


async def never(_params: Json) -> Any:
    await asyncio.Event().wait()


def key_of(api: FakeApi) -> str:
    """The key that the newest request came with."""
    headers = {name.lower(): value for name, value in api.requests[-1].headers.items()}
    return (headers.get("x-api-key") or headers["authorization"]).removeprefix("Bearer ")


async def shown(client: Client, words: str) -> None:
    await client.wait_for(
        lambda message: message.get("method") == "window/showMessage" and words in message["params"]["message"]
    )


def states(client: Client, session: str) -> list[list[str]]:
    """The hunk states that each event about a proposal told."""
    kinds = ("editProposed", "editUpdated", "editResolved")
    told = [event["event"] for event in client.events(session) if event["event"]["type"] in kinds]
    return [[hunk["state"] for hunk in event["proposal"]["hunks"]] for event in told if "proposal" in event]


async def test_prompt_here_approve_there_reject_a_hunk_lose_a_window_and_go_on(desk: Desk, api: FakeApi) -> None:
    file = desk.workspace / "file.txt"
    file.write_text(TEXT)
    code, vim = await desk.connect("Code", api=api), await desk.connect("Vim", api=api)
    code.answers["assent/permission/ask"] = never
    asked: list[Json] = []

    def review(params: Json) -> Json:
        asked.append(params)
        return first_hunk(params)

    vim.answers["assent/permission/ask"] = review
    document = vim.open(file)  # only Vim has it open
    session = (await code.request("assent/session/new", {}))["sessionId"]
    seen = await vim.request("assent/session/attach", {"sessionId": session})
    edits(api, file, ("two", "TWO"), ("seven", "SEVEN"))
    done = await code.request("assent/session/send", {"sessionId": session, "prompt": "fix it", "wait": True})
    assert done["result"]["subtype"] == "success" and len(asked) == 1
    assert document.text == TEXT.replace("two", "TWO")  # the second hunk was rejected, in Vim
    assert file.read_text() == TEXT  # saving is the user's
    await vim.wait_event("turnFinished", session_id=session)
    await vim.until(
        lambda: len(vim.events(session)) >= len([e for e in code.events(session) if e["seq"] > seen["lastSeq"]])
    )
    assert states(code, session) == states(vim, session) and states(vim, session)[-1] == ["accepted", "rejected"]
    told = next(event for event in code.events(session, "permissionResolved"))
    assert told["event"]["client"] == "Vim"
    report = str(api.requests[-1].body["messages"][-1])
    assert "1 of 2" in report  # and the model knows

    await code.server.kill()  # the first editor dies
    api.reply(text("Still here."))
    again = await vim.request("assent/session/send", {"sessionId": session, "prompt": "go on", "wait": True})
    assert again["result"]["result"] == "Still here."
    (entry,) = (await vim.request("assent/session/roster", {}))["sessions"]
    assert entry["clients"] == 1


async def test_an_edit_lands_where_the_person_is_and_the_other_editor_catches_up(desk: Desk, api: FakeApi) -> None:
    file = desk.workspace / "file.txt"
    file.write_text(TEXT)
    code, vim = await desk.connect("Code", api=api), await desk.connect("Vim", api=api)
    in_code, in_vim = code.open(file), vim.open(file)  # Code owns it; both have the same text
    code.answers["assent/permission/ask"] = never
    vim.answers["assent/permission/ask"] = lambda _params: {"decision": "allow"}
    session = (await vim.request("assent/session/new", {}))["sessionId"]
    await code.request("assent/session/attach", {"sessionId": session})
    edits(api, file, ("two", "TWO"))
    await vim.request("assent/session/send", {"sessionId": session, "prompt": "fix it", "wait": True})
    assert in_vim.text == TEXT.replace("two", "TWO") and in_code.text == TEXT
    file.write_text(in_vim.text)  # Vim's user saves; Code reloads the file, as editors do
    vim.notify("textDocument/didSave", {"textDocument": {"uri": in_vim.uri}})
    code.type(in_code, 0, len(in_code.text), in_vim.text)
    await code.wait_event("turnFinished", session_id=session)  # each window hears it in its own time
    (accepted,) = [event["event"] for event in code.events(session, "editResolved")]
    assert [hunk["state"] for hunk in accepted["proposal"]["hunks"]] == ["accepted"]
    assert (await code.request("assent/edit/list", {}))["proposals"] == []


async def test_unsaved_in_two_editors_the_last_change_owns_it_and_the_other_is_told(desk: Desk, api: FakeApi) -> None:
    file = desk.workspace / "file.txt"
    file.write_text(TEXT)
    code, vim = await desk.connect("Code", api=api), await desk.connect("Vim", api=api)
    session = (await code.request("assent/session/new", {}))["sessionId"]
    in_code, in_vim = code.open(file), vim.open(file)
    await vim.request("assent/edit/list", {})  # it is open there before Code changes it
    code.type(in_code, 0, 3, "ONE")
    await code.request("assent/edit/list", {})
    vim.type(in_vim, 4, 7, "TWO")  # Vim never saw ONE
    await shown(code, "file.txt was changed in Vim")
    assert in_code.text == TEXT.replace("one", "ONE") and in_vim.text == TEXT.replace("two", "TWO")  # nothing merged

    def read() -> None:
        api.reply(tool("Read", file_path=str(file)))
        api.reply(text("Read."))

    async def sees() -> str:
        read()
        await code.request("assent/session/send", {"sessionId": session, "prompt": "read it", "wait": True})
        return str(api.requests[-1].body["messages"][-1])

    seen = await sees()
    assert "TWO" in seen and "ONE" not in seen
    code.type(in_code, 4, 7, "2wo")  # and back to Code
    await shown(vim, "file.txt was changed in Code")
    seen = await sees()
    assert "ONE" in seen and "2wo" in seen
    await code.server.kill()  # the owner leaves: what Vim has open is the file now
    read()
    session = (await vim.request("assent/session/new", {}))["sessionId"]
    await vim.request("assent/session/send", {"sessionId": session, "prompt": "read it", "wait": True})
    assert "TWO" in str(api.requests[-1].body["messages"][-1])


async def test_a_session_keeps_the_credentials_of_the_window_that_began_it(desk: Desk, api: FakeApi) -> None:
    mine = await desk.connect("Mine", api=api, env={"ANTHROPIC_API_KEY": "sk-mine-0001"})
    other = await desk.connect("Other", api=api, env={"ANTHROPIC_API_KEY": "sk-other-0002"})
    session = (await mine.request("assent/session/new", {}))["sessionId"]
    await other.request("assent/session/attach", {"sessionId": session})
    told = (await other.wait_notification("window/showMessage"))["message"]
    assert "begun in another window" in told and "sk-" not in told
    api.reply(text("Hello."))
    await other.request("assent/session/send", {"sessionId": session, "prompt": "hi", "wait": True})
    assert key_of(api) == "sk-mine-0001"
    own = (await other.request("assent/session/new", {}))["sessionId"]
    api.reply(text("Hello."))
    await other.request("assent/session/send", {"sessionId": own, "prompt": "hi", "wait": True})
    assert key_of(api) == "sk-other-0002"
    assert not [message for message in mine.heard if message.get("method") == "window/showMessage"]
