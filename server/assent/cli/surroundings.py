"""What `assent doctor` looks at around the program: the PATH, Python's variables, other programs of our name, modes of
the data, and files of the folder that are not what they should be. Looks only, but for modes, which it sets right."""

import asyncio
import os
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from assent.types.private_files import tighten
from assent.types.programs import safe_path, user_path
from assent.types.regular_files import read_regular

DISTRIBUTION = "assent-lsp"
OURS = b"assent.cli.main"  # what the script that pip writes for us imports

Seen = tuple[str, str]
"""(what is there, what to do about it)"""


def installed_as() -> Seen | None:
    """Something to say when this is not an installation of our distribution."""
    try:
        metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return f"this is not an installation of {DISTRIBUTION}", "make setup, or: pip install assent-lsp"
    return None


def foreign_program(path: str | None = None) -> Seen | None:
    """Another program called `assent` that comes first on the user's PATH."""
    first = next((found for entry in (path or user_path()).split(os.pathsep) if (found := _program(entry))), None)
    if first is None or _is_ours(first):
        return None
    fix = f"remove it, or put the folder of ours ({DISTRIBUTION}) before it; editors may name ours by its full path"
    return f"{first} comes first on the PATH and is another program", fix


def unused_path(folder: Path, path: str | None = None) -> Seen | None:
    """Entries of the PATH that do not count for programs we start ourselves."""
    given = (path or user_path()).split(os.pathsep)
    kept = safe_path(path or user_path(), outside=[str(folder)]).split(os.pathsep)
    left_out = [entry or "(an empty entry)" for entry in given if entry not in kept]
    if not left_out:
        return None
    return (
        f"never used for programs that Assent starts itself: {', '.join(dict.fromkeys(left_out))}",
        "relative entries, and those that lead into this folder, let whoever prepared a folder choose your programs",
    )


def python_variables() -> Seen | None:
    named = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if not os.path.isabs(entry)]  # noqa: PTH117
    if "PYTHONPATH" not in os.environ or not named:
        return None
    return (
        "PYTHONPATH has relative or empty entries: every Python imports from the folder it is started in",
        "name full paths in it, or unset it",
    )


def opened_data(folder: Path) -> Seen | None:
    count = tighten(folder) if folder.is_dir() else 0
    if not count:
        return None
    return f"{count} files and folders were open to other users; they are closed now", ""


def linked_settings(folder: Path) -> Seen | None:
    links = [path for path in (folder / ".assent", *_settings(folder)) if path.is_symlink()]
    if not links:
        return None
    return f"{links[0]} is a symbolic link: rules you allow for this project cannot be saved", "replace it by a file"


def refused_notes(folder: Path) -> list[str]:
    from assent.extensions.memory import MemoryFiles, refusals

    return list(refusals(asyncio.run(MemoryFiles(home=Path.home()).load(str(folder)))))


def _settings(folder: Path) -> Iterable[Path]:
    return (folder / ".assent" / name for name in ("settings.json", "settings.local.json"))


def _program(entry: str) -> str | None:
    name = os.path.join(entry or os.curdir, "assent")  # noqa: PTH118 -- PATH entries are strings
    return name if os.path.isfile(name) and os.access(name, os.X_OK) else None  # noqa: PTH113


def _is_ours(program: str) -> bool:
    try:
        return OURS in read_regular(program, limit=1_000_000).data
    except OSError:
        return False
