"""git, as the tools run it themselves: no hook, helper, pager or transport of the repository, and bounded in time.

What looks at files or writes them out runs filters, which the repository's own configuration may name: `unfiltered`
gives a git that runs none of those. Long lists go in and come out through files, so that neither is cut. Knows nothing
of worktrees.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import anyio.to_thread

from assent.tools.process.environment import child_environment, hardened
from assent.tools.process.shell_process import Keeper
from assent.types.errors import ToolError
from assent.types.hardening import with_git_settings

_SECONDS = 120
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK")  # what git needs to know
_FILTER = re.compile(r"filter\.(.+)\.[a-z]+", re.DOTALL)
_OWN_SCOPES = ("local", "worktree")  # configuration that comes with the repository, files that it includes too
_REDIRECT = 'exec <"$1" >"$2"; shift 2; exec "$@"'


@dataclass(frozen=True, slots=True)
class Git:
    """One repository's git, started through the session's supervisor. `roots`: nothing in there counts as a program."""

    keeper: Keeper
    roots: Collection[str]
    settings: Mapping[str, str] = field(default_factory=dict[str, str])  # on top of the hardened ones

    async def unfiltered(self, cwd: str) -> "Git":
        """The same git for the repository at `cwd`, with the filters empty that its own configuration says anything of.
        Those of the user's configuration, such as git-lfs, still run. Raises ToolError."""
        said = await self.names("config", "--list", "-z", "--show-scope", cwd=cwd)
        keys = [
            key.partition("\n")[0] for scope, key in zip(said[::2], said[1::2], strict=True) if scope in _OWN_SCOPES
        ]
        drivers = dict.fromkeys(match[1] for match in map(_FILTER.fullmatch, keys) if match)
        silent = {f"filter.{driver}.{key}": "" for driver in drivers for key in ("clean", "smudge", "process")}
        return replace(self, settings=silent | {f"filter.{driver}.required": "false" for driver in drivers})

    async def text(self, *arguments: str, cwd: str) -> str:
        """What it prints, as one stripped text. Raises ToolError with its words."""
        return (await self.bytes(*arguments, cwd=cwd)).decode("utf-8", "surrogateescape").strip()

    async def names(self, *arguments: str, cwd: str) -> list[str]:
        """What it prints with -z, as a list."""
        found = (await self.bytes(*arguments, cwd=cwd)).split(b"\0")
        return [os.fsdecode(name) for name in found if name]

    async def bytes(self, *arguments: str, cwd: str, stdin: bytes = b"") -> bytes:
        place = Path(await anyio.to_thread.run_sync(lambda: tempfile.mkdtemp(prefix="assent-")))
        try:
            (place / "in").write_bytes(stdin)
            (place / "out").touch()
            line = ["/bin/sh", "-c", _REDIRECT, "sh", str(place / "in"), str(place / "out"), "git", *arguments]
            await self._run(line, arguments, cwd)
            return await anyio.to_thread.run_sync((place / "out").read_bytes)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    async def _run(self, line: Sequence[str], arguments: Sequence[str], cwd: str) -> None:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        env = with_git_settings(hardened(child_environment(kept), roots=(cwd, *self.roots)), self.settings)
        process = await self.keeper.start(line, cwd=cwd, env=env)
        try:
            with anyio.move_on_after(_SECONDS):
                await process.ended.wait()
        finally:
            if not process.ended.is_set():
                with anyio.CancelScope(shield=True):
                    await self.keeper.stop(process)
        name = next((word for word in arguments if not word.startswith("-")), "")
        if process.status is None or (process.status < 0 and process.status in (-9, -15)):
            raise ToolError(f"git {name} took too long, or was stopped")
        if process.status != 0:
            said = process.output().decode("utf-8", "replace").strip()
            raise ToolError(f"git {name} failed: {said or process.error or f'status {process.status}'}")
