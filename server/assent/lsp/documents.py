"""Text document notifications, in order, into the document store. Handlers are synchronous: order is free that way."""

from typing import Any, cast

from assent.editor.documents import Documents
from assent.lsp.peer import NotificationHandler, params_object
from assent.types.blocks import Json
from assent.types.errors import ProtocolError


def notifications(documents: Documents) -> dict[str, NotificationHandler]:
    def did_open(params: Any) -> None:
        item = _object(params_object(params), "textDocument")
        documents.open(_uri(item), str(item.get("languageId", "")), _version(item), _text(item))

    def did_change(params: Any) -> None:
        whole = params_object(params)
        item = _object(whole, "textDocument")
        changes = whole.get("contentChanges")
        if not isinstance(changes, list):
            raise ProtocolError("invalidParams", "`contentChanges` must be an array")
        version = None if item.get("version") is None else _version(item)  # older clients may know of none
        documents.change(_uri(item), version, cast("list[Json]", changes))

    def did_save(params: Any) -> None:
        whole = params_object(params)
        text = whole.get("text")
        documents.save(_uri(_object(whole, "textDocument")), text if isinstance(text, str) else None)

    def did_close(params: Any) -> None:
        documents.close(_uri(_object(params_object(params), "textDocument")))

    def did_rename(params: Any) -> None:
        for file in _files(params):
            if isinstance(old := file.get("oldUri"), str) and isinstance(new := file.get("newUri"), str):
                documents.rename(old, new)

    def did_delete(params: Any) -> None:
        for file in _files(params):
            if isinstance(uri := file.get("uri"), str):
                documents.delete(uri)

    def did_open_notebook(params: Any) -> None:
        documents.open_notebook(_uri(_object(params_object(params), "notebookDocument")))

    def did_close_notebook(params: Any) -> None:
        documents.close_notebook(_uri(_object(params_object(params), "notebookDocument")))

    return {
        "textDocument/didOpen": did_open,
        "textDocument/didChange": did_change,
        "textDocument/didSave": did_save,
        "textDocument/didClose": did_close,
        "workspace/didRenameFiles": did_rename,
        "workspace/didDeleteFiles": did_delete,
        "notebookDocument/didOpen": did_open_notebook,  # we do not ask for these, but who sends them is believed
        "notebookDocument/didClose": did_close_notebook,
    }


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
