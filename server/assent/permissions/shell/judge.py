"""What a shell line would do: every simple command in it, and what each may run besides.

Owns the judgement of lines; `single_command` judges one command by the tables. Not aware of rules, modes or people.
Wrappers (`timeout`, `env`, `sudo`, `bash -c`) are looked into, so that what they run is judged too. Anything not known
for sure makes a part not read-only.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assent.permissions.paths import Seen
from assent.permissions.shell.guesses import Guess, guesses
from assent.permissions.shell.line_state import GuessBudget, LineState
from assent.permissions.shell.single_command import HERE, judged
from assent.permissions.shell.syntax.grammar import Script, read
from assent.permissions.shell.syntax.parts import Part, PathUse, pieces, uses
from assent.permissions.shell.syntax.simple_commands import Command
from assent.permissions.shell.syntax.words import MAX_WORDS, Word
from assent.permissions.shell.tables import git as shell_git
from assent.permissions.shell.tables.handed_names import handed_names
from assent.permissions.shell.tables.wrappers import SHELLS, program, unwrapped

MAX_NESTING = 4  # of shell text inside shell text
MAX_TURNS = 20  # of a loop that are looked at
MAX_WRAPPERS = 20  # around one another

_STAYS_ONE = re.compile(r"[\w./+@%:,-]+", re.ASCII)


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
    budget: GuessBudget | None = None,
    unsettled: bool = False,
    anywhere: bool = False,
) -> Judgement:
    """`hints` are names of commands that something is denied about: they count in arguments of unknown programs too."""
    seen = {} if seen is None else seen
    script = read(text, cwd=cwd, home=home, seen=seen, unsettled=unsettled, anywhere=anywhere)
    line = LineState(
        cwd=cwd,
        home=home,
        roots=tuple(roots) or (cwd,),
        trusted=trusted,
        hints=hints,
        nesting=nesting,
        seen=seen,
        budget=budget or GuessBudget(),
        unsettled=script.unsettled,
    )
    if script.crowded or sum(_size(command) for command in script.commands) > MAX_WORDS:
        why = "the command has too many words to look at them all"
        return Judgement(script=script, doubts=(*script.doubts, why), blind=(why,))
    parts: list[Part] = []
    doubts = list(script.doubts)
    for command in script.commands:
        found = _in_turn(command, line) or list(_parts(command, line))
        parts.extend(found)
        if not command.known and not all(part.harmless for part in found):
            doubts.extend(word.doubt for word in command.words if word.doubt)
    if any(not part.read_only for part in parts):
        parts = [_unlooked(part) for part in parts]
    return Judgement(
        script=script,
        doubts=tuple(dict.fromkeys(doubts)),
        parts=tuple(parts),
        unchecked=tuple(dict.fromkeys(line.unchecked)),
        unnamed=tuple(dict.fromkeys(line.unnamed)),
        blind=tuple(dict.fromkeys(line.blind)),
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
    """Its words and redirections, and the names inside them that would each have to be looked at."""
    return len(command.words) + len(command.redirects) + sum(pieces(word) for word in command.words)


def _parts(command: Command, line: LineState, wrappers: int = 0) -> Iterator[Part]:
    """The command itself, then what it wraps."""
    reads, outputs = _redirected(command)
    inner = unwrapped(command.words) if command.words and wrappers < MAX_WRAPPERS else None
    if not command.words or inner is not None:
        yield Part(argv=command.argv, known=command.known, harmless=True, listed=True, reads=reads, outputs=outputs)
        if inner is not None:
            for part in _parts(replace(command, words=inner, redirects=()), line, wrappers + 1):
                yield replace(part, inner=True)
        return
    if (found := _on_handed_names(command, line)) is not None:
        yield from found
        return
    part = judged(command, line)
    if reads or outputs:
        reason = part.reason or ("a redirection writes to a file" if outputs else "")
        part = replace(part, reads=(*part.reads, *reads), outputs=outputs, reason=reason)
    yield part
    if command.words[0].wild:
        line.unchecked.append(f"what `{command.argv[0]}` runs is nowhere to be read")
    if not part.harmless:
        named = shell_git.told_to_run(command.words[1:]) if program(command.words[0]) == "git" else ()
        for guess in guesses(command, code=part.code, named=named, hints=line.hints):
            yield from _guessed(guess, command, line)


def _in_turn(command: Command, line: LineState) -> list[Part]:
    """In a loop, the command with each of the words that the variable goes through; none, unless all only read.

    A quoted variable is one word, and that is a name the shell made of the loop's word. Without the quotes it is so
    where the loop's word is no wildcard and holds nothing that the shell would cut or expand.
    """
    if command.known or not command.loops or command.redirects:
        return []
    loops = dict(command.loops)
    found: list[Part] = []
    for turn in range(max(len(words) for words in loops.values())):
        if turn >= MAX_TURNS:
            return []
        words = tuple(_in_loop(word, loops, turn) for word in command.words)
        found += _parts(replace(command, words=words), line)
        if not all(part.harmless for part in found) or not all(word.known for word in words):
            return []
    return found


def _in_loop(word: Word, loops: Mapping[str, tuple[Word, ...]], turn: int) -> Word:
    values = loops.get(word.text.strip("${}"), ()) if not word.known else ()
    if not values:
        return word
    value = values[min(turn, len(values) - 1)]
    if not word.splits:
        return replace(value, single=True)
    return value if value.plain and _STAYS_ONE.fullmatch(value.text) else word


def _on_handed_names(command: Command, line: LineState) -> tuple[Part, ...] | None:
    """`find … -exec wc -l {} +` and `… | xargs wc -l` where both halves only read: all below what is searched."""
    handed = handed_names(command)
    if handed is None:
        return None
    inner = judged(handed.inner, line)
    own = Part(argv=command.argv, known=True, harmless=True, listed=True)
    if handed.own is not None:
        own = replace(judged(handed.own, line), argv=command.argv)
    if not (own.harmless and inner.harmless):
        return None
    reads = own.reads or uses([HERE], command.directories)
    looked = command.argv[0] if handed.looked else own.looked
    return replace(own, recursive=True, reads=reads, looked=looked), replace(inner, inner=True)


def _guessed(guess: Guess, command: Command, line: LineState) -> Iterator[Part]:
    """What may run as well, as parts that nothing is allowed by."""
    for said, collected in (
        (guess.unchecked, line.unchecked),
        (guess.unnamed, line.unnamed),
        (guess.blind, line.blind),
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
        line.budget.words -= len(tail)
        if line.budget.words < 0:
            line.unchecked.append("more commands may run than can be looked at")
            return
        if guess.weak:
            yield Part(argv=tuple(word.text for word in tail), known=False, certain=False, weak=True)
        else:
            named = id(tail[-1]) in own  # then the whole command names all files of its tail already
            part = judged(replace(command, words=tail, redirects=(), naming=not named), line)
            yield replace(part, certain=False, inner=True)
    for text in guess.texts:
        if line.nesting >= MAX_NESTING:
            line.unchecked.append("shell text inside shell text, too deep to follow")
            return
        line.budget.texts -= 1
        line.budget.text_length -= len(text)
        if line.budget.texts < 0 or line.budget.text_length < 0:
            line.unchecked.append("more shell text may run than can be looked at")
            return
        inside = judge(
            text,
            cwd=min(command.directories) if command.directories else line.cwd,
            home=line.home,
            roots=line.roots,
            trusted=line.trusted,
            nesting=line.nesting + 1,
            seen=line.seen,
            budget=line.budget,
            unsettled=line.unsettled,
            anywhere=command.directories is None,
        )
        if not guess.weak:
            line.blind.extend(inside.blind)
            if inside.script.lost and any(program(word) in SHELLS or word.text == "eval" for word in command.words):
                line.blind.append(f"nobody could read `{text}`")
            line.unnamed.extend(inside.unnamed)
            line.unchecked.extend((*inside.doubts, *inside.unchecked))
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
