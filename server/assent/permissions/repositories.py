"""Whether the repository that git would run in is the user's own, runs nothing by itself and reads nothing elsewhere.

A repository's configuration can name programs and files, and git asks the submodules that the index names too, each
with its own configuration. So git is auto-allowed only in a repository that sits at a workspace root, whose
configuration holds nothing but known keys, and whose own files are no links; and it runs under `hardening_env`.
"""

import os
import stat
from collections.abc import Collection, Sequence
from functools import lru_cache

from assent.permissions import git_index
from assent.permissions.paths import Seen, real_directory, under
from assent.permissions.shell.syntax.directories import Directories
from assent.types.git_config import LARGEST, ConfigEntry, ConfigRefused, harmless, parse
from assent.types.regular_files import read_regular, signature

ABOVE = "the repository begins above the workspace folder"
"""A doubt that a rule may settle: what lies above the workspace did not come with it."""
BORROWS = "the repository takes objects from another one"
SETTLED_BY_RULES = frozenset({"", ABOVE, BORROWS})
UNTRUSTED = "this folder is not trusted, which would end this question"

MOST_NESTED = 8  # submodules in submodules
_LOOKED_INTO = ("info", "logs", "rebase-merge", "rebase-apply", "sequencer", "objects/info")
_SOCKETS = frozenset({"fsmonitor--daemon.ipc"})
_IGNORED_COMMITS = ".git-blame-ignore-revs"  # the usual name; another may lead anywhere


def repository_doubt(
    directories: Directories, roots: Sequence[str], *, trusted: bool, seen: Seen | None = None
) -> str | None:
    """Why git must not run unasked in these directories; None when each has no repository, or the root's own.

    In an untrusted folder only the plainest repository will do: a `.git` folder at the root, without submodules.
    """
    if directories is None:
        return "nobody can say in which directory git would run"
    real_roots = {real_directory(root, seen) for root in roots}
    settled: str | None = None
    for directory in directories:
        place = _top(real_directory(directory, seen))
        if place is None:
            continue
        if not os.path.lexists(f"{place}/.git"):
            return f"{place} is a bare repository"
        if place not in real_roots and not _kept_in(place, real_roots):
            if not any(under(root, place) for root in real_roots):
                return f"the repository at {place} is not at the top of a workspace folder"
            if not trusted:
                return f"{ABOVE}, and {UNTRUSTED}"
            settled = ABOVE
        doubt = checkout_doubt(place, plain=not trusted)
        if doubt not in SETTLED_BY_RULES | {None}:
            return doubt
        settled = doubt or settled
    return settled


def _top(place: str) -> str | None:
    """The first folder upwards that git would take for a repository, or at least look at."""
    while True:
        if _there(place, ".git") or (
            _there(place, "HEAD") and (_there(place, "objects") or _there(place, "commondir"))
        ):
            return place
        if place == "/":
            return None
        place = os.path.dirname(place)  # noqa: PTH120  an absolute string


def checkout_at(directory: str) -> tuple[str, str, str] | None:
    """The working tree that git would use there, its git directory, and the one that this shares with others.

    None: there is none. Raises OSError, ValueError for one that is not plain.
    """
    place = _top(os.path.realpath(directory))
    if place is None:
        return None
    git = f"{place}/.git"
    if stat.S_ISDIR(os.lstat(git).st_mode):
        return place, git, git
    target = _target(git, place)
    if target is None:
        raise ValueError(git)
    shared = _text(f"{target}/commondir").strip() if _there(target, "commondir") else "."
    return place, target, os.path.normpath(os.path.join(target, shared))  # noqa: PTH118


def other_hashes(common: str) -> bool:
    """Does the repository name its objects by anything but SHA-1?"""
    return any(entry.name == "extensions.objectformat" for entry in _entries(f"{common}/config"))


def _kept_in(place: str, roots: Collection[str]) -> bool:
    """Is it a worktree or a submodule whose git directory lies in a root's own, where only git writes?"""
    try:
        target = _target(f"{place}/.git", place)
    except (OSError, ValueError):
        return False
    return target is not None and any(under(target, f"{root}/.git") for root in roots)


def _there(place: str, name: str) -> bool:
    return os.path.lexists(f"{place}/{name}")


def checkout_doubt(folder: str, *, plain: bool = False, depth: int = 0) -> str | None:
    """Whether anything in the repository of this folder may run a program or lead git elsewhere.

    `plain`: nothing but an ordinary `.git` folder will do.
    """
    git = f"{folder}/.git"
    try:
        mode = os.lstat(git).st_mode
        if stat.S_ISDIR(mode):
            if _there(git, "commondir"):
                return "the repository's configuration lies elsewhere"
            return _store_doubt(git, git, folder, plain=plain, depth=depth)
        if not stat.S_ISREG(mode):
            return "the repository's .git is a link or no file at all"
        if plain:
            return f"the repository's .git file leads elsewhere, and {UNTRUSTED}"
        return _linked_doubt(git, folder, depth)
    except (OSError, ValueError) as error:
        return f"the repository cannot be read: {error}"


def _linked_doubt(git_file: str, folder: str, depth: int) -> str | None:
    """A `.git` file must lead to a place that itself names this folder: nobody else could have written that there."""
    target = _target(git_file, folder)
    if target is None:
        return "the repository's .git file leads elsewhere"
    if os.path.basename(os.path.dirname(target)) == "worktrees":  # noqa: PTH119, PTH120
        common = os.path.dirname(os.path.dirname(target))  # noqa: PTH120
        back, shared = _text(f"{target}/gitdir").strip(), _text(f"{target}/commondir").strip()
        names_us = _same(os.path.join(target, back), git_file)  # noqa: PTH118
        if not names_us or not _same(os.path.join(target, shared), common):  # noqa: PTH118
            return "the repository's .git file leads elsewhere"
        return _store_doubt(target, common, folder, plain=False, depth=depth)
    if not any(entry.name == "core.worktree" for entry in _entries(f"{target}/config")):
        return "the repository's .git file leads elsewhere"
    return _store_doubt(target, target, folder, plain=False, depth=depth)


def _target(git_file: str, folder: str) -> str | None:
    """The folder a `.git` file leads to, if by no link."""
    line = _text(git_file).strip()
    if not line.startswith("gitdir: ") or "\n" in line:
        return None
    target = os.path.normpath(os.path.join(folder, line.removeprefix("gitdir: ")))  # noqa: PTH118
    return target if os.path.realpath(target) == target and os.path.isdir(target) else None  # noqa: PTH112


def _same(path: str, other: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)


def _store_doubt(store: str, common: str, folder: str, *, plain: bool, depth: int) -> str | None:
    """`store` is the git directory of the checkout at `folder`; `common` the one it shares with other worktrees."""
    missing = [name for name in ("HEAD", "objects", "refs") if not _there(store if name == "HEAD" else common, name)]
    if missing:
        return "the folder's .git is no repository, so git would look for one further up"
    for place in dict.fromkeys((store, common)):
        if odd := _odd_file(place):
            return f"the repository's own file {odd} is a link, a special file or too large"
    hash_size = 20
    for place in dict.fromkeys(
        (f"{common}/config", f"{store}/config", f"{common}/config.worktree", f"{store}/config.worktree")
    ):
        if os.path.lexists(place):
            entries = _entries(place)
            if key := _unsafe_entry(entries, store, folder):
                return f"the repository's configuration sets {key}, which may run programs or read files elsewhere"
            if any(entry.name == "extensions.objectformat" and entry.value == "sha256" for entry in entries):
                hash_size = 32
    if doubt := _submodules_doubt(store, folder, hash_size, plain=plain, depth=depth):
        return doubt
    return BORROWS if _there(common, "objects/info/alternates") else None


def _odd_file(place: str) -> str | None:
    """git prints lines of many of its own files: a link among them would show somebody else's, a FIFO would hang it."""
    for below in ("", *_LOOKED_INTO):
        folder = f"{place}/{below}" if below else place
        if not os.path.isdir(folder):  # noqa: PTH112  tens of microseconds count here
            continue
        with os.scandir(folder) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                plain = stat.S_ISDIR(status.st_mode) or (
                    stat.S_ISREG(status.st_mode) and status.st_size <= git_index.LARGEST
                )
                if not plain and entry.name not in _SOCKETS:
                    return f"{below}/{entry.name}".lstrip("/")
    return None


def _unsafe_entry(entries: Sequence[ConfigEntry], store: str, folder: str) -> str | None:
    for entry in entries:
        if entry.name == "core.worktree":
            if not _same(os.path.join(store, entry.value or ""), folder):  # noqa: PTH118
                return entry.name
        elif entry.name == "blame.ignorerevsfile":
            if entry.value != _IGNORED_COMMITS or os.path.islink(f"{folder}/{_IGNORED_COMMITS}"):  # noqa: PTH114
                return entry.name
        elif not harmless(entry):
            return entry.name
    return None


def _submodules_doubt(store: str, folder: str, hash_size: int, *, plain: bool, depth: int) -> str | None:
    """git status and git diff start another git in every submodule, where our own settings do not reach."""
    try:
        paths = git_index.gitlinks(store, hash_size)
    except git_index.IndexRefused as error:
        return str(error)
    for path in paths:
        module = f"{folder}/{path}"
        if not os.path.lexists(f"{module}/.git"):
            continue
        if plain:
            return f"the repository has submodules, and {UNTRUSTED}"
        if depth >= MOST_NESTED or os.path.realpath(module) != os.path.normpath(module):
            return f"the submodule {path} cannot be looked into"
        if doubt := checkout_doubt(module, depth=depth + 1):
            return f"in the submodule {path}, {doubt}"
    return None


def _entries(file: str) -> list[ConfigEntry]:
    found = signature(file)
    return (_parsed if found else _parsed.__wrapped__)(file, found)


@lru_cache(maxsize=64)
def _parsed(file: str, _signature: tuple[int, ...]) -> list[ConfigEntry]:
    try:
        return parse(_text(file))
    except ConfigRefused as error:
        raise ConfigRefused(f"its configuration has {error}") from None


def _text(file: str) -> str:
    return read_regular(file, limit=LARGEST, follow=False).data.decode("utf-8", "surrogateescape")
