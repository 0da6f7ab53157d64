"""What a decision depends on besides the call itself: where, in which mode, under whose rules.

Sessions build it from settings, the editor and the trust store; nothing here is read from disk.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from assent.permissions.rules import RuleSet
from assent.types.permissions import MODES, Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The managed file, /etc/assent/policy.json: never overridden.

        {"permissions": {"allow": […], "ask": […], "deny": […], "disableBypassPermissions": true,
                         "managedRulesOnly": true, "modes": ["default", "plan"]},
         "tools": {"disabled": ["WebFetch"]}}

    A file that cannot be read restricts: bypass and auto are off until it is mended.
    """

    rules: RuleSet = field(default_factory=RuleSet)
    disabled_tools: frozenset[str] = frozenset()
    modes: frozenset[Mode] = frozenset(MODES)
    managed_rules_only: bool = False  # allow rules of every other source do not apply
    problems: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, data: object) -> "Policy":
        if not isinstance(data, Mapping):
            return cls.broken("the policy file must hold a JSON object")
        file = cast("Mapping[str, Any]", data)
        permissions, tools = file.get("permissions", {}), file.get("tools", {})
        if not isinstance(permissions, Mapping) or not isinstance(tools, Mapping):
            return cls.broken("`permissions` and `tools` in the policy file must be objects")
        permissions, tools = cast("Mapping[str, Any]", permissions), cast("Mapping[str, Any]", tools)
        modes, disabled = permissions.get("modes", [*MODES]), tools.get("disabled", [])
        if not isinstance(modes, list) or not isinstance(disabled, list):
            return cls.broken("`permissions.modes` and `tools.disabled` in the policy file must be lists")
        allowed = {mode for mode in MODES if mode in modes} | {"default"}
        if permissions.get("disableBypassPermissions") not in (None, False):
            allowed.discard("bypassPermissions")
        rules = RuleSet.from_settings({"policy": permissions})
        return cls(
            rules=rules,
            disabled_tools=frozenset(str(name) for name in cast("list[object]", disabled)),
            modes=frozenset(cast("set[Mode]", allowed)),
            managed_rules_only=permissions.get("managedRulesOnly") not in (None, False),
            problems=tuple(f"policy rule {problem.text!r}: {problem.message}" for problem in rules.problems),
        )

    @classmethod
    def broken(cls, message: str) -> "Policy":
        return cls(modes=frozenset[Mode]({"default", "plan", "dontAsk", "acceptEdits"}), problems=(message,))


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionContext:
    cwd: str  # absolute: the session's, not the process's
    home: str
    roots: tuple[str, ...] = ()  # workspace folders, from the editor only; cwd when there are none
    read_roots: tuple[str, ...] = ()  # also readable without asking: the session's own spilled results
    own_dirs: tuple[str, ...] = ()  # where our settings and data live, when not at their usual place
    mode: Mode = "default"
    trusted: bool = True
    rules: RuleSet = field(default_factory=RuleSet)
    policy: Policy = field(default_factory=Policy)
    tools: frozenset[str] | None = None  # names that exist; None when the caller has checked
    disabled_tools: Mapping[str, str] = field(default_factory=dict[str, str])  # name -> why not now
    interactive: bool = True  # False: nobody can be asked (P12)
    unfenced: str = ""  # why commands that only read cannot be fenced in here, although they should be

    @property
    def effective_roots(self) -> tuple[str, ...]:
        return self.roots or (self.cwd,)

    @property
    def effective_mode(self) -> Mode:
        return self.mode if self.mode in self.policy.modes else "default"

    @property
    def effective_rules(self) -> RuleSet:
        """Every source that counts here, policy included."""
        rules = self.rules.in_force(trusted=self.trusted)
        if self.policy.managed_rules_only:
            rules = RuleSet(rules=tuple(r for r in rules.rules if r.behaviour != "allow"), problems=rules.problems)
        return rules
