"""What the editor holds unsaved IS the file, for searches too (T3).

Owns which buffers lie inside a search, and how their texts are searched: as files in a folder of their own, so that
one search judges them like any others. Knows no editor: the texts come from the `Workspace`.
"""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from assent.tools.search.ignore_rules import folder_rules, rules_above
from assent.tools.search.ripgrep import NEVER_SEARCHED, joined
from assent.types.errors import ToolError

Texts = Mapping[str, str]


def text_at(texts: Texts, path: str) -> str | None:
    """The unsaved text of this very file, by whatever links it was opened."""
    if not texts or path in texts:
        return texts.get(path)
    real = _real(path)
    return next((text for each, text in texts.items() if _real(each) == real), None)


def below(texts: Texts, folder: str) -> dict[str, str]:
    """The texts of files that a search of this folder looks at, by name relative to it."""
    if not texts:
        return {}
    start = joined(os.path.realpath(folder), "")
    found = {real[len(start) :]: text for path, text in texts.items() if (real := _real(path)).startswith(start)}
    return {name: text for name, text in found.items() if not _left_out(start.rstrip("/") or "/", name)}


@contextmanager
def laid_out(buffers: Texts) -> Generator[tuple[str, dict[str, str]]]:
    """A folder with these texts as files, and the name each has there. A file's own name stays: types go by it."""
    with TemporaryDirectory(prefix="assent-") as folder:
        names = {f"{number}/{name.rpartition('/')[2]}": name for number, name in enumerate(buffers)}
        for short, name in names.items():
            path = Path(folder, short)
            try:
                path.parent.mkdir()
                path.write_bytes(buffers[name].encode("utf-8", "surrogatepass"))
            except OSError as error:
                raise ToolError(f"The unsaved text of {name} could not be searched: {error.strerror}") from None
        yield folder, names


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a name that no file can have, such as one with a NUL: it is nowhere
        return ""


def _left_out(folder: str, name: str) -> bool:
    """Whether ignore rules leave it out, or a folder on the way to it."""
    rules = rules_above(joined(folder, "x"))
    path = folder
    parts = name.split("/")
    for number, part in enumerate(parts, 1):
        path = joined(path, part)
        if part in NEVER_SEARCHED or (rules is not None and rules.ignores(path, is_folder=number < len(parts))):
            return True
        rules = folder_rules(path, rules)
    return False
