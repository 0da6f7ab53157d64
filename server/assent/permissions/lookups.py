"""Small questions other layers ask of the rules, each as a function ready to be handed over.

Searches leave out files that a Read rule keeps back; the fetching tool asks which private hosts are allowed.
"""

from collections.abc import Callable, Sequence

from assent.permissions.context import PermissionContext
from assent.permissions.paths import PathRefused, Seen, fold, locate, with_real
from assent.permissions.rules import READERS
from assent.permissions.web import is_private
from assent.text.globs import PathPattern


def may_read(context: PermissionContext) -> Callable[[str], bool] | None:
    """For one search: may it show this absolute path? None when no deny or ask rule keeps any file from being read.

    A search passes the same folders again and again, so what was found at each is remembered while it lasts.
    """
    rules = (*context.effective_rules.rules, *context.policy.rules.rules)
    roots = with_real(context.effective_roots)
    patterns = [
        pattern
        for rule in rules
        if rule.behaviour != "allow" and rule.tool in READERS and rule.path is not None
        for pattern in rule.path_patterns(roots, context.home)
    ]
    return _search(context, patterns) if patterns else None


def _search(context: PermissionContext, patterns: Sequence[PathPattern]) -> Callable[[str], bool]:
    seen: Seen = {}

    def allowed(path: str) -> bool:
        """False for what a rule covers by any name of the file."""
        try:
            names = locate(path, cwd=context.cwd, home=context.home, seen=seen).names
        except PathRefused:
            return False
        return not any(pattern.fullmatch(fold(name)) for pattern in patterns for name in names)

    return allowed


def private_allowed(context: PermissionContext) -> Callable[[str], bool]:
    """May this host be fetched although it leads to a private address? Only when a rule names it, and when its very
    name says that it is a local one. Whoever owns a public name decides where it leads, so a rule for
    `docs.example.com` does not vouch for the user's own network; `allowPrivateAddresses` can."""
    rules = (*context.effective_rules.of("allow"), *context.policy.rules.of("allow"))
    hosts = {rule.host for rule in rules if rule.host is not None and is_private(rule.host)}
    return lambda host: host.casefold().removesuffix(".") in hosts
