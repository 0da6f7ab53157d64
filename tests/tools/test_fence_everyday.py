"""Everyday commands that run unasked say the same inside the fence as outside (P4): a fence nobody notices stays on."""

import json
import re
from pathlib import Path

import pytest

from assent.tools.process import sandbox
from fencekit import WHO, ground, holds_fully
from permissions.shell_corpus import ALWAYS_FINE

CONTROLS = Path(__file__).parents[1] / "cases" / "permission-controls.json"
EVERYDAY = (
    "npm ls",
    "printenv PATH",
    "echo $PATH $USER $((1+1))",
    "ls | xargs wc -l 2>/dev/null",
    "find . -name '*.py' -exec wc -l {} +",
    "diff -r sub src",
    "git describe --always --dirty",
    "git submodule status",
    "for f in *.md; do echo $f; done",
    "if [ -f README.md ]; then echo yes; fi",
    "cat /etc/os-release",
    "git status",
    "git diff",
    "git log -3 --stat",
    "git blame README.md",
    "git show HEAD",
    "sort README.md | uniq -c",
    "man -w ls",
    "jq .a x.json",
    "nice ls",
    "timeout 5 ls",
    "cat <(echo substituted)",
    "getent passwd root",
    "id -un",
    "node --version",
    "git --version",
    "du -sh sub",
    "file README.md",
    "tar tf /dev/null",
)
CHANGES = re.compile(
    r"^(?:date|uptime|ps|top|free|df|w|who|vmstat|iostat|sleep|time|shuf|tail -f|du)\b"
    r"|\bps\b|--follow|/proc/|nproc|&$|diff-index|-ls$"
)
"""What says something else each time, inside or outside."""


def controls() -> list[str]:
    found = json.loads(CONTROLS.read_text())
    return [text for case in found if case.get("tool", "Bash") == "Bash" for text in case["inputs"]]


@pytest.mark.parametrize("who", WHO)
def test_everyday_commands_say_the_same_inside_and_outside(who: str) -> None:
    if not holds_fully():
        assert sandbox.describe()
        return
    lines = [line for line in (*EVERYDAY, *controls(), *ALWAYS_FINE) if not CHANGES.search(line)]
    if who == "plain":
        lines = lines[:80]
    with ground(who) as world:
        (world.root / "key").unlink()  # it leads to a secret
        inside, outside = world.results(lines, seconds=120), world.results(lines, seconds=120, fenced=False)
    differing = [
        (line, one["content"], other["content"])
        for line, one, other in zip(lines, inside, outside, strict=True)
        if _plain(one["content"]) != _plain(other["content"])
    ]
    assert differing == []


def _plain(text: str) -> str:
    """Without what differs from run to run: process ids and times that a command took."""
    return re.sub(r"\b\d+m\d+\.\d+s\b|real.*|user.*|sys.*|\d\d:\d\d|credential.helper=.*\n", "", text)
