"""Everything that is defined in files for one folder: commands, skills, agents, output styles, with their sources.

Two definitions of one name are both there: the one that comes first keeps the name, the other one is called
`project:name` or `user:name`. The order is

    agents             project (nearest folder first), user, plugin, built-in
    skills, commands   built-in, user, project (nearest folder first), plugin
    output styles      as skills

What a project defines is withheld until the folder is trusted, and what would run or permit something until that very
thing was approved. Reading happens in a thread; unchanged files are not read again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeVar

from assent.extensions import agent_files, agents, output_styles
from assent.extensions.agents import AgentDefinition
from assent.extensions.definitions import MarkdownFile, Notice, Origin, Scope, Shelf
from assent.extensions.output_styles import OutputStyle
from assent.extensions.places import (
    IN_PROJECT,
    Place,
    Surroundings,
    markdown_files,
    project_places,
    skill_files,
    user_places,
)
from assent.extensions.prompt_files import PromptFile, command_of, skill_of

FRESH_SECONDS = 1.0
NOT_TRUSTED = "this folder is not trusted"
NOT_APPROVED = "what it runs or permits was not approved yet"

ActivationKind = Literal["command", "skill", "agent", "definitions"]
Definition = PromptFile | AgentDefinition | OutputStyle
D = TypeVar("D", PromptFile, AgentDefinition, OutputStyle)


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """One thing that trusting a folder would activate. `definitions` stands for all that a folder only says."""

    kind: ActivationKind
    name: str
    value: str
    file: str


class Trust(Protocol):
    """The user's word on a folder."""

    @property
    def trusted(self) -> bool: ...
    def approves(self, activation: Activation, /) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    commands: tuple[PromptFile, ...] = ()
    skills: tuple[PromptFile, ...] = ()
    agents: tuple[AgentDefinition, ...] = agents.BUILT_IN
    styles: tuple[OutputStyle, ...] = output_styles.BUILT_IN
    notices: tuple[Notice, ...] = ()
    activations: tuple[Activation, ...] = ()  # of the project, approved or not

    @property
    def usable_skills(self) -> tuple[PromptFile, ...]:
        return tuple(skill for skill in self.skills if not skill.withheld)

    @property
    def usable_agents(self) -> tuple[AgentDefinition, ...]:
        return tuple(agent for agent in self.agents if not agent.withheld)

    def style(self, name: str) -> OutputStyle | None:
        wanted = name.casefold()
        return next((each for each in self.styles if each.name.casefold() == wanted and not each.withheld), None)


@dataclass(slots=True)
class _Known:
    catalogue: Catalogue
    at: float


class Catalogues:
    """Catalogues by folder. `reserved` are the names of built-in commands, which nothing replaces."""

    def __init__(
        self,
        around: Surroundings,
        *,
        plugins: Callable[[], Sequence[Place]] = lambda: (),
        reserved: Iterable[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._around = around
        self._plugins = plugins
        self._reserved = frozenset(reserved)
        self._clock = clock
        self._shelf = Shelf()
        self._made: dict[tuple[str, Origin], tuple[tuple[int, int], Definition | None, list[Notice]]] = {}
        self._known: dict[tuple[str, str], _Known] = {}
        self._lock = threading.Lock()

    def load(self, cwd: str, trust: Trust, *, nested: str = "") -> Catalogue:
        """As the files are now. With `nested`, also the folders of skills between the working directory and there."""
        with self._lock:
            places = [*user_places(self._around), *project_places(cwd, self._around.home), *self._plugins()]
            places += _nested_places(cwd, nested)
            catalogue = self._read(places, trust)
            self._known[cwd, nested] = _Known(catalogue, self._clock())
            return catalogue

    def latest(self, cwd: str, trust: Trust) -> Catalogue:
        """As they were a moment ago, which costs nothing, or as they are now."""
        known = self._known.get((cwd, ""))
        if known is not None and self._clock() - known.at < FRESH_SECONDS:
            return known.catalogue
        return self.load(cwd, trust)

    def forget(self) -> None:
        """Trust or plugins changed: what was withheld may not be any more."""
        self._known.clear()

    def _read(self, places: Sequence[Place], trust: Trust) -> Catalogue:
        notices: list[Notice] = []
        found: dict[str, list[Any]] = {"commands": [], "skills": [], "agents": [], "output-styles": []}
        seen: set[tuple[int, int]] = set()
        for place in places:
            paths = skill_files(place, notices) if place.kind == "skills" else markdown_files(place, notices)
            for path in paths:
                origin = Origin(scope=place.scope, file=path, folder=place.folder, plugin=place.plugin)
                file = self._shelf.read(path)
                if isinstance(file, Notice):
                    notices.append(file)
                elif file is not None and file.identity not in seen:
                    seen.add(file.identity)
                    definition = self._definition(place, file, origin, notices)
                    found[place.kind] += [definition] if definition is not None else []
        activations: dict[Activation, None] = {}

        def judged(definition: D) -> D:
            return _judged(definition, trust, activations)

        agent_list = [judged(each) for each in found["agents"]]
        skills = [judged(each) for each in found["skills"]]
        commands = [judged(each) for each in found["commands"]]
        styles = [judged(each) for each in found["output-styles"]]
        return Catalogue(
            agents=tuple(_named(agent_list, agents.BUILT_IN, ("project", "user", "plugin", "built-in"))),
            skills=tuple(_named(skills, (), _SKILL_ORDER, reserved=self._reserved)),
            commands=tuple(
                _named(
                    commands, (), _SKILL_ORDER, reserved=self._reserved | {s.name for s in skills if s.user_invocable}
                )
            ),
            styles=tuple(_named(styles, output_styles.BUILT_IN, _SKILL_ORDER)),
            notices=tuple(dict.fromkeys(notices)),
            activations=tuple(activations),
        )

    def _definition(self, place: Place, file: MarkdownFile, origin: Origin, notices: list[Notice]) -> Definition | None:
        key = (file.path, origin)
        made = self._made.get(key)
        if made is None or made[0] != file.stamp:
            definition, wrong = _READERS[place.kind](file, origin)
            if definition is not None and place.plugin:
                definition = replace(definition, name=f"{place.plugin}:{definition.name}")
            made = self._made[key] = (file.stamp, definition, wrong)
        notices += made[2]
        return made[1]


_READERS: dict[str, Callable[[MarkdownFile, Origin], tuple[Definition | None, list[Notice]]]] = {
    "commands": command_of,
    "skills": skill_of,
    "agents": agent_files.agent_of,
    "output-styles": output_styles.style_of,
}
_SKILL_ORDER: tuple[Scope, ...] = ("built-in", "user", "project", "plugin")


def _judged(definition: D, trust: Trust, activations: dict[Activation, None]) -> D:
    """The definition as it may be used: what a project brings counts only as far as the user approved it."""
    origin = definition.origin
    if origin.scope != "project":
        return definition
    says = Activation(kind="definitions", name=origin.folder, value="offers what it defines", file=origin.folder)
    activations[says] = None
    if not trust.trusted or not trust.approves(says):
        withheld = NOT_TRUSTED
    else:
        withheld = ""
    kind: ActivationKind = "agent" if isinstance(definition, AgentDefinition) else "skill"
    if isinstance(definition, PromptFile):
        kind = definition.kind
    if does := _activates(definition):
        activation = Activation(kind=kind, name=definition.name, value=does, file=origin.file)
        activations[activation] = None
        if not withheld and not trust.approves(activation):
            withheld = NOT_APPROVED
    return replace(definition, withheld=withheld) if withheld else definition


def _activates(definition: Definition) -> str:
    match definition:
        case PromptFile():
            return definition.activates
        case AgentDefinition():
            return agent_files.activates(definition)
        case OutputStyle():
            return ""


def _named(
    found: Iterable[D], built_in: Iterable[D], order: Sequence[Scope], *, reserved: Iterable[str] = ()
) -> list[D]:
    """Each under a name of its own: those that come later in the order and find theirs taken get a longer one."""
    taken = set(reserved)
    named: list[D] = []
    for definition in sorted((*built_in, *found), key=lambda each: order.index(each.origin.scope)):
        name, count = definition.name, 1
        while name in taken:
            scope = "own" if definition.origin.scope == "built-in" else definition.origin.scope
            name = f"{scope}:{definition.name}" + (f"-{count}" if count > 1 else "")
            count += 1
        taken.add(name)
        named.append(definition if name == definition.name else replace(definition, name=name))
    return named


def _nested_places(cwd: str, path: str) -> list[Place]:
    """Folders of skills beside a file further down, which count from the moment it is touched."""
    if not path.startswith(f"{cwd}/"):
        return []
    parts = path[len(cwd) + 1 :].split("/")[:-1]
    folders = [f"{cwd}/{'/'.join(parts[: depth + 1])}" for depth in range(len(parts))]
    return [
        Place(kind="skills", folder=f"{folder}/{name}", scope="project", bound=cwd)
        for folder in reversed(folders)
        for name in IN_PROJECT["skills"]
    ]
