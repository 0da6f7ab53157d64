"""Which models the endpoint offers: its own list, asked for when somebody wants to choose, and kept for a day.

The list is asked for as both the Messages API and local servers give it (`GET /v1/models`). An endpoint that has none,
or that cannot be reached, costs nothing but the names it would have had: the known ones are always there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio
import anyio.to_thread

from assent.model import catalog
from assent.model.endpoint import Endpoint
from assent.model.sdk import make_client
from assent.text.words import one_line
from assent.types.errors import ModelError
from assent.types.redaction import redact

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

SECONDS = 10.0
KEPT_SECONDS = 24 * 3600.0
MOST = 500  # names; a list beyond that is cut
_PATH = "/v1/models"

Source = Literal["endpoint", "known", "settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedModel:
    id: str
    name: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointModels:
    """What the endpoint said last. `error` says why the newest try failed; `models` are then from an earlier one."""

    endpoint: str = ""
    models: tuple[OfferedModel, ...] = ()
    asked_at: float = 0.0
    error: str = ""


@dataclass(slots=True, kw_only=True)
class OfferedModels:
    """`kept` and `keep` are where the last answer lies between two runs."""

    endpoint: Endpoint
    now: Callable[[], float]
    kept: Callable[[], EndpointModels]
    keep: Callable[[EndpointModels], None]
    _offer: EndpointModels | None = None
    _asking: anyio.Lock = field(default_factory=anyio.Lock)

    async def current(self, *, refresh: bool = False) -> EndpointModels:
        async with self._asking:
            offer = self._offer or await anyio.to_thread.run_sync(self.kept)
            if refresh or not 0 <= self.now() - offer.asked_at < KEPT_SECONDS:
                found = await self._ask()
                offer = found if not found.error else EndpointModels(
                    endpoint=found.endpoint, models=offer.models, asked_at=offer.asked_at, error=found.error
                )  # fmt: skip
                if not found.error:
                    await anyio.to_thread.run_sync(self.keep, offer)
            self._offer = offer
            return offer

    async def _ask(self) -> EndpointModels:
        if self.endpoint.provider != "anthropic":
            return EndpointModels(endpoint=self.endpoint.provider, asked_at=self.now())
        try:
            sdk = await anyio.to_thread.run_sync(make_client, self.endpoint)
        except ModelError as error:
            return EndpointModels(endpoint=self.endpoint.base_url or "", error=redact(str(error)))
        try:
            return await self._listed(sdk)
        finally:
            await sdk.close()

    async def _listed(self, sdk: AsyncAnthropic) -> EndpointModels:
        import anthropic
        import httpx2

        where = str(sdk.base_url).rstrip("/")
        try:
            with anyio.fail_after(SECONDS):
                answer = await sdk.get(f"{_PATH}?limit=1000", cast_to=httpx2.Response)
            found = names_in(answer.json())
        except TimeoutError:
            return EndpointModels(endpoint=where, error=f"It did not answer within {SECONDS:.0f} s.")
        except (anthropic.AnthropicError, httpx2.HTTPError, OSError, ValueError) as error:
            return EndpointModels(endpoint=where, error=redact(str(error))[:300])
        return EndpointModels(endpoint=where, models=found, asked_at=self.now())


def names_in(body: Any) -> tuple[OfferedModel, ...]:
    """The models of a list, as the Messages API (`display_name`) or others (`name`) write it. Raises ValueError."""
    listed: Any = cast("dict[str, Any]", body).get("data") if isinstance(body, dict) else None
    if not isinstance(listed, list):
        raise ValueError("the endpoint's list of models has another shape")
    found: dict[str, OfferedModel] = {}
    for each in cast("list[Any]", listed)[:MOST]:
        row = cast("dict[str, Any]", each) if isinstance(each, dict) else {}
        id = row.get("id")
        if isinstance(id, str) and 0 < len(id) <= 200 and id == one_line(id):
            name = row.get("display_name") or row.get("name")
            found[id] = OfferedModel(
                id=id, name=one_line(name, most=120) if isinstance(name, str) else id, source="endpoint"
            )
    return tuple(found.values())


def to_choose_from(offer: EndpointModels, own: tuple[str, ...], *, offline: bool) -> list[OfferedModel]:
    """Everything a person can pick: what the settings name, what the endpoint offers, and the newest of each family."""
    if offline:
        return [OfferedModel(id=catalog.OFFLINE_MODEL, name="Offline stand-in", source="known")]
    rows = [OfferedModel(id=catalog.resolve(name), name=name, source="settings") for name in own if name]
    rows += offer.models
    rows += [OfferedModel(id=id, name=alias.capitalize(), source="known") for alias, id in catalog.ALIASES.items()]
    by_id: dict[str, OfferedModel] = {}
    for row in rows:
        by_id.setdefault(row.id, row)
    return list(by_id.values())
