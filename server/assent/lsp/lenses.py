"""Code lenses: decide pending hunks where they are, send a chat document, stop its turn."""

from typing import TYPE_CHECKING

from assent.editor.surfaces import hunk_lenses
from assent.lsp.chat_documents import is_chat
from assent.text.uris import same_document
from assent.types.blocks import Json

if TYPE_CHECKING:
    from assent.lsp.connection import Connection


def shown(connection: "Connection", uri: str) -> list[Json]:
    uri = same_document(uri)
    if is_chat(uri):
        return connection.chats.lenses(uri)
    if connection.client.flags.review:
        return []
    return hunk_lenses(connection.app.editor.proposals.list(uri=uri))
