"""Links that a line itself puts in place, and that another command of it would go through.

A path is resolved by what is on disk before the line runs. Where one of its commands moves, copies, makes or checks out
a link, what the others name behind it is somewhere else by then. Order does not count: loops and functions come back.
"""

import os
from collections.abc import Iterator

from assent.permissions import git_history, trees
from assent.permissions.case import Case
from assent.permissions.paths import under
from assent.permissions.shell.syntax.parts import Carried, Part
from assent.types.git_objects import Unreadable

_MAKE_LINKS = frozenset({"ln", "link"})


def through_new_link(case: Case, part: Part, *, reading: bool) -> str | None:
    """Why nobody can tell which files the part touches. `reading`: what it reads counts too."""
    assert case.shell is not None
    others = [each for each in case.shell.parts if each is not part and (each.carried or each.revises)]
    if not others:
        return None
    touched = (*part.writes, *part.outputs, *part.removes, *part.alters, *part.maybe, *(part.reads if reading else ()))
    paths = {name for use in touched for located in case.locations(use) or () for name in located.names}
    for other in others:
        if any(_brings(case, other, path) for path in paths):
            return f"`{' '.join(other.argv)}` may put a link where `{' '.join(part.argv)}` goes through."
    return None


def _brings(case: Case, part: Part, path: str) -> bool:
    carried = any(path == link or under(path, link) for each in part.carried for link in _landing(case, part, each))
    return carried or any(
        _checks_out(part, directory, path) for use in part.revises for directory in use.directories or ()
    )


def _landing(case: Case, part: Part, carried: Carried) -> Iterator[str]:
    """Where links come to lie, or the whole place where that cannot be told."""
    makes = part.argv[0].rpartition("/")[2] in _MAKE_LINKS
    for source in case.locations(carried.source) or ():
        inside = [""] if makes or os.path.islink(source.written) else []  # noqa: PTH114  Path is slow here
        try:
            inside += [f"/{path}" for path in trees.links_below(source.target)] if carried.deep else []
        except trees.TooMany:
            inside.append("")
        own = source.written.rpartition("/")[2]
        for target in case.locations(carried.target) or ():
            for name in target.names:
                yield from (f"{place}{path}" for path in inside for place in (name, f"{name}/{own}"))


def _checks_out(part: Part, directory: str, path: str) -> bool:
    if git_history.leaves_files(part.argv):
        return False
    try:
        found = git_history.changed(part.argv, directory, lambda link: path == link or under(path, link), links=True)
    except Unreadable:
        return False  # the iron gate asks about that line itself
    return found is not None
