"""Commands whose business is to change files: which ones, what arrives where, whether it is no more than an edit."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from assent.permissions.paths import is_regular
from assent.permissions.shell.syntax.directories import Directories
from assent.permissions.shell.syntax.parts import Carried, Part, PathUse, named_files, uses
from assent.permissions.shell.syntax.simple_commands import Command
from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.wrappers import program
from assent.text.words import names

REMOVERS = frozenset({"rm", "rmdir", "mv", "shred", "unlink"})
_CARRIERS = frozenset({"cp", "mv", "ln", "install", "rsync", "scp", "ditto"})
_ALWAYS_DEEP = frozenset({"mv", "rsync", "ditto"})
_WHOLE_TREES = frozenset({"chmod", "chown", "chgrp", "chattr", "setfacl"})
_DEEP = re.compile(r"-[a-zA-Z]*[rRa][a-zA-Z]*|--recursive|--archive")
_TARGET = re.compile(r"-[a-zA-Z]*?t(.*)|--t[a-z-]*(?:=(.*))?", re.DOTALL)  # --target-directory, in any abbreviation
_REMOTE = re.compile(r"[^/]+:.*|rsync://.*", re.DOTALL)
_NAMED_ELSEWHERE = re.compile(r"--files-from.*|--from0|-[a-zA-Z]*T.*|--parents")
_ACCEPTED_FLAGS = {
    "touch": re.compile(r"-[acm]+|--no-create"),
    "mkdir": re.compile(r"-[pv]+|--parents|--verbose"),
    "cp": re.compile(r"-[finpuv]+|--force|--no-clobber|--verbose|--update"),
    "mv": re.compile(r"-[finuv]+|--force|--no-clobber|--verbose|--update"),
    "tee": re.compile(r"-[a]+|--append"),
}
_HERE = Word(text=".", pattern=".")

_TAR = r"-?[a-zA-Z]*x[a-zA-Z]*( .*)?|(.* )?(-[a-zA-Z]*x.*|--(ex|ge)[a-z]*( .*)?)"
_UNPACKS = {
    **dict.fromkeys(names("tar bsdtar gtar jar"), _TAR),
    **dict.fromkeys(names("7z 7za 7zr 7zz unrar rar ar"), r"-?[a-zA-Z]*[xe]( .*|[a-zA-Z]* .*)?"),
    **dict.fromkeys(names("unzip bsdunzip"), r"(?!(.* )?-[a-zA-Z0-9]*[lptvZz][a-zA-Z0-9]*( .*)?\Z).*"),
    "patch": r"(?!(.* )?--dry-run( .*)?\Z).*",
    **dict.fromkeys(("cpio", "pax"), r"(.* )?(-[a-zA-Z]*[ipr].*|--(extract|pass-through).*)"),
    **dict.fromkeys(("dpkg-deb", "dpkg"), r"(.* )?(-[a-zA-Z]*[xXR].*|--(?:v?extract|raw-extract).*)"),
    "wget": r"(.* )?(-[a-zA-Z]*[rmxpi].*|--(?:recursive|mirror|force-directories|page-req|input-file|content-disp).*)",
    "curl": r"(.* )?(-[a-zA-Z]*J.*|--remote-header-name.*)",
    **dict.fromkeys(names("docker podman kubectl nerdctl"), r"(?:\S+ )?cp .*"),
    **dict.fromkeys(names("python python3 pypy pypy3"), r"(?:-\S+ )*-m ?(?:zipfile|tarfile) .*-(?:e|-extract).*"),
}
_DIRECTORY_FLAGS = re.compile(r"-[a-zA-Z]*[CdDOoP]|--(?:directory|cd|directory-prefix|output-dir)")
_DIRECTORY_VALUES = re.compile(r"(?:--(?:directory|cd|directory-prefix|output-dir)=|-[CdoPO])(.+)", re.DOTALL)


def unpacks(words: Sequence[Word]) -> bool:
    """Does it write files whose names stand in another file?"""
    said = _UNPACKS.get(program(words[0]))
    return said is not None and bool(re.fullmatch(said, " ".join(word.text for word in words[1:]), re.DOTALL))


def unpacked_into(words: Sequence[Word], directories: Directories) -> tuple[PathUse, ...]:
    """The directories that an unpacked archive may fill: here, and every one that a flag or the last word names."""
    if not unpacks(words):
        return ()
    named = [words[-1]] if len(words) > 2 else []
    told = False
    for position, word in enumerate(words[1:-1], 1):
        if _DIRECTORY_FLAGS.fullmatch(word.text):
            named.append(words[position + 1])
            told = True
    for word in words[1:]:
        if value := _DIRECTORY_VALUES.fullmatch(word.text):
            named.append(replace(word, text=value[1], pattern=value[1]))
            told = True
    return uses(named if told else [_HERE, *named], directories)


def writing(command: Command) -> Part:
    words = command.words
    name = program(words[0])
    flags = [word.text for word in words[1:] if word.text.startswith("-") and word.text != "-"]
    operands = [word for word in words[1:] if not word.text.startswith("-")]
    accepted = _ACCEPTED_FLAGS.get(words[0].text)
    plain = (
        accepted is not None and all(accepted.fullmatch(flag) for flag in flags) and command.known and bool(operands)
    )
    if plain and name in ("cp", "mv"):
        plain = len(operands) > 1 and all(_regular(word, command.directories) for word in operands[:-1])
    plain = plain and not any(word.wild for word in words)
    deep = name in _ALWAYS_DEEP or any(_DEEP.fullmatch(flag) for flag in flags)
    sources, target = _ends(name, words, operands)
    here = command.directories
    unseen = deep and any(_unseen(word) for word in words[1:])
    return Part(
        argv=command.argv,
        known=command.known,
        reason=f"`{name}` changes files",
        reads=uses(operands[:-1], here) if name == "cp" else (),
        writes=uses(_targets(name, operands, here), here),
        maybe=named_files(command),
        removes=uses(operands, here) if name in REMOVERS or "--remove-source-files" in flags else (),
        spreads=uses(operands, here) if _changes_trees(name, flags) else (),
        carried=tuple(
            Carried(source=PathUse(word=source, directories=here), target=into, deep=deep)
            for source in sources
            for into in uses(target, here)
        ),
        arrives=uses(target, here) if unseen else (),
        recursive=name in ("cp", "rsync", "scp", "ditto", "ln"),
        edits_only=plain,
    )


def _ends(name: str, words: Sequence[Word], operands: list[Word]) -> tuple[list[Word], list[Word]]:
    """What is carried, and where to: the last word, or what `-t` names."""
    if name not in _CARRIERS or not operands:
        return [], []
    for position, word in enumerate(words[1:], 1):
        found = _TARGET.fullmatch(word.text) if name in ("cp", "mv", "ln", "install") else None
        if found is None:
            continue
        given = found[1] or found[2]
        target = replace(word, text=given, pattern=given) if given else next(iter(words[position + 1 :]), word)
        return [operand for operand in operands if operand is not target], [target]
    if len(operands) == 1:
        return operands, [_HERE] if name == "ln" else []
    return operands[:-1], operands[-1:]


def _unseen(word: Word) -> bool:
    """Names that arrive stand somewhere else: on another machine, in a list, in what `find` or a variable gives."""
    return (
        not word.known or "{}" in word.text or bool(_REMOTE.fullmatch(word.text) or _NAMED_ELSEWHERE.match(word.text))
    )


def _targets(name: str, operands: list[Word], directories: Directories) -> list[Word]:
    if name == "dd":
        named = [(word, word.text.removeprefix("of=")) for word in operands if word.text.startswith("of=")]
        return [replace(word, text=text, pattern=text) for word, text in named]
    if name not in _CARRIERS or len(operands) < 2:
        return operands
    into = operands[-1]
    if _regular(into, directories):
        return [into, *operands[:-1]] if name == "mv" else [into]
    inside = [f"{into.text.rstrip('/')}/{source.text.rstrip('/').rpartition('/')[2]}" for source in operands[:-1]]
    targets = [into, *(replace(into, text=text, pattern=text, wild=False) for text in inside)]
    return [*targets, *operands[:-1]] if name == "mv" else targets


def _regular(word: Word, directories: Directories) -> bool:
    return directories is not None and all(is_regular(os.path.join(directory, word.text)) for directory in directories)  # noqa: PTH118


def _changes_trees(name: str, flags: list[str]) -> bool:
    """Changes what stands below a name already, besides what it brings along."""
    if name == "rsync":
        return any(flag.startswith("--del") for flag in flags)
    return name in _WHOLE_TREES and any(_DEEP.fullmatch(flag) for flag in flags)
