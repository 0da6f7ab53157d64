"""What a shell line would do: every simple command in it, alone, as far as the table can tell.

Owns the judgement of commands; knows nothing of rules, modes or people. Wrappers (`timeout`, `env`, `sudo`, `bash -c`)
are looked into, so that what they run is judged too. Anything not known for sure makes a part not read-only.
"""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from assent.permissions import repositories, shell_git
from assent.permissions.paths import PathRefused, Seen, locate, matches
from assent.permissions.shell_commands import COMMANDS, asks_version
from assent.permissions.shell_directories import Directories
from assent.permissions.shell_gates import gate
from assent.permissions.shell_guesses import Guess, guesses
from assent.permissions.shell_options import Usage, read_usage
from assent.permissions.shell_parts import MAX_ARGUMENTS, Part, PathUse, named_files, uses
from assent.permissions.shell_statements import Command
from assent.permissions.shell_syntax import Script, read
from assent.permissions.shell_words import Word
from assent.permissions.shell_wrappers import WRITERS, program, runs_another, spelled_out, unwrapped
from assent.permissions.shell_writers import REMOVERS, unpacks, writing
from assent.permissions.text import names

MAX_NESTING = 4  # of shell text inside shell text
MAX_WRAPPERS = 20  # around one another

_COPIERS = names("tar zip rsync scp 7z cpio")
_HERE = Word(text=".", pattern=".")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    script: Script
    parts: tuple[Part, ...] = ()
    unchecked: tuple[str, ...] = ()  # what could hide a denied command from us, in words
    unnamed: tuple[str, ...] = ()  # what could touch files that nobody here can name
    blind: tuple[str, ...] = ()  # what would run or remove something unseen, and so needs a person in every mode

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
    hints: Collection[str] = (),
    nesting: int = 0,
    seen: Seen | None = None,
) -> Judgement:
    """`hints` are names of commands that something is denied about: they count in arguments of unknown programs too."""
    seen = {} if seen is None else seen
    script = read(text, cwd=cwd, home=home, seen=seen)
    place = _Place(
        cwd=cwd, home=home, roots=tuple(roots) or (cwd,), trusted=trusted, hints=hints, nesting=nesting, seen=seen
    )
    parts: list[Part] = []
    for command in script.commands:
        if len(command.words) > MAX_ARGUMENTS:
            place.unchecked.append("a command has too many arguments to look at them all")
        parts.extend(_parts(command, place))
    return Judgement(
        script=script,
        parts=tuple(parts),
        unchecked=tuple(dict.fromkeys(place.unchecked)),
        unnamed=tuple(dict.fromkeys(place.unnamed)),
        blind=tuple(dict.fromkeys(place.blind)),
    )


def is_read_only(command: str, cwd: str, *, home: str = "", roots: Sequence[str] = (), trusted: bool = True) -> bool:
    """Does the line only read, by the table? Says nothing of where it reads; the chain does."""
    judgement = judge(command, cwd=cwd, home=home or "/nonexistent", roots=roots, trusted=trusted)
    return not judgement.doubts and all(part.read_only for part in judgement.parts if part.certain)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    cwd: str
    home: str
    roots: tuple[str, ...]
    trusted: bool
    hints: Collection[str]
    nesting: int
    seen: Seen
    unchecked: list[str] = field(default_factory=list[str])
    unnamed: list[str] = field(default_factory=list[str])
    blind: list[str] = field(default_factory=list[str])
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
    if command.words[0].wild:
        place.unchecked.append(f"what `{command.argv[0]}` runs is nowhere to be read")
    if not part.harmless:
        named = shell_git.told_to_run(command.words[1:]) if program(command.words[0]) == "git" else ()
        for guess in guesses(command, code=part.code, named=named, hints=place.hints):
            yield from _guessed(guess, command, place)


def _guessed(guess: Guess, command: Command, place: _Place) -> Iterator[Part]:
    """What may run as well, as parts that nothing is allowed by."""
    for said, collected in (
        (guess.unchecked, place.unchecked),
        (guess.unnamed, place.unnamed),
        (guess.blind, place.blind),
    ):
        if said:
            collected.append(said)
    own = {id(word) for word in command.words}
    for tail in guess.tails:
        if guess.weak:
            yield Part(argv=tuple(word.text for word in tail), known=False, certain=False, weak=True)
        else:
            named = id(tail[-1]) in own  # then the whole command names all files of its tail already
            part = _judged(replace(command, words=tail, redirects=(), naming=not named), place)
            yield replace(part, certain=False, inner=True)
    for text in guess.texts:
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
        if not guess.weak:
            place.blind.extend(inside.blind)
            place.unnamed.extend(inside.unnamed)
            place.unchecked.extend((*inside.doubts, *inside.unchecked))
        for part in inside.parts:
            yield replace(part, certain=False, inner=True, weak=guess.weak)


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
            argv=command.argv, known=False, reason="the command's name is not known", maybe=named_files(command)
        )
    if name == "git":
        return _git(command, place)
    if asks_version(command.argv):
        return Part(argv=command.argv, known=command.known, harmless=command.known, listed=True)
    if name in COMMANDS:
        return _from_usage(command, read_usage(COMMANDS[name], words[1:]), command.directories, "")
    if program(words[0]) in WRITERS:
        return writing(command)
    return Part(
        argv=command.argv,
        known=command.known,
        reason=f"`{name}` is not known to be read-only",
        listed=runs_another(words),
        spelled=spelled_out(words),
        maybe=named_files(command),
        recursive=program(words[0]) in _COPIERS,
        spreads=uses([_HERE], command.directories) if unpacks(words) else (),
        gate=_gate(words),
    )


def _gate(words: Sequence[Word]) -> str:
    why = gate(program(words[0]), [word.text for word in words[1:]])
    return f"`{words[0].text}` {why}" if why else ""


def _git(command: Command, place: _Place) -> Part:
    words = command.words[1:]
    usage, moves = shell_git.git_usage(words)
    directories = _moved(command.directories, moves, place)
    doubt = place.repository_doubt(directories)
    spreads = uses([_HERE], directories) if usage.hazards and shell_git.overwrites(words) else ()
    if usage.hazards != [shell_git.UNKNOWN_SUBCOMMAND]:
        usage.reads.extend(moves)
        return replace(_from_usage(command, usage, directories, doubt), spreads=spreads)
    name = usage.spelled[0]
    operands = [word for word in usage.operands if not word.text.startswith("-")]
    return Part(
        argv=command.argv,
        known=command.known,
        reason=f"`git {name}` may change something",
        spelled=shell_git.programs_named(words),
        reads=uses(operands, directories) if name in shell_git.TAKES_IN else (),
        maybe=() if name in shell_git.HARMLESS_OPERANDS else named_files(command),
        recursive=shell_git.takes_much(name, usage.operands, _may_be_directory, directories),
        spreads=spreads,
        gate=_gate(command.words),
        repository_doubt=doubt,
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
        reads.append(PathUse(word=_HERE, directories=directories))
    reason = ""
    if usage.hazards:
        reason = f"`{command.words[0].text}` with {usage.hazards[0]}"
    elif repository_doubt:
        reason = repository_doubt
    elif not command.known:
        reason = "an argument is not known before it runs"
    removes = tuple(reads) if REMOVERS.union({"-delete"}).intersection(usage.spelled) else ()  # of find
    return Part(
        argv=command.argv,
        known=command.known,
        harmless=not reason,
        reason=reason,
        listed=True,
        spelled=tuple(usage.spelled),
        reads=tuple(reads),
        writes=tuple(PathUse(word=word, directories=directories) for word in usage.writes),
        maybe=named_files(command) if usage.hazards else (),
        code=usage.code,
        removes=removes,
        spreads=tuple(reads) if usage.hazards and command.words[0].text == "find" else (),
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
