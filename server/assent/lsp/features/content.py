"""Read-only documents under `assent:`, for editors that can open them: conversations, plans, proposals.

assent:/session/ID.md     the conversation as Markdown      assent:/session/ID.json   the same as JSON
assent:/proposal/ID.diff  a proposal as a diff               assent:/plan/ID.md        the session's plan
assent:/trust/FOLDER.md   what trusting the folder would activate
assent:/help.md           what there is
"""

from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

import msgspec

from assent.lsp.base import BaseServer
from assent.lsp.plain_asks import diff_of
from assent.lsp.registry import server
from assent.sessions.asking.trust_question import listing
from assent.sessions.stream.front import Call
from assent.text.uris import split
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.wire import requests
from assent.wire.shapes import Proposal

if TYPE_CHECKING:
    from lsprotocol import types

LANGUAGES = {"md": "markdown", "json": "json", "diff": "diff"}


@server.feature("assent/document/read", on_cancel="stop")
async def read_document(ls: BaseServer, params: requests.DocumentRead) -> Json:
    parts = split(params.uri)
    if parts.scheme != "assent":
        raise ProtocolError(
            "unsupported", "only `assent:` documents can be read here", hint="Open files in the editor."
        )
    path = unquote(parts.path or parts.netloc).strip("/")
    kind, _, name = path.rpartition("/")
    stem, _, ending = name.rpartition(".")
    match kind, ending:
        case "", "md" if stem == "help":
            text = __doc__ or ""
        case "session", "md" | "json":
            text = await _export(ls, stem, "markdown" if ending == "md" else "json")
        case "plan", "md":
            text = (await ls.app.sessions.session(stem)).state.plan
        case "proposal", "diff":
            text = diff_of(msgspec.convert(ls.app.editor.proposals.get(stem), Proposal))
        case _ if path.startswith("trust/") and ending == "md":
            folder = "/" + path.removeprefix("trust/").removesuffix(".md").lstrip("/")
            text = listing(ls.trust.state(folder))
        case _:
            raise ProtocolError("unsupported", f"there is no document {params.uri}", hint="Read assent:/help.md.")
    return {"text": text, "languageId": LANGUAGES[ending]}


@server.feature("workspace/textDocumentContent", on_cancel="stop")
async def text_document_content(ls: BaseServer, params: "types.TextDocumentContentParams") -> Json:
    answer = await read_document(ls, requests.DocumentRead(uri=params.uri))
    return {"text": answer["text"]}


async def _export(ls: BaseServer, session_id: str, format: Literal["markdown", "json"]) -> str:
    return (await ls.app.sessions.stored.export(requests.SessionExport(session_id, format=format), Call())).text
