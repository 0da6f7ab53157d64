"""Allow, ask or deny: `decide(action, context)` in ten steps, with the rules, paths and shell it needs to know.

    from assent.permissions.chain import decide
    from assent.permissions.context import PermissionContext, Policy
    from assent.permissions.rules import Rule, RuleError, RuleSet, parse_rule
    from assent.permissions.shell import is_read_only
    from assent.types.hardening import hardening_env, SCRUBBED_VARIABLES
    from assent.permissions.lookups import may_read, private_allowed
    from assent.permissions.explain import explain

Imports only `types`. Reads the file system to see where paths lead; changes nothing, starts nothing, asks nobody.
"""
