"""The permission hooks: PermissionRequest may answer instead of people; PermissionDenied gets denials of auto mode."""

from collections.abc import Callable, Sequence
from typing import cast

from assent.types.blocks import Json
from assent.types.hooks import HookCall, HookEvent, HookOutcome, Hooks
from assent.types.permissions import Suggestion
from assent.types.ports import ToolCall


class PermissionHooks:
    def __init__(self, hooks: Hooks, *, session_id: str, cwd: Callable[[], str]) -> None:
        self._hooks = hooks
        self._session_id = session_id
        self._cwd = cwd

    @property
    def may_answer(self) -> bool:
        return self._hooks.wants("PermissionRequest")

    async def requested(
        self, call: ToolCall, *, reason: str, suggestions: Sequence[Suggestion]
    ) -> Sequence[HookOutcome]:
        if not self.may_answer:
            return ()
        offered = [{"type": "addRules", **_suggested(each)} for each in suggestions]
        return await self._run("PermissionRequest", call, {"reason": reason, "permission_suggestions": offered})

    async def denied(self, call: ToolCall, reason: str) -> str:
        """The text of a denial for the model, after the hooks were notified."""
        if not self._hooks.wants("PermissionDenied"):
            return reason
        outcomes = await self._run("PermissionDenied", call, {"reason": reason, "tool_use_id": call.tool_use_id})
        if any(outcome.specific.get("retry") is True for outcome in outcomes):
            return f"{reason} A hook says that you may try this call again."
        return reason

    async def _run(self, event: HookEvent, call: ToolCall, data: Json) -> list[HookOutcome]:
        return await self._hooks.run(
            HookCall(
                event=event,
                session_id=self._session_id,
                cwd=self._cwd(),
                subject=call.action.tool,
                data={"tool_name": call.action.tool, "tool_input": _input(call), **data},
                tool_use_id=call.tool_use_id,
                agent_id=call.parent_tool_use_id,
                agent_type=call.agent_type,
                detached=True,
            )
        )


def _input(call: ToolCall) -> Json:
    return dict(call.for_hooks() if call.for_hooks is not None else call.action.input)


def permission_updates(outcome: HookOutcome) -> list[Json]:
    """`updatedPermissions` of a hook that allowed a call."""
    decision: object = outcome.specific.get("decision")
    found: object = cast("Json", decision).get("updatedPermissions") if isinstance(decision, dict) else None
    entries = cast("list[object]", found) if isinstance(found, list) else []
    return [cast("Json", each) for each in entries if isinstance(each, dict)]


def _suggested(suggestion: Suggestion) -> Json:
    """As hooks are given it, and may give it back."""
    place = {"session": "session", "user": "userSettings"}.get(suggestion.scope, "localSettings")
    rules = [_parts(rule) for rule in suggestion.rules or (suggestion.rule,)]
    return {"rules": rules, "behavior": "allow", "destination": place}


def _parts(rule: str) -> Json:
    tool, bracket, rest = rule.partition("(")
    return {"toolName": tool, "ruleContent": rest[:-1]} if bracket else {"toolName": tool}
