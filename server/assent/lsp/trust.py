"""Trust in a workspace: set by request, asked once, never in anyone's way.

The question comes with the first session of a folder whose files hold something that trust would activate; until it is
answered the folder stays restricted. What a client vouches for in `initialize` holds for this process.
"""

from typing import TYPE_CHECKING

from assent.editor.uris import path_of, uri_of
from assent.lsp.peer import RemoteError
from assent.lsp.plain_asks import choose
from assent.sessions.front import Call
from assent.types.blocks import Json
from assent.types.errors import ProtocolError, SettingsError

if TYPE_CHECKING:
    from assent.lsp.connection import Connection

_TRUST, _RESTRICT = "Trust this folder", "Stay restricted"


async def set_trust(connection: "Connection", params: Json, call: Call) -> Json:
    path = path_of(params["uri"])
    if path is None:
        raise ProtocolError("invalidParams", "`uri` must name a folder on disk", hint="file:///path/to/folder")
    saved = connection.app.trust.set(path, trusted=params["trusted"], remember=params.get("remember", "session"))
    connection.status.publish()
    if not saved:
        raise SettingsError("the answer counts until the server ends, but could not be saved: is the disk full?")
    return {"trusted": connection.app.trust.trusted(path)}


HANDLERS = {"assent/trust/set": set_trust}


def vouch(connection: "Connection") -> None:
    trusted = connection.client.options.trusted
    if trusted is not None:
        for root in connection.client.roots():
            connection.app.trust.set(root, trusted=trusted, remember="session")


def withheld(connection: "Connection", folder: str) -> list[str]:
    """What trusting the folder would activate, in words."""
    return list(connection.app.settings.load(folder, trusted=False).withheld)


def folders(connection: "Connection") -> list[Json]:
    trust = connection.app.trust
    described: list[Json] = []
    for root in connection.client.roots():
        trusted = trust.trusted(root)
        described.append(
            {"uri": uri_of(root), "trusted": trusted, "withheld": [] if trusted else withheld(connection, root)}
        )
    return described


def ask_later(connection: "Connection", session_id: str) -> None:
    """Ask about the session's folder, unless it was asked, decided, or holds nothing to trust. Does not wait."""
    session = connection.app.sessions.live.get(session_id)
    if session is None or session.cwd in connection.trust_asked or connection.app.trust.decided(session.cwd):
        return
    found = withheld(connection, session.cwd)
    if found:
        connection.trust_asked.add(session.cwd)
        connection.spawn(_ask(connection, session.cwd, found))


async def _ask(connection: "Connection", folder: str, found: list[str]) -> None:
    text = f"Assent: do you trust {folder}? Trusting it would activate: {'; '.join(found[:6])}"
    try:
        speaks_assent = connection.client.speaks_assent
        buttons = [_RESTRICT, _TRUST]  # editors pre-select the first one: it must not be a yes
        chosen = await choose(connection.peer, text, buttons, speaks_assent=speaks_assent)
    except RemoteError:
        return  # no dialog here; `assent.trust` and assent/trust/set remain
    if chosen is not None:
        remember = "always" if chosen == _TRUST else "session"
        connection.app.trust.set(folder, trusted=chosen == _TRUST, remember=remember)
        connection.status.publish()
