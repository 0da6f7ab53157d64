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

from assent.extensions.definitions import FileNotice
from assent.extensions.places import Place
from assent.extensions.plugins import inventory, options, sources
from assent.extensions.plugins.inventory import Change
from assent.extensions.plugins.manifest import Plugin, PluginError, read_plugin
from assent.extensions.plugins.options import Given
from assent.extensions.plugins.parts import programs_of
from assent.extensions.plugins.sources import Fetched, PluginSource
from assent.types.blocks import Json
from assent.types.ids import new_id
from assent.types.private_files import private_folder

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
        """What it would run or let run unasked, in words."""
        return programs_of(self.plugin)


class Plugins:
    """`write` replaces a file atomically; `said` is what the user's own settings say of plugins."""

    def __init__(self, folder: Path, *, write: Write, said: Callable[[], Json] = dict) -> None:
        self._folder = folder
        self._list = folder / "installed.json"
        self._options = folder / "options.json"
        self._write = write
        self._said = said
        self._lock = threading.Lock()
        self._seen: tuple[tuple[int, int], list[Installed]] | None = None
        self._loaded: dict[str, tuple[tuple[Any, ...], Plugin | FileNotice]] = {}

    # --- what is there -----------------------------------------------------------------------------------------------

    def installed(self) -> list[Installed]:
        try:
            status = self._list.stat()
        except OSError:
            return []
        stamp = (status.st_mtime_ns, status.st_size)
        if self._seen is None or self._seen[0] != stamp:
            self._seen = (stamp, _parsed(self._list))
        switched = _object(self._said().get("enabled"))
        if not switched:
            return self._seen[1]
        return [replace(each, enabled=switched.get(each.name, each.enabled) is not False) for each in self._seen[1]]

    def root(self, installed: Installed) -> str:
        return str(self._folder / installed.folder)

    def data(self, name: str) -> str:
        """A folder of the plugin's own that outlives its updates."""
        return str(self._folder / "data" / name)

    def given(self, plugin: Plugin) -> Given:
        """The values of its options: what settings say comes before what was typed at `assent plugin configure`."""
        if not plugin.options:
            return Given(values={})
        typed = _object(self._typed().get(plugin.name))
        return options.given(plugin.options, {**typed, **_object(_object(self._said().get("config")).get(plugin.name))})

    def variables(self, plugin: Plugin) -> Mapping[str, str]:
        """What its hooks and servers find in their environment."""
        return {**plugin.variables(self.data(plugin.name)), **self.given(plugin).environment()}

    def configure(self, name: str, values: Mapping[str, str]) -> Given:
        """Keep what the user typed, in a file for them alone; an empty value takes one back. Raises PluginError."""
        loaded = self._load(self._find(name))
        if isinstance(loaded, FileNotice):
            raise PluginError(str(loaded))
        known = {option.key: option for option in loaded.options}
        kept = _object(self._typed().get(name))
        for key, text in values.items():
            if key not in known:
                names = ", ".join(known) or "none"
                raise PluginError(f"{name} has no option {key!r}. It has: {names}")
            try:
                kept = {**kept, key: known[key].read(text)} if text else {k: v for k, v in kept.items() if k != key}
            except options.OptionError as error:
                raise PluginError(str(error)) from None
        self._write(self._options, orjson.dumps({**self._typed(), name: kept}, option=orjson.OPT_INDENT_2))
        self._options.chmod(0o600)
        return self.given(loaded)

    def _typed(self) -> Json:
        with contextlib.suppress(OSError, ValueError):
            return _object(orjson.loads(self._options.read_bytes()))
        return {}

    def incomplete(self, plugin: Plugin) -> str:
        """Why its hooks and servers do not run yet; empty when nothing is missing."""
        found = self.given(plugin)
        if not options.missing(found):
            return ""
        return f"{'; '.join(found.problems)}. `assent plugin configure {plugin.name} KEY=VALUE` sets it"

    def active(self) -> tuple[list[Plugin], list[FileNotice]]:
        """Every plugin that is enabled and whole, and what is wrong with the others."""
        found: list[Plugin] = []
        notices: list[FileNotice] = []
        for each in self.installed():
            if not each.enabled:
                continue
            loaded = self._load(each)
            if isinstance(loaded, FileNotice):
                notices.append(loaded)
                continue
            found.append(loaded)
            notices += [FileNotice(file=loaded.root, text=text) for text in loaded.problems]
            if wrong := self.given(loaded).problems:
                text = f"{'; '.join(wrong)}. `assent plugin configure {loaded.name} KEY=VALUE` sets it"
                held = "; its hooks and servers do not run until then" if self.incomplete(loaded) else ""
                notices.append(FileNotice(file=loaded.root, text=f"the plugin {loaded.name}: {text}{held}"))
        return found, notices

    def places(self) -> list[Place]:
        return [place for plugin in self.active()[0] for place in plugin.places]

    def _load(self, installed: Installed) -> Plugin | FileNotice:
        root = self.root(installed)
        stamps = tuple(_stamp(f"{root}/{path}") for path in installed.files)
        known = self._loaded.get(root)
        if known is None or known[0] != stamps:
            known = self._loaded[root] = (stamps, self._checked(installed, root))
        return known[1]

    def _checked(self, installed: Installed, root: str) -> Plugin | FileNotice:
        again = f"`assent plugin update {installed.name}` installs it again"
        if wrong := inventory.tampered(root, installed.files):
            text = f"is not what was installed ({', '.join(wrong[:3])}), so the plugin is not used; {again}"
            return FileNotice(file=root, text=text)
        try:
            return read_plugin(root, entry=installed.entry, called=installed.name)
        except PluginError as error:
            return FileNotice(file=root, text=f"{error}; {again}")

    # --- changes -----------------------------------------------------------------------------------------------------

    def stage(self, text: str, *, cwd: str) -> Staged:
        """Fetch a plugin and say what it brings. Nothing of it counts until it was accepted."""
        return self._stage(sources.parse(self._addressed(text), cwd=cwd), self._addressed(text))

    def _addressed(self, text: str) -> str:
        """NAME@MARKETPLACE with the address of a marketplace that the user's settings name."""
        pick, at, name = text.rpartition("@")
        said = _object(self._said().get("marketplaces")).get(name) if at else None
        if isinstance(said, dict):
            entry = cast("Json", said)
            said = sources.address(_object(entry.get("source")) or entry, name)
        return f"{pick}@{said}" if isinstance(said, str) and said else text

    def stage_update(self, name: str) -> Staged:
        """Fetch an installed plugin anew from where it came, with what would change."""
        installed = self._find(name)
        return self._stage(sources.parse(installed.source, cwd="/"), installed.source, update=installed)

    def _stage(self, source: PluginSource, text: str, update: Installed | None = None) -> Staged:
        target = self._folder / "copies" / new_id()
        where = text if source.is_git else str(source)
        fetched: Fetched | None = None
        with tempfile.TemporaryDirectory(prefix="assent-plugin-") as scratch:
            try:
                fetched = sources.fetch(source, Path(scratch))
                market = {"market_file": fetched.market_file, "market_key": fetched.market_key}
                own_name = read_plugin(fetched.root, entry=fetched.entry, **market).name
                name = update.name if update else self._free_name(own_name, where)
                private_folder(target)
                files = inventory.copy(fetched.root, target)
                plugin = read_plugin(str(target), entry=fetched.entry, called=name)
            except PluginError as error:
                shutil.rmtree(target, ignore_errors=True)
                raise PluginError(_by_address(str(error), source, scratch, fetched)) from None
        old = update or next((each for each in self.installed() if each.name == name), None)
        changes = inventory.differences(self.root(old), str(target)) if old and Path(self.root(old)).is_dir() else []
        entry = {"name": own_name, **(fetched.entry or {})}
        return Staged(
            plugin=plugin, source=where, files=files, entry=entry, folder=target, changes=changes, replaces=old
        )

    def _free_name(self, name: str, source: str) -> str:
        """The name to install it under: its own, or a longer one where a plugin from elsewhere has that."""
        known = {each.name: each for each in self.installed()}
        wanted, number = name, 2
        while wanted in known and known[wanted].source != source:
            wanted, number = f"{name}-{number}", number + 1
        return wanted

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


def _by_address(text: str, source: PluginSource, scratch: str, fetched: Fetched | None) -> str:
    """A message about a file of a clone, which nobody can open afterwards, names the repository instead."""
    if fetched is not None and fetched.url:
        text = text.replace(f"{scratch}/entry/clone", fetched.url)
    return text.replace(f"{scratch}/clone", source.location)


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


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


def _stamp(path: str) -> tuple[int, ...]:
    """A file with other contents has another one: nobody can set its `ctime`."""
    try:
        status = os.stat(path)  # noqa: PTH116 -- every file of every plugin, at each load
    except OSError:
        return ()
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
