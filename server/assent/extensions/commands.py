"""Slash commands (X, Q7): what one is, what it may do to a conversation, and the ones that come built in.

A command is answered locally (`run`) or becomes a prompt (`expand`). It sees the conversation only as a
`CommandHost`, which the engine implements.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from assent.types.blocks import Block, Json
from assent.types.permissions import MODES, Mode


class CommandHost(Protocol):
    """The conversation as a command sees it."""

    @property
    def model(self) -> str: ...
    @property
    def mode(self) -> Mode: ...
    @property
    def commands(self) -> Sequence[SlashCommand]: ...
    async def set_model(self, model: str) -> str:
        """Change it; why not, where a hook or a person refused."""
        ...

    def set_mode(self, mode: Mode) -> None: ...
    async def clear(self) -> None: ...
    async def compact(self, instructions: str) -> str:
        """Compact now; what to tell the user of it."""
        ...

    def context_text(self) -> str: ...
    def cost(self) -> Json: ...
    def status(self) -> Json: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """A command that becomes a prompt, with what it changes for this turn only (Q4)."""

    blocks: tuple[Block, ...]
    model: str | None = None
    effort: str | None = None
    allowed_tools: tuple[str, ...] | None = None  # the only ones; None: all
    disallowed_tools: tuple[str, ...] = ()
    agent: str = ""  # it works in a context of its own, as this agent


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand:
    """Exactly one of `run` and `expand` is set."""

    name: str
    description: str
    argument_hint: str = ""
    aliases: tuple[str, ...] = ()
    run: Callable[[str, CommandHost], Awaitable[str]] | None = None
    expand: Callable[[str], Awaitable[Expansion]] | None = None
    hidden: bool = False
    source: str = "built-in"  # where it comes from, for hooks: user, project, plugin, mcp


def find(commands: Iterable[SlashCommand], name: str) -> SlashCommand | None:
    return next((command for command in commands if name == command.name or name in command.aliases), None)


def split(text: str) -> tuple[str, str] | None:
    """`/name arguments` as (name, arguments); None for anything else, a path such as /usr/bin too."""
    stripped = text.strip()
    if not stripped.startswith("/"):
        return None
    name, _, arguments = stripped[1:].partition("\n" if "\n" in stripped.split(" ", 1)[0] else " ")
    if not name or "/" in name or not name[0].isalpha():
        return None
    return name, arguments.strip()


async def _clear(_arguments: str, host: CommandHost) -> str:
    await host.clear()
    return "The conversation starts afresh. What was said before is still in the transcript."


async def _compact(arguments: str, host: CommandHost) -> str:
    return await host.compact(arguments)


async def _context(_arguments: str, host: CommandHost) -> str:
    return host.context_text()


async def _cost(_arguments: str, host: CommandHost) -> str:
    cost = host.cost()
    lines = [f"This session has cost ${cost['totalCostUsd']:.4f}.", ""]
    if lost := cost.get("unreported"):
        calls = "1 call was" if lost == 1 else f"{lost} calls were"
        lines.insert(1, f"{calls} cut off by a crash before the endpoint said what it cost; that is not in the sum.")
    for model, used in cast("dict[str, Json]", cost["byModel"]).items():
        lines.append(
            f"- {model}: ${used['costUsd']:.4f}; {used['input']:,} in, {used['output']:,} out, "
            f"{used['cacheRead']:,} read from cache, {used['cacheWrite']:,} written to it"
        )
    return "\n".join(lines).rstrip()


async def _model(arguments: str, host: CommandHost) -> str:
    if not arguments:
        return f"The model is {host.model}. `/model NAME` changes it."
    if refused := await host.set_model(arguments.split()[0]):
        return refused
    return f"The model is now {host.model}."


async def _mode(arguments: str, host: CommandHost) -> str:
    if not arguments:
        return f"The permission mode is {host.mode}. The modes are: {', '.join(MODES)}."
    wanted = arguments.split()[0].casefold()
    mode: Mode | None = next((each for each in MODES if each.casefold() == wanted), None)
    if mode is None:
        return f"There is no mode {arguments.split()[0]!r}. The modes are: {', '.join(MODES)}."
    host.set_mode(mode)
    return f"The permission mode is now {mode}."


async def _help(_arguments: str, host: CommandHost) -> str:
    rows = [
        f"- `/{command.name}{' ' + command.argument_hint if command.argument_hint else ''}`: {command.description}"
        for command in sorted(host.commands, key=lambda each: each.name)
        if not command.hidden
    ]
    return "\n".join(
        ["Commands:", "", *rows, "", "`@path` attaches a file. A prompt that ends in `+500k` sets a token target."]
    )


async def _status(_arguments: str, host: CommandHost) -> str:
    return "\n".join(f"- {name}: {value}" for name, value in host.status().items())


BUILT_IN: tuple[SlashCommand, ...] = (
    SlashCommand(name="clear", description="forget the conversation and start afresh", aliases=("new",), run=_clear),
    SlashCommand(
        name="compact",
        description="replace the conversation by a summary",
        argument_hint="[what to keep in mind]",
        run=_compact,
    ),
    SlashCommand(name="context", description="where the context window goes", run=_context),
    SlashCommand(name="cost", description="what this session has cost", run=_cost),
    SlashCommand(name="help", description="this list", run=_help),
    SlashCommand(name="mode", description="show or set the permission mode", argument_hint="[mode]", run=_mode),
    SlashCommand(name="model", description="show or set the model", argument_hint="[name]", run=_model),
    SlashCommand(name="status", description="session, model, mode and servers", run=_status),
)
