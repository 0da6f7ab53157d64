"""The settings that the editor hands over, kept up to date in `SettingsFiles`.

They come three ways (`initializationOptions.assent.settings`, `workspace/configuration`, and pushed by
`workspace/didChangeConfiguration`); the newest counts, laid over the first.
"""

from collections.abc import Callable
from typing import Any, cast

from assent.lsp.background_work import Spawn
from assent.lsp.client import ConnectedClient
from assent.lsp.rpc.peer import Peer, RemoteError
from assent.storage.settings import SettingsFiles
from assent.types.blocks import Json
from assent.types.ids import new_id


class EditorSettings:
    def __init__(
        self,
        peer: Peer,
        client: ConnectedClient,
        settings: SettingsFiles,
        *,
        spawn: Spawn,
        changed: Callable[[], None],
        place: str = "",
    ) -> None:
        """`place`: under which name they are kept, where there are several editors."""
        self._place = place
        self._peer = peer
        self._client = client
        self._settings = settings
        self._spawn = spawn
        self._changed = changed
        self._apply(client.options.settings or {})

    def begin(self) -> None:
        """After `initialized`: subscribe to changes where that must be asked for, and fetch what is set now."""
        if self._client.can("workspace.didChangeConfiguration.dynamicRegistration"):
            self._spawn(self._register())
        self._fetch_later()

    def pushed(self, params: Any) -> None:
        """`workspace/didChangeConfiguration`: it carries the settings, or says that they can be fetched."""
        settings: Any = cast("Json", params).get("settings") if isinstance(params, dict) else None
        own: Any = cast("Json", settings).get("assent") if isinstance(settings, dict) else None
        if isinstance(own, dict):
            self._lay_over(cast("Json", own))
        else:
            self._fetch_later()

    def _apply(self, values: Json) -> None:
        """`settingsLevel` among the values goes before the one of `initialize`: a file may come to count later."""
        values = dict(values)
        level = values.pop("settingsLevel", self._client.options.settings_level)
        self._settings.set_editor(values, user_level=level == "user", client=self._place)

    def _lay_over(self, values: Json) -> None:
        present = {key: value for key, value in values.items() if value is not None}
        self._apply({**(self._client.options.settings or {}), **present})
        self._changed()

    def _fetch_later(self) -> None:
        if self._client.can("workspace.configuration"):
            self._spawn(self._fetch())

    async def _fetch(self) -> None:
        try:
            answer: Any = await self._peer.request("workspace/configuration", {"items": [{"section": "assent"}]})
        except RemoteError:
            return
        values: Any = cast("list[Any]", answer)[0] if isinstance(answer, list) and answer else None
        if isinstance(values, dict):
            self._lay_over(cast("Json", values))

    async def _register(self) -> None:
        registration = {
            "id": new_id(),
            "method": "workspace/didChangeConfiguration",
            "registerOptions": {"section": "assent"},
        }
        try:
            await self._peer.request("client/registerCapability", {"registrations": [registration]})
        except RemoteError:
            return  # the client then pushes changes by itself, or has none
