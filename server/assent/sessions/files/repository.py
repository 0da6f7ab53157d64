"""The state of the repository when a session began (Q8): taken once, in the background, shared with its subagents.

Knows when to take it and that it is taken once; how the commands run is the session's affair.
"""

import asyncio
from collections.abc import Awaitable, Callable

from assent.extensions.git_context import git_context


class RepositorySnapshot:
    def __init__(self, run: Callable[[str], Awaitable[str]]) -> None:
        self._run = run
        self._taken: asyncio.Task[str] | None = None

    def start(self) -> None:
        """Begin now: by the time the first prompt is written, it is there."""
        if self._taken is None:
            self._taken = asyncio.create_task(git_context(self._run), name="repository snapshot")

    async def text(self) -> str:
        self.start()
        assert self._taken is not None
        return await asyncio.shield(self._taken)

    def close(self) -> None:
        if self._taken is not None:
            self._taken.cancel()
