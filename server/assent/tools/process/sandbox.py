"""The operating system's own fence around a command, where there is one (P4).

Landlock with a seccomp filter on Linux, bubblewrap where there is no Landlock, sandbox-exec on macOS; elsewhere none,
and `describe` says so, and why. Here is which one this machine has and what each is told; `fence.py` puts it around
commands. A fence narrows what an allowed command can do. It is never a reason to allow one.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from assent.tools.process import landlock, seccomp
from assent.tools.process.fence_probe import run_once
from assent.tools.process.fence_reads import CommandPlace, reading_rules
from assent.tools.process.shell_process import Enclosure
from assent.tools.process.spares import Identity
from assent.tools.process.supervisor import FILTER_FD
from assent.types.programs import find_program

Kind = Literal["bubblewrap", "landlock", "sandbox-exec", "none"]
Scope = Literal["reading", "all", "off"]
_PROBE_SECONDS = 10
_CHOWN, _OVERRIDE, _OWNER = 1 << 0, 1 << 1, 1 << 3  # what root's work on files takes; reading takes the second


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPolicy:
    """What a command may reach. What is not writable here is read-only; `readable` None means all can be read."""

    writable: tuple[str, ...] = ()
    readable: tuple[landlock.Rule, ...] | None = None
    pinned: tuple[str, ...] = ()  # writable, but cannot be moved away: protected paths are inside
    protected: tuple[str, ...] = ()  # read-only again, inside what is writable, where the system can do that
    network: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFences:
    """The fences of a machine, after they have held once."""

    kind: Kind  # around what only reads
    bwrap: str = ""  # where bubblewrap is, so that no PATH of a project can put another program in its place
    filters: bool = True  # seccomp works, too
    version: int = 0  # of Landlock
    failed: str = ""  # what would have been better, and what it said when it was tried

    @property
    def working_kind(self) -> Kind:
        """Around commands that do work: bubblewrap also guards protected paths inside the workspace."""
        return "bubblewrap" if self.bwrap else self.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What to start instead of a command."""

    argv: tuple[str, ...]
    enclosure: Enclosure


PROTECTED_IN_WORKSPACE = (
    ".git/hooks", ".git/config", ".githooks", ".husky", ".gitmodules", ".pre-commit-config.yaml",
    ".assent", ".claude", ".codex", ".cursor", ".gemini", ".mcp.json",
    ".vscode", ".idea", ".zed", ".fleet", ".devcontainer", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc",
    ".envrc", ".direnv", ".mise.toml", "mise.toml", ".npmrc", ".yarnrc.yml", ".cargo/config.toml",
    ".github/workflows", ".github/actions", ".gitlab-ci.yml", ".circleci", ".buildkite",
)  # fmt: skip
"""Of what the iron gate guards, that which editors, shells, package managers and CI run by themselves."""


def reading_policy(place: CommandPlace, *, writable: Sequence[str] = ()) -> SandboxPolicy:
    """For commands that our reader judged: reads by allow-list, no network. Raises Inexpressible."""
    return SandboxPolicy(readable=tuple(reading_rules(place)), writable=tuple(writable))


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


def plan(
    argv: Sequence[str],
    policy: SandboxPolicy,
    *,
    found: FoundFences,
    scratch: str = "",
    ruleset: int | None = None,
    rules: Identity = (),
) -> Start:
    """How to start `argv` inside the policy's fence. Raises OSError where the kernel does not give one.

    `ruleset` is one that was made for the same policy and the same scratch folder; `rules` says under what the one that
    is used may be kept for another command.
    """
    reads = policy.readable is not None
    match found.kind if reads else found.working_kind:
        case "bubblewrap":
            code = seccomp.program(reading=reads, network=policy.network, landlock=3) if found.filters else b""
            enclosure = Enclosure(kind="filter" if code else "none", filter=code, scratch=scratch)
            words = _bubblewrap(found.bwrap or "bwrap", policy, filtered=bool(code))
            return Start(argv=(*words, "--", *argv), enclosure=enclosure)
        case "landlock":
            version = found.version or landlock.abi_version()
            code = seccomp.program(reading=reads, network=policy.network, landlock=version) if found.filters else b""
            enclosure = Enclosure(
                kind="landlock",
                ruleset=landlock.make_ruleset(_rules(policy), network=policy.network) if ruleset is None else ruleset,
                rules=rules,
                filter=code,
                capabilities=_OVERRIDE if reads else _CHOWN | _OVERRIDE | _OWNER,
                scratch=scratch,
            )
            return Start(argv=tuple(argv), enclosure=enclosure)
        case "sandbox-exec":
            words = ("/usr/bin/sandbox-exec", "-p", _profile(policy), *argv)
            return Start(argv=words, enclosure=Enclosure(scratch=scratch))
        case "none":
            return Start(argv=tuple(argv), enclosure=Enclosure(scratch=scratch))


def _rules(policy: SandboxPolicy) -> list[landlock.Rule]:
    rules = [(path, landlock.DEVICE) for path in landlock.DEVICES]
    if policy.readable is not None:
        rules += policy.readable
        rules += [(path, landlock.EVERYTHING & ~landlock.EXECUTE) for path in policy.writable]
        return rules
    rules += [("/", landlock.RUN), ("/dev/ptmx", landlock.DEVICE), ("/dev/pts", landlock.EVERYTHING)]
    return [*rules, *((path, landlock.EVERYTHING) for path in policy.writable)]


# --- which one this machine has --------------------------------------------------------------------------------------


def available() -> Kind:
    return found_here().kind


@lru_cache(maxsize=1)
def found_here() -> FoundFences:
    """The best fence that has been seen to work on this machine. Takes a moment the first time."""
    return detect(platform=sys.platform, which=find_program, complaint=complaint, version=landlock.abi_version())


def known_here() -> FoundFences | None:
    """The same if it has been tried already: never waits."""
    return found_here() if found_here.cache_info().currsize else None


def detect(
    *,
    platform: str,
    which: Callable[[str], str | None],
    complaint: Callable[[FoundFences], str | None],
    version: int,
) -> FoundFences:
    """A fence counts only after it has held once: `complaint` tries one, and gives words if it failed.

    With no fence at all, `failed` tells whether there should be one: a kernel without Landlock on a system without
    bubblewrap has none, and that is no failure.
    """
    failures: list[str] = []

    def holds(found: FoundFences) -> bool:
        said = complaint(found)
        if said is not None:
            failures.append(f"{found.kind} did not start ({said})")
        return said is None

    if platform == "darwin":
        found = FoundFences(kind="sandbox-exec", filters=False)
        return found if holds(found) else FoundFences(kind="none", filters=False, failed="; ".join(failures))
    if not platform.startswith("linux"):
        return FoundFences(kind="none", filters=False)
    filters = seccomp.known_here()
    bwrap = which("bwrap") or ""
    if bwrap and not holds(FoundFences(kind="bubblewrap", bwrap=bwrap, filters=filters)):
        bwrap = ""
    if version > 0:
        for filtered in (True, False) if filters else (False,):
            if holds(found := FoundFences(kind="landlock", bwrap=bwrap, filters=filtered, version=version)):
                return replace(found, failed="; ".join(failures))
    if bwrap:
        return FoundFences(kind="bubblewrap", bwrap=bwrap, filters=filters, failed="; ".join(failures))
    return FoundFences(kind="none", filters=False, failed="; ".join(failures))


def describe(found: FoundFences | None = None) -> str:
    """For `doctor`: what surrounds commands here, and what does not although it could."""
    found = found or found_here()
    parts = [_WORDS[found.kind]]
    if found.kind == "landlock":
        if found.bwrap:
            parts.append("With sandbox.scope all, bubblewrap surrounds the other commands")
        else:
            parts.append(
                "With sandbox.scope all, protected paths inside the workspace are guarded by asking only; install "
                "bubblewrap for the stronger fence"
            )
        if 0 < found.version < 6:
            parts.append(f"Landlock is version {found.version} of 6: a command can send signals to your processes")
    if found.kind in ("landlock", "bubblewrap") and not found.filters:
        parts.append("There is no seccomp filter here: sockets and file modes are not fenced")
    if found.kind == "none":
        parts.append(
            "Commands that only read ask, too, since a fence should work here" if found.failed else "They run unfenced"
        )
    return ". ".join([*parts, found.failed] if found.failed else parts)


_WORDS: dict[Kind, str] = {
    "bubblewrap": (
        "bubblewrap: commands that run unasked because they only read see the system, toolchains and the workspace, "
        "write to a folder of their own and have no network"
    ),
    "landlock": (
        "Landlock and seccomp: commands that run unasked because they only read see the system, toolchains and the "
        "workspace, write to a folder of their own and have no sockets"
    ),
    "sandbox-exec": (
        "sandbox-exec: commands that run unasked because they only read write to a folder of their own and have no "
        "network; what they read is not fenced"
    ),
    "none": "none: this system offers no sandbox that works; commands are guarded by asking only",
}

# --- what each is told -----------------------------------------------------------------------------------------------


def _bubblewrap(program: str, policy: SandboxPolicy, *, filtered: bool) -> list[str]:
    """Namespaces of its own for processes too: it sees no other's environment, and all of it dies with its first."""
    argv = [program, "--die-with-parent", "--unshare-ipc", "--unshare-uts", "--unshare-pid", "--cap-drop", "ALL"]
    if os.geteuid() == 0:  # root could mount everything writable again; these are what its work on files takes
        reading = ("CAP_DAC_OVERRIDE",)
        for capability in reading if policy.readable is not None else (*reading, "CAP_CHOWN", "CAP_FOWNER"):
            argv += ["--cap-add", capability]
    if not policy.network:
        argv.append("--unshare-net")
    if policy.readable is None:
        argv += ["--ro-bind", "/", "/"]
    else:
        open_paths = [path for path, access in policy.readable if access & landlock.READ_FILE and path != "/proc"]
        for path in dict.fromkeys(open_paths):
            argv += ["--ro-bind-try", path, path]
    argv += ["--dev", "/dev", "--proc", "/proc"]
    for path in (*policy.writable, *policy.pinned):  # a mount point cannot be renamed
        argv += ["--bind-try", path, path]
    for path in policy.protected:
        real = os.path.realpath(path)  # nothing can be mounted on a link, only on what it leads to
        argv += ["--ro-bind-try", real, real]
    return [*argv, "--seccomp", str(FILTER_FD)] if filtered else argv


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


def complaint(found: FoundFences) -> str | None:
    """What is wrong with a fence, tried with a shell inside it; None when it holds."""
    with tempfile.TemporaryDirectory(prefix="assent-") as folder:
        inside, outside, scratch = (os.path.realpath(Path(folder, name)) for name in ("in", "out", "tmp"))
        for path in (inside, outside, scratch):
            os.mkdir(path)  # noqa: PTH102
        secret = Path(outside, "secret")
        secret.write_text("secret")
        place = CommandPlace(roots=(inside,), home="/nonexistent")
        words = ("/bin/sh", "-c", _TRIAL, "sh", inside, str(secret))
        env = {"PATH": os.environ.get("PATH", os.defpath), "TMPDIR": scratch}  # of our environment, nothing else
        try:
            start = plan(words, reading_policy(place, writable=(scratch,)), found=found)
        except OSError as error:
            return str(error)
        ran = run_once(start.argv, cwd="/", env=env, enclosure=start.enclosure, seconds=_PROBE_SECONDS)
        expected = {"ok"}
        if found.kind == "sandbox-exec":
            expected.add("read")  # there, reading is not fenced
        if found.filters:
            expected.add("filtered")
        said = ran.output.split("\n")
        if ran.error or ran.status != 0:
            last = next((line for line in reversed(said) if line.strip()), "")
            return (ran.error or last or f"exit code {ran.status}")[:200]
        return None if expected == set(filter(None, said)) else f"it does not hold: {' '.join(said).strip()[:100]}"


_TRIAL = """
( : > "$1/made" ) 2>/dev/null && echo wrote
( : < "$2" ) 2>/dev/null && echo read
( : > "$TMPDIR/made" ) 2>/dev/null || echo no temporary folder
while read -r name value; do
    if [ "$name" = Seccomp: ] && [ "$value" = 2 ]; then echo filtered; fi
done 2>/dev/null < /proc/self/status
echo ok
"""
"""What a fence must let pass and what it must not, as a shell sees it: $1 is the workspace, $2 lies outside."""
