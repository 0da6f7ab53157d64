"""Requests that list what files define, and change rules: skills, memory, plugins, agents, commands, permissions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import anyio.to_thread
import msgspec

from assent.sessions import rules_in_force
from assent.sessions.deps import SessionDeps
from assent.sessions.slash import lists, notes
from assent.sessions.stream.front import Call
from assent.storage.settings import SourcedRule
from assent.types.errors import ProtocolError
from assent.wire import extensions
from assent.wire.rules import PermissionEditRules, PermissionRules, RuleInfo, Rules
from assent.wire.shapes import CommandInfo, Wire


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
_Located = extensions.FolderRef | extensions.CommandList | PermissionRules | PermissionEditRules


class Listings:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self.methods: dict[str, Handler] = {
            "assent/skill/list": self.skills,
            "assent/memory/list": self.memory,
            "assent/plugin/list": self.plugins,
            "assent/command/list": self.commands,
            "assent/permission/rules": self.rules,
            "assent/permission/editRules": self.edit_rules,
        }

    async def skills(self, params: extensions.FolderRef, call: Call) -> extensions.Skills:
        definitions, cwd = self._hub.deps.definitions, await self._folder(params)
        rows = lists.skill_rows(await definitions.load(cwd)) if definitions is not None else []
        return extensions.Skills(msgspec.convert(rows, list[extensions.SkillInfo]))

    async def memory(self, params: extensions.FolderRef, call: Call) -> extensions.MemoryFiles:
        definitions, cwd = self._hub.deps.definitions, await self._folder(params)
        on = self._hub.deps.settings.load(cwd, trust=self._hub.deps.trust.of(cwd)).get("memory", True) is not False
        files = await definitions.memory.load(cwd) if definitions is not None and on else []
        rows = [notes.row(file) for file in files]
        return extensions.MemoryFiles(msgspec.convert(rows, list[extensions.MemoryFile]))

    async def plugins(self, params: extensions.FolderRef, call: Call) -> extensions.Plugins:
        definitions = self._hub.deps.definitions
        rows = await anyio.to_thread.run_sync(definitions.plugin_rows) if definitions is not None else []
        return extensions.Plugins(msgspec.convert(rows, list[extensions.PluginInfo]))

    async def commands(self, params: extensions.CommandList, call: Call) -> extensions.Commands:
        definitions, cwd = self._hub.deps.definitions, await self._folder(params)
        if definitions is not None:
            await definitions.load(cwd)
        rows = self._hub.deps.commands(cwd, self._hub.deps.trust.trusted(cwd))
        return extensions.Commands(msgspec.convert(rows, list[CommandInfo]))

    async def rules(self, params: PermissionRules | PermissionEditRules, call: Call) -> Rules:
        cwd = await self._folder(params)
        session = self._hub.live.get(params.session_id or "")
        found = rules_in_force.listed(
            self._hub.deps.settings, self._hub.deps.trust, cwd, session.rules if session else ()
        )
        return Rules(msgspec.convert(found, list[RuleInfo]))

    async def edit_rules(self, params: PermissionEditRules, call: Call) -> Rules:
        cwd = await self._folder(params)
        session = await self._hub.session(params.session_id) if params.session_id else None
        deps = self._hub.deps
        rules_in_force.changed(
            deps.settings,
            deps.trust,
            cwd,
            remove=msgspec.to_builtins(params.remove or []),
            add=msgspec.to_builtins(params.add or []),
            session=session.rules if session else None,
            parse_rule=deps.parse_rule,
        )
        if session is not None:
            session.save_state()
        for live in self._hub.live.values():
            live.settings_changed()
        return await self.rules(params, call)

    async def _folder(self, params: _Located) -> str:
        """The folder a request is about: the one it names, the session's, or the first of the workspace."""
        if params.cwd:
            return params.cwd
        if params.session_id:
            return (await self._hub.session(params.session_id)).cwd
        roots = self._hub.deps.roots()
        if not roots:
            raise ProtocolError(
                "invalidParams", "say which folder: there is no workspace", hint="Give `cwd` or `sessionId`."
            )
        return roots[0]
