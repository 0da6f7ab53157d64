"""Whether an endpoint takes a key: asked with one small request that generates nothing, and answered with its name.

A person who has just pasted a key wants to know at once, and where it was sent.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.to_thread

from assent.model.endpoint import Endpoint
from assent.model.failures import from_answer, wall_clock
from assent.model.sdk import make_client
from assent.types.errors import ModelError
from assent.types.redaction import hold, redact

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

SECONDS = 20.0
_PATH = "/v1/messages/count_tokens"

Verdict = Literal["accepted", "refused", "unreachable", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCheck:
    verdict: Verdict
    endpoint: str  # where it was asked
    detail: str = ""  # the endpoint's own words


async def check_key(endpoint: Endpoint, key: str | None, model: str) -> KeyCheck:
    """Whether `key`, or what is used now, is accepted. Anything but a clear answer is `unknown`."""
    if key is not None:
        hold(key)
        endpoint = dataclasses.replace(endpoint, api_key=key)
    if endpoint.provider != "anthropic":
        return KeyCheck(verdict="unknown", endpoint=endpoint.provider, detail="This provider is not asked in advance.")
    if endpoint.credentials().source == "none":
        return KeyCheck(verdict="unknown", endpoint=endpoint.base_url or "", detail="There is no key to ask about.")
    try:
        sdk = await anyio.to_thread.run_sync(make_client, endpoint)
    except ModelError as error:
        return KeyCheck(verdict="unreachable", endpoint=endpoint.base_url or "", detail=redact(str(error)))
    try:
        return await _ask(sdk, model)
    finally:
        await sdk.close()


async def _ask(sdk: AsyncAnthropic, model: str) -> KeyCheck:
    import anthropic
    import httpx2

    where = str(sdk.base_url).rstrip("/")
    body = {"model": model, "messages": [{"role": "user", "content": "hello"}]}
    try:
        with anyio.fail_after(SECONDS):
            await sdk.post(_PATH, cast_to=httpx2.Response, body=body)
    except anthropic.APIStatusError as error:
        said = redact(from_answer(error.status_code, error.response.headers, error.body, wall_clock()).message)
        refused = error.status_code in (401, 403)
        # A busy endpoint has let the key in; one that does not count tokens has said nothing about it.
        verdict: Verdict = "refused" if refused else "accepted" if error.status_code in (400, 429, 529) else "unknown"
        return KeyCheck(verdict=verdict, endpoint=where, detail="" if verdict == "accepted" else said)
    except TimeoutError:
        return KeyCheck(verdict="unreachable", endpoint=where, detail=f"It did not answer within {SECONDS:.0f} s.")
    except (anthropic.AnthropicError, httpx2.HTTPError, OSError) as error:
        return KeyCheck(verdict="unreachable", endpoint=where, detail=redact(str(error)))
    return KeyCheck(verdict="accepted", endpoint=where)
