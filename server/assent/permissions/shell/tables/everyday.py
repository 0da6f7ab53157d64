"""Forms of programs that can do anything, in which they only read: `npm ls`, `tar tf x`, `pip list` and their like.

Only these exact forms; every other use of such a program is as unknown as before. The environment they run in
(`types/hardening.py`) switches off what their configuration could add: npm's logs, pip's and npm's look for newer
versions, go's change of its own version. `docs/everyday-commands.md` says why each is here.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from assent.permissions.shell.syntax.directories import Directories
from assent.permissions.shell.syntax.words import HARMLESS_VARIABLES, Word
from assent.permissions.shell.tables.options import Row, Usage, read_usage, row

Form = Callable[[Sequence[Word]], Usage | None]
"""Gets the words after the program's name; None when this is not the harmless form."""

_PACKAGE = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9._/-]*(?:@[A-Za-z0-9.^~*-]+)?")
_DISTRIBUTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NPM_LIST = row(
    "-a -l -p --all --long --json --parseable --depth= --omit= --include=", "text", standard="", clusters=False
)
_PIP_LIST = row("-l -e -v --local --editable --not-required --format= --verbose", "none", standard="")
_PIP_SHOW = row("-f -v --files --verbose", "text", standard="")
_JSON_TOOL = row(
    "--sort-keys --json-lines --tab --no-indent --compact --no-ensure-ascii --indent=",
    most=1,
    standard="",
    clusters=False,
)
_TAR_LIST = re.compile(r"-?[vzjJ]*t[vzjJ]*f")
_PACKED = re.compile(r".*\.(?:gz|tgz|z|Z|bz2|tbz2|xz|txz|lzma|zst)")


def everyday(words: Sequence[Word]) -> Usage | None:
    """What the line reads, when it is one of these forms."""
    form = _FORMS.get(words[0].text)
    return None if form is None else form(words[1:])


def _plain(words: Sequence[Word]) -> bool:
    return all(word.plain for word in words)


def _clean(of: Row, words: Sequence[Word]) -> Usage | None:
    usage = read_usage(of, words)
    return None if usage.hazards or not _plain(words) else usage


def _npm(words: Sequence[Word]) -> Usage | None:
    if not words or words[0].text not in ("ls", "list"):
        return None
    usage = _clean(_NPM_LIST, words[1:])
    return usage if usage and all(_PACKAGE.fullmatch(word.text) for word in usage.operands) else None


def _pip(words: Sequence[Word]) -> Usage | None:
    if words and words[0].text == "list":
        return _clean(_PIP_LIST, words[1:])
    if words and words[0].text == "show":
        usage = _clean(_PIP_SHOW, words[1:])
        return usage if usage and all(_DISTRIBUTION.fullmatch(word.text) for word in usage.operands) else None
    return None


def _printenv(words: Sequence[Word]) -> Usage | None:
    named = bool(words) and all(word.plain and word.text in HARMLESS_VARIABLES | {"HOME", "PWD"} for word in words)
    return Usage(operands=list(words)) if named else None


def _go(words: Sequence[Word]) -> Usage | None:
    """With the flag it only says that there is no such flag."""
    return Usage() if len(words) == 1 and words[0].text in ("version", "--version") and _plain(words) else None


def asks_rust_version(argv: Sequence[str]) -> bool:
    return len(argv) == 2 and argv[0] in ("rustc", "cargo") and argv[1] in ("--version", "-V")


def names_toolchain(directories: Directories) -> bool:
    """Could a file here choose what rustup runs? It looks for one in the directory and in all above it."""
    return directories is None or any(
        os.path.lexists(place / name)
        for directory in directories
        for place in (Path(directory), *Path(directory).parents)
        for name in ("rust-toolchain", "rust-toolchain.toml")
    )


def _python(words: Sequence[Word]) -> Usage | None:
    """Isolated, it imports nothing from here. A second name would be written to."""
    if [word.text for word in words[:3]] != ["-I", "-m", "json.tool"] or not _plain(words[:3]):
        return None
    return _clean(_JSON_TOOL, words[3:])


def _tar(words: Sequence[Word]) -> Usage | None:
    """A name with a colon is on another machine."""
    if len(words) < 2 or not _TAR_LIST.fullmatch(words[0].text) or not _plain(words):
        return None
    archive, members = words[1], words[2:]
    if ":" in archive.text or any(word.text.startswith("-") for word in words[1:]):
        return None
    return Usage(operands=list(members), reads=[archive])


def _unzip(words: Sequence[Word]) -> Usage | None:
    """It looks for wildcards in the archive's name itself, and for the name with `.zip` after it."""
    if len(words) < 2 or words[0].text not in ("-l", "-v") or not _plain(words):
        return None
    archive, members = words[1], words[2:]
    if re.search(r"[*?\[]", archive.text) or any(word.text.startswith("-") for word in words[1:]):
        return None
    others = [replace(archive, text=archive.text + end, pattern=archive.text + end) for end in (".zip", ".ZIP")]
    return Usage(operands=list(members), reads=[archive, *others])


def _unpacked(*flags: str) -> Form:
    """Printed, not put into files. A name without its ending would stand for another one, with it."""

    def form(words: Sequence[Word]) -> Usage | None:
        if flags and (not words or words[0].text not in flags):
            return None
        files = list(words[1:] if flags else words)
        if not _plain(words) or not all(_PACKED.fullmatch(word.text) and word.text[:1] != "-" for word in files):
            return None
        return Usage(operands=files, reads=files)

    return form


_FORMS: dict[str, Form] = {
    "npm": _npm,
    **dict.fromkeys(("pip", "pip3"), _pip),
    "printenv": _printenv,
    "go": _go,
    **dict.fromkeys(("python3", "python"), _python),
    "tar": _tar,
    "unzip": _unzip,
    **dict.fromkeys(("zcat", "bzcat", "xzcat", "zstdcat"), _unpacked()),
    "gunzip": _unpacked("-c"),
    "gzip": _unpacked("-dc", "-cd", "-l"),
}
