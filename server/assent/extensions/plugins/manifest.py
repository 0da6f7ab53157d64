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
from assent.extensions.plugins import agent_plugins
from assent.extensions.plugins.hook_files import read_hooks
from assent.extensions.plugins.options import PluginOption, read_options
from assent.text.json_lines import key_lines
from assent.types.blocks import Json
from assent.types.errors import AssentError
from assent.types.regular_files import read_regular

LARGEST = 1_000_000
LAYOUTS = (".claude-plugin", ".plugin", ".codex-plugin", ".eca-plugin")
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


_IGNORED = {
    "lspServers": "your editor starts language servers; Assent asks that one",
    "workflows": "there are none here",
    "channels": "there are none here",
    "dependencies": "install the plugins that it names yourself",
    "experimental": "themes and monitors are not supported",
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
    hook_lines: Mapping[str, int] = field(default_factory=dict[str, int])  # `Stop[0]` → its line in that file
    servers: Json = field(default_factory=dict[str, Any])
    options: tuple[PluginOption, ...] = ()  # what it asks its user for
    problems: tuple[str, ...] = ()  # what is odd about its manifest
    ignored: tuple[str, ...] = ()  # what other programs use of it and Assent does not

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the manifest says, and a marketplace where the manifest does not, with the place of each field."""

    values: Json
    own: Json  # the manifest alone
    file: str  # the manifest, or the folder that has none
    market_file: str = ""
    market_key: str = ""  # of the entry in the marketplace, as `plugins[2]`

    def place(self, key: str) -> str:
        """File, line and name of a field, as a message begins; a path in a list is `commands[1]`."""
        field_name = key.partition("[")[0]
        if field_name in self.own or not self.market_file:
            return f"{at(self.file, key, field_name)}: {field_name}"
        return f"{at(self.market_file, f'{self.market_key}.{key}')}: {self.market_key}.{field_name}"


def read_plugin(
    root: str, *, entry: Json | None = None, called: str = "", market_file: str = "", market_key: str = ""
) -> Plugin:
    """The plugin of a folder. `entry` is what a marketplace says of it; a manifest of its own wins over that. `called`
    is the name it was installed under, where another plugin had its own."""
    folder = Path(root)
    if not folder.is_dir():
        raise PluginError(f"{root} is not a folder")
    manifest, layout, file = _manifest(folder)
    fields = Said(
        values={**(entry or {}), **manifest},
        own=manifest,
        file=file or root,
        market_file=market_file,
        market_key=market_key,
    )
    said = fields.values
    name = called or str(said.get("name") or folder.name)
    if not _NAME.fullmatch(name):
        where = fields.place("name") if said.get("name") else root
        raise PluginError(f"{where}: {name!r} cannot be the name of a plugin")
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
    options, wrong = read_options(said.get("userConfig"))
    base = replace(base, options=options, problems=tuple(f"{file or root}: {each}" for each in wrong))
    if layout == "agent-plugins":
        return _agent_plugin(base, fields)
    hooks, hooks_file = _inline_or_file(base, fields, "hooks", "hooks/hooks.json")
    usable = read_hooks(hooks, hooks_file)
    return replace(
        base,
        places=_places(base, fields),
        hooks=usable.hooks,
        hooks_file=hooks_file,
        hook_lines=usable.lines,
        problems=(*base.problems, *usable.problems),
        ignored=(*_ignored(base, fields), *usable.ignored),
        servers=_servers(base, fields, ".mcp.json"),
    )


def _ignored(plugin: Plugin, said: Said) -> tuple[str, ...]:
    found = [f"{said.place(key)} is ignored: {why}" for key, why in _IGNORED.items() if said.values.get(key)]
    if Path(plugin.root, ".lsp.json").exists():
        found.append(f"{plugin.root}/.lsp.json is ignored: {_IGNORED['lspServers']}")
    return tuple(found)


def _agent_plugin(base: Plugin, said: Said) -> Plugin:
    if problem := agent_plugins.fatal_problem(said.own):
        raise PluginError(f"{said.file}: {problem}")
    odd = agent_plugins.unknown_keys(said.own)
    problems = [f"{at(said.file, key)}: {key} is not a key of Agent Plugins 1.0 and means nothing" for key in odd]
    only_skills = replace(said, values={})
    servers: Json = {}
    for name, entry in _servers(base, only_skills, "mcp.json").items():
        if problem := agent_plugins.server_problem(entry):
            where = at(f"{base.root}/mcp.json", f"mcpServers.{name}", f"servers.{name}", name)
            problems.append(f"{where}: the server {name} is left out: {problem}")
        else:
            servers[name] = agent_plugins.rooted(cast("Json", entry))
    return replace(
        base,
        places=_places(base, only_skills, only=("skills",)),
        servers=servers,
        problems=(*base.problems, *problems),
    )


def at(file: str, *keys: str) -> str:
    """The file, with the line of the first of these keys that it has."""
    try:
        lines = key_lines(read_regular(Path(file), limit=LARGEST).data)
    except OSError:
        return file
    line = next((lines[key] for key in keys if key in lines), 0)
    return f"{file}:{line}" if line else file


def inside(root: str, path: str, *, said: str = "") -> str:
    """A path below a folder, made absolute; PluginError when it leads out. `said` is the place that names it."""
    where = f"{said}: {path!r}" if said else f"{root}/{path}"
    if os.path.isabs(path) or ".." in path.split("/") or "\0" in path:  # noqa: PTH117 -- a word of a manifest
        raise PluginError(f"{where} leads out of the plugin")
    full = os.path.normpath(f"{root}/{path}")
    real, top = os.path.realpath(full), os.path.realpath(root)
    if real != top and not real.startswith(top + os.sep):
        raise PluginError(f"{where} is a link that leads out of the plugin")
    return full


def _named_path(root: str, path: str, said: str) -> str:
    """A path that a manifest names; links to folders are not copied when a plugin is installed, so it has none."""
    full = inside(root, path, said=said)
    parts = os.path.relpath(full, root).split("/")
    if any(_links_to_folder(f"{root}/{'/'.join(parts[:end])}") for end in range(1, len(parts) + 1)):
        raise PluginError(f"{said}: {path!r} goes through a link; a plugin may not hold links to folders")
    return full


def _links_to_folder(path: str) -> bool:
    return Path(path).is_symlink() and Path(path).is_dir()


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
        if str(manifest.get("$schema", "")).startswith(agent_plugins.SCHEMAS):
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


def _places(plugin: Plugin, said: Said, only: tuple[Kind, ...] = tuple(_DEFAULTS)) -> tuple[Place, ...]:
    """The folders and files of each kind: what the manifest names replaces the usual folder, but adds skills."""
    found: list[Place] = []
    for kind in only:
        folders = _named_paths(plugin.root, said, _KEYS[kind])
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


def _named_paths(root: str, said: Said, key: str) -> list[str]:
    named: object = said.values.get(key)
    if isinstance(named, str):
        return [_named_path(root, named, said.place(key))]
    listed = cast("list[object]", named) if isinstance(named, list) else []
    if named is not None and (not isinstance(named, list) or not all(isinstance(each, str) for each in listed)):
        raise PluginError(f"{said.place(key)} must be a path or a list of paths")
    return [_named_path(root, str(path), said.place(f"{key}[{index}]")) for index, path in enumerate(listed)]


def _place(plugin: Plugin, kind: Kind, folder: str, files: tuple[str, ...]) -> Place:
    return Place(kind=kind, folder=folder, scope="plugin", bound=plugin.root, plugin=plugin.name, files=files)


def _inline_or_file(plugin: Plugin, said: Said, key: str, usual: str) -> tuple[Json, str]:
    """A part that stands in the manifest itself, or in a file that it names."""
    value: object = said.values.get(key)
    if isinstance(value, dict):
        return cast("Json", value), said.file
    if isinstance(value, str):
        path = _named_path(plugin.root, value, said.place(key))
        return read_json(Path(path)), path
    path = inside(plugin.root, usual)
    return (read_json(Path(path)), path) if Path(path).exists() else ({}, "")


def _servers(plugin: Plugin, said: Said, usual: str) -> Json:
    servers, _ = _inline_or_file(plugin, said, "mcpServers", usual)
    inner = _object(servers.get("mcpServers")) or _object(servers.get("servers"))
    return inner or {name: entry for name, entry in servers.items() if isinstance(entry, dict)}


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}
