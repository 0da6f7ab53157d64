"""Programs that change or remove what their words or trees name: held against deny rules and protected paths.

Every line is judged and, where it is allowed, run for real in a copy of the project: nothing denied or protected changes.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assent.permissions.shell.tables.selections import Selection
from machine import spared
from permissions.scratch import Scratch, make_scratch

DENIED = ["Edit(src/secret/**)"]
BYPASS = {"mode": "bypassPermissions"}
KEPT = ("conf/.vscode/settings.json", "conf/.husky/pre-commit", "src/lib/.vscode/settings.json", ".git/config")

CHANGES_TREES = """
    gzip -r src
    gzip --recursive src
    gzip -9r src/
    pigz -r .
    bzip2 src/*/*
    xz -T0 src/*/*
    zstd --rm -r src
    zstd -r --rm .
    brotli -j -r src
    zip -rm out.zip src
    zip -r -m out.zip src
    zip --move -r out.zip src
    zip -mr out .
    7z a -sdel o.7z src
    rar m o.rar src
    tar --remove-files -cf o.tar src
    tar cf o.tar src --remove-files
    tar -cf o.tar --rem .
    shred -u src/*/*
    find src -type f | xargs shred -u
    find src -type f -print0 | xargs -0 shred -u
    chmod -R 777 src
    chmod --recursive a+x src
    chown -R nobody .
    setfacl -R -m u:nobody:rwx src
    chcon -R t src
    find . -type f -exec touch {} +
    find src -exec gzip {} \\;
    find src -type f -exec sed -i s/x/y/ {} +
    find src -type f -exec perl -pi -e s/x/y/ {} +
    find src -delete
    find src -type f -fprint list -exec unlink {} \\;
    find src -execdir touch {} +
    grep -rl x src | xargs sed -i s/x/y/
    grep -rlZ x . | xargs -0 sed -i s/x/y/
    grep -l -r x | xargs perl -pi -e s/x/y/
    git ls-files | xargs sed -i s/x/y/
    git ls-files -z | xargs -0 gzip
    git grep -l x | xargs sed -i s/x/y/
    rg -l --hidden x | xargs sed -i s/x/y/
    fd -H . src -x rm
    fdfind -u . src -X gzip
    rsync -a --delete docs/ src/
    rsync -a --remove-source-files src/ docs/
    rclone sync docs src
    trash src
    gio trash src
    rimraf src
    srm -r src
    rename s/x/y/ src/*/*
    dos2unix -R src
    detox -r src
    sed -i s/x/y/ $(git ls-files)
    sed -i s/x/y/ `git ls-files`
    for f in $(git ls-files); do sed -i s/x/y/ $f; done
    for f in src/*/*; do gzip "$f"; done
    gzip $files
    zip -m out.zip -@ < list
    xz --files=list
    tar --remove-files -cf o.tar -T list
    grep -rl -m 1 x docs | xargs sed -i s/x/y/
    rg x | xargs sed -i s/x/y/
    rg -l --follow x | xargs sed -i s/x/y/
    cat list | xargs sed -i s/x/y/
    find . -printf '%f' | xargs touch
    ls | xargs -I{} touch {}
    sudo gzip -r src
    timeout 5 zip -rm o.zip src
    env X=1 chmod -R 777 src
    bash -c 'gzip -r src'
    cd src && gzip -r .
    python3 -c 'import shutil; shutil.rmtree("src")'
    node -e 'require("fs").rmSync("src", {recursive: true})'
    git checkout HEAD~1 -- src
    git restore -s HEAD~1 .
    git rm -rq src
    git mv src lib
    mv src lib
    parallel gzip ::: src/secret/key.txt src/lib
"""
LINES = [line.strip() for line in CHANGES_TREES.strip().splitlines()]

ONLY_DENIED = """
    prettier --write src
    black src
    ruff format
    ruff check --fix .
    eslint --fix src
    isort src
    gofmt -w src
    clang-format -i src
    codemod src
    python3 tool.py --write src
    cargo fmt
    git stash -u
    git restore .
    git checkout -- .
    git clean -fdx
    git reset --hard
"""
UNKNOWN = [line.strip() for line in ONLY_DENIED.strip().splitlines()]

FINE = """
    gzip -r docs
    gzip -c docs/readme.md
    gzip -rc src
    gzip -l src/secret/key.gz
    zip -r out.zip docs
    zip -rm out.zip docs
    tar -cf o.tar --remove-files docs
    chmod -R u+w docs
    chmod +x docs/readme.md
    find . -name '*.pyc' -delete
    find . -name __pycache__ -exec rm -rf {} +
    find docs -type f -exec sed -i s/x/y/ {} +
    find . -name 'readme*' -exec sed -i s/x/y/ {} \\;
    find . -name 'readme*' | xargs touch
    grep -rl x docs | xargs sed -i s/x/y/
    grep -rl --include=*.md x . | xargs sed -i s/x/y/
    grep -rl nowhere . | xargs sed -i s/x/y/
    grep -ril x docs | xargs sed -i s/x/y/
    rg --files docs | xargs wc -l
    sed -i s/x/y/ docs/readme.md
    sed -i "s/$old/$new/" docs/readme.md
    perl -pi -e s/x/y/ docs/*
    rsync -a --delete docs/ copy/
    pytest .
    python3 -m pytest src
    make -C docs
    mypy src
    npm run build -- src
    prettier --write docs
    python3 -c 'print("src")'
    git checkout -b topic
    git stash list
"""
UNREAD = re.compile(r"find|xargs|\$|perl|python3 -c")  # what cannot be held against deny rules, and so asks
ALLOWED = [line.strip() for line in FINE.strip().splitlines()]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    ws = make_scratch(tmp_path_factory.mktemp("changers"), key=False)
    for name in (*KEPT[:-1], "src/secret/key.txt", "src/a.js", "docs/readme.md"):
        path = ws.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    commit = "git add -A && git -c user.name=a -c user.email=a@example.org commit -qm second"
    subprocess.run(commit, shell=True, cwd=ws.root, check=True, capture_output=True)
    return ws


def kept(root: Path, *, denied: bool) -> dict[str, tuple[int, bytes] | None]:
    names = (*KEPT, "src/secret/key.txt") if denied else KEPT
    found: dict[str, tuple[int, bytes] | None] = {}
    for name in names:
        path = root / name
        found[name] = (path.lstat().st_mode, path.read_bytes()) if os.path.lexists(path) else None
    if denied:
        found["src/secret"] = (0, " ".join(sorted(path.name for path in (root / "src/secret").glob("*"))).encode())
    return found


def run_in_a_copy(project: Scratch, copy: Path, line: str, *, denied: bool) -> bool:
    """Did it change something that is kept?"""
    shutil.copytree(project.root, copy, symlinks=True)
    before = kept(copy, denied=denied)
    env = {"PATH": os.environ["PATH"], "HOME": str(project.home)}
    argv = [*spared(Path(os.path.commonpath([copy, project.home]))), "bash", "-c", line]
    subprocess.run(argv, cwd=copy, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return kept(copy, denied=denied) != before


@pytest.mark.parametrize("line", LINES)
def test_what_changes_a_tree_is_asked_about_for_denied_files_below(project: Scratch, line: str) -> None:
    for options in (BYPASS, {"mode": "acceptEdits"}, {"allow": ["Bash"]}):
        decision = project.bash(line, deny=DENIED, **options)
        assert decision.decision in ("ask", "deny"), options


@pytest.mark.parametrize("line", LINES)
def test_what_changes_a_tree_is_asked_about_for_protected_files_below(project: Scratch, line: str) -> None:
    line = line.replace("src/secret/key.txt", "conf/.vscode").replace("src", "conf").replace("*/*", ".*/*")
    assert project.bash(line, **BYPASS).decision == "ask"


@pytest.mark.parametrize("line", UNKNOWN)
def test_what_may_change_a_tree_is_asked_about_where_something_below_is_denied(project: Scratch, line: str) -> None:
    assert project.bash(line, deny=DENIED, **BYPASS).decision == "ask"
    assert project.bash(line, **BYPASS).decision == "allow"


@pytest.mark.parametrize("line", ALLOWED)
def test_what_leaves_denied_and_protected_files_alone_runs_unasked_in_bypass(
    project: Scratch, tmp_path: Path, line: str
) -> None:
    assert project.bash(line, **BYPASS).decision == "allow"
    if not UNREAD.search(line):
        assert project.bash(line, deny=DENIED, **BYPASS).decision == "allow"
    assert not run_in_a_copy(project, tmp_path / "copy", line, denied=True)


@pytest.mark.parametrize(
    "line",
    [
        "gzip -r src",
        "chmod -R 700 src",
        "tar -cf o.tar --remove-files src",
        "find src -type f -exec sed -i s/x/y/ {} +",
        "grep -rl x src | xargs perl -pi -e s/x/y/",
        "git checkout -q HEAD~1 -- . && git rm -rq src",
        "python3 -c 'import shutil; shutil.rmtree(\"src\")'",
    ],
)
def test_the_lines_do_harm_when_nobody_asks(project: Scratch, tmp_path: Path, line: str) -> None:
    assert run_in_a_copy(project, tmp_path / "copy", line, denied=True)


def test_names_that_xargs_would_cut_are_asked_about(tmp_path: Path) -> None:
    ws = make_scratch(tmp_path, key=False)
    line = "find sub -type f | xargs touch"
    assert ws.bash(line, **BYPASS).decision == "allow"
    (ws.root / "sub" / "a .git").mkdir()
    assert ws.bash(line, **BYPASS).decision == "ask"
    assert ws.bash("find sub -type f -print0 | xargs -0 touch", **BYPASS).decision == "allow"
    assert ws.bash("cd - ; find sub | xargs touch", **BYPASS).decision == "ask"


def test_a_loops_variable_stands_for_what_the_loop_goes_through(project: Scratch) -> None:
    fine = ['for f in docs/*; do sed -i s/x/y/ "$f"; done', 'for f in docs/a docs/b; do gzip "${f}"; done']
    for line in fine:
        assert project.bash(line, **BYPASS).decision == "allow", line
    asked = [
        'for f in conf/.*/*; do sed -i s/x/y/ "$f"; done',
        'for f in conf; do gzip -r "$f"; done',
        "for f in docs/*; do sed -i s/x/y/ $f; done",
        'for f in docs/*; do read f; sed -i s/x/y/ "$f"; done',
        'for f in docs/*; do f=.git/config; sed -i s/x/y/ "$f"; done',
        'for f in docs/*; do for f in .git/*; do sed -i s/x/y/ "$f"; done; done',
        'for f in $(ls); do sed -i s/x/y/ "$f"; done',
        'for g in docs/*; do sed -i s/x/y/ "$f"; done',
    ]
    for line in asked:
        assert project.bash(line, **BYPASS).decision == "ask", line


def test_a_search_selects_by_name_only_where_that_is_plain() -> None:
    assert Selection(names=("*.pyc",)).covers("a/B.PYC")
    assert Selection(names=("build",)).covers("a/build/x")
    assert not Selection(names=("*.pyc",)).covers("a/b.py")
    assert not Selection(hidden=False).covers("a/.b/c")
    assert not Selection(git=False).covers(".git/config")
