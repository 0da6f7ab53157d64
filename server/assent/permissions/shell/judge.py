"""What a shell line would do: every simple command in it, alone, as far as the table can tell.

Owns the judgement of commands; knows nothing of rules, modes or people. Wrappers (`timeout`, `env`, `sudo`, `bash -c`)
are looked into, so that what they run is judged too. Anything not known for sure makes a part not read-only.
"""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from assent.permissions import repositories
from assent.permissions.npm_files import npm_doubt
from assent.permissions.paths import PathRefused, Seen, locate, matches
from assent.permissions.shell.guesses import Guess, guesses
from assent.permissions.shell.syntax.directories import Directories
from assent.permissions.shell.syntax.grammar import Script, read
from assent.permissions.shell.syntax.parts import Part, PathUse, named_files, pieces, uses
from assent.permissions.shell.syntax.statements import Command
from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables import git as shell_git
from assent.permissions.shell.tables.changes import changing
from assent.permissions.shell.tables.commands import COMMANDS, asks_version
from assent.permissions.shell.tables.everyday import asks_rust_version, everyday, names_toolchain
from assent.permissions.shell.tables.gates import gate
from assent.permissions.shell.tables.handed_names import handed_names
from assent.permissions.shell.tables.options import Usage, read_usage
from assent.permissions.shell.tables.wrappers import WRITERS, program, runs_another, spelled_out, unwrapped
from assent.permissions.shell.tables.writers import REMOVERS, unpacked_into, writing
from assent.text.words import names

MAX_NESTING = 4  # of shell text inside shell text
MAX_TURNS = 20  # of a loop that are looked at
MAX_WRAPPERS = 20  # around one another
MAX_WORDS = 500  # of a line: more of them are not looked at
MAX_LOOKED_THROUGH = 1000  # names below a directory, in search of links
MAX_TEXTS = 40  # that may be shell text, in one line
MAX_GUESSED_WORDS = 4000  # of commands that wrappers may run, in one line

_COPIERS = names("tar zip rsync scp 7z cpio")
_HERE = Word(text=".", pattern=".")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    script: Script
    doubts: tuple[str, ...] = ()  # why the line is not understood: the script's, and words that no command judged
    parts: tuple[Part, ...] = ()
    unchecked: tuple[str, ...] = ()  # what could hide a denied command from us, in words
    unnamed: tuple[str, ...] = ()  # what could touch files that nobody here can name
    blind: tuple[str, ...] = ()  # what would run or remove something unseen, and so needs a person in every mode

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
    budget: "_Budget | None" = None,
) -> Judgement:
    """`hints` are names of commands that something is denied about: they count in arguments of unknown programs too."""
    seen = {} if seen is None else seen
    script = read(text, cwd=cwd, home=home, seen=seen)
    place = _Place(
        cwd=cwd,
        home=home,
        roots=tuple(roots) or (cwd,),
        trusted=trusted,
        hints=hints,
        nesting=nesting,
        seen=seen,
        budget=budget or _Budget(),
    )
    if sum(_size(command) for command in script.commands) > MAX_WORDS:
        why = "the command has too many words to look at them all"
        return Judgement(script=script, doubts=(*script.doubts, why), blind=(why,))
    parts: list[Part] = []
    doubts = list(script.doubts)
    for command in script.commands:
        judged = _in_turn(command, place) or list(_parts(command, place))
        parts.extend(judged)
        if not command.known and not all(part.harmless for part in judged):
            doubts.extend(word.doubt for word in command.words if word.doubt)
    if any(not part.read_only for part in parts):
        parts = [_unlooked(part) for part in parts]
    return Judgement(
        script=script,
        doubts=tuple(dict.fromkeys(doubts)),
        parts=tuple(parts),
        unchecked=tuple(dict.fromkeys(place.unchecked)),
        unnamed=tuple(dict.fromkeys(place.unnamed)),
        blind=tuple(dict.fromkeys(place.blind)),
    )


def is_read_only(command: str, cwd: str, *, home: str = "", roots: Sequence[str] = (), trusted: bool = True) -> bool:
    """Does the line only read, by the table? Says nothing of where it reads; the chain does."""
    judgement = judge(command, cwd=cwd, home=home or "/nonexistent", roots=roots, trusted=trusted)
    return not judgement.doubts and all(part.read_only for part in judgement.parts if part.certain)


def _unlooked(part: Part) -> Part:
    """Beside a command that may create files, what stood in the directory a moment ago says nothing."""
    if not part.looked:
        return part
    return replace(
        part, harmless=False, reason=f"`{part.looked}` may be turned into a flag by a file that the line makes"
    )


def _size(command: Command) -> int:
    """Its words, and the names inside them that would each have to be looked at."""
    return len(command.words) + sum(pieces(word) for word in command.words)


@dataclass(slots=True)
class _Budget:
    """What may still be guessed at in one line, so that a long line takes no longer than it is worth."""

    texts: int = MAX_TEXTS
    words: int = MAX_GUESSED_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    cwd: str
    home: str
    roots: tuple[str, ...]
    trusted: bool
    hints: Collection[str]
    nesting: int
    seen: Seen
    budget: _Budget
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
    if (found := _on_handed_names(command, place)) is not None:
        yield from found
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


def _in_turn(command: Command, place: _Place) -> list[Part]:
    """In a loop, the command with each of the words that the variable goes through; none, unless all only read.

    A quoted variable is one word, and that is a name the shell made of the loop's word.
    """
    if command.known or not command.loops or command.redirects:
        return []
    loops = dict(command.loops)
    found: list[Part] = []
    for turn in range(max(len(words) for words in loops.values())):
        if turn >= MAX_TURNS:
            return []
        words = tuple(_in_loop(word, loops, turn) for word in command.words)
        found += _parts(replace(command, words=words), place)
        if not all(part.harmless for part in found) or not all(word.known for word in words):
            return []
    return found


def _in_loop(word: Word, loops: Mapping[str, tuple[Word, ...]], turn: int) -> Word:
    values = loops.get(word.text.strip("${}"), ()) if not word.known and not word.splits else ()
    return values[min(turn, len(values) - 1)] if values else word


def _on_handed_names(command: Command, place: _Place) -> tuple[Part, ...] | None:
    """`find … -exec wc -l {} +` and `… | xargs wc -l` where both halves only read: all below what is searched."""
    handed = handed_names(command)
    if handed is None:
        return None
    inner = _judged(handed.inner, place)
    own = Part(argv=command.argv, known=True, harmless=True, listed=True)
    if handed.own is not None:
        own = replace(_judged(handed.own, place), argv=command.argv)
    if not (own.harmless and inner.harmless):
        return None
    reads = own.reads or uses([_HERE], command.directories)
    looked = command.argv[0] if handed.looked else own.looked
    return replace(own, recursive=True, reads=reads, looked=looked), replace(inner, inner=True)


def _guessed(guess: Guess, command: Command, place: _Place) -> Iterator[Part]:
    """What may run as well, as parts that nothing is allowed by."""
    for said, collected in (
        (guess.unchecked, place.unchecked),
        (guess.unnamed, place.unnamed),
        (guess.blind, place.blind),
    ):
        if said:
            collected.append(said)
    if guess.files:
        files = [Word(text=text, pattern=text) for text in guess.files]
        named = uses(files, command.directories)
        alters = named if guess.destroys else ()
        yield Part(argv=(), known=False, certain=False, inner=True, maybe=named, alters=alters)
    own = {id(word) for word in command.words}
    for tail in guess.tails:
        place.budget.words -= len(tail)
        if place.budget.words < 0:
            place.unchecked.append("more commands may run than can be looked at")
            return
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
        place.budget.texts -= 1
        if place.budget.texts < 0:
            place.unchecked.append("more shell text may run than can be looked at")
            return
        inside = judge(
            text,
            cwd=min(command.directories) if command.directories else place.cwd,
            home=place.home,
            roots=place.roots,
            trusted=place.trusted,
            nesting=place.nesting + 1,
            seen=place.seen,
            budget=place.budget,
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
    part = _read_alone(command, place)
    return part if part.harmless else changing(command, part, harmless=lambda inner: _read_alone(inner, place).harmless)


def _read_alone(command: Command, place: _Place) -> Part:
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
    if asks_rust_version(command.argv):
        if names_toolchain(command.directories):
            reason = f"`{name}` may run or fetch the version that a rust-toolchain file names"
            return Part(argv=command.argv, known=command.known, reason=reason)
        return Part(argv=command.argv, known=command.known, harmless=command.known, listed=True, looked=name)
    if (usage := everyday(words)) is not None:
        if name == "npm" and (doubt := npm_doubt(command.directories, home=place.home)):
            usage.hazard(f"`ls`, since {doubt}", "ls")
        return _from_usage(command, usage, command.directories, "")
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
        arrives=unpacked_into(words, command.directories),
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
        usage.recursive = usage.recursive or bool(usage.hazards and shell_git.copies_all(words))
        return replace(_from_usage(command, usage, directories, doubt), spreads=spreads)
    name = usage.spelled[0]
    operands = [word for word in usage.operands if not word.text.startswith("-")]
    return Part(
        argv=command.argv,
        known=command.known,
        reason=f"`git {name}` may change something",
        spelled=shell_git.programs_named(words),
        reads=uses(operands, directories) if name in shell_git.TAKES_IN else (),
        maybe=uses(list(shell_git.files_by_flag(words)), directories)
        if name in shell_git.HARMLESS_OPERANDS
        else named_files(command),
        recursive=shell_git.takes_much(name, usage.operands, _may_be_directory, directories),
        spreads=spreads,
        gate=_gate(command.words),
        repository_doubt=doubt,
    )


def _from_usage(command: Command, usage: Usage, directories: Directories, repository_doubt: str) -> Part:
    looked = ""
    if command.words[0].text == "diff" and any(_may_be_directory(word, directories) for word in usage.reads):
        looked = usage.reads[0].text
        usage.recursive = True
        if "--no-dereference" not in command.argv and not _free_of_links(usage.reads, directories):
            usage.hazard("a directory, whose links it would follow: `--no-dereference` compares the links", "diff")
    for word in usage.looked:
        looked = word.text
        found = _expansions(word, directories)
        if found is None or any(name.startswith("-") for name in found):
            usage.hazard(f"`{word.text}`, which may expand to a name that is taken for a flag", word.text)
    for word in usage.reads:
        if not word.known:
            usage.hazard(f"`{word.text}`, a file whose name is not known", word.text)
    for word in usage.literal:
        looked = word.text if word.wild else looked
        if word.wild and _expansions(word, directories) != []:
            usage.hazard(f"`{word.text}`, which the shell would expand", word.text)
    reads = [PathUse(word=word, directories=directories) for word in usage.reads]
    for word in command.words[1:]:
        if word.wild and word not in usage.reads:  # the shell reads a directory, and the names in it may be shown
            reads.append(PathUse(word=word, directories=directories))
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
        looked=looked,
        repository_doubt=repository_doubt,
    )


def _may_be_directory(word: Word, directories: Directories) -> bool:
    if directories is None or word.wild:
        return True
    return any(os.path.isdir(os.path.join(directory, word.text)) for directory in directories)  # noqa: PTH112, PTH118


def _free_of_links(words: Sequence[Word], directories: Directories) -> bool:
    """Is there no link anywhere below? Looks at so many names and no more."""
    left = MAX_LOOKED_THROUGH
    for directory in directories or ():
        pending = [os.path.join(directory, word.text) for word in words if not word.wild]  # noqa: PTH118
        while pending:
            try:
                entries = list(islice(os.scandir(pending.pop()), left + 1))
            except NotADirectoryError:
                continue
            except (OSError, ValueError):  # a name with a NUL byte
                return False
            left -= len(entries)
            if left < 0 or any(entry.is_symlink() for entry in entries):
                return False
            pending.extend(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    return directories is not None and not any(word.wild for word in words)


def _expansions(word: Word, directories: Directories) -> list[str] | None:
    """The names the shell would put for it; None when nobody can say."""
    if directories is None:
        return None
    try:
        return [name for directory in directories for name in matches(word.pattern, cwd=directory)]
    except PathRefused:
        return None


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
