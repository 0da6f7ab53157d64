"""What a command touches below the names it gives: trees that it reads, copies, moves, removes or unpacks.

Where files would be taken away or brought along, those that are there are looked at; where their names stand somewhere
else (an archive, another machine), nobody can tell, and that asks.
"""

import errno
import re
from collections.abc import Callable, Iterator

from assent.permissions import git_history, trees
from assent.permissions.case import Case
from assent.permissions.paths import Located, fold, under
from assent.permissions.protected import protected_name
from assent.permissions.rules import Rule
from assent.permissions.shell.syntax.parts import Carried, Part, PathUse
from assent.permissions.shell.tables.changers import CHANGERS
from assent.permissions.shell.tables.git import without_global_flags
from assent.permissions.shell.tables.selections import EVERYTHING, Selection
from assent.text import globs
from assent.text.words import names
from assent.types.git_objects import Unreadable
from assent.types.regular_files import read_regular

_MOST_TEXT = 1 << 18  # bytes of a protected file that are searched for a text
_MOST_READ = 200  # protected files
_TREE_READERS = names("""
    grep egrep fgrep rgrep zgrep bzgrep xzgrep zegrep ag ack ack-grep ugrep ug pt sift rg ripgrep find fd fdfind cp
    rsync scp ditto tar bsdtar gtar zip 7z 7za cpio pax diff rclone restic borg mv tree du ls
""").union(CHANGERS) - names("touch chmod chown chgrp chattr setfacl rm rmdir unlink shred truncate mkdir")
"""Programs that, with a flag the table does not know, may read everything below a name. Those of the changers that look
at no text are not among them: a rule about reading does not speak of `touch`."""
_COPIES_OUT = names("docker podman nerdctl kubectl aws gsutil gcloud az s3cmd mc gh glab")
"""Programs that take what lies below a name elsewhere. For those, and those nobody knows, what is there now counts."""
_AS_IT_IS = Selection()
_IN_A_ROW = re.compile(r"&&|\|\|")
_NO_SEQUENCE = re.compile(r"[&|(){}`\n]|\b(?:for|while|until|select|do|trap|coproc)\b")
_SEARCH_HERE = names("ag ack ack-grep ugrep ug pt sift rg ripgrep rgrep fd fdfind")
"""Of those, the ones that take the current folder when they are given none."""


def reads_below(case: Case, rule: Rule, part: Part) -> bool:
    """May it read a file that the rule keeps back, somewhere below a name it gives?"""
    program = part.argv[0].rpartition("/")[2] if part.argv else ""
    if part.weak:
        return False
    taken = part.maybe if program in _COPIES_OUT and not part.harmless else part.sweeps
    if any(_holds(case, rule, located, _AS_IT_IS) for use in taken for located in _located(case, use)):
        return True
    if not (part.recursive or (not part.harmless and program in _TREE_READERS)):
        return False
    if program == "git":
        return any(_may_lie_below(case, rule, root) for root in case.roots)  # its history is the whole repository's
    starts = [located.target for use in (*part.reads, *part.maybe) for located in _located(case, use)]
    if program in _SEARCH_HERE:
        starts += [folder for use in part.maybe[:1] for folder in use.directories or (case.context.cwd,)]
    return any(_may_lie_below(case, rule, start) for start in starts)


def changes_below(case: Case, rule: Rule, part: Part) -> bool:
    """May it change, remove or create a file that the rule keeps back, somewhere below a name it gives?"""
    if part.weak:
        return False
    for use in (*part.spreads, *_arrivals(part)):
        if case.locations(use) is None or any(
            _may_lie_below(case, rule, located.target) for located in _located(case, use)
        ):
            return True
    touched = [(use, part.selection) for use in (*_taken_away(part), *part.alters)]
    touched += [(use, _AS_IT_IS) for use in part.sweeps]
    if any(_holds(case, rule, located, selection) for use, selection in touched for located in _located(case, use)):
        return True
    patterns = case.patterns(rule)
    try:
        if _revised(case, part, lambda path: any(pattern.fullmatch(fold(path)) for pattern in patterns)):
            return True
    except Unreadable:
        pass  # the iron gate asks
    return any(
        any(pattern.fullmatch(fold(path)) for pattern in patterns)
        for carried in part.carried
        for path in _landing(case, carried) or ("/",)
    )


def protected_below(case: Case, part: Part, *, answered: bool = False) -> str | None:
    """Why the iron gate asks about files that the command does not name.

    `answered`: a rule of the user's speaks of this very use of git, and so for the files that nobody can name.
    """
    said = " ".join(part.argv) or "the code"
    try:
        if name := _revised(case, part, lambda path: protected_name(path, case.roots) is not None, alone=answered):
            return f"`{said}` would change something protected: `{name}`."
    except Unreadable:
        if not answered or any(use.directories is None for use in part.revises):
            return f"Nobody can tell which files `{said}` would change."
    for use in _arrivals(part):
        if any(_ours(case, located.target) for located in _located(case, use)):
            return f"Nobody can tell which files `{said}` would put into `{use.word.text}`."
    for carried in part.carried:
        targets = [located for located in _located(case, carried.target) if _ours(case, located.target)]
        landing = _landing(case, carried) if targets else ()
        if landing is None:
            return f"Nobody can tell which files `{said}` would put into `{carried.target.word.text}`."
        for path in landing:
            if reason := protected_name(path, case.roots):
                return f"`{said}` would put something protected into `{carried.target.word.text}`: {reason}."
    for uses, what in ((_taken_away(part), "remove or move"), (part.alters, "change or remove")):
        for use in uses:
            if any(_holds_protected(located, part.selection) for located in _located(case, use)):
                return f"`{said}` would {what} something protected below `{use.word.text}`."
    return None


def _revised(case: Case, part: Part, wanted: Callable[[str], bool], *, alone: bool = False) -> str | None:
    """A wanted file that git would bring to another state, `alone` as things are now. Raises Unreadable."""
    for use in part.revises:
        if git_history.leaves_files(part.argv):
            continue
        others = [each for each in _before(case, part) if each.certain and not each.harmless]
        if use.directories is None or not part.known or (others and not alone):
            raise Unreadable("where, or in which state")
        for directory in use.directories:
            found = _kept_that_changes(case, part.argv, directory)
            if found is not None and wanted(found[0]):
                return found[1]
    return None


def _kept_that_changes(case: Case, argv: tuple[str, ...], directory: str) -> tuple[str, str] | None:
    """A file that is protected or that a rule speaks of, as a path and as git names it: looked for once a decision."""
    key = (argv, directory)
    if key not in case.revised:
        rules = [*case.rules.rules, *case.context.policy.rules.rules]
        patterns = [
            pattern for rule in rules if rule.path and rule.behaviour != "allow" for pattern in case.patterns(rule)
        ]
        met = ""

        def kept(path: str) -> bool:
            nonlocal met
            met = path
            if protected_name(path, case.roots) is not None:
                return True
            folded = fold(path) if patterns else ""
            return any(each.fullmatch(folded) for each in patterns)

        try:
            name = git_history.changed(argv, directory, kept)
            case.revised[key] = None if name is None else (met, name)
        except Unreadable as error:
            case.revised[key] = error
    found = case.revised[key]
    if isinstance(found, Unreadable):
        raise found
    return found


def _before(case: Case, part: Part) -> tuple[Part, ...]:
    """The parts that may have run when this one does: those to the left, or all where the line is no plain sequence."""
    assert case.shell is not None
    parts = case.shell.parts
    if _NO_SEQUENCE.search(_IN_A_ROW.sub(";", case.shell.script.text)):
        return tuple(each for each in parts if each is not part)
    return parts[: next(number for number, each in enumerate(parts) if each is part)]


def _holds_protected(located: Located, selection: Selection) -> bool:
    left = _MOST_READ

    def is_protected(path: str) -> bool:
        nonlocal left
        if not selection.covers(path) or protected_name(path, ()) is None:
            return False
        if not selection.text:
            return True
        if "/objects/" in path:
            return False  # packed: no plain text is found in there
        left -= 1
        return left < 0 or _may_hold(f"{located.target}/{path}", selection.text)

    return trees.any_below(located.target, is_protected, copies=False) is True


def _may_hold(path: str, text: str) -> bool:
    """Does the file hold the text, or can nobody tell? A folder holds none."""
    try:
        return text.encode() in read_regular(path, limit=_MOST_TEXT, follow=False).data
    except OSError as error:
        return error.errno != errno.EISDIR


def _located(case: Case, use: PathUse) -> tuple[Located, ...]:
    return case.locations(use) or ()


def _arrivals(part: Part) -> tuple[PathUse, ...]:
    if part.argv[:1] != ("git",):
        return part.arrives
    name, *rest = without_global_flags(part.argv[1:]) or ("",)
    looks = {"--check", "--stat", "--numstat", "--summary"} & set(rest)
    return part.spreads if name in ("apply", "am") and not looks else ()


def _taken_away(part: Part) -> tuple[PathUse, ...]:
    """What it removes or moves. `git rm` and `git mv` name it like `rm` and `mv`; `git clean` only where to look."""
    if part.argv[:1] == ("git",) and without_global_flags(part.argv[1:])[:1] in (("rm",), ("mv",)):
        return (*part.removes, *part.maybe)
    return part.removes


def _ours(case: Case, path: str) -> bool:
    """Where protected names mean something: in a workspace, in the home, or above either."""
    return any(under(path, place) or under(place, path) for place in (*case.roots, case.context.home.rstrip("/")))


def _may_lie_below(case: Case, rule: Rule, start: str) -> bool:
    """Could a file that the rule speaks of be below, whether it is there now or not?"""
    return any(under(prefix, fold(start)) or under(fold(start), prefix) for prefix in _prefixes(case, rule))


def _prefixes(case: Case, rule: Rule) -> list[str]:
    patterns = globs.absolute_patterns(rule.path or "", roots=case.roots, home=case.context.home, wide=True)
    return [fold(globs.literal_prefix(pattern) or "/") for pattern in patterns]


def _holds(case: Case, rule: Rule, located: Located, selection: Selection) -> bool:
    """Is the place that the rule names below, or a file that it speaks of? Too many files to look at count as yes."""
    start = fold(located.target)
    prefixes = _prefixes(case, rule)
    if selection is EVERYTHING and any(under(prefix, start) and prefix != "/" for prefix in prefixes):
        return True
    if not any(under(start, prefix) or under(prefix, start) for prefix in prefixes):
        return False
    patterns = case.patterns(rule)

    def speaks(path: str) -> bool:
        return selection.covers(path) and any(pattern.fullmatch(f"{start}/{fold(path)}") for pattern in patterns)

    return trees.any_below(located.target, speaks) is not False


def _landing(case: Case, carried: Carried) -> tuple[str, ...] | None:
    """Where what is carried would lie: below the target under its own name, or in its place. None: nobody can tell."""
    sources = _located(case, carried.source)
    if carried.deep and not any(source.exists for source in sources):
        return None
    try:
        return tuple(_landed(case, carried, sources))
    except trees.TooMany:
        return None


def _landed(case: Case, carried: Carried, sources: tuple[Located, ...]) -> Iterator[str]:
    for source in sources:
        own = source.written.rpartition("/")[2]
        inside = ["", *(f"/{path}" for path in trees.below(source.target))] if carried.deep else [""]
        for target in _located(case, carried.target):
            for name in target.names:
                for path in inside:
                    yield f"{name}{path}"
                    yield f"{name}/{own}{path}"
