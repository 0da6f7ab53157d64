"""Which files a search leaves out: .gitignore, .ignore and .rgignore, the way ripgrep reads them.

For one path the nearest file of the strongest kind that says anything decides; git's own count up to the root of their
repository, the others all the way up. Reads the rule files; decides by names alone.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from assent.tools.search.patterns import translate
from assent.types.errors import ToolError
from assent.types.regular_files import RefusedFile, read_regular_text, refuse_kind

_OF_GIT = (".gitignore", ".git/info/exclude")
KINDS = (".rgignore", ".ignore", *_OF_GIT)  # the strongest first
_LARGEST = 1024 * 1024
_LONGEST = 4096  # characters of a rule: no path is longer
_MOST = 5000  # lines of a file


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoreRule:
    pattern: re.Pattern[str]  # fullmatches a path relative to the rule file's folder
    include: bool
    folders_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """One folder's rule files, and the folder above."""

    path: str
    rules: tuple[tuple[IgnoreRule, ...], ...]  # by kind
    is_repository: bool
    above: "Folder | None"

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Is this path below the folder left out? Its own folders are taken to have been asked about before."""
        for kind in range(len(KINDS)):
            verdict = self._verdict(kind, path, is_folder)
            if verdict is not None:
                return verdict
        return False

    def _verdict(self, kind: int, path: str, is_folder: bool) -> bool | None:
        folder: Folder | None = self
        while folder is not None:
            relative = path[len(folder.path.rstrip("/")) + 1 :]
            for rule in folder.rules[kind]:
                if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(relative):
                    return not rule.include
            if folder.is_repository and KINDS[kind] in _OF_GIT:
                return None
            folder = folder.above
        return None


def folder_rules(path: str, above: Folder | None) -> Folder:
    return Folder(
        path=path,
        rules=tuple(tuple(_rules(f"{path.rstrip('/')}/{name}")) for name in KINDS),
        is_repository=os.path.lexists(f"{path}/.git"),
        above=above,
    )


def rules_above(path: str) -> Folder | None:
    """The rules of every folder that holds this one."""
    folder: Folder | None = None
    parts = path.split("/")
    for count in range(1, len(parts)):
        folder = folder_rules("/".join(parts[:count]) or "/", folder)
    return folder


def rules_are_sound(path: str) -> bool:
    """Is every rule file of this folder and those above it a file? rg would wait for a pipe and read a device whole."""
    parts = os.path.realpath(path).split("/")
    for count in range(1, len(parts) + 1):
        folder = "/".join(parts[:count])
        for name in (*KINDS, ".git/info/exclude"):
            try:
                refuse_kind(name, os.stat(f"{folder}/{name}"), _LARGEST)  # noqa: PTH116 -- strings
            except RefusedFile:
                return False
            except OSError:
                continue
    return True


def rules_above_exist(path: str) -> bool:
    """Could any folder above this one leave something out? Only the names of files are looked at."""
    parts = os.path.realpath(path).split("/")[:-1]
    above = ("/".join(parts[: count + 1]) for count in range(len(parts)))
    return any(os.path.lexists(f"{folder}/{name}") for folder in above for name in KINDS)


def parse_rule(line: str) -> IgnoreRule | None:
    """One line of a .gitignore; None for blank lines, comments and what cannot be understood."""
    line = line.rstrip("\r\n")
    if line.startswith("#") or len(line) > _LONGEST:
        return None
    line = _trimmed(line)
    include = line.startswith("!")
    line = line[1:] if include else line
    if line.startswith(("\\!", "\\#")):
        line = line[1:]
    folders_only = line.endswith("/")
    line = line[:-1] if folders_only else line
    anchored = "/" in line
    line = line.removeprefix("/")
    if not line:
        return None
    try:
        body = translate(line.replace("{", "\\{"))  # git knows no alternatives
        pattern = re.compile(body if anchored else f"(?:.*/)?{body}", re.DOTALL)
    except (ToolError, re.error):
        return None
    return IgnoreRule(pattern=pattern, include=include, folders_only=folders_only)


def _trimmed(line: str) -> str:
    """Without the blanks at its end; one that a backslash quotes stays."""
    shown = line.rstrip(" \t")
    return line[: len(shown) + 1] if shown.endswith("\\") else shown


def _rules(path: str) -> Iterable[IgnoreRule]:
    """The rules of a file, the last first: later lines win."""
    try:
        text = read_regular_text(path, limit=_LARGEST)
    except OSError:
        return []
    rules = (parse_rule(line) for line in text.removeprefix("﻿").split("\n")[:_MOST])
    return reversed([rule for rule in rules if rule is not None])
