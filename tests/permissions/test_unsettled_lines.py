"""Lines that change what their own later words mean: variables, options and links that the reader counts on.

Every line here is run, and does in bash what it must not do unasked; so it asks in every mode, bypass included.
"""

import subprocess

import pytest

from assent.permissions.shell.syntax.grammar import read
from assent.permissions.trees import MAX_ENTRIES
from permissions.scratch import Scratch

BYPASS = {"mode": "bypassPermissions"}
MODES = ("default", "acceptEdits", "plan", "bypassPermissions")

MOVES = (
    "CDPATH=.g''it cd hooks; @",
    "HOME=.g''it/hooks cd; @",
    "read CDPATH <<< .g''it; cd hooks; @",
    "read CD\"PA\"TH <<< .g''it; cd hooks; @",
    "command read CDPATH <<< .g''it; cd hooks; @",
    "x=CDPATH; read $x <<< .g''it; cd hooks; @",
    "printf -v CDPATH %s .g''it; cd hooks; @",
    ": ${CDPATH:=.g''it}; cd hooks; @",
    "x=CDPATH; : ${!x:=.g''it}; cd hooks; @",
    "declare -n x=CDPATH; : ${x:=.g''it}; cd hooks; @",
    "for CDPATH in .g''it; do cd hooks; @; done",
    "for CDPATH in .g''it; do true; done; cd hooks; @",
    "select CDPATH in .g''it; do cd hooks; @; break; done <<< 1",
    "exec {CDPATH}>/dev/null; cd hooks; @",
    ": $((CDPATH=5)); cd hooks; @",
    "x=CDPATH; : $(($x=5)); cd hooks; @",
    "let CDPATH=5; cd hooks; @",
    "CDPATH=.g''it bash -c 'cd hooks; @'",
    "env CDPATH=.g''it bash -c 'cd hooks; @'",
    "CDPATH=10 cd hooks; bash -c '@'",
    "while cd .g''it/hooks; do @; break; done",
    "until ! cd 10/hooks; do @; break; done",
    "case x in x) cd 10/hooks; @;; esac",
    "f() { cd 10/hooks; @; }; f",
    "f() { @; }; cd 10/hooks; f",
    "for ((i=0;i<1;i++)); do cd 10/hooks; @; done",
    "for i in 1; do cd 10/hooks; done; @",
    "for i in 1 2; do @; cd 10/hooks; done",
    "x=$(cd 10/hooks; @)",
    "{cd,10/hooks}; @",
    "cd <<E 10/hooks && @\nx\nE",
    "cat <<E; cd 10/hooks; @\nx\nE",
    "cat <<E\n`cd 10/hooks; @`\nE",
    "bash -O lastpipe -c 'true | cd 10/hooks; @'",
)


@pytest.mark.parametrize("line", MOVES)
@pytest.mark.parametrize("write", ["touch pre-commit", "echo x > pre-commit"])
def test_a_move_by_whichever_way_does_not_lead_a_write_past_the_iron_gate(ws: Scratch, line: str, write: str) -> None:
    (ws.root / "hooks").mkdir()
    for name in ("5", "10"):
        (ws.root / name).symlink_to(".git")
    command = line.replace("@", write)
    decisions = [ws.bash(command, mode=mode).decision for mode in MODES]
    assert "allow" not in decisions
    _run(ws, command)
    assert (ws.root / ".git/hooks/pre-commit").exists()  # bash does move


@pytest.mark.parametrize(
    "line",
    [
        "HOME=$PWD/.g''it; touch ~/hooks/pre-commit", "HOME=$PWD/.g''it; echo x > $HOME/hooks/pre-commit",
        "export HOME=$PWD/.g''it; cp a.py ~/hooks/pre-commit", "read HOME <<< $PWD/.g''it; touch ~/hooks/pre-commit",
        "for HOME in $PWD/.g''it; do touch ~/hooks/pre-commit; done", "PWD=.g''it; touch $PWD/hooks/pre-commit",
        "touch() { command touch ~/hooks/pre-commit; }; HOME=$PWD/.g''it; touch", "read PWD <<< 10; touch $PWD/hooks/pre-commit",
        "declare -n z=PWD; z=.g''it/hooks; echo x > $PWD/pre-commit", "printf -v IFS /; touch $HOME/pre-commit",
        "IFS=/; touch $HOME/pre-commit", "read IFS <<< /; touch $HOME/pre-commit", "eval 'HO''ME=$PWD/.g''it'; touch ~/hooks/pre-commit",
        "echo x 1<> .g''it/hooks/pre-commit", "[[ a == a ]] > .g''it/hooks/pre-commit",
        "mv dir d; touch d/l/pre-commit", "cp -r dir d && echo x > d/l/pre-commit", "mv dir d; cd d/l; touch pre-commit",
        "ln -s ../10/hooks sub/z; touch sub/z/pre-commit", "git checkout -q linked && cp a.py el/pre-commit",
        "git restore -s linked el; cp a.py el/pre-commit", "git merge -q linked; tee el/pre-commit < a.py",
    ],
)  # fmt: skip
def test_a_path_that_the_line_itself_bends_does_not_get_past_the_iron_gate(ws: Scratch, line: str) -> None:
    (ws.root / "10").symlink_to(".git")
    (ws.root / ws.home.name).symlink_to(".git/hooks")
    (ws.root / "dir").mkdir()
    (ws.root / "dir/l").symlink_to("../.git/hooks")
    _branch_with_link(ws)
    assert "allow" not in [ws.bash(line, mode=mode).decision for mode in MODES]
    _run(ws, line)
    assert (ws.root / ".git/hooks/pre-commit").exists()


@pytest.mark.parametrize(
    "line",
    [
        "GLOBIGNORE=z; touch *p.json", "GLOBIGNORE=z; sed -i s/{/x/ *p.json", "read GLOBIGNORE <<< z; perl -pi -e s/{/x/ *p.json",
        "printf -v GLOBIGNORE z; truncate -s 1 *p.json", "shopt -s dotglob; sed -i s/{/x/ *p.json", "shopt -s nocaseglob; sed -i s/{/x/ .M*",
        "bash -O dotglob -c 'sed -i s/{/x/ *p.json'", "bash -O nocaseglob -c 'sed -i s/{/x/ .M*'",
        "bash -O extglob -c 'sed -i s/{/x/ @(.mcp).json'",
    ],
)  # fmt: skip
def test_a_wildcard_that_the_line_widens_does_not_reach_a_protected_file(ws: Scratch, line: str) -> None:
    protected = ws.root / ".mcp.json"
    protected.write_text("{}\n")
    before = protected.stat().st_mtime_ns, protected.read_text()
    assert "allow" not in [ws.bash(line, mode=mode).decision for mode in MODES]
    _run(ws, line)
    assert (protected.stat().st_mtime_ns, protected.read_text()) != before


@pytest.mark.parametrize(
    "line",
    [
        "cd 10/hooks; sed -i s/a/b/ pre-push.sample", "CDPATH=10 cd hooks; sed -i s/a/b/ pre-push.sample",
        "while cd 10/hooks; do gzip pre-push.sample; break; done", "cd 10/hooks; sort -o pre-push.sample ../../a.py",
        "cd 10/hooks; awk 'BEGIN{print > \"pre-push.sample\"}'", "for f in cd; do $f 10/hooks; sort -o pre-push.sample ../../a.py; done",
        "builtin cd 10/hooks; split -l1 ../../a.py pre-push.sample", "cd 10/hooks && python3 -c 'open(\"pre-push.sample\", \"w\")'",
    ],
)  # fmt: skip
def test_what_changes_files_where_nobody_knows_the_folder_asks(ws: Scratch, line: str) -> None:
    (ws.root / "10").symlink_to(".git")
    (ws.root / "hooks").mkdir()
    before = {file.name: file.read_bytes() for file in (ws.root / ".git/hooks").iterdir()}
    assert "allow" not in [ws.bash(line, mode=mode).decision for mode in MODES]
    _run(ws, line)
    assert {file.name: file.read_bytes() for file in (ws.root / ".git/hooks").iterdir()} != before


@pytest.mark.parametrize("line", ["cp -r dir d; cat d/s", "mv dir d; cat d/s", "read PWD <<< sub; cat $PWD/deep/c.txt"])
def test_a_denied_file_is_not_read_through_what_the_line_puts_in_place(ws: Scratch, line: str) -> None:
    (ws.root / "dir").mkdir()
    (ws.root / "dir/s").symlink_to("../sub/deep/c.txt")
    assert ws.bash(line, deny=["Read(sub/deep/**)"], **BYPASS).decision in ("ask", "deny")
    assert _run(ws, line) == "deep\n"


@pytest.mark.parametrize(
    "line",
    [
        "grep -rn HOME *.md", "cd sub; cat a.py", "grep CDPATH $PWD/a.py", "printf '%s\\n' HOME *.md", "echo $HOME $PWD *.md",
        "for f in *.md; do echo $f; done", "cd sub && for f in a b; do echo $f; done", "timeout 5 grep IFS *.py",
    ],
)  # fmt: skip
def test_lines_that_only_speak_of_such_variables_run_unasked(ws: Scratch, line: str) -> None:
    assert ws.bash(line).decision == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "set -e; touch ~/x *.md", "set -euo pipefail\ncd sub\ntouch made", "FOO=1 make > ~/log", "x=1; echo $x > ~/log",
        "for f in a b; do cp a.py sub; done", "cd sub && touch made", "bash -c 'cd sub && touch made'", "set -- a b; touch ~/x",
        "mv sub/deep d; touch d/x", "cp -r sub d && touch d/x", "git checkout -q -b new && touch made", "ln -s a.py z; touch other",
        "while read f; do echo $f; done < a.py", "ln -sf v2 current", "git checkout -q linked && touch made",
        "export FOO=1 BAR=$USER; make > ~/log", "python - <<'E'\nprint(1)\nE",  "echo $(date) > out", "cat <<E\n\\\\`x\\\\`\nE", "cd sub && sed -i s/a/b/ a.py", "x=1; python a.py out", 
    ],
)  # fmt: skip
def test_ordinary_lines_still_pass_under_bypass(ws: Scratch, line: str) -> None:
    _branch_with_link(ws)
    decision = ws.bash(line, **BYPASS)
    assert decision.decision == "allow", decision.reason


@pytest.mark.parametrize(
    "wrapper", ["bash -c '@'", "timeout 5 sh -c '@'", "env -S '@'", "eval '@'", "sudo bash -c '@'"]
)
@pytest.mark.parametrize(
    "command", ["tee .git/hooks/pre-commit < a.py", "nice tee sub/deep/c.txt", "time curl x", "nice curl x"]
)
def test_a_name_that_ends_like_a_command_of_sed_is_read_as_it_is_inside_other_shells(
    shared_ws: Scratch, wrapper: str, command: str
) -> None:
    rules = {"deny": ["Bash(curl:*)", "Edit(sub/deep/**)"]}
    assert shared_ws.bash(wrapper.replace("@", command), **rules, **BYPASS).decision in ("ask", "deny")
    assert shared_ws.bash(wrapper.replace("@", "tee made"), mode="bypassPermissions").decision == "allow"


def test_a_text_that_another_shell_would_run_and_nobody_can_read_asks(shared_ws: Scratch) -> None:
    assert shared_ws.bash("bash -c 'cat <<E; touch x\nx\nE'", **BYPASS).step == "ironGate"
    assert shared_ws.bash("sudo grep 'a(b' a.py", **BYPASS).decision == "allow"


def test_a_text_in_a_shell_of_other_options_is_read_with_the_same_care() -> None:
    for line, unsettled in (
        ("cd hooks", False), ("set -o pipefail", False), ("set -f", True), ("set -- -f", False), ("set $x", False), ("read x", False), ("set", False),
        ("bash -eO extglob -c x", True), ("bash -c x", False), ("declare x=1", False), ("declare $x", True), ("export -n x", True),
        ("env $x ls", True), ("env -i ls", False), ("printf -v x y", False), ("printf $x", True), ("(( $x = 1 ))", True), ("(( x == 1 ))", False),
    ):  # fmt: skip
        assert read(line, cwd="/w", home="/h").unsettled is unsettled, line
    assert read("cd hooks", cwd="/w", home="/h", unsettled=True).unsettled


def test_a_tree_too_large_to_look_through_may_bring_a_link(ws: Scratch) -> None:
    (ws.root / "big").mkdir()
    for number in range(MAX_ENTRIES + 1):
        (ws.root / f"big/{number}").touch()
    assert ws.bash("tee d/x < a.py; cp -r big d", **BYPASS).decision == "ask"


def test_git_lines_that_bring_no_file_bring_no_link(ws: Scratch) -> None:
    assert ws.bash("git add a.py && touch made", **BYPASS).decision == "allow"
    assert ws.bash("touch made; git pull", **BYPASS).step == "ironGate"  # by what git itself may bring


def _branch_with_link(ws: Scratch) -> None:
    git = ["git", "-C", str(ws.root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    (ws.root / "el").symlink_to(".git/hooks")
    for words in (["checkout", "-qb", "linked"], ["add", "el"], ["commit", "-qm", "x"], ["checkout", "-q", "main"]):
        subprocess.run([*git, *words], check=True, capture_output=True)


def _run(ws: Scratch, command: str) -> str:
    ran = subprocess.run(
        ["bash", "--norc", "-c", command],
        cwd=ws.root,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(ws.home), "USER": "u", "GIT_CONFIG_GLOBAL": "/dev/null"},
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    return ran.stdout


@pytest.mark.parametrize("mode", MODES)
def test_a_command_with_an_empty_name_is_judged_like_any_other(ws: Scratch, mode: str) -> None:
    with_name, without = (ws.bash(f'cd "$x"; {name} a; frobnicate b', mode=mode) for name in ("nothing", "''"))
    assert without.decision == with_name.decision
