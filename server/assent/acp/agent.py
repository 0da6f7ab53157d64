"""The agent's side of the protocol: one method per request, each a few lines onto `sessions.Sessions`.

The library decodes and routes; what it passes us besides the fields it knows is ignored, as the protocol wants.
"""

import asyncio
import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import Any

import anyio
from acp.schema import (
    AgentAuthCapabilities,
    AgentCapabilities,
    AuthenticateResponse,
    ClientCapabilities,
    CloseSessionResponse,
    CurrentModeUpdate,
    DeleteSessionRequest,
    DeleteSessionResponse,
    ForkSessionResponse,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    LogoutCapabilities,
    LogoutResponse,
    McpCapabilities,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionAdditionalDirectoriesCapabilities,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionDeleteCapabilities,
    SessionForkCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
)

from acp import PROTOCOL_VERSION, Client, RequestError
from assent import __version__
from assent.acp import choices, named, prompts, updates
from assent.acp.files import ClientWorkspace
from assent.acp.front import AcpFront
from assent.acp.host import Build, ClientAccess
from assent.acp.sign_in import ModelSignIn
from assent.acp.terminals import ClientTerminal
from assent.acp.told import told
from assent.acp.transport import LineTransport
from assent.acp.turns import Turns
from assent.sessions.live.session import Session
from assent.sessions.stream.front import Call
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ports import TerminalClient, Workspace

OFFLINE = "There are no credentials: the offline stand-in answers, not a language model. Set ANTHROPIC_API_KEY."
CANCELLED = (-32800, "The request was cancelled")
CUT = "The last turn was cut short before it ended. What it had done is above; say what to do next."


class AcpAgent:
    def __init__(self, transport: LineTransport, build: Build) -> None:
        self._transport = transport
        self.front = AcpFront(transport)
        self.front.on_status = self._tell_choices
        self.app = build(ClientAccess(workspace=self._workspace, terminal=self._terminal, judging=self.front.judging))
        self._turns = Turns(self.app, self.front)
        self._sign_in = ModelSignIn(lambda: bool(self.app.status()["offline"]))
        self._initialized = False
        self._offered: list[str] | None = None  # models of the endpoint; None until somebody opens a session
        self._looking: asyncio.Task[None] | None = None
        self._chosen: dict[str, tuple[Any, ...]] = {}  # what of the options the client knows

    def on_connect(self, conn: Client) -> None:
        self.front.client = conn

    # --- the connection ----------------------------------------------------------------------------------------------

    async def initialize(
        self, protocol_version: int, client_capabilities: ClientCapabilities | None = None, **_: Any
    ) -> InitializeResponse:
        self._initialized = True
        self.front.capabilities = client_capabilities or ClientCapabilities()
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,  # the only one there is; a client that needs another one disconnects
            agent_info=Implementation(name="assent", title="Assent", version=__version__),
            auth_methods=[*ModelSignIn.methods()],
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(image=True, audio=False, embedded_context=True),
                mcp_capabilities=McpCapabilities(http=True, sse=True),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    resume=SessionResumeCapabilities(),
                    close=SessionCloseCapabilities(),
                    delete=SessionDeleteCapabilities(),
                    fork=SessionForkCapabilities(),
                    additional_directories=SessionAdditionalDirectoriesCapabilities(),
                ),
                auth=AgentAuthCapabilities(logout=LogoutCapabilities()),
            ),
        )

    async def authenticate(self, method_id: str, **_: Any) -> AuthenticateResponse:
        with told():
            self._ready()
            self._sign_in.authenticate(method_id)
            return AuthenticateResponse()

    async def logout(self) -> LogoutResponse:
        with told():
            self._ready()
            self._sign_in.sign_out()
            return LogoutResponse()

    async def ext_method(self, method: str, params: Json) -> Json:
        """Requests that the library does not route: two of the protocol's own (`transport.EXTENSIONS`)."""
        match method:
            case "session/delete":
                answer = await self.delete_session(DeleteSessionRequest.model_validate(params).session_id)
            case "logout":
                answer = await self.logout()
            case _:
                raise RequestError.method_not_found(f"_{method}")
        return answer.model_dump(mode="json", by_alias=True, exclude_none=True)

    # --- sessions ----------------------------------------------------------------------------------------------------

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: Sequence[Any] | None = None,
        **_: Any,
    ) -> NewSessionResponse:
        with told():
            self._ready()
            self._sign_in.require()
            if not cwd:
                raise ProtocolError("invalidParams", "cwd must be an absolute path")
            servers, directories = named.servers(mcp_servers), named.directories(additional_directories)
            call = self._held_call()
            opened = await self.app.sessions.request("assent/session/new", {"cwd": cwd}, call)
            session = self.app.sessions.live[opened["sessionId"]]
            self._open(session, servers, directories)
            return NewSessionResponse(session_id=session.id, **self._choices(session))

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: Sequence[Any] | None = None,
        additional_directories: list[str] | None = None,
        **_: Any,
    ) -> LoadSessionResponse:
        """The whole conversation goes out again before the answer; what is going on now follows it."""
        with told(), self._cancellable():
            servers, directories = named.servers(mcp_servers), named.directories(additional_directories)
            session, page = await self._attach(cwd, session_id)
            pages: list[Json] = [page]
            while "nextCursor" in pages[-1]:
                wanted = {"sessionId": session_id, "cursor": pages[-1]["nextCursor"]}
                pages.append(await self.app.sessions.request("assent/session/attach", wanted))
            messages = [message for page in reversed(pages) for message in page["messages"]]
            for update in self._open(session, servers, directories).replayed(messages):
                self.front.update(session_id, update)
            if page["todos"]:
                self.front.update(session_id, updates.plan_of(page["todos"]))
            if "interrupted" in page:
                self.front.update(session_id, updates.note(CUT))
            return LoadSessionResponse(**self._choices(session))

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: Sequence[Any] | None = None,
        **_: Any,
    ) -> ResumeSessionResponse:
        with told(), self._cancellable():
            servers, directories = named.servers(mcp_servers), named.directories(additional_directories)
            session, _page = await self._attach(cwd, session_id)
            self._open(session, servers, directories)
            return ResumeSessionResponse(**self._choices(session))

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: Sequence[Any] | None = None,
        **_: Any,
    ) -> ForkSessionResponse:
        with told():
            self._ready()
            self._sign_in.require()
            servers, directories = named.servers(mcp_servers), named.directories(additional_directories)
            forked = await self.app.sessions.request("assent/session/fork", {"sessionId": session_id})
            session, _page = await self._attach(cwd, forked["sessionId"])
            self._open(session, servers, directories)
            return ForkSessionResponse(session_id=session.id, **self._choices(session))

    async def list_sessions(self, cwd: str | None = None, cursor: str | None = None, **_: Any) -> ListSessionsResponse:
        with told(), self._cancellable():
            self._ready()
            params = {key: value for key, value in {"cwd": cwd, "cursor": cursor}.items() if value is not None}
            page = await self.app.sessions.request("assent/session/list", params)
            sessions = [
                SessionInfo(
                    session_id=each["sessionId"],
                    cwd=each["cwd"],
                    title=each["title"] or None,
                    updated_at=updates.iso(each["updatedAt"]),
                )
                for each in page["sessions"]
            ]
            return ListSessionsResponse(sessions=sessions, next_cursor=page.get("nextCursor"))

    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        with told():
            await self._end("assent/session/close", session_id)
            return CloseSessionResponse()

    async def delete_session(self, session_id: str) -> DeleteSessionResponse:
        with told():
            await self._end("assent/session/delete", session_id)
            return DeleteSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> SetSessionModeResponse:
        with told():
            await self._configure(session_id, {"mode": mode_id})
            return SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> SetSessionConfigOptionResponse:
        with told():
            session = await self._configure(session_id, choices.change_of(config_id, value))
            return SetSessionConfigOptionResponse(config_options=self._choices(session)["config_options"])

    # --- turns -------------------------------------------------------------------------------------------------------

    async def prompt(self, session_id: str, prompt: list[prompts.PromptBlock], **_: Any) -> PromptResponse:
        with told():
            self._sign_in.require()
            session = self._live(session_id)
            call = Call(front=self.front)
            cancelled = anyio.Event()  # this very request, not the turn: it is answered as such

            def cancel() -> None:
                cancelled.set()
                call.cancelled.set()

            self._transport.on_cancel(cancel)
            try:
                answer = await self._turns.prompt(session, prompts.blocks_of(prompt), call)
            finally:
                self._tell_choices(session_id)
            if cancelled.is_set():
                raise RequestError(*CANCELLED)
            return answer

    async def accept(self, session_id: str, prompt: list[prompts.PromptBlock]) -> str | None:
        """Take a prompt in without waiting for its turn: the id of its message; None if it was cancelled before."""
        with told():
            self._sign_in.require()
            session = self._live(session_id)
            call = Call(front=self.front)
            self._transport.on_cancel(call.cancelled.set)
            return await self._turns.accept(session, prompts.blocks_of(prompt), call)

    async def cancel(self, session_id: str, **_: Any) -> None:
        await self._turns.cancel(session_id)

    # --- shared ------------------------------------------------------------------------------------------------------

    def _ready(self) -> None:
        if not self._initialized:
            raise ProtocolError("invalidRequest", "send `initialize` first")

    def _held_call(self) -> Call:
        """A call whose events wait until the client has the answer that names the session."""
        answered = anyio.Event()
        self._transport.after_answer(answered.set)
        return Call(front=self.front, answered=answered)

    def _live(self, session_id: str) -> Session:
        self._ready()
        session = self.app.sessions.live.get(session_id)
        if session is None:
            hint = "Begin with session/new, session/load or session/resume."
            raise ProtocolError("unknownSession", f"no session {session_id} is open", hint=hint)
        return session

    @contextlib.contextmanager
    def _cancellable(self) -> Generator[None]:
        """For requests that only look: `$/cancel_request` cuts them off. What changes a session is finished."""
        with anyio.CancelScope() as scope:
            self._transport.on_cancel(scope.cancel)
            yield
        if scope.cancelled_caught:
            raise RequestError(*CANCELLED)

    async def _end(self, method: str, session_id: str) -> None:
        self._ready()
        await self.app.sessions.request(method, {"sessionId": session_id})
        self.front.closed(session_id)
        self._chosen.pop(session_id, None)

    async def _attach(self, cwd: str, session_id: str) -> tuple[Session, Json]:
        self._ready()
        self._sign_in.require()
        session = await self.app.sessions.get({"sessionId": session_id})
        if not named.same_folder(cwd, session.cwd):
            hint = "Open that folder, or begin a new session here."
            raise ProtocolError("invalidParams", f"this session belongs to {session.cwd}, not to {cwd}", hint=hint)
        page = await self.app.sessions.request("assent/session/attach", {"sessionId": session_id}, self._held_call())
        return session, page

    def _open(self, session: Session, servers: dict[str, Json], directories: tuple[str, ...]) -> updates.Translator:
        session.more_roots = directories
        notes: list[str] = []
        if self.app.status()["offline"]:
            notes.append(OFFLINE)
        if servers and session.deps.mcp is not None:
            session.deps.mcp.offer_from_client(session.cwd, servers)
        self._turns.opened(session.id, notes)
        commands = updates.commands_of(self.app.sessions.deps.commands(session.cwd, session.trusted))
        self._transport.after_answer(lambda: self.front.update(session.id, commands))
        self._transport.after_answer(lambda: self._look_for_models(session.cwd))
        return self.front.opened(session.id, session.cwd)

    async def _configure(self, session_id: str, change: Json) -> Session:
        session = self._live(session_id)
        if change.get("mode", "default") not in choices.offered_modes(session):
            raise ProtocolError("invalidParams", f"there is no mode {change['mode']!r} here")
        await self.app.sessions.request("assent/session/configure", {"sessionId": session_id, **change})
        return session

    def _choices(self, session: Session) -> dict[str, Any]:
        self._chosen[session.id] = choices.current(session)
        options = self._options(session)
        return {"modes": choices.mode_state(session), "config_options": options}

    def _tell_choices(self, session_id: str) -> None:
        """The mode or the model may have changed without the client: by a plan's approval, by a slash command."""
        session = self.app.sessions.live.get(session_id)
        if session is None or self._chosen.get(session_id) == choices.current(session):
            return
        mode = CurrentModeUpdate(session_update="current_mode_update", current_mode_id=session.state.mode)
        self.front.update(session_id, mode)
        self._choices(session)
        self.front.update(session_id, choices.config_update(self._options(session)))

    def _options(self, session: Session) -> list[choices.Option]:
        client = self.front.capabilities.session
        booleans = (
            client is not None and client.config_options is not None and client.config_options.boolean is not None
        )
        models = choices.models_of(session, self._offered or (), offline=self.app.status()["offline"])
        return choices.config_options(session, models, booleans=booleans)

    def _look_for_models(self, cwd: str) -> None:
        """The endpoint's own list, once: what it offers is told to every open session when it is there."""

        async def look() -> None:
            listed = await self.app.offered_models(cwd, False)
            self._offered = [each["id"] for each in listed["models"]]
            for session in [self.app.sessions.live.get(id) for id in self._chosen]:
                if session is not None:
                    self.front.update(session.id, choices.config_update(self._options(session)))

        if self._looking is None and not self.app.status()["offline"]:
            self._looking = asyncio.get_running_loop().create_task(look())

    def _workspace(self, disk: Workspace, session_id: Callable[[], str]) -> Workspace:
        return ClientWorkspace(
            disk,
            client=lambda: self.front.client,
            offered=lambda: self.front.capabilities.fs,
            session_id=session_id,
        )

    def _terminal(self, session_id: str) -> TerminalClient:
        return ClientTerminal(
            client=lambda: self.front.client,
            offered=lambda: bool(self.front.capabilities.terminal),
            session_id=session_id,
            shown=self.front.terminal,
        )
