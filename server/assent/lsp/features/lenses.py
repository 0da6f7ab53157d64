"""Code lenses: decide pending hunks where they are, send a chat document, stop its turn."""

from typing import TYPE_CHECKING

from assent.editor.surfaces import hunk_lenses
from assent.lsp.base import BaseServer
from assent.lsp.chat.chat_documents import is_chat
from assent.lsp.registry import server
from assent.text.uris import same_document
from assent.types.blocks import Json

if TYPE_CHECKING:
    from lsprotocol import types


@server.feature("textDocument/codeLens", on_cancel="stop")
async def code_lens(ls: BaseServer, params: "types.CodeLensParams") -> list[Json]:
    uri = same_document(params.text_document.uri)
    if is_chat(uri):
        return ls.chats.lenses(uri)
    if ls.client.flags.review:
        return []
    return hunk_lenses(ls.app.editor.proposals.list(uri=uri))
