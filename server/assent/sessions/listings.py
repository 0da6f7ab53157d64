"""Requests that list what files define, and change rules: skills, memory, plugins, agents, commands, permissions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import anyio.to_thread
import msgspec

from assent.sessions import rules
from assent.sessions.deps import SessionDeps
from assent.sessions.slash import lists, notes
from assent.sessions.slash.commands import built_in_rows, file_rows
from assent.sessions.stream.front import Call
from assent.storage.settings import SourcedRule
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.wire import extensions
from assent.wire import rules as wire_rules
from assent.wire.shapes import Wire


class Owned(Protocol):
    """What a list needs of a session."""

    @property
    def cwd(self) -> str: ...
    @property
    def rules(self) -> list[SourcedRule]: ...
    def save_state(self) -> None: ...
    def settings_changed(self) -> None: ...


class Hub(Protocol):
    """What lists need of the sessions of the process."""

    @property
    def deps(self) -> SessionDeps: ...
    @property
    def live(self) -> Mapping[str, Owned]: ...
    async def session(self, session_id: str, /) -> Owned: ...


Handler = Callable[[Any, Call], Awaitable[Wire]]


def _typed(answer: Callable[[Json], Awaitable[Json]], result: type[Wire]) -> Handler:
    """Parameters as plain JSON in, the wire's struct out."""

    async def handle(params: Wire, _call: Call) -> Wire:
        return msgspec.convert(await answer(msgspec.to_builtins(params)), result)

    return handle


class Listings:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self.methods: dict[str, Handler] = {
            "assent/skill/list": _typed(self.skills, extensions.Skills),
            "assent/memory/list": _typed(self.memory, extensions.MemoryFiles),
            "assent/plugin/list": _typed(self.plugins, extensions.Plugins),
            "assent/command/list": _typed(self.commands, extensions.Commands),
            "assent/permission/rules": _typed(self.rules, wire_rules.Rules),
            "assent/permission/editRules": _typed(self.edit_rules, wire_rules.Rules),
        }

    async def skills(self, params: Json) -> Json:
        definitions = self._hub.deps.definitions
        cwd = await self._folder(params)
        return {"skills": lists.skill_rows(await definitions.load(cwd)) if definitions is not None else []}

    async def memory(self, params: Json) -> Json:
        definitions, cwd = self._hub.deps.definitions, await self._folder(params)
        on = self._hub.deps.settings.load(cwd, trust=self._hub.deps.trust.of(cwd)).get("memory", True) is not False
        files = await definitions.memory.load(cwd) if definitions is not None and on else []
        return {"files": [notes.row(file) for file in files]}

    async def plugins(self, params: Json) -> Json:
        definitions = self._hub.deps.definitions
        if definitions is None:
            return {"plugins": []}
        return {"plugins": await anyio.to_thread.run_sync(definitions.plugin_rows)}

    async def commands(self, params: Json) -> Json:
        definitions, cwd = self._hub.deps.definitions, await self._folder(params)
        if definitions is not None:
            await definitions.load(cwd)
        return {"commands": [*built_in_rows(), *file_rows(definitions, cwd)]}

    async def rules(self, params: Json) -> Json:
        cwd = await self._folder(params)
        session = self._hub.live.get(str(params.get("sessionId")))
        found = rules.listed(self._hub.deps.settings, self._hub.deps.trust, cwd, session.rules if session else ())
        return {"rules": found}

    async def edit_rules(self, params: Json) -> Json:
        cwd = await self._folder(params)
        session = await self._hub.session(str(params["sessionId"])) if params.get("sessionId") else None
        deps = self._hub.deps
        rules.changed(
            deps.settings,
            deps.trust,
            cwd,
            remove=params.get("remove") or (),
            add=params.get("add") or (),
            session=session.rules if session else None,
            parse_rule=deps.parse_rule,
        )
        if session is not None:
            session.save_state()
        for live in self._hub.live.values():
            live.settings_changed()
        return await self.rules(params)

    async def _folder(self, params: Json) -> str:
        """The folder a request is about: named, the session's, or the first of the workspace."""
        if params.get("cwd"):
            return str(params["cwd"])
        if params.get("sessionId"):
            return (await self._hub.session(str(params["sessionId"]))).cwd
        roots = self._hub.deps.roots()
        if not roots:
            raise ProtocolError(
                "invalidParams", "say which folder: there is no workspace", hint="Give `cwd` or `sessionId`."
            )
        return roots[0]
