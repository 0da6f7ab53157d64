"""Memory files: what the user and the project want every session to know (X).

Placeholder for its loading code; this is the port the engine reads.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    path: str
    text: str
    scope: str  # user, project, nested


class MemorySource(Protocol):
    async def load(self, cwd: str) -> list[MemoryFile]: ...

    async def nested(self, path: str, cwd: str) -> list[MemoryFile]:
        """Memory files between cwd and the folder of `path`, for a file that was just touched."""
        ...
