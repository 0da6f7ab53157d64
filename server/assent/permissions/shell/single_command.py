"""What one simple command would do, by the tables: which files it reads and writes, and why it is not read-only.

Not aware of what wraps the command, of loops, or of text that the command may run: `judge` is.
"""

from collections.abc import Sequence
from dataclasses import replace

from assent.permissions.npm_files import npm_doubt
from assent.permissions.paths import PathRefused, locate
from assent.permissions.shell.disk_lookups import expansions, free_of_links, may_be_directory
from assent.permissions.shell.line_state import LineState
from assent.permissions.shell.syntax.directories import Directories
from assent.permissions.shell.syntax.parts import Part, PathUse, named_files, uses
from assent.permissions.shell.syntax.simple_commands import Command
from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables import git as shell_git
from assent.permissions.shell.tables.changes import changing
from assent.permissions.shell.tables.commands import COMMANDS, asks_version
from assent.permissions.shell.tables.everyday import asks_rust_version, everyday, names_toolchain
from assent.permissions.shell.tables.gates import gate
from assent.permissions.shell.tables.options import CommandUsage, read_usage
from assent.permissions.shell.tables.wrappers import WRITERS, program, runs_another, spelled_out
from assent.permissions.shell.tables.writers import REMOVERS, unpacked_into, writing
from assent.text.words import names

HERE = Word(text=".", pattern=".")

_COPIERS = names("tar zip rsync scp 7z cpio")


def judged(command: Command, line: LineState) -> Part:
    part = _read_alone(command, line)
    return part if part.harmless else changing(command, part, harmless=lambda inner: _read_alone(inner, line).harmless)


def _read_alone(command: Command, line: LineState) -> Part:
    words = command.words
    name = words[0].text
    if not words[0].known or words[0].wild:
        return Part(
            argv=command.argv, known=False, reason="the command's name is not known", maybe=named_files(command)
        )
    if name == "git":
        return _git(command, line)
    if asks_version(command.argv):
        return Part(argv=command.argv, known=command.known, harmless=command.known, listed=True)
    if asks_rust_version(command.argv):
        if names_toolchain(command.directories):
            reason = f"`{name}` may run or fetch the version that a rust-toolchain file names"
            return Part(argv=command.argv, known=command.known, reason=reason)
        return Part(argv=command.argv, known=command.known, harmless=command.known, listed=True, looked=name)
    if (usage := everyday(words)) is not None:
        if name == "npm" and (doubt := npm_doubt(command.directories, home=line.home)):
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


def _git(command: Command, line: LineState) -> Part:
    words = command.words[1:]
    usage, moves = shell_git.git_usage(words)
    directories = _moved(command.directories, moves, line)
    doubt = line.repository_doubt(directories)
    here = uses([HERE], directories)
    spreads = here if usage.hazards and shell_git.overwrites(words) else ()
    revises = here if usage.hazards else ()
    if usage.hazards != [shell_git.UNKNOWN_SUBCOMMAND]:
        usage.reads.extend(moves)
        usage.recursive = usage.recursive or bool(usage.hazards and shell_git.copies_all(words))
        part = _from_usage(command, usage, directories, doubt)
        return replace(part, spreads=spreads, revises=revises, gate=_gate(command.words) if usage.hazards else "")
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
        recursive=shell_git.takes_much(name, usage.operands, may_be_directory, directories),
        spreads=spreads,
        revises=revises,
        gate=_gate(command.words),
        repository_doubt=doubt,
    )


def _from_usage(command: Command, usage: CommandUsage, directories: Directories, repository_doubt: str) -> Part:
    looked = ""
    if command.words[0].text == "diff" and any(may_be_directory(word, directories) for word in usage.reads):
        looked = usage.reads[0].text
        usage.recursive = True
        if "--no-dereference" not in command.argv and not free_of_links(usage.reads, directories):
            usage.hazard("a directory, whose links it would follow: `--no-dereference` compares the links", "diff")
    for word in usage.looked:
        looked = word.text
        found = expansions(word, directories)
        if found is None or any(name.startswith("-") for name in found):
            usage.hazard(f"`{word.text}`, which may expand to a name that is taken for a flag", word.text)
    for word in usage.reads:
        if not word.known:
            usage.hazard(f"`{word.text}`, a file whose name is not known", word.text)
    for word in usage.literal:
        looked = word.text if word.wild else looked
        if word.wild and expansions(word, directories) != []:
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
        reads.append(PathUse(word=HERE, directories=directories))
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


def _moved(here: Directories, moves: Sequence[Word], line: LineState) -> Directories:
    """Where `git -C a -C b` would run."""
    for move in moves:
        if here is None or not move.known or move.wild:
            return None
        try:
            here = frozenset(
                locate(move.text, cwd=directory, home=line.home, seen=line.seen).target for directory in here
            )
        except PathRefused:
            return None
    return here
