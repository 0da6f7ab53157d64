"""The models we know: windows, limits, what they take, and the one table of prices (Q9).

Names are those of the installed `anthropic` package (a test compares). A model that is not in the table gets defaults
that are safe to send; settings can correct them. Prices are US dollars per million tokens, and change: the table was
last compared with the public price list in November 2026.
"""

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from assent.types.ports import ModelInfo
from assent.types.usage import Usage

DEFAULT_MODEL = "claude-opus-5-5"
SMALL_MODEL = "claude-haiku-5-5"
OFFLINE_MODEL = "offline"

ALIASES: dict[str, str] = {
    "default": DEFAULT_MODEL,
    "small": SMALL_MODEL,
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
    "fable": "claude-fable-5-2",
    "mythos": "claude-mythos-5-2",
}

WEB_SEARCH_PRICE = 0.01  # dollars a search, on every model
FAST_FACTOR = 2.0  # of all token prices, for an answer in fast mode
HOUR_FACTOR = 2.0  # of the input price, for writing to the cache that lives an hour


def resolve(name: str) -> str:
    """An alias to its model; any other name is taken as it is."""
    return ALIASES.get(name, name)


def written_elsewhere(name: str) -> str | None:
    """The model that a file of another tool names; None for one that is not Anthropic's.

    `Sonnet`, `opus[1m]`, `opusplan`, `anthropic/claude-x` and `Claude Sonnet 4.5 (copilot)` are such names.
    """
    plain = re.sub(r"\[[^\]]*\]$|\s*\([^)]*\)$", "", name.strip()).strip().removeprefix("anthropic/")
    small = plain.casefold().removesuffix("plan")
    if small in ALIASES:
        return ALIASES[small]
    if known(plain) or re.fullmatch(r"[\w.:@/-]*claude-[\w.:@-]+", plain):
        return plain
    family = next((word for word in re.split(r"[^a-z]+", small) if word in ALIASES), None)
    return ALIASES[family] if family is not None and "claude" in small else None


def info(model: str, overrides: Mapping[str, Mapping[str, Any]] | None = None) -> ModelInfo:
    """What is known of a model, under any provider's spelling of its name; never fails."""
    known = _TABLE.get(model) or _TABLE.get(_plain(model))
    found = dataclasses.replace(known or _UNKNOWN, id=model)
    return dataclasses.replace(found, **overrides[model]) if overrides and model in overrides else found


def known(model: str) -> bool:
    return model in _TABLE or _plain(model) in _TABLE


def names() -> tuple[str, ...]:
    """Newest first, as the SDK lists them."""
    return tuple(_TABLE)


def cost(model: str | ModelInfo, usage: Usage, *, fast: bool = False, hour_writes: int = 0) -> float:
    """US dollars for one API message; `hour_writes` are those of its cache writes that live an hour."""
    priced = info(model) if isinstance(model, str) else model
    prompt = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
    factor = priced.long_prompt_factor if 0 < priced.long_prompt_from < prompt else 1.0
    tokens = (
        usage.input_tokens * priced.input_price
        + usage.output_tokens * priced.output_price
        + usage.cache_creation_input_tokens * priced.cache_write_price
        + usage.cache_read_input_tokens * priced.cache_read_price
        + hour_writes * (priced.input_price * HOUR_FACTOR - priced.cache_write_price)
    )
    factor *= FAST_FACTOR if fast else 1.0
    return factor * tokens / 1_000_000 + usage.web_search_requests * WEB_SEARCH_PRICE


def _plain(model: str) -> str:
    """`us.anthropic.claude-x-v1:0`, `claude-x@20250929` and `claude-x-20250929` are all `claude-x`."""
    at = model.find("claude-")
    if at < 0:
        return model
    bare = re.split(r"@|-v\d+(?::\d+)?$|\[", model[at:])[0]
    return re.sub(r"-20\d{6}$", "", bare)


def _model(input: float, output: float, *, read: float | None = None, **rest: Any) -> ModelInfo:
    """The list prices of a cache: writing costs a quarter more than reading the prompt, a hit a tenth of it."""
    defaults: dict[str, Any] = {
        "id": "",
        "context_window": 1_000_000,
        "max_output_tokens": 128_000,
        "accepts_temperature": False,
        "thinking_modes": _ADAPTIVE,
        "accepts_tool_references": True,
        "input_price": input,
        "output_price": output,
        "cache_write_price": input * 1.25,
        "cache_read_price": input * 0.1 if read is None else read,
    }
    return ModelInfo(**(defaults | rest))


_ADAPTIVE = frozenset({"adaptive", "disabled"})
_ALWAYS_ON = frozenset({"adaptive"})
_BOTH = frozenset({"adaptive", "enabled", "disabled"})
_MANUAL: dict[str, Any] = {
    "context_window": 200_000,
    "max_output_tokens": 64_000,
    "thinking_modes": frozenset({"enabled", "disabled"}),
    "accepts_effort": False,
}
_BOUND: dict[str, Any] = {"thinking_modes": _ALWAYS_ON, "accepts_forced_tools": False, "binds_thinking": True}
_SONNET_55: dict[str, Any] = {"thinking_modes": frozenset({"adaptive", "between_tools"})}
_HAIKU_55: dict[str, Any] = {"long_prompt_from": 100_000, "long_prompt_factor": 5.0, "thinking_modes": _ADAPTIVE}

# Sampling parameters are gone from the API version the SDK speaks, so no model here accepts a temperature.
_UNKNOWN = ModelInfo(id="", accepts_temperature=False, max_output_tokens=32_000)

_TABLE: dict[str, ModelInfo] = {
    "claude-fable-5-2": _model(8, 40, read=0.2, **_BOUND),
    "claude-mythos-5-2": _model(8, 40, read=0.2, **_BOUND),
    "claude-haiku-5-5": _model(0.1, 0.5, **(_BOUND | _HAIKU_55)),
    "claude-sonnet-5-5": _model(2, 10, **(_BOUND | _SONNET_55)),
    "claude-fable-5-1": _model(10, 50, read=0.25, **_BOUND),
    "claude-opus-5-5": _model(4, 20, read=0.2, accepts_fast_mode=True, **_BOUND),
    "claude-mythos-5-1": _model(10, 50, read=0.25, **_BOUND),
    "claude-sonnet-5": _model(2, 10),
    "claude-fable-5": _model(10, 50, thinking_modes=_ALWAYS_ON),
    "claude-mythos-5": _model(10, 50, thinking_modes=_ALWAYS_ON),
    "claude-opus-5": _model(5, 25, accepts_fast_mode=True),
    "claude-opus-4-8": _model(5, 25, accepts_fast_mode=True),
    "claude-opus-4-7": _model(5, 25),
    "claude-mythos-preview": _model(25, 125, thinking_modes=frozenset({"adaptive", "enabled"})),
    "claude-opus-4-6": _model(5, 25, thinking_modes=_BOTH),
    "claude-sonnet-4-6": _model(3, 15, thinking_modes=_BOTH),
    "claude-haiku-4-5": _model(1, 5, accepts_tool_references=False, **_MANUAL),
    "claude-opus-4-5": _model(5, 25, **(_MANUAL | {"accepts_effort": True})),
    "claude-sonnet-4-5": _model(3, 15, **_MANUAL),
    OFFLINE_MODEL: ModelInfo(id=OFFLINE_MODEL, accepts_temperature=False, accepts_thinking=False),
}
