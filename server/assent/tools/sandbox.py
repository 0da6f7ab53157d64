"""The operating system's own fence around a command, where there is one (P4).

bubblewrap when it is installed and really works, Landlock with resource limits on other Linux systems, sandbox-exec on
macOS; elsewhere none, and `describe` says so. A fence narrows what an allowed command can do. It is never a reason to
allow one: the permission chain does not know this module.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

Kind = Literal["bubblewrap", "landlock", "sandbox-exec", "none"]
Scope = Literal["reading", "all", "off"]
_PROBE_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPolicy:
    """What a command may reach. Everything can be read; what is not writable here is read-only."""

    writable: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()  # read-only again, inside what is writable, where the system can do that
    network: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPlan:
    kind: Kind
    argv: tuple[str, ...]


PROTECTED_IN_WORKSPACE = [
    ".git/hooks",
    ".git/config",
    ".assent",
    ".claude",
    ".vscode",
    ".idea",
    ".mcp.json",
    ".envrc",
    ".nvim.lua",
    ".exrc",
    ".husky",
    ".github/workflows",
]


def reading_policy() -> SandboxPolicy:
    """For commands that run unasked because they only read: nothing writable, no network."""
    return SandboxPolicy()


def working_policy(roots: Sequence[str], *, network: bool = False, temporary: str = "/tmp") -> SandboxPolicy:
    """For commands that do work: the workspace and the temporary directory, but not what the iron gate guards."""
    protected = [str(Path(root, name)) for root in roots for name in PROTECTED_IN_WORKSPACE]
    return SandboxPolicy(writable=(*roots, temporary), protected=tuple(protected), network=network)


def plan(argv: Sequence[str], policy: SandboxPolicy, *, kind: Kind | None = None) -> SandboxPlan:
    """The command line to start instead of `argv`. With no fence here it is `argv` itself, and `kind` says so."""
    match kind or available():
        case "bubblewrap":
            return SandboxPlan(kind="bubblewrap", argv=(*_bubblewrap(policy), "--", *argv))
        case "landlock":
            script = str(Path(__file__).with_name("landlock.py"))
            words = json.dumps({"writable": list(policy.writable), "network": policy.network})
            return SandboxPlan(kind="landlock", argv=(sys.executable, "-I", "-S", script, words, "--", *argv))
        case "sandbox-exec":
            return SandboxPlan(kind="sandbox-exec", argv=("/usr/bin/sandbox-exec", "-p", _profile(policy), *argv))
        case "none":
            return SandboxPlan(kind="none", argv=tuple(argv))


def make_fence(
    *, scope: Scope = "reading", network: bool = False, kind: Kind | None = None
) -> Callable[[Sequence[str], bool, Sequence[str]], Sequence[str]] | None:
    """What the Bash tool puts around its commands, from the settings `sandbox: {scope, network}`.

    "reading", the default, fences in what runs unasked because it only reads; "all" also what was allowed to do more;
    "off" nothing. A command that a person allowed for its work needs the network and .git, so "all" is their choice.
    """
    if scope == "off":
        return None

    def fence(argv: Sequence[str], read_only: bool, roots: Sequence[str]) -> Sequence[str]:
        if read_only:
            return plan(argv, reading_policy(), kind=kind).argv
        return plan(argv, working_policy(roots, network=network), kind=kind).argv if scope == "all" else argv

    return fence


@lru_cache(maxsize=1)
def available() -> Kind:
    """The best fence that has been seen to work on this machine."""
    return detect(platform=sys.platform, which=shutil.which, works=_works)


def detect(*, platform: str, which: Callable[[str], str | None], works: Callable[[Sequence[str]], bool]) -> Kind:
    """`works` runs a command line and tells whether it succeeded: a fence counts only after it has held once."""
    if platform == "darwin":
        return "sandbox-exec" if works(plan(("/usr/bin/true",), SandboxPolicy(), kind="sandbox-exec").argv) else "none"
    if not platform.startswith("linux"):
        return "none"
    if which("bwrap") and works(plan(("true",), SandboxPolicy(), kind="bubblewrap").argv):
        return "bubblewrap"
    return "landlock" if works(plan(("true",), SandboxPolicy(), kind="landlock").argv) else "none"


def describe(kind: Kind | None = None) -> str:
    """One sentence for `doctor` and `explain`."""
    match kind or available():
        case "bubblewrap":
            return "bubblewrap: the workspace is writable but for protected paths, no network unless allowed"
        case "landlock":
            return (
                "Landlock and resource limits: only the workspace is writable, no network unless allowed; protected "
                "paths inside the workspace are guarded by asking only. Install bubblewrap for the stronger fence"
            )
        case "sandbox-exec":
            return "sandbox-exec: the workspace is writable but for protected paths, no network unless allowed"
        case "none":
            return "none: this system offers no sandbox that works; commands are guarded by asking only"


def _bubblewrap(policy: SandboxPolicy) -> list[str]:
    argv = ["bwrap", "--die-with-parent", "--unshare-ipc", "--unshare-uts"]
    if not policy.network:
        argv.append("--unshare-net")
    argv += ["--ro-bind", "/", "/", "--dev", "/dev"]
    for path in policy.writable:
        argv += ["--bind-try", path, path]
    for path in policy.protected:
        argv += ["--ro-bind-try", path, path]
    return argv


def _profile(policy: SandboxPolicy) -> str:
    """Apple's profile language; the last rule that matches decides."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    if not policy.network:
        lines.append("(deny network*)")
    lines.append('(allow file-write* (literal "/dev/null") (literal "/dev/tty") (regex #"^/dev/fd/"))')
    lines += [f"(allow file-write* (subpath {_quoted(path)}))" for path in policy.writable]
    lines += [f"(deny file-write* (subpath {_quoted(path)}))" for path in policy.protected]
    return "\n".join(lines)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _works(argv: Sequence[str]) -> bool:
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
