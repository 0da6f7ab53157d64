"""OAuth sign-in to a server: one refresh at a time across processes, and the redirect.

The protocol itself (RFC 9728 and 8414 discovery, PKCE, resource, registration, the issuer check, step-up) is the SDK's.
`tokens.py` keeps what it gives us.
"""

import asyncio
import contextlib
import os
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import orjson
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import (
    create_oauth_metadata_request,
    extract_field_from_www_auth,
    extract_scope_from_www_auth,
    union_scopes,
)
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl

from assent.extensions.mcp.worker.token_place import TokenPlace
from assent.extensions.mcp.worker.web import WebRefusal, http_client

Json = dict[str, Any]
_DISCOVERY = re.compile(r"/\.well-known/(?:oauth-protected-resource|oauth-authorization-server|openid-configuration)")
_REFRESH_SECONDS = 60.0
_KNOCK = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
_PAGE = b"<!doctype html><meta charset=utf-8><title>Assent</title><p>You are signed in. You can close this page."
_NO_PAGE = b"<!doctype html><meta charset=utf-8><title>Assent</title><p>This sign-in was not expected or was refused."


class NeedsSignIn(Exception):
    pass


class StoredTokens(TokenPlace):
    """What is stored for one server address. Implements the SDK's TokenStorage."""

    def __init__(
        self, url: str, *, folder: str, client_id: str = "", say: Callable[[str], None] = lambda _words: None
    ) -> None:
        super().__init__(url, folder=folder, say=say)
        self._client_id = client_id
        self._secret = os.environ.get("MCP_CLIENT_SECRET") if client_id else None

    async def get_tokens(self) -> OAuthToken | None:
        tokens = (await self.load()).get("tokens")
        with contextlib.suppress(ValueError):  # someone else wrote there: as if we had none
            return OAuthToken.model_validate(tokens) if tokens else None
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        until = time.time() + tokens.expires_in if tokens.expires_in else None
        await self.store(tokens=tokens.model_dump(mode="json", exclude_none=True), until=until)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        stored = (await self.load()).get("client")
        if self._client_id:  # registered beforehand, by the user
            known: Json = {"client_id": self._client_id, "redirect_uris": None}
            if self._secret:
                known |= {"client_secret": self._secret, "token_endpoint_auth_method": "client_secret_post"}
            return OAuthClientInformationFull.model_validate(known)
        with contextlib.suppress(ValueError):
            return OAuthClientInformationFull.model_validate(stored) if stored else None
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self.store(client=client_info.model_dump(mode="json", exclude_none=True))


class Provider(OAuthClientProvider):
    """The SDK's flow, with refreshes taken one at a time across all processes of the user.

    `more` are rights that a call turned out to need: a sign-in asks for them besides those it has.
    """

    credentials: StoredTokens
    more: str = ""
    scopes: str = ""  # which rights the user's configuration asks for, whatever the server names
    metadata_url: str = ""  # where the authorization server describes itself; empty: as discovery finds it
    refused: WebRefusal | None = None  # set where nobody can be asked; a person signs in otherwise

    async def _perform_authorization(self) -> httpx2.Request:
        metadata = self.context.client_metadata
        metadata.scope = self.scopes or metadata.scope
        metadata.scope = union_scopes(metadata.scope, self.more) if self.more else metadata.scope
        return await super()._perform_authorization()

    async def _initialize(self) -> None:
        """Besides tokens, what the SDK keeps in memory only: when they end, and who issued them."""
        await super()._initialize()
        kept = await self.credentials.load()
        self.more = str(kept.get("more") or "") if self.refused is None else ""
        if self.more:
            self.context.current_tokens = None
        self.context.token_expiry_time = kept.get("until")
        if "issuer" in kept and self.context.oauth_metadata is None:
            with contextlib.suppress(ValueError):
                self.context.oauth_metadata = OAuthMetadata.model_validate(kept["issuer"])
                self.context.auth_server_url = kept.get("issuerUrl")
                if kept.get("resource"):
                    self.context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(
                        kept["resource"]
                    )

    async def _handle_token_response(self, response: httpx2.Response) -> None:
        await super()._handle_token_response(response)
        context = self.context
        self.more = ""
        await self.credentials.store(more="", asked=context.client_metadata.scope or "")
        if context.oauth_metadata is not None:
            resource = context.protected_resource_metadata
            await self.credentials.store(
                issuer=context.oauth_metadata.model_dump(mode="json", exclude_none=True),
                issuerUrl=context.auth_server_url,
                resource=resource.model_dump(mode="json", exclude_none=True) if resource is not None else None,
            )

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        await self.fresh()
        flow = super()._auth_flow(request)
        described: httpx2.Response | None = None
        try:
            outgoing = await flow.__anext__()
            while True:
                if self.metadata_url and _DISCOVERY.search(outgoing.url.path):
                    if described is None:
                        described = yield create_oauth_metadata_request(self.metadata_url)
                        await described.aread()
                    outgoing = await flow.asend(_discovered(outgoing, described, str(self.context.server_url)))
                    continue
                answer = yield outgoing
                if outgoing is request and self.refused is not None and _insufficient(answer):
                    await self._stepped_up(answer, self.refused)
                    return  # this call fails; the connection and its other calls go on
                outgoing = await flow.asend(answer)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()

    async def fresh(self) -> None:
        """Load what is stored, and refresh it when it has ended; another process may do that while we wait."""
        if not self._initialized:
            await self._initialize()
        if not self.context.is_token_valid() and self.context.can_refresh_token():
            async with self.credentials.alone(".lock"):
                await self._initialize()  # another process may have refreshed while we waited
                if not self.context.is_token_valid() and self.context.can_refresh_token():
                    await self._refreshed()

    async def _refreshed(self) -> None:
        """Not by way of the request that needs it: when that is given up half-way, the tokens that the server has just
        issued would be lost, and using the old one again would revoke them all."""
        with anyio.CancelScope(shield=True):
            async with http_client({}, None, WebRefusal()) as client:
                with anyio.move_on_after(_REFRESH_SECONDS):
                    response = await client.send(await self._refresh_token())
                    self._initialized = await self._handle_refresh_response(response)

    async def _stepped_up(self, answer: httpx2.Response, refused: WebRefusal) -> None:
        """A call needs rights that our tokens lack. Who was asked for them once, in vain, is not asked again."""
        tokens = self.context.current_tokens
        granted = tokens.scope if tokens is not None else None
        wanted = union_scopes(granted, extract_scope_from_www_auth(answer)) or ""
        asked = str((await self.credentials.load()).get("asked") or "")
        missing = " ".join(sorted(set(wanted.split()) - set((granted or "").split()))) or "more"
        refused.can_grant = not set(wanted.split()) <= set(asked.split())
        if refused.can_grant:
            refused.more = f"it wants more rights ({missing}): sign in again to grant them"
            await self.credentials.store(more=wanted)
        else:
            refused.more = f"it refuses the call, although you signed in for the rights {wanted}"


def _discovered(asked: httpx2.Request, described: httpx2.Response, server: str) -> httpx2.Response:
    """What discovery would have found, had it led to the authorization server that the configuration names."""
    if described.status_code != 200:
        raise NeedsSignIn(f"the authorization server's description could not be read: HTTP {described.status_code}")
    try:
        metadata = OAuthMetadata.model_validate_json(described.content)
    except ValueError:
        raise NeedsSignIn("what the configuration names is no description of an authorization server") from None
    if "protected-resource" not in asked.url.path:
        return httpx2.Response(200, content=described.content, request=asked)
    resource = {"resource": server, "authorization_servers": [str(metadata.issuer)]}
    return httpx2.Response(200, content=orjson.dumps(resource), request=asked)


def _insufficient(answer: httpx2.Response) -> bool:
    return answer.status_code == 403 and extract_field_from_www_auth(answer, "error") == "insufficient_scope"


def _provider(config: Json, credentials: StoredTokens, redirect: str, show: Any, wait: Any) -> Provider:
    oauth = cast("Json", config["oauth"])
    provider = Provider(
        config["url"],
        OAuthClientMetadata(
            client_name="Assent",
            redirect_uris=[AnyUrl(redirect)],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            token_endpoint_auth_method="none",
            application_type="native",
            scope=oauth.get("scopes") or None,
        ),
        credentials,
        show,
        wait,
        client_metadata_url=oauth.get("clientMetadataUrl") or None,
    )
    provider.credentials = credentials
    provider.scopes = oauth.get("scopes") or ""
    provider.metadata_url = oauth.get("authServerMetadataUrl") or ""
    return provider


async def stored_auth(config: Json, credentials: StoredTokens, refused: WebRefusal) -> Provider | None:
    """Authorisation with the tokens we hold; None when we hold none. Nobody is asked to sign in here."""
    if await credentials.get_tokens() is None:
        return None

    async def show(_url: str) -> None:
        refused.needs_auth = True
        raise NeedsSignIn("the server wants you to sign in again")

    async def wait() -> AuthorizationCodeResult:
        raise NeedsSignIn("the server wants you to sign in again")

    provider = _provider(config, credentials, "http://127.0.0.1/callback", show, wait)
    provider.refused = refused
    await provider.fresh()  # before the server is probed, which has little time
    return provider


class SignIn:
    """One sign-in with a person in front of it: a loopback address for the redirect, or the address pasted back."""

    def __init__(self, config: Json, credentials: StoredTokens, *, show: Callable[[str], Awaitable[Json]]) -> None:
        self._config = config
        self._credentials = credentials
        self._show = show
        self._redirect = ""
        self._answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._shown: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[None, None]:
        """Nothing listens but for this: on 127.0.0.1, for the time of the sign-in."""
        wanted = int(self._config["oauth"].get("callbackPort") or 0) or await self._registered_port()
        try:
            server = await asyncio.start_server(self._serve, "127.0.0.1", wanted)
        except OSError:
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        self._redirect = (
            f"http://{'localhost' if self._config['oauth'].get('clientId') else '127.0.0.1'}:{port}/callback"
        )
        try:
            yield
        finally:
            server.close()
            if self._shown is not None:
                self._shown.cancel()

    async def auth(self, headers: Mapping[str, str]) -> Provider:
        """With a request of our own, which only the sign-in is for: the first one to a server is a probe, which has
        little time, and a slow authorization server would make it fail."""
        provider = _provider(self._config, self._credentials, self._redirect, self._open, self._wait)
        url, method = self._config["url"], "GET" if self._config["transport"] == "sse" else "POST"
        async with http_client(headers, provider, WebRefusal()) as client, client.stream(method, url, json=_KNOCK):
            return provider

    async def _registered_port(self) -> int:
        """The port of an earlier registration: some authorization servers compare the whole address."""
        client = cast("Json", (await self._credentials.load()).get("client") or {})
        addresses = cast("list[str]", client.get("redirect_uris") or [])
        return urlsplit(addresses[0]).port or 0 if addresses else 0

    async def _open(self, url: str) -> None:
        async def ask() -> None:
            answer = await self._show(url)
            pasted = str(answer.get("pasted", ""))
            if self._answer.done():
                return
            if pasted:
                self._answer.set_result(_flat(urlsplit(pasted).query or pasted))
            elif answer.get("action") in ("decline", "cancel"):
                self._answer.set_exception(NeedsSignIn("the sign-in was cancelled"))

        self._answer = asyncio.get_running_loop().create_future()
        self._shown = asyncio.create_task(ask())

    async def _wait(self) -> AuthorizationCodeResult:
        fields = await self._answer
        if "error" in fields:
            raise NeedsSignIn(f"the sign-in was refused: {fields.get('error_description') or fields['error']}")
        if "code" not in fields:
            raise NeedsSignIn("the address holds no code")
        return AuthorizationCodeResult(code=fields["code"], state=fields.get("state"), iss=fields.get("iss"))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            head = await reader.readuntil(b"\r\n")
            target = urlsplit(head.split(b" ")[1].decode("ascii", "replace"))
            expected = target.path == "/callback" and not self._answer.done()
            fields = _flat(target.query)
            if expected and fields:
                self._answer.set_result(fields)
            page = _PAGE if expected and "code" in fields else _NO_PAGE
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n")
            writer.write(b"Content-Length: %d\r\n\r\n" % len(page) + page)
            await writer.drain()
        writer.close()


def _flat(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query.lstrip("?")).items()}
