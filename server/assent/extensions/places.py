"""Which folders hold commands, skills, agents and output styles: ours first, then those of other tools.

A project's folders are looked for from the working directory up to the root of its repository, the nearest first.
Knows nothing of what is in the files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assent.extensions.definitions import FileNotice, Scope

Kind = Literal["commands", "skills", "agents", "output-styles"]
KINDS: tuple[Kind, ...] = ("commands", "skills", "agents", "output-styles")

IN_PROJECT: dict[Kind, tuple[str, ...]] = {
    "commands": (".assent/commands", ".claude/commands", ".github/prompts", ".opencode/commands", ".opencode/command"),
    "skills": (".assent/skills", ".claude/skills", ".agents/skills", ".github/skills", ".opencode/skills"),
    "agents": (".assent/agents", ".claude/agents", ".github/agents"),
    "output-styles": (".assent/output-styles", ".claude/output-styles"),
}
IN_HOME: dict[Kind, tuple[str, ...]] = {
    "commands": (".claude/commands", ".config/opencode/commands", ".config/opencode/command"),
    "skills": (".claude/skills", ".agents/skills", ".copilot/skills", ".config/opencode/skills"),
    "agents": (".claude/agents", ".copilot/agents"),
    "output-styles": (".claude/output-styles",),
}
DEEPEST = 5  # folders within a folder of definitions
MOST = 1_000  # files of one folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One folder of definitions. What a project's or a plugin's folder links to must lie inside `bound`."""

    kind: Kind
    folder: str
    scope: Scope
    bound: str = ""
    plugin: str = ""
    files: tuple[str, ...] = ()  # exactly these, instead of what the folder holds
    nested: bool = False  # below the folder that was opened


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where to look. `claude_home` is ~/.claude, which CLAUDE_CONFIG_DIR moves."""

    home: str
    config: str

    @property
    def claude_home(self) -> str:
        return moved_claude_home() or f"{self.home}/.claude"


def moved_claude_home() -> str:
    """Where CLAUDE_CONFIG_DIR moves ~/.claude; a relative path would be a folder of whoever prepared the project."""
    moved = os.environ.get("CLAUDE_CONFIG_DIR", "")
    return moved if moved.startswith("/") else ""


def of_project(file: str, cwd: str) -> bool:
    """Whether a file belongs to the project around a folder, and not to the user: it lies beside or below a folder on
    the way up, as far as that does not hold the home."""
    home = Path.home()
    for folder in (Path(cwd), *Path(cwd).parents):
        if home.is_relative_to(folder):
            return False
        if Path(file).is_relative_to(folder):
            return True
    return False


def user_places(around: Surroundings) -> list[Place]:
    found: list[Place] = []
    for kind in KINDS:
        folders = [f"{around.config}/{kind}"]
        for name in IN_HOME[kind]:
            inside = name.removeprefix(".claude/")
            folders.append(f"{around.claude_home}/{inside}" if inside != name else f"{around.home}/{name}")
        found += [Place(kind=kind, folder=folder, scope="user") for folder in folders]
    return found


def project_places(cwd: str, home: str) -> list[Place]:
    """Those of the nearest folder first. The home folder itself is the user's, not a project."""
    folders = project_folders(cwd, home)
    bound = folders[-1] if folders else cwd
    return [
        Place(kind=kind, folder=f"{folder}/{name}", scope="project", bound=bound)
        for kind in KINDS
        for folder in folders
        for name in IN_PROJECT[kind]
    ]


def project_folders(cwd: str, home: str) -> list[str]:
    """From the working directory up to the root of its repository; only the working directory outside of one."""
    if cwd == home:
        return []
    found: list[str] = []
    for folder in (cwd, *map(str, Path(cwd).parents)):
        if folder in (home, "/"):
            break
        found.append(folder)
        if os.path.exists(f"{folder}/.git"):  # noqa: PTH110 -- asked at every load
            return found
    return [cwd]


def markdown_files(place: Place, notices: list[FileNotice]) -> Iterator[str]:
    """Every `.md` file of the folder and of its folders; what leads out of the bound is told and left out."""
    if place.files:
        yield from place.files
        return
    if not _folder_inside(place, notices):
        return
    waiting, count = [(place.folder, 0)], 0
    while waiting:
        folder, depth = waiting.pop()
        for entry in _entries(folder):
            if entry.name.startswith("."):
                continue
            if not _inside(entry, place, notices):
                continue
            try:
                is_folder = entry.is_dir()
            except OSError:
                continue
            if is_folder:
                if depth < DEEPEST and not entry.is_symlink():
                    waiting.append((entry.path, depth + 1))
            elif entry.name.endswith(".md"):
                count += 1
                if count > MOST:
                    notices.append(
                        FileNotice(file=place.folder, text=f"holds more than {MOST} files; the rest is left out")
                    )
                    return
                yield entry.path


def skill_files(place: Place, notices: list[FileNotice]) -> Iterator[str]:
    """The `SKILL.md` of each child of the folder."""
    if place.files:
        yield from place.files
        return
    if not _folder_inside(place, notices):
        return
    for count, entry in enumerate(_entries(place.folder)):
        if count >= MOST:
            notices.append(FileNotice(file=place.folder, text=f"holds more than {MOST} skills; the rest is left out"))
            return
        if not entry.name.startswith(".") and _inside(entry, place, notices):
            yield f"{entry.path}/SKILL.md"


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def _folder_inside(place: Place, notices: list[FileNotice]) -> bool:
    """Whether the folder is there, and really where it seems to be."""
    if not os.path.isdir(place.folder):  # noqa: PTH112 -- asked for every place at every load
        return False
    real, bound = os.path.realpath(place.folder), os.path.realpath(place.bound)
    if not place.bound or real == bound or real.startswith(bound + "/"):
        return True
    notices.append(FileNotice(file=place.folder, text=f"is a link that leads out of {place.bound}; it is not used"))
    return False


def _inside(entry: os.DirEntry[str], place: Place, notices: list[FileNotice]) -> bool:
    if not place.bound or not entry.is_symlink():
        return True
    real = os.path.realpath(entry.path)
    bound = os.path.realpath(place.bound)
    if real == bound or real.startswith(bound + "/"):
        return True
    notices.append(FileNotice(file=entry.path, text=f"is a link that leads out of {place.bound}; it is not used"))
    return False
