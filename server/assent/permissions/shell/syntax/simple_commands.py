"""A simple command as it stands in a line: its words, redirections, inputs, and the directories it may run in."""

from dataclasses import dataclass

from assent.permissions.shell.syntax.directories import Directories
from assent.permissions.shell.syntax.words import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    operator: str
    target: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One simple command and every directory it may run in."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    directories: Directories = None
    given: str | None = None  # text it gets by a heredoc or a here-string
    feeders: tuple["Command", ...] = ()  # what a pipe feeds it with
    naming: bool = True  # False: part of a command whose words are looked at anyway
    loops: tuple[tuple[str, tuple[Word, ...]], ...] = ()  # variables of the loops around it, and what they go through

    @property
    def argv(self) -> tuple[str, ...]:
        return tuple([word.text for word in self.words])

    @property
    def known(self) -> bool:
        return all(word.known for word in self.words)
