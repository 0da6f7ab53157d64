"""Small questions other layers ask of the rules, each as a function ready to be handed over.

Searches leave out files that a Read rule keeps back; the fetching tool asks which private hosts are allowed.
"""

from collections.abc import Callable

from assent.permissions.context import PermissionContext
from assent.permissions.paths import PathRefused, fold, locate, with_real
from assent.permissions.rules import READERS


def may_read(context: PermissionContext) -> Callable[[str], bool]:
    """May a search show this absolute path? False for what a deny or ask rule for reading covers, by any name."""
    rules = (*context.effective_rules.rules, *context.policy.rules.rules)
    roots = with_real(context.effective_roots)
    patterns = [
        pattern
        for rule in rules
        if rule.behaviour != "allow" and rule.tool in READERS and rule.path is not None
        for pattern in rule.path_patterns(roots, context.home)
    ]

    def allowed(path: str) -> bool:
        if not patterns:
            return True
        try:
            names = locate(path, cwd=context.cwd, home=context.home).names
        except PathRefused:
            return False
        return not any(pattern.fullmatch(fold(name)) for pattern in patterns for name in names)

    return allowed


def private_allowed(context: PermissionContext) -> Callable[[str], bool]:
    """May this host be fetched although it is private? Only when a rule names it."""
    rules = (*context.effective_rules.of("allow"), *context.policy.rules.of("allow"))
    hosts = {rule.host for rule in rules if rule.host is not None}
    return lambda host: host.casefold().removesuffix(".") in hosts
