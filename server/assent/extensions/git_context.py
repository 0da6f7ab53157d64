"""The state of the repository in a few lines, for the system context (Q8).

Only says which commands and puts their answers together; who runs them decides whether they may.
"""

from collections.abc import Awaitable, Callable

MOST_LINES = 40
STATUS = "git status --short --branch --untracked-files=normal 2>/dev/null"
RECENT = "git log --oneline --no-decorate -5 2>/dev/null"


async def git_context(run: Callable[[str], Awaitable[str]]) -> str:
    """Branch, changed files and the last commits; empty where there is no repository, or git may not run unasked.

    `run` gives a command's output, and nothing when it fails or may not run.
    """
    status = await run(STATUS)
    if not status:
        return ""
    log = await run(RECENT)
    lines = status.splitlines()
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… and {len(lines) - MOST_LINES} more"]
    recent = f"\nRecent commits:\n{log.rstrip()}" if log else ""
    return "Git status when the session began (it does not follow later changes):\n" + "\n".join(lines) + recent
