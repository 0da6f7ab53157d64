"""Text document notifications, in order, into the document store.

Handlers are plain functions, so the order of arrival is kept. Parameters are read leniently and without lsprotocol:
this is the path of every keystroke.
"""

from typing import Any, cast

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.lsp.rpc.peer import params_object
from assent.types.blocks import Json
from assent.types.errors import ProtocolError


@server.feature("textDocument/didOpen")
def did_open(ls: BaseServer, params: Any) -> None:
    item = _object(params_object(params), "textDocument")
    ls.app.editor.documents.open(_uri(item), str(item.get("languageId", "")), _version(item), _text(item))


@server.feature("textDocument/didChange")
def did_change(ls: BaseServer, params: Any) -> None:
    whole = params_object(params)
    item = _object(whole, "textDocument")
    changes = whole.get("contentChanges")
    if not isinstance(changes, list):
        raise ProtocolError("invalidParams", "`contentChanges` must be an array")
    version = None if item.get("version") is None else _version(item)  # older clients may know of none
    ls.app.editor.documents.change(_uri(item), version, cast("list[Json]", changes))


@server.feature("textDocument/didSave")
def did_save(ls: BaseServer, params: Any) -> None:
    whole = params_object(params)
    text = whole.get("text")
    ls.app.editor.documents.save(_uri(_object(whole, "textDocument")), text if isinstance(text, str) else None)


@server.feature("textDocument/didClose")
def did_close(ls: BaseServer, params: Any) -> None:
    ls.app.editor.documents.close(_uri(_object(params_object(params), "textDocument")))


@server.feature("workspace/didRenameFiles")
def did_rename(ls: BaseServer, params: Any) -> None:
    for file in _files(params):
        if isinstance(old := file.get("oldUri"), str) and isinstance(new := file.get("newUri"), str):
            ls.app.editor.documents.rename(old, new)


@server.feature("workspace/didDeleteFiles")
def did_delete(ls: BaseServer, params: Any) -> None:
    for file in _files(params):
        if isinstance(uri := file.get("uri"), str):
            ls.app.editor.documents.delete(uri)


@server.feature("notebookDocument/didOpen")  # we do not ask for these, but a client that sends them is believed
def did_open_notebook(ls: BaseServer, params: Any) -> None:
    ls.app.editor.documents.open_notebook(_uri(_object(params_object(params), "notebookDocument")))


@server.feature("notebookDocument/didClose")
def did_close_notebook(ls: BaseServer, params: Any) -> None:
    ls.app.editor.documents.close_notebook(_uri(_object(params_object(params), "notebookDocument")))


def _object(params: Json, key: str) -> Json:
    value = params.get(key)
    if not isinstance(value, dict):
        raise ProtocolError("invalidParams", f"`{key}` must be an object")
    return cast("Json", value)


def _files(params: Any) -> list[Json]:
    files = params_object(params).get("files")
    found = cast("list[Any]", files) if isinstance(files, list) else []
    return [cast("Json", file) for file in found if isinstance(file, dict)]


def _uri(item: Json) -> str:
    uri = item.get("uri")
    if not isinstance(uri, str) or not uri:
        raise ProtocolError("invalidParams", "`uri` must be a string")
    return uri


def _version(item: Json) -> int:
    version = item.get("version")
    return version if isinstance(version, int) else 0


def _text(item: Json) -> str:
    text = item.get("text")
    if not isinstance(text, str):
        raise ProtocolError("invalidParams", "`text` must be a string")
    return text
