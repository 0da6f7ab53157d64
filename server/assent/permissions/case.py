"""One call, opened up: its paths resolved, its command parsed, its URL read, the rules that count. Parse first (P)."""

from dataclasses import dataclass

from assent.permissions.context import PermissionContext
from assent.permissions.paths import Located, PathRefused, locate, real_directory
from assent.permissions.rules import RuleSet
from assent.permissions.shell import Judgement, judge
from assent.permissions.web import Site, site_of
from assent.types.permissions import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    action: Action
    context: PermissionContext
    roots: tuple[str, ...]  # as given and as resolved
    rules: RuleSet
    reads: tuple[Located, ...] = ()
    writes: tuple[Located, ...] = ()
    refused: str = ""  # why a path could not be resolved
    shell: Judgement | None = None
    site: Site | None = None


def open_case(action: Action, context: PermissionContext) -> Case:
    given = context.effective_roots
    roots = tuple(dict.fromkeys((*given, *(real_directory(root) for root in given))))
    reads: tuple[Located, ...] = ()
    writes: tuple[Located, ...] = ()
    refused = ""
    try:
        reads = tuple(locate(path, cwd=context.cwd, home=context.home) for path in action.reads)
        writes = tuple(locate(path, cwd=context.cwd, home=context.home) for path in action.writes)
    except PathRefused as error:
        refused = str(error)
    shell = None
    if action.command is not None:
        shell = judge(action.command, cwd=context.cwd, home=context.home, roots=given, trusted=context.trusted)
    return Case(
        action=action,
        context=context,
        roots=roots,
        rules=context.effective_rules,
        reads=reads,
        writes=writes,
        refused=refused,
        shell=shell,
        site=None if action.url is None else site_of(action.url),
    )
