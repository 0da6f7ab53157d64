"""What a plugin brings, by name: `command tools:x`, `hook Stop`, `server db`."""

from assent.extensions.catalogue import Catalogues
from assent.extensions.places import Surroundings
from assent.extensions.plugins.manifest import Plugin

NOWHERE = "/nonexistent"


class _Nobody:
    trusted = False

    def approves(self, activation: object, /) -> bool:
        return False


def parts_of(plugin: Plugin) -> list[str]:
    catalogues = Catalogues(Surroundings(NOWHERE, NOWHERE), plugins=lambda: plugin.places)
    found = catalogues.load(NOWHERE, _Nobody())
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
