"""The same server as pytest-lsp's client sees it: typed by lsprotocol on the other side, as a real editor would be."""

import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

from lspclient import Server

HOME = tempfile.TemporaryDirectory()
COMMAND = [sys.executable, "-I", "-m", "assent.cli.main", "serve", "--stdio", "--offline"]
CONFIG = ClientServerConfig(server_command=COMMAND, server_env=Server(Path(HOME.name)).env)


@pytest_lsp.fixture(config=CONFIG)  # pyright: ignore[reportUnknownMemberType] -- pytest-lsp is half typed
async def library(lsp_client: LanguageClient, tmp_path: Path) -> AsyncIterator[None]:
    @lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)  # pyright: ignore[reportUntypedFunctionDecorator] -- so is pygls
    def register(_params: types.RegistrationParams) -> None:  # pyright: ignore[reportUnusedFunction] -- registered
        return None

    (tmp_path / "greeter.py").write_text('def greet():\n    return "Helo"\n')
    folder = types.WorkspaceFolder(uri=tmp_path.as_uri(), name="workspace")
    capabilities = pytest_lsp.client_capabilities("visual-studio-code")
    params = types.InitializeParams(capabilities=capabilities, workspace_folders=[folder], root_uri=folder.uri)
    await lsp_client.initialize_session(params)
    yield
    await lsp_client.shutdown_session()


async def test_plain_requests_have_the_types_the_protocol_says(library: LanguageClient, tmp_path: Path) -> None:
    uri = (tmp_path / "greeter.py").as_uri()
    text = 'def greet():\n    return "Helo"\n'
    library.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(uri=uri, language_id="python", version=1, text=text))
    )
    document = types.TextDocumentIdentifier(uri=uri)
    start = types.Position(line=0, character=0)
    context = types.CodeActionContext(diagnostics=[])
    actions = await library.text_document_code_action_async(
        types.CodeActionParams(document, types.Range(start, start), context)
    )
    assert actions
    assert all(action.title.startswith("Assent: ") for action in actions)
    assert not await library.text_document_code_lens_async(types.CodeLensParams(document))
    assert await library.text_document_hover_async(types.HoverParams(document, start)) is None
    data = {"action": "explain", "uri": uri, "range": {"start": {"line": 0, "character": 0}}}
    resolved = await library.code_action_resolve_async(types.CodeAction(title="Assent: Explain", data=data))
    assert resolved.command is not None
    assert resolved.command.command == "assent.ask"
