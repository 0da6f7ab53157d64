"""The connected client: what it said in `initialize`, read leniently. A newer editor may say things we do not know.

Only data and questions about it; nothing here talks to the client.
"""

import os
from typing import Any, cast

import msgspec

from assent.lsp.capabilities import position_encoding
from assent.types.blocks import Json
from assent.wire.requests import ClientFlags, InitializationOptions

DEFAULT_EVENT_RATE = 60


class ConnectedClient:
    def __init__(self, params: Json) -> None:
        options = params.get("initializationOptions")
        own: Any = cast("Json", options).get("assent") if isinstance(options, dict) else None
        self.warnings: list[Json] = []
        self.options = self._options(own)
        self.speaks_assent = isinstance(own, dict)  # or becomes so with the first session method it calls
        self.capabilities = _object(params.get("capabilities"))
        self.process_id = _process_id(params.get("processId"))
        self.name = str(_object(params.get("clientInfo")).get("name", ""))
        self.encoding = position_encoding(self.capabilities)
        self.folders = _folders(params)  # {uri: name}

    @property
    def flags(self) -> ClientFlags:
        return self.options.client

    @property
    def event_rate(self) -> int:
        rate = self.options.max_event_rate
        return DEFAULT_EVENT_RATE if rate is None else max(1, round(rate)) if rate > 0 else 0

    def can(self, path: str) -> Any:
        """A capability by its dotted path, or None."""
        value: Any = self.capabilities
        for part in path.split("."):
            value = cast("Json", value).get(part) if isinstance(value, dict) else None
        return value

    def roots(self) -> tuple[str, ...]:
        from assent.text.uris import path_of

        paths = [path_of(uri) for uri in self.folders]
        return tuple(os.path.normpath(path) for path in paths if path)

    def change_folders(self, params: Json) -> None:
        event = _object(params.get("event"))
        for folder in _list(event.get("removed")):
            self.folders.pop(str(folder.get("uri")), None)
        for folder in _list(event.get("added")):
            self.folders[str(folder.get("uri"))] = str(folder.get("name", ""))

    def _options(self, own: Any) -> InitializationOptions:
        """Each field is decoded alone: a wrong value is left out, and all others still count."""
        if not isinstance(own, dict):
            return InitializationOptions()
        values: Json = {}
        for key, value in cast("Json", own).items():
            try:
                msgspec.convert({key: value}, InitializationOptions)
            except msgspec.ValidationError as error:
                value = _sound_flags(value) if key == "client" else None
                self._warn(f"initializationOptions.assent.{key}: {error}")
            if value is not None:
                values[key] = value
        return msgspec.convert(values, InitializationOptions)

    def _warn(self, text: str) -> None:
        self.warnings.append({"kind": "initializationOptions", "text": text, "hint": "See the protocol's page."})


def _sound_flags(value: Any) -> Json | None:
    if not isinstance(value, dict):
        return None
    return {name: flag for name, flag in cast("Json", value).items() if isinstance(flag, bool)}


def _folders(params: Json) -> dict[str, str]:
    folders = {str(folder["uri"]): str(folder.get("name", "")) for folder in _list(params.get("workspaceFolders"))}
    if folders:
        return folders
    if isinstance(root := params.get("rootUri"), str) and root:
        return {root: ""}
    if isinstance(path := params.get("rootPath"), str) and path:
        from assent.text.uris import uri_of

        return {uri_of(path): ""}
    return {}


def _process_id(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31 else None


def _object(value: Any) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Json]:
    if not isinstance(value, list):
        return []
    return [cast("Json", item) for item in cast("list[Any]", value) if isinstance(item, dict) and "uri" in item]
