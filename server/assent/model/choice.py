"""Which model answers: the endpoint the user has credentials for, or the offline stand-in.

The stand-in is chosen when no credentials are found, and named wherever the model is named. It never steps in for an
endpoint that fails: then the user must know.
"""

from collections.abc import AsyncGenerator

from assent.model import catalog, offline
from assent.model.client import ModelClient, ModelSettings, make_call_model
from assent.model.credentials import Credentials
from assent.types.ports import ModelEvent, ModelInfo, ModelRequest


class Models:
    """Routes each call by the model's name. `offline=True` makes the stand-in the default even where there is a key."""

    def __init__(self, settings: ModelSettings | None = None, *, offline_only: bool = False) -> None:
        self._settings = settings or ModelSettings()
        self._client: ModelClient | None = None
        self._offline = offline.make_call_model()
        self.credentials: Credentials = self._settings.endpoint.credentials()
        self.offline = offline_only or self.credentials.source == "none"

    @property
    def default_model(self) -> str:
        return catalog.OFFLINE_MODEL if self.offline else catalog.DEFAULT_MODEL

    @property
    def small_model(self) -> str:
        return catalog.OFFLINE_MODEL if self.offline else catalog.SMALL_MODEL

    def reachable(self, wanted: str) -> str:
        """What a session gets for the model it wants: the stand-in without credentials, never the stand-in with."""
        if self.offline or wanted == catalog.OFFLINE_MODEL:
            return self.default_model
        return catalog.resolve(wanted)

    def call(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if request.model == catalog.OFFLINE_MODEL:
            return self._offline(request)
        return self.client(request)

    @property
    def client(self) -> ModelClient:
        if self._client is None:
            self._client = make_call_model(self._settings)
        return self._client

    def info(self, model: str) -> ModelInfo:
        return catalog.info(model, self._settings.models)

    def secrets(self) -> list[str]:
        """Values that must appear in no log, transcript or child process."""
        held = (self.credentials.api_key, self.credentials.auth_token)
        return [secret for secret in held if secret and secret != "none"]

    async def warm_up(self) -> None:
        if not self.offline:
            await self.client.warm_up()

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()
