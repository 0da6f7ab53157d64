"""Hard links: what is written under one name is written under all, so all names are held against rules and the gate."""

import os
from pathlib import Path

import pytest

from assent.permissions import trees
from assent.permissions.aliases import NONE, _same, aliases
from permissions.scratch import Scratch, make_scratch

WRITES = ("echo x > {}", "echo x | tee -a {}", "truncate -s 0 {}", "cp a.py {}", "dd if=a.py of={}")


@pytest.fixture
def linked(tmp_path: Path) -> Scratch:
    ws = make_scratch(tmp_path, key=False)
    (ws.root / ".vscode").mkdir()
    (ws.root / ".vscode/tasks.json").write_text("{}\n")
    (ws.home / ".bashrc").write_text("true\n")
    os.link(ws.root / ".vscode/tasks.json", ws.root / "notes.txt")
    os.link(ws.root / "sub/deep/c.txt", ws.root / "plain.txt")
    os.link(ws.home / ".bashrc", ws.root / "outside.txt")
    return ws


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("mode", ["acceptEdits", "bypassPermissions"])
def test_a_write_to_another_name_of_a_protected_file_is_asked_about(linked: Scratch, write: str, mode: str) -> None:
    assert linked.bash(write.format("notes.txt"), mode=mode).step == "ironGate"
    assert linked.bash(write.format("outside.txt"), mode=mode).step == "ironGate"
    assert linked.bash(write.format("plain.txt"), mode=mode).step != "ironGate"


@pytest.mark.parametrize("write", WRITES)
def test_a_write_to_another_name_of_a_denied_file_is_denied(linked: Scratch, write: str) -> None:
    for mode in ("acceptEdits", "bypassPermissions"):
        decision = linked.bash(write.format("plain.txt"), mode=mode, deny=["Edit(sub/deep/**)"])
        assert decision.decision == "deny"


def test_a_tree_too_big_to_look_at_leaves_names_unfound(linked: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(linked.root / "plain.txt")
    assert aliases(path, [str(linked.root)]).complete
    monkeypatch.setattr(trees, "MAX_ENTRIES", 1)
    assert not aliases(path, [str(linked.root)]).complete


def test_what_is_no_file_with_several_names_has_none(linked: Scratch) -> None:
    for name in ("a.py", "sub", "missing", "nul\0"):
        assert aliases(f"{linked.root}/{name}", [str(linked.root)]) == NONE


def test_a_name_that_is_gone_meanwhile_is_no_other_name(linked: Scratch) -> None:
    status = (linked.root / "plain.txt").lstat()
    assert _same(str(linked.root / "sub/deep/c.txt"), status)
    assert not _same(str(linked.root / "gone"), status)
