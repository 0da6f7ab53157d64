"""A folder that somebody prepared: a Python module for every name we import, a program for every name we start.

Each notes in one file that it ran. A front started in that folder must leave the file absent.
"""

import os
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

PROGRAMS = [
    "git",
    "rg",
    "python",
    "python3",
    "python3.11",
    "python3.12",
    "python3.13",
    "bwrap",
    "bash",
    "sh",
    "env",
    "node",
    "npm",
    "nvim",
    "code",
    "emacs",
    "hx",
    "ls",
    "cat",
    "grep",
    "head",
    "find",
    "sleep",
    "true",
    "ssh",
    "security",
    "gcloud",
    "aws",
    "assent",
    "setpriv",
    "sandbox-exec",
]


def modules() -> set[str]:
    """Every top-level name that Python or our environment could import, and those that Python looks for by itself."""
    installed = {name for name in packages_distributions() if name.isidentifier()}
    return {
        *sys.stdlib_module_names,
        *installed,
        "assent",
        "sitecustomize",
        "usercustomize",
        "__main__",
        "_sysconfigdata",
    }


class Trap:
    """`folder` is the workspace; `path` names it in every way a PATH can."""

    def __init__(self, root: Path, *, name: str = "untrusted") -> None:
        self.folder = root / name
        self.log = root / "canaries-that-ran"
        programs = self.folder / "bin"
        programs.mkdir(parents=True)
        note = "import os, sys\nwith open({log!r}, 'a') as file:\n    file.write('module ' + {name!r} + ' ' + repr(sys.argv) + chr(10))\n"
        for name in modules():
            (self.folder / f"{name}.py").write_text(note.format(log=str(self.log), name=name))
        for name in PROGRAMS:
            program = programs / name
            program.write_text(f"#!/bin/sh\necho \"program {name} $*\" >> '{self.log}'\nexit 1\n")
            program.chmod(0o755)
        self._links(root)

    def _links(self, root: Path) -> None:
        (root / "outside").symlink_to(self.folder / "bin")  # an entry that leads inside
        (self.folder / "through").symlink_to("/usr/bin")  # an entry inside that leads out, for now
        (root / "two-steps").symlink_to(self.folder / "through")

    def path(self, rest: str) -> str:
        inside = self.folder / "bin"
        root = self.folder.parent
        return os.pathsep.join(["", "bin", "./bin", str(inside), str(root / "outside"), f"{inside}/../bin/", rest])

    def ran(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []
