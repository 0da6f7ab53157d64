"""The answer to `initialize`, as plain data: it can be sent before anything slow is imported.

Standard library only. The names of methods and commands come from `served`, which `make protocol` writes; a test
compares this page with what is registered, and with the capabilities that pygls computes from it.
"""

from typing import Any, cast

from assent import __version__
from assent.lsp.served import COMMANDS, FEATURES, METHODS, PROTOCOL_VERSION

CODE_ACTION_KINDS = ("quickfix", "refactor", "refactor.rewrite", "source")
ENCODINGS = ("utf-16", "utf-8", "utf-32")

_EVERY_FILE = {"filters": [{"scheme": "file", "pattern": {"glob": "**/*"}}]}


def initialize_result(params: dict[str, Any]) -> dict[str, Any]:
    return {
        "capabilities": {
            "positionEncoding": position_encoding(params.get("capabilities")),
            "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
            "codeActionProvider": {"codeActionKinds": list(CODE_ACTION_KINDS), "resolveProvider": True},
            "codeLensProvider": {"resolveProvider": False},
            "hoverProvider": True,
            "completionProvider": {"triggerCharacters": ["@", "/"], "resolveProvider": False},
            "executeCommandProvider": {"commands": list(COMMANDS), "workDoneProgress": False},
            "workspace": {
                "workspaceFolders": {"supported": True, "changeNotifications": True},
                "fileOperations": {"didRename": _EVERY_FILE, "didDelete": _EVERY_FILE},
                "textDocumentContent": {"schemes": ["assent"]},
            },
            "experimental": {
                "assent": {"protocol": PROTOCOL_VERSION, "methods": list(METHODS), "features": list(FEATURES)}
            },
        },
        "serverInfo": {"name": "assent", "version": __version__},
    }


def position_encoding(capabilities: Any) -> str:
    """utf-16 whenever the client offers it or offers nothing we know; else the first of its encodings that we know."""
    general = cast("dict[str, Any]", capabilities).get("general") if isinstance(capabilities, dict) else None
    offered = cast("dict[str, Any]", general).get("positionEncodings") if isinstance(general, dict) else None
    if not isinstance(offered, list) or "utf-16" in offered:
        return "utf-16"
    return next((encoding for encoding in cast("list[Any]", offered) if encoding in ENCODINGS), "utf-16")
