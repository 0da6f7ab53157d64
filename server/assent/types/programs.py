"""Which programs we start, and how: none that a workspace brought along.

A PATH may name folders of the workspace (`./bin`, `node_modules/.bin`, an empty entry for the working directory), and
Python imports from its working directory first. Whoever prepares a folder would so decide what `git` or `argparse` is.
Therefore this process's own PATH is the safe one: `keep_out` takes the workspace's entries out of it, for us and for
every library in here. Only commands of the user's get the user's PATH, which `user_path` remembers. A workspace inside
a git repository is kept out with the whole of it: the same people prepared both.
"""

import os
import site
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

NEUTRAL = os.path.abspath(os.sep)  # noqa: PTH100 -- a string
"""A working directory for our own processes: nobody's project."""

_outside: dict[str, frozenset[str]] = {}  # folder as given → its names
_MOST_LINKS = 40
_paths: dict[str, str] = {}  # the PATH we set → the one the user had


def keep_out(*folders: str) -> None:
    """From now on no program of these folders is ours to start; nor one found by a relative or empty entry."""
    _outside.update((folder, _folder_names(folder)) for folder in folders if folder not in _outside)
    given = user_path()
    safe = _without(given, _kept_out())
    _paths.clear()
    _paths[safe] = given
    os.environ["PATH"] = safe


def user_path() -> str:
    """The PATH this process was started with: for commands that the user allowed."""
    now = os.environ.get("PATH", os.defpath)
    return _paths.get(now, now)


def safe_path(path: str, *, outside: Iterable[str] = ()) -> str:
    """PATH without relative and empty entries, and without those inside the given folders, links followed or not."""
    return _without(path, {name for folder in outside for name in _folder_names(folder)})


def find_program(name: str) -> str | None:
    """The absolute path of a program on the safe PATH, unless it is a link into a workspace."""
    import shutil  # costs more than the rest of us

    folders = _kept_out()
    for entry in _without(user_path(), folders).split(os.pathsep):
        found = shutil.which(name, path=entry)
        if found is not None and not _leads_into(found, folders):
            return found
    return None


def python(*words: str) -> list[str]:
    """The command line of this Python, isolated: neither working directory nor PYTHON* variables name its modules."""
    return [sys.executable, *_isolation(), *words]


def python_environment() -> dict[str, str]:
    """Our environment without what directs Python elsewhere: not all of it is ignored in isolated mode."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _isolation() -> tuple[str, ...]:
    """`-I` would hide what was installed with `pip install --user`, us included."""
    own = str(Path(__file__).parents[2])
    if site.ENABLE_USER_SITE and own == site.getusersitepackages():
        return ("-E", "-P")
    return ("-I",)


def _without(path: str, folders: Collection[str]) -> str:
    absolute = [entry for entry in path.split(os.pathsep) if os.path.isabs(entry)]  # noqa: PTH117 -- strings
    return os.pathsep.join(entry for entry in absolute if not _leads_into(entry, folders)) or os.defpath


def _kept_out() -> set[str]:
    return {name for names in _outside.values() for name in names}


def _folder_names(folder: str) -> frozenset[str]:
    if "\0" in folder:
        return frozenset((folder,))  # no path has such a name; whoever uses it refuses it in words
    real = os.path.realpath(folder)
    return frozenset((os.path.normpath(folder), real, _repository(real)))


def _repository(folder: str) -> str:
    """The git repository around a folder, or the folder. One that holds the home is the user's own."""
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 -- strings
    here = folder
    while not _under(home, here):
        if os.path.lexists(os.path.join(here, ".git")):  # noqa: PTH118
            return here
        here = os.path.dirname(here)  # noqa: PTH120
    return folder


def _leads_into(path: str, folders: Collection[str]) -> bool:
    return any(_under(name, folder) for name in _names(path) for folder in folders)


def _names(path: str) -> list[str]:
    """Every name a path has: as written, each link on its way, and where it leads. A link inside the workspace can be
    turned elsewhere at any time, so it is enough that the way leads through one."""
    names = [os.path.normpath(path)]
    here, rest = os.sep, _parts(path)
    links = 0
    while rest:
        here = os.path.normpath(os.path.join(here, rest.pop(0)))  # noqa: PTH118 -- pathlib keeps `..`
        names.append(here)
        if os.path.islink(here) and links < _MOST_LINKS:  # noqa: PTH114
            links += 1
            target = os.readlink(here)  # noqa: PTH115
            here = os.sep if os.path.isabs(target) else os.path.dirname(here)  # noqa: PTH117, PTH120
            rest = [*_parts(target), *rest]
    return names


def _parts(path: str) -> list[str]:
    return [part for part in path.split(os.sep) if part and part != os.curdir]  # noqa: PTH206 -- pathlib keeps the root


def _under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
