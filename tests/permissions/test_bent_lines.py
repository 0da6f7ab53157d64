"""Under bypass, whatever a line does to its own variables, options, directories and links: what is protected stays."""

import shutil
import subprocess
from pathlib import Path
from random import Random

from permissions.bending_lines import bending_line
from permissions.scratch import Scratch, make_scratch

SEED, LINES = 20_261_118, 600


def test_lines_that_bend_their_own_words_leave_protected_files_alone_unless_a_person_was_asked(tmp_path: Path) -> None:
    assert harmed(tmp_path, SEED, LINES) == []


def harmed(base: Path, seed: int, lines: int) -> list[str]:
    """The lines that bypass allowed, and that changed something protected when they were run."""
    ws = laid_out(base)
    pristine = base / "pristine"
    shutil.copytree(ws.root, pristine, symlinks=True)
    random = Random(seed)
    found: list[str] = []
    for line in dict.fromkeys(bending_line(random) for _ in range(lines)):
        if ws.bash(line, mode="bypassPermissions").decision != "allow":
            continue
        before = _protected(ws.root)
        _run(ws, line)
        if _protected(ws.root) != before:
            found.append(line)
        shutil.rmtree(ws.root)
        shutil.copytree(pristine, ws.root, symlinks=True)
    return found


def laid_out(base: Path) -> Scratch:
    """Everything that the lines may find: links to the hooks, a branch with one, a file of settings, a script."""
    ws = make_scratch(base)
    git = ["git", "-C", str(ws.root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    (ws.root / "el").symlink_to(".git/hooks")
    for words in (["checkout", "-qb", "linked"], ["add", "el"], ["commit", "-qm", "x"], ["checkout", "-q", "main"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    for name, target in (("10", ".git"), ("home", ".git/hooks"), ("dir/l", "../.git/hooks")):
        (ws.root / name).parent.mkdir(exist_ok=True)
        (ws.root / name).symlink_to(target)
    (ws.root / "hooks").mkdir()
    (ws.root / ".mcp.json").write_text("{}\n")
    (ws.root / "sets").write_text("CDPATH=10 HOME=10\n")
    return ws


def _protected(root: Path) -> dict[str, tuple[int, bytes]]:
    """Of what git itself keeps, only what runs code: the rest changes whenever git is used."""
    files = [*(root / ".git/hooks").iterdir(), root / ".git/config", root / ".mcp.json"]
    return {str(file): (file.stat().st_mtime_ns, file.read_bytes()) for file in files if file.is_file()}


def _run(ws: Scratch, line: str) -> None:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(ws.home), "GIT_CONFIG_GLOBAL": "/dev/null"}
    subprocess.run(
        ["timeout", "10", "bash", "--norc", "-c", line],
        cwd=ws.root,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
