"""Slash commands: what they are and what they may do to a conversation (X, Q7)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from assent.types.blocks import Block, Json
from assent.types.permissions import Mode


class CommandHost(Protocol):
    """The conversation as a command sees it; the engine implements it."""

    @property
    def model(self) -> str: ...
    @property
    def mode(self) -> Mode: ...
    def set_model(self, model: str) -> None: ...
    def set_mode(self, mode: Mode) -> None: ...
    def clear(self) -> None: ...
    async def compact(self, instructions: str) -> str: ...
    def context(self) -> Json: ...
    def cost(self) -> Json: ...
    def status(self) -> Json: ...
    def commands(self) -> Sequence["Command"]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """A command that becomes a prompt, with what it allows or changes for this turn only (Q4)."""

    blocks: tuple[Block, ...]
    model: str | None = None
    allowed_tools: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Exactly one of `run` (answered locally) and `expand` (becomes a prompt) is set."""

    name: str
    description: str
    argument_hint: str = ""
    aliases: tuple[str, ...] = ()
    run: Callable[[str, CommandHost], Awaitable[str]] | None = None
    expand: Callable[[str], Awaitable[Expansion]] | None = None
    hidden: bool = field(default=False)
