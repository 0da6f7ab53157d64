"""Which files a search hands on: where it looks, and which of the names below it gives.

For commands that change what `find -exec`, `xargs` or `fd -x` hand to them. Whatever is not plainly read here counts as
everything, or as a search of which nobody can tell anything.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from assent.permissions.paths import fold
from assent.permissions.shell.syntax.simple_commands import Command
from assent.permissions.shell.syntax.words import Word
from assent.text.words import names

HERE = Word(text=".", pattern=".")
_OTHERWISE = names("-o -or , ! -not ( ) -prune -name -iname")  # what makes one `-name` among them mean something else
_WHOLE_NAMES = re.compile(r"-\w*0\w*|--null|-d|--delimiter.*")
_GREP_FLAGS = re.compile(r"-[rRliwEFIZnsHhoL]+|--include=.*|--null|--files-with-matches|--recursive|--ignore-case")
_LISTS = re.compile(r"-\w*l\w*|--files(?:-with\S*)?")
_NOT_PLAIN_NAMES = re.compile(r"-[xXL]|--exec\S*|--follow|--pre\S*|-\w*[fr]|--file(?:=.*)?|--replace\S*")
_PLAIN_TEXT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ -]*")  # as a regular expression, it stands for itself
_HIDDEN = re.compile(r"-\w*[.HIuU]\w*|--hidden|--unrestricted|--no-ignore.*")


@dataclass(frozen=True, slots=True)
class Selection:
    """Of what lies below a folder, that which counts."""

    names: tuple[str, ...] = ()  # patterns of which the name, or that of a folder around it, fits one; none: any name
    hidden: bool = True  # names that begin with a dot, too
    git: bool = True  # what is in `.git`, too
    text: str = ""  # what the files hold, where that is plain; empty: anything

    def covers(self, path: str) -> bool:
        """A path relative to where the search begins."""
        pieces = fold(path).split("/")
        if not self.hidden and any(piece.startswith(".") for piece in pieces):
            return False
        if not self.git and ".git" in pieces:
            return False
        return not self.names or any(fnmatchcase(piece, name) for piece in pieces for name in self.names)


EVERYTHING = Selection()
TRACKED = Selection(git=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    starts: tuple[Word, ...]
    selection: Selection = EVERYTHING


def searched_by_find(words: Sequence[Word]) -> Searched:
    """`words` without `find`."""
    starts: list[Word] = []
    position = 0
    while position < len(words) and words[position].text in ("-H", "-P", "-L"):
        position += 1
    while position < len(words) and words[position].text[:1] not in ("-", "(", ")", "!", ","):
        starts.append(words[position])
        position += 1
    texts = [word.text for word in words]
    until = min([texts.index(text) for text in texts if text.startswith(("-exec", "-ok"))], default=len(texts))
    tests = texts[:until]
    named = [number for number, text in enumerate(tests) if text in ("-name", "-iname")]
    selection = EVERYTHING
    if len(named) == 1 and len([text for text in tests if text in _OTHERWISE]) == 1 and named[0] + 1 < len(words):
        selection = _named(words[named[0] + 1])
    return Searched(starts=tuple(starts) or (HERE,), selection=selection)


def handed_by_pipe(command: Command, flags: Sequence[str]) -> Searched | None:
    """What a search before the pipe gives to an `xargs` with these flags; None when nobody can tell.

    Names that xargs would cut at a blank or a quote are whole only with `-0`; `whole` is left to the caller.
    """
    if len(command.feeders) != 1 or command.given is not None:
        return None
    feeder = command.feeders[0]
    if not feeder.words or not all(word.known for word in feeder.words) or feeder.redirects or feeder.given is not None:
        return None
    if any(flag.startswith(("-a", "--arg-file", "-I", "-i", "--replace")) for flag in flags):
        return None
    name, rest = feeder.argv[0], feeder.words[1:]
    match name:
        case "find":
            odd = any(word.text.startswith(("-printf", "-fprint", "-exec", "-ok", "-L", "-follow")) for word in rest)
            return None if odd else searched_by_find(rest)
        case "grep" | "egrep" | "fgrep" | "rgrep":
            return _by_grep(rest)
        case "rg" | "fd" | "fdfind":
            return _by_ripgrep(rest, lists=name != "rg")
        case "git":
            return _by_git(rest)
        case _:
            return None


def names_are_whole(flags: Sequence[str]) -> bool:
    return any(_WHOLE_NAMES.fullmatch(flag) for flag in flags)


def _named(word: Word) -> Selection:
    return Selection(names=(fold(word.text),)) if word.plain else EVERYTHING


def _by_grep(words: Sequence[Word]) -> Searched | None:
    """Only its simplest form: flags without values, a pattern, folders."""
    flags = [word for word in words if word.text.startswith("-")]
    operands = [word for word in words if not word.text.startswith("-")]
    lists = any(re.fullmatch(r"-\w*[lL]\w*|--files-with-matches", word.text) for word in flags)
    if not lists or not operands or not all(_GREP_FLAGS.fullmatch(word.text) for word in flags):
        return None
    included = [fold(word.text.removeprefix("--include=")) for word in flags if word.text.startswith("--include=")]
    pattern = operands[0].text if _PLAIN_TEXT.fullmatch(operands[0].text) else ""
    if any(re.fullmatch(r"-\w*[iL]\w*|--ignore-case", word.text) for word in flags):
        pattern = ""
    return Searched(starts=tuple(operands[1:]) or (HERE,), selection=Selection(names=tuple(included), text=pattern))


def _by_ripgrep(words: Sequence[Word], *, lists: bool) -> Searched | None:
    """Which of its words are folders is left open: all count, and the current one. `lists`: it always gives names."""
    if any(_NOT_PLAIN_NAMES.fullmatch(word.text) for word in words):
        return None
    if not lists and not any(_LISTS.fullmatch(word.text) for word in words):
        return None
    hidden = any(_HIDDEN.fullmatch(word.text) for word in words)
    operands = [word for word in words if not word.text.startswith("-")]
    return Searched(starts=(HERE, *operands), selection=Selection(hidden=hidden))


def _by_git(words: Sequence[Word]) -> Searched | None:
    texts = [word.text for word in words]
    lists = texts[:1] == ["ls-files"] or (
        texts[:1] == ["grep"] and any(re.fullmatch(r"-\w*l\w*", text) for text in texts)
    )
    return Searched(starts=(HERE,), selection=TRACKED) if lists else None
