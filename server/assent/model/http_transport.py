"""The wire to a provider: a request goes out through the SDK's client (see `sdk`), raw bytes come back.

A client is replaced whole for fresh credentials or a fresh connection, and closed when the last stream on it has
ended. What went wrong on the way is always a `CallFailed` or, when trying again cannot help, a `ModelError`.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import anyio.to_thread

from assent.model.endpoint import Endpoint
from assent.model.failures import CallFailed, from_answer, wall_clock
from assent.model.replay import replayed
from assent.model.requests import ApiRequest, decoded
from assent.model.sdk import make_client, unusable
from assent.model.streaming.eventstream import EventStreamDecoder
from assent.model.streaming.sse import SseDecoder
from assent.types.blocks import Json
from assent.types.errors import NoCredentials

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

PATH = "/v1/messages"

Head = dict[str, str]
"""The headers of an answer, by their names in small letters."""


class Decoder(Protocol):
    def feed(self, chunk: bytes) -> list[Json]: ...


class Transport(Protocol):
    """What `client` needs of a wire."""

    def decoder(self) -> Decoder: ...

    def stream(self, request: ApiRequest, head: Head) -> AsyncGenerator[bytes, None]:
        """The bytes of the answer; its headers go into `head` first. Raises `CallFailed`; an error status is one."""
        ...

    async def renew(self) -> None:
        """The next call uses fresh credentials and a fresh connection."""
        ...


class SdkTransport:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._current: _Client | None = None

    def decoder(self) -> Decoder:
        return EventStreamDecoder() if self._endpoint.provider == "bedrock" else SseDecoder()

    async def stream(self, request: ApiRequest, head: Head) -> AsyncGenerator[bytes, None]:
        client = await self._client()
        client.streams += 1
        try:
            async with aclosing(self._bytes(client.sdk, request, head)) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            client.streams -= 1
            await client.close_if_done()

    async def renew(self) -> None:
        old, self._current = self._current, None
        if old is not None:
            old.retired = True
            await old.close_if_done()

    async def aclose(self) -> None:
        await self.renew()

    async def warm_up(self) -> None:
        """Import the SDK and make the client, so that the first call does not wait for it."""
        await self._client()

    async def _client(self) -> _Client:
        if self._current is None:
            made = _Client(await anyio.to_thread.run_sync(make_client, self._endpoint))
            if self._current is None:
                self._current = made
        return self._current

    async def _bytes(self, sdk: AsyncAnthropic, request: ApiRequest, head: Head) -> AsyncGenerator[bytes, None]:
        response = await self._open(sdk, request)
        head.update(response.headers)
        try:
            kind = response.headers.get("content-type", "")
            if kind.startswith(("application/json", "text/html")):
                yield replayed(await response.aread(), kind)
                return
            # The SDK asks for compression; few endpoints compress events, and then the bytes need no second look.
            plain = "content-encoding" not in response.headers
            chunks = response.aiter_raw() if plain else response.aiter_bytes()
            async for chunk in _translated(chunks):
                yield chunk
        finally:
            await response.aclose()

    async def _open(self, sdk: AsyncAnthropic, request: ApiRequest) -> httpx2.Response:
        import anthropic
        import httpx2

        headers = {"accept": "text/event-stream", "content-type": "application/json"}
        if request.betas:
            headers["anthropic-beta"] = ",".join(request.betas)
        direct = self._endpoint.provider in ("anthropic", "foundry")
        # Bedrock and Vertex move fields between body and URL, so their clients want the object.
        sent: dict[str, Any] = {"content": request.body} if direct else {"body": decoded(request)}
        try:
            return await sdk.post(PATH, cast_to=httpx2.Response, options={"headers": headers}, stream=True, **sent)
        except anthropic.APIStatusError as error:
            failure = from_answer(error.status_code, error.response.headers, error.body, wall_clock())
            failure.has_media = request.has_media
            raise failure from None
        except anthropic.APIConnectionError as error:
            raise _connection_failure(error) from None
        except (anthropic.AnthropicError, TypeError, ValueError, RuntimeError) as error:
            # How the SDK says that it found no way to authenticate.
            raise NoCredentials(str(error)) from None
        except ImportError as error:
            raise unusable(self._endpoint, error) from None


@dataclass(slots=True)
class _Client:
    sdk: AsyncAnthropic
    streams: int = 0
    retired: bool = False

    async def close_if_done(self) -> None:
        if self.retired and self.streams == 0:
            await self.sdk.close()


async def _translated(chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    import httpx2

    try:
        async for chunk in chunks:
            yield chunk
    except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
        raise _connection_failure(error) from None


def _connection_failure(error: BaseException) -> CallFailed:
    """The SDK says little; what happened is at the end of the chain of causes."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    stale = any(isinstance(each, (ConnectionResetError, BrokenPipeError)) for each in causes)
    names = {type(each).__name__ for each in causes}
    stale = stale or bool(names & {"BrokenResourceError", "RemoteProtocolError", "ReadError", "WriteError"})
    said = next((str(each) for each in reversed(causes) if str(each)), "") or type(error).__name__
    kind = "timeout" if "Timeout" in type(causes[0]).__name__ else "connection_error"
    failure = CallFailed(message=f"The connection to the model failed: {said}", kind=kind, stale_connection=stale)
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes):
        failure.message += ". If a proxy of your own signs connections, name its certificates in the setting caBundle"
        failure.should_retry = False
    elif names & {"UnsupportedProtocol", "LocalProtocolError"}:
        failure.should_retry = False
    return failure
