"""`assent/trust/*`: read what trusting a folder would activate, and decide it."""

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.text.uris import path_of
from assent.types.blocks import Json
from assent.types.errors import ProtocolError, SettingsError
from assent.wire import requests

_NOT_SAVED = "the answer counts until the server ends, but could not be saved: is the disk full?"


@server.feature("assent/trust/get")
async def get_trust(ls: BaseServer, params: requests.TrustGet) -> Json:
    folder = _folder(params.uri)
    await _look_at_definitions(ls, folder)
    return ls.trust.state(folder).as_json()


@server.feature("assent/trust/set")
async def set_trust(ls: BaseServer, params: requests.TrustSet) -> Json:
    folder = _folder(params.uri)
    if not params.trusted:
        saved = ls.app.trust.set(folder, trusted=False, remember=params.remember)
    elif params.vouch:
        ls.app.trust.vouch(folder, trusted=True)
        saved = True
    else:
        await _look_at_definitions(ls, folder)
        shown = ls.trust.state(folder)
        if shown.items and params.hash != shown.hash:
            raise ProtocolError(
                "staleTrust",
                "what this folder would activate must be shown first, as it is now",
                hint="Show `items` to the user, then send their `hash`.",
                data=shown.as_json(),
            )
        saved = ls.app.trust.set(folder, trusted=True, remember=params.remember, items=shown.items)
    ls.status.publish()
    if not saved:
        raise SettingsError(_NOT_SAVED)
    return {"trusted": ls.trust.state(folder).trusted}


async def _look_at_definitions(ls: BaseServer, folder: str) -> None:
    """Commands, skills and agents of the folder as they are now: trust is about them too."""
    if ls.app.sessions.deps.definitions is not None:
        await ls.app.sessions.deps.definitions.load(folder)


def _folder(uri: str) -> str:
    path = path_of(uri)
    if path is None:
        raise ProtocolError("invalidParams", "`uri` must name a folder on disk", hint="file:///path/to/folder")
    return path
