"""Models, limits and prices."""

import warnings

import pytest

from assent.model import catalog
from assent.types.usage import Usage
from fakeapi import models


def test_every_model_the_sdk_names_is_in_the_table() -> None:
    unknown = [name for name in models.names() if not catalog.known(name)]
    assert unknown == []


def test_the_default_models_are_the_sdks_and_not_on_their_way_out() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from anthropic.resources.messages import DEPRECATED_MODELS
    for name in catalog.ALIASES.values():
        assert name in models.names()
        assert name not in DEPRECATED_MODELS


@pytest.mark.parametrize("name", sorted(models.names()))
def test_limits_agree_with_what_the_endpoint_enforces(name: str) -> None:
    ours, theirs = catalog.info(name), models.limits(name)
    assert (ours.context_window, ours.max_output_tokens) == (theirs.window, theirs.max_output)
    assert ours.thinking_modes == theirs.thinking
    assert (ours.accepts_forced_tools, ours.binds_thinking) == (theirs.forced_tools, theirs.bound_thinking)
    assert ours.input_price > 0
    assert ours.input_price < ours.output_price
    assert ours.cache_read_price < ours.input_price < ours.cache_write_price


@pytest.mark.parametrize(
    "spelling",
    [
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4-5@20250929",
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic/claude-sonnet-4-5",
    ],
)
def test_a_model_is_known_under_every_providers_spelling(spelling: str) -> None:
    found = catalog.info(spelling)
    assert (found.id, found.input_price) == (spelling, 3)


def test_an_unknown_model_gets_defaults_that_are_safe_to_send() -> None:
    found = catalog.info("llama-9")
    assert (found.context_window, found.max_output_tokens, found.default_max_tokens) == (200_000, 32_000, 8_000)
    assert not found.accepts_temperature
    assert catalog.cost("llama-9", Usage(input_tokens=10**6)) == 0


def test_settings_can_correct_what_is_known() -> None:
    found = catalog.info("llama-9", {"llama-9": {"context_window": 32_000, "input_price": 1.0}})
    assert (found.context_window, found.input_price, found.id) == (32_000, 1.0, "llama-9")


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("claude-opus-5-5", Usage(input_tokens=10**6), 4.0),
        ("claude-opus-5-5", Usage(output_tokens=10**6), 20.0),
        ("claude-opus-5-5", Usage(cache_creation_input_tokens=10**6), 5.0),
        ("claude-opus-5-5", Usage(cache_read_input_tokens=10**6), 0.2),
        ("claude-opus-5-5", Usage(web_search_requests=3), 0.03),
        ("claude-haiku-5-5", Usage(input_tokens=100_000), 0.01),
        ("claude-haiku-5-5", Usage(input_tokens=200_000), 0.1),
        ("claude-haiku-5-5", Usage(input_tokens=1, cache_read_input_tokens=199_999, output_tokens=10**6), 2.51000_045),
    ],
)
def test_prices(model: str, usage: Usage, dollars: float) -> None:  # Q9
    assert catalog.cost(model, usage) == pytest.approx(dollars)


def test_aliases_stand_for_the_newest_of_a_line() -> None:
    assert catalog.resolve("opus") == "claude-opus-5-5"
    assert catalog.resolve("claude-opus-5") == "claude-opus-5"


def test_fast_answers_and_cache_writes_that_live_an_hour_cost_more() -> None:
    written = Usage(cache_creation_input_tokens=10**6)
    assert catalog.cost("claude-opus-5-5", Usage(output_tokens=10**6), fast=True) == pytest.approx(40.0)
    assert catalog.cost("claude-opus-5-5", written, hour_writes=10**6) == pytest.approx(8.0)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("sonnet", catalog.ALIASES["sonnet"]),
        ("Opus", catalog.ALIASES["opus"]),
        ("opus[1m]", catalog.ALIASES["opus"]),
        ("opusplan", catalog.ALIASES["opus"]),
        ("claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001"),
        ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("us.anthropic.claude-opus-4-1-v1:0", "us.anthropic.claude-opus-4-1-v1:0"),
        ("Claude Sonnet 4.5 (copilot)", catalog.ALIASES["sonnet"]),
        ("Claude Haiku 4.5", catalog.ALIASES["haiku"]),
        ("GPT-4o", None),
        ("Gemini 2.5 Pro (copilot)", None),
        ("openai/gpt-5", None),
        ("", None),
    ],
)
def test_models_are_named_as_files_of_other_tools_name_them(name: str, model: str | None) -> None:
    assert catalog.written_elsewhere(name) == model
