"""What `initialize` answers. Written out here, not computed by pygls, so that the answer needs no slow import.

A test holds this page against the features that are really registered.
"""

from assent import __version__
from assent.lsp.client import Client
from assent.types.blocks import Json
from assent.wire import CLIENT_REQUESTS, FEATURES, PROTOCOL_VERSION

CODE_ACTION_KINDS = ("quickfix", "refactor", "refactor.rewrite", "source")

COMMANDS: tuple[str, ...] = (
    "assent.acceptAll",
    "assent.acceptFile",
    "assent.acceptHunk",
    "assent.answerAsk",
    "assent.ask",
    "assent.interrupt",
    "assent.newChat",
    "assent.rejectAll",
    "assent.rejectFile",
    "assent.rejectHunk",
    "assent.revertHunk",
    "assent.send",
    "assent.trust",
)

_EVERY_FILE: Json = {"filters": [{"scheme": "file", "pattern": {"glob": "**/*"}}]}


def initialize_result(client: Client) -> Json:
    return {
        "capabilities": {
            "positionEncoding": client.encoding,
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
                "assent": {
                    "protocol": PROTOCOL_VERSION,
                    "methods": sorted(CLIENT_REQUESTS),
                    "features": list(FEATURES),
                }
            },
        },
        "serverInfo": {"name": "assent", "version": __version__},
    }
