"""Hover: which turn and which prompt wrote this line, with a way to take it back."""

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from assent.text.uris import same_document
from assent.types.blocks import Json

if TYPE_CHECKING:
    from assent.lsp.connection import Connection


def shown(connection: "Connection", uri: str, line: int) -> Json | None:
    found = connection.app.editor.provenance.hover(same_document(uri), line)
    if found is None:
        return None
    command: Json = found["command"]
    link = f"command:{command['command']}?{quote(json.dumps(command['arguments']))}"
    text = f"{found['markdown']}\n\n[{command['title']}]({link})"
    return {"contents": {"kind": "markdown", "value": text}, "range": found["range"]}
