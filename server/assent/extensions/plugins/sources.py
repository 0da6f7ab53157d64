"""Where plugins come from: a folder, a git repository by URL, or an entry of a marketplace in either of them.

    ./folder   /absolute/folder   https://host/repo.git   git@host:repo   file:///repo.git   owner/repo (GitHub)
    …#ref names a branch, tag or commit; NAME@SOURCE picks a plugin of the marketplace at SOURCE

Fetching runs git without hooks, helpers, submodules or a terminal, only when the user asked for it.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from assent.extensions.plugins.manifest import PluginError, at, inside, read_json
from assent.types.blocks import Json
from assent.types.programs import NEUTRAL, find_program

SECONDS = 120
MARKETPLACE = ".claude-plugin/marketplace.json"
_URL = re.compile(r"(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:(?!//)\S+")
_GITHUB = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_REF = re.compile(r"[A-Za-z0-9][\w./-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSource:
    """One place to fetch from. `pick` names a plugin of the marketplace there."""

    location: str  # a folder or a URL
    is_git: bool
    ref: str = ""
    subfolder: str = ""
    pick: str = ""

    def __str__(self) -> str:
        tail = f"#{self.ref}" if self.ref else ""
        head = f"{self.pick}@" if self.pick else ""
        return f"{head}{self.location}{tail}" + (f" ({self.subfolder})" if self.subfolder else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A folder that holds exactly one plugin, and what a marketplace says of it."""

    root: str
    entry: Json | None = None
    market_file: str = ""
    market_key: str = ""  # of the entry in that file
    url: str = ""  # of the repository that the marketplace names for it


def parse(text: str, *, cwd: str) -> PluginSource:
    pick, at, rest = text.partition("@")
    if at and re.fullmatch(r"[\w.-]+", pick) and not _URL.fullmatch(text.partition("#")[0]):
        text = rest
    else:
        pick = ""
    location, _, ref = text.partition("#")
    if ref and not _REF.fullmatch(ref):
        raise PluginError(f"{ref!r} is not the name of a branch, tag or commit")
    path = Path(location).expanduser()
    if (path if path.is_absolute() else Path(cwd, path)).is_dir() and not ref:
        return PluginSource(
            location=str(path if path.is_absolute() else Path(cwd, path).resolve()), is_git=False, pick=pick
        )
    if _URL.fullmatch(location):
        return PluginSource(location=location, is_git=True, ref=ref, pick=pick)
    if _GITHUB.fullmatch(location):
        return PluginSource(location=f"https://github.com/{location}.git", is_git=True, ref=ref, pick=pick)
    raise PluginError(f"{location!r} is neither a folder nor the address of a git repository")


def fetch(source: PluginSource, scratch: Path) -> Fetched:
    """Bring the plugin into reach: its own folder, or a clone below `scratch`."""
    root = clone(source, scratch) if source.is_git else source.location
    if source.subfolder:
        root = inside(root, source.subfolder)
    market = Path(root, MARKETPLACE)
    if not market.is_file():
        if source.pick:
            raise PluginError(f"{source.location} is not a marketplace: it has no {MARKETPLACE}")
        return Fetched(root=root)
    entries = marketplace(root)
    if not source.pick:
        if len(entries) == 1:
            return _picked(entries[0], root, scratch)
        names = ", ".join(str(entry["name"]) for entry in entries)
        raise PluginError(
            f"{source.location} is a marketplace of {len(entries)} plugins; add NAME@{source.location}: {names}"
        )
    for entry in entries:
        if entry["name"] == source.pick:
            return _picked(entry, root, scratch)
    names = ", ".join(str(entry["name"]) for entry in entries)
    raise PluginError(f"{source.location} has no plugin {source.pick!r}. It has: {names}")


def address(said: Json, name: str) -> str:
    """Where a marketplace is that settings describe as `{source, repo|url|path, ref?}`."""
    ref = f"#{said['ref']}" if said.get("ref") else ""
    match said.get("source"):
        case "github":
            return f"https://github.com/{said.get('repo')}.git{ref}"
        case "git" | "url":
            return f"{said.get('url')}{ref}"
        case "directory" | "file":
            return str(said.get("path"))
        case kind:
            raise PluginError(f"the marketplace {name} comes from {kind!r}; only folders and git are supported")


def marketplace(root: str) -> list[Json]:
    """The plugins that a marketplace lists; entries without a name or a source are left out."""
    said = read_json(Path(inside(root, MARKETPLACE)))
    base = cast("Json", said["metadata"]).get("pluginRoot", "") if isinstance(said.get("metadata"), dict) else ""
    found: list[Json] = []
    listed = said.get("plugins")
    if not isinstance(listed, list):
        raise PluginError(f"{at(f'{root}/{MARKETPLACE}', 'plugins')}: plugins must be a list")
    for index, entry in enumerate(cast("list[object]", listed)):
        if isinstance(entry, dict) and cast("Json", entry).get("name") and cast("Json", entry).get("source"):
            found.append({**cast("Json", entry), "pluginRoot": base, "key": f"plugins[{index}]"})
    return found


def clone(source: PluginSource, scratch: Path) -> str:
    git = find_program("git")
    if git is None:
        raise PluginError("git is not installed, and the plugin is in a git repository")
    target = scratch / "clone"
    words = [git, "-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "-c", "credential.helper="]
    words += ["-c", "core.fsmonitor=false", "-c", "core.symlinks=true", "clone", "--quiet", "--no-recurse-submodules"]
    if source.ref and re.fullmatch(r"[0-9a-f]{7,40}", source.ref):
        _git([*words, "--", source.location, str(target)])
        _git([git, "-C", str(target), "-c", "core.hooksPath=/dev/null", "checkout", "--quiet", source.ref])
    else:
        branch = ["--branch", source.ref] if source.ref else []
        _git([*words, "--depth", "1", *branch, "--", source.location, str(target)])
    return str(target)


def _git(words: list[str]) -> None:
    kept = {
        name: os.environ[name]
        for name in ("PATH", "HOME", "SSH_AUTH_SOCK", "LANG", "https_proxy")
        if name in os.environ
    }
    environment = {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "false", "GIT_TEMPLATE_DIR": ""}
    try:
        done = subprocess.run(
            words, cwd=NEUTRAL, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        raise PluginError(f"git did not finish within {SECONDS} s") from None
    except OSError as error:
        raise PluginError(f"git could not be started: {error.strerror}") from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise PluginError(f"git failed: {lines[-1] if lines else done.returncode}")


def _picked(entry: Json, root: str, scratch: Path) -> Fetched:
    """The folder of one entry of a marketplace."""
    where, name, key, file = entry["source"], entry["name"], str(entry["key"]), f"{root}/{MARKETPLACE}"
    if isinstance(where, str):
        base = str(entry.get("pluginRoot") or "")
        path = where if where.startswith("./") or not base else f"{base}/{where}"
        folder = inside(root, path, said=_place(file, f"{key}.source"))
        return Fetched(root=folder, entry=_own(entry), market_file=file, market_key=key)
    said = cast("Json", where) if isinstance(where, dict) else {}
    kind = said.get("source")
    ref = str(said.get("sha") or said.get("ref") or "")
    if ref and not _REF.fullmatch(ref):
        which = "sha" if said.get("sha") else "ref"
        raise PluginError(f"{_place(file, f'{key}.source.{which}')}: {ref!r} is no branch, tag or commit")
    match kind:
        case "github":
            url, subfolder = f"https://github.com/{said.get('repo')}.git", ""
        case "url":
            url, subfolder = str(said.get("url")), ""
        case "git-subdir":
            url, subfolder = str(said.get("url")), str(said.get("path") or "")
        case _:
            raise PluginError(
                f"{at(file, f'{key}.source')}: {name} comes from {kind!r}; only folders and git repositories are "
                "supported. Fetch it yourself and add its folder: `assent plugin add FOLDER`"
            )
    if not _URL.fullmatch(url):
        named = "repo" if kind == "github" else "url"
        raise PluginError(f"{_place(file, f'{key}.source.{named}')}: {url!r} is not the address of a repository")
    inner = scratch / "entry"
    inner.mkdir()
    cloned = clone(PluginSource(location=url, is_git=True, ref=ref), inner)
    folder = inside(cloned, subfolder, said=_place(file, f"{key}.source.path")) if subfolder else cloned
    return Fetched(root=folder, entry=_own(entry), market_file=file, market_key=key, url=url)


def _place(file: str, key: str) -> str:
    return f"{at(file, key)}: {key}"


def _own(entry: Json) -> Json:
    return {key: value for key, value in entry.items() if key not in ("source", "pluginRoot", "key")}
