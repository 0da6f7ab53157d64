"""Everyday forms of programs that can do anything: the form that only reads goes unasked, every neighbour asks."""

import gzip
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from machine import spared
from permissions.oracle import environment
from permissions.scratch import Scratch, make_scratch

FINE = [
    "npm ls", "npm ls --depth=0", "npm list --all --json react @types/node", "pip list", "pip3 list --format=json -l", "pip show requests", "pip show -f pip", "printenv PATH", "printenv HOME USER",
    "go version", "go --version", "docker --version", "rustc --version", "cargo --version", "cargo -V", "python3 -I -m json.tool x.json", "python3 -I -m json.tool --sort-keys --indent 2 x.json", "python -I -m json.tool", "tar tf x.tar", "tar -tzf x.tar.gz", "tar tvf x.tar README.md", "tar -t -f x.tar", "tar --list -f x.tar", "tar --list --verbose --file=x.tar", "tar -tv --gzip --file x.tar.gz", "tar -tf x.tar -v",
    "unzip -l x.zip", "unzip -v x.zip README.md", "unzip -Z x.zip", "unzip -Z1 x.zip", "zipinfo x.zip", "zipinfo -1 x.zip", "jq --version", "sed --version", "ruby -v", "perl -v", "zcat x.gz", "zcat x.gz a.tgz", "bzcat x.bz2", "xzcat x.xz", "gunzip -c x.gz", "gzip -dc x.gz", "gzip -l x.gz", "diff -r sub sub", "diff -r --no-dereference . sub",
    "diff -rq sub sub", "cat /etc/os-release", "head -n 5 /proc/cpuinfo", "grep NAME /etc/os-release",
]  # fmt: skip
ASKED = [
    "npm", "npm ll", "npm ls --logs-dir=x", "npm ls --prefix=..", "npm ls ./x", "npm ls /", "npm ls $USER", "npm ls *", "npm install", "npm ls --node-options=x", "pip", "pip list --outdated", "pip list -o", "pip list x",
    "pip list --path=..", "pip list --log=x", "pip show --log x pip", "pip show ./x", "pip freeze", "pip install x", "printenv", "printenv -0", "printenv AWS_SECRET_ACCESS_KEY", "printenv $USER", "env", "go", "go build",
    "go version x", "go version -m x", "cargo -vV x", "rustc -vVx", "cargo version", "python3 -m json.tool x.json", "python3 -I -m json.tool x.json out.json", "python3 -I -m json.tool x.json --indent 2",
    "python3 -I -m json.tool --inde 2", "python3 -I -m http.server", "python3 -I x.py", "python3 -I -m json.tool *", "python3 -I -m json.tool ~/.ssh/id_rsa", "tar tf", "tar xf x.tar", "tar tf host:x.tar", "tar tf x.tar -x",
    "tar tf x.tar --to-command=sh", "tar tfx x.tar", "tar tIf sh x.tar", "tar tf -x", "tar -t -f", "tar -f x.tar", "tar --list", "tar --list -f x.tar -f y.tar", "tar -t tf x.tar", "tar --list --file=-x", "tar --list --file=h:x", "tar --list -f x.tar --index-file=y", "tar -tf x.tar -C ..", "tar --lis -f x.tar", "tar --list=x -f x.tar", "tar tf *", "tar tf ~/.ssh/x.tar", "tar txf x.tar", "unzip x.zip", "unzip -l", "unzip -l x.zip -d out", "unzip -lo x.zip",
    "unzip -l 'x*'", "unzip -l *.zip", "unzip -p x.zip", "unzip -Zo x.zip", "zipinfo", "zipinfo -M x.zip", "zipinfo ~/.ssh/x.zip", "python3 -I -m json.tool --indent x.json y", "ruby -v x.rb", "perl -v x.pl", "unzip -l ~/.ssh/x.zip", "zcat x", "zcat -S .py a.py", "zcat *.gz", "zcat ~/.ssh/x.gz", "zcat -- x.gz", "gunzip x.gz", "gunzip -ck x.gz", "gzip x.gz", "gzip -d x.gz",
    "gzip -cd", "cat /etc/passwd", "cat /etc/hostname", "cat /proc/self/environ", "diff -r sub $USER", "diff -r s* sub", "diff --recursive=x sub sub", "diff -r sub ../ws-evil",
]  # fmt: skip


@pytest.mark.parametrize("command", FINE)
def test_a_form_that_only_reads_goes_unasked(plain_ws: Scratch, command: str) -> None:
    assert plain_ws.bash(command).decision == "allow", plain_ws.bash(command).reason
    assert plain_ws.bash(command, trusted=False).decision == "allow"


@pytest.mark.parametrize("command", ASKED)
def test_every_other_form_asks(plain_ws: Scratch, command: str) -> None:
    if command == "gzip -cd":
        assert plain_ws.bash(command).decision == "allow"  # its input
        return
    assert plain_ws.bash(command).decision != "allow"


def test_a_rule_for_such_a_program_still_covers_its_other_forms(plain_ws: Scratch) -> None:
    assert plain_ws.bash("npm install", allow=["Bash(npm:*)"]).decision == "allow"
    assert plain_ws.bash("zcat x", allow=["Bash(zcat:*)"]).decision == "allow"


def test_directories_are_compared_unasked_only_while_no_link_leads_out_of_them(ws: Scratch) -> None:
    assert ws.bash("diff -r sub sub/deep").decision == "allow"
    assert ws.bash("diff -r sub sub/deep", deny=["Read(sub/deep/**)"]).decision != "allow"
    assert ws.bash("touch x && diff -r sub sub", mode="acceptEdits").decision == "ask"  # the line could make the link
    assert ws.bash("diff -r . sub").decision == "ask"  # the workspace holds a link to a key
    (ws.root / "sub/deep/out").symlink_to(ws.home)
    assert ws.bash("diff -r sub sub/deep").decision == "ask"
    assert ws.bash("cd $y; diff sub sub").decision == "ask"
    (ws.root / "sub/deep/out").unlink()
    for number in range(1001):
        (ws.root / "sub/deep" / str(number)).touch()
    assert ws.bash("diff -r sub sub/deep").decision == "ask"
    assert ws.bash("diff -r --no-dereference sub sub/deep").decision == "allow"
    assert ws.bash("diff sub nowhere").decision == "ask"


def _tree(ws: Scratch) -> set[str]:
    return {str(path) for base in (ws.root, ws.home) for path in base.rglob("*")}


def test_they_leave_nothing_behind_when_they_run(tmp_path: Path) -> None:
    """With a project's configuration that would make npm write and look for newer versions."""
    ws = make_scratch(tmp_path, key=False)
    (ws.root / "package.json").write_text(json.dumps({"name": "x", "version": "1.0.0"}))
    (ws.root / ".npmrc").write_text("logs-dir=./logs\ncache=./cache\nupdate-notifier=true\n")
    (ws.root / "x.gz").write_bytes(gzip.compress(b"hello\n"))
    with zipfile.ZipFile(ws.root / "x.zip", "w") as archive:
        archive.writestr("a", "b")
    before = _tree(ws)
    for command in (
        "npm ls",
        "pip list",
        "zcat x.gz",
        "unzip -l x.zip",
        "python3 -I -m json.tool x.json",
        "diff -r sub sub",
    ):
        if shutil.which(command.split()[0]) is None:
            continue
        assert ws.bash(command).decision == "allow"
        subprocess.run(
            [*spared(ws.root.parent), "bash", "--norc", "-c", command], cwd=ws.root, env=environment(ws), stdin=subprocess.DEVNULL,
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert _tree(ws) == before, command


@pytest.mark.parametrize("name", ["rust-toolchain", "rust-toolchain.toml"])
def test_a_rust_program_says_its_version_unasked_unless_a_file_chooses_the_program(ws: Scratch, name: str) -> None:
    assert ws.bash("cd sub && cargo --version").decision == "allow"
    assert ws.bash(f"touch {name} && cargo --version", mode="acceptEdits").decision == "ask"
    assert ws.bash("cd $y && cargo --version").decision == "ask"
    (ws.root / name).symlink_to("nowhere")
    answer = ws.bash("cd sub && cargo --version")
    assert answer.decision == "ask" and "rust-toolchain" in (answer.reason or "")


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("seq 5", "allow"), ("seq 1 2 100", "allow"), ("seq -w 1 10", "allow"), ("seq 10 -1 1", "allow"), ("seq -s, 1 5", "allow"), ("seq 0.5 0.1 2", "allow"), ("seq -5 5", "allow"),
        ("seq inf", "ask"), ("seq 1 inf", "ask"), ("seq 0x7fffffff", "ask"), ("seq 1e12", "ask"), ("seq 999999999", "ask"), ("seq 1 0.0000001 9", "ask"), ("seq 1 0 2", "ask"),
        ("seq nan", "ask"), ("seq *", "ask"), ("seq", "ask"),
    ],
)  # fmt: skip
def test_a_list_of_numbers_is_printed_unasked_when_it_ends_soon(plain_ws: Scratch, command: str, decision: str) -> None:
    assert plain_ws.bash(command).decision == decision


def test_a_name_with_a_null_byte_in_it_is_judged_and_never_allowed(plain_ws: Scratch) -> None:
    assert plain_ws.bash("diff -r sub 'a\0b'").decision != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "jq .env x.json", "jq -r .env.PATH x.json", "jq '.a | .env' x.json", "jq '.[\"env\"]' x.json",
        "find . -name '*.py' | xargs grep x", "find sub -type f | xargs grep -n x", "find . -name '*.py' -exec grep -l x {} +",
        "git ls-files | xargs grep -l x", "git ls-files | grep py | xargs wc -l", "find . -name '*.py' | sort | head -n 5 | xargs grep x",
        "for f in *.py; do wc -l \"$f\"; done", "for f in a.py b.py; do head -n 3 \"$f\"; cat \"${f}\"; done",
        "for f in a.py b.py; do cat $f; done", "for f in *.py; do [ -f \"$f\" ] && wc -l \"$f\"; done", "for f in *; do if [ ! -d \"$f\" ]; then echo \"$f\"; fi; done",
        "find . -name '*.py' -exec stat {} \\;", "find . -name '*.py' -exec file {} +", "find sub -exec ls -ld {} +", "find . -type f -name '*.py' -exec head -n 1 {} \\;",
        "find . -name '*.py' | xargs md5sum", "find . -type f | xargs ls -l", "find . -name '*.py' | xargs du -ch", "git ls-files -z | xargs -0 wc -l", "git submodule",
        "rustc -vV", "cargo --version --verbose", "python3 -Im json.tool x.json", "python3 -I -mjson.tool --indent 2 x.json", "unzip -lv x.zip", "unzip -t x.zip",
        "gzip -t x.gz", "gzip -lv x.gz", "xz -dc x.xz", "bzip2 -dc x.bz2", "zstd -dc x.zst",
        "for d in . sub; do for f in *.py; do grep -n x \"$f\"; done; done",
    ],
)  # fmt: skip
def test_what_was_asked_about_needlessly_runs_unasked(plain_ws: Scratch, command: str) -> None:
    assert plain_ws.bash(command).decision == "allow", plain_ws.bash(command).reason


@pytest.mark.parametrize(
    "command",
    [
        "jq env x.json", "jq '$ENV' x.json", "jq '.a | env.PATH' x.json", "jq '\"\\(env)\"' x.json", "jq 'import \"a\" as b; .' x.json",
        "find .. -name '*.py' | xargs grep x", "find /etc | xargs grep x", "find ~ | xargs grep x", "find sub/../.. | xargs grep x",
        "find -L . | xargs grep x", "git ls-files | grep py a.py | xargs wc -l", "git ls-files | sed s/a/b/ | xargs wc -l",
        "find . -name '*.py' | grep -f a.py | xargs grep x", "cd - ; find . | xargs grep x", "touch x | find . | xargs grep x",
        "for f in *.py; do sort -o \"$f\" a.py; done", "for f in -o; do sort \"$f\" a.py; done", "for f in ~/.ssh/*; do cat \"$f\"; done",
        "for f in *.py; do read f; cat \"$f\"; done", "for f in *.py; do for f in ~/.ssh/*; do :; done; cat \"$f\"; done",
        "for f in 'a b' '*'; do cat $f; done", "for f in -o; do sort $f a.py; done", "for f in ~/.ssh/id_rsa; do cat $f; done", "for f in '-f x'; do test $f; done",
        "for f in *; do [ \"$f\" x ]; done", "for f in *; do [ $f = x ]; done", "for f in -v; do [ \"$f\" 'a[0]' ]; done", "git submodule x", "git submodule update",
        "python3 -Im http.server", "python3 -mjson.tool x.json", "xz x.xz", "xz -d x.xz", "bzip2 -t x", "zstd -dc x", "zstd -dco y x.zst", "unzip -tx x.zip", "gzip -lvd x.gz",
        "find .. -exec cat {} +", "find -L . -exec cat {} +", "find . | xargs ls -L ~", "find / | xargs du",
        "for c in touch; do \"$c\" x; done", "for f in *.py; do wc -l $f; done", "for f in *.py; do cat \"$g\"; done",
        "find . -exec {} +", "find . | sort | sort | sort | sort | sort | xargs wc -l",
        "for f in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do cat \"$f\"; done",
    ],
)  # fmt: skip
def test_neighbours_of_those_still_ask(plain_ws: Scratch, command: str) -> None:
    assert plain_ws.bash(command).decision == "ask"


def test_names_handed_to_grep_are_looked_at(ws: Scratch) -> None:
    line = "find sub -type f | xargs grep x"
    assert ws.bash(line).decision == "ask"  # the workspace holds a link to a key
    (ws.root / "key").unlink()
    assert ws.bash(line).decision == "allow"
    for name in ("a b", "a'b", "-x"):
        (ws.root / "sub" / name).touch()
        assert ws.bash(line).decision == "ask", name
        (ws.root / "sub" / name).unlink()
    assert ws.bash(f"{line}; touch y", mode="acceptEdits").decision == "ask"  # the line could make such a name
    assert ws.bash(line, deny=["Read(sub/deep/**)"]).decision == "ask"


UNASKED = {
    "[[ -f a.py && -f nowhere ]] && echo yes": "",
    "[[ -f a.py && ! -f nowhere ]] && echo yes": "yes\n",
    "[[ ! -f a.py || -d sub ]] && echo yes": "yes\n",
    "if [[ -f a.py && -s a.py && -d sub ]]; then echo yes; fi": "yes\n",
    '[[ -n "$HOME" && -z "" ]] && echo yes': "yes\n",
    "echo {1..3}": "1 2 3\n",
    "echo {3..1} x": "3 2 1 x\n",
    "for i in {1..3}; do echo $i; done": "1\n2\n3\n",
    'for i in a {8..10}; do echo "$i"; done': "a\n8\n9\n10\n",
    "cat x.tar | tar tf -": "a.py\n",
    "cat x.tar | tar -t -f - a.py": "a.py\n",
    "cat x.tar | tar --list --file=-": "a.py\n",
    "find sub -name 'x y' | xargs -I{} wc -c {}": "2 sub/deep/x y\n",
    "find . -name only.py | xargs -I % echo found %": "found ./only.py\n",
    "find . -name only.py | xargs -I {} grep -c needle {}": "1\n",
    "find . -type f -name only.py -print0 | xargs -0 -I @ head -n 1 @": "needle\n",
    "find . -type f -name only.py -print0 | xargs -0 -I@ cat @": "needle\n",
}
"""Lines that were asked about needlessly, and what they print."""
ATTACKS = [
    "[[ a b ]]", "[[ -f a.py # c\n]]", "[[ -f a.py && -v x ]]", "[[ -f a.py && -v 'a[$(touch made)]' ]]", "[[ -f a.py && x -eq 1 ]]", "[[ -f a.py && 'a[$(touch made)]' -eq 1 ]]", "[[ x -eq 1 && -f a.py ]]", "[[ -f a.py && $x == y ]]", "[[ -f a.py && x =~ y ]]",
    "[[ -f a.py && -f $(touch made) ]]", "[[ -f a.py && -f `touch made` ]]", "[[ -f a.py && -f <(touch made) ]]", "[[ -f a.py && ( -f a.py ) ]]", "[[ -f a.py && -f a.py ]] > made", "[[ -f a.py && -f a.py ]] && touch made", "[[ -f a.py || touch made ]]",
    "[[ -f a.py && -f ~/.ssh/id_rsa ]]", "[[ -f a.py && -f $x ]]", "[[ -f a.py && -R x ]]", "[[ a.py && -f a.py ]]", "[ -f a.py && touch made ]", "[[ -f a.py &&\n touch made ]]", "[[ -f a.py && -t 'a[$(touch made)]' ]]",
    "echo {-3..3}", "echo {1..3..1}", "echo {01..03}", "echo {1..3}x", "echo x{1..3}", "echo {1..1000}", "echo {a..c}", "echo {-a,b}", "echo {1..$x}", "echo {1..$(touch made)}", "{1..3}", "rm {1..3}", "touch {1..3}", "sort -o {1..3}", "for i in {1..200}; do echo $i; done",
    "for i in {1..3}; do touch $i; done", "for i in {-o,x}; do sort $i a.py; done", "cat {1..3} > {1..3}",
    "tar t", "cat x.tar | tar t", "tar xf -", "cat x.tar | tar xf -", "tar tf - --to-command=sh", "tar tf - -x", "tar tf - -f x.tar", "tar -tf -x", "tar tIf - -", "tar tf - -C ..", "tar --list --file=- --checkpoint-action=exec=sh", "tar cf - .", "tar f -",
    "find . | xargs -I{} rm {}", "find . | xargs -I{} sh -c {}", "find . | xargs -I{} sh -c 'cat {}'", "find . | xargs -I{} {}", "find . | xargs -I{}", "find . | xargs -I {} ", "find . | xargs -I x wc -l x", "find . | xargs -I -l wc -l", "find . | xargs -I{} cp {} made", "find . | xargs -I{} tee {}",
    "find . | xargs -I{} wc --files0-from={}", "find . | xargs -I{} wc -l {} {}", "find . | xargs -I{} wc {} -l", "find . | xargs -I{} wc -l x{}", "find . | xargs -I % grep % %", "find . | xargs -I{} -I% wc -l {}", "echo ~/.ssh/id_rsa | xargs -I{} cat {}", "cat a.py | xargs -I{} cat {}",
    "find .. | xargs -I{} wc -l {}", "find ~ | xargs -I{} cat {}", "find . -name '*.py' | xargs -i wc -l {}", "find . | xargs --replace wc -l {}", "find . | xargs -I{} wc -l", "find . | xargs -I{} git -C {} status", "xargs -I{} wc -l {}", "find . | xargs -I",
]  # fmt: skip


@pytest.mark.parametrize("line", UNASKED)
def test_lines_that_only_read_run_unasked_and_change_nothing(tmp_path: Path, line: str) -> None:
    ws = make_scratch(tmp_path, key=False)
    (ws.root / "only.py").write_text("needle\n")
    if "x y" in line:
        (ws.root / "sub/deep/x y").write_text("1\n")
    subprocess.run(["tar", "cf", "x.tar", "a.py"], cwd=ws.root, check=True)
    assert ws.bash(line).decision == "allow", ws.bash(line).reason
    before = _tree(ws)
    env = environment(ws)
    done = subprocess.run([*spared(tmp_path), "bash", "-c", line], cwd=ws.root, env=env, capture_output=True, text=True)
    assert done.stdout == UNASKED[line], done.stderr
    assert _tree(ws) == before


@pytest.mark.parametrize("line", ATTACKS)
def test_their_neighbours_ask(plain_ws: Scratch, line: str) -> None:
    assert plain_ws.bash(line).decision != "allow"
    assert plain_ws.bash(line, trusted=False).decision != "allow"


def test_what_the_new_readings_name_is_held_against_rules(plain_ws: Scratch) -> None:
    assert plain_ws.bash("[[ -f a.py && -f sub/x ]]", deny=["Read(sub/**)"]).decision != "allow"
    assert plain_ws.bash("cat {1..3}").decision == "allow"
    assert plain_ws.bash("cat {1..3}", deny=["Read(2)"]).decision == "deny"
    assert plain_ws.bash("for i in {1..3}; do cat $i; done", deny=["Read(2)"]).decision != "allow"
    assert plain_ws.bash("find sub | xargs -I{} wc -l {}", deny=["Read(sub/**)"]).decision != "allow"
    assert plain_ws.bash("[[ -f a.py && -f sub ]]", deny=["Bash([[:*)"]).decision != "allow"
    assert plain_ws.bash("rm {1..3}", mode="bypassPermissions", deny=["Edit(2)"]).decision != "allow"
