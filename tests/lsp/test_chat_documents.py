"""A plain client with nothing but LSP: a conversation in a `*.assent.md`, approval by dialog or code action."""

from pathlib import Path

import pytest

from fakeapi import FakeApi, hold, text, tool
from lspclient import Client, Connect, Json, RpcError
from lspclient.client import Document

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOWHERE: Json = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}


async def plain(connect: Connect, api: FakeApi, place: Path, name: str) -> Client:
    """As Emacs eglot or Helix would be: no initializationOptions at all."""
    return await connect(api=api, home=place / name)


def chat(client: Client, workspace: Path, name: str, content: str) -> Document:
    path = workspace / f"{name}.assent.md"
    path.write_text(content)
    return client.open(path, language="markdown")


async def send(client: Client, document: Document) -> None:
    params: Json = {"textDocument": {"uri": document.uri}, "range": NOWHERE, "context": {"diagnostics": []}}
    actions = await client.request("textDocument/codeAction", params)
    action = next(a for a in actions if a["title"] == "Assent: Send")
    await client.request("workspace/executeCommand", action["command"])


async def answered(client: Client, document: Document, times: int = 1) -> None:
    """The answer is whole: the heading for the next prompt stands at the end."""
    await client.until(
        lambda: document.text.endswith("\n\n## You\n\n") and document.text.count("## Assent") == times, timeout=60
    )


async def test_a_prompt_is_sent_and_its_answer_grows_at_the_end(
    connect: Connect, api: FakeApi, place: Path, workspace: Path
) -> None:
    client = await plain(connect, api, place, "first")
    document = chat(client, workspace, "talk", "## You\n\nWhat does greeter.py do?\n")
    api.reply(text("Let me look."), tool("Read", file_path=str(workspace / "greeter.py")))
    api.reply(text("It *greets*."))
    await send(client, document)
    await answered(client, document)
    lines = document.text.splitlines()
    assert lines[0].startswith("<!-- assent session=")
    assert api.calls[-2].last_text.endswith("What does greeter.py do?") or "What does greeter.py do?" in str(api.calls)
    body = document.text
    assert body.index("## You") < body.index("## Assent") < body.index("Let me look.") < body.index("<details>")
    assert "greeter.py</summary>" in body
    assert body.index("</details>") < body.index("It *greets*.")
    assert not [m for m in client.heard if str(m.get("method", "")).startswith("assent/")]  # nothing but plain LSP

    client.type(document, len(document.text), len(document.text), "And who wrote it?\n")
    client.type(
        document, document.text.index("Let me look"), document.text.index("Let me look") + 3, "You"
    )  # no matter
    api.reply(text("You did."))
    await send(client, document)
    await answered(client, document, times=2)
    assert "And who wrote it?" in str(api.calls[-1].messages[-1])
    assert "Let me look." in str(api.calls[-1].messages)  # history is what was said, not what the text says now


async def test_an_edit_is_approved_by_dialog_and_lands_in_the_buffer(
    connect: Connect, api: FakeApi, place: Path, workspace: Path
) -> None:
    client = await plain(connect, api, place, "emacs")
    client.answers["window/showMessageRequest"] = lambda params: {"title": "Allow once"}
    source = client.open(workspace / "greeter.py")
    document = chat(client, workspace, "edit", "## You\n\nFix the typo.\n")
    path = str(workspace / "greeter.py")
    api.reply(tool("Read", file_path=path))
    api.reply(tool("Edit", file_path=path, old_string="Helo", new_string="Hello"))
    api.reply(text("Fixed."))
    await send(client, document)
    await answered(client, document)
    assert '"Hello"' in source.text
    assert "Fixed." in document.text


async def test_where_there_are_no_dialogs_code_actions_approve(
    connect: Connect, api: FakeApi, place: Path, workspace: Path
) -> None:
    client = await plain(connect, api, place, "helix")
    source = client.open(workspace / "greeter.py")
    document = chat(client, workspace, "helix", "## You\n\nFix the typo.\n")
    path = str(workspace / "greeter.py")
    api.reply(tool("Read", file_path=path))
    api.reply(tool("Edit", file_path=path, old_string="Helo", new_string="Hello"))
    api.reply(text("Fixed."))
    await send(client, document)
    await client.until(lambda: "Waiting for you" in document.text, timeout=60)
    params: Json = {"textDocument": {"uri": document.uri}, "range": NOWHERE, "context": {"diagnostics": []}}
    actions = await client.request("textDocument/codeAction", params)
    allow = next(a for a in actions if a["title"].startswith("Assent: Allow once"))
    await client.request("workspace/executeCommand", allow["command"])
    await answered(client, document)
    assert '"Hello"' in source.text


async def test_a_document_closed_meanwhile_gets_the_rest_when_it_is_opened_again(
    connect: Connect, api: FakeApi, place: Path, workspace: Path
) -> None:
    client = await plain(connect, api, place, "closing")
    document = chat(client, workspace, "closed", "## You\n\nTell me a story.\n")
    api.reply(text("Once upon a time ", hold("close"), "there was an end."))
    await send(client, document)
    await client.until(lambda: "Once upon" in document.text, timeout=60)
    client.close_document(document.uri)
    api.release("close")
    path = Path(document.uri.removeprefix("file://"))
    reopened = client.open(path, document.text, language="markdown")
    await answered(client, reopened)
    assert "Once upon a time there was an end." in reopened.text


async def test_lenses_send_and_stop_and_a_busy_document_says_so(
    connect: Connect, api: FakeApi, place: Path, workspace: Path
) -> None:
    client = await plain(connect, api, place, "lenses")
    document = chat(client, workspace, "lens", "<!-- a note -->\n\n## You\n\nWait.\n")
    lenses = await client.request("textDocument/codeLens", {"textDocument": {"uri": document.uri}})
    assert [(lens["command"]["title"], lens["range"]["start"]["line"]) for lens in lenses] == [("Send", 2)]
    api.reply(text("Waiting ", hold("stop me"), "on."))
    await client.request("workspace/executeCommand", lenses[0]["command"])
    await api.reached("stop me")
    with pytest.raises(RpcError) as caught:
        await client.request("workspace/executeCommand", {"command": "assent.send", "arguments": [document.uri]})
    assert caught.value.kind in ("busy", "invalidParams")
    (stop,) = await client.request("textDocument/codeLens", {"textDocument": {"uri": document.uri}})
    assert stop["command"]["title"] == "Stop"
    await client.request("workspace/executeCommand", stop["command"])
    await answered(client, document)
    assert "Aborted" in document.text
    api.release("stop me")


async def test_nothing_to_send_says_what_to_do(connect: Connect, api: FakeApi, place: Path, workspace: Path) -> None:
    client = await plain(connect, api, place, "empty")
    document = chat(client, workspace, "empty", "## You\n\n")
    with pytest.raises(RpcError) as caught:
        await client.request("workspace/executeCommand", {"command": "assent.send", "arguments": [document.uri]})
    assert (caught.value.kind, "## You" in caught.value.data["hint"]) == ("invalidParams", True)
    with pytest.raises(RpcError) as caught:
        uri = (workspace / "greeter.py").as_uri()
        await client.request("workspace/executeCommand", {"command": "assent.send", "arguments": [uri]})
    assert caught.value.kind == "unsupported"


async def test_the_same_session_open_twice_is_forked(
    connect: Connect, api: FakeApi, place: Path, workspace: Path
) -> None:
    client = await plain(connect, api, place, "fork")
    document = chat(client, workspace, "original", "## You\n\nRemember 7.\n")
    api.reply(text("I will."))
    await send(client, document)
    await answered(client, document)
    copy = chat(client, workspace, "copy", document.text + "And now?\n")
    api.reply(text("Still 7."))
    await send(client, copy)
    await answered(client, copy, times=2)
    assert copy.text.splitlines()[0] != document.text.splitlines()[0]
    assert "Remember 7." in str(api.calls[-1].messages)


async def test_completion_offers_files_and_commands_in_chat_documents_only(
    connect: Connect, api: FakeApi, place: Path, workspace: Path
) -> None:
    client = await plain(connect, api, place, "completion")
    document = chat(client, workspace, "complete", "## You\n\nlook at @gree\n/comp")

    async def labels(offset: int, uri: str = document.uri) -> list[str]:
        position = document.position(offset)
        answer = await client.request("textDocument/completion", {"textDocument": {"uri": uri}, "position": position})
        return [item["textEdit"]["newText"] for item in answer["items"]] if answer else []

    assert any("greeter.py" in label for label in await labels(document.text.index("@gree") + 5))
    assert any("compact" in label for label in await labels(len(document.text)))
    source = client.open(workspace / "greeter.py")
    assert await labels(5, source.uri) == []


async def test_code_actions_act_in_the_last_used_conversation(
    connect: Connect, api: FakeApi, place: Path, workspace: Path
) -> None:
    client = await plain(connect, api, place, "actions")
    source = client.open(workspace / "greeter.py")
    document = chat(client, workspace, "acting", "## You\n\nHello.\n")
    api.reply(text("Hi."))
    await send(client, document)
    await answered(client, document)
    diagnostic = {"range": source.range(13, 25), "message": "typo in a greeting", "source": "spelling", "severity": 2}
    params = {
        "textDocument": {"uri": source.uri},
        "range": source.range(13, 25),
        "context": {"diagnostics": [diagnostic]},
    }
    actions = {a["title"]: a for a in await client.request("textDocument/codeAction", params)}
    assert [t for t in actions if t.startswith("Assent: ")] == [
        "Assent: Fix: typo in a greeting",
        "Assent: Explain",
        "Assent: Refactor…",
        "Assent: Write tests",
        "Assent: Document",
        "Assent: Ask about selection",
    ]
    only = await client.request(
        "textDocument/codeAction", {**params, "context": {"diagnostics": [], "only": ["refactor.rewrite"]}}
    )
    assert {a["title"] for a in only} == {"Assent: Refactor…", "Assent: Document"}
    api.reply(text("It is spelled Hello."))
    await client.request("workspace/executeCommand", actions["Assent: Fix: typo in a greeting"]["command"])
    await answered(client, document, times=2)
    assert "typo in a greeting" in document.text
    assert "It is spelled Hello." in document.text
    before = document.text
    await client.request("workspace/executeCommand", actions["Assent: Ask about selection"]["command"])
    assert document.text == before + "@greeter.py line 2: "


async def test_actions_are_resolved_for_clients_that_resolve(
    connect: Connect, api: FakeApi, place: Path, workspace: Path
) -> None:
    capabilities: Json = {
        "textDocument": {
            "codeAction": {
                "resolveSupport": {"properties": ["command"]},
                "tagSupport": {"valueSet": [1]},
                "dataSupport": True,
            }
        }
    }
    client = await connect(api=api, home=place / "resolve", capabilities=capabilities)
    source = client.open(workspace / "greeter.py")
    params: Json = {"textDocument": {"uri": source.uri}, "range": NOWHERE, "context": {"diagnostics": []}}
    explain = (await client.request("textDocument/codeAction", params))[0]
    assert (explain["title"], explain["tags"], "command" in explain) == ("Assent: Explain", [1], False)
    resolved = await client.request("codeAction/resolve", explain)
    assert resolved["command"]["command"] == "assent.ask"
    start = len(client.heard)
    api.reply(text("It greets."))
    await client.request("workspace/executeCommand", resolved["command"])
    shown = await client.wait_notification("window/showMessage", after=start)  # no chat document: the words are shown
    assert shown["message"] == "Assent: It greets."


async def test_a_new_chat_document_is_made_on_request(
    connect: Connect, api: FakeApi, place: Path, workspace: Path
) -> None:
    client = await plain(connect, api, place, "newchat")
    made = await client.request("workspace/executeCommand", {"command": "assent.newChat"})
    assert taken(made["uri"]) == "## You\n\n"
    again = await client.request("workspace/executeCommand", {"command": "assent.newChat"})
    assert taken(again["uri"]) == "## You\n\n"


def taken(uri: str) -> str:
    """What a new chat document holds; it is removed again."""
    path = Path(uri.removeprefix("file://"))
    content = path.read_text()
    path.unlink()
    return content
