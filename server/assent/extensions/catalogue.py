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

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from assent.extensions import agent_files, agents, output_styles
from assent.extensions.agents import AgentDefinition
from assent.extensions.definitions import FileNotice, MarkdownFile, Origin, Scope, Shelf, Stamp
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
from assent.extensions.prompt_files import PromptFile, command_of, named_scripts, skill_of

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
    """The user's word on a folder. It does not change: another word is another object, and equal ones say the same."""

    @property
    def trusted(self) -> bool: ...
    def approves(self, activation: Activation, /) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    commands: tuple[PromptFile, ...] = ()
    skills: tuple[PromptFile, ...] = ()
    agents: tuple[AgentDefinition, ...] = agents.BUILT_IN
    styles: tuple[OutputStyle, ...] = output_styles.BUILT_IN
    notices: tuple[FileNotice, ...] = ()
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


class _Seen(NamedTuple):
    """One file of one place, as it was when it was looked at."""

    place: Place
    path: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class _Known:
    """A catalogue and everything it was made of."""

    catalogue: Catalogue
    seen: list[_Seen]
    notices: list[FileNotice]
    trust: Trust


class Catalogues:
    """Catalogues by folder. `reserved` are the names of built-in commands, which nothing replaces."""

    def __init__(
        self,
        around: Surroundings,
        *,
        plugins: Callable[[], Sequence[Place]] = lambda: (),
        reserved: Iterable[str] = (),
    ) -> None:
        self._around = around
        self._plugins = plugins
        self._reserved = frozenset(reserved)
        self._shelf = Shelf()
        self._made: dict[tuple[str, Origin], tuple[Stamp, Definition | None, list[FileNotice]]] = {}
        self._known: dict[tuple[str, ...], _Known] = {}  # by folder, and the folders of skills below it that count
        self._lock = threading.Lock()

    def load(self, cwd: str, trust: Trust, *, nested: str = "") -> Catalogue:
        """As the files are now: the very same object while nothing changed. With `nested`, also the folders of skills
        between the working directory and there."""
        with self._lock:
            beside = _nested_places(cwd, nested)
            places = [*user_places(self._around), *project_places(cwd, self._around.home), *self._plugins(), *beside]
            notices: list[FileNotice] = []
            seen = list(self._look(places, notices))
            key = (cwd, *(place.folder for place in beside))
            known = self._known.get(key)
            if known is None or (known.seen, known.notices, known.trust) != (seen, notices, trust):
                catalogue = self._read(seen, list(notices), trust)
                known = self._known[key] = _Known(catalogue, seen, notices, trust)
            return known.catalogue

    def _look(self, places: Sequence[Place], notices: list[FileNotice]) -> Iterator[_Seen]:
        for place in places:
            wrong: list[FileNotice] = []
            for path in skill_files(place, wrong) if place.kind == "skills" else markdown_files(place, wrong):
                stamp = self._shelf.stamp(path)
                if isinstance(stamp, FileNotice):
                    wrong.append(stamp)
                elif stamp is not None:
                    yield _Seen(place, path, stamp)
            notices += _of_kind(place, wrong)

    def _read(self, looked: Sequence[_Seen], notices: list[FileNotice], trust: Trust) -> Catalogue:
        found: dict[str, list[Any]] = {"commands": [], "skills": [], "agents": [], "output-styles": []}
        seen: set[tuple[int, int]] = set()
        for each in looked:
            place, file = each.place, self._shelf.read(each.path, each.stamp)
            if isinstance(file, FileNotice):
                notices += _of_kind(place, [file])
            elif file.identity not in seen:
                seen.add(file.identity)
                origin = Origin(
                    scope=place.scope, file=each.path, folder=place.folder, plugin=place.plugin, nested=place.nested
                )
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

    def _definition(
        self, place: Place, file: MarkdownFile, origin: Origin, notices: list[FileNotice]
    ) -> Definition | None:
        key = (file.path, origin)
        made = self._made.get(key)
        if made is None or made[0] != file.stamp:
            definition, wrong = _READERS[place.kind](file, origin)
            if definition is not None and place.plugin:
                definition = replace(definition, name=":".join((place.plugin, *_below(place, file), definition.name)))
            if isinstance(definition, PromptFile) and definition.kind == "skill":
                wrong = [*wrong, *_missing_scripts(definition)]
            made = self._made[key] = (file.stamp, definition, _of_kind(place, wrong))
        notices += made[2]
        return made[1]


def _of_kind(place: Place, notices: Iterable[FileNotice]) -> list[FileNotice]:
    return [replace(notice, kind=place.kind) for notice in notices]


def _below(place: Place, file: MarkdownFile) -> Sequence[str]:
    """The folders of a plugin's agents that an agent lies in: they are part of its name."""
    if place.kind != "agents" or not file.path.startswith(f"{place.folder}/"):
        return ()
    return file.path[len(place.folder) + 1 :].split("/")[:-1]


def _missing_scripts(skill: PromptFile) -> list[FileNotice]:
    """What a skill names and does not have: better told before the model looks for it."""
    return [
        FileNotice(
            file=skill.origin.file, line=line, text=f"names {path}, which is not there; the skill works without it"
        )
        for path, line in named_scripts(skill)
        if not os.path.lexists(f"{skill.folder}/{path}")
    ]


_READERS: dict[str, Callable[[MarkdownFile, Origin], tuple[Definition | None, list[FileNotice]]]] = {
    "commands": command_of,
    "skills": skill_of,
    "agents": agent_files.agent_of,
    "output-styles": output_styles.style_of,
}
_SKILL_ORDER: tuple[Scope, ...] = ("built-in", "user", "project", "plugin")


def _judged(definition: D, trust: Trust, activations: dict[Activation, None]) -> D:
    """The definition as it may be used: what a project brings counts only as far as the user approved it.

    Nobody could be shown what lies further down: as with instructions there, trust in the project covers what only
    says something, and nothing else.
    """
    origin = definition.origin
    if origin.scope != "project":
        return definition
    says = Activation(kind="definitions", name=origin.folder, value="offers what it defines", file=origin.folder)
    if not origin.nested:
        activations[says] = None
    if not trust.trusted or not (origin.nested or trust.approves(says)):
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
        Place(kind="skills", folder=f"{folder}/{name}", scope="project", bound=cwd, nested=True)
        for folder in reversed(folders)
        for name in IN_PROJECT["skills"]
        if os.path.isdir(f"{folder}/{name}")  # noqa: PTH112 -- asked for every folder above a touched file
    ]
