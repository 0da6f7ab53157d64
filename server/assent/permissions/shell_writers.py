"""Commands whose business is to change files: which ones, and whether it is no more than an edit would do."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from assent.permissions.paths import is_regular
from assent.permissions.shell_directories import Directories
from assent.permissions.shell_parts import Part, PathUse, named_files, uses
from assent.permissions.shell_statements import Command
from assent.permissions.shell_words import Word
from assent.permissions.shell_wrappers import program

REMOVERS = frozenset({"rm", "rmdir", "mv", "shred", "unlink"})
_ACCEPTED_FLAGS = {
    "touch": re.compile(r"-[acm]+|--no-create"),
    "mkdir": re.compile(r"-[pv]+|--parents|--verbose"),
    "cp": re.compile(r"-[finpuv]+|--force|--no-clobber|--verbose|--update"),
    "mv": re.compile(r"-[finuv]+|--force|--no-clobber|--verbose|--update"),
    "tee": re.compile(r"-[a]+|--append"),
}


_UNPACKS = {
    **dict.fromkeys(("tar", "bsdtar"), r"-?[a-zA-Z]*x[a-zA-Z]*( .*)?|(.* )?(-[a-zA-Z]*x.*|--(extract|get)( .*)?)"),
    **dict.fromkeys(("7z", "7za", "unrar"), r"[xe]( .*)?"),
    **dict.fromkeys(("unzip", "patch"), r".*"),
    "cpio": r"(.* )?(-[a-zA-Z]*[ip].*|--(extract|pass-through).*)",
}


def unpacks(words: Sequence[Word]) -> bool:
    """Does it write files whose names stand in another file?"""
    said = _UNPACKS.get(program(words[0]))
    return said is not None and bool(re.fullmatch(said, " ".join(word.text for word in words[1:]), re.DOTALL))


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
    removes: tuple[PathUse, ...] = uses(operands, command.directories) if name in REMOVERS else ()
    return Part(
        argv=command.argv,
        known=command.known,
        reason=f"`{name}` changes files",
        reads=uses(operands[:-1], command.directories) if name == "cp" else (),
        writes=uses(_targets(name, operands), command.directories),
        maybe=named_files(command),
        removes=removes,
        spreads=uses(operands[-1:], command.directories) if _whole_trees(name, flags) else (),
        recursive=name in ("cp", "rsync"),
        edits_only=plain,
    )


def _targets(name: str, operands: list[Word]) -> list[Word]:
    if name == "dd":
        named = [(word, word.text.removeprefix("of=")) for word in operands if word.text.startswith("of=")]
        return [replace(word, text=text, pattern=text) for word, text in named]
    if name not in ("cp", "mv", "ln", "install", "rsync") or len(operands) < 2:
        return operands
    into = operands[-1]
    inside = [f"{into.text.rstrip('/')}/{source.text.rstrip('/').rpartition('/')[2]}" for source in operands[:-1]]
    targets = [into, *(replace(into, text=text, pattern=text, wild=False) for text in inside)]
    return [*targets, *operands[:-1]] if name == "mv" else targets


def _regular(word: Word, directories: Directories) -> bool:
    return directories is not None and all(is_regular(os.path.join(directory, word.text)) for directory in directories)  # noqa: PTH118


def _whole_trees(name: str, flags: list[str]) -> bool:
    deep = any(re.fullmatch(r"-[a-zA-Z]*[rRa][a-zA-Z]*|--recursive|--archive", flag) for flag in flags)
    return name == "rsync" or (name == "cp" and deep)
