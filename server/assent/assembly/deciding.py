"""The permission chain with everything it must know: rules of the settings, managed policy, fences, own folders.

The chain's tables load with the first decision, or in warm-up.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from assent.permissions.context import PermissionContext
from assent.permissions.managed import ManagedPolicy
from assent.permissions.rules import EDITORS, READERS, RuleSet, parse_rule
from assent.sessions.deps import PermissionFacts
from assent.storage import paths
from assent.storage.settings import Settings, SettingsFiles
from assent.storage.trust import EVERYTHING, UNTRUSTED, TrustStore
from assent.tools.process import sandbox
from assent.tools.process.fence import Fences
from assent.types.blocks import Json
from assent.types.permissions import Action, Ask, Decision, Deny


class Deciding:
    def __init__(self, settings: SettingsFiles, trust: TrustStore, roots: Callable[[], Sequence[str]]) -> None:
        self.policy = ManagedPolicy(settings.policy_file)
        self.fences = Fences(home=str(Path.home()), own=_own_dirs())
        self._settings = settings
        self._trust = trust
        self._roots = roots
        self._home = str(Path.home())

    def decide(self, action: Action, facts: PermissionFacts) -> Decision:
        from assent.permissions.chain import decide

        return decide(action, self._context_of(facts, shell=action.command is not None))

    def matches_rule(self, rule: str, tool: str, given: Json, cwd: str) -> bool:
        """Whether a hook's `if` covers a call, as a deny rule would. A call that cannot be read counts as covered."""
        from assent.permissions.chain import decide
        from assent.permissions.shell.syntax.grammar import read

        parse_rule(rule, behaviour="deny")
        if tool == "Bash" and read(str(given.get("command", "")), cwd=cwd, home=self._home).lost:
            return True
        action = Action(
            tool=tool,
            input=given,
            command=given.get("command") if tool == "Bash" else None,
            url=given.get("url") if tool == "WebFetch" else None,
            reads=tuple(str(given[key]) for key in ("file_path", "path") if key in given and tool in READERS),
            writes=tuple(str(given[key]) for key in ("file_path", "notebook_path") if key in given and tool in EDITORS),
        )
        plain = PermissionContext(cwd=cwd, home=self._home, mode="bypassPermissions", tools=frozenset({tool}))
        denied = replace(plain, rules=RuleSet.from_rules([(rule, "session", "deny")]))
        verdict = decide(action, denied)
        return isinstance(verdict, Deny) or (isinstance(verdict, Ask) and not isinstance(decide(action, plain), Ask))

    def readable(self, facts: PermissionFacts) -> Callable[[str], bool] | None:
        """Says of a path whether it may be read; None where everything may."""
        from assent.permissions import lookups

        return lookups.may_read(self._context_of(facts))

    def private_allowed(self, facts: PermissionFacts, host: str) -> bool:
        """Whether a host in a private network may be fetched from."""
        from assent.permissions import lookups

        named = facts.settings.typed.allow_private_addresses
        return host in named or lookups.private_allowed(self._context_of(facts))(host)

    def is_read_only(self, folder: str, command: str, cwd: str, roots: Sequence[str]) -> bool:
        """As the chain sees it when the command runs: where the shell is by then, and as trusted as the folder is."""
        from assent.permissions.shell import judge as shell

        trusted = self._trust.trusted(folder)
        return shell.is_read_only(command, cwd, home=self._home, roots=roots or (folder,), trusted=trusted)

    async def explain(self, params: Json) -> Json:
        """`assent/permission/explain`."""
        from assent.permissions.explain import explain

        cwd = str(params.get("cwd") or next(iter(self._roots()), ""))
        trusted = bool(params.get("trusted", True))
        named = cwd.startswith("/") and "\0" not in cwd  # otherwise `explain` says so
        settings = self._settings.load(cwd, trust=EVERYTHING if trusted else UNTRUSTED) if named else Settings()
        context = PermissionContext(
            cwd=cwd,
            home=self._home,
            own_dirs=_own_dirs(),
            rules=_rule_set(settings),
            policy=self.policy.current(),
            unfenced=self.fences.trouble((cwd,), scope=settings.typed.sandbox.scope),
        )
        answer = explain(params, context=context)
        if params.get("tool") == "Bash":
            answer["sandbox"] = await asyncio.to_thread(sandbox.available)  # as `assent explain` says it
        return answer

    def _context_of(self, facts: PermissionFacts, *, shell: bool = True) -> PermissionContext:
        """`shell`: the action is a command; a fence is for commands only."""
        hidden = set(facts.tools) - set(facts.enabled)
        scope = facts.settings.typed.sandbox.scope
        return PermissionContext(
            cwd=facts.cwd,
            home=self._home,
            roots=facts.roots,
            read_roots=facts.read_roots,
            own_dirs=_own_dirs(),
            mode=facts.mode,
            trusted=facts.trusted,
            rules=_rule_set(facts.settings),
            policy=self.policy.current(),
            tools=frozenset(facts.tools),
            disabled_tools=dict.fromkeys(hidden, "it is switched off in this session"),
            interactive=facts.interactive,
            unfenced=self.fences.trouble((facts.cwd, *facts.roots), scope=scope) if shell else "",
        )


def _own_dirs() -> tuple[str, str]:
    return str(paths.config_dir()), str(paths.data_dir())


def _rule_set(settings: Settings) -> RuleSet:
    """The rules of a merged view, parsed once per view."""
    known = _rule_sets.get(settings.rules)
    if known is None:
        if len(_rule_sets) > 200:
            _rule_sets.clear()
        known = RuleSet.from_rules((rule.rule, rule.source, rule.behaviour) for rule in settings.rules)
        _rule_sets[settings.rules] = known
    return known


_rule_sets: dict[tuple[object, ...], RuleSet] = {}
