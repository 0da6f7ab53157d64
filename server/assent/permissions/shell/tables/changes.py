"""What a command that is not read-only changes below its words: its own, or those that a search hands to it."""

import re
from collections.abc import Callable
from dataclasses import replace

from assent.permissions import trees
from assent.permissions.shell.syntax.parts import Part, named_files, uses
from assent.permissions.shell.syntax.simple_commands import Command
from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.changers import CHANGERS, changes_what_it_names, may_sweep, takes_this_folder
from assent.permissions.shell.tables.git import brought_from_elsewhere
from assent.permissions.shell.tables.handed_names import NAME, after_xargs
from assent.permissions.shell.tables.selections import HERE, TRACKED, handed_by_pipe, names_are_whole, searched_by_find
from assent.permissions.shell.tables.wrappers import WRITERS, program
from assent.text.words import names

_SCRIPTED = names("sed gsed ssed perl ruby awk gawk yq sd")  # one of their words is a program, not a file
_CUT = frozenset(" \t\n'\"\\")  # where xargs cuts names, unless told otherwise

Harmless = Callable[[Command], bool]


def changing(command: Command, part: Part, *, harmless: Harmless) -> Part:
    """The part with what it alters. `harmless`: does a command, which the search would run, only read?"""
    name, words = program(command.words[0]), list(command.words[1:])
    here = uses([HERE], command.directories) if takes_this_folder(name, words) else ()
    if name == "find":
        return _by_find(command, part, harmless)
    if name == "git":
        brought = brought_from_elsewhere(words)
        return replace(part, alters=uses(brought, command.directories), selection=TRACKED) if brought else part
    if name == "xargs":
        return _by_xargs(command, part, harmless)
    if changes_what_it_names(name, words):
        written = [known for word in words if not word.known for known in _targets(word, command, name)]
        return replace(
            part,
            alters=(*named_files(replace(command, naming=True)), *uses(written, command.directories), *here),
            writes=(*part.writes, *uses(written, command.directories)),
        )
    if part.listed or name in WRITERS or name in CHANGERS or not may_sweep(name, words):
        return replace(part, sweeps=here) if here else part
    return replace(part, sweeps=(*named_files(replace(command, naming=True)), *here))


def _targets(word: Word, command: Command, name: str) -> tuple[Word, ...]:
    """The files that an unknown word stands for: those a loop goes through, or the word itself, which asks."""
    if name in _SCRIPTED and not word.wild and re.fullmatch(r"[^$`].*[$`].*", word.text, re.DOTALL):
        return ()  # its program, with a value in it
    looped = dict(command.loops).get(word.text.strip("${}"))
    return looped if looped is not None and not word.splits else (word,)


def _by_find(command: Command, part: Part, harmless: Harmless) -> Part:
    """`-delete`, or `-exec` of something that may do more than read."""
    words = command.words[1:]
    texts = [word.text for word in words]
    searched = searched_by_find(words)
    run = next((number for number, text in enumerate(texts) if text.startswith(("-exec", "-ok"))), None)
    if run is not None:
        inner = _command_of_find(words[run + 1 :])
        if inner and "-delete" not in texts and harmless(replace(command, words=inner, redirects=(), feeders=())):
            return part
    elif not any(text.startswith(("-delete", "-fprint", "-fls")) for text in texts):
        return part
    return replace(part, alters=uses(list(searched.starts), command.directories), selection=searched.selection)


def _command_of_find(words: tuple[Word, ...]) -> tuple[Word, ...]:
    inner: list[Word] = []
    for word in words:
        if word.text in (";", "+"):
            break
        inner.append(NAME if "{}" in word.text else word)
    return tuple(inner)


def _by_xargs(command: Command, part: Part, harmless: Harmless) -> Part:
    flags, inner = after_xargs(command)
    searched = handed_by_pipe(command, flags)
    if not inner or searched is None or not comes_whole(command, flags):
        return part  # `guesses.py` says what cannot be told
    if harmless(replace(command, words=(*inner, NAME), redirects=(), feeders=())):
        return part
    return replace(part, alters=uses(list(searched.starts), command.directories), selection=searched.selection)


def comes_whole(command: Command, flags: list[str]) -> bool:
    """Does every name that is handed on come as the one word that it is, and begin with no dash?"""
    return names_are_whole(flags) or (
        command.directories is not None
        and all(
            trees.any_below(directory, lambda path: not _CUT.isdisjoint(path)) is False
            for directory in command.directories
        )
    )
