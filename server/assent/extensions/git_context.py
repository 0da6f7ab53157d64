"""The state of the repository in a few lines, for the system context (Q8).

Runs git, so it is asked for only in trusted workspaces, with the environment that keeps git from running anything else.
"""

import os
import subprocess
from collections.abc import Mapping

import anyio

from assent.types.hardening import hardening_env

MOST_LINES = 40
SECONDS = 2.0
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")


async def git_context(cwd: str) -> str:
    """Branch, changed files and the last commits; empty where there is no repository."""
    env = {**{name: os.environ[name] for name in PASSED_ON if name in os.environ}, **hardening_env()}
    status = await _git(cwd, env, "status", "--short", "--branch", "--untracked-files=normal")
    if not status:
        return ""
    log = await _git(cwd, env, "log", "--oneline", "--no-decorate", "-5")
    lines = status.splitlines()
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… and {len(lines) - MOST_LINES} more"]
    recent = f"\nRecent commits:\n{log.rstrip()}" if log else ""
    return "Git status when the session began (it does not follow later changes):\n" + "\n".join(lines) + recent


async def _git(cwd: str, env: Mapping[str, str], *arguments: str) -> str:
    try:
        with anyio.fail_after(SECONDS):
            done = await anyio.run_process(
                ["git", *arguments],
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
    except (OSError, TimeoutError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
