"""The agent's side of the protocol: one method per request, each a few lines onto `sessions.Sessions`.

The library decodes and routes; what it passes us besides the fields it knows is ignored, as the protocol wants.
"""

import contextlib
import os
from collections.abc import Callable, Generator, Sequence
from datetime import UTC, datetime
from typing import Any

import anyio
from acp.schema import (
    AgentCapabilities,
    AuthenticateResponse,
    ClientCapabilities,
    CloseSessionResponse,
    CurrentModeUpdate,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
)

from acp import PROTOCOL_VERSION, Client, RequestError
from assent import __version__
from assent.acp import choices, prompts, updates
from assent.acp.files import ClientWorkspace
from assent.acp.front import AcpFront
from assent.acp.host import Build, Host
from assent.acp.transport import LineTransport
from assent.acp.turns import Turns
from assent.sessions.live.session import Session
from assent.sessions.stream.front import Call
from assent.types.blocks import Json
from assent.types.errors import ModelError, ProtocolError
from assent.types.ports import Workspace

OFFLINE = "There are no credentials: the offline stand-in answers, not a language model. Set ANTHROPIC_API_KEY."
CUT = "The last turn was cut short before it ended. What it had done is above; say what to do next."


class AcpAgent:
    def __init__(self, transport: LineTransport, build: Build) -> None:
        self._transport = transport
        self._front = AcpFront(transport)
        self._front.on_status = self._tell_choices
        self.app = build(Host(workspace=self._workspace, judging=self._front.judging))
        self._turns = Turns(self.app, self._front)
        self._initialized = False
        self._chosen: dict[str, tuple[str, str]] = {}  # mode and model, as the client knows them

    def on_connect(self, conn: Client) -> None:
        self._front.client = conn

    # --- the connection ----------------------------------------------------------------------------------------------

    async def initialize(
        self, protocol_version: int, client_capabilities: ClientCapabilities | None = None, **_: Any
    ) -> InitializeResponse:
        self._initialized = True
        self._front.capabilities = client_capabilities or ClientCapabilities()
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,  # the only one there is; a client that needs another one disconnects
            agent_info=Implementation(name="assent", title="Assent", version=__version__),
            auth_methods=[],
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(image=True, audio=False, embedded_context=True),
                mcp_capabilities=McpCapabilities(http=True, sse=True),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(), resume=SessionResumeCapabilities(), close=SessionCloseCapabilities()
                ),
            ),
        )

    async def authenticate(self, method_id: str, **_: Any) -> AuthenticateResponse:
        with _told():
            hint = "Assent takes its key from the environment; set ANTHROPIC_API_KEY in the agent's `env`."
            raise ProtocolError("invalidParams", f"there is no authentication method {method_id!r}", hint=hint)

    # --- sessions ----------------------------------------------------------------------------------------------------

    async def new_session(self, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any) -> NewSessionResponse:
        with _told():
            self._ready()
            if not cwd:
                raise ProtocolError("invalidParams", "cwd must be an absolute path")
            call = self._held_call()
            opened = await self.app.sessions.request("assent/session/new", {"cwd": cwd}, call)
            session = self.app.sessions.live[opened["sessionId"]]
            self._open(session, mcp_servers)
            return NewSessionResponse(session_id=session.id, **self._choices(session))

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> LoadSessionResponse:
        """The whole conversation goes out again before the answer; what is going on now follows it."""
        with _told():
            session, page = await self._attach(cwd, session_id)
            pages: list[Json] = [page]
            while "nextCursor" in pages[-1]:
                wanted = {"sessionId": session_id, "cursor": pages[-1]["nextCursor"]}
                pages.append(await self.app.sessions.request("assent/session/attach", wanted))
            messages = [message for page in reversed(pages) for message in page["messages"]]
            for update in self._open(session, mcp_servers).replayed(messages):
                self._front.update(session_id, update)
            if page["todos"]:
                self._front.update(session_id, updates.plan_of(page["todos"]))
            if "interrupted" in page:
                self._front.update(session_id, updates.note(CUT))
            return LoadSessionResponse(**self._choices(session))

    async def resume_session(
        self, session_id: str, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> ResumeSessionResponse:
        with _told():
            session, _page = await self._attach(cwd, session_id)
            self._open(session, mcp_servers)
            return ResumeSessionResponse(**self._choices(session))

    async def list_sessions(self, cwd: str | None = None, cursor: str | None = None, **_: Any) -> ListSessionsResponse:
        with _told():
            self._ready()
            params = {key: value for key, value in {"cwd": cwd, "cursor": cursor}.items() if value is not None}
            page = await self.app.sessions.request("assent/session/list", params)
            sessions = [
                SessionInfo(
                    session_id=each["sessionId"],
                    cwd=each["cwd"],
                    title=each["title"] or None,
                    updated_at=datetime.fromtimestamp(each["updatedAt"], UTC).isoformat(),
                )
                for each in page["sessions"]
            ]
            return ListSessionsResponse(sessions=sessions, next_cursor=page.get("nextCursor"))

    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        with _told():
            self._ready()
            await self.app.sessions.request("assent/session/close", {"sessionId": session_id})
            self._front.closed(session_id)
            self._chosen.pop(session_id, None)
            return CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> SetSessionModeResponse:
        with _told():
            await self._configure(session_id, {"mode": mode_id})
            return SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> SetSessionConfigOptionResponse:
        with _told():
            if config_id not in ("mode", "model"):
                raise ProtocolError("invalidParams", f"there is no option {config_id!r}", hint="mode and model are.")
            session = await self._configure(session_id, {config_id: value})
            return SetSessionConfigOptionResponse(config_options=self._choices(session)["config_options"])

    # --- turns -------------------------------------------------------------------------------------------------------

    async def prompt(self, session_id: str, prompt: list[prompts.PromptBlock], **_: Any) -> PromptResponse:
        with _told():
            session = self._live(session_id)
            try:
                return await self._turns.prompt(session, prompts.blocks_of(prompt))
            finally:
                self._tell_choices(session_id)

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
        return Call(front=self._front, answered=answered)

    def _live(self, session_id: str) -> Session:
        self._ready()
        session = self.app.sessions.live.get(session_id)
        if session is None:
            hint = "Begin with session/new, session/load or session/resume."
            raise ProtocolError("unknownSession", f"no session {session_id} is open", hint=hint)
        return session

    async def _attach(self, cwd: str, session_id: str) -> tuple[Session, Json]:
        self._ready()
        session = await self.app.sessions.get({"sessionId": session_id})
        if not _same_folder(cwd, session.cwd):
            hint = "Open that folder, or begin a new session here."
            raise ProtocolError("invalidParams", f"this session belongs to {session.cwd}, not to {cwd}", hint=hint)
        page = await self.app.sessions.request("assent/session/attach", {"sessionId": session_id}, self._held_call())
        return session, page

    def _open(self, session: Session, mcp_servers: Sequence[Any] | None) -> updates.Translator:
        notes: list[str] = []
        if self.app.status()["offline"]:
            notes.append(OFFLINE)
        if mcp_servers and session.deps.mcp is not None:
            session.deps.mcp.offer_from_client(session.cwd, dict(map(_server_entry, mcp_servers)))
        self._turns.opened(session.id, notes)
        commands = updates.commands_of(self.app.sessions.deps.commands(session.cwd, session.trusted))
        self._transport.after_answer(lambda: self._front.update(session.id, commands))
        return self._front.opened(session.id, session.cwd)

    async def _configure(self, session_id: str, change: Json) -> Session:
        session = self._live(session_id)
        if change.get("mode", "default") not in choices.offered_modes(session):
            raise ProtocolError("invalidParams", f"there is no mode {change['mode']!r} here")
        await self.app.sessions.request("assent/session/configure", {"sessionId": session_id, **change})
        return session

    def _choices(self, session: Session) -> dict[str, Any]:
        self._chosen[session.id] = (session.state.mode, session.options.model)
        options = choices.config_options(session, offline=self.app.status()["offline"])
        return {"modes": choices.mode_state(session), "config_options": options}

    def _tell_choices(self, session_id: str) -> None:
        """The mode or the model may have changed without the client: by a plan's approval, by a slash command."""
        session = self.app.sessions.live.get(session_id)
        if session is None or self._chosen.get(session_id) == (session.state.mode, session.options.model):
            return
        mode = CurrentModeUpdate(session_update="current_mode_update", current_mode_id=session.state.mode)
        self._front.update(session_id, mode)
        self._choices(session)
        self._front.update(session_id, choices.config_update(session, offline=self.app.status()["offline"]))

    def _workspace(self, disk: Workspace, session_id: Callable[[], str]) -> Workspace:
        return ClientWorkspace(
            disk,
            client=lambda: self._front.client,
            offered=lambda: self._front.capabilities.fs,
            session_id=session_id,
        )


def _same_folder(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


@contextlib.contextmanager
def _told() -> Generator[None]:
    """Our errors as the protocol's, in words a person can act on."""
    try:
        yield
    except ProtocolError as error:
        words = f"{error}. {error.hint}" if error.hint else str(error)
        code = -32002 if error.kind == "unknownSession" else error.code
        raise RequestError(code, words, {"kind": error.kind}) from None
    except ModelError as error:
        raise RequestError(-32602, str(error), {"kind": error.kind}) from None


def _server_entry(server: Any) -> tuple[str, Json]:
    """One MCP server that the client named, as an entry of `mcpServers`."""
    if getattr(server, "url", None):
        headers = {header.name: header.value for header in server.headers or ()}
        return str(server.name), {"type": getattr(server, "type", "http"), "url": server.url, "headers": headers}
    env = {variable.name: variable.value for variable in server.env or ()}
    return str(server.name), {"command": server.command, "args": list(server.args or ()), "env": env}
