"""Completion where prompts are written: `@` names files, `/` names commands. The sessions layer knows what there is.

That is in chat documents, and in an editor's own prompt, which it opens as `assent://prompt/SESSION`.
"""

from typing import TYPE_CHECKING

from assent.lsp.base import BaseServer
from assent.lsp.chat.chat_documents import is_chat
from assent.lsp.registry import server
from assent.sessions.stream.front import Call
from assent.text.positions import offset_at
from assent.text.uris import same_document
from assent.types.blocks import Json
from assent.wire import requests

if TYPE_CHECKING:
    from lsprotocol import types

_KINDS = {"file": 17, "folder": 19, "command": 3, "agent": 9, "symbol": 18}  # CompletionItemKind
_TEXT = 1
_PROMPT = "assent://prompt/"


@server.feature("textDocument/completion", on_cancel="stop")
async def completion(ls: BaseServer, params: "types.CompletionParams") -> Json | None:
    uri = same_document(params.text_document.uri)
    position: Json = {"line": params.position.line, "character": params.position.character}
    document = ls.app.editor.documents.get(uri)
    if document is None or not (is_chat(uri) or uri.startswith(_PROMPT)):
        return None
    offset = offset_at(document.text, document.lines, position, ls.app.editor.documents.encoding)
    start = document.lines.start(document.lines.line_of(offset))
    before = document.text[start:offset]
    session_id = uri.removeprefix(_PROMPT) if uri.startswith(_PROMPT) else ls.chats.session_of(uri)
    wanted = requests.Complete(before, len(before), session_id=session_id or None)
    answer = await ls.app.sessions.tools.complete(wanted, Call())
    word = _word(before)
    replaced = {"start": {**position, "character": position["character"] - len(word)}, "end": position}
    items = [
        {
            "label": item.label,
            "kind": _KINDS.get(item.kind, _TEXT),
            "detail": item.detail,
            "filterText": word[:1] + item.label.lstrip(word[:1]),
            "textEdit": {"range": replaced, "newText": item.insert_text},
        }
        for item in answer.items
    ]
    return {"isIncomplete": True, "items": items}


def _word(before: str) -> str:
    """What is being completed: from the last `@` or leading `/` to the cursor. ASCII, so units are characters."""
    at = max(before.rfind("@"), 0 if before.startswith("/") else -1)
    word = before[at:] if at >= 0 else ""
    return "" if any(char.isspace() for char in word) or not word.isascii() else word
