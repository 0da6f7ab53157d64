"""git: which subcommands and flags only read. Where they may do so is `repositories.py`'s business."""

import re
from collections.abc import Callable, Sequence

from assent.permissions.shell_directories import Directories
from assent.permissions.shell_options import Row, Usage, read_usage, row
from assent.permissions.shell_words import Word

_DIFF = """
    -p -u -s -w -b -a -R -z -m -c -W -U: -S: -G: -M? -C? -B? -X? --patch --no-patch --unified= --stat=? --numstat
    --shortstat --summary --compact-summary --name-only --name-status --color=? --no-color --color-moved=?
    --word-diff=? --word-diff-regex= --color-words=? --ignore-all-space --ignore-space-change --ignore-blank-lines
    --ignore-space-at-eol --ignore-cr-at-eol --minimal --patience --histogram --diff-algorithm= --text --full-index
    --binary --abbrev=? --no-abbrev --relative=? --no-relative --exit-code --quiet --no-ext-diff --no-textconv
    --no-renames --find-renames=? --find-copies=? --find-copies-harder --diff-filter= --pickaxe-regex --pickaxe-all
    --src-prefix= --dst-prefix= --no-prefix --default-prefix --raw --check --function-context --inter-hunk-context=
    --dirstat=? --cc --combined-all-paths --indent-heuristic --no-indent-heuristic --ignore-submodules=?
    --ws-error-highlight= --patch-with-stat --patch-with-raw --cumulative
"""
_HISTORY = """
    -n: -i -E -F -P -g -q -t --oneline --graph --no-graph --decorate=? --no-decorate --decorate-refs= --all
    --branches=? --tags=? --remotes=? --glob= --exclude= --max-count= --skip= --since= --after= --until= --before=
    --author= --committer= --grep= --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --all-match
    --invert-grep --merges --no-merges --min-parents= --max-parents= --first-parent --reverse --date= --format=
    --pretty=? --follow -L: --topo-order --date-order --author-date-order --left-right --left-only --right-only
    --cherry-pick --cherry-mark --cherry --no-walk=? --abbrev-commit --no-abbrev-commit --full-history
    --simplify-merges --simplify-by-decoration --ancestry-path --source --show-pulls --notes=? --no-notes
    --encoding= --children --parents --boundary --relative-date --walk-reflogs --full-diff --sparse --dense
    --no-expand-tabs --use-mailmap --no-mailmap --log-size --clear-decorations --not --count --timestamp
"""


def _gpg_free(words: Sequence[Word], usage: Usage, _used: set[str]) -> None:
    """%G… and %(signature…) make git start the configured gpg program."""
    for word in words:
        if "%G" in word.text or "signature" in word.text:
            usage.hazard("a format that verifies signatures", word.text)


def _branch(words: Sequence[Word], usage: Usage, used: set[str]) -> None:
    _gpg_free(words, usage, used)
    if usage.operands and not used & {"-l", "--list"}:
        usage.hazard("it would create a branch or a tag", usage.operands[0].text)


def _worktree(_words: Sequence[Word], usage: Usage, _used: set[str]) -> None:
    if [word.text for word in usage.operands] != ["list"]:
        usage.hazard("git worktree", "worktree")


def _config(words: Sequence[Word], usage: Usage, used: set[str]) -> None:
    """git config reads flags only before the first name; what follows is a value to set."""
    first = next((index for index, word in enumerate(words) if not word.text.startswith("-")), len(words))
    if any(word.text.startswith("-") for word in words[first:]):
        usage.hazard("a flag after a name, which is taken for a value", "config")
    asked = [word.text for word in words if not _CONFIG_PLACE.fullmatch(word.text)]
    if len(asked) == 1 and _CONFIG_NAME.fullmatch(asked[0]):
        return  # git config user.name
    if not used & {"--get", "--get-all", "--get-regexp", "--list", "-l"} or len(usage.operands) > 1:
        usage.hazard("it may change the configuration", "config")
        place = "~/.gitconfig" if used & {"--global", "--system"} else ".git/config"
        usage.writes.append(Word(text=place, pattern=place))


_CONFIG_PLACE = re.compile(r"--(?:local|global|system)")
_CONFIG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*\.[A-Za-z0-9.-]+")


def _diff_row(extra: str = "") -> Row:
    return row(f"{_DIFF} {extra}", "paths", numeric=True, wild_flags=False, recursive="*", check=_gpg_free)


SUBCOMMANDS: dict[str, Row] = {
    "status": row(
        """
            -s -b -v -z -u? --short --branch --porcelain=? --long --verbose --show-stash --untracked-files=?
            --ignored=? --ahead-behind --no-ahead-behind --renames --no-renames --find-renames=? --column=?
            --no-column --ignore-submodules=?
        """,
        "paths",
        wild_flags=False,
    ),
    "diff": _diff_row("--cached --staged --merge-base"),
    "log": _diff_row(_HISTORY),
    "show": _diff_row(_HISTORY),
    "rev-list": _diff_row(_HISTORY + " --objects --no-commit-header"),
    "shortlog": row(
        _HISTORY + " -s -n -e -c --summary --numbered --email --group=", "text", wild_flags=False, check=_gpg_free
    ),
    "reflog": row(
        _HISTORY,
        "text",
        numeric=True,
        wild_flags=False,
        check=lambda words, usage, used: _reflog(words, usage, used),
    ),
    "blame": row(
        """
            -l -t -s -e -w -f -n -p -b -c -L: -M? -C? --porcelain --line-porcelain --incremental --show-name
            --show-number --show-email --date= --since= --root --abbrev= --color-lines --color-by-age --first-parent
        """,
        "paths",
        wild_flags=False,
        recursive="*",
    ),
    "grep": row(
        """
            -n -i -w -v -l -L -c -h -H -E -F -P -G -o -p -W -q -a -I -z -e: -A: -B: -C: -m: --line-number
            --ignore-case --word-regexp --invert-match --files-with-matches --files-without-match --count
            --only-matching --show-function --function-context --extended-regexp --fixed-strings --perl-regexp
            --basic-regexp --quiet --cached --untracked --max-depth= --max-count= --context= --after-context=
            --before-context= --and --or --not --all-match --break --heading --full-name --column --color=?
            --no-color --no-textconv --null --text --exclude-standard
        """,
        "pattern",
        numeric=True,
        wild_flags=False,
        recursive="*",
    ),
    "branch": row(
        """
            -a -r -l -v -i --list --all --remotes --verbose --show-current --merged --merged= --no-merged
            --no-merged= --contains --contains= --no-contains --no-contains= --points-at --points-at= --sort=
            --format= --color=? --no-color --column=? --no-column --ignore-case --abbrev=? --no-abbrev
        """,
        "text",
        wild_flags=False,
        check=_branch,
    ),
    "tag": row(
        """
            -l -i -n? --list --sort= --format= --contains --contains= --no-contains --no-contains= --merged
            --merged= --no-merged --no-merged= --points-at --points-at= --column=? --no-column --color=?
            --ignore-case
        """,
        "text",
        wild_flags=False,
        check=_branch,
    ),
    "remote": row("-v --verbose --all --push", "text", wild_flags=False, check=lambda w, u, d: _remote(w, u, d)),
    "stash": row(
        "-p -u --stat --patch --name-only --name-status --include-untracked --only-untracked",
        "text",
        wild_flags=False,
        check=lambda words, usage, used: _stash(words, usage, used),
    ),
    "cherry": row("-v --abbrev=?", "text", wild_flags=False),
    "check-attr": row("-a -z --all --cached", "text", wild_flags=False),
    "diff-tree": _diff_row("-r -t --root --no-commit-id --merge-base"),
    "diff-index": _diff_row("--cached -m --merge-base"),
    "diff-files": _diff_row("-0 -1 -2 -3"),
    "worktree": row("-v -z --porcelain --verbose", "text", wild_flags=False, check=_worktree),
    "rev-parse": row(
        """
            -q --show-toplevel --abbrev-ref=? --short=? --verify --git-dir --absolute-git-dir --git-common-dir
            --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-prefix
            --show-cdup --show-superproject-working-tree --symbolic-full-name --symbolic --all --branches=? --tags=?
            --remotes=? --quiet --revs-only --no-revs --show-object-format=?
        """,
        "text",
        wild_flags=False,
    ),
    "ls-files": row(
        """
            -c -d -m -o -i -s -t -u -v -z -k -x: --cached --deleted --modified --others --ignored --stage --unmerged
            --killed --exclude-standard --exclude= --full-name --error-unmatch --abbrev=? --eol --deduplicate
            --directory --no-empty-directory --format=
        """,
        "paths",
        wild_flags=False,
    ),
    "ls-tree": row(
        "-r -t -d -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev=? --format=",
        "text",
        wild_flags=False,
    ),
    "describe": row(
        """
            --tags --all --always --long --abbrev= --match= --exclude= --contains --exact-match --first-parent
            --candidates=
        """,
        "text",
        wild_flags=False,
    ),
    "cat-file": row("-t -s -p -e", "text", wild_flags=False, recursive="-p"),
    "config": row(
        """
            -l -z --get --get-all --get-regexp --list --show-origin --show-scope --name-only --local --global
            --system --null --type= --bool --int --default=
        """,
        "text",
        wild_flags=False,
        check=_config,
    ),
    "merge-base": row("-a --all --octopus --is-ancestor --independent --fork-point", "text", wild_flags=False),
    "name-rev": row("--tags --refs= --exclude= --name-only --always --all", "text", wild_flags=False),
    "symbolic-ref": row("-q --quiet --short", "text", most=1, wild_flags=False),
    "show-ref": row(
        "-q -s -d --head --heads --tags --branches --verify --hash=? --dereference --abbrev=? --quiet",
        "text",
        wild_flags=False,
    ),
    "for-each-ref": row(
        """
            --count= --sort= --format= --points-at --points-at= --merged --merged= --no-merged --no-merged=
            --contains --contains= --no-contains --no-contains= --ignore-case
        """,
        "text",
        wild_flags=False,
        check=_gpg_free,
    ),
    "check-ignore": row("-v -q -n -z --verbose --quiet --non-matching --no-index", "paths", wild_flags=False),
    "count-objects": row("-v -H --verbose --human-readable", "none"),
    "version": row("--build-options", "none"),
}
_GLOBAL = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects"})
GLOBAL_VALUED = frozenset(
    {"-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source", "--super-prefix"}
)


def git_usage(words: Sequence[Word]) -> tuple[Usage, list[Word]]:
    """What a git line does, and the directories its `-C` flags lead through. `words` without `git` itself."""
    moves: list[Word] = []
    position = 0
    early = Usage()
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
    found = SUBCOMMANDS.get(name)
    if found is None:
        early.operands.extend(words[position + 1 :])
        if not early.hazards:
            early.hazard(UNKNOWN_SUBCOMMAND, name)
        return early, moves
    usage = read_usage(found, words[position + 1 :])
    if any(word.text == "--help" for word in words):
        usage.hazard("git's `--help` starts a viewer", "--help")
    usage.hazards[:0] = early.hazards
    usage.spelled[:0] = early.spelled
    return usage, moves


_PROGRAM_FLAGS = re.compile(r"--(?:upl|rece|exe|ext|conf|templ).*|ext::.*", re.DOTALL)
_PROGRAM_WORDS = {
    "clone": re.compile(r"-[a-zA-Z]*[uc].*", re.DOTALL),
    "rebase": re.compile(r"-[a-zA-Z]*x.*", re.DOTALL),
    "difftool": re.compile(r"-[a-zA-Z]*[xt].*", re.DOTALL),
    "submodule": re.compile("foreach"),
    "bisect": re.compile("run"),
}


def programs_named(words: Sequence[Word]) -> tuple[str, ...]:
    """Words by which a subcommand that is not in the table is told to run a program: no rule covers them unspelled."""
    texts = [word.text for word in words]
    own = [pattern for name, pattern in _PROGRAM_WORDS.items() if name in texts]
    return tuple(text for text in texts if any(found.fullmatch(text) for found in (_PROGRAM_FLAGS, *own)))


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
    "checkout": r"(?:.* )?(?:--|\.{1,2}|\S*[/*])(?: .*)?",
}


def overwrites(words: Sequence[Word]) -> bool:
    """Does it put other contents into files that it does not name? Moving to a branch does not count."""
    name, *rest = without_global_flags([word.text for word in words]) or ("",)
    return name in _OVERWRITES and bool(re.fullmatch(_OVERWRITES[name], " ".join(rest), re.DOTALL))


def told_to_run(words: Sequence[Word]) -> tuple[str, ...]:
    """All words by which git is told to run something, global flags included."""
    texts = [word.text for word in words]
    return (*programs_named(words), *(text for text in texts if _RUNS_BY_FLAG.fullmatch(text)))


_RUNS_BY_FLAG = re.compile(r"-c|-c[a-z]+\..*|--(?:config-env|exec-path).*|-O.+|--open-files-in-pager.*", re.DOTALL)
HARMLESS_OPERANDS = frozenset({"add", "stage", "commit", "check-ignore"})
"""Subcommands whose operands the iron gate need not look at: what they name is only taken down."""
TAKES_IN = frozenset({"add", "stage", "hash-object"})
_TAKES_ALL = frozenset({"archive", "bundle", "format-patch", "stash", "fast-export"})


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


UNKNOWN_SUBCOMMAND = "git subcommand that may change something"


def _remote(_words: Sequence[Word], usage: Usage, _used: set[str]) -> None:
    """`git remote show` lists the remotes; with a name it connects to one."""
    named = [word.text for word in usage.operands]
    if named[:1] not in ([], ["get-url"]) and named != ["show"]:
        usage.hazard(f"git remote {named[0]}", "remote")


def _stash(words: Sequence[Word], usage: Usage, _used: set[str]) -> None:
    first = usage.operands[0].text if usage.operands else ""
    usage.recursive = first != "list"
    if first not in ("list", "show") or words[0].text != first:
        usage.hazard(f"git stash {first}".strip(), "stash")


def _reflog(words: Sequence[Word], usage: Usage, used: set[str]) -> None:
    _gpg_free(words, usage, used)
    if usage.operands and usage.operands[0].text in ("expire", "delete", "drop", "write"):
        usage.hazard("it would change the reflog", usage.operands[0].text)
