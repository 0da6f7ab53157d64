"""`assent/permission/explain` and `assent explain`: what the chain would say of a call, without making it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from assent.permissions.actions import SHAPES, action_for, known, problem
from assent.permissions.chain import decide
from assent.permissions.context import PermissionContext
from assent.permissions.rules import RuleSet
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.permissions import MODES


def explain(params: Mapping[str, Any], *, context: PermissionContext | None = None) -> Json:
    """`{tool, input, cwd, mode?, trusted?, rules?}` → `{decision, step, rule?, reason}`.

    Given rules replace all rules of `context`; its policy, like the iron gate, stays. Raises ProtocolError, also for an
    input that its tool would refuse: a call is parsed before it is judged. Only what judging depends on is looked at.
    """
    tool, input, cwd = params.get("tool"), params.get("input"), params.get("cwd")
    if not isinstance(tool, str) or not tool:
        raise _wrong("`tool` must be a tool's name")
    if not isinstance(input, Mapping):
        raise _wrong("`input` must be the tool's input, an object")
    if cwd is None and context is not None:
        cwd = context.cwd
    if not isinstance(cwd, str) or not cwd.startswith("/"):
        raise _wrong("`cwd` must be an absolute path")
    if "\0" in cwd:
        raise _wrong("`cwd` holds a NUL character, which no path can")
    mode, trusted = params.get("mode", "default"), params.get("trusted", True)
    if mode not in MODES:
        raise _wrong(f"`mode` must be one of {', '.join(MODES)}")
    if not isinstance(trusted, bool):
        raise _wrong("`trusted` must be true or false")
    base = context or PermissionContext(cwd=cwd, home=str(Path.home()))
    base = replace(base, cwd=cwd, roots=_roots(params, cwd, context), mode=mode, trusted=trusted)
    if (rules := params.get("rules")) is not None:
        if not isinstance(rules, Mapping):
            raise _wrong("`rules` must be an object with allow, ask and deny lists")
        own = RuleSet.from_settings({"cli": cast("Mapping[str, Any]", rules)})
        if own.problems:
            first = own.problems[0]
            raise _wrong(f"the {first.behaviour} rule {first.text!r}: {first.message}")
        base = replace(base, rules=own)
    given = cast("Mapping[str, Any]", input)
    if not known(tool):
        base = replace(base, tools=frozenset(SHAPES))
    elif why := problem(tool, given):
        raise _wrong(f"the tool would refuse this `input` before anything is judged: {why}")
    decision = decide(action_for(tool, given), base)
    answer: Json = {"decision": decision.decision, "step": decision.step, "reason": decision.reason}
    if decision.rule is not None:
        answer["rule"] = decision.rule
    return answer


def _roots(params: Mapping[str, Any], cwd: str, context: PermissionContext | None) -> tuple[str, ...]:
    roots = params.get("roots")
    if isinstance(roots, list) and all(
        isinstance(root, str) and root.startswith("/") and "\0" not in root for root in cast("list[object]", roots)
    ):
        return tuple(cast("list[str]", roots))
    if context is not None and context.roots and params.get("cwd") in (None, context.cwd):
        return context.roots
    return (cwd,)


def _wrong(message: str) -> ProtocolError:
    return ProtocolError("invalidParams", message, hint="See assent/permission/explain in the protocol.")
