"""Which model answers: the endpoint the user has credentials for, or the offline stand-in.

The stand-in is chosen when no credentials are found, and named wherever the model is named. It never steps in for an
endpoint that fails: then the user must know.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Literal

from assent.model import catalog
from assent.model.settings import ModelSettings
from assent.types.errors import NoCredentials
from assent.types.ports import CallModel, ModelEvent, ModelInfo, ModelRequest
from assent.types.redaction import hold

if TYPE_CHECKING:
    from assent.model.client import ModelClient
    from assent.model.credentials import Credentials


class Models:
    """Routes each call by the model's name. `offline_only` makes the stand-in the default even where there is a key."""

    def __init__(self, settings: ModelSettings | None = None, *, offline_only: bool = False) -> None:
        self._settings = settings or ModelSettings()
        self._client: ModelClient | None = None
        self._stand_in: CallModel | None = None
        self.credentials: Credentials = self._settings.endpoint.credentials()
        chosen_offline = offline_only or self._settings.offline
        self._no_key = not chosen_offline and self.credentials.source == "none"
        self.offline = chosen_offline or self._no_key

    @property
    def cache(self) -> Literal["5m", "1h", "off"]:
        return self._settings.cache

    @property
    def default_model(self) -> str:
        return catalog.OFFLINE_MODEL if self.offline else catalog.DEFAULT_MODEL

    @property
    def small_model(self) -> str:
        if self.offline:
            return catalog.OFFLINE_MODEL
        return catalog.resolve(self._settings.small_model or catalog.SMALL_MODEL)

    def reachable(self, wanted: str) -> str:
        """What a session gets for the model it wants: the stand-in without credentials, never the stand-in with."""
        if self.offline or wanted == catalog.OFFLINE_MODEL:
            return self.default_model
        return catalog.resolve(wanted)

    def require(self, wanted: str) -> str:
        """The model a person picks by name. The stand-in does not pretend to be it: no key, no such model."""
        if self._no_key and wanted != catalog.OFFLINE_MODEL:
            raise NoCredentials(f"{wanted} cannot be reached: there are no credentials ({self.credentials.detail})")
        return self.reachable(wanted)

    def call(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if request.model == catalog.OFFLINE_MODEL:
            return self.stand_in(request)
        return self.client(request)

    @property
    def client(self) -> ModelClient:
        if self._client is None:
            from assent.model.client import make_call_model

            self._client = make_call_model(self._settings)
        return self._client

    @property
    def stand_in(self) -> CallModel:
        if self._stand_in is None:
            from assent.model.offline import make_call_model

            self._stand_in = make_call_model()
        return self._stand_in

    def info(self, model: str) -> ModelInfo:
        return catalog.info(model, self._settings.models)

    def secrets(self) -> list[str]:
        """Values that must appear in no log, transcript or child process."""
        held = [secret for secret in (self.credentials.api_key, self.credentials.auth_token) if secret]
        found = [secret for secret in held if secret != "none"]
        hold(*found)
        return found

    async def warm_up(self) -> None:
        if not self.offline:
            await self.client.warm_up()

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()
