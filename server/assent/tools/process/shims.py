"""Folders of shims on the PATH: scripts of version managers (asdf, mise, pyenv, rbenv) that obey files of the project.

Such a file normally names a version. It may also name a folder, `python path:./x` or `../../x`, whose programs the shim
then runs: for commands that run unasked, the shims are left out of the PATH where a file of the project does that.
"""

import os
import re
from collections.abc import Collection, Iterator

from assent.types.regular_files import read_regular

VERSION_FILES = (".tool-versions", ".python-version", ".ruby-version", ".node-version", ".java-version", ".go-version")
_MOST = 64 * 1024
_NAMES_A_PLACE = re.compile(r"path:|ref:|\.\.|/")


def without_shims(path: str, *, roots: Collection[str]) -> str:
    """The PATH without shims, if a file in one of the folders or above it, inside the workspace, names a folder."""
    entries = path.split(os.pathsep)
    kept = [entry for entry in entries if os.path.basename(entry.rstrip("/")) != "shims"]  # noqa: PTH119
    if len(kept) == len(entries) or not any(map(_names_a_place, _files(roots))):
        return path
    return os.pathsep.join(kept)


def _files(roots: Collection[str]) -> Iterator[str]:
    real = {os.path.realpath(root) for root in roots}
    folders: dict[str, None] = {}
    for folder in real:
        while any(folder == root or folder.startswith(f"{root}/") for root in real):
            folders.setdefault(folder)
            folder = os.path.dirname(folder)  # noqa: PTH120
    for folder in folders:
        for name in VERSION_FILES:
            yield f"{folder}/{name}"


def _names_a_place(path: str) -> bool:
    try:
        text = read_regular(path, limit=_MOST).data.decode("utf-8", "replace")
    except FileNotFoundError:
        return False
    except OSError:
        return True  # not a file, or too large for one that names versions
    lines = [line.partition("#")[0] for line in text.splitlines()]
    return any(_NAMES_A_PLACE.search(line) for line in lines)
