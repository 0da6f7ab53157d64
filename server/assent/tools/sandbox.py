"""The operating system's own fence around a command, where there is one (P4).

bubblewrap when it is installed and really works, Landlock with resource limits on other Linux systems, sandbox-exec on
macOS; elsewhere none, and `describe` says so, and why. A fence narrows what an allowed command can do. It is never a
reason to allow one: the permission chain does not know this module. A fence that does not start runs no command.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

Kind = Literal["bubblewrap", "landlock", "sandbox-exec", "none"]
Scope = Literal["reading", "all", "off"]
_PROBE_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPolicy:
    """What a command may reach. Everything can be read; what is not writable here is read-only."""

    writable: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()  # writable, but cannot be moved away: protected paths are inside
    protected: tuple[str, ...] = ()  # read-only again, inside what is writable, where the system can do that
    network: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPlan:
    kind: Kind
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The fence of a machine, after it has held once."""

    kind: Kind
    bwrap: str = "bwrap"  # where bubblewrap is, so that no PATH of a project can put another program in its place
    failed: str = ""  # what would have been better, and what it said when it was tried


PROTECTED_IN_WORKSPACE = (
    ".git/hooks", ".git/config", ".githooks", ".husky", ".gitmodules", ".pre-commit-config.yaml",
    ".assent", ".claude", ".codex", ".cursor", ".gemini", ".mcp.json",
    ".vscode", ".idea", ".zed", ".fleet", ".devcontainer", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc",
    ".envrc", ".direnv", ".mise.toml", "mise.toml", ".npmrc", ".yarnrc.yml", ".cargo/config.toml",
    ".github/workflows", ".github/actions", ".gitlab-ci.yml", ".circleci", ".buildkite",
)  # fmt: skip
"""Of what the iron gate guards, that which editors, shells, package managers and CI run by themselves."""


def reading_policy() -> SandboxPolicy:
    """For commands that run unasked because they only read: nothing writable, no network."""
    return SandboxPolicy()


def working_policy(
    roots: Sequence[str], *, network: bool = False, temporary: Sequence[str] | None = None
) -> SandboxPolicy:
    """For commands that do work: the workspace and temporary directories, but not what the iron gate guards."""
    if temporary is None:
        temporary = [path for path in ("/tmp", os.environ.get("TMPDIR", "")) if path.startswith("/")]
    protected = [Path(root, name) for root in roots for name in PROTECTED_IN_WORKSPACE]
    protected += [path for root in roots for path in Path(root).glob("*.code-workspace")]
    pinned = [path.parent for path in protected if str(path.parent) not in roots]
    return SandboxPolicy(
        writable=tuple(dict.fromkeys((*temporary, *roots))),
        pinned=tuple(dict.fromkeys(map(str, pinned))),
        protected=tuple(dict.fromkeys(map(str, protected))),
        network=network,
    )


def plan(argv: Sequence[str], policy: SandboxPolicy, *, found: Found | None = None) -> SandboxPlan:
    """The command line to start instead of `argv`. With no fence here it is `argv` itself, and `kind` says so."""
    found = found or found_here()
    match found.kind:
        case "bubblewrap":
            return SandboxPlan(kind="bubblewrap", argv=(*_bubblewrap(found.bwrap, policy), "--", *argv))
        case "landlock":
            script = str(Path(__file__).with_name("landlock.py"))
            words = json.dumps({"writable": list(policy.writable), "network": policy.network})
            return SandboxPlan(kind="landlock", argv=(sys.executable, "-I", "-S", script, words, "--", *argv))
        case "sandbox-exec":
            return SandboxPlan(kind="sandbox-exec", argv=("/usr/bin/sandbox-exec", "-p", _profile(policy), *argv))
        case "none":
            return SandboxPlan(kind="none", argv=tuple(argv))


def make_fence(
    *, scope: Scope = "reading", network: bool = False, found: Found | None = None
) -> Callable[[Sequence[str], bool, Sequence[str]], Sequence[str]] | None:
    """What the Bash tool puts around its commands, from the settings `sandbox: {scope, network}`.

    "reading", the default, fences in what runs unasked because it only reads; "all" also what was allowed to do more;
    "off" nothing. A command that a person allowed for its work needs the network and .git, so "all" is their choice.
    """
    if scope == "off":
        return None

    def fence(argv: Sequence[str], read_only: bool, roots: Sequence[str]) -> Sequence[str]:
        if read_only:
            return plan(argv, reading_policy(), found=found).argv
        return plan(argv, working_policy(roots, network=network), found=found).argv if scope == "all" else argv

    return fence


def available() -> Kind:
    return found_here().kind


@lru_cache(maxsize=1)
def found_here() -> Found:
    """The best fence that has been seen to work on this machine."""
    return detect(platform=sys.platform, which=_which, complaint=complaint)


def detect(
    *, platform: str, which: Callable[[str], str | None], complaint: Callable[[Sequence[str]], str | None]
) -> Found:
    """A fence counts only after it has held once: `complaint` runs a command line, and gives its words if it failed."""
    if platform == "darwin":
        found = Found(kind="sandbox-exec")
        failed = complaint(plan(("/usr/bin/true",), SandboxPolicy(), found=found).argv)
        return found if failed is None else Found(kind="none", failed=f"sandbox-exec did not start ({failed})")
    if not platform.startswith("linux"):
        return Found(kind="none")
    failures: list[str] = []
    candidates = [Found(kind="landlock")]
    if bwrap := which("bwrap"):
        candidates.insert(0, Found(kind="bubblewrap", bwrap=bwrap))
    for found in candidates:
        said = complaint(plan(("true",), SandboxPolicy(), found=found).argv)
        if said is None:
            return replace(found, failed="; ".join(failures))
        failures.append(f"{found.kind} did not start ({said})")
    return Found(kind="none", failed="; ".join(failures))


def describe(found: Found | None = None) -> str:
    """For `doctor`: what surrounds commands here, and what does not although it could."""
    found = found or found_here()
    return f"{_WORDS[found.kind]}. {found.failed}" if found.failed else _WORDS[found.kind]


_WORDS: dict[Kind, str] = {
    "bubblewrap": "bubblewrap: the workspace is writable but for protected paths, no network unless allowed",
    "landlock": (
        "Landlock and resource limits: only the workspace is writable, no network unless allowed; protected "
        "paths inside the workspace are guarded by asking only. Install bubblewrap for the stronger fence"
    ),
    "sandbox-exec": "sandbox-exec: the workspace is writable but for protected paths, no network unless allowed",
    "none": "none: this system offers no sandbox that works; commands are guarded by asking only",
}


def _bubblewrap(program: str, policy: SandboxPolicy) -> list[str]:
    """Namespaces of its own for processes too: it sees no other's environment, and all of it dies with its first."""
    argv = [program, "--die-with-parent", "--unshare-ipc", "--unshare-uts", "--unshare-pid", "--cap-drop", "ALL"]
    if os.geteuid() == 0:  # root could mount everything writable again; these are what writing in the workspace takes
        for capability in ("CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER"):
            argv += ["--cap-add", capability]
    if not policy.network:
        argv.append("--unshare-net")
    argv += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path in (*policy.writable, *policy.pinned):  # a mount point cannot be renamed
        argv += ["--bind-try", path, path]
    for path in policy.protected:
        real = os.path.realpath(path)  # nothing can be mounted on a link, only on what it leads to
        argv += ["--ro-bind-try", real, real]
    return argv


def _profile(policy: SandboxPolicy) -> str:
    """Apple's profile language; the last rule that matches decides. It sees paths after all links, as /private/tmp."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    if not policy.network:
        lines.append("(deny network*)")
    devices = " ".join(f'(literal "/dev/{name}")' for name in ("null", "zero", "tty", "stdout", "stderr"))
    lines.append(f'(allow file-write* {devices} (regex #"^/dev/fd/"))')
    lines += [f"(allow file-write* (subpath {path}))" for path in _real(policy.writable)]
    lines += [f"(deny file-write-unlink (literal {path}))" for path in _real(policy.pinned)]
    lines += [f"(deny file-write* (subpath {path}))" for path in _real(policy.protected)]
    return "\n".join(lines)


def _real(paths: Sequence[str]) -> list[str]:
    """Each as written and where it leads, quoted."""
    return [_quoted(path) for given in paths for path in dict.fromkeys((given, os.path.realpath(given)))]


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _which(name: str) -> str | None:
    """From absolute entries of PATH only: another one would mean a program of whatever folder we are in."""
    return shutil.which(name, path=os.pathsep.join(entry for entry in os.get_exec_path() if entry.startswith("/")))


def complaint(argv: Sequence[str]) -> str | None:
    """What a program says when it fails, and None when it does not. Of our environment it gets PATH only."""
    try:
        done = subprocess.run(
            argv,
            env={"PATH": os.environ.get("PATH", os.defpath)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    if done.returncode == 0:
        return None
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return said[-1][:200] if said else f"exit code {done.returncode}"
