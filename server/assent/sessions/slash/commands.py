"""Every slash command of a session: built-in ones, skills and commands of files, in this order of precedence."""

from __future__ import annotations

from functools import cache
from typing import cast

from assent.extensions.commands import BUILT_IN, Command, Expansion
from assent.extensions.prompt_files import PromptFile
from assent.sessions.definitions import Definitions
from assent.sessions.slash import lists, notes, past, prompts, rules, running
from assent.sessions.slash.host import Session
from assent.types.blocks import Json

RESERVED: tuple[str, ...] = (
    *(name for command in BUILT_IN for name in (command.name, *command.aliases)),
    *(command.name for command in prompts.COMMANDS),
    *("memory", "permissions", "allowed-tools", "resume", "rewind", "fork", "export", "mcp", "agents", "hooks"),
    *("skills", "plugins", "todos", "output-style", "doctor", "snip", "trace"),
)
"""Names that no file can take."""


def session_commands(session: Session) -> tuple[Command, ...]:
    """All of them, as the files were when they were loaded last."""
    return (*built_in(session), *from_files(session))


def built_in(session: Session) -> tuple[Command, ...]:
    return (
        *BUILT_IN,
        *prompts.COMMANDS,
        *notes.commands(session),
        rules.command(session),
        *past.commands(session),
        *lists.commands(session),
    )


def from_files(session: Session) -> tuple[Command, ...]:
    return tuple(_command(session, prompt) for prompt in usable(session.deps.definitions, session.cwd))


def usable(definitions: Definitions | None, cwd: str) -> list[PromptFile]:
    """Skills and commands of files that the user can run by name."""
    if definitions is None:
        return []
    catalogue = definitions.of(cwd)
    return [each for each in (*catalogue.skills, *catalogue.commands) if each.user_invocable and not each.withheld]


def _command(session: Session, prompt: PromptFile) -> Command:
    async def expand(arguments: str) -> Expansion:
        return await running.expansion(session, prompt, arguments)

    return Command(name=prompt.name, description=prompt.description, argument_hint=prompt.argument_hint, expand=expand)


@cache
def built_in_rows() -> tuple[Json, ...]:
    """The built-in ones as `session/new` and `assent/command/list` say them."""
    described = built_in(cast("Session", None))  # they are only described here, never run
    return tuple(_row(each.name, each.description, each.argument_hint) for each in described if not each.hidden)


def file_rows(definitions: Definitions | None, cwd: str) -> list[Json]:
    found = [(each, _row(each.name, each.description, each.argument_hint)) for each in usable(definitions, cwd)]
    return [{**row, "source": each.origin.source} for each, row in found]


def _row(name: str, description: str, hint: str) -> Json:
    return {"name": name, "description": description, **({"argumentHint": hint} if hint else {})}
