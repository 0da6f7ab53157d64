"""What the user's settings say about reaching models. Only the user's own: a project has no say in any of it."""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from assent.model.endpoint import Endpoint
from assent.model.policy import Patience, RetryPolicy
from assent.types.ports import ModelInfo

_CORRECTABLE = {field.name for field in dataclasses.fields(ModelInfo)} - {"id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Everything a user can say about reaching models."""

    offline: bool = False  # the stand-in, even where there are credentials
    small_model: str | None = None
    endpoint: Endpoint = field(default_factory=Endpoint)
    betas: tuple[str, ...] = ()
    cache: Literal["5m", "1h", "off"] = "5m"
    fast: bool = False
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])  # corrections
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    patience: Patience = field(default_factory=Patience)


def model_settings(own: Mapping[str, Any], *, api_key: str | None = None) -> ModelSettings:
    """Settings as they are in the file, camelCase and already checked against the schema, to what the client takes."""
    provider = own.get("provider", "anthropic")
    models = cast("Mapping[str, Mapping[str, Any]]", own.get("models") or {})
    return ModelSettings(
        offline=provider == "offline",
        small_model=own.get("smallModel"),
        endpoint=Endpoint(
            provider="anthropic" if provider == "offline" else provider,
            base_url=own.get("baseUrl"),
            api_key=api_key,
            key_helper=own.get("apiKeyHelper"),
            headers=dict(own.get("headers") or {}),
            region=own.get("region"),
            project=own.get("project"),
            resource=own.get("resource"),
            ca_bundle=own.get("caBundle"),
            proxy=own.get("proxy"),
        ),
        betas=tuple(own.get("betas") or ()),
        cache=own.get("promptCache", "5m"),
        fast=bool(own.get("fastMode", False)),
        models={name: _corrections(given) for name, given in models.items()},
    )


def _corrections(given: Mapping[str, Any]) -> dict[str, Any]:
    """`{"contextWindow": 32000}` to the fields of a `ModelInfo`; what is not one of them is left out."""
    found = {re.sub(r"(?<!^)([A-Z])", r"_\1", key).lower(): value for key, value in given.items()}
    kept = {key: value for key, value in found.items() if key in _CORRECTABLE}
    if "thinking_modes" in kept:
        kept["thinking_modes"] = frozenset(cast("list[str]", kept["thinking_modes"]))
    return kept
