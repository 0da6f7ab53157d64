"""One connection to one server: the task that owns it, and the requests that other tasks make over it.

The SDK's cancel scopes are bound to the task that entered them, so `run` alone enters and leaves the client.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from importlib import metadata
from typing import Any, cast

import anyio
import httpx2
import mcp.client.session as sdk_session
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from assent.extensions.mcp.worker.failure import Failed
from assent.extensions.mcp.worker.listing import Listing
from assent.extensions.mcp.worker.sign_in import SignIn, StoredTokens, stored_auth
from assent.extensions.mcp.worker.stdio import ServerLog, StdioServer, not_started
from assent.extensions.mcp.worker.tasks import ServerTasks, call_as_task, report
from assent.extensions.mcp.worker.trimming import introduced
from assent.extensions.mcp.worker.web import WebRefusal, WithoutSignIn, helper_headers, http_client

Json = dict[str, Any]
Ask = Callable[[str, str, int | None, Json], Awaitable[Json]]  # (server key, kind, call id, params) → answer

PROBE_SECONDS = 1.5
CONNECT_SECONDS = 30.0
EXIT_SECONDS = 5.0  # in which a server whose output ended has to end itself, or it counts as one that goes on
END_SECONDS = 30.0  # in which the owner of a connection has to say why it ended
LONGEST_INSTRUCTIONS = 20_000  # more than the model is ever shown
LARGEST_EVENT = 32 * 1024 * 1024  # of a stream over HTTP; the SDK's own bound of 1 MB is too small for images
sdk_session.DISCOVER_TIMEOUT_SECONDS = PROBE_SECONDS  # a server that ignores the probe must not cost ten seconds

current_call: ContextVar[int | None] = ContextVar("current_call", default=None)
log = logging.getLogger(__name__)
_VERSION = metadata.version("assent-lsp")


class Connection:
    def __init__(self, key: str, config: Json, *, ask: Ask, notify: Callable[[Json], None]) -> None:
        self.key = key
        self.config = config
        self.log = ServerLog()
        self._ask = ask
        self._notify = notify
        self._client: Client | None = None
        self._ready = anyio.Event()
        self._over = anyio.Event()
        self._failure: Failed | None = None
        self._scope = anyio.CancelScope()
        self._calls: set[int] = set()
        self._changed: set[str] = set()
        self._listing = Listing(self.log, self._guarded)
        self._wake = anyio.Event()
        self._server: StdioServer | None = None
        self._refused = WebRefusal()
        self._credentials: StoredTokens | None = None

    # --- life --------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Own the connection until it is closed, lost, or could not be made."""
        try:
            with self._scope:
                async with anyio.create_task_group() as group:
                    group.start_soon(self._give_up_slowly)
                    await self._connect(group)
                    group.cancel_scope.cancel()
            if self._failure is None and not self._ready.is_set():
                self._failure = Failed(f"it did not answer within {CONNECT_SECONDS:.0f} s")
        except Exception as error:
            self._failure = self._failure or self._explained(error)
        finally:
            self._client = None
            was_ready = self._ready.is_set()
            self._ready.set()
            self._over.set()
        if was_ready and self._failure is not None:
            self._notify(
                {"event": "closed", "server": self.key, "error": str(self._failure), "kind": self._failure.kind}
            )

    async def close(self) -> None:
        self._scope.cancel()
        await self._over.wait()

    async def ready(self) -> Json:
        """What the server said of itself. Raises Failed."""
        await self._ready.wait()
        client = self._live()
        capabilities = client.server_capabilities.model_dump(by_alias=True, mode="json", exclude_none=True)
        info = client.server_info
        return {
            "era": "modern" if client.session.discover_result is not None else "legacy",
            "version": client.protocol_version,
            "capabilities": capabilities,
            "instructions": (client.instructions or "")[:LONGEST_INSTRUCTIONS],
            "problem": self._credentials.problem if self._credentials is not None else "",
            "serverInfo": introduced(info.model_dump(by_alias=True, mode="json", exclude_none=True) if info else {}),
        }

    async def _give_up_slowly(self) -> None:
        if self.config.get("signIn"):
            return  # a person needs as long as it takes; the parent closes the connection when they gave up
        with anyio.move_on_after(CONNECT_SECONDS):
            await self._ready.wait()
        if not self._ready.is_set():
            self._scope.cancel()

    async def _connect(self, group: TaskGroup) -> None:
        try:
            await self._hold(self._transport(), group)
        except Exception as error:
            if self._ready.is_set() or self._refused.needs_auth or not _speaks_something_else(error):
                raise
            if self.config.get("era") == "legacy" and isinstance(_innermost(error), MCPError):
                self.config["era"] = ""  # it was of the older era once; look again
                await self._hold(self._transport(), group)
                return
            if self.config["transport"] != "http":
                raise
            await self._hold(self._sse(), group)  # a server of the time before streamable HTTP

    async def _hold(self, transport: AbstractAsyncContextManager[Any], group: TaskGroup) -> None:
        async with Client(
            transport,
            mode="legacy" if self.config.get("era") == "legacy" else "auto",
            client_info=types.Implementation(name="assent", version=_VERSION),
            sampling_callback=self._sample if self.config.get("sampling") else None,
            list_roots_callback=self._list_roots,
            elicitation_callback=self._elicit,
            logging_callback=self._logged,
            message_handler=self._heard,
            extensions=[ServerTasks(self._inputs)],
            cache=None,
        ) as client:
            self._client = client
            self._ready.set()
            group.start_soon(self._report_changes)
            if client.session.discover_result is not None:
                group.start_soon(self._listen, client)
            if self._server is not None:
                await self._server.ended.wait()
                await self._wait_for_exit(self._server)
                self._failure = Failed(self._server.problem or self._exit_words(self._server), "gone")
            else:
                await anyio.sleep_forever()

    async def _wait_for_exit(self, server: StdioServer) -> None:
        with anyio.move_on_after(EXIT_SECONDS):
            while server.process is not None and server.process.returncode is None:  # noqa: ASYNC110 -- as in stdio.py
                await anyio.sleep(0.01)

    @staticmethod
    def _exit_words(server: StdioServer) -> str:
        code = server.process.returncode if server.process is not None else None
        return "it closed its output" if code is None else f"it ended with status {code}"

    # --- transports --------------------------------------------------------------------------------------------------

    def _transport(self) -> AbstractAsyncContextManager[Any]:
        match self.config["transport"]:
            case "stdio":
                argv = [self.config["command"], *self.config["args"]]
                self._server = StdioServer(argv, cwd=self.config["cwd"], env=self.config["env"], log=self.log)
                return self._server.streams()
            case "sse":
                return self._sse()
            case _:
                return self._http()

    @asynccontextmanager
    async def _http(self) -> AsyncGenerator[Any, None]:
        async with AsyncExitStack() as stack:
            headers, auth = await self._authorised(stack)
            client = await stack.enter_async_context(http_client(headers, auth, self._refused))
            source = streamable_http_client(self.config["url"], http_client=client, max_sse_event_size=LARGEST_EVENT)
            yield await stack.enter_async_context(source)

    @asynccontextmanager
    async def _sse(self) -> AsyncGenerator[Any, None]:
        async with AsyncExitStack() as stack:
            headers, auth = await self._authorised(stack)

            def factory(
                headers: dict[str, str] | None = None,
                timeout: httpx2.Timeout | None = None,
                auth: httpx2.Auth | None = None,
            ) -> httpx2.AsyncClient:
                return http_client(headers or {}, auth, self._refused)

            source = sse_client(
                self.config["url"], headers=headers, auth=auth, httpx_client_factory=factory, sse_read_timeout=86400
            )
            yield await stack.enter_async_context(source)

    async def _authorised(self, stack: AsyncExitStack) -> tuple[dict[str, str], httpx2.Auth | None]:
        config = self.config
        headers = dict(cast("dict[str, str]", config.get("headers", {})))
        renew = self._helped if config.get("headersHelper") else None
        if renew is not None:
            headers |= await renew()
        if any(name.lower() == "authorization" for name in headers):
            return headers, WithoutSignIn(self._refused, renew)
        self._credentials = credentials = StoredTokens(
            config["url"], folder=config["credentials"], client_id=config["oauth"]["clientId"], say=self.log.add
        )
        if config.get("signIn"):
            sign_in = SignIn(config, credentials, show=self._show_sign_in)
            await stack.enter_async_context(sign_in.listening())
            return headers, await sign_in.auth(headers)
        return headers, await stored_auth(config, credentials, self._refused) or WithoutSignIn(self._refused, renew)

    async def _helped(self) -> dict[str, str]:
        config = self.config
        return await helper_headers(
            config["headersHelper"], name=config["name"], url=config["url"], env=config["env"], cwd=config["cwd"]
        )

    async def _show_sign_in(self, url: str) -> Json:
        return await self._ask(self.key, "signIn", None, {"url": url})

    # --- what the server wants from us -------------------------------------------------------------------------------

    def _asking_call(self) -> int | None:
        """The call that a request of the server belongs to: our own task says it, else the newest call does."""
        return current_call.get() or max(self._calls, default=None)

    async def _elicit(self, context: Any, params: Any) -> Any:
        raw = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        answer = await self._ask(self.key, "elicit", self._asking_call(), raw)
        if answer.get("action") == "accept" and raw.get("mode", "form") != "url":
            return types.ElicitResult(action="accept", content=answer.get("content") or {})
        return types.ElicitResult(action=answer.get("action", "cancel"))

    async def _sample(self, context: Any, params: Any) -> Any:
        raw = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        answer = await self._ask(self.key, "sample", self._asking_call(), raw)
        if "text" not in answer:
            return types.ErrorData(code=types.INVALID_REQUEST, message=str(answer.get("error", "declined")))
        return types.CreateMessageResult(
            role="assistant",
            content=types.TextContent(type="text", text=str(answer["text"])),
            model=str(answer.get("model", "")),
            stop_reason=str(answer.get("stopReason", "endTurn")),
        )

    async def _inputs(self, asked: Json) -> Json:
        """The questions of a task, each answered as if the server had asked it in the call itself."""
        given: Json = {}
        for key, request in asked.items():
            answer = await self._input(str(request.get("method")), request.get("params") or {})
            if isinstance(answer, types.ErrorData):
                raise MCPError.from_error_data(answer)
            given[key] = answer.model_dump(by_alias=True, mode="json", exclude_none=True)
        return given

    async def _input(self, method: str, params: Json) -> Any:
        match method:
            case "elicitation/create":
                url = params.get("mode") == "url"
                kind: Any = types.ElicitRequestURLParams if url else types.ElicitRequestFormParams
                return await self._elicit(None, kind.model_validate(params, by_name=False))
            case "sampling/createMessage" if self.config.get("sampling"):
                return await self._sample(None, types.CreateMessageRequestParams.model_validate(params, by_name=False))
            case "roots/list":
                return await self._list_roots(None)
            case _:
                return types.ErrorData(code=types.INVALID_REQUEST, message=f"declined: {method}")

    async def _list_roots(self, context: Any) -> Any:
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in self.config.get("roots", [])])

    async def set_roots(self, roots: Sequence[str]) -> None:
        """The modern era asks for them when it wants them; the older one is told that they changed."""
        self.config["roots"] = list(roots)
        client = self._live()
        if client.session.discover_result is None:
            await client.session.send_notification(types.RootsListChangedNotification())

    async def _logged(self, params: Any) -> None:
        self.log.add(f"[{params.level}] {params.data}"[:500])

    async def _heard(self, message: Any) -> None:
        match getattr(message, "method", ""):
            case "notifications/tools/list_changed":
                self._note("tools")
            case "notifications/prompts/list_changed":
                self._note("prompts")
            case "notifications/resources/list_changed":
                self._note("resources")
            case _:
                pass

    def _note(self, kind: str) -> None:
        self._changed.add(kind)
        self._wake.set()

    async def _report_changes(self) -> None:
        """However many notifications a server sends, at most five reports a second leave."""
        while True:
            await self._wake.wait()
            self._wake = anyio.Event()
            changed, self._changed = sorted(self._changed), set()
            self._notify({"event": "changed", "server": self.key, "kinds": changed})
            await anyio.sleep(0.2)

    async def _listen(self, client: Client) -> None:
        """The modern era pushes changes only to a stream that asked for them."""
        delay = 1.0
        while True:
            try:
                async with client.listen(
                    tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
                ) as events:
                    delay = 1.0
                    async for event in events:
                        self._note(type(event).__name__.removesuffix("ListChanged").lower())
            except MCPError:
                return  # it offers no subscriptions
            except Exception as error:
                log.debug("the subscription of %s ended: %s", self.key, error)
            await anyio.sleep(delay)
            delay = min(delay * 2, 60)
            self._note("tools")

    # --- what we want from the server --------------------------------------------------------------------------------

    async def list(self, kind: str) -> list[Json]:
        """All pages. Raises Failed."""
        return await self._listing.all(self._live(), kind)

    async def call(self, call: int, tool: str, arguments: Json, timeout: float, progress: Any) -> Json:
        client = self._live()
        current_call.set(call)
        self._calls.add(call)
        report.set(progress.said)
        try:
            if tool in self._listing.as_tasks and client.session.discover_result is None:
                work: Awaitable[Any] = call_as_task(client.session, tool, arguments)
            else:
                work = self._call(client, tool, arguments, progress)
            result = await self._guarded(work, timeout)
        finally:
            self._calls.discard(call)
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def _call(self, client: Client, tool: str, arguments: Json, progress: Any) -> Any:
        """An older server may answer that the user has to open pages first: they are asked, and it is tried again."""
        try:
            return await client.call_tool(tool, arguments, progress_callback=progress)
        except MCPError as error:
            if error.code != types.URL_ELICITATION_REQUIRED:
                raise
            said = cast("object", error.data)
            pages = cast("Json", said).get("elicitations") if isinstance(said, dict) else None
            for page in cast("list[Json]", pages if isinstance(pages, list) else []):
                answer = await self._elicit(None, types.ElicitRequestURLParams.model_validate(page, by_name=False))
                if answer.action != "accept":
                    raise Failed("the user did not open the page that the server asked for") from None
        return await client.call_tool(tool, arguments, progress_callback=progress)

    async def read(self, call: int, uri: str, timeout: float) -> Json:
        current_call.set(call)
        result = await self._guarded(self._live().read_resource(uri), timeout)
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def prompt(self, call: int, name: str, arguments: dict[str, str], timeout: float) -> Json:
        current_call.set(call)
        result = await self._guarded(self._live().get_prompt(name, arguments), timeout)
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    def _live(self) -> Client:
        if self._client is None or self._over.is_set():
            raise self._failure or Failed("the connection is closed", "gone")
        return self._client

    async def _guarded(self, request: Awaitable[Any], timeout: float) -> Any:
        """The answer, or Failed: when it takes too long, when the connection ends, when it is nonsense."""
        result: list[Any] = []
        problem: list[Failed] = []

        async with anyio.create_task_group() as group:

            async def watch() -> None:
                await self._over.wait()
                group.cancel_scope.cancel()

            group.start_soon(watch)
            try:
                with anyio.fail_after(timeout):
                    result.append(await request)
            except TimeoutError:
                problem.append(Failed(f"it did not answer within {timeout:.0f} s"))
            except Exception as error:
                if self._server is not None and self._server.ended.is_set():
                    with anyio.move_on_after(END_SECONDS):
                        await self._over.wait()
                problem.append(self._failure if self._over.is_set() and self._failure else self._explained(error))
            group.cancel_scope.cancel()
        if problem:
            raise problem[0]
        if not result:
            raise self._failure or Failed("the connection was closed", "gone")
        return result[0]

    def _explained(self, error: BaseException) -> Failed:
        if isinstance(error, Failed):
            return error
        inner = _innermost(error)
        if isinstance(inner, Failed):
            return inner
        if self._refused.needs_auth:
            locked = self._credentials.problem if self._credentials is not None else ""
            return Failed("the server wants you to sign in" + (f" ({locked})" if locked else ""), "needsAuth")
        if self._refused.ended:
            self._failure = Failed("the server ended our session", "ended")
            self._scope.cancel()
            return self._failure
        if self._refused.more:
            words, self._refused.more = self._refused.more, ""
            return Failed(words, "needsMore" if self._refused.can_grant else "failed")
        if self._server is not None and isinstance(inner, OSError):
            return Failed(not_started(inner, self.config))
        if isinstance(inner, MCPError):
            if not self._ready.is_set() and self._server is not None and self._server.ended.is_set():
                return Failed(self._server.problem or self._exit_words(self._server))
            return Failed(inner.error.message or "the server answered with an error", "refused")
        if type(inner).__name__ == "ValidationError":
            return Failed("the server's answer does not follow the protocol", "invalid")
        return Failed(str(inner) or type(inner).__name__)


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def _speaks_something_else(error: BaseException) -> bool:
    """Whether the failure may mean that the server only knows the older HTTP+SSE transport."""
    return isinstance(_innermost(error), MCPError | RuntimeError | httpx2.HTTPStatusError)
