"""The configurations of editors that are not run here: what they name is started, and spoken to as that editor would.

What each client says it can do was read from its public sources (the LSP package for Sublime Text, Kate's lspclient
plugin), cut down to what a server may act on. That the editor reads its file is the part no test here shows.
"""

import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from lspclient import Client, Json, Server

EDITORS = Path(__file__).parents[2] / "editors"
GREETER = 'def greet():\n    return "Helo"\n'
NOWHERE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
SENT = "## You\n\nreplace 'Helo' by 'Hello' in greeter.py\n"

SUBLIME: Json = {
    "textDocument": {
        "synchronization": {"dynamicRegistration": True, "didSave": True, "willSave": True, "willSaveWaitUntil": True},
        "hover": {"dynamicRegistration": True, "contentFormat": ["markdown", "plaintext"]},
        "completion": {
            "dynamicRegistration": True,
            "completionItem": {"snippetSupport": True, "insertReplaceSupport": True, "labelDetailsSupport": True},
            "completionList": {"itemDefaults": ["editRange", "insertTextFormat", "data"]},
        },
        "codeAction": {
            "dynamicRegistration": True,
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor", "source.fixAll"]}},
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
        },
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True, "dataSupport": True},
        "codeLens": {"dynamicRegistration": True},
    },
    "workspace": {
        "applyEdit": True,
        "executeCommand": {},
        "workspaceEdit": {"documentChanges": True, "failureHandling": "abort"},
        "workspaceFolders": True,
        "configuration": True,
        "codeLens": {"refreshSupport": True},
        "diagnostics": {"refreshSupport": True},
    },
    "window": {
        "showDocument": {"support": True},
        "showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}},
        "workDoneProgress": True,
    },
    "general": {"regularExpressions": {"engine": "ECMAScript"}},
}
KATE: Json = {
    "textDocument": {
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "publishDiagnostics": {"relatedInformation": True},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}},
        "semanticTokens": {"requests": {"range": True, "full": {"delta": True}}, "tokenTypes": [], "tokenModifiers": [],
                           "formats": ["relative"]},
    },
    "workspace": {"workspaceFolders": True},
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Editor:
    name: str
    command: tuple[str, ...]
    capabilities: Json
    boxes: bool  # whether questions come up as message boxes


def read(*names: str) -> Any:
    return json.loads(EDITORS.joinpath(*names).read_text())


SUBLIME_CLIENT = read("sublime", "LSP.sublime-settings")["clients"]["assent"]
KATE_CLIENT = read("kate", "lspclient.json")["servers"]["markdown"]
EVERY = [
    Editor(name="sublime", command=tuple(SUBLIME_CLIENT["command"]), capabilities=SUBLIME, boxes=True),
    Editor(name="kate", command=tuple(KATE_CLIENT["command"]), capabilities=KATE, boxes=False),
]


@pytest.fixture(params=EVERY, ids=lambda editor: editor.name)
def editor(request: pytest.FixtureRequest) -> Editor:
    return request.param


@pytest_asyncio.fixture
async def client(editor: Editor, tmp_path: Path) -> AsyncIterator[Client]:
    """The program of the configuration, found by its name on PATH, with its project open."""
    launcher = tmp_path / "bin" / "assent"
    launcher.parent.mkdir()
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -m assent.cli.main "$@" --offline\n')
    launcher.chmod(0o755)
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "greeter.py").write_text(GREETER)
    (project / "talk.assent.md").write_text(SENT)
    path = f"{launcher.parent}:{os.environ['PATH']}"
    server = Server(tmp_path / "home", env={"PATH": path}, command=("/usr/bin/env", *editor.command))
    spoken = Client(server)
    await spoken.start()
    await spoken.initialize(project, capabilities=editor.capabilities)
    yield spoken
    await spoken.close()


async def act(client: Client, uri: str, title: str) -> None:
    """Take a code action, as the user would from the editor's list."""
    params: Json = {"textDocument": {"uri": uri}, "range": NOWHERE, "context": {"diagnostics": []}}
    offered = await client.request("textDocument/codeAction", params)
    action = next(each for each in offered if each["title"].startswith(title))
    await client.request("workspace/executeCommand", action["command"])


def test_the_files_say_which_documents_the_server_is_for() -> None:
    assert SUBLIME_CLIENT["enabled"] is True and "markdown" in SUBLIME_CLIENT["selector"]
    assert KATE_CLIENT["highlightingModeRegex"] == "^Markdown$"


@pytest.mark.parametrize("allowed", [True, False], ids=["allowed", "denied"])
async def test_a_chat_document_is_sent_answered_and_its_edit_lands_only_when_allowed(
    editor: Editor, client: Client, tmp_path: Path, allowed: bool
) -> None:
    asked: list[Json] = []

    def choose(params: Json) -> Json:
        asked.append(params)
        words = "Allow once" if allowed else "Deny"
        return next(each for each in params["actions"] if each["title"] == words)

    if editor.boxes:
        client.answers["window/showMessageRequest"] = choose
    project = tmp_path / "project"
    source = client.open(project / "greeter.py", language="python") if editor.name == "sublime" else None
    chat = client.open(project / "talk.assent.md", language="markdown")
    await act(client, chat.uri, "Assent: Send")
    if editor.boxes:
        await client.until(lambda: bool(asked), timeout=120)
        assert asked[0]["actions"][0]["title"] == "Deny"  # what is pre-selected is never a yes
    else:
        await client.wait_notification("window/showMessage", timeout=120)
        await act(client, chat.uri, "Assent: Allow once" if allowed else "Assent: Deny")
    await client.until(lambda: chat.text.endswith("\n\n## You\n\n"), timeout=120)
    wanted = GREETER.replace("Helo", "Hello") if allowed else GREETER
    if source is not None:
        assert source.text == wanted  # through the editor, on its undo stack
        assert (project / "greeter.py").read_text() == GREETER
    else:
        assert (project / "greeter.py").read_text() == wanted
    assert ("I replaced" in chat.text) is allowed


async def test_at_signs_complete_files_in_a_chat_document(client: Client, tmp_path: Path) -> None:
    chat = client.open(tmp_path / "project" / "talk.assent.md", "## You\n\nlook at @gree", language="markdown")
    position = chat.position(len(chat.text))
    answer = await client.request("textDocument/completion", {"textDocument": {"uri": chat.uri}, "position": position})
    assert [item["textEdit"]["newText"] for item in answer["items"]] == ["@greeter.py"]
