"""The server is a pygls server: what we override is there, what we do not use stays private, and both stages agree."""

import ast
import asyncio
import inspect
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from assent.lsp import features
from assent.lsp.base import BaseServer
from assent.lsp.capabilities import initialize_result
from assent.lsp.client import ConnectedClient
from assent.lsp.protocol import AssentProtocol
from assent.lsp.registry import server as table
from assent.lsp.rpc import envelope
from assent.lsp.rpc.peer import Peer, RemoteError
from assent.lsp.server import AssentServer
from assent.types.blocks import Json

ROOT = Path(__file__).parents[2]
OVERRIDDEN: dict[type, tuple[str, ...]] = {
    LanguageServer: (
        "client_capabilities",
        "report_server_error",
        "server_capabilities",
        "start_io",
        "start_tcp",
        "start_ws",
        "thread",
    ),
    LanguageServerProtocol: (
        "handle_message",
        "notify",
        "send_request",
        "send_request_async",
        "set_writer",
        "structure_message",
    ),
}
USED: dict[type, tuple[str, ...]] = {
    LanguageServer: ("command", "feature"),
    LanguageServerProtocol: ("get_result_type",),
}


def made() -> tuple[AssentServer, list[Json]]:
    """A server on a peer whose messages are kept, with no program behind it."""
    features.load()
    sent: list[Json] = []
    early = BaseServer.__new__(BaseServer)
    early.peer = Peer(lambda body, _urgent: sent.append(orjson.loads(body)))
    early.client = ConnectedClient({"capabilities": {"general": {"positionEncodings": ["utf-8"]}}})
    return AssentServer(early), sent


def test_pygls_has_every_name_that_we_override_or_use() -> None:
    for ours, theirs in ((AssentServer, LanguageServer), (AssentProtocol, LanguageServerProtocol)):
        for name in OVERRIDDEN[theirs]:
            assert hasattr(theirs, name), f"{theirs.__name__}.{name} is gone"
            assert name in vars(ours), f"{ours.__name__} no longer overrides {name}"
        for name in USED[theirs]:
            assert hasattr(theirs, name), f"{theirs.__name__}.{name} is gone"
    server, _ = made()
    registry: Any = server.protocol.fm
    assert set(registry.features) == set(table.features)
    assert set(registry.commands) == set(table.commands)


def test_pygls_is_pinned_below_the_next_major_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert any(needed.startswith("pygls") and needed.endswith("<3") for needed in project["dependencies"])


@pytest.mark.parametrize("module", ["protocol.py", "server.py"])
def test_no_private_name_of_pygls_is_touched(module: str) -> None:
    tree = ast.parse((ROOT / "server/assent/lsp" / module).read_text())
    ours = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    touched = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
    }
    assert touched <= ours


def test_every_function_of_the_table_is_registered_with_the_server_in_it() -> None:
    server, _ = made()
    registry: Any = server.protocol.fm
    for method, function in registry.features.items():
        inner: Callable[..., Any] = function.func
        assert inner is table.features[method].function
        assert next(iter(inspect.signature(inner).parameters)) == "ls"


def test_the_capabilities_that_pygls_computes_are_among_those_we_announce() -> None:
    server, _ = made()
    registry: Any = server.protocol.fm
    computed = ServerCapabilitiesBuilder(
        types.ClientCapabilities(),
        set(registry.features),
        registry.feature_options,
        list(registry.commands),
        types.TextDocumentSyncKind.Incremental,
        None,
        types.PositionEncodingKind.Utf16,
    ).build()
    plain = cast("Json", server.protocol.converter.unstructure(computed))
    announced = initialize_result({})["capabilities"]
    assert {name for name in plain if name.endswith("Provider")} == {
        name for name in announced if name.endswith("Provider")
    }
    assert sorted(plain["executeCommandProvider"]["commands"]) == announced["executeCommandProvider"]["commands"]


def test_capabilities_of_both_sides_can_be_read_as_a_pygls_user_expects() -> None:
    server, _ = made()
    general = server.client_capabilities.general
    assert general is not None and list(general.position_encodings or ()) == ["utf-8"]
    assert server.server_capabilities.position_encoding == types.PositionEncodingKind.Utf8


async def test_the_typed_client_api_works_over_our_peer() -> None:
    server, sent = made()
    params = types.ShowMessageRequestParams(
        type=types.MessageType.Info, message="Go?", actions=[types.MessageActionItem(title="Yes")]
    )
    asking = asyncio.ensure_future(server.window_show_message_request_async(params))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert sent[0]["method"] == "window/showMessageRequest"
    assert sent[0]["params"] == {"type": 3, "message": "Go?", "actions": [{"title": "Yes"}]}
    server.protocol.handle_message(
        server.protocol.structure_message({"jsonrpc": "2.0", "id": sent[0]["id"], "result": {"title": "Yes"}})
    )
    async with asyncio.timeout(120):
        assert await asking == types.MessageActionItem(title="Yes")
    server.window_show_message(types.ShowMessageParams(type=types.MessageType.Info, message="Hi"))
    assert sent[1] == {"jsonrpc": "2.0", "method": "window/showMessage", "params": {"type": 3, "message": "Hi"}}


async def test_a_request_through_pygls_fails_with_the_error_of_the_client() -> None:
    server, sent = made()
    answer = server.protocol.send_request("workspace/codeLens/refresh")
    await asyncio.sleep(0)
    error = {"code": -32601, "message": "no such method"}
    server.protocol.handle_message(envelope.message({"jsonrpc": "2.0", "id": sent[0]["id"], "error": error}))
    async with asyncio.timeout(120):
        with pytest.raises(RemoteError, match="no such method"):
            await asyncio.wrap_future(answer)


async def test_a_handler_may_answer_lsprotocol_types_or_plain_json() -> None:
    server, sent = made()

    async def typed(ls: AssentServer, params: types.HoverParams) -> types.Hover:
        assert ls is server and params.position.line == 3
        return types.Hover(contents="typed")

    registry: Any = server.protocol.fm
    registry.features.pop("textDocument/hover")
    server.feature("textDocument/hover")(typed)
    server.protocol.serve()
    where = {"textDocument": {"uri": "file:///a"}, "position": {"line": 3, "character": 0}}
    for number, params in ((1, where), (2, {})):
        request = {"jsonrpc": "2.0", "id": number, "method": "textDocument/hover", "params": params}
        server.protocol.handle_message(server.protocol.structure_message(request))
    await asyncio.wait(asyncio.all_tasks() - {cast("asyncio.Task[Any]", asyncio.current_task())}, timeout=120)
    answers = {message["id"]: message for message in sent}
    assert answers[1]["result"] == {"contents": "typed"}
    assert answers[2]["error"]["data"]["kind"] == "invalidParams"


def test_what_would_block_the_loop_or_open_a_port_is_refused() -> None:
    server, _ = made()
    for refused in (
        server.thread,
        server.start_io,
        lambda: server.start_tcp("127.0.0.1", 0),
        lambda: server.start_ws("127.0.0.1", 0),
        lambda: server.protocol.set_writer(None),
    ):
        with pytest.raises(RuntimeError):
            refused()
