"""Rules a person could save with an answer: narrow, safe, and only what the call at hand shows.

Programs that can do anything (interpreters, wrappers, network, deletion) are never offered with `:*`.
"""

import os
import re
import shlex
from collections.abc import Sequence

from assent.permissions.paths import Located, under
from assent.permissions.repositories import SETTLED_BY_RULES
from assent.permissions.rules import RuleError, parse_rule
from assent.permissions.shell.syntax.parts import Part
from assent.text.visible import has_hidden, too_big
from assent.text.words import names
from assent.types.permissions import Scope, Suggestion

MAX_SUGGESTIONS = 4

_ANYTHING = names("""
    python python3 node deno bun ruby perl php lua bash sh zsh dash fish pwsh sudo doas su env xargs eval exec ssh
    scp rsync curl wget nc ncat socat telnet ftp rm rmdir mv cp dd tee chmod chown ln find sed awk gawk mawk npx
    pnpx bunx uvx docker podman kubectl helm terraform aws gcloud az osascript open xdg-open make just task parallel
    watch nohup time timeout nice screen tmux systemctl service crontab at kill pkill killall mount umount mkfs
    source . tar unzip gh git tsx ts-node java scala groovy julia Rscript R tclsh osascript psql mysql sqlite3 pypy
    pypy3 ipython gdb vim nvim emacs ed
""")
_SUBCOMMANDS = names(
    "npm yarn pnpm cargo go dotnet gradle mvn poetry uv pip pip3 bundle rake mix composer swift zig tox nox hatch pdm"
)
_SAFE_GIT = names("add commit fetch status diff log show branch stash switch blame")
_RUNS_ANYTHING = names("exec x dlx install add publish node tool shell")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]*")


def command_suggestions(parts: Sequence[Part], text: str) -> tuple[Suggestion, ...]:
    """One rule per command that needs one, all of them together first; none when the whole is too much to look at."""
    if too_big(text) or has_hidden(text) or len(parts) > MAX_SUGGESTIONS:
        return ()
    rules: dict[str, str] = {}
    for part in parts:
        if not part.known or part.outputs or part.repository_doubt not in SETTLED_BY_RULES or not part.argv:
            return ()  # no rule would cover it, so none is offered
        if (rule := _command_rule(part)) is None:
            return ()
        extent = " with any arguments" if rule.endswith(":*)") else " exactly as written"
        rules[rule] = f"`{rule[5:-1].removesuffix(':*')}`{extent}"
    together = _both(next(iter(rules)), ", and ".join(rules.values()), tuple(rules)) if len(rules) > 1 else ()
    return (*together, *(each for rule, covers in rules.items() for each in _both(rule, covers)))


def path_suggestions(tool: str, located: Sequence[Located], roots: Sequence[str]) -> tuple[Suggestion, ...]:
    """The directory of the one file, at the project's side of its root."""
    if len(located) != 1 or has_hidden(located[0].written):
        return ()
    kind = "Read" if tool in ("Read", "Glob", "Grep") else "Edit"
    path, target = located[0].written, located[0].target
    for root in roots:
        if under(path, root) and path != root:
            folder = os.path.dirname(os.path.relpath(path, root))  # noqa: PTH120  text for a rule
            pattern = f"{folder}/**" if folder else f"./{os.path.basename(path)}"  # noqa: PTH119
            return _both(f"{kind}({pattern})", f"{kind.lower()}ing files in {folder or 'this one file'}")
    if kind == "Read" and path == target:
        return (Suggestion(rule=f"Read({path})", scope="session", covers=f"reading {path}"),)
    return ()


def host_suggestions(host: str, *, long: bool = False) -> tuple[Suggestion, ...]:
    if long:
        return _both(f"WebFetch(domain:{host}, query)", f"fetching pages from {host}, and sending it long queries")
    return _both(f"WebFetch(domain:{host})", f"fetching pages from {host}")


def tool_suggestions(tool: str) -> tuple[Suggestion, ...]:
    return _both(tool, f"every use of {tool}")


def _command_rule(part: Part) -> str | None:
    argv = part.argv
    name = argv[0]
    words: Sequence[str] = argv
    prefix = False
    if name in _SUBCOMMANDS and len(argv) > 1 and _WORD.fullmatch(argv[1]) and not part.spelled:
        depth = 3 if argv[1] in ("run", "run-script") and len(argv) > 2 else 2
        runs = len(argv) > 2 and argv[1] == "run" and argv[2] in _ANYTHING  # uv run python
        words, prefix = argv[:depth], argv[1] not in _RUNS_ANYTHING and not runs
        words = words if prefix else argv
    elif name == "git" and len(argv) > 1 and argv[1] in _SAFE_GIT and not part.spelled:
        words, prefix = argv[:2], True
    elif len(argv) > 1 and argv[1] in ("run", "exec", "dlx"):
        pass  # pipenv run python: as it is written
    elif name not in _ANYTHING and "/" not in name and not part.spelled and not part.listed:
        words, prefix = argv[:1], True
        if len(argv) > 1 and _WORD.fullmatch(argv[1]):
            words = argv[:2]
    rule = f"Bash({' '.join(shlex.quote(word) for word in words)}{':*' if prefix else ''})"
    try:
        covers = parse_rule(rule).covers_words(argv)
    except RuleError:
        return None
    return rule if covers else None


def _both(rule: str, covers: str, rules: tuple[str, ...] = ()) -> tuple[Suggestion, ...]:
    scopes: tuple[Scope, ...] = ("session", "project")
    return tuple(Suggestion(rule=rule, scope=scope, covers=covers, rules=rules) for scope in scopes)
