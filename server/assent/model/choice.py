"""Which model answers: the endpoint the user has credentials for, or the offline stand-in.

The stand-in is chosen when no credentials are found, and named wherever the model is named. It never steps in for an
endpoint that fails: then the user must know.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from assent.model import catalog
from assent.model.model_settings import ModelSettings
from assent.types.errors import NoCredentials
from assent.types.ports import CallModel, ModelEvent, ModelInfo, ModelRequest
from assent.types.redaction import hold

if TYPE_CHECKING:
    from assent.model.client import ModelClient
    from assent.model.credentials import Credentials
    from assent.model.endpoint import Endpoint
    from assent.model.endpoint_findings import Findings
    from assent.model.key_check import KeyCheck
    from assent.model.lacking import Lacking
    from assent.model.offered import EndpointModels, OfferedModel, OfferedModels


class Models:
    """Routes each call by the model's name. `offline_only` makes the stand-in the default even where there is a key."""

    def __init__(
        self,
        settings: ModelSettings | None = None,
        *,
        offline_only: bool = False,
        findings: Findings | None = None,
    ) -> None:
        self._settings = settings or ModelSettings()
        self._findings = findings
        self._client: ModelClient | None = None
        self._stand_in: CallModel | None = None
        self._offered: OfferedModels | None = None
        self.credentials: Credentials = self._settings.endpoint.credentials()
        chosen_offline = offline_only or self._settings.offline
        self._no_key = not chosen_offline and self.credentials.source == "none"
        self.offline = chosen_offline or self._no_key

    @property
    def cache(self) -> Literal["5m", "1h", "off"]:
        return self._settings.cache

    @property
    def endpoint_name(self) -> str:
        """Where calls go, in words."""
        endpoint = self._settings.endpoint
        given = endpoint.base_url or endpoint.env.get("ANTHROPIC_BASE_URL")
        return given or ("the default endpoint" if endpoint.provider == "anthropic" else endpoint.provider)

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

    def written(self, name: str) -> str | None:
        """The model that a command, skill, agent or hook names; None where it cannot be reached here. An endpoint of
        the user's own may have models of any name."""
        if self.offline:
            return self.default_model
        endpoint = self._settings.endpoint
        own = bool(endpoint.base_url or endpoint.env.get("ANTHROPIC_BASE_URL")) and not re.search(r"\s|[A-Z]", name)
        return catalog.written_elsewhere(name) or (name if own or name in self._settings.models else None)

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
            self._remember(self._client.lacking)
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

    async def check_key(self, key: str | None, at: Endpoint) -> KeyCheck:
        """Whether the endpoint `at` takes this key, or without one the credentials that are used now."""
        from assent.model.key_check import check_key

        used = self._settings.endpoint
        return await check_key(replace(at, env=used.env, api_key=used.api_key), key, catalog.DEFAULT_MODEL)

    async def offered(self, *, refresh: bool, own: tuple[str, ...]) -> tuple[EndpointModels, list[OfferedModel]]:
        """What a person can choose from: beside what is known, what the endpoint says it has."""
        from assent.model.offered import EndpointModels, OfferedModels, to_choose_from

        if self.offline:
            return EndpointModels(), to_choose_from(EndpointModels(), own, offline=True)
        if self._offered is None:
            where, findings = self._where(), self._findings
            self._offered = OfferedModels(
                endpoint=self._settings.endpoint,
                now=time.time,
                kept=lambda: findings.offer(where) if findings else EndpointModels(),
                keep=lambda offer: findings.keep_offer(where, offer) if findings else None,
            )
        offer = await self._offered.current(refresh=refresh)
        return offer, to_choose_from(offer, own, offline=False)

    def _remember(self, lacking: Lacking) -> None:
        if (findings := self._findings) is None:
            return
        where = self._where()
        lacking.by_model.update(findings.lacking(where))
        lacking.on_change = lambda: findings.keep_lacking(where, lacking.by_model)

    def _where(self) -> str:
        """The endpoint by name, without a user or a key that an address may hold."""
        endpoint = self._settings.endpoint
        address = endpoint.base_url or endpoint.env.get("ANTHROPIC_BASE_URL") or ""
        return f"{endpoint.provider} {re.sub(r'//[^/@]*@', '//', address).split('?')[0]}".strip()

    async def warm_up(self) -> None:
        if not self.offline:
            await self.client.warm_up()

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()
