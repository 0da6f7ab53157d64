"""git's subcommands that only read, each with the flags that keep it so. Spellings: see `git_flags.Subcommand`.

Left out, so that they ask: what runs a program (--ext-diff, --textconv, --show-signature, -O of grep), looks into
submodules, or reads names from standard input or from a file.
"""

import re
from collections.abc import Sequence

from assent.permissions.shell.syntax.words import Word
from assent.permissions.shell.tables.git_flags import Subcommand, subcommand
from assent.permissions.shell.tables.options import CommandUsage
from assent.types.git_config import signs

_QUIET_DIFF = """
    -s -z --no-patch --stat=? --stat-width= --stat-count= --numstat --shortstat --summary --compact-summary
    --name-only --name-status --raw --dirstat=? --cumulative --color=? --no-color --full-index --abbrev=? --no-abbrev
    --relative=? --no-relative --exit-code --quiet --no-ext-diff --no-textconv -M? -C? -B? --no-renames
    --find-renames=? --find-copies=? --find-copies-harder --diff-filter= --ignore-submodules=? -R --no-prefix
    --default-prefix --src-prefix=: --dst-prefix=: --minimal --patience --histogram --diff-algorithm=:
    --output=:>
"""
"""Flags of a diff that by themselves show no line of a file."""
_LOUD_DIFF = """
    -p -u -w -b -a -W -U? -S: -G: -D --patch --unified=? --color-moved=? --no-color-moved --word-diff=?
    --word-diff-regex=: --color-words=? --ignore-all-space --ignore-space-change --ignore-blank-lines
    --ignore-space-at-eol --ignore-cr-at-eol --text --binary --pickaxe-regex --pickaxe-all --check --function-context
    --inter-hunk-context=: --indent-heuristic --no-indent-heuristic --ws-error-highlight=: --patch-with-stat
    --patch-with-raw --irreversible-delete
"""
_MERGES = "-m -c --cc --combined-all-paths -t"
_HISTORY = """
    -n: -i -E -F -P -g --oneline --graph --no-graph --all --branches=? --tags=? --remotes=? --glob=: --exclude=:
    --max-count=: --skip=: --since=: --after=: --until=: --before=: --author=: --committer=: --grep=:
    --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --all-match --invert-grep --merges --no-merges
    --min-parents= --max-parents= --first-parent --reverse --date=: --format= --pretty=? --follow --topo-order
    --date-order --author-date-order --left-right --left-only --right-only --cherry-pick --cherry-mark --cherry
    --no-walk=? --abbrev-commit --no-abbrev-commit --full-history --simplify-merges --simplify-by-decoration
    --ancestry-path=? --show-pulls --notes=? --no-notes --encoding=: --children --parents --boundary
    --relative-date --walk-reflogs --full-diff --sparse --dense --no-expand-tabs --log-size
    --not
"""
_LOG = f"""
    {_HISTORY} -q --decorate=? --no-decorate --decorate-refs=: --decorate-refs-exclude=: --clear-decorations --source
    --use-mailmap --no-mailmap
"""
_SHORTLOG = """
    -s -n -e -i -E -F -P --summary --numbered --email --group=: --all --branches=? --tags=? --remotes=? --max-count=:
    --skip=: --since=: --after=: --until=: --before=: --author=: --grep=: --merges --no-merges --first-parent
    --no-walk=? --reverse --date=: --format= --all-match --invert-grep
"""
_LOUD = frozenset(re.findall(r"(?<!\S)(--?[\w-]+)", _LOUD_DIFF + _MERGES + " -L"))


def _always(_operands: Sequence[Word], _used: set[str]) -> bool:
    return True


def _by_flags(_operands: Sequence[Word], used: set[str]) -> bool:
    """A log shows names and messages unless it is told to show changes."""
    return bool(used & _LOUD)


_NAMES_ONLY = frozenset(
    {"--stat", "--numstat", "--shortstat", "--name-only", "--name-status", "--raw", "-s", "--no-patch"}
)


def _unless_names(_operands: Sequence[Word], used: set[str]) -> bool:
    """A diff shows changes unless it is told to show something else."""
    return bool(used & _LOUD) or not used & (_NAMES_ONLY | {"--quiet", "--dirstat", "--summary"})


def _show_contents(operands: Sequence[Word], used: set[str]) -> bool:
    """As a diff; but what is given may be the name of a file's contents."""
    return _unless_names(operands, used) or any(not _COMMITISH.fullmatch(word.text) for word in operands)


_COMMITISH = re.compile(r"(?:HEAD|@)(?:[~^][0-9]*)*")


def _cat_contents(operands: Sequence[Word], used: set[str]) -> bool:
    return not used & {"-t", "-s", "-e"}


def _gpg_free(words: Sequence[Word], usage: CommandUsage, _used: set[str]) -> None:
    """%G… and %(signature…) make git start the configured gpg program."""
    for word in words:
        if signs(word.text):
            usage.hazard("a format that verifies signatures", word.text)


def _refs(words: Sequence[Word], usage: CommandUsage, used: set[str]) -> None:
    """A format may show what a name stands for, which can be a file's contents."""
    _gpg_free(words, usage, used)
    usage.recursive = any(_RAW.search(word.text) for word in words)


_RAW = re.compile(r"%\(\*?(?:raw|contents)")


def _branch(words: Sequence[Word], usage: CommandUsage, used: set[str]) -> None:
    _refs(words, usage, used)
    if usage.operands and not used & {"-l", "--list"}:
        usage.hazard("it would create a branch or a tag", usage.operands[0].text)


def _worktree(words: Sequence[Word], usage: CommandUsage, _used: set[str]) -> None:
    _only(words, usage, "worktree", "list")


def _submodule(words: Sequence[Word], usage: CommandUsage, _used: set[str]) -> None:
    if words and words[0].text != "status":
        usage.hazard("a flag before `status`", words[0].text)
    usage.reads.extend(usage.operands[1:])


def _only(words: Sequence[Word], usage: CommandUsage, name: str, *allowed: str) -> None:
    named = [word.text for word in usage.operands]
    if len(named) != 1 or named[0] not in allowed or words[0].text != named[0]:
        usage.hazard(f"git {name} {named[0] if named else ''}".strip(), name)


def _one_name(_words: Sequence[Word], usage: CommandUsage, _used: set[str]) -> None:
    if len(usage.operands) > 1:
        usage.hazard("a further name would be written to", usage.operands[-1].text)


def _remote(_words: Sequence[Word], usage: CommandUsage, _used: set[str]) -> None:
    """`git remote show` lists the remotes; with a name it connects to one."""
    named = [word.text for word in usage.operands]
    if named[:1] not in ([], ["get-url"]) and named != ["show"]:
        usage.hazard(f"git remote {named[0]}", "remote")


def _stash(words: Sequence[Word], usage: CommandUsage, used: set[str]) -> None:
    first = usage.operands[0].text if usage.operands else ""
    usage.recursive = first != "list" or bool(used & _LOUD)
    if first not in ("list", "show") or words[0].text != first:
        usage.hazard(f"git stash {first}".strip(), "stash")


def _reflog(words: Sequence[Word], usage: CommandUsage, used: set[str]) -> None:
    _gpg_free(words, usage, used)
    if usage.operands and usage.operands[0].text in ("expire", "delete", "drop", "write"):
        usage.hazard("it would change the reflog", usage.operands[0].text)


def _config(words: Sequence[Word], usage: CommandUsage, used: set[str]) -> None:
    """git config reads flags only before the first name; what follows is a value to set."""
    if any(word.text.startswith("-") for word in usage.operands):
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


def _two_files(words: Sequence[Word], usage: CommandUsage, used: set[str]) -> None:
    """git diff compares any two files when one lies outside the repository: a rule for git diff does not mean that."""
    _gpg_free(words, usage, used)
    usage.spelled.extend(used & {"--no-index"})
    outside = [word.text for word in usage.operands if word.text[:1] in "/~" or ".." in word.text.split("/")]
    usage.spelled.extend(outside)


def _diff(extra: str = "", *, numeric: bool = False) -> Subcommand:
    flags = f"{_QUIET_DIFF} {_LOUD_DIFF} {_MERGES} {extra}"
    return subcommand(flags, "paths", numeric=numeric, contents=_unless_names, check=_gpg_free)


SUBCOMMANDS: dict[str, Subcommand] = {
    "status": subcommand(
        """
            -s -b -v -z -u? --short --branch --porcelain=? --long --verbose --show-stash --untracked-files=?
            --ignored=? --ahead-behind --no-ahead-behind --renames --no-renames --find-renames=? --column=?
            --no-column --ignore-submodules=?
        """,
        "paths",
        clusters="*",
        contents=lambda _operands, used: bool(used & {"-v", "--verbose"}),
    ),
    "diff": subcommand(
        f"{_QUIET_DIFF} {_LOUD_DIFF} {_MERGES} --cached --staged --merge-base --no-index",
        "paths",
        contents=_unless_names,
        check=_two_files,
    ),
    "log": subcommand(
        f"{_QUIET_DIFF} {_LOUD_DIFF} {_MERGES} {_LOG} -L:",
        "paths",
        numeric=True,
        contents=_by_flags,
        check=_gpg_free,
    ),
    "show": subcommand(
        f"{_QUIET_DIFF} {_LOUD_DIFF} {_MERGES} {_LOG} -L:",
        "paths",
        numeric=True,
        contents=_show_contents,
        check=_gpg_free,
    ),
    "rev-list": subcommand(
        f"{_HISTORY} --count --timestamp --objects --no-commit-header",
        "paths",
        numeric=True,
        check=_gpg_free,
    ),
    "shortlog": subcommand(_SHORTLOG, "paths", clusters="sne", check=_gpg_free),
    "reflog": subcommand(f"{_QUIET_DIFF} {_LOUD_DIFF} {_LOG}", numeric=True, contents=_by_flags, check=_reflog),
    "blame": subcommand(
        """
            -l -t -s -e -w -f -n -p -b -c -L: -M? -C? --porcelain --line-porcelain --incremental --show-name
            --show-number --show-email --show-stats --date=: --since=: --root --abbrev=? --color-lines --color-by-age
            --first-parent --ignore-rev=: --contents=:<
        """,
        "paths",
        dashes=False,  # in `git blame -- name revision` the second is read with all flags of a revision
        contents=_always,
    ),
    "grep": subcommand(
        """
            -n -i -w -v -l -L -c -h -H -E -F -P -G -o -p -W -q -a -I -z -r -e: -A: -B: -C: -m: -f:< --line-number
            --ignore-case --word-regexp --invert-match --files-with-matches --files-without-match --count
            --only-matching --show-function --function-context --extended-regexp --fixed-strings --perl-regexp
            --basic-regexp --quiet --cached --untracked --max-depth=: --max-count=: --context=: --after-context=:
            --before-context=: --and --or --not --all-match --break --heading --full-name --column --color=?
            --no-color --no-textconv --null --text --exclude-standard --no-index --name-only --threads=:
        """,
        "pattern",
        numeric=True,
        clusters="*",
        contents=_always,
    ),
    "branch": subcommand(
        """
            -a -r -l -v -i -q --list --all --remotes --verbose --show-current --merged=:$ --no-merged=:$ --contains=:$
            --no-contains=:$ --points-at=: --sort=: --format=: --color=? --no-color --column=? --no-column
            --ignore-case --abbrev=? --no-abbrev
        """,
        clusters="*",
        check=_branch,
    ),
    "tag": subcommand(
        """
            -l -i -n? --list --sort=: --format=: --contains=:$ --no-contains=:$ --merged=:$ --no-merged=:$
            --points-at=:$ --column=? --no-column --color=? --ignore-case
        """,
        clusters="*",
        check=_branch,
    ),
    "remote": subcommand("-v --verbose", check=_remote),
    "stash": subcommand(
        f"{_QUIET_DIFF} {_LOUD_DIFF} --include-untracked --only-untracked --oneline --date=: --format= --pretty=?",
        numeric=True,
        check=lambda words, usage, used: (_gpg_free(words, usage, used), _stash(words, usage, used))[0],
    ),
    "cherry": subcommand("-v --abbrev=?"),
    "check-attr": subcommand("-a -z --all --cached"),
    "diff-tree": _diff("-r --root --no-commit-id --merge-base --pretty=? --format= -v -s"),
    "diff-index": _diff("--cached --merge-base"),
    "diff-files": _diff("-0 -1 -2 -3 -q"),
    "worktree": subcommand("-v -z --porcelain --verbose", check=_worktree),
    "submodule": subcommand("--cached --recursive --quiet", check=_submodule),
    "rev-parse": subcommand(
        """
            -q --show-toplevel --abbrev-ref=? --short=? --verify --git-dir --absolute-git-dir --git-common-dir
            --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-prefix
            --show-cdup --show-superproject-working-tree --symbolic-full-name --symbolic --all --branches=? --tags=?
            --remotes=? --quiet --revs-only --no-revs --show-object-format=? --git-path:
        """,
    ),
    "ls-files": subcommand(
        """
            -c -d -m -o -i -s -t -u -v -z -k -x: --cached --deleted --modified --others --ignored --stage --unmerged
            --killed --exclude-standard --exclude=: --full-name --error-unmatch --abbrev=? --eol --deduplicate
            --directory --no-empty-directory --format=:
        """,
        "paths",
        clusters="*",
    ),
    "ls-tree": subcommand(
        """
            -r -t -d -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev=?
            --format=:
        """,
        clusters="*",
    ),
    "describe": subcommand(
        """
            --tags --all --always --long --abbrev=? --match=: --exclude=: --contains --exact-match --first-parent
            --candidates=: --dirty=?
        """
    ),
    "cat-file": subcommand("-t -s -p -e", contents=_cat_contents),
    "config": subcommand(
        """
            -l -z --get --get-all --get-regexp --list --show-origin --show-scope --name-only --local --global
            --system --null --type=: --bool --int --default=:
        """,
        first=True,
        check=_config,
    ),
    "merge-base": subcommand("-a --all --octopus --is-ancestor --independent --fork-point"),
    "name-rev": subcommand("--tags --refs=: --exclude=: --name-only --always --all"),
    "symbolic-ref": subcommand("-q --quiet --short", first=True, check=_one_name),
    "show-ref": subcommand(
        "-q -s? -d --head --heads --tags --verify --hash=? --dereference --abbrev=? --quiet", clusters="*"
    ),
    "for-each-ref": subcommand(
        """
            --count=: --sort=: --format=: --points-at=:$ --merged=:$ --no-merged=:$ --contains=:$ --no-contains=:$
            --ignore-case
        """,
        check=_refs,
    ),
    "check-ignore": subcommand("-v -q -n -z --verbose --quiet --non-matching --no-index", "paths", clusters="*"),
    "count-objects": subcommand("-v -H --verbose --human-readable", "none", clusters="*"),
    "version": subcommand("--build-options", "none"),
}
