"""Commands that get file names from `find -exec` or, through a pipe, from `xargs`: when is that harmless?

Nobody knows the names. They may begin with a dash, name a link that leads out of the workspace, and be cut in two at a
blank by xargs. So only commands of this table count, and of those with contents to show only the ones that get the
names of regular files, whole: from `find … -type f … -exec` or `-print0 | xargs -0`, or because no other name is there.
"""

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from assent.permissions import trees
from assent.permissions.shell.syntax.simple_commands import Command
from assent.permissions.shell.syntax.words import Word
from assent.text.words import names

_COUNTING = names("wc echo basename dirname true")
"""Show no contents, whatever file they are given. Of their flags only `wc --files0-from` names a file."""
_SHOWING = names("cat head tail grep egrep fgrep md5sum sha1sum sha256sum sha512sum cksum file stat ls du")
_DESCRIBING = _SHOWING - names("cat head tail")
"""Of those, the ones that are fine with names that were looked at, too: they show no file whole."""
_LISTING = {
    "find": (r"(?!-printf|-ls|-fprint|-fls|-exec|-ok).*", ""),
    **dict.fromkeys(
        ("fd", "fdfind"), (r"-[HIietg]|--(?:hidden|no-ignore|type|extension|glob|ignore-case)(?:=.*)?", "")
    ),
    "rg": (r"-[liwFSgtu]|--(?:files|hidden|files-with-matches|glob|type|ignore-case)(?:=.*)?", "-l --files"),
    **dict.fromkeys(("grep", "egrep", "fgrep"), (r"-[rliwEFIe]+|--include=.*", "-l -rl -lr -ril -rli -li -il")),
    "ls": (r"-[1aAtrSd]+", ""),
    "git": (r"-[cdmoz]|--(?:cached|deleted|modified|others|exclude-standard)", "ls-files"),
}
"""Feeders whose every line is a name below the folders they search: the flags they may have, and one that they need."""
_XARGS_ALONE = names("-0 --null -r --no-run-if-empty -0r -r0")
_XARGS_NUMBERED = re.compile(r"-[nLP][1-9][0-9]{0,3}|--max-(?:args|procs|lines)=[1-9][0-9]{0,3}")
_REPLACED = names("{} % @")
"""What people let `xargs -I` replace."""
_OTHERWISE = names("-o -or , ! -not ( ) -follow -L -H -fprint -fprintf -fls -exec -execdir -ok -okdir -delete")
_TAKEN_FOR_A_FLAG = re.compile(r"(?:\A|[\s'\"\\/])-")
_CUT_OR_LINK = re.compile(r"[\s'\"\\]")  # where xargs cuts names
_LINK_OR_NONE = re.compile(r"(?!)")
_ELSEWHERE = re.compile(r"\A[/~]|(?:\A|/)\.\.(?:/|\Z)|\A-[LH]")
_MOST_FILTERS = 4
_FILTERS = {
    **dict.fromkeys(("grep", "egrep", "fgrep"), r"(?:-[vEiFwx]+ )*[^- ][^ ]*"),
    **dict.fromkeys(("head", "tail"), r"(?:-n ?[0-9]+|-[0-9]+)?"),
    "sort": r"(?:-[rnufV]+)?",
    "uniq": "",
}
"""Commands that print some of the lines they get, unchanged: with these words, as one text, they read nothing else."""

NAME = Word(text="./name", pattern="./name")
"""Stands for a name that is handed over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """`inner` holds the stand-in where the names go; `own` is what finds them, when that is part of the command."""

    inner: Command
    own: Command | None = None
    looked: bool = False  # harmless only by what lies there now


def handed_names(command: Command) -> Handed | None:
    """What the command runs on names that it finds or reads; None when it does not, or when that may do harm."""
    if not all(word.plain for word in command.words) or command.redirects:
        return None
    match command.argv[:1]:
        case ("find",):
            return _by_find(command)
        case ("xargs",):
            return _by_xargs(command)
        case _:
            return None


def _by_find(command: Command) -> Handed | None:
    words = command.words
    argv = command.argv
    if argv.count("-exec") != 1 or argv[-1] not in (";", "+") or argv[-2] != "{}" or argv.count("{}") != 1:
        return None
    start = argv.index("-exec")
    own, inner = words[:start], words[start + 1 : -2]
    if not inner:
        return None
    looked = not _fits(inner[0].text, whole=True, regular=_regular_only(own))
    if looked and not (inner[0].text in _DESCRIBING and _plain_names(command, own, _LINK_OR_NONE)):
        return None
    handed = replace(command, words=(*inner, NAME), feeders=())
    return Handed(own=replace(command, words=own), inner=handed, looked=looked)


def _by_xargs(command: Command) -> Handed | None:
    position, words = 1, command.words
    replaced = ""
    while position < len(words) and words[position].text.startswith("-"):
        text = words[position].text
        if text == "-I" and position + 1 < len(words) and words[position + 1].text in _REPLACED:
            replaced, position = words[position + 1].text, position + 2
        elif text[:2] == "-I" and text[2:] in _REPLACED:
            replaced, position = text[2:], position + 1
        elif text in _XARGS_ALONE or _XARGS_NUMBERED.fullmatch(text):
            position += 1
        elif text in ("-n", "-L", "-P") and position + 1 < len(words) and words[position + 1].text.isdigit():
            position += 2
        else:
            return None
    inner, flags = words[position:], command.argv[1:position]
    if replaced:  # only where it stands for what xargs would add at the end anyway
        if [word.text for word in inner if replaced in word.text] != [replaced] or inner[-1].text != replaced:
            return None
        inner = inner[:-1]
    if not inner or len(command.feeders) != 1 or command.given is not None:
        return None
    feeder = _beyond_filters(command.feeders[0])
    if not _lists_names(feeder):
        return None
    direct = feeder is command.feeders[0]
    whole = direct and feeder.argv[0] == "find" and feeder.argv[-1] == "-print0" and any("0" in flag for flag in flags)
    looked = False
    if not _fits(inner[0].text, whole=whole, regular=_regular_only(feeder.words)):
        if inner[0].text not in _DESCRIBING or not _plain_names(command, feeder.words, _TAKEN_FOR_A_FLAG, _CUT_OR_LINK):
            return None
        looked = True
    elif inner[0].text == "wc" and not whole:
        if not _plain_names(command, feeder.words, _TAKEN_FOR_A_FLAG):
            return None
        looked = True
    return Handed(inner=replace(command, words=(*inner, NAME), feeders=()), looked=looked)


def _beyond_filters(feeder: Command) -> Command:
    """Past commands that only choose among the lines they get, what makes the lines."""
    for _ in range(_MOST_FILTERS):
        name, *rest = feeder.argv or ("",)
        chooses = _FILTERS.get(name)
        plain = all(word.plain for word in feeder.words) and not feeder.redirects and feeder.given is None
        if chooses is None or not plain or len(feeder.feeders) != 1 or not re.fullmatch(chooses, " ".join(rest)):
            break
        feeder = feeder.feeders[0]
    return feeder


def _lists_names(feeder: Command) -> bool:
    """Does it print names of files, one a line, and nothing that the line or a file's contents could choose?"""
    if not feeder.words or not all(word.known for word in feeder.words) or feeder.redirects or feeder.given is not None:
        return False
    name, *rest = feeder.argv
    flags, needed = _LISTING.get(name, ("(?!)", ""))
    if needed and not set(needed.split()) & set(rest[:1] if name == "git" else rest):
        return False
    return name in _LISTING and all(re.fullmatch(flags, word) for word in rest if word.startswith("-"))


def _fits(name: str, *, whole: bool, regular: bool) -> bool:
    return name in _COUNTING or (name in _SHOWING and whole and regular)


def _regular_only(words: tuple[Word, ...]) -> bool:
    """Does `find` give regular files alone? Then none is a link."""
    argv = [word.text for word in words]
    return ("-type", "f") in pairwise(argv) and not _OTHERWISE & set(argv)


def _plain_names(command: Command, search: tuple[Word, ...], *unwanted: re.Pattern[str]) -> bool:
    """Is no name that the search may give one of these, and none a link where that counts?

    Looks at everything below the current folder. A search elsewhere, and too many names, count as a no.
    """
    links = _CUT_OR_LINK in unwanted or _LINK_OR_NONE in unwanted
    if any(_ELSEWHERE.search(word.text) for word in search[1:]):
        return False

    def odd(path: str) -> bool:
        return any(pattern.search(path) for pattern in unwanted)

    return command.directories is not None and all(
        trees.any_below(directory, odd, links=links) is False for directory in command.directories
    )


_XARGS_VALUES = re.compile(
    r"-[adEILnPsjN]|--(?:arg-file|delimiter|eof|replace|max-lines|max-args|max-procs|max-chars|process-slot-var)"
)


def after_xargs(command: Command) -> tuple[list[str], tuple[Word, ...]]:
    """The flags of xargs, or of GNU parallel, with their values, and the command that it runs."""
    words, position = command.words, 1
    while position < len(words) and words[position].text.startswith("-"):
        position += 2 if _XARGS_VALUES.fullmatch(words[position].text) else 1
    return [word.text for word in words[1:position]], words[position:]
