"""The command line: one program, `assent`.

What a front imports must not come from the folder it is started in. We start every Python isolated, but people and
editors may spell it `python -m assent.cli.main`, or have a PYTHONPATH with relative entries. So before anything else is
imported, such entries go.
"""

import os
import sys
from collections.abc import Iterable


def _isolate(path: list[str], *, here: str, named: Iterable[str], own: str) -> list[str]:
    """`path` without `here`, what PYTHONPATH names relative to it, and what it names inside it; `own` holds us."""
    inside = here.rstrip(os.sep) + os.sep
    places = {os.path.normpath(os.path.join(here, entry)) for entry in named}  # noqa: PTH118 -- before pathlib
    unsafe = {here, *(place for place in places if place.startswith(inside))}
    return [entry for entry in path if os.path.isabs(entry) and (entry == own or entry not in unsafe)]  # noqa: PTH117


if os.path.basename(sys.argv[0]) in ("-m", "assent") and not sys.flags.isolated:  # noqa: PTH119 -- before pathlib
    sys.path[:] = _isolate(
        sys.path,
        here=os.getcwd(),  # noqa: PTH109
        named=os.environ.get("PYTHONPATH", "").split(os.pathsep),
        own=os.path.dirname(os.path.dirname(os.path.dirname(__file__))),  # noqa: PTH120
    )
