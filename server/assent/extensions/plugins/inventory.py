"""Every file of a plugin with its hash, and what an update would change.

A plugin is copied into our own folder when it is installed, file by file: what was hashed is what is used, whatever
happens to its source. Links, devices and pipes are refused, and so is a plugin of unreasonable size.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from assent.extensions.plugins.manifest import PluginError
from assent.types.private_files import private_folder
from assent.types.regular_files import read_regular

MOST_FILES = 3_000
LARGEST_FILE = 10_000_000
LARGEST = 50_000_000
LEFT_OUT = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".DS_Store"})
_SHOWN_LINES = 400  # of the difference of one file


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file that an update would add, remove or change, with the lines where there are any."""

    path: str
    kind: str  # added, removed, changed
    lines: tuple[str, ...] = ()


def files_of(root: str) -> dict[str, str]:
    """Relative path to SHA-256 of every file; PluginError for what cannot be installed."""
    return {path: hashlib.sha256(data).hexdigest() for path, data, _ in _contents(root)}


def copy(root: str, target: Path) -> dict[str, str]:
    """Copy every file; the hashes are those of the bytes that were copied."""
    hashes: dict[str, str] = {}
    for path, data, executable in _contents(root):
        file = target / path
        private_folder(file.parent)
        file.write_bytes(data)
        file.chmod(0o700 if executable else 0o600)
        hashes[path] = hashlib.sha256(data).hexdigest()
    return hashes


def differences(old_root: str, new_root: str) -> list[Change]:
    """What would change, in order of the paths."""
    old = {path: data for path, data, _ in _contents(old_root)}
    new = {path: data for path, data, _ in _contents(new_root)}
    found: list[Change] = []
    for path in sorted(old.keys() | new.keys()):
        before, after = old.get(path), new.get(path)
        if before == after:
            continue
        kind = "added" if before is None else "removed" if after is None else "changed"
        found.append(Change(path=path, kind=kind, lines=tuple(_lines(path, before or b"", after or b""))))
    return found


def tampered(root: str, hashes: Mapping[str, str]) -> list[str]:
    """Files that are not what was installed: changed, missing or new."""
    try:
        now = files_of(root)
    except PluginError as error:
        return [str(error)]
    return sorted(path for path in now.keys() | hashes.keys() if now.get(path) != hashes.get(path))


def _lines(path: str, before: bytes, after: bytes) -> Iterator[str]:
    if b"\0" in before or b"\0" in after:
        yield f"(binary, {len(before):,} → {len(after):,} bytes)"
        return
    old, new = (data.decode("utf-8", "replace").splitlines() for data in (before, after))
    diff = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm="")
    for number, line in enumerate(diff):
        if number >= _SHOWN_LINES:
            yield "… (more lines differ)"
            return
        yield line


def _contents(root: str) -> Iterator[tuple[str, bytes, bool]]:
    """Path, bytes and whether it is executable, of every file in order."""
    count = total = 0
    for folder, folders, names in os.walk(root):
        for name in folders:
            if name not in LEFT_OUT and os.path.islink(f"{folder}/{name}"):  # noqa: PTH114 -- strings of os.walk
                raise PluginError(f"{folder}/{name} is a link; a plugin may not hold links to folders")
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(names):
            if name in LEFT_OUT:
                continue
            path = f"{folder}/{name}"
            try:
                status = os.lstat(path)
                if stat.S_ISLNK(status.st_mode):
                    _refuse_link_out(root, path)
                data = read_regular(path, limit=LARGEST_FILE).data
            except OSError as error:
                raise PluginError(f"{path}: it {error.strerror or error}") from None
            count, total = count + 1, total + len(data)
            if count > MOST_FILES or total > LARGEST:
                raise PluginError(f"{root} is too large for a plugin: over {MOST_FILES:,} files or {LARGEST:,} bytes")
            yield os.path.relpath(path, root), data, bool(status.st_mode & 0o111)


def _refuse_link_out(root: str, path: str) -> None:
    real, top = os.path.realpath(path), os.path.realpath(root)
    if not real.startswith(top + os.sep):
        raise PluginError(f"{path} is a link that leads out of the plugin")
