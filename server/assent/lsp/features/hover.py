"""Hover: which turn and which prompt wrote this line, with a way to take it back."""

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.text.uris import same_document
from assent.types.blocks import Json

if TYPE_CHECKING:
    from lsprotocol import types


@server.feature("textDocument/hover", on_cancel="stop")
async def hover(ls: BaseServer, params: "types.HoverParams") -> Json | None:
    found = ls.app.editor.provenance.hover(same_document(params.text_document.uri), params.position.line)
    if found is None:
        return None
    command: Json = found["command"]
    link = f"command:{command['command']}?{quote(json.dumps(command['arguments']))}"
    text = f"{found['markdown']}\n\n[{command['title']}]({link})"
    return {"contents": {"kind": "markdown", "value": text}, "range": found["range"]}
