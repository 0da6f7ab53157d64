"""What a plugin brings, by name (`command tools:x`, `hook Stop`, `server db`), and what of it would run programs."""

from typing import cast

import orjson

from assent.extensions.catalogue import Catalogue, Catalogues
from assent.extensions.places import Surroundings
from assent.extensions.plugins.manifest import Plugin
from assent.types.blocks import Json

NOWHERE = "/nonexistent"


class _Nobody:
    trusted = False

    def approves(self, activation: object, /) -> bool:
        return False


def programs_of(plugin: Plugin) -> list[str]:
    """What it would run or let run unasked, each with its words: hooks, servers, and what its commands and skills hold
    beyond text."""
    found: list[str] = []
    for event, groups in plugin.hooks.items():
        for group in cast("list[Json]", groups):
            handlers = cast("list[object]", group.get("hooks") or [])
            found += [f"hook on {event}: {_words(handler)}" for handler in handlers]
    found += [f"MCP server {name}: {_words(entry)}" for name, entry in plugin.servers.items()]
    offered = _catalogue(plugin)
    for prompt in (*offered.commands, *offered.skills):
        if prompt.origin.scope == "plugin":
            found += [f"{prompt.kind} {prompt.name} {line}" for line in prompt.activates.splitlines()]
    return found


def _words(entry: object) -> str:
    """All that decides what is started: the program, its arguments and variables, and what supplies headers."""
    if not isinstance(entry, dict):
        return str(entry)
    said = cast("Json", entry)
    words = [str(said.get(key)) for key in ("command", "url", "prompt", "tool") if said.get(key)]
    args = said.get("args")
    words += [str(word) for word in cast("list[object]", args)] if isinstance(args, list) else []
    for key in ("env", "headers", "headersHelper", "cwd"):
        if said.get(key):
            words.append(f"({key}: {orjson.dumps(said[key], option=orjson.OPT_SORT_KEYS).decode()})")
    return " ".join(words) or str(said)


def parts_of(plugin: Plugin) -> list[str]:
    found = _catalogue(plugin)
    agents = [agent for agent in found.agents if agent.origin.scope == "plugin"]
    styles = [style for style in found.styles if style.origin.scope == "plugin"]
    return [
        *(f"command {command.name}" for command in found.commands if command.origin.scope == "plugin"),
        *(f"skill {skill.name}" for skill in found.skills if skill.origin.scope == "plugin"),
        *(f"agent {agent.name}" for agent in agents),
        *(f"style {style.name}" for style in styles),
        *(f"hook {event}" for event in plugin.hooks),
        *(f"server {server}" for server in plugin.servers),
    ]


def problems_of(plugin: Plugin) -> list[str]:
    """What of it is not used, or not as it says, each with the file's path in the plugin and the line."""
    offered = _catalogue(plugin)
    ignored = [notice for agent in offered.agents for notice in agent.ignored]
    found = [*plugin.problems, *plugin.ignored, *map(str, (*offered.notices, *ignored))]
    return [text.removeprefix(f"{plugin.root}/") for text in found]


def _catalogue(plugin: Plugin) -> Catalogue:
    return Catalogues(Surroundings(NOWHERE, NOWHERE), plugins=lambda: plugin.places).load(NOWHERE, _Nobody())
