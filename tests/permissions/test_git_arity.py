"""The table of git's flags is held against the real git: does a flag take the next word, or not?

After each flag stands a probe, a word that git itself would object to or obey if it read it as a flag. Seen: the flag
left it alone. Not seen: the flag took it for its value. A table that says otherwise is a hole, since everything after
the flag is then read differently here and there.
"""

import itertools
import os
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from assent.permissions.shell.tables.git_commands import SUBCOMMANDS
from assent.permissions.shell.tables.git_flags import GitFlag
from assent.types.hardening import hardening_env

WRITES_ON_PROBE = frozenset(
    ["diff", "log", "show", "rev-list", "reflog", "diff-tree", "diff-index", "diff-files", "stash"]
)
"""They open the file of --output as soon as they read the flag, whatever else is wrong."""
BEFORE: dict[str, list[str]] = {"stash": ["list"], "worktree": ["list"], "submodule": ["status"]}
VALUE: dict[str, str] = {
    "-L": "1,1:f", "--date": "short", "--diff-algorithm": "myers", "--word-diff-regex": "x", "--ws-error-highlight": "all", "--inter-hunk-context": "1", "--encoding": "utf-8", "--group": "author", "--contents": "f", "-f": "f",
    "--ignore-rev": "HEAD", "--sort": "refname", "--format": "%h", "--pretty": "oneline", "--type": "bool", "--unified": "1", "--word-diff": "plain", "--color-moved": "zebra", "--stat": "80", "--dirstat": "lines", "--diff-filter": "A",
    "--color": "never", "--ignore-submodules": "all", "--porcelain": "v1", "--untracked-files": "no", "-u": "no", "--ignored": "no", "--column": "never", "--no-walk": "sorted", "--decorate": "short", "--show-object-format": "storage",
    "--abbrev-ref": "strict", "--ancestry-path": "HEAD", "--relative": "d", "--merged": "HEAD", "--no-merged": "HEAD", "--contains": "HEAD", "--no-contains": "HEAD", "--points-at": "HEAD", "--find-renames": "50", "--find-copies": "50",
    "--notes": "x", "--since": "2020-01-01",
}  # fmt: skip
_OBJECTS = re.compile(
    r"(?:unknown option|unrecognized argument|unknown switch|invalid option)\b.*assent-probe", re.IGNORECASE
)
_NAMELESS = frozenset({"submodule"})  # they object without a name
_PROBE = "--assent-probe"
_PROBES = {"rev-parse": ["--git-path", "assent-probe"]}  # it takes any unknown flag for one to hand on


@dataclass(frozen=True)
class Proof:
    name: str
    words: tuple[str, ...]
    taken: bool  # whether the word before the probe takes it

    def __str__(self) -> str:
        return f"git {self.name} {' '.join(self.words)} PROBE"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arity")
    (root / "d").mkdir()
    (root / "f").write_text("x\n")
    (root / "d/g").write_text("x\n")
    git = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "one"], ["tag", "v1"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    (root / "f").write_text("y\n")
    subprocess.run([*git, "stash", "-q"], check=True, capture_output=True)
    return root


def proofs() -> Iterator[Proof]:
    for name, row in SUBCOMMANDS.items():
        for flag, kind in row.flags.items():
            yield from _of_flag(name, flag, kind)
        if row.numeric:
            yield Proof(name, ("-1",), taken=False)
        if row.clusters:
            letters = [
                flag[1]
                for flag, kind in row.flags.items()
                if kind.arity == "none" and len(flag) == 2 and (row.clusters == "*" or flag[1] in row.clusters)
            ]
            yield from (Proof(name, (f"-{one}{two}",), taken=False) for one, two in itertools.pairwise(letters))


def _of_flag(name: str, flag: str, kind: GitFlag) -> Iterator[Proof]:
    if kind.arity != "attached":
        yield Proof(name, (flag,), taken=kind.takes_next)
    if kind.attaches:
        value = VALUE.get(flag, "1")
        yield Proof(name, (f"{flag}={value}" if flag.startswith("--") else f"{flag}{value}",), taken=False)
    if kind.takes_next:
        yield Proof(name, (flag, VALUE.get(flag, "1")), taken=False)


def probe_was_taken(root: Path, number: int, proof: Proof) -> bool:
    seen = root / f"probe-{number}"
    probe = [f"--output={seen}"] if proof.name in WRITES_ON_PROBE else _PROBES.get(proof.name, [_PROBE])
    env = {"PATH": os.environ["PATH"], "HOME": str(root), "LC_ALL": "C", **hardening_env()}
    done = subprocess.run(
        ["git", proof.name, *BEFORE.get(proof.name, []), *proof.words, *probe],
        cwd=root, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    if proof.name in WRITES_ON_PROBE:
        found = seen.exists()
        seen.unlink(missing_ok=True)
        return not found
    if proof.name == "rev-parse":
        return ".git/assent-probe" not in done.stdout.decode()
    said = done.stderr.decode("utf-8", "replace")
    return not ("usage: git" in said if proof.name in _NAMELESS else _OBJECTS.search(said))


def lies(root: Path, claims: list[Proof]) -> list[str]:
    with ThreadPoolExecutor(2) as pool:
        taken = list(pool.map(partial(probe_was_taken, root), range(len(claims)), claims))
    return [
        f"{claim} → {'taken' if was else 'not taken'}"
        for claim, was in zip(claims, taken, strict=True)
        if was is not claim.taken
    ]


def test_every_listed_flag_takes_the_next_word_exactly_when_the_table_says_so(repository: Path) -> None:
    assert lies(repository, list(proofs())) == []


def test_the_proof_finds_a_table_that_lies(repository: Path) -> None:
    wrong = [
        Proof("log", ("-U",), taken=True),
        Proof("diff", ("--stat",), taken=True),
        Proof("log", ("--grep",), taken=False),
        Proof("blame", ("--abbrev",), taken=True),
        Proof("branch", ("--contains",), taken=False),
        Proof("rev-parse", ("--git-path",), taken=False),
        Proof("rev-parse", ("--short",), taken=True),
    ]
    assert len(lies(repository, wrong)) == len(wrong)
