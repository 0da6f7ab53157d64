"""Trust in a workspace: read and set by request, asked once for each state of its files, never in anyone's way.

The question comes with the first session or prompt in a folder whose files hold something that trust would activate and
that nobody has approved; until it is answered those items have no effect. What a client vouches for in `initialize`
holds for this process, and never for hooks and MCP servers.
"""

import contextlib
from typing import TYPE_CHECKING
from urllib.parse import quote

from assent.lsp.peer import RemoteError
from assent.lsp.plain_asks import choose
from assent.sessions.asking.trust_question import TrustState, approve, listing, look, question
from assent.sessions.stream.front import Call
from assent.storage.files import write_atomically
from assent.text.uris import path_of, uri_of
from assent.types.blocks import Json
from assent.types.errors import ProtocolError, SettingsError

if TYPE_CHECKING:
    from assent.lsp.connection import Connection

_TRUST, _RESTRICT, _SHOW = "Trust this folder", "Stay restricted", "Show all"
_NOT_SAVED = "the answer counts until the server ends, but could not be saved: is the disk full?"


async def get_trust(connection: "Connection", params: Json, call: Call) -> Json:
    return state(connection, _folder(params)).as_json()


async def set_trust(connection: "Connection", params: Json, call: Call) -> Json:
    folder = _folder(params)
    remember = params.get("remember", "session")
    app = connection.app
    if not params["trusted"]:
        saved = app.trust.set(folder, trusted=False, remember=remember)
    elif params.get("vouch"):
        app.trust.vouch(folder, trusted=True)
        saved = True
    else:
        shown = state(connection, folder)
        if shown.items and params.get("hash") != shown.hash:
            raise ProtocolError(
                "staleTrust",
                "what this folder would activate must be shown first, as it is now",
                hint="Show `items` to the user, then send their `hash`.",
                data=shown.as_json(),
            )
        saved = app.trust.set(folder, trusted=True, remember=remember, items=shown.items)
    connection.status.publish()
    if not saved:
        raise SettingsError(_NOT_SAVED)
    return {"trusted": state(connection, folder).trusted}


HANDLERS = {"assent/trust/get": get_trust, "assent/trust/set": set_trust}


def state(connection: "Connection", folder: str) -> TrustState:
    return look(connection.app.settings, connection.app.trust, folder)


def vouch(connection: "Connection") -> None:
    trusted = connection.client.options.trusted
    if trusted is not None:
        for root in connection.client.roots():
            connection.app.trust.vouch(root, trusted=trusted)


def folders(connection: "Connection") -> list[Json]:
    described: list[Json] = []
    for root in connection.client.roots():
        loaded = connection.app.settings.load(root, trust=connection.app.trust.of(root))
        described.append(
            {"uri": uri_of(root), "trusted": state(connection, root).trusted, "withheld": list(loaded.withheld)}
        )
    return described


def ask_later(connection: "Connection", session_id: str) -> None:
    """Ask about the session's folder, unless this was asked before or there is nothing to approve. Does not wait."""
    session = connection.app.sessions.live.get(session_id)
    if session is None:
        return
    found = state(connection, session.cwd)
    refused = connection.app.trust.decided(session.cwd) and not found.answer.trusted
    if refused or not found.unapproved or (session.cwd, found.hash) in connection.trust_asked:
        return
    connection.trust_asked.add((session.cwd, found.hash))
    connection.spawn(_ask_where_possible(connection, session.cwd))


async def _ask_where_possible(connection: "Connection", folder: str) -> None:
    with contextlib.suppress(RemoteError):  # no dialog here; `assent.trust` and assent/trust/set remain
        await ask(connection, folder)


async def ask(connection: "Connection", folder: str) -> bool:
    """Ask until the answer is about what the files hold; whether the folder is trusted then.

    Raises RemoteError where the client has no dialog.
    """
    while True:
        shown = state(connection, folder)
        chosen = await _choice(connection, shown)
        if chosen == _TRUST:
            if approve(connection.app.settings, connection.app.trust, shown, remember="always") is None:
                continue  # the files changed while the question was open
        elif chosen == _RESTRICT and not shown.changed:
            connection.app.trust.set(folder, trusted=False, remember="session")
        if chosen is not None:
            connection.status.publish()
        return state(connection, folder).trusted


async def _choice(connection: "Connection", shown: TrustState) -> str | None:
    text, cut = question(shown)
    buttons = [_RESTRICT, _TRUST]  # editors pre-select the first one: it must not be a yes
    speaks_assent = connection.client.speaks_assent
    offered = [*buttons, _SHOW] if cut else buttons
    chosen = await choose(connection.peer, text, offered, speaks_assent=speaks_assent)
    if chosen == _SHOW:
        await _show(connection, shown)
        chosen = await choose(connection.peer, text, buttons, speaks_assent=speaks_assent)
    return chosen


async def _show(connection: "Connection", shown: TrustState) -> None:
    """Open the whole list beside the question: as one of our documents where the editor reads those, else as a file."""
    if connection.client.can("workspace.textDocumentContent"):
        uri = document_uri(shown.folder)
    else:
        file = connection.app.sessions.deps.data_dir / "trust.md"
        write_atomically(file, listing(shown).encode())
        uri = file.as_uri()
    with contextlib.suppress(RemoteError):
        await connection.peer.request("window/showDocument", {"uri": uri, "takeFocus": False})


def document_uri(folder: str) -> str:
    return f"assent:/trust/{quote(folder, safe='')}.md"


def _folder(params: Json) -> str:
    path = path_of(params["uri"])
    if path is None:
        raise ProtocolError("invalidParams", "`uri` must name a folder on disk", hint="file:///path/to/folder")
    return path
