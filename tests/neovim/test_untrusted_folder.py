"""Neovim in a folder that somebody prepared: neither the server's start nor a health check runs anything of it."""

import os
import sys
from pathlib import Path

import pytest

from canaries import Trap
from nvimscreen import Neovim

pytestmark = pytest.mark.editor

# Neovim itself asks `python3` for things, for its own provider and for files of that language.
CONFIG = "vim.g.loaded_python3_provider = 0\n"
SERVER = "[[assent]], [[serve]], [[--stdio]], [[--offline]]"


@pytest.mark.parametrize("version", ["0.10", "0.12"])
def test_nothing_of_the_project_runs_when_the_server_starts_and_is_looked_at(version: str, tmp_path: Path) -> None:
    trap = Trap(tmp_path, name="project")
    (trap.folder / "notes.txt").write_text("a needle\n")
    own = Path(sys.executable).parent
    env = {"PATH": trap.path(f"{own}:{os.environ['PATH']}"), "ASSENT_OFFLINE": "1", "PYTHONPATH": str(trap.folder)}
    with Neovim(version=version, folder=tmp_path, server=SERVER, env=env, file="notes.txt", config=CONFIG) as editor:
        editor.command("Assent ask find needle")
        editor.see("notes.txt:1:a needle")
        editor.command("checkhealth assent")
        editor.see(f"server: {own}/assent", "the server is running")
    assert trap.ran() == []


def test_a_server_that_only_the_project_has_is_not_found(tmp_path: Path) -> None:
    trap = Trap(tmp_path, name="project")
    (trap.folder / "notes.txt").write_text("a needle\n")
    env = {"PATH": trap.path("/usr/bin:/bin")}
    with Neovim(version="0.12", folder=tmp_path, server=SERVER, env=env, file="notes.txt", config=CONFIG) as editor:
        editor.command("Assent")
        editor.see("assent was not found")
    assert trap.ran() == []
