"""git's own work with the history under bypass: no protected or denied file changes, comes or goes unasked.

Every line that is allowed is run for real in a copy of the repository, and the kept files are compared.
"""

import os
import random
import shutil
import subprocess
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from assent.permissions import git_history
from assent.permissions.chain import decide
from assent.permissions.context import PermissionContext
from assent.permissions.rules import RuleSet
from assent.types import regular_files
from assent.types.git_objects import GitObjects, Unreadable
from assent.types.permissions import Action, Ask, Decision, Mode
from machine import spared

KEPT = (".vscode/tasks.json", ".github/workflows/ci.yml", "src/secret/key.txt")
GIT = (
    "git",
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@b",
    "-c",
    "init.defaultBranch=main",
    "-c",
    "commit.gpgsign=false",
)
ENV = {**os.environ, "GIT_CONFIG_GLOBAL": "/nonexistent", "GIT_CONFIG_SYSTEM": "/nonexistent", "GIT_EDITOR": "true"}
"""Not /dev/null: git, told to write a setting, puts a new file in its place, and root may do that to a device."""


def git(root: Path, *words: str, check: bool = True) -> str:
    done = subprocess.run([*GIT, *words], cwd=root, env=ENV, check=check, capture_output=True, text=True)
    return done.stdout.strip()


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def commit(root: Path, message: str, **files: str) -> None:
    for name, text in files.items():
        write(root, name, text)
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`main`; `plain` changes only source, `evil` the kept files, `gone` removes them, `later` brings a new one."""
    root = tmp_path_factory.mktemp("history") / "ws"
    root.mkdir()
    git(root, "init", "-q")
    commit(root, "first", **dict.fromkeys(KEPT, "kept\n"), **{"src/a.py": "one\n", "b.txt": "b\n"})
    git(root, "tag", "v1")
    for branch, files in {
        "plain": {"src/a.py": "plain\n"},
        "evil": dict.fromkeys(KEPT, "evil\n"),
        "later": {"tool/.envrc": "export A=1\n"},
        "denied": {"src/secret/key.txt": "other\n"},
    }.items():
        git(root, "checkout", "-q", "-b", branch, "v1")
        commit(root, branch, **files)
    git(root, "checkout", "-q", "-b", "gone", "v1")
    for name in KEPT:
        (root / name).unlink()
    commit(root, "gone")
    git(root, "checkout", "-q", "main")
    commit(root, "second", **{"b.txt": "bb\n"})
    commit(root, "third", **{"b.txt": "bbb\n"})
    return root


def changed_states(root: Path, state: str) -> None:
    """What the working tree holds besides its commit."""
    if state == "edited":
        for name in KEPT:
            write(root, name, "mine\n")
    elif state == "staged":
        write(root, KEPT[0], "staged\n")
        git(root, "add", KEPT[0])
        write(root, KEPT[0], "kept\n")
    elif state == "untracked":
        write(root, "sub/.vscode/settings.json", "{}\n")
    elif state == "untracked plain":
        write(root, "sub/notes.txt", "x\n")
    elif state == "stashed":
        write(root, KEPT[0], "in the stash\n")
        git(root, "stash", "push", "-q")
    elif state == "stashed plain":
        write(root, "src/a.py", "in the stash\n")
        git(root, "stash", "push", "-q")
    elif state == "stashed new":
        write(root, ".envrc", "export A=1\n")
        git(root, "stash", "push", "-q", "-u")
    elif state == "packed":
        git(root, "repack", "-adq")


def judged(
    root: Path,
    command: str,
    *,
    deny: tuple[str, ...] = ("Edit(src/secret/**)",),
    allow: tuple[str, ...] = (),
    mode: Mode = "bypassPermissions",
) -> Decision:
    rules = RuleSet.from_settings({"user": {"deny": list(deny), "allow": list(allow)}})
    context = PermissionContext(cwd=str(root), home="/home/nobody", mode=mode, rules=rules)
    return decide(Action(tool="Bash", input={"command": command}, command=command), context)


@pytest.fixture
def repo(origin: Path, tmp_path: Path) -> Callable[[str], Path]:
    def made(state: str) -> Path:
        root = tmp_path / "ws"
        shutil.copytree(origin, root, symlinks=True)
        changed_states(root, state)
        return root

    return made


ASKED = """
    git checkout evil | git switch evil | git checkout -q gone | git switch later | git checkout denied
    git checkout --detach evil | git switch -d evil | git checkout -B x evil | git switch -c x evil | git switch -C x evil
    git merge evil | git merge --no-edit gone | git merge -m x later | git merge plain evil | git rebase evil
    git cherry-pick evil | git cherry-pick plain evil | git cherry-pick -n evil | git revert v1 | git revert --no-edit HEAD~2
    git reset --hard evil | git reset --keep gone | git reset -q --hard later
    git checkout evil -- . | git checkout later -- tool | git checkout evil . | git checkout evil .vscode
    git restore -s evil . | git restore --source=later . | git restore --source gone -W -S . | git restore -s evil '*'
    git pull | git pull --ff-only | git submodule update | git submodule add x | git worktree add x | git worktree remove x
    git -c a.b=c checkout plain | git --work-tree=. checkout plain | git checkout -m plain | git switch --orphan x
    git checkout nowhere | git checkout plain~99 | git checkout HEAD^5 | git co plain | git bisect reset
    git rebase plain main | git rebase -i plain | git merge | git merge --abort | git merge -X ours plain
    git cherry-pick | git cherry-pick main..evil | git stash pop | git stash branch x | git stash pop stash@{1}
    git stash push -a | git stash push src | git reset --strange | git branch -f plain evil && git checkout plain
    git checkout $BRANCH | cd $X && git checkout plain | git sparse-checkout set src | git read-tree -u evil | git am x
    git rm '*.txt' | git rm -r ':/' | git rm -rf ':(icase)SRC' | git rm -r 's*' | git rm -r 'src/[s]ecret' | git rm '*' | git -C src rm -r '*'
    git rm -r ':!b.txt' | git rm -r 'src/s?cret' | git rm --pathspec-from-file=x | git rm --pathspec-fr x | git rm -- 'src/secret/*'
    git apply x | git switch plain main | git fetch && git merge FETCH_HEAD | git checkout-index -fa | git filter-branch
"""
ALLOWED = """
    git checkout plain | git switch plain | git checkout -q plain | git checkout -b new | git switch -c new
    git checkout -b new plain | git checkout v1 | git checkout HEAD~1 | git checkout @ | git merge plain | git rebase plain
    git cherry-pick plain | git revert --no-edit HEAD | git reset --hard HEAD~1 | git reset --hard | git reset HEAD~1
    git reset --soft HEAD~1 | git checkout src/a.py | git restore src/a.py | git restore . | git checkout -- . | git checkout .
    git restore --staged . | git restore -s plain src | git checkout plain -- src/a.py | git stash | git stash push -m x
    git stash list | git stash drop | git clean -fd | git clean -n | git clean -fd --dry-run | git worktree list
    git submodule status | git submodule init | git checkout -f plain | git switch -f plain | git checkout -f
    git commit -m x | git add . | git branch x | git tag x | git fetch | git push | git restore -W -S src
    git worktree prune | git rm 'b.*' | git rm 'src/a.*' | git rm '*.py' | git rm '*.nothing' | git rm b.txt | git rm --cached b.txt
    git add . && git rm b.txt | git ls-remote . | git whatchanged | git var GIT_EDITOR
"""


def lines(table: str) -> list[str]:
    return [line.strip() for row in table.strip().splitlines() for line in row.split("|")]


@pytest.mark.parametrize("command", lines(ASKED))
def test_what_would_change_kept_files_or_cannot_be_told_is_not_allowed(origin: Path, command: str) -> None:  # P6
    assert judged(origin, command).decision in ("ask", "deny"), command


@pytest.mark.parametrize("command", lines(ALLOWED))
def test_what_leaves_them_alone_is_allowed_and_does(repo: Callable[[str], Path], command: str) -> None:  # P6
    root = repo("packed" if len(command) % 2 else "clean")
    assert judged(root, command, deny=()).decision == "allow", command
    run_and_compare(root, command)


@pytest.mark.parametrize(
    ("state", "asked", "allowed"),
    [
        ("edited", "git restore . | git checkout -- . | git reset --hard | git stash | git checkout -f | git switch -f plain", ""),
        ("edited", "git checkout .vscode | git restore .github src | git stash save x", "git restore src/a.py b.txt"),
        ("staged", "git restore . | git checkout . | git checkout -- .vscode", "git checkout b.txt | git reset --hard"),
        ("untracked", "git clean -fd | git clean -fdx | git stash -u | git clean -fd -enothing", "git clean -nd | git stash"),
        ("untracked plain", "git clean -fd nowhere && rm -rf .vscode", "git clean -fd | git stash push --include-untracked"),
        ("stashed", "git stash pop | git stash apply -q", "git stash drop"),
        ("stashed plain", "git stash branch x", "git stash pop | git stash apply"),
        ("stashed new", "git stash pop", "git stash show"),
    ],
)  # fmt: skip
def test_what_the_working_tree_holds_counts(
    repo: Callable[[str], Path], state: str, asked: str, allowed: str
) -> None:  # P6
    root = repo(state)
    for command in lines(asked):
        assert judged(root, command, deny=()).decision == "ask", command
    for command in filter(None, lines(allowed)):
        assert judged(root, command, deny=()).decision == "allow", command


def test_going_back_is_held_against_the_branch_one_came_from(repo: Callable[[str], Path]) -> None:
    root = repo("clean")
    assert judged(root, "git checkout -").decision == "ask"  # nobody can tell: the log has no move to a known name
    git(root, "checkout", "-q", "plain")
    git(root, "checkout", "-q", "main")
    assert judged(root, "git checkout -").decision == "allow"
    git(root, "checkout", "-q", "evil")
    assert judged(root, "git switch -").decision == "ask"


def test_a_denied_file_that_a_branch_changes_is_asked_about_by_its_rule(repo: Callable[[str], Path]) -> None:
    decision = judged(repo("clean"), "git checkout denied")
    assert isinstance(decision, Ask) and decision.iron and decision.rule == "Edit(src/secret/**)"


def test_a_link_or_a_strange_repository_asks(repo: Callable[[str], Path], tmp_path: Path) -> None:
    root = repo("clean")
    assert judged(root, "git checkout plain").decision == "allow"
    config = (root / ".git/config").read_text()
    (root / ".git/config").write_text(f"{config}[extensions]\n\tobjectformat = sha256\n")
    assert judged(root, "git checkout plain").decision == "ask"
    (root / ".git/config").write_text(config)
    (root / ".git/objects/info/alternates").write_text("/elsewhere\n")
    git(root, "repack", "-adq", check=False)
    assert judged(root, "git checkout plain").decision == "ask"
    (root / ".git/sharedindex.1").write_text("")
    (root / ".git/objects/info/alternates").unlink()
    assert judged(root, "git restore .").decision == "ask"
    (root / ".git/sharedindex.1").unlink()
    shutil.move(root / ".git", tmp_path / "elsewhere")
    assert judged(root, "git checkout plain").decision == "allow", "there is no repository any more"
    (root / ".git").write_text("nonsense\n")
    assert judged(root, "git checkout plain").decision == "ask"


@pytest.mark.parametrize("packed", [False, True])
def test_objects_that_stand_for_others_ask(repo: Callable[[str], Path], packed: bool) -> None:
    """`git replace` makes git check out what no tree says; grafts change which commit is whose parent."""
    root = repo("clean")
    assert judged(root, "git checkout plain").decision == "allow"
    git(root, "replace", "plain", "evil")
    if packed:
        git(root, "pack-refs", "--all")
    assert judged(root, "git checkout plain").decision == "ask"
    git(root, "replace", "-d", git(root, "rev-parse", "plain"))
    assert judged(root, "git checkout plain").decision == "allow"
    (root / ".git/info/grafts").write_text(f"{git(root, 'rev-parse', 'main')}\n")
    assert judged(root, "git cherry-pick main").decision == "ask"


def test_what_is_remembered_of_a_repository_never_outlives_a_change(repo: Callable[[str], Path]) -> None:  # P6
    """Trees and the index are kept between decisions while their files stay; every change below must be seen."""
    root = repo("clean")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regular_files, "_RACY_NS", -(1 << 62))
        for change, branch in enumerate(["plain", "evil", "plain", "later", "gone", "plain"]):
            git(root, "branch", "-f", "topic", branch)
            if change % 2:
                git(root, "repack", "-adq")
            expected = "allow" if branch == "plain" else "ask"
            assert [judged(root, "git checkout topic", deny=()).decision for _ in range(3)] == [expected] * 3, branch
        write(root, KEPT[0], "mine\n")
        assert judged(root, "git restore .", deny=()).decision == "ask"
        git(root, "add", "-A")
        assert judged(root, "git restore .", deny=()).decision == "allow", "the index holds it now"
        assert judged(root, "git reset --hard", deny=()).decision == "ask"


def test_a_tree_whose_file_is_another_one_is_read_again(repo: Callable[[str], Path]) -> None:
    root = repo("clean")
    id = git(root, "rev-parse", "plain^{tree}")
    file = root / ".git/objects" / id[:2] / id[2:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regular_files, "_RACY_NS", -(1 << 62))
        assert [judged(root, "git checkout plain").decision for _ in range(2)] == ["allow"] * 2
        other = zlib.compress(zlib.decompress(file.read_bytes()).replace(b"b.txt", b".exrc"))
        file.unlink()
        file.write_bytes(other)
        assert judged(root, "git checkout plain").decision == "ask"


def test_a_worktree_is_read_like_its_repository(repo: Callable[[str], Path]) -> None:
    root = repo("clean")
    git(root, "worktree", "add", "-q", str(root / "tree"), "plain")
    assert judged(root / "tree", "git switch later").decision == "ask"
    assert judged(root / "tree", "git checkout --detach v1").decision == "allow"


def test_an_index_that_is_missing_or_cut_is_no_surprise(repo: Callable[[str], Path]) -> None:
    root = repo("clean")
    index = (root / ".git/index").read_bytes()
    git(root, "update-index", "--index-version", "4")
    packed = (root / ".git/index").read_bytes()
    cut = [index[:length] for length in (4, 12, 16, len(index) // 2)] + [packed[:length] for length in range(8, 90)]
    for data in cut:
        (root / ".git/index").write_bytes(data)
        assert judged(root, "git restore .").decision == "ask", data
    (root / ".git/index").unlink()
    assert judged(root, "git restore .", deny=()).decision == "allow", "nothing is tracked: nothing comes back"


def run_and_compare(root: Path, command: str) -> None:
    before = {name: (root / name).read_bytes() for name in KEPT}
    done = subprocess.run(
        [*spared(root), "bash", "-c", command.replace("git", " ".join(GIT), 1)],
        cwd=root,
        env=ENV,
        capture_output=True,
        check=False,
    )
    now = {name: (root / name).read_bytes() if (root / name).exists() else None for name in KEPT}
    assert now == before, (command, done.stderr)
    assert not list(root.rglob(".envrc")), command


def test_random_lines_in_random_repositories_change_nothing_kept_when_they_are_allowed(tmp_path: Path) -> None:  # P6
    """The property, seeded: decide, run what is allowed, compare."""
    allowed = 0
    for seed in range(6):
        rng = random.Random(seed)
        root = tmp_path / f"r{seed}"
        root.mkdir()
        git(root, "init", "-q")
        commit(root, "0", **dict.fromkeys(KEPT, "kept\n"), **{f"f{n}": f"{n}\n" for n in range(3)})
        branches = ["main"]
        for number in range(4):
            git(root, "checkout", "-q", "-b", f"b{number}", rng.choice(branches))
            target = rng.choice([*KEPT, "f0", "f1", "f2", "f0", f"d{number}/.envrc"])
            commit(root, f"c{number}", **{target: f"{number} {seed}\n"})
            branches.append(f"b{number}")
        git(root, "checkout", "-q", "main")
        if seed % 2:
            git(root, "repack", "-adq")
        for _ in range(14):
            verb = rng.choice(["checkout", "switch", "merge --no-edit", "rebase", "cherry-pick", "reset --hard",
                               "checkout -f", "restore -s", "revert --no-edit", "checkout -b new{}"])  # fmt: skip
            name = rng.choice([*branches, "HEAD~1", "main"])
            tail = " ." if verb.startswith("restore") else ""
            command = f"git {verb.format(rng.randrange(99))} {name}{tail}"
            if judged(root, command).decision != "allow":
                continue
            allowed += 1
            work = tmp_path / "work"
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(root, work, symlinks=True)
            before = kept_files(work)
            subprocess.run([*spared(work), "bash", "-c", command.replace("git", " ".join(GIT), 1)], cwd=work, env=ENV,
                           capture_output=True, check=False)  # fmt: skip
            assert kept_files(work) == before, (seed, command)
    assert allowed > 20


def kept_files(root: Path) -> dict[str, bytes]:
    found = [*(root / name for name in KEPT), *root.rglob(".envrc")]
    return {str(path.relative_to(root)): path.read_bytes() for path in found if path.exists()}


def test_trees_are_compared_as_git_does(origin: Path, tmp_path: Path) -> None:
    """Loose and packed objects, deltas included."""
    root = tmp_path / "ws"
    shutil.copytree(origin, root)
    rng = random.Random(1)
    long = [f"line {number}" for number in range(400)]
    for number in range(12):
        long[rng.randrange(400)] = f"changed {number}"
        names = {f"d{number % 4}/f{each}.txt": f"{number}\n" for each in range(30)}
        commit(root, f"n{number}", **{"long.txt": "\n".join(long), **names})
    revisions = git(root, "rev-list", "--all").split()
    for packed in (False, True):
        if packed:
            git(root, "repack", "-adq", "--depth=50", "--window=50")
        for _ in range(15):
            one, other = rng.choice(revisions), rng.choice(revisions)
            objects = GitObjects(str(root / ".git"), str(root / ".git"))
            mine = [
                name
                for name, _ in objects.differing(
                    objects.tree(objects.commit(one)), objects.tree(objects.commit(other[:10]))
                )
            ]
            assert sorted(mine) == sorted(git(root, "diff", "--name-only", "--no-renames", one, other).split())


def test_names_that_mean_several_commits_are_nobodys_guess(repo: Callable[[str], Path]) -> None:
    root = repo("clean")
    objects = GitObjects(str(root / ".git"), str(root / ".git"))
    git(root, "tag", "plain", "evil")
    for name in ("plain", "a..b", "HEAD@{1 day ago}", ":/text", "HEAD:src"):
        with pytest.raises(Unreadable):
            objects.commit(name)
    assert judged(root, "git checkout plain").decision == "ask"


def test_only_what_may_have_run_before_makes_a_state_unknown(repo: Callable[[str], Path]) -> None:  # P6
    root = repo("clean")
    for command in ("git checkout plain && make", "git stash && npm test", "git switch plain; npm ci; make"):
        assert judged(root, command, deny=()).decision == "allow", command
    for command in (
        "make && git checkout plain", "git checkout plain & make", "git branch -f plain evil; git checkout plain",
        "for x in a b; do git checkout plain; git branch -f plain evil; done", "git checkout plain | make",
        "(sleep 1; git checkout plain) & git branch -f plain evil", "git checkout plain\ngit branch -f plain evil",
    ):  # fmt: skip
        assert judged(root, command, deny=()).decision == "ask", command


RULES = ("Bash(git pull:*)", "Bash(git submodule:*)", "Bash(git worktree:*)", "Bash(make)")
ANSWERED = """
    git pull | git pull -q --rebase | git pull --ff-only origin main | git pull && make | git submodule update
    git submodule update --init --recursive | git worktree add ../tree | git worktree add tree plain | git worktree remove tree
"""
UNANSWERED = """
    git pull --upload-pack=./x | git -c core.sshCommand=./x pull | git pull ext::sh | git pull ../other | git pull /srv/x.git
    git pull https://example.org/x | GIT_SSH_COMMAND=./x git pull | cd $X && git pull | git pull $X | git pull -X theirs
    git submodule foreach ./x | git submodule add ./x | git submodule update --merge | git worktree remove -f tree
    git worktree add .git/x | git worktree move a b | git checkout nowhere | git -C src pull | git submodule update $X
"""


@pytest.mark.parametrize("command", lines(ANSWERED))
def test_a_rule_for_the_very_subcommand_answers_for_files_nobody_can_name(origin: Path, command: str) -> None:  # P6
    for mode in ("default", "acceptEdits", "bypassPermissions"):
        assert judged(origin, command, deny=(), allow=RULES, mode=mode).decision == "allow"
    assert judged(origin, command, allow=RULES).decision == "ask", "something must not be changed"
    assert judged(origin, command, deny=()).decision == "ask", "no rule speaks of it"
    assert judged(origin, command, deny=(), allow=("Bash", "Bash(git:*)")).decision == "ask", "nor do wide ones"
    assert judged(origin, command, deny=("Bash(git:*)",), allow=RULES).decision == "deny"


@pytest.mark.parametrize("command", lines(UNANSWERED))
def test_a_rule_for_a_subcommand_answers_only_for_its_plain_use(origin: Path, command: str) -> None:  # P6
    assert judged(origin, command, deny=(), allow=(*RULES, "Bash(git checkout:*)"), mode="default").decision == "ask"


def test_what_was_fetched_already_is_known_and_asks_whatever_rules_say(repo: Callable[[str], Path]) -> None:  # P6
    root = repo("clean")
    for packed in (False, True):
        for branch, decision in (("plain", "allow"), ("evil", "ask"), ("later", "ask"), ("b/lob", "allow")):
            target = git(root, "rev-parse", "HEAD:b.txt" if branch == "b/lob" else branch)
            place = root / ".git/refs/remotes/origin/main"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"{target}\n")
            if packed and branch != "b/lob":
                git(root, "pack-refs", "--all")
            for command in ("git pull", "git pull && make"):
                assert judged(root, command, deny=(), allow=RULES).decision == decision, (branch, packed)
    git(root, "checkout", "-q", "--detach")
    assert judged(root, "git pull origin main", deny=(), allow=RULES).decision == "allow", "no branch, nothing known"
    (root / ".git/HEAD").unlink()
    assert judged(root, "git pull", deny=(), allow=RULES).decision == "ask", "no repository that git would take"


def test_the_history_is_read_once_however_many_rules_there_are(
    origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # P6
    looked: list[str] = []
    real = git_history.changed

    def counted(argv: Sequence[str], directory: str, wanted: Callable[[str], bool]) -> str | None:
        looked.append(directory)
        return real(argv, directory, wanted)

    monkeypatch.setattr(git_history, "changed", counted)
    rules = tuple(f"Edit(kept{number}/**)" for number in range(50))
    for command, decision in (
        ("git checkout plain", "allow"),
        ("git checkout evil", "ask"),
        ("git checkout no", "ask"),
    ):
        looked.clear()
        assert judged(origin, command, deny=rules).decision == decision
        assert len(looked) == 1
