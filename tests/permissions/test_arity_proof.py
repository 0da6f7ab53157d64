"""The tables of flags held against the programs themselves: a row that lies about what a flag consumes fails.

A program that is not installed here proves nothing; which ones these are, and which flags an installed version does
not know, is said in a warning. Flags that a program does not know do no harm: it stops there.
"""

import re
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assent.permissions.shell.tables.commands import COMMANDS
from assent.permissions.shell.tables.find import ALONE, VALUED
from assent.permissions.shell.tables.options import Flag
from assent.permissions.shell.tables.programs import TREE_ALONE, TREE_VALUED, XXD_ALONE, XXD_VALUED
from assent.text.words import names
from permissions.arity_probe import Found, Probe, takes_next_word

PROCESSES = 3
OWN_READERS = frozenset(name for name, row in COMMANDS.items() if row.reader is not None)
BEFORE = {"jq": ("-n", "1"), "cut": ("-f1",), "rg": ("x",)}
AT_ONCE = frozenset({("uptime", "-s")})  # acts before the rest of the word is read, so nothing can be seen of that
ALWAYS_THERE = names("ls cat head tail wc cut sort uniq tr stat du df od nl paste join comm grep sed diff")
_GNU = re.compile(r"GNU|coreutils|util-linux", re.IGNORECASE)


def flags_of(name: str) -> Iterator[tuple[str, Flag]]:
    yield from sorted(COMMANDS[name].flags.items())


def _ignored(name: str, flag: str, told: Flag, seen: Found) -> bool:
    """ripgrep 13 takes a value after `=` for every long flag, and ignores it; the table lets nobody write one."""
    return name == "rg" and flag.startswith("--") and (told.arity, seen) == ("none", "attached")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("probe")


def test_every_listed_flag_has_the_arity_that_the_program_gives_it(folder: Path) -> None:
    probes = {
        name: Probe(program=name, folder=folder, before=BEFORE.get(name, ()))
        for name in sorted(set(COMMANDS) - OWN_READERS)
    }
    absent = [name for name, probe in probes.items() if not probe.installed]
    if not _GNU.search(Probe(program="ls", folder=folder).says("--version")):
        pytest.fail("the tables are of GNU programs; this system's `ls` is not one, so nothing can be proven here")
    asked = [(name, flag, told) for name in probes if name not in absent for flag, told in flags_of(name)]

    def arity(case: tuple[str, str, Flag]) -> Found:
        return probes[case[0]].arity(case[1])

    with ThreadPoolExecutor(PROCESSES) as pool:
        found = list(pool.map(arity, asked))
    lies = [
        f"{name} {flag}: the table says {told.arity}, the program {seen}"
        for (name, flag, told), seen in zip(asked, found, strict=True)
        if seen not in ("unknown", told.arity) and (name, flag) not in AT_ONCE and not _ignored(name, flag, told, seen)
    ]
    unknown = [f"{name} {flag}" for (name, flag, _), seen in zip(asked, found, strict=True) if seen == "unknown"]
    warnings.warn(f"not installed, so not proven: {absent}; flags unknown here: {unknown}", stacklevel=1)
    assert lies == []
    assert not ALWAYS_THERE & set(absent)
    assert len(unknown) < len(asked) / 10, unknown


def test_values_that_may_be_negative_are_taken_as_values(folder: Path) -> None:
    (folder / "lines").write_text("1\n2\n3\n")
    negative = [(name, flag) for name in set(COMMANDS) - OWN_READERS for flag, told in flags_of(name) if told.negative]
    assert negative
    for name, flag in negative:
        said = Probe(program=name, folder=folder).says(flag, "-2", "lines")
        assert "invalid" not in said and "unrecognized" not in said, (name, flag, said)


def test_find_reads_its_expression_as_the_table_says(folder: Path) -> None:
    probe = Probe(program="find", folder=folder)
    for test in sorted(VALUED):
        assert re.search(
            r"missing argument|requires|invalid argument|invalid predicate|needs an argument", probe.says(".", test)
        ), test
    for test in sorted(ALONE - {"-help", "--help", "-version", "--version"}):
        said = probe.says(".", test, "zq-canary")
        assert "paths must precede expression" in said, (test, said)


@pytest.mark.parametrize(
    ("program", "alone", "valued", "missing"),
    [
        ("xxd", XXD_ALONE, XXD_VALUED, re.compile(r"zq-canary.*No such file")),
        ("tree", TREE_ALONE, TREE_VALUED, re.compile(r"zq-canary.*error opening dir")),
    ],
)
def test_programs_with_a_reader_of_their_own_take_the_next_word_where_the_table_says(
    folder: Path, program: str, alone: frozenset[str], valued: frozenset[str], missing: re.Pattern[str]
) -> None:
    probe = Probe(program=program, folder=folder)
    if not probe.installed:
        warnings.warn(f"not installed, so not proven: {program}", stacklevel=1)
        return
    assert [flag for flag in sorted(alone) if takes_next_word(probe, (flag,), missing)] == []
    assert [flag for flag in sorted(valued) if not takes_next_word(probe, (flag,), missing)] == []


def test_the_probe_notices_a_table_that_lies(folder: Path) -> None:
    head = Probe(program="head", folder=folder)
    assert [head.arity(flag) for flag in ("-n", "--lines", "-q", "--quiet", "--no-such")] == [
        "required",
        "required",
        "none",
        "none",
        "unknown",
    ]
    assert Probe(program="ls", folder=folder).arity("--color") == "attached"
    assert Probe(program="od", folder=folder).arity("-w") == "attached"
