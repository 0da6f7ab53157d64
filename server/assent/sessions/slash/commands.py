"""Every slash command of a session: built-in ones, skills and commands of files, in this order of precedence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import cast

from assent.extensions.catalogue import Catalogue
from assent.extensions.commands import BUILT_IN, Expansion, SlashCommand
from assent.extensions.prompt_files import PromptFile
from assent.sessions.definitions import Definitions
from assent.sessions.slash import folders, lists, notes, past, prompts, rules, running, snips, traces
from assent.sessions.slash.host import SlashSession
from assent.types.blocks import Json

RESERVED: tuple[str, ...] = (
    *(name for command in BUILT_IN for name in (command.name, *command.aliases)),
    *("init", "review", "add-dir"),
    *("memory", "permissions", "allowed-tools", "resume", "rewind", "fork", "export", "mcp", "agents", "hooks"),
    *("skills", "plugins", "todos", "output-style", "doctor", "snip", "trace"),
)
"""Names that no file can take."""


class SessionCommands:
    """All commands of one session, as the files were when they were loaded last. They are asked for several times in a
    turn, so they are made again only when the files or their trust changed."""

    def __init__(self, session: SlashSession) -> None:
        self._session = session
        self._own = built_in(session)
        self._of: Catalogue | None = None
        self._made: tuple[SlashCommand, ...] = self._own

    def __call__(self) -> tuple[SlashCommand, ...]:
        definitions = self._session.deps.definitions
        catalogue = definitions.of(self._session.cwd) if definitions is not None else None
        if catalogue is not None and catalogue is not self._of:
            from_files = (_command(self._session, prompt) for prompt in runnable(catalogue))
            self._of, self._made = catalogue, (*self._own, *from_files)
        return self._made


def built_in(session: SlashSession) -> tuple[SlashCommand, ...]:
    return (
        *BUILT_IN,
        *prompts.commands(session),
        folders.command(session),
        *notes.commands(session),
        rules.command(session),
        *past.commands(session),
        snips.command(session),
        traces.command(session),
        *lists.commands(session),
    )


def runnable(catalogue: Catalogue) -> list[PromptFile]:
    """Skills and commands of files that the user can run by name."""
    return [each for each in (*catalogue.skills, *catalogue.commands) if each.user_invocable and not each.withheld]


def _command(session: SlashSession, prompt: PromptFile) -> SlashCommand:
    async def expand(arguments: str) -> Expansion:
        return await running.expansion(session, prompt, arguments)

    return SlashCommand(
        name=prompt.name,
        description=prompt.description,
        argument_hint=prompt.argument_hint,
        expand=expand,
        source=prompt.origin.scope,
    )


@cache
def built_in_rows() -> tuple[Json, ...]:
    """The built-in ones as `session/new` and `assent/command/list` say them."""
    described = built_in(cast("SlashSession", None))  # they are only described here, never run
    return tuple(_row(each.name, each.description, each.argument_hint) for each in described if not each.hidden)


def file_rows(definitions: Definitions | None, cwd: str) -> list[Json]:
    found = runnable(definitions.of(cwd)) if definitions is not None else []
    return [{**_row(each.name, each.description, each.argument_hint), "source": each.origin.source} for each in found]


def prompt_rows(prompts: Sequence[SlashCommand]) -> list[Json]:
    """Prompts of MCP servers."""
    return [_row(each.name, each.description, each.argument_hint) for each in prompts]


def _row(name: str, description: str, hint: str) -> Json:
    return {"name": name, "description": description, **({"argumentHint": hint} if hint else {})}
