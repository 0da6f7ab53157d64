"""The HTTP side of connections: clients with a bound on answers, and headers that a command supplies."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, cast

import httpx2
import orjson

LARGEST_BODY = 32 * 1024 * 1024
_HELPER_SECONDS = 10.0


class TooLarge(Exception):
    pass


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends in an error past the bound; event streams are bounded per event by the SDK."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > LARGEST_BODY:
                raise TooLarge(f"the server sent an answer larger than {LARGEST_BODY // 1024 // 1024} MB")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    def __init__(self, refused: "WebRefusal") -> None:
        super().__init__()
        self._refused = refused

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
            await response.aclose()
            raise TooLarge("the server sent a compressed answer, whose size has no bound; we ask for plain ones")
        if response.status_code == 404 and "mcp-session-id" in request.headers and request.method == "POST":
            self._refused.ended = True
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Bounded(cast("httpx2.AsyncByteStream", response.stream))
        return response


class WithoutSignIn(httpx2.Auth):
    """No tokens are stored: a 401 means that the user has to sign in first.

    Where a command supplies headers, it is asked once more when the server refuses them.
    """

    def __init__(self, refused: "WebRefusal", renew: Callable[[], Awaitable[Mapping[str, str]]] | None = None) -> None:
        self._refused = refused
        self._renew = renew
        self._renewed: Mapping[str, str] = {}

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        request.headers.update(self._renewed)
        response = yield request
        if response.status_code in (401, 403) and self._renew is not None:
            with contextlib.suppress(ValueError):  # it printed no headers this time: the refusal stands
                self._renewed = await self._renew()
                request.headers.update(self._renewed)
                response = yield request
        if response.status_code == 401:
            self._refused.needs_auth = True


class WebRefusal:
    """How the server refused us: for lack of a sign-in, of rights (`more`, in words; can they be granted?), or because
    it no longer knows our session."""

    needs_auth: bool = False
    ended: bool = False
    more: str = ""
    can_grant: bool = False


def http_client(headers: Mapping[str, str], auth: httpx2.Auth | None, refused: WebRefusal) -> httpx2.AsyncClient:
    timeout = httpx2.Timeout(30.0, read=None)  # a tool call may take long; its own timeout ends it
    plain = {"Accept-Encoding": "identity", **headers}
    return httpx2.AsyncClient(headers=plain, auth=auth, timeout=timeout, transport=_BoundedTransport(refused))


async def helper_headers(command: str, *, name: str, url: str, env: Mapping[str, str], cwd: str) -> dict[str, str]:
    """What the user's command prints: a JSON object of strings. Raises ValueError."""
    process = await asyncio.create_subprocess_shell(
        command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=cwd,
        env={**env, "CLAUDE_CODE_MCP_SERVER_NAME": name, "CLAUDE_CODE_MCP_SERVER_URL": url},
        start_new_session=True,
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), _HELPER_SECONDS)
    except TimeoutError:
        raise ValueError(f"the command for headers took longer than {_HELPER_SECONDS:.0f} s") from None
    finally:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.returncode != 0:
        raise ValueError(f"the command for headers ended with status {process.returncode}")
    try:
        headers = orjson.loads(out)
    except ValueError:
        raise ValueError("the command for headers did not print JSON") from None
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in cast("Any", headers).values()):
        raise ValueError("the command for headers must print an object of strings")
    return cast("dict[str, str]", headers)
