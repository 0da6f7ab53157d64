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
from assent.permissions.shell.tables.options import CommandUsage, Row, read_usage, row
from assent.text.words import names

Form = Callable[[Sequence[Word]], CommandUsage | None]
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
_TAR_CLUSTER = re.compile(r"-?(?=[tvzjJf])[tvzjJ]*f?")
_TAR_LONG = names("--list --verbose --gzip --gunzip --bzip2 --xz")
_PACKED = re.compile(r".*\.(?:gz|tgz|z|Z|bz2|tbz2|xz|txz|lzma|zst)")


def everyday(words: Sequence[Word]) -> CommandUsage | None:
    """What the line reads, when it is one of these forms."""
    form = _FORMS.get(words[0].text)
    return None if form is None else form(words[1:])


def _plain(words: Sequence[Word]) -> bool:
    return all(word.plain for word in words)


def _clean(of: Row, words: Sequence[Word]) -> CommandUsage | None:
    usage = read_usage(of, words)
    return None if usage.hazards or not _plain(words) else usage


def _npm(words: Sequence[Word]) -> CommandUsage | None:
    if not words or words[0].text not in ("ls", "list"):
        return None
    usage = _clean(_NPM_LIST, words[1:])
    return usage if usage and all(_PACKAGE.fullmatch(word.text) for word in usage.operands) else None


def _pip(words: Sequence[Word]) -> CommandUsage | None:
    if words and words[0].text == "list":
        return _clean(_PIP_LIST, words[1:])
    if words and words[0].text == "show":
        usage = _clean(_PIP_SHOW, words[1:])
        return usage if usage and all(_DISTRIBUTION.fullmatch(word.text) for word in usage.operands) else None
    return None


def _printenv(words: Sequence[Word]) -> CommandUsage | None:
    named = bool(words) and all(word.plain and word.text in HARMLESS_VARIABLES | {"HOME", "PWD"} for word in words)
    return CommandUsage(operands=list(words)) if named else None


def _go(words: Sequence[Word]) -> CommandUsage | None:
    """With the flag it only says that there is no such flag."""
    return CommandUsage() if len(words) == 1 and words[0].text in ("version", "--version") and _plain(words) else None


_RUST_VERSION = frozenset({"--version", "-V", "-vV", "-Vv", "--version --verbose"})


def asks_rust_version(argv: Sequence[str]) -> bool:
    return argv[0] in ("rustc", "cargo") and " ".join(argv[1:]) in _RUST_VERSION


def names_toolchain(directories: Directories) -> bool:
    """Could a file here choose what rustup runs? It looks for one in the directory and in all above it."""
    return directories is None or any(
        os.path.lexists(place / name)
        for directory in directories
        for place in (Path(directory), *Path(directory).parents)
        for name in ("rust-toolchain", "rust-toolchain.toml")
    )


_ISOLATED_JSON = (("-I", "-m", "json.tool"), ("-Im", "json.tool"), ("-I", "-mjson.tool"))


def _python(words: Sequence[Word]) -> CommandUsage | None:
    """Isolated, it imports nothing from here. A second name would be written to."""
    said = next((form for form in _ISOLATED_JSON if tuple(word.text for word in words[: len(form)]) == form), None)
    if said is None or not _plain(words[: len(said)]):
        return None
    usage = _clean(_JSON_TOOL, words[len(said) :])
    return usage if usage and all(value.text.isdigit() for _, value in usage.values) else None


def _tar(words: Sequence[Word]) -> CommandUsage | None:
    """A name with a colon is on another machine; without one `TAPE` says it. What is no flag of these, or no name,
    is not listing alone."""
    if not words or not _plain(words):
        return None
    texts = [word.text for word in words]
    lists, position = False, 0
    archives: list[Word] = []
    members: list[Word] = []
    while position < len(words):
        text, word = texts[position], words[position]
        position += 1
        cluster = _TAR_CLUSTER.fullmatch(text)
        if (cluster is not None and (text[0] == "-" or position == 1)) or text == "--file":
            lists = lists or "t" in text.removeprefix("--file")
            if text[-1] == "f" or text == "--file":
                archives += words[position : position + 1]
                position += 1
        elif text.startswith("--file="):
            archives.append(word.part(text.removeprefix("--file=")))
        elif text in _TAR_LONG:
            lists = lists or text == "--list"
        elif text.startswith("-"):
            return None
        else:
            members.append(word)
    if lists and [archive.text for archive in archives] == ["-"]:
        return CommandUsage(operands=members)  # its input
    if not lists or len(archives) != 1 or not re.fullmatch(r"[^-:][^:]*", archives[0].text, re.DOTALL):
        return None
    return CommandUsage(operands=members, reads=archives)


_UNZIP_LISTS = frozenset({"-l", "-v", "-Z", "-Z1", "-lv", "-lq", "-ql", "-t", "-tq"})


def _unzip(words: Sequence[Word]) -> CommandUsage | None:
    """It looks for wildcards in the archive's name itself, and for the name with `.zip` after it."""
    if len(words) < 2 or words[0].text not in _UNZIP_LISTS or not _plain(words):
        return None
    archive, members = words[1], words[2:]
    if re.search(r"[*?\[]", archive.text) or any(word.text.startswith("-") for word in words[1:]):
        return None
    others = [replace(archive, text=archive.text + end, pattern=archive.text + end) for end in (".zip", ".ZIP")]
    return CommandUsage(operands=list(members), reads=[archive, *others])


def _zipinfo(words: Sequence[Word]) -> CommandUsage | None:
    return _unzip([Word(text="-Z", pattern="-Z"), *(words[1:] if words and words[0].text == "-1" else words)])


def _unpacked(*flags: str) -> Form:
    """Printed, not put into files. A name without its ending would stand for another one, with it."""

    def form(words: Sequence[Word]) -> CommandUsage | None:
        if flags and (not words or words[0].text not in flags):
            return None
        files = list(words[1:] if flags else words)
        if not _plain(words) or not all(_PACKED.fullmatch(word.text) and word.text[:1] != "-" for word in files):
            return None
        return CommandUsage(operands=files, reads=files)

    return form


_FORMS: dict[str, Form] = {
    "npm": _npm,
    **dict.fromkeys(("pip", "pip3"), _pip),
    "printenv": _printenv,
    "go": _go,
    **dict.fromkeys(("python3", "python"), _python),
    "tar": _tar,
    "unzip": _unzip,
    "zipinfo": _zipinfo,
    **dict.fromkeys(("zcat", "bzcat", "xzcat", "zstdcat"), _unpacked()),
    "gunzip": _unpacked("-c", "-t"),
    **dict.fromkeys(("gzip", "xz", "bzip2", "zstd"), _unpacked("-dc", "-cd", "-l", "-lv", "-t", "-tv")),
}
