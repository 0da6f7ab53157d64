"""The plugins that are installed: copies in the user's data folder, and one list of them with every file's hash.

Installing and updating have two steps: `stage` fetches and says what it brings and changes; only `accept` makes it
count. A copy whose files are not the installed ones any more is not used until it was installed again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import orjson

from assent.extensions.definitions import Notice
from assent.extensions.places import Place
from assent.extensions.plugins import inventory, sources
from assent.extensions.plugins.inventory import Change
from assent.extensions.plugins.manifest import Plugin, PluginError, read_plugin
from assent.extensions.plugins.sources import Source
from assent.types.blocks import Json
from assent.types.ids import new_id

Write = Callable[[Path, bytes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    name: str
    version: str
    source: str
    folder: str  # below the store
    enabled: bool
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    entry: Json | None = None  # what a marketplace says of it


@dataclass(slots=True, kw_only=True)
class Staged:
    """A plugin that was fetched and does not count yet."""

    plugin: Plugin
    source: str
    files: dict[str, str]
    entry: Json | None
    folder: Path
    changes: list[Change]
    replaces: Installed | None

    def brings(self) -> list[str]:
        """What it would run or offer, in words, programs first."""
        plugin = self.plugin
        found: list[str] = []
        for event, groups in plugin.hooks.items():
            for group in cast("list[Json]", groups):
                handlers = cast("list[object]", group.get("hooks") or [])
                found += [f"hook on {event}: {_words(handler)}" for handler in handlers]
        found += [f"MCP server {name}: {_words(entry)}" for name, entry in plugin.servers.items()]
        return found


class Plugins:
    """`write` replaces a file atomically."""

    def __init__(self, folder: Path, *, write: Write) -> None:
        self._folder = folder
        self._list = folder / "installed.json"
        self._write = write
        self._lock = threading.Lock()
        self._seen: tuple[tuple[int, int], list[Installed]] | None = None
        self._loaded: dict[str, tuple[tuple[Any, ...], Plugin | Notice]] = {}

    # --- what is there -----------------------------------------------------------------------------------------------

    def installed(self) -> list[Installed]:
        try:
            status = self._list.stat()
        except OSError:
            return []
        stamp = (status.st_mtime_ns, status.st_size)
        if self._seen is None or self._seen[0] != stamp:
            self._seen = (stamp, _parsed(self._list))
        return self._seen[1]

    def root(self, installed: Installed) -> str:
        return str(self._folder / installed.folder)

    def data(self, name: str) -> str:
        """A folder of the plugin's own that outlives its updates."""
        return str(self._folder / "data" / name)

    def active(self) -> tuple[list[Plugin], list[Notice]]:
        """Every plugin that is enabled and whole, and what is wrong with the others."""
        found: list[Plugin] = []
        notices: list[Notice] = []
        for each in self.installed():
            if not each.enabled:
                continue
            loaded = self._load(each)
            if isinstance(loaded, Notice):
                notices.append(loaded)
            else:
                found.append(loaded)
        return found, notices

    def places(self) -> list[Place]:
        return [place for plugin in self.active()[0] for place in plugin.places]

    def _load(self, installed: Installed) -> Plugin | Notice:
        root = self.root(installed)
        stamps = tuple(_stamp(f"{root}/{path}") for path in installed.files)
        known = self._loaded.get(root)
        if known is None or known[0] != stamps:
            known = self._loaded[root] = (stamps, self._checked(installed, root))
        return known[1]

    def _checked(self, installed: Installed, root: str) -> Plugin | Notice:
        again = f"`assent plugin update {installed.name}` installs it again"
        if wrong := inventory.tampered(root, installed.files):
            text = f"is not what was installed ({', '.join(wrong[:3])}), so the plugin is not used; {again}"
            return Notice(file=root, text=text)
        try:
            return read_plugin(root, entry=installed.entry)
        except PluginError as error:
            return Notice(file=root, text=f"{error}; {again}")

    # --- changes -----------------------------------------------------------------------------------------------------

    def stage(self, text: str, *, cwd: str) -> Staged:
        """Fetch a plugin and say what it brings. Nothing of it counts until it was accepted."""
        return self._stage(sources.parse(text, cwd=cwd), text)

    def stage_update(self, name: str) -> Staged:
        """Fetch an installed plugin anew from where it came, with what would change."""
        installed = self._find(name)
        return self._stage(sources.parse(installed.source, cwd="/"), installed.source, update=installed)

    def _stage(self, source: Source, text: str, update: Installed | None = None) -> Staged:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        target = self._folder / "copies" / new_id()
        with tempfile.TemporaryDirectory(prefix="assent-plugin-") as scratch:
            fetched = sources.fetch(source, Path(scratch))
            name = read_plugin(fetched.root, entry=fetched.entry).name
            target.mkdir(parents=True, mode=0o700)
            try:
                files = inventory.copy(fetched.root, target)
                plugin = replace(read_plugin(str(target), entry={"name": name, **(fetched.entry or {})}), name=name)
            except PluginError:
                shutil.rmtree(target, ignore_errors=True)
                raise
        old = update or next((each for each in self.installed() if each.name == name), None)
        changes = inventory.differences(self.root(old), str(target)) if old and Path(self.root(old)).is_dir() else []
        where = text if source.is_git else str(source)
        entry = {"name": name, **(fetched.entry or {})}
        return Staged(
            plugin=plugin, source=where, files=files, entry=entry, folder=target, changes=changes, replaces=old
        )

    def accept(self, staged: Staged) -> Installed:
        """From now on the plugin counts as it was staged."""
        old = staged.replaces
        installed = Installed(
            name=staged.plugin.name,
            version=staged.plugin.version,
            source=staged.source,
            folder=str(staged.folder.relative_to(self._folder)),
            enabled=old.enabled if old else staged.plugin.default_enabled,
            files=staged.files,
            entry=staged.entry,
        )
        self._save([*(each for each in self.installed() if each.name != installed.name), installed])
        if old is not None:
            self._discard(self._folder / old.folder)
        return installed

    def drop(self, staged: Staged) -> None:
        """The user said no."""
        self._discard(staged.folder)

    def remove(self, name: str) -> None:
        installed = self._find(name)
        self._save([each for each in self.installed() if each.name != name])
        self._discard(self._folder / installed.folder)

    def enable(self, name: str, *, enabled: bool) -> None:
        self._find(name)
        self._save([replace(each, enabled=enabled) if each.name == name else each for each in self.installed()])

    def _find(self, name: str) -> Installed:
        for each in self.installed():
            if each.name == name:
                return each
        names = ", ".join(each.name for each in self.installed()) or "none"
        raise PluginError(f"There is no plugin {name!r}. Installed: {names}")

    def _save(self, plugins: Iterable[Installed]) -> None:
        with self._lock:
            items = [
                {
                    "name": each.name,
                    "version": each.version,
                    "source": each.source,
                    "folder": each.folder,
                    "enabled": each.enabled,
                    "files": dict(each.files),
                    "entry": each.entry,
                }
                for each in sorted(plugins, key=lambda each: each.name)
            ]
            self._write(self._list, orjson.dumps({"plugins": items}, option=orjson.OPT_INDENT_2))
            self._seen = None

    def _discard(self, folder: Path) -> None:
        if folder.is_relative_to(self._folder / "copies"):
            shutil.rmtree(folder, ignore_errors=True)


def _parsed(file: Path) -> list[Installed]:
    found: list[Installed] = []
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        for item in orjson.loads(file.read_bytes())["plugins"]:
            folder = str(item["folder"])
            if ".." in folder.split("/") or folder.startswith("/"):
                continue
            found.append(
                Installed(
                    name=str(item["name"]),
                    version=str(item.get("version", "")),
                    source=str(item.get("source", "")),
                    folder=folder,
                    enabled=item.get("enabled") is not False,
                    files=dict(item.get("files", {})),
                    entry=item.get("entry"),
                )
            )
    return found


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)  # noqa: PTH116 -- every file of every plugin, at each load
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


def _words(entry: object) -> str:
    if isinstance(entry, dict):
        said = cast("Json", entry)
        words = [str(said.get(key)) for key in ("command", "url", "prompt", "tool") if said.get(key)]
        return " ".join([*words, *(str(word) for word in cast("list[object]", said.get("args") or []))]) or str(said)
    return str(entry)
