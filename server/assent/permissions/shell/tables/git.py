"""git's own command line: its global flags, which subcommand it is, and what the others may run or overwrite.

Which subcommands and flags only read is in `git_commands.py`; where they may do so is `repositories.py`'s business.
"""

import re
from collections.abc import Callable, Sequence

from assent.permissions.shell.syntax.directories import Directories
from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.git_commands import SUBCOMMANDS
from assent.permissions.shell.tables.git_flags import read_words
from assent.permissions.shell.tables.options import CommandUsage
from assent.text.words import names

UNKNOWN_SUBCOMMAND = "git subcommand that may change something"

_GLOBAL = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects"})
GLOBAL_VALUED = frozenset(
    {"-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source", "--super-prefix"}
)


def git_usage(words: Sequence[Word]) -> tuple[CommandUsage, list[Word]]:
    """What a git line does, and the directories its `-C` flags lead through. `words` without `git` itself."""
    moves: list[Word] = []
    position = 0
    early = CommandUsage()
    while position < len(words) and words[position].text.startswith("-"):
        text = words[position].text
        if text == "-C" and position + 1 < len(words):
            moves.append(words[position + 1])
            position += 2
        elif text in ("--version", "-v") and len(words) == 1:
            return early, moves
        else:
            if text not in _GLOBAL:
                early.hazard(f"git's `{text}`", text)
            position += 2 if text in GLOBAL_VALUED else 1
    if position >= len(words):
        early.hazard("git without a subcommand", "git")
        return early, moves
    name = words[position].text
    found = SUBCOMMANDS.get(name) if words[position].known else None
    if name == "submodule" and words[position + 1 :] and all(word.text != "status" for word in words[position + 1 :]):
        found = None  # its other commands change something, as an unknown one does
    if found is None:
        early.operands.extend(words[position + 1 :])
        if not early.hazards:
            early.hazard(UNKNOWN_SUBCOMMAND, name)
        return early, moves
    usage = read_words(found, words[position + 1 :])
    usage.hazards[:0] = early.hazards
    usage.spelled[:0] = early.spelled
    return usage, moves


_RUNNING = names("""
    upload-pack receive-pack exec ext-diff textconv config config-env template open-files-in-pager extcmd exec-path
    sendmail-cmd to-cmd cc-cmd smtp-server smtp-server-option separate-git-dir
""")
"""Long flags, of any subcommand, by which git is told to run a program or to take one from a file."""
_NOT_RUNNING = names("text")  # itself a flag, though it begins one of these
_PROGRAM_WORDS = {
    "clone": re.compile(r"-[a-zA-Z]*[uc].*", re.DOTALL),
    "rebase": re.compile(r"-[a-zA-Z]*x.*", re.DOTALL),
    "difftool": re.compile(r"-[a-zA-Z]*[xt].*", re.DOTALL),
    "submodule": re.compile("foreach"),
    "bisect": re.compile("run"),
    "filter-branch": re.compile("filter-branch"),
    "daemon": re.compile("daemon"),
    "instaweb": re.compile("instaweb"),
    "shell": re.compile("shell"),
}


def programs_named(words: Sequence[Word]) -> tuple[str, ...]:
    """Words by which a subcommand that is not in the table is told to run a program: no rule covers them unspelled.

    So are words that the shell may turn into such a flag.
    """
    texts = [word.text for word in words]
    own = [pattern for name, pattern in _PROGRAM_WORDS.items() if name in texts]
    ended = texts.index("--") if "--" in texts else len(texts)
    if TAKES_IN.intersection(without_global_flags(texts)[:1]):
        ended = 0  # none of their flags runs anything: `git add *` is fine
    return tuple(
        text
        for number, text in enumerate(texts)
        if _runs_by_long_flag(text)
        or any(found.fullmatch(text) for found in own)
        or (number < ended and words[number].may_be_flag)
    )


def _runs_by_long_flag(text: str) -> bool:
    """git takes every beginning of a flag for the flag, as long as no other begins so too."""
    if re.match(r"(?:--[a-z-]+=)?ext::", text):
        return True
    name = text.partition("=")[0].removeprefix("--")
    if not text.startswith("--") or not name or name in _NOT_RUNNING:
        return False
    return any(flag.startswith(name) for flag in _RUNNING)


def without_global_flags(words: Sequence[str]) -> tuple[str, ...]:
    """From the subcommand on."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in GLOBAL_VALUED | {"-C"} else 1
    return tuple(words[position:])


_OVERWRITES = {
    **dict.fromkeys(("restore", "clean", "apply", "am", "checkout-index", "read-tree"), r".*"),
    "stash": r"(?!list\b|show\b).*",
    "reset": r".*--(?:hard|merge|keep)\b.*",
    "checkout": r"(?:.* )?(?:--|\.{1,2}|\S*[/*]|-[a-zA-Z]*f[a-zA-Z]*|--for[a-z]*)(?: .*)?",
    "switch": r"(?:.* )?(?:-[a-zA-Z]*f[a-zA-Z]*|--for[a-z]*|--disc[a-z-]*)(?: .*)?",
    "submodule": r"(?:.* )?(?:update|deinit)(?: .*)?",
    "sparse-checkout": r"(?!list\b).*",
}


def overwrites(words: Sequence[Word]) -> bool:
    """Does it put other contents into files that it does not name?

    For moves in the history (to a branch, merge, rebase, revert) the files themselves are compared: `git_history.py`.
    """
    name, *rest = without_global_flags([word.text for word in words]) or ("",)
    return name in _OVERWRITES and bool(re.fullmatch(_OVERWRITES[name], " ".join(rest), re.DOTALL))


def brought_from_elsewhere(words: Sequence[Word]) -> list[Word]:
    """Paths whose contents come from another commit: `git checkout BRANCH -- path`, `git restore -s BRANCH path`."""
    texts = [word.text for word in words]
    name, *rest = without_global_flags(texts) or ("",)
    own = list(words[len(words) - len(rest) :])
    if name == "restore" and any(re.match(r"-[a-zA-Z]*s|--so", text) for text in rest):
        return [word for word in own if not word.text.startswith("-")]
    operands = [word for word in own if not word.text.startswith("-")]
    if name != "checkout" or len(operands) < 2 or {"-b", "-B", "--orphan", "--detach"} & set(rest):
        return []
    return operands[1:]


def told_to_run(words: Sequence[Word]) -> tuple[str, ...]:
    """All words by which git is told to run something, global flags included."""
    texts = [word.text for word in words]
    return (*programs_named(words), *(text for text in texts if _RUNS_BY_FLAG.fullmatch(text)))


_RUNS_BY_FLAG = re.compile(r"-c|-c[a-z]+\..*|--(?:config-env|exec-path).*|-O.+|--open-files-in-pager.*", re.DOTALL)
HARMLESS_OPERANDS = frozenset({"add", "stage", "commit", "check-ignore"})
"""Subcommands whose operands the iron gate need not look at: what they name is only taken down."""
_FILE_FLAGS = names("file template pathspec-from-file")
_SHORT_FILE_FLAG = re.compile(r"-[^-mcCuS]*?[Ft](.*)", re.DOTALL)


def files_by_flag(words: Sequence[Word]) -> tuple[Word, ...]:
    """Files that those subcommands take a text from: `git commit -F file`. Abbreviations count."""
    found: list[Word] = []
    for number, word in enumerate(words):
        name, equals, value = word.text.partition("=")
        short = _SHORT_FILE_FLAG.fullmatch(word.text)
        if short is not None:
            equals = value = short[1]
        elif len(name) < 3 or not any(f"--{flag}".startswith(name) for flag in _FILE_FLAGS):
            continue
        if equals:
            found.append(word.part(value))
        else:
            found.extend(words[number + 1 : number + 2])
    return tuple(found)


TAKES_IN = frozenset({"add", "stage", "hash-object"})
_TAKES_ALL = names("""
    archive bundle format-patch stash fast-export clone worktree checkout-index log show diff diff-tree diff-index
    diff-files diff-pairs reflog whatchanged range-diff shortlog blame annotate grep cat-file difftool request-pull
    send-email
""")
"""Subcommands that may show or take along the contents of any file, with flags that the tables do not know."""


def copies_all(words: Sequence[Word]) -> bool:
    """Does it put contents of the repository somewhere else, where no rule speaks of them?"""
    return bool(_TAKES_ALL.intersection(without_global_flags([word.text for word in words])[:1]))


def takes_much(
    name: str,
    operands: Sequence[Word],
    may_be_directory: Callable[[Word, Directories], bool],
    directories: Directories,
) -> bool:
    """Does the subcommand read the contents of files that it does not name?"""
    if name not in TAKES_IN:
        return name in _TAKES_ALL
    paths = [word for word in operands if not word.text.startswith("-")]
    return not paths or any(may_be_directory(word, directories) for word in paths)
