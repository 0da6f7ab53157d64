"""One call, opened up: its paths resolved, its command parsed, its URL read, the rules that count. Parse first (P)."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from assent.permissions.aliases import NONE, Aliases, aliases
from assent.permissions.context import PermissionContext
from assent.permissions.paths import Located, PathRefused, Seen, fold, locate, with_real
from assent.permissions.rules import Rule, RuleSet
from assent.permissions.shell.judge import Judgement, judge
from assent.permissions.shell.syntax.parts import PathUse, locations
from assent.permissions.web import Site, site_of
from assent.text.globs import PathPattern
from assent.types.git_objects import Unreadable
from assent.types.permissions import Action

Named = tuple[str, str, frozenset[str] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    action: Action
    context: PermissionContext
    roots: tuple[str, ...]  # as given and as resolved, like the two below
    read_roots: tuple[str, ...]
    own_dirs: tuple[str, ...]
    rules: RuleSet
    reads: tuple[Located, ...] = ()
    writes: tuple[Located, ...] = ()
    refused: str = ""  # why a path could not be resolved
    shell: Judgement | None = None
    site: Site | None = None
    seen: Seen = field(default_factory=dict[str, int | None])
    scope: dict[tuple[object, ...], bool] = field(default_factory=dict[tuple[object, ...], bool])
    found: dict[Named, tuple[Located, ...] | None] = field(default_factory=dict[Named, tuple[Located, ...] | None])

    revised: dict[tuple[tuple[str, ...], str], tuple[str, str] | Unreadable | None] = field(
        default_factory=dict[tuple[tuple[str, ...], str], tuple[str, str] | Unreadable | None]
    )  # what git would change of what is kept
    linked: dict[str, Aliases] = field(default_factory=dict[str, Aliases])
    anchored: dict[int, list[PathPattern]] = field(default_factory=dict[int, list[PathPattern]])

    def patterns(self, rule: Rule) -> list[PathPattern]:
        """A path rule's patterns, anchored here; by identity, because the rules outlive the case."""
        if id(rule) not in self.anchored:
            self.anchored[id(rule)] = rule.path_patterns(self.roots, self.context.home)
        return self.anchored[id(rule)]

    def locations(self, use: PathUse) -> tuple[Located, ...] | None:
        """Every file a word of the command may name; None when that cannot be resolved."""
        key = (use.word.text, use.word.pattern, use.directories)
        if key not in self.found:
            try:
                self.found[key] = tuple(locations(use, cwd=self.context.cwd, home=self.context.home, seen=self.seen))
            except PathRefused:
                self.found[key] = None
        return self.found[key]

    def written(self, use: PathUse) -> tuple[Located, ...]:
        """Every file the word names, each with the names of its hard links: a write changes those too."""
        return tuple(
            replace(located, names=(*located.names, *self.aliases(located).names)) for located in self._of(use)
        )

    def unseen_names(self, use: PathUse) -> bool:
        """Does a file that it names go by names outside the workspace, too?"""
        return not all(self.aliases(located).complete for located in self._of(use))

    def aliases(self, located: Located) -> Aliases:
        if located.target not in self.linked:
            self.linked[located.target] = aliases(located.target, self.roots) if located.exists else NONE
        return self.linked[located.target]

    def _of(self, use: PathUse) -> tuple[Located, ...]:
        return self.locations(use) or ()


def open_case(action: Action, context: PermissionContext) -> Case:
    given, rules = context.effective_roots, context.effective_rules
    seen: Seen = {}
    reads: tuple[Located, ...] = ()
    writes: tuple[Located, ...] = ()
    refused = ""
    try:
        reads = tuple(locate(path, cwd=context.cwd, home=context.home, seen=seen) for path in action.reads)
        writes = tuple(locate(path, cwd=context.cwd, home=context.home, seen=seen) for path in action.writes)
    except PathRefused as error:
        refused = str(error)
    shell = None
    if action.command is not None:
        shell = judge(
            action.command,
            cwd=context.cwd,
            home=context.home,
            roots=given,
            trusted=context.trusted,
            hints=_hints((*rules.rules, *context.policy.rules.rules)),
            seen=seen,
        )
    return Case(
        action=action,
        context=context,
        roots=with_real(given, seen),
        read_roots=with_real(context.read_roots, seen),
        own_dirs=with_real(context.own_dirs, seen),
        rules=rules,
        reads=reads,
        writes=writes,
        refused=refused,
        shell=shell,
        seen=seen,
        site=None if action.url is None else site_of(action.url),
    )


def _hints(rules: Iterable[Rule]) -> frozenset[str]:
    """What the names of restricted commands have in them."""
    return frozenset(
        fold(rule.words[0]).partition("*")[0].rpartition("/")[2]
        for rule in rules
        if rule.words and rule.behaviour != "allow"
    )
