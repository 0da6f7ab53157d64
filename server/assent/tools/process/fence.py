"""The second wall: what Bash puts around a command (P4, safety.md "Two walls").

A command that our reader judged read-only always runs inside: nothing writable but a private folder, reads by
allow-list, no sockets. One that a rule, a mode or a person allowed follows `sandbox.scope`. A fence that cannot be
put up raises `Unfenced`: the command is not run, and a person is asked.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex

from assent.tools.process import fence_reads, sandbox
from assent.tools.process.fence_reads import CommandPlace, Inexpressible
from assent.tools.process.leftovers import remove
from assent.tools.process.sandbox import FoundFences, Scope, Start
from assent.tools.process.spares import Spares, identity
from assent.tools.process.supervisor import GIT_CONFIGURATION
from assent.types import git_config
from assent.types.errors import Unfenced

RETRY_AFTER = 60.0  # seconds after a failure, until when what only reads is asked about
_MOST_CONFIGURATION = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class FencedRun:
    """One command to be fenced in."""

    argv: Sequence[str]
    env: Mapping[str, str]
    judged: bool  # our reader said that it only reads
    cwd: str
    roots: Sequence[str] = ()
    results: str = ""  # where this session keeps long results, which its commands may read
    spares: Spares | None = None  # fences of earlier commands that may be used again


@dataclass(frozen=True, slots=True, kw_only=True)
class Surrounded:
    start: Start
    env: Mapping[str, str]


class Fences:
    """All fences of one server: they share what is known of the machine, and of failures."""

    def __init__(
        self,
        *,
        home: str = "",
        own: Sequence[str] = (),
        found: Callable[[], FoundFences] = sandbox.found_here,
        known: Callable[[], FoundFences | None] = sandbox.known_here,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home or str(Path.home())
        self._own = tuple(own)
        self._found = found
        self._known = known
        self._clock = clock
        self._failure: tuple[float, str] | None = None

    def trouble(self, roots: Sequence[str], *, scope: Scope = "reading") -> str:
        """Why what only reads cannot be fenced in now, in words; empty when it can, and where there is no fence.

        For the permission chain, which asks then. Never waits: while nothing is known of the machine, it hopes.
        """
        if scope == "off" or (found := self._known()) is None:
            return ""
        if found.kind == "none":
            return found.failed
        if self._failure is not None and self._clock() - self._failure[0] < RETRY_AFTER:
            return self._failure[1]
        if found.kind == "sandbox-exec":
            return ""
        return fence_reads.inexpressible(roots, home=self._home, own=self._own)

    def failed(self, reason: str) -> Unfenced:
        """Remember that a fence did not close, and give the error to raise."""
        self._failure = (self._clock(), reason)
        return Unfenced(f"The fence around this command did not start, so it was not run: {reason}")

    def make(self, *, scope: Scope = "reading", network: bool = False) -> "Fence | None":
        """From the settings `sandbox: {scope, network}`. "off" is the user's own word that there be none."""
        return None if scope == "off" else Fence(self, scope=scope, network=network)

    def surround(self, wanted: FencedRun, *, network: bool) -> Surrounded:
        """Raises Unfenced."""
        found = self._found()
        roots = tuple(dict.fromkeys((wanted.cwd, *wanted.roots)))
        if found.kind == "none" and found.failed:
            raise self.failed(found.failed)
        if not wanted.judged:
            policy = sandbox.working_policy(roots, network=network)
            try:
                return Surrounded(start=sandbox.plan(wanted.argv, policy, found=found), env=wanted.env)
            except OSError as error:
                raise self.failed(error.strerror or str(error)) from None
        try:
            return self._reading(wanted, found, roots)
        except (OSError, Inexpressible) as error:
            raise self.failed(getattr(error, "strerror", None) or str(error)) from None

    def _reading(self, wanted: FencedRun, found: FoundFences, roots: tuple[str, ...]) -> Surrounded:
        texts = _git_configuration(wanted.env, self._home)
        place = CommandPlace(
            roots=roots,
            home=self._home,
            own=self._own,
            results=(wanted.results,) if wanted.results else (),
            path=wanted.env.get("PATH", ""),
            named=tuple(git_config.named_files(*texts, home=self._home)),
        )
        policy = sandbox.reading_policy(place)
        rules = identity(policy.readable or ()) if wanted.spares is not None and found.kind == "landlock" else ()
        spare = wanted.spares.take(rules) if wanted.spares is not None and rules else None
        scratch = spare.scratch if spare is not None else _made_scratch()
        try:
            configuration = _written(git_config.sanitised(*texts), f"{scratch}/{GIT_CONFIGURATION}")
            policy = replace(policy, writable=(scratch,))
            kept = spare.ruleset if spare is not None else None
            start = sandbox.plan(wanted.argv, policy, found=found, scratch=scratch, ruleset=kept, rules=rules)
        except BaseException:
            if spare is not None:
                os.close(spare.ruleset)
            remove(scratch)
            raise
        env = {**wanted.env, **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), scratch), "GIT_CONFIG_GLOBAL": configuration}
        return Surrounded(start=start, env=env)


@dataclass(frozen=True, slots=True)
class Fence:
    """The fence of one session's commands, as its settings want it."""

    fences: Fences
    scope: Scope
    network: bool

    def wants(self, *, judged: bool) -> bool:
        """ "reading", the default, fences in what runs because it only reads; "all" also what was allowed to do more.

        A command that a person allowed for its work needs the network and .git, so "all" is their choice.
        """
        return judged or self.scope == "all"

    def surround(self, wanted: FencedRun) -> Surrounded:
        return self.fences.surround(wanted, network=self.network)

    def failed(self, reason: str) -> Unfenced:
        return self.fences.failed(reason)


def _made_scratch() -> str:
    scratch = f"{os.path.realpath(tempfile.gettempdir())}/assent-{token_hex(8)}"
    os.mkdir(scratch, 0o700)  # noqa: PTH102
    return scratch


def _written(text: str, path: str) -> str:
    """Where git finds this text. The command may change it: all that it then misleads is inside the same fence."""
    if not text:
        return os.devnull
    with open(path, "x", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)
    return path


def _git_configuration(env: Mapping[str, str], home: str) -> list[str]:
    """git's two global files, in the order in which it reads them."""
    folder = env.get("XDG_CONFIG_HOME") or f"{env.get('HOME') or home}/.config"
    texts: list[str] = []
    for path in (f"{folder}/git/config", f"{env.get('HOME') or home}/.gitconfig"):
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                texts.append(os.read(handle, _MOST_CONFIGURATION).decode("utf-8", "replace"))
            finally:
                os.close(handle)
    return texts
