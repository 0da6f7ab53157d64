"""The program for several clients at once: one `App`, one desk, and for each client its own way to the model.

A session keeps the credentials and the endpoint of the client that began it, or opened it first; whoever attaches with
others is told. Everything else (sessions, proposals, trust, MCP servers, settings files) is shared.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from assent.app import App, Options
from assent.assembly.model_access import ModelAccess
from assent.editor.client_edits import ClientEdits
from assent.editor.desk import Desk, Seat
from assent.lsp.backend import Backend
from assent.sessions.deps import SessionDeps
from assent.sessions.live.session import Session
from assent.sessions.missed import MissedBoard
from assent.sessions.stream.front import Call, Front
from assent.storage.settings import Settings
from assent.storage.trust import UNTRUSTED
from assent.types.blocks import Json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from assent.lsp.client import ConnectedClient

Key = tuple[tuple[tuple[str, str], ...], str | None, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arrival:
    """What a client said of its surroundings when it came."""

    offline: bool = False
    env: Mapping[str, str] = field(default_factory=dict[str, str])  # the variables that say whom to call and as whom


@dataclass(slots=True, kw_only=True)
class _Member:
    client: "ConnectedClient"
    seat: Seat
    access: ModelAccess
    deps: SessionDeps
    told: set[str] = field(default_factory=set[str])  # sessions whose other credentials it knows of


class SharedApp:
    def __init__(self, workspace: str, *, handed_over: Callable[[str], bool], missed: Path) -> None:
        """`missed`: the file for what goes on without a window. `handed_over`: the variables that clients bring along;
        ours of these names count for nobody else."""
        self._workspace = workspace
        self._members: list[_Member] = []
        self._by_front: dict[int, _Member] = {}
        self._desk = Desk()
        self._plain = {name: value for name, value in os.environ.items() if not handed_over(name)}
        self.app = App(client=self._desk, roots=self._roots, encoding="utf-16", options=Options(), many=True)
        self._desk.serve(self.app.editor)
        self._ways: dict[Key, tuple[ModelAccess, SessionDeps]] = {}
        self._warm = False
        sessions = self.app.sessions
        self._missed = MissedBoard(missed, sessions.live.values, hours=lambda: self.settings.typed.host_missed_hours)
        sessions.roster.listen(lambda _roster: self._missed.changed())
        self.app.sessions.deps_of = self._deps_of
        self.app.sessions.on_attached = self._attached

    # --- for the host ------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def running(self) -> "AsyncGenerator[None]":
        async with self.app:
            yield
            self._missed.close()  # what runs now is cut off, and must not look finished
        for access, _ in self._ways.values():
            await access.models.aclose()

    @property
    def settings(self) -> Settings:
        """The user's own; what the project says of the host is ignored."""
        return self.app.settings.load(self._workspace, trust=UNTRUSTED)

    @property
    def nice(self) -> int:
        """How far commands stand back while no window is open."""
        return self.settings.typed.host_nice

    @property
    def must_go_on(self) -> bool:
        """Whether a turn runs that is to go on without a window."""
        always = self.settings.typed.host_keep_running
        sessions = self.app.sessions.live.values()
        return any(session.running and (always or session.keeps_running) for session in sessions)

    @property
    def idle_seconds(self) -> float:
        return self.settings.typed.host_idle_seconds

    def build(
        self, client: "ConnectedClient", editor: ClientEdits, *, words: Json, entered: Callable[[], Awaitable[None]]
    ) -> Backend:
        """`words` is the client's hello; `entered` returns once the program runs."""
        access, deps = self._way(_arrival(words), client.options.api_key)
        seat = self._desk.sit(editor, name=client.name)
        member = _Member(client=client, seat=seat, access=access, deps=deps)
        self._members.append(member)
        app = self.app
        return Backend(
            sessions=app.sessions,
            editor=seat,
            settings=app.settings,
            trust=app.trust,
            status=partial(app.answers.status, access),
            explain=app.deciding.explain,
            check_key=partial(app.answers.check_key, access),
            offered_models=partial(app.answers.offered_models, access),
            mcp=app.mcp,
            running=_waiting_for(entered),
            warm_up=self._warm_up,
            shared=True,
            joined=partial(self._joined, member),
            left=partial(self._left, member),
            missed=self._missed.current,
            acted=partial(self._desk.acted, seat),
        )

    # --- clients -----------------------------------------------------------------------------------------------------

    def _joined(self, member: _Member, front: Front) -> None:
        self._by_front[id(front)] = member

    def _left(self, member: _Member, front: Front) -> None:
        self.app.sessions.disconnect(front)  # first: what it is asked now must not be answered by its end
        self._missed.someone_left()
        self._by_front.pop(id(front), None)
        if member in self._members:
            self._members.remove(member)
        self._desk.leave(member.seat)

    def _roots(self) -> tuple[str, ...]:
        roots = [root for member in self._members for root in member.client.roots()]
        return tuple(dict.fromkeys(roots)) or (self._workspace,)

    def _warm_up(self) -> None:
        if not self._warm:
            self._warm = True
            self.app.warm_up()

    # --- whose model -------------------------------------------------------------------------------------------------

    def _way(self, arrival: _Arrival, api_key: str | None) -> tuple[ModelAccess, SessionDeps]:
        """Clients that say the same share one."""
        key = (tuple(sorted(arrival.env.items())), api_key, arrival.offline)
        if key not in self._ways:
            access = self.app.access_for(api_key=api_key, offline=arrival.offline, env={**self._plain, **arrival.env})
            deps = self.app.session_deps(access)
            deps.request = self.app.sessions.request
            self._ways[key] = (access, deps)
        return self._ways[key]

    def _deps_of(self, call: Call | None) -> SessionDeps:
        member = self._member(call)
        return self.app.sessions.deps if member is None else member.deps

    def _attached(self, session: Session, call: Call) -> None:
        member = self._member(call)
        if member is None or session.deps is member.deps or session.id in member.told:
            return
        member.told.add(session.id)
        theirs = next((way for way, deps in self._ways.values() if deps is session.deps), self.app.access)
        member.seat.client.tell(
            f"“{session.title or session.id}” was begun in another window, and is answered with that window's "
            f"credentials: {_words(theirs)}. Yours are: {_words(member.access)}."
        )

    def _member(self, call: Call | None) -> _Member | None:
        return None if call is None or call.front is None else self._by_front.get(id(call.front))


@asynccontextmanager
async def _waiting_for(entered: Callable[[], Awaitable[None]]) -> "AsyncGenerator[None]":
    await entered()
    yield


def _words(access: ModelAccess) -> str:
    models = access.models
    if models.offline:
        return "none, the offline stand-in"
    return f"{models.credentials.detail} at {models.endpoint_name}"


def _arrival(words: Json) -> _Arrival:
    """From a client's hello."""
    env: Any = words.get("env")
    told = {name: str(value) for name, value in cast("Json", env).items()} if isinstance(env, dict) else {}
    return _Arrival(offline=words.get("offline") is True, env=told)
