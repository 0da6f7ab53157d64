"""The fence around commands: what each kind is told, and that the one of this machine really holds."""

import re
from pathlib import Path
from typing import Any

import pytest

from assent.permissions.paths import locate
from assent.permissions.protected import protected_write
from assent.tools.process import sandbox
from assent.tools.process.sandbox import (
    PROTECTED_IN_WORKSPACE,
    FoundFences,
    Kind,
    SandboxPolicy,
    describe,
    detect,
    plan,
    working_policy,
)
from assent.types.permissions import Allow, Ask
from permissions.scratch import Scratch

POLICY = SandboxPolicy(writable=("/w",), protected=("/w/.git/hooks",), network=False)


def test_bubblewrap_makes_all_read_only_but_the_workspace() -> None:
    found = FoundFences(kind="bubblewrap", bwrap="/usr/bin/bwrap")
    argv = plan(["bash", "-c", "x"], POLICY, found=found).argv
    assert argv[0] == "/usr/bin/bwrap"
    assert argv[-4:] == ("--", "bash", "-c", "x")
    text = " ".join(argv)
    assert text.index("--ro-bind / /") < text.index("--bind-try /w /w") < text.index("--ro-bind-try /w/.git/hooks")
    assert "--unshare-net" in argv
    assert "--unshare-net" not in plan(["x"], SandboxPolicy(network=True), found=found).argv


def test_bubblewrap_shows_a_reader_only_what_it_may_read() -> None:
    policy = SandboxPolicy(readable=(("/", 8), ("/usr", 13), ("/w", 12)), writable=("/scratch",))
    start = plan(["x"], policy, found=FoundFences(kind="bubblewrap", bwrap="/usr/bin/bwrap"), scratch="/scratch")
    text = " ".join(start.argv)
    assert "--ro-bind / /" not in text
    assert "--ro-bind-try /usr /usr --ro-bind-try /w /w" in text
    assert "--bind-try /scratch /scratch" in text
    assert "--seccomp 198" in text
    assert start.enclosure.kind == "filter"
    assert start.enclosure.filter
    assert start.enclosure.scratch == "/scratch"


def test_sandbox_exec_gets_a_profile_whose_last_word_is_protection(tmp_path: Path) -> None:
    """All that can be shown without macOS: the text, rule by rule; there the last one that matches decides."""
    real, link = tmp_path / 'real "one"', tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    policy = SandboxPolicy(writable=(str(link),), pinned=("/w/.git",), protected=("/w/.git/hooks",))
    argv = plan(["x", "y z"], policy, found=FoundFences(kind="sandbox-exec")).argv
    assert argv[:2] == ("/usr/bin/sandbox-exec", "-p")
    assert argv[3:] == ("x", "y z")
    quoted = str(real).replace('"', '\\"')
    assert argv[2].split("\n") == [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        "(deny network*)",
        '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/stdout") '
        '(literal "/dev/stderr") (regex #"^/dev/fd/"))',
        f'(allow file-write* (subpath "{link}"))',
        f'(allow file-write* (subpath "{quoted}"))',
        '(deny file-write-unlink (literal "/w/.git"))',
        '(deny file-write* (subpath "/w/.git/hooks"))',
    ]
    assert "network" not in plan(["x"], SandboxPolicy(network=True), found=FoundFences(kind="sandbox-exec")).argv[2]


_WORD = r'(?:"(?:[^"\\]|\\.)*"|#"[^"]*"|[a-z*0-9.-]+)'


@pytest.mark.parametrize("root", ["/w", '/a "quoted" (one)', "/back\\slash", "/new\nline", "/é"])
def test_a_profile_is_well_formed_whatever_the_workspace_is_called(root: str) -> None:
    profile = plan(["x"], working_policy([root]), found=FoundFences(kind="sandbox-exec")).argv[2]
    filter = rf"\((?:subpath|literal|regex) {_WORD}\)"
    rule = rf"\((?:version 1|(?:allow|deny) {_WORD}(?: {filter})*)\)"
    assert re.fullmatch(rf"(?:{rule}(?:\n|\Z))+", profile, re.DOTALL)


def test_what_the_fence_protects_the_iron_gate_asks_about(ws: Scratch) -> None:
    """The two lists are kept apart, as layers are; they must not drift apart."""
    policy = working_policy([str(ws.root)])
    assert len(policy.protected) >= len(PROTECTED_IN_WORKSPACE)
    for path in policy.protected:
        located = locate(path, cwd=str(ws.root), home="/h")
        assert protected_write(located, roots=(str(ws.root),), home="/h"), path
    assert policy.pinned == tuple(str(ws.root / name) for name in (".git", ".cargo", ".github"))


def test_without_a_fence_the_command_is_itself_and_it_is_said() -> None:
    bare = plan(["x", "y"], POLICY, found=FoundFences(kind="none"))
    assert (bare.argv, bare.enclosure.kind) == (("x", "y"), "none")
    assert describe(FoundFences(kind="none")).endswith("They run unfenced")
    assert "ask, too" in describe(FoundFences(kind="none", failed="landlock did not start (no)"))
    assert describe(FoundFences(kind="landlock", failed="bubblewrap did not start (no)")).endswith("did not start (no)")
    kinds: tuple[Kind, ...] = ("bubblewrap", "landlock", "sandbox-exec")
    assert all(describe(FoundFences(kind=kind)).split(":")[0] for kind in kinds)
    assert "send signals" in describe(FoundFences(kind="landlock", version=5))
    assert "send signals" not in describe(FoundFences(kind="landlock", version=6))
    assert "no seccomp filter" in describe(FoundFences(kind="landlock", version=7, filters=False))


@pytest.mark.parametrize(
    ("platform", "installed", "version", "working", "expected", "failed"),
    [
        ("linux", {"bwrap"}, 7, {"bubblewrap", "landlock"}, "landlock bubblewrap", ""),
        ("linux", {"bwrap"}, 7, {"landlock"}, "landlock landlock", "bubblewrap did not start (no)"),
        ("linux", set[str](), 7, {"landlock"}, "landlock landlock", ""),
        ("linux", {"bwrap"}, 0, {"bubblewrap"}, "bubblewrap bubblewrap", ""),
        ("linux", {"bwrap"}, 7, {"bubblewrap"}, "bubblewrap bubblewrap", "landlock did not start (no)"),
        ("linux", {"bwrap"}, 0, set[str](), "none none", "bubblewrap did not start (no)"),
        ("linux", set[str](), 7, set[str](), "none none", "landlock did not start (no)"),
        ("linux", set[str](), 0, set[str](), "none none", ""),
        ("darwin", set[str](), 0, {"sandbox-exec"}, "sandbox-exec sandbox-exec", ""),
        ("darwin", set[str](), 0, set[str](), "none none", "sandbox-exec did not start (no)"),
        ("win32", {"bwrap"}, 0, {"bubblewrap"}, "none none", ""),
    ],
)
def test_a_fence_counts_only_after_it_has_worked(
    platform: str, installed: set[str], version: int, working: set[str], expected: str, failed: str
) -> None:
    """Landlock comes first around what only reads; a machine without any has nothing that failed."""
    found = detect(
        platform=platform,
        which=lambda name: name if name in installed else None,
        complaint=lambda found: None if found.kind in working else "no",
        version=version,
    )
    assert f"{found.kind} {found.working_kind}" == expected
    assert found.failed.split("; ")[0] == failed


def test_without_a_filter_landlock_still_counts_and_the_loss_is_said() -> None:
    found = detect(
        platform="linux",
        which=lambda _name: None,
        complaint=lambda found: "no filter" if found.filters else None,
        version=7,
    )
    assert (found.kind, found.filters) == ("landlock", False)
    assert "no seccomp filter" in describe(found)


def test_a_fence_that_does_not_hold_is_told_from_one_that_does() -> None:
    assert sandbox.complaint(FoundFences(kind="none", filters=False)) == "it does not hold: wrote read ok"
    assert "No such file" in (sandbox.complaint(FoundFences(kind="bubblewrap", bwrap="/nonexistent/bwrap")) or "")


# --- what the chain makes of it --------------------------------------------------------------------------------------

FENCED: list[tuple[str, dict[str, Any], bool]] = [
    ("ls", {}, True),
    ("ls", {"allow": ["Bash(ls:*)"]}, True),
    ("ls", {"mode": "bypassPermissions"}, True),
    ("make", {"allow": ["Bash(make:*)"]}, False),
    ("make", {"mode": "bypassPermissions"}, False),
    ("ls && make", {"allow": ["Bash(make:*)"]}, False),
]


@pytest.mark.parametrize(("command", "options", "fenced"), FENCED)
def test_what_our_reader_judged_is_fenced_whoever_else_allows_it(
    ws: Scratch, command: str, options: dict[str, Any], fenced: bool
) -> None:
    decision = ws.bash(command, **options)
    assert isinstance(decision, Allow)
    assert decision.fenced == fenced


def test_only_commands_are_fenced(ws: Scratch) -> None:
    decision = ws.decide("Read", {"file_path": "a.py"})
    assert isinstance(decision, Allow)
    assert not decision.fenced


def test_what_cannot_be_fenced_in_is_asked_about_and_a_rule_or_a_mode_still_allows_it(ws: Scratch) -> None:
    asked = ws.bash("ls", unfenced="the kernel said no")
    assert isinstance(asked, Ask)
    assert asked.step == "readOnly"
    assert asked.reason == "It only reads, but cannot be fenced in: the kernel said no."
    for options in ({"allow": ["Bash(ls:*)"]}, {"mode": "bypassPermissions"}):
        decision = ws.bash("ls", unfenced="the kernel said no", **options)
        assert isinstance(decision, Allow)
        assert not decision.fenced
    assert ws.decide("Read", {"file_path": "a.py"}, unfenced="the kernel said no").decision == "allow"


def test_the_chain_knows_nothing_of_fences() -> None:
    """So no fence, started or not, can ever be a reason to allow."""
    folder = Path(sandbox.__file__).parents[2] / "permissions"
    assert (folder / "chain.py").exists()
    assert not [
        file
        for file in folder.rglob("*.py")
        if "tools" in file.read_text().split('"""', 2)[-1] and "assent.tools" in file.read_text()
    ]
