"""A key that was just typed in is checked against the endpoint it is for, by name."""

from assent.model.endpoint import Endpoint
from assent.model.key_check import check_key
from fakeapi import FakeApi

MODEL = "claude-sonnet-4-5"


def endpoint(url: str) -> Endpoint:
    return Endpoint(base_url=url, env={})


async def test_a_key_is_accepted_or_refused_by_the_endpoint_that_is_named() -> None:
    async with FakeApi(key="right") as api:
        api.expect_refusal()
        good = await check_key(endpoint(api.url), "right", MODEL)
        bad = await check_key(endpoint(api.url), "wrong", MODEL)
        assert (good.verdict, good.endpoint) == ("accepted", api.url)
        assert (bad.verdict, bad.endpoint) == ("refused", api.url)
        assert bad.detail and "wrong" not in bad.detail
        assert all(request.counts_tokens for request in api.requests), "nothing is generated"


async def test_an_endpoint_that_is_not_there_refuses_no_key() -> None:
    found = await check_key(endpoint("http://127.0.0.1:9"), "any", MODEL)
    assert (found.verdict, found.endpoint) == ("unreachable", "http://127.0.0.1:9") and found.detail


async def test_other_providers_are_not_asked() -> None:
    assert (await check_key(Endpoint(provider="bedrock", env={}), "any", MODEL)).verdict == "unknown"
