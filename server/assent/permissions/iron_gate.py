"""The iron gate: why a call needs a person, whatever rules and modes say.

Owns what is protected in an opened call: its writes, its reads, what a command may remove or replace.
"""

import os
from dataclasses import replace

from assent.permissions import git_history, reach
from assent.permissions.case import Case
from assent.permissions.coverage import covers_part, restrictions
from assent.permissions.new_links import through_new_link
from assent.permissions.paths import Located
from assent.permissions.protected import (
    mentions_protected,
    protected_node,
    protected_read,
    protected_write,
    root_at_risk,
)
from assent.permissions.rules import READERS
from assent.permissions.shell.syntax.directories import MOVES
from assent.permissions.shell.syntax.parts import Part, PathUse
from assent.permissions.shell.tables.changers import may_replace_its_output, puts_another_in_place, writes_in_place
from assent.permissions.shell.tables.gates import git_moved


def iron_reason(case: Case) -> str | None:
    """Why this call needs a person, whatever rules and modes say."""
    for located in case.writes:
        if reason := _protected(case, located):
            return f"{located.written} is protected: {reason}."
    for located in case.reads:
        if reason := protected_read(located, roots=case.roots):
            return f"{located.written} holds {reason}."
    if case.shell is None:
        return None
    if case.shell.script.lost:
        return f"Nobody could read the command: {case.shell.doubts[0]}."
    if moved := git_moved(case.shell.script.text, (part.argv for part in case.shell.parts if not part.harmless)):
        return f"`{moved}` tells git where its files are or come from, so nobody can tell which it would change."
    for part in case.shell.parts:
        if not part.weak and (reason := _iron_part(case, part)):
            return reason
    if case.shell.blind:
        return f"Nobody can tell what would happen: {case.shell.blind[0]}."
    if case.shell.doubts and (reason := mentions_protected(case.shell.script.text)):
        return f"The command is not fully understood and names something protected: {reason}."
    return None


def _iron_part(case: Case, part: Part) -> str | None:
    if part.gate:
        return f"{part.gate[0].upper()}{part.gate[1:]}."
    in_place = writes_in_place(part.argv)
    for use, plainly in (*((use, in_place) for use in part.writes), *((use, True) for use in part.outputs)):
        if not use.word.known or case.locations(use) is None or (use.directories is None and not _rooted(use)):
            return f"Nobody can tell where `{' '.join(part.argv)}` would write."
        for located in case.written(use):
            if reason := _protected(case, located, in_place=plainly):
                return f"`{use.word.text}` is protected: {reason}."
        if case.unseen_names(use):
            return f"`{use.word.text}` has other names (hard links), and nobody can tell which files those are."
    if any(use.directories is None and not _rooted(use) for use in part.alters):
        return f"Nobody can tell which files `{' '.join(part.argv)}` would change."
    for use in part.maybe:
        if use.directories is None and not part.harmless and (place := _moved_into_protected(case)):
            return f"Nobody can tell where `{' '.join(part.argv)}` would run: `{place}` is protected."
        for located in case.locations(use) or ():
            if reason := _protected(case, located, sure=False):
                return f"`{use.word.text}` is protected: {reason}."
    for use in (*part.reads, *part.maybe):
        for located in case.locations(use) or ():
            if reason := protected_read(located, roots=case.roots):
                return f"`{use.word.text}` holds {reason}."
    for use in (*part.removes, *part.alters):
        handed = part.argv[:1] and part.argv[0].rpartition("/")[2] == "xargs"
        if part.argv and use.word.text not in part.argv and not handed:
            continue  # a piece of a word may be a piece of a program for sed
        for located in case.locations(use) or ():
            if (located.exists or not handed) and (reason := _protected(case, located)):
                return f"`{use.word.text}` is protected: {reason}."
    replaces = puts_another_in_place(part.argv) or (
        not part.harmless and os.geteuid() == 0 and may_replace_its_output(part.argv)
    )
    for use in part.maybe if replaces else ():
        for located in case.locations(use) or ():
            if reason := protected_node(located):
                return f"`{use.word.text}` is protected: {reason}."
    for use in part.removes:
        for located in case.locations(_swept(use)) or ():
            if not part.selection.covers(located.target.rpartition("/")[2]):
                continue
            if risk := root_at_risk(located, roots=case.roots, home=case.context.home):
                return f"`{' '.join(part.argv)}` would remove or move {risk}."
    if reason := reach.protected_below(case, part, answered=_answered(case, part)):
        return reason
    return through_new_link(case, part, reading=any(rule.path is not None for rule in restrictions(case)))


def _moved_into_protected(case: Case) -> str | None:
    """A folder that the line may move to, and in which nothing is changed unasked."""
    assert case.shell is not None
    for part in case.shell.parts:
        if part.argv and (part.argv[0] in MOVES or not part.argv[0][:1].isalnum()):
            for use in (*part.reads, *part.maybe):
                if any(_protected(case, located, sure=False) for located in case.locations(use) or ()):
                    return use.word.text
    return None


def _answered(case: Case, part: Part) -> bool:
    """Does an allow rule name this very line of git's, or the subcommand of a plain one?

    Where anything must not be changed, none answers for it.
    """
    if not part.certain or not part.known or part.argv[:1] != ("git",):
        return False
    if any(rule.path is not None and rule.tool not in READERS for rule in restrictions(case)):
        return False
    rules = (*case.rules.of("allow"), *case.context.policy.rules.of("allow"))
    known = 2 if git_history.answerable(part.argv) else len(part.argv)
    return any(rule.words[:known] == part.argv[:known] and covers_part(rule, part) for rule in rules)


def _swept(use: PathUse) -> PathUse:
    """`dir/*` stands for the whole of `dir`."""
    parent, _, last = use.word.text.rpartition("/")
    if not use.word.wild or last.strip(".") not in ("*", "**"):
        return use
    everything = (parent or "/") if use.word.text.startswith("/") else (parent or ".")
    return replace(use, word=replace(use.word, text=everything, pattern=everything, wild=False))


def _rooted(use: PathUse) -> bool:
    return use.word.text.startswith(("/", "~"))


def _protected(case: Case, located: Located, *, sure: bool = True, in_place: bool = False) -> str | None:
    return protected_write(
        located, roots=case.roots, home=case.context.home, own_dirs=case.own_dirs, sure=sure, in_place=in_place
    )
