"""What a shell line would do: every simple command in it, alone, as far as the table can tell.

Owns the judgement of commands; knows nothing of rules, modes or people. Wrappers (`timeout`, `env`, `sudo`, `bash -c`)
are looked into, so that what they run is judged too. Anything not known for sure makes a part not read-only.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from assent.permissions import repositories, shell_git
from assent.permissions.paths import Located, PathRefused, Seen, is_regular, locate, matches
from assent.permissions.shell_commands import COMMANDS, asks_version
from assent.permissions.shell_options import Usage, read_usage
from assent.permissions.shell_syntax import Command, Directories, Script, read
from assent.permissions.shell_words import Word
from assent.permissions.shell_wrappers import OPAQUE, SHELLS, program, runs_another, spelled_out, unwrapped
from assent.permissions.text import names

MAX_NESTING = 4  # of shell text inside shell text
MAX_WRAPPERS = 20  # around one another
MAX_TAILS = 200  # words of a wrapper, each of which may be where the wrapped command begins
MAX_ARGUMENTS = 2000

_WRITERS = names("""
    touch mkdir rmdir rm cp mv ln tee truncate chmod chown chgrp install rsync dd unlink shred mkfifo mknod sponge
    chattr setfacl
""")
_RUNNERS = OPAQUE | SHELLS
_REMOVERS = frozenset({"rm", "rmdir", "mv", "shred", "unlink"})
_GIT_HARMLESS_OPERANDS = frozenset({"add", "commit", "stage", "check-ignore"})
_COPIERS = names("tar zip rsync scp 7z cpio")
_PIECES = re.compile(r"[=:@,]")
_SPLITS = re.compile(r"[\s;&|<>()$`]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathUse:
    """A word that names a file for a command, and the directories it may be relative to."""

    word: Word
    directories: Directories


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One simple command and what it would do."""

    argv: tuple[str, ...]
    known: bool  # every word is what the command will get
    harmless: bool = False  # but for its redirections, it only reads `reads`
    reason: str = ""  # why it is not
    listed: bool = False  # the table knows the command, so a rule for it covers only its harmless use
    spelled: tuple[str, ...] = ()  # words a rule must spell out to cover them
    reads: tuple[PathUse, ...] = ()
    writes: tuple[PathUse, ...] = ()  # by its own arguments
    outputs: tuple[PathUse, ...] = ()  # by redirection
    maybe: tuple[PathUse, ...] = ()  # may be read or written, nobody knows
    removes: tuple[PathUse, ...] = ()
    recursive: bool = False
    edits_only: bool = False  # a plain file command: what acceptEdits stands for
    inner: bool = False  # found inside a wrapper or a substitution
    certain: bool = True  # False: a guess at what a wrapper runs, for deny rules and the iron gate only
    repository_doubt: str = ""

    @property
    def read_only(self) -> bool:
        return self.harmless and not self.outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    script: Script
    parts: tuple[Part, ...] = ()
    unchecked: tuple[str, ...] = ()  # what could hide a denied command from us, in words

    @property
    def doubts(self) -> tuple[str, ...]:
        return self.script.doubts

    @property
    def shown(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if part.certain and part.argv)


def judge(
    text: str,
    *,
    cwd: str,
    home: str,
    roots: Sequence[str] = (),
    trusted: bool = True,
    nesting: int = 0,
    seen: Seen | None = None,
) -> Judgement:
    seen = {} if seen is None else seen
    script = read(text, cwd=cwd, home=home, seen=seen)
    place = _Place(cwd=cwd, home=home, roots=tuple(roots) or (cwd,), trusted=trusted, nesting=nesting, seen=seen)
    parts: list[Part] = []
    for command in script.commands:
        if len(command.words) > MAX_ARGUMENTS:
            place.unchecked.append("a command has too many arguments to look at them all")
        parts.extend(_parts(command, place))
    return Judgement(script=script, parts=tuple(parts), unchecked=tuple(dict.fromkeys(place.unchecked)))


def is_read_only(command: str, cwd: str, *, home: str = "", roots: Sequence[str] = (), trusted: bool = True) -> bool:
    """Does the line only read, by the table? Says nothing of where it reads; the chain does."""
    judgement = judge(command, cwd=cwd, home=home or "/nonexistent", roots=roots, trusted=trusted)
    return not judgement.doubts and all(part.read_only for part in judgement.parts if part.certain)


def locations(use: PathUse, *, cwd: str, home: str, seen: Seen) -> Iterator[Located]:
    """Every file the word may name. Raises PathRefused."""
    for directory in use.directories if use.directories is not None else (cwd,):
        yield locate(use.word.text, cwd=directory, home=home, seen=seen)
        if use.word.text.startswith("~"):  # the shell has expanded its own; what is left may be a name, or a program's
            yield locate(f"./{use.word.text}", cwd=directory, home=home, seen=seen)
        if use.word.wild:
            for name in matches(use.word.pattern, cwd=directory):
                yield locate(name, cwd=directory, home=home, seen=seen)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    cwd: str
    home: str
    roots: tuple[str, ...]
    trusted: bool
    nesting: int
    seen: Seen
    unchecked: list[str] = field(default_factory=list[str])
    repositories: dict[Directories, str] = field(default_factory=dict[Directories, str])

    def repository_doubt(self, directories: Directories) -> str:
        if directories not in self.repositories:
            found = repositories.repository_doubt(directories, self.roots, trusted=self.trusted, seen=self.seen)
            self.repositories[directories] = found or ""
        return self.repositories[directories]


def _parts(command: Command, place: _Place, wrappers: int = 0) -> Iterator[Part]:
    """The command itself, then what it wraps."""
    reads, outputs = _redirected(command)
    inner = unwrapped(command.words) if command.words and wrappers < MAX_WRAPPERS else None
    if not command.words or inner is not None:
        yield Part(argv=command.argv, known=command.known, harmless=True, listed=True, reads=reads, outputs=outputs)
        if inner is not None:
            for part in _parts(replace(command, words=inner, redirects=()), place, wrappers + 1):
                yield replace(part, inner=True)
        return
    part = _judged(command, place)
    if reads or outputs:
        reason = part.reason or ("a redirection writes to a file" if outputs else "")
        part = replace(part, reads=(*part.reads, *reads), outputs=outputs, reason=reason)
    yield part
    if command.words[0].wild or _reads_commands(command):
        place.unchecked.append(f"what `{command.argv[0]}` runs is nowhere to be read")
    if not part.harmless and program(command.words[0]) in _RUNNERS:
        yield from _guesses(command, place)


def _reads_commands(command: Command) -> bool:
    """A shell that is given no script takes what it runs from its input."""
    return program(command.words[0]) in SHELLS and all(word.text[:1] in "-+" for word in command.words[1:])


def _redirected(command: Command) -> tuple[tuple[PathUse, ...], tuple[PathUse, ...]]:
    """What the redirections read and what they write; writing to /dev/null is not writing."""
    if not command.redirects:
        return (), ()
    reads: list[PathUse] = []
    outputs: list[PathUse] = []
    for redirect in command.redirects:
        use = PathUse(word=redirect.target, directories=command.directories)
        if redirect.operator == "<":
            reads.append(use)
        elif not (redirect.target.known and redirect.target.text == "/dev/null"):
            outputs.append(use)
    return tuple(reads), tuple(outputs)


def _judged(command: Command, place: _Place) -> Part:
    words = command.words
    name = words[0].text
    if not words[0].known or words[0].wild:
        return Part(
            argv=command.argv, known=False, reason="the command's name is not known", maybe=_named_files(command)
        )
    repository_doubt = ""
    if name == "git":
        usage, moves = shell_git.git_usage(words[1:])
        directories = _moved(command.directories, moves, place)
        repository_doubt = place.repository_doubt(directories)
        if usage.hazards == [shell_git.UNKNOWN_SUBCOMMAND]:
            operands = () if words[1].text in _GIT_HARMLESS_OPERANDS else _named_files(command)
            return Part(
                argv=command.argv,
                known=command.known,
                reason=f"`git {words[1].text}` may change something" if len(words) > 1 else "git",
                spelled=shell_git.programs_named(words[1:]),
                maybe=operands,
                repository_doubt=repository_doubt,
            )
        usage.reads.extend(moves)
        return _from_usage(command, usage, directories, repository_doubt)
    if asks_version(command.argv):
        return Part(argv=command.argv, known=command.known, harmless=command.known, listed=True)
    if name in COMMANDS:
        return _from_usage(command, read_usage(COMMANDS[name], words[1:]), command.directories, "")
    if program(words[0]) in _WRITERS:
        return _writing(command)
    return Part(
        argv=command.argv,
        known=command.known,
        reason=f"`{name}` is not known to be read-only",
        listed=runs_another(words),
        spelled=spelled_out(words),
        maybe=_named_files(command),
        recursive=program(words[0]) in _COPIERS,
    )


def _from_usage(command: Command, usage: Usage, directories: Directories, repository_doubt: str) -> Part:
    if command.words[0].text == "diff" and any(_may_be_directory(word, directories) for word in usage.reads):
        usage.hazard("a directory, whose links it would follow", "diff")
    for word in usage.wildcards:
        if _may_be_flag(word, directories):
            usage.hazard(f"`{word.text}`, which may expand to a name that is taken for a flag", word.text)
    for word in usage.literal:
        if word.wild and _may_expand(word, directories):
            usage.hazard(f"`{word.text}`, which the shell would expand", word.text)
    reads = [PathUse(word=word, directories=directories) for word in usage.reads]
    for word in usage.operands:
        if ":" in word.text and repository_doubt == "" and command.words[0].text == "git":
            path = word.text.partition(":")[2]  # git show HEAD:path
            reads.append(PathUse(word=replace(word, text=path, pattern=path), directories=directories))
    if usage.recursive and not reads:
        reads.append(PathUse(word=Word(text=".", pattern="."), directories=directories))
    reason = ""
    if usage.hazards:
        reason = f"`{command.words[0].text}` with {usage.hazards[0]}"
    elif repository_doubt:
        reason = repository_doubt
    elif not command.known:
        reason = "an argument is not known before it runs"
    removes = tuple(reads) if _REMOVERS.union({"-delete"}).intersection(usage.spelled) else ()  # of find
    return Part(
        argv=command.argv,
        known=command.known,
        harmless=not reason,
        reason=reason,
        listed=True,
        spelled=tuple(usage.spelled),
        reads=tuple(reads),
        writes=tuple(PathUse(word=word, directories=directories) for word in usage.writes),
        maybe=_named_files(command) if usage.hazards else (),
        removes=removes,
        recursive=usage.recursive,
        repository_doubt=repository_doubt,
    )


def _may_be_directory(word: Word, directories: Directories) -> bool:
    if directories is None or word.wild:
        return True
    return any(os.path.isdir(os.path.join(directory, word.text)) for directory in directories)  # noqa: PTH112, PTH118


def _may_be_flag(word: Word, directories: Directories) -> bool:
    if directories is None:
        return True
    try:
        return any(name.startswith("-") for directory in directories for name in matches(word.pattern, cwd=directory))
    except PathRefused:
        return True


def _may_expand(word: Word, directories: Directories) -> bool:
    if directories is None:
        return True
    try:
        return any(matches(word.pattern, cwd=directory) for directory in directories)
    except PathRefused:
        return True


_ACCEPTED_FLAGS = {
    "touch": re.compile(r"-[acm]+|--no-create"),
    "mkdir": re.compile(r"-[pv]+|--parents|--verbose"),
    "cp": re.compile(r"-[finpuv]+|--force|--no-clobber|--verbose|--update"),
    "mv": re.compile(r"-[finuv]+|--force|--no-clobber|--verbose|--update"),
}


def _writing(command: Command) -> Part:
    """Commands whose business is to change files: which ones, and whether it is no more than an edit would do."""
    words = command.words
    name = program(words[0])
    flags = [word.text for word in words[1:] if word.text.startswith("-") and word.text != "-"]
    operands = [word for word in words[1:] if not word.text.startswith("-")]
    targets = list(operands)
    if name == "dd":
        named = [(word, word.text.removeprefix("of=")) for word in operands if word.text.startswith("of=")]
        targets = [replace(word, text=text, pattern=text) for word, text in named]
    if name in ("cp", "mv", "ln", "install", "rsync") and len(operands) > 1:
        into = operands[-1]
        named = [f"{into.text.rstrip('/')}/{source.text.rstrip('/').rpartition('/')[2]}" for source in operands[:-1]]
        targets = [into, *(replace(into, text=text, pattern=text, wild=False) for text in named)]
        if name == "mv":
            targets += operands[:-1]
    accepted = _ACCEPTED_FLAGS.get(words[0].text)
    plain = (
        accepted is not None and all(accepted.fullmatch(flag) for flag in flags) and command.known and bool(operands)
    )
    if plain and name in ("cp", "mv"):
        plain = len(operands) > 1 and all(_regular(word, command.directories) for word in operands[:-1])
    plain = plain and not any(word.wild for word in words)
    return Part(
        argv=command.argv,
        known=command.known,
        reason=f"`{name}` changes files",
        reads=tuple(PathUse(word=word, directories=command.directories) for word in operands[:-1])
        if name == "cp"
        else (),
        writes=tuple(PathUse(word=word, directories=command.directories) for word in targets),
        maybe=_named_files(command),
        removes=tuple(PathUse(word=word, directories=command.directories) for word in operands)
        if name in _REMOVERS
        else (),
        recursive=name in ("cp", "rsync"),
        edits_only=plain,
    )


def _regular(word: Word, directories: Directories) -> bool:
    return directories is not None and all(is_regular(os.path.join(directory, word.text)) for directory in directories)  # noqa: PTH118


def _named_files(command: Command) -> tuple[PathUse, ...]:
    """Every word, and every value inside a flag, that could name a file."""
    found: list[PathUse] = []
    for word in command.words[1 : MAX_ARGUMENTS + 1]:
        texts = [word.text]
        if "=" in word.text:
            texts.append(word.text.partition("=")[2])
        if re.match(r"-[A-Za-z].", word.text):
            texts.append(word.text[2:])
        if _PIECES.search(word.text):  # field=@file, file:place, file:///path
            texts += _PIECES.split(word.text)
        for text in texts:
            if text and (not text.startswith("-") or text != word.text) and "\n" not in text and len(text) < 4096:
                wild = word if text == word.text else replace(word, text=text, pattern=text)
                found.append(PathUse(word=wild, directories=command.directories))
    return tuple(found)


def _moved(here: Directories, moves: Sequence[Word], place: _Place) -> Directories:
    """Where `git -C a -C b` would run."""
    for move in moves:
        if here is None or not move.known or move.wild:
            return None
        try:
            here = frozenset(
                locate(move.text, cwd=directory, home=place.home, seen=place.seen).target for directory in here
            )
        except PathRefused:
            return None
    return here


def _guesses(command: Command, place: _Place) -> Iterator[Part]:
    """Everything a wrapper might run: each tail of its words, and each argument that is shell text itself."""
    words = command.words[: MAX_TAILS + 1]
    if len(words) < len(command.words):
        place.unchecked.append("a wrapper has too many arguments to find what it runs")
    texts = [word.text for word in words[1:] if _SPLITS.search(word.text)]
    if program(words[0]) in ("eval", "ssh", "watch"):
        texts.append(" ".join(word.text for word in words[1:]))
    for start in range(1, len(words)):
        yield replace(_judged(replace(command, words=words[start:], redirects=()), place), certain=False, inner=True)
    for text in texts:
        if place.nesting >= MAX_NESTING:
            place.unchecked.append("shell text inside shell text, too deep to follow")
            return
        inside = judge(
            text,
            cwd=min(command.directories) if command.directories else place.cwd,
            home=place.home,
            roots=place.roots,
            trusted=place.trusted,
            nesting=place.nesting + 1,
            seen=place.seen,
        )
        place.unchecked.extend((*inside.doubts, *inside.unchecked))
        for part in inside.parts:
            yield replace(part, certain=False, inner=True)
