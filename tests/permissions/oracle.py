"""Runs commands that were allowed unasked, and tells which of them did more than read.

Every command runs for real, in a scratch tree full of canaries, under strace where it is installed: an attempt to open a
file for writing, to change the tree, to connect, or to run a program that is not in the table is a violation, whether
it succeeds or not. Without strace the tree is compared before and after instead. The machine is out of their reach
(`support/machine`).
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from assent.permissions.shell.tables.commands import _VERSION_ONLY, COMMANDS
from assent.permissions.shell.tables.everyday import _FORMS
from assent.types.hardening import SCRUBBED_VARIABLES, hardening_env
from machine import spared
from permissions.scratch import CANARY, Scratch, make_scratch

MARK = "/@@"
BATCH = 250
_DRIVER = f"""
import json, os, subprocess, sys
for number, command in enumerate(json.load(open(sys.argv[1]))):
    os.access("{MARK}%d" % number, 0)
    try:
        subprocess.run(["bash", "--norc", "--noprofile", "-c", command], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20, close_fds=True)
    except subprocess.TimeoutExpired:
        pass
"""
_CALLS = (
    "execve,execveat,connect,sendto,sendmsg,bind,open,openat,openat2,creat,mkdir,mkdirat,rmdir,unlink,unlinkat,rename,renameat,"
    "renameat2,link,linkat,symlink,symlinkat,chmod,fchmodat,chown,lchown,fchownat,truncate,mknod,mknodat,utimensat,"
    "setxattr,access,faccessat,faccessat2,mount,ptrace,kill"
)
_LINE = re.compile(r"^(?:\d+\s+)?(?P<call>\w+)\((?P<args>.*)\)\s+=\s+(?P<result>-?\d+|\?)(?P<error>.*)$")
_LISTED = (
    frozenset(COMMANDS)
    | _VERSION_ONLY
    | {"git", "timeout", "nice", "env", "stdbuf", "time", "xargs", "mawk", "gawk", "original-awk", "bash"}
    | frozenset(_FORMS)
    | {"git-submodule", "gettext", "envsubst"}  # git submodule status is a shell script
)
_OPENS_TO_WRITE = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")


def make_trap(base: Path) -> Scratch:
    """A workspace in which every known trick is laid out and would leave a mark."""
    ws = make_scratch(base, key=False)
    root = ws.root
    for name in (
        "bin/git",
        "bin/ls",
        "bin/cat",
        "bin/rg",
        "10/ls",
        "10/cat",
        "10/grep",
    ):  # 10: `{PATH}>x` sets PATH to it
        canary = root / name
        canary.parent.mkdir(exist_ok=True)
        canary.write_text(CANARY)
        canary.chmod(0o755)
    (root / ".ripgreprc").write_text("--pre=./ev.sh\n")
    bare = root / "sub" / "bare"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True, capture_output=True)
    with (bare / "config").open("a") as config:
        config.write("[core]\n\tfsmonitor = ./ev.sh\n\tworktree = .\n\tbare = false\n")
    nested = root / "sub" / "nested"
    subprocess.run(["git", "init", "-q", str(nested)], check=True, capture_output=True)
    with (nested / ".git" / "config").open("a") as config:
        config.write("[core]\n\tfsmonitor = ../../ev.sh\n[diff]\n\texternal = ../../ev.sh\n")
    odd = root / "sub" / "odd"
    odd.mkdir()
    for name in ("-rf", "--pre=..", "-o", "a b", "-delete", "--output=PWNED", "'", "$(touch PWNED)"):
        (odd / name.replace("/", "_")).write_text("x\n")
    (root / "prog.sed").write_text("w PWNED\n")
    (root / "prog.awk").write_text('BEGIN { system("touch PWNED") }\n')
    return ws


def violations(ws: Scratch, commands: Sequence[str], work: Path) -> list[str]:
    """What the commands did beyond reading, each as `command → what`."""
    found: list[str] = []
    for start in range(0, len(commands), BATCH):
        batch = list(commands[start : start + BATCH])
        found += _run(ws, batch, work)
    return found


def environment(ws: Scratch) -> dict[str, str]:
    """As the Bash tool gives it to commands that only read."""
    tools = str(Path(sys.executable).parent)
    env = {name: value for name, value in os.environ.items() if name not in SCRUBBED_VARIABLES}
    env |= {"HOME": str(ws.home), "PATH": f"/usr/bin:/bin:{tools}", "LC_ALL": "C.UTF-8", **hardening_env()}
    return env


def _run(ws: Scratch, batch: list[str], work: Path) -> list[str]:
    listing, log = work / "commands.json", work / "strace.log"
    listing.write_text(json.dumps(batch))
    before = _tree(ws)
    argv = [sys.executable, "-I", "-S", "-c", _DRIVER, str(listing)]
    traced = shutil.which("strace") is not None
    if traced:
        argv = ["strace", "-f", "--seccomp-bpf", "-qq", "-s", "256", "-e", f"trace={_CALLS}", "-o", str(log), *argv]
    argv = [*spared(Path(os.path.commonpath([ws.root, ws.home, work]))), *argv]
    subprocess.run(argv, cwd=ws.root, env=environment(ws), check=True, capture_output=True, timeout=600)
    found = _read_log(log, batch, ws) if traced else []
    if not found and _tree(ws) != before:
        found.append(f"one of {batch!r} → the tree changed")
    return found


def _read_log(log: Path, batch: list[str], ws: Scratch) -> list[str]:
    found: list[str] = []
    current = -1
    for line in log.read_text(errors="replace").splitlines():
        if MARK in line and (mark := re.search(rf'"{MARK}(\d+)"', line)):
            current = int(mark[1])
            continue
        parsed = _LINE.match(line)
        if parsed is None or current < 0:
            continue
        if what := _violation(parsed["call"], parsed["args"], parsed["result"], ws):
            found.append(f"{batch[current]!r} → {what}")
    return found


def _refreshes_index(args: str) -> bool:
    """`git describe --dirty` notes the times of files it has looked at, and nothing else."""
    return "/.git/index.lock" in args


def _violation(call: str, args: str, result: str, ws: Scratch) -> str | None:
    if call in ("access", "faccessat", "faccessat2"):
        return None
    if call.startswith("exec"):
        program = re.search(r'"([^"]*)"', args)
        path = program[1] if program else args
        inside = path.startswith((str(ws.root), "./", "../")) or "/" not in path
        unlisted = path.rpartition("/")[2] not in _LISTED and "python" not in path
        return f"runs {path}" if inside or (unlisted and result == "0") else None
    if call in ("connect", "sendto", "sendmsg", "bind"):
        asks_for_a_port = call == "bind" and "htons(0)" in args  # pip only looks whether there is IPv6
        return f"{call} {args[:120]}" if "AF_INET" in args and not asks_for_a_port else None
    if call.startswith("open"):
        path = re.search(r'"([^"]*)"', args)
        if (
            path is None
            or _refreshes_index(args)
            or path[1] in ("/dev/null", "/dev/tty")
            or not _OPENS_TO_WRITE.search(args)
        ):
            return None
        return f"opens {path[1]} for writing"
    if call in ("rename", "unlink") and _refreshes_index(args):
        return None
    if call == "kill":
        return None  # the shell and timeout signal their own children
    return f"{call}({args[:160]})"


def _tree(ws: Scratch) -> dict[str, tuple[int, int, int]]:
    return {
        str(path): (stat.st_mode, stat.st_size, stat.st_mtime_ns)
        for base in (ws.root, ws.home)
        for path in base.rglob("*")
        for stat in (path.lstat(),)
        if path not in (ws.root / ".git", ws.root / ".git/index")  # see _refreshes_index
    }
