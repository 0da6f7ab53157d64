"""What is known around one shell line, and what is collected while it is judged. The judgement itself is elsewhere."""

from collections.abc import Collection
from dataclasses import dataclass, field

from assent.permissions import repositories
from assent.permissions.paths import Seen
from assent.permissions.shell.syntax.directories import Directories

MAX_TEXTS = 40  # that may be shell text, in one line
MAX_TEXT_LENGTH = 16_000  # of all those texts: the reader's time for one line stays below 50 ms
MAX_GUESSED_WORDS = 4000  # of commands that wrappers may run, in one line


@dataclass(slots=True)
class GuessBudget:
    """What may still be guessed at in one line, so that a long line takes no longer than it is worth."""

    texts: int = MAX_TEXTS
    text_length: int = MAX_TEXT_LENGTH
    words: int = MAX_GUESSED_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class LineState:
    cwd: str
    home: str
    roots: tuple[str, ...]
    trusted: bool
    hints: Collection[str]
    nesting: int
    seen: Seen
    budget: GuessBudget
    unsettled: bool = False  # the line may change what its own words mean
    unchecked: list[str] = field(default_factory=list[str])
    unnamed: list[str] = field(default_factory=list[str])
    blind: list[str] = field(default_factory=list[str])
    repositories: dict[Directories, str] = field(default_factory=dict[Directories, str])

    def repository_doubt(self, directories: Directories) -> str:
        if directories not in self.repositories:
            found = repositories.repository_doubt(directories, self.roots, trusted=self.trusted, seen=self.seen)
            self.repositories[directories] = found or ""
        return self.repositories[directories]
