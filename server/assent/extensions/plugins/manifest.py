"""What a plugin's folder holds: its manifest, in the layouts that there are, and the parts it names.

    .claude-plugin/plugin.json    Claude; also .plugin/, .codex-plugin/ and .eca-plugin/
    plugin.json                   Agent Plugins 1.0: only skills/ and mcp.json
    neither                       the folder's name, and whatever stands in the usual folders

Every path a manifest names must stay inside the folder; one that does not makes the plugin unusable, since whoever
wrote it wanted something else. Reads; runs nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from assent.extensions.places import Kind, Place
from assent.types.blocks import Json
from assent.types.errors import AssentError
from assent.types.regular_files import read_regular

LARGEST = 1_000_000
LAYOUTS = (".claude-plugin", ".plugin", ".codex-plugin", ".eca-plugin")
AGENT_PLUGINS = "https://agent-plugins.org/schemas/"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_DEFAULTS: dict[Kind, str] = {
    "commands": "commands",
    "skills": "skills",
    "agents": "agents",
    "output-styles": "output-styles",
}
_KEYS: dict[Kind, str] = {
    "commands": "commands",
    "skills": "skills",
    "agents": "agents",
    "output-styles": "outputStyles",
}


class PluginError(AssentError):
    """A plugin that cannot be used, in words that name the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One plugin as its folder says it. `servers` and `hooks` still hold variables such as ${CLAUDE_PLUGIN_ROOT}."""

    name: str
    root: str
    layout: Literal["claude", "agent-plugins", "plain"]
    version: str = ""
    description: str = ""
    author: str = ""
    default_enabled: bool = True
    places: tuple[Place, ...] = ()
    hooks: Json = field(default_factory=dict[str, Any])
    hooks_file: str = ""
    servers: Json = field(default_factory=dict[str, Any])

    def variables(self, data: str) -> Mapping[str, str]:
        """What its commands, hooks and servers may refer to. `data` is a folder of its own that outlives updates."""
        return {
            "CLAUDE_PLUGIN_ROOT": self.root,
            "ASSENT_PLUGIN_ROOT": self.root,
            "PLUGIN_ROOT": self.root,
            "CLAUDE_PLUGIN_DATA": data,
            "ASSENT_PLUGIN_DATA": data,
            "PLUGIN_DATA": data,
        }


def read_plugin(root: str, *, entry: Json | None = None) -> Plugin:
    """The plugin of a folder. `entry` is what a marketplace says of it; a manifest of its own wins over that."""
    folder = Path(root)
    if not folder.is_dir():
        raise PluginError(f"{root} is not a folder")
    manifest, layout, file = _manifest(folder)
    said: Json = {**(entry or {}), **manifest}
    name = str(said.get("name") or folder.name)
    if not _NAME.fullmatch(name):
        raise PluginError(f"{file or root}: {name!r} cannot be the name of a plugin")
    author = said.get("author")
    base = Plugin(
        name=name,
        root=root,
        layout=layout,
        version=str(said.get("version") or ""),
        description=" ".join(str(said.get("description") or "").split()),
        author=str(cast("Json", author).get("name", "")) if isinstance(author, dict) else str(author or ""),
        default_enabled=said.get("defaultEnabled") is not False,
    )
    if layout == "agent-plugins":
        return replace(base, places=_places(base, {}, only=("skills",)), servers=_servers(base, None, "mcp.json", file))
    hooks, hooks_file = _inline_or_file(base, said.get("hooks"), "hooks/hooks.json", file)
    named = _object(hooks.get("hooks")) or hooks
    return replace(
        base,
        places=_places(base, said),
        hooks={
            event: _groups(cast("object", entries)) for event, entries in named.items() if isinstance(entries, list)
        },
        hooks_file=hooks_file,
        servers=_servers(base, said.get("mcpServers"), ".mcp.json", file),
    )


def inside(root: str, path: str, *, file: str = "") -> str:
    """A path that a manifest names, made absolute; PluginError when it leads out of the plugin."""
    where = f"{file or root}: "
    if os.path.isabs(path) or ".." in path.split("/") or "\0" in path:  # noqa: PTH117 -- a word of a manifest
        raise PluginError(f"{where}{path!r} leads out of the plugin")
    full = os.path.normpath(f"{root}/{path}")
    real, top = os.path.realpath(full), os.path.realpath(root)
    if real != top and not real.startswith(top + os.sep):
        raise PluginError(f"{where}{path!r} is a link that leads out of the plugin")
    return full


def _manifest(folder: Path) -> tuple[Json, Literal["claude", "agent-plugins", "plain"], str]:
    for name in LAYOUTS:
        file = folder / name / "plugin.json"
        if file.exists():
            inside(str(folder), f"{name}/plugin.json")
            return read_json(file), "claude", str(file)
    file = folder / "plugin.json"
    if file.exists():
        inside(str(folder), "plugin.json")
        manifest = read_json(file)
        if str(manifest.get("$schema", "")).startswith(AGENT_PLUGINS):
            return manifest, "agent-plugins", str(file)
    return {}, "plain", ""


def read_json(file: Path) -> Json:
    """One JSON object of a file that others wrote; PluginError says what is wrong with it."""
    try:
        data = read_regular(file, limit=LARGEST).data
    except OSError as error:
        raise PluginError(f"{file}: it {error.strerror or error}") from None
    try:
        value: Any = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise PluginError(f"{file}:{error.lineno}: it is not valid JSON: {error.msg}") from None
    if not isinstance(value, dict):
        raise PluginError(f"{file}: it must hold one JSON object")
    return cast("Json", value)


def _places(plugin: Plugin, said: Json, only: tuple[Kind, ...] = tuple(_DEFAULTS)) -> tuple[Place, ...]:
    """The folders and files of each kind: what the manifest names replaces the usual folder, but adds skills."""
    found: list[Place] = []
    for kind in only:
        named = said.get(_KEYS[kind])
        paths = [named] if isinstance(named, str) else [str(each) for each in cast("list[object]", named or [])]
        folders = [inside(plugin.root, path) for path in paths]
        if not folders or kind == "skills":
            folders.append(inside(plugin.root, _DEFAULTS[kind]))
        for folder in dict.fromkeys(folders):
            files = (folder,) if folder.endswith(".md") else ()
            if kind == "skills" and Path(folder, "SKILL.md").is_file():
                files = (f"{folder}/SKILL.md",)
            found.append(_place(plugin, kind, folder, files))
    if "skills" in only and Path(plugin.root, "SKILL.md").is_file():
        inside(plugin.root, "SKILL.md")
        found.append(_place(plugin, "skills", plugin.root, (f"{plugin.root}/SKILL.md",)))
    return tuple(found)


def _place(plugin: Plugin, kind: Kind, folder: str, files: tuple[str, ...]) -> Place:
    return Place(kind=kind, folder=folder, scope="plugin", bound=plugin.root, plugin=plugin.name, files=files)


def _inline_or_file(plugin: Plugin, said: object, usual: str, file: str) -> tuple[Json, str]:
    """A part that stands in the manifest itself, or in a file that it names."""
    if isinstance(said, dict):
        return cast("Json", said), file
    path = inside(plugin.root, said if isinstance(said, str) else usual, file=file)
    if isinstance(said, str) or Path(path).exists():
        return read_json(Path(path)), path
    return {}, ""


def _servers(plugin: Plugin, said: object, usual: str, file: str) -> Json:
    servers, _ = _inline_or_file(plugin, said, usual, file)
    inner = _object(servers.get("mcpServers")) or _object(servers.get("servers"))
    return inner or {name: entry for name, entry in servers.items() if isinstance(entry, dict)}


def _groups(entries: object) -> list[Json]:
    return [cast("Json", each) for each in cast("list[object]", entries) if isinstance(each, dict)]


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}
