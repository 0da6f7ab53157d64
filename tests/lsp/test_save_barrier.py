"""Before a command runs, what the agent changed in open buffers is in the files, or the user says how to go on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, text, tool
from lspclient import Client, Connect, Json
from lspclient.client import PLUGIN, Document

pytestmark = pytest.mark.asyncio(loop_scope="module")
QUESTION = "window/showMessageRequest"


def saver(client: Client, *, fails: bool = False) -> list[list[str]]:
    """Answer `assent/editor/save` as an editor does; every request's uris."""
    asked: list[list[str]] = []

    def save(params: Json) -> Json:
        uris: list[str] = params["uris"]
        asked.append(uris)
        if fails:
            return {"saved": [], "failed": [{"uri": uri, "message": "the disk is full"} for uri in uris]}
        for uri in uris:
            written(client, client.documents[uri])
        return {"saved": uris, "failed": []}

    client.answers["assent/editor/save"] = save
    return asked


def written(client: Client, document: Document) -> None:
    """The user (or the editor) saves the buffer."""
    Path(document.uri.removeprefix("file://")).write_text(document.text)
    client.notify("textDocument/didSave", {"textDocument": {"uri": document.uri}})


async def edited_then_run(client: Client, api: FakeApi, file: Path) -> str:
    """A turn that changes the file in its buffer, then shows it with a command; what the command's result said."""
    client.answers.setdefault("assent/permission/ask", lambda params: {"decision": "allow"})
    api.reply(tool("Read", file_path=str(file)))
    api.reply(tool("Edit", file_path=str(file), old_string="one", new_string="first"))
    api.reply(tool("Bash", command=f"head -1 {file.name}"))
    api.reply(text("Done."))
    session = (await client.request("assent/session/new", {}))["sessionId"]
    await client.request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})
    return str(client.events(session, "toolFinished")[-1]["event"]["content"])


@pytest.fixture
def notes(workspace: Path) -> Path:
    return workspace / "notes.txt"


async def saving_client(connect: Connect, api: FakeApi) -> Client:
    return await connect(assent={"client": {**PLUGIN, "save": True}}, api=api)


async def plain_client(connect: Connect, api: FakeApi) -> Client:
    return await connect(assent={"client": dict(PLUGIN)}, api=api)


async def test_only_what_the_agent_changed_is_saved_before_a_command(
    connect: Connect, api: FakeApi, notes: Path, workspace: Path
) -> None:
    client = await saving_client(connect, api)
    asked = saver(client)
    document, other = client.open(notes), client.open(workspace / "greeter.py")
    client.type(other, 0, 0, "# the user's own, not saved yet\n")
    said = await edited_then_run(client, api, notes)
    assert asked == [[document.uri]]
    assert "first" in said and "Unsaved" not in said
    assert "the user's own" not in (workspace / "greeter.py").read_text()
    await client.stop()


async def test_a_save_that_fails_is_asked_about_and_the_model_is_told_what_the_command_saw(
    connect: Connect, api: FakeApi, notes: Path
) -> None:
    client = await saving_client(connect, api)
    saver(client, fails=True)
    questions: list[Json] = []

    def run_anyway(params: Json) -> Json:
        questions.append(params)
        return {"title": "Run on disk state"}

    client.answers[QUESTION] = run_anyway
    client.open(notes)
    said = await edited_then_run(client, api, notes)
    assert "the disk is full" in questions[0]["message"]
    assert "one" in said and "Unsaved in the editor while this ran: notes.txt" in said
    assert "Unsaved in the editor" in str(api.calls[-1].messages[-1])
    await client.stop()


@pytest.mark.parametrize("answer", [{"title": "Cancel"}, None, {"title": "what?"}])
async def test_a_command_never_runs_silently_after_a_failed_save(
    connect: Connect, api: FakeApi, notes: Path, answer: Any
) -> None:
    client = await saving_client(connect, api)
    saver(client, fails=True)
    client.answers[QUESTION] = lambda params: answer
    client.open(notes)
    said = await edited_then_run(client, api, notes)
    assert "Not run" in said and "notes.txt" in said
    await client.stop()


async def test_a_client_that_can_neither_save_nor_ask_runs_nothing(connect: Connect, api: FakeApi, notes: Path) -> None:
    client = await plain_client(connect, api)  # it answers showMessageRequest with MethodNotFound
    client.open(notes)
    assert "Not run" in await edited_then_run(client, api, notes)
    await client.stop()


@pytest.mark.parametrize(
    ("title", "saves", "expected"),
    [
        ("Saved, continue", True, "first"),
        ("Saved, continue", False, "Unsaved in the editor while this ran: notes.txt"),
        ("Run on disk state", False, "Unsaved in the editor while this ran: notes.txt"),
        ("Cancel", False, "Not run: the user cancelled because of unsaved changes in notes.txt"),
    ],
)
async def test_a_client_without_save_is_asked_in_plain_words(
    connect: Connect, api: FakeApi, notes: Path, title: str, saves: bool, expected: str
) -> None:
    client = await plain_client(connect, api)
    document = client.open(notes)
    questions: list[Json] = []

    def answer(params: Json) -> Json:
        questions.append(params)
        if saves:
            written(client, document)
        return {"title": title}

    client.answers[QUESTION] = answer
    assert expected in await edited_then_run(client, api, notes)
    assert [action["title"] for action in questions[0]["actions"]] == ["Saved, continue", "Run on disk state", "Cancel"]
    assert "notes.txt" in questions[0]["message"]
    await client.stop()


async def test_saving_by_hand_is_an_answer_too_and_withdraws_the_question(
    connect: Connect, api: FakeApi, notes: Path
) -> None:
    client = await plain_client(connect, api)
    document = client.open(notes)
    questions: list[Json] = []

    async def only_save(params: Json) -> Json:
        questions.append(params)
        written(client, document)
        await asyncio.Event().wait()  # the dialog itself is never answered
        raise AssertionError

    client.answers[QUESTION] = only_save
    said = await edited_then_run(client, api, notes)
    assert "first" in said and "Unsaved" not in said
    withdrawn = [message["params"] for message in client.heard if message.get("method") == "assent/withdrawn"]
    assert {"requestId": questions[0]["requestId"]} in withdrawn
    await client.stop()
