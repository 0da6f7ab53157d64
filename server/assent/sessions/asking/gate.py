"""Who decides one tool call: `can_use_tool` of a session.

    the chain (permissions.decide) → a hook's word → for an ask: hooks, the classifier in auto mode, then people
                                   → an allowed edit where review "before" was set: its hunks

One edit, one decision: when an edit needs asking, the ask carries the proposal, and the first of the ask's reply or the
review of its last hunk decides; the other is withdrawn. Deny is final wherever it comes from. The iron gate's asks are
answered by people only.
"""

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol

import anyio

from assent.editor.proposals import Origin, Proposals, Review
from assent.sessions.asking.answers import Answer, LastingRules, read_answer
from assent.sessions.asking.asks import Asks
from assent.sessions.asking.change_review import ChangeReview
from assent.sessions.asking.orphans import Orphans
from assent.sessions.deps import Classify, Decide, Judgement
from assent.tools.tool import AnyTool
from assent.types.blocks import Json
from assent.types.errors import ProtocolError, ToolError
from assent.types.hooks import HookCall, HookEvent, HookOutcome, Hooks
from assent.types.ids import new_id
from assent.types.permissions import Action, Allow, Ask, Decision, Deny, Suggestion, Verdict
from assent.types.ports import ToolCall

log = logging.getLogger(__name__)
TOO_BIG_TO_SHOW = 10_000  # characters; nobody can agree for ever to what they cannot read


class Host(Protocol):
    """What the gate needs to know of its session, as it is at the moment of the call."""

    @property
    def id(self) -> str: ...
    @property
    def turn_id(self) -> str: ...
    @property
    def asks(self) -> Asks: ...
    @property
    def orphans(self) -> Orphans: ...
    @property
    def rules_kept(self) -> LastingRules: ...
    @property
    def interactive(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    @property
    def review(self) -> Review: ...
    @property
    def allowed_edits_wait(self) -> bool: ...
    def reviewing(self, waiting: Sequence[Json]) -> AbstractContextManager[None]: ...
    def judgement(self) -> Judgement: ...
    def origin(self) -> Origin: ...
    def judging(self, call: ToolCall) -> None: ...
    def tool(self, name: str) -> AnyTool | None: ...
    async def announce(self) -> None: ...
    def ask_timeout(self) -> float | None: ...


class Gate:
    def __init__(
        self,
        host: Host,
        *,
        decide: Decide,
        hooks: Hooks,
        classify: Classify | None,
        proposals: Proposals | None,
    ) -> None:
        self._host = host
        self._decide = decide
        self._hooks = hooks
        self._classify = classify
        self._proposals = proposals
        self._judged: dict[str, ToolCall] = {}  # on their way to a verdict

    def landing(self, path: str) -> None:
        """A hunk is about to land in this file: a call that waits for the rest of its hunks has begun to act (L10)."""
        for call in self._judged.values():
            if call.plan is not None and any(path == each.path for each in (call.plan, *call.plan.others)):
                call.acted()

    async def can_use_tool(self, call: ToolCall) -> Verdict:
        self._judged[call.tool_use_id] = call
        self._host.judging(call)
        try:
            verdict = await self._verdict(call)
        finally:
            self._judged.pop(call.tool_use_id, None)
        if isinstance(verdict, Deny) and self._hooks.wants("PermissionDenied"):
            outcomes = await self._run_hooks("PermissionDenied", call, reason=verdict.reason)
            if any(outcome.specific.get("retry") is True for outcome in outcomes):
                return replace(verdict, reason=f"{verdict.reason} A hook says that you may try this call again.")
        return verdict

    async def _verdict(self, call: ToolCall) -> Verdict:
        judgement = self._judgement(call)
        if call.hook_decision is not None or self._hooks.wants("PermissionRequest"):
            judgement = replace(judgement, interactive=True)  # a hook may answer where nobody else can
        decision = self._decide(call.action, judgement)
        if call.hook_decision == "defer" and not isinstance(decision, Deny):
            reason = call.hook_reason or "A hook leaves this to a person."
            decision = Ask(step="rules", reason=reason, title=call.title, iron=True)
        if isinstance(decision, Allow) and call.hook_decision == "ask":
            decision = Ask(step="rules", reason=call.hook_reason or "A hook wants you to decide.", title=call.title)
        match decision:
            case Deny():
                return decision
            case Allow():
                return await self._reviewed(call, decision)
            case Ask():
                answer = await self._without_people(call, decision)
                if isinstance(answer, Deny):
                    return answer
                if isinstance(answer, Allow):
                    return await self._reviewed(call, answer)
                return await self._ask(call, decision)

    def _judgement(self, call: ToolCall) -> Judgement:
        judgement = self._host.judgement()
        return judgement if call.mode is None else replace(judgement, mode=call.mode)

    # --- answers that need no person ---------------------------------------------------------------------------------

    async def _without_people(self, call: ToolCall, ask: Ask) -> Verdict | None:
        people_only = ask.iron or ask.step == "policy"  # what the organisation wants asked, no program answers
        by_rule = ask.step == "rules"  # an ask rule is the user's own word; a hook's allow does not pass it
        if not people_only and not by_rule and call.hook_decision == "allow":
            return Allow(step=ask.step, reason=call.hook_reason or "A hook allowed it.")
        if self._hooks.wants("PermissionRequest"):
            for outcome in await self._run_hooks(
                "PermissionRequest", call, reason=ask.reason, suggestions=ask.suggestions
            ):
                if outcome.decision == "deny" or outcome.status in ("blocked", "prevented"):
                    reason = outcome.text or "A hook denied it."
                    return Deny(step=ask.step, reason=reason, interrupt=outcome.interrupt)
                if outcome.decision == "allow" and not people_only and not by_rule:
                    if outcome.updated_input is not None:
                        return await self._rejudge(call, ask, dict(outcome.updated_input), outcome.text)
                    return Allow(step=ask.step, reason=outcome.text or "A hook allowed it.")
        judgement = self._judgement(call)
        people_only = people_only or bool(call.action.always_ask)
        if judgement.mode == "auto" and self._classify is not None and not people_only:
            said = await self._classified(call, ask)
            if said == "allow":
                return Allow(step="mode", reason="Auto mode judged this call safe.")
            if said == "deny":
                return Deny(step="mode", reason="Auto mode judged this call unsafe. Find another way, or ask the user.")
        if judgement.mode == "dontAsk":
            return Deny(
                step="mode", reason=f"This needs the user's permission ({ask.reason}), and mode dontAsk never asks."
            )
        if not self._host.interactive:
            reason = f"This needs permission ({ask.reason}), and nobody is here to give it. Allow it with a rule."
            return Deny(step=ask.step, reason=reason)
        return None

    async def _classified(self, call: ToolCall, ask: Ask) -> str:
        assert self._classify is not None
        try:
            return await self._classify(self._host.id, call, ask)
        except Exception:
            log.warning("the auto mode classifier failed; a person decides", exc_info=True)
            return "ask"

    # --- people ------------------------------------------------------------------------------------------------------

    async def _ask(self, call: ToolCall, ask: Ask) -> Verdict:
        change = self._propose(call)
        params = ask_params(self._host.id, self._host.turn_id, call, ask, change.shown if change else None)
        asks = self._host.asks
        await self._host.announce()
        question = self._host.orphans.adopt(call.tool_use_id) or asks.open("permission", params["askId"], params)
        answer: Json | None = None
        try:
            async with anyio.create_task_group() as group:
                if change is not None:
                    group.start_soon(self._settled_by_review, change.proposal_id, question.id)
                answer = await asks.wait(question, timeout=self._host.ask_timeout())
                group.cancel_scope.cancel()
        except BaseException:
            self._leave(change)
            raise
        if answer is None and question.by == "review" and change is not None:
            return await self._settled(change, Allow(step=ask.step, reason="Decided in the review."), answered=True)
        if answer is None:
            self._withdraw(change)
            return Deny(step=ask.step, reason="Nobody answered the permission question.")
        return await self._from_answer(call, ask, read_answer(answer), change)

    async def _settled_by_review(self, proposal_id: str, ask_id: str) -> None:
        assert self._proposals is not None
        await self._proposals.wait(proposal_id)
        self._host.asks.withdraw(ask_id, by="review")

    async def _from_answer(self, call: ToolCall, ask: Ask, answer: Answer, change: ChangeReview | None) -> Verdict:
        message, updated = answer.message, answer.updated_input
        if not answer.allowed:
            self._withdraw(change)
            if change is not None and change.landed:
                # Some hunks were accepted in the review before the rest was refused: the model must hear of both.
                return change.carried_by(Allow(step=ask.step, reason="The user accepted part of it.", message=message))
            said = f" and said: {message}" if message else "."
            return Deny(step=ask.step, reason=f"The user denied this call{said}", interrupt=answer.interrupt)
        suggested = next((suggestion.rule for suggestion in ask.suggestions), None)
        self._host.rules_kept.keep(answer, suggested=suggested, lasting=not (ask.iron or too_big(call.action)))
        if updated is not None and updated != dict(call.action.input):
            self._withdraw(change)
            return await self._rejudge(call, ask, updated, message)
        allowed = Allow(step=ask.step, reason="The user allowed it.", message=message)
        if change is None:
            return allowed
        decisions: Sequence[Json] | Json = {"all": "accept"} if answer.hunks is None else answer.hunks
        try:
            await change.proposals.resolve(change.proposal_id, decisions, message=message, unnamed="reject")
        except ProtocolError as error:
            self._withdraw(change)
            made = f"\n{change.outcomes()}" if change.landed else ""
            return Deny(step=ask.step, reason=f"The user's answer could not be applied: {error}{made}")
        return await self._settled(change, allowed, answered=True)

    async def _rejudge(self, call: ToolCall, ask: Ask, updated: Json, message: str) -> Verdict:
        """Input a person changed goes through the whole chain again, from parsing on."""
        tool = self._host.tool(call.action.tool)
        if tool is None:
            return Deny(step="exists", reason=f"There is no tool named {call.action.tool}.")
        try:
            parsed = tool.parse(updated)
            action: Action = tool.action(parsed, cwd=self._host.judgement().cwd)
        except ToolError as error:
            return Deny(step="tool", reason=f"The user allowed it with a changed input that does not fit: {error}")
        decision: Decision = self._decide(action, self._judgement(call))
        said = message or "The user changed the input before allowing it."
        match decision:
            case Deny():
                return decision
            case Allow():
                return replace(decision, updated_input=updated, message=said)
            case Ask() if decision.iron or (decision.step == "rules" and ask.step != "rules"):
                changed = replace(call, action=action, title=tool.title(parsed), plan=None, hook_decision=None)
                verdict = await self._ask(changed, decision)
                if isinstance(verdict, Allow) and verdict.updated_input is None:
                    return replace(verdict, updated_input=updated)
                return verdict
            case Ask():
                return Allow(step=decision.step, reason="The user allowed it.", updated_input=updated, message=said)

    # --- review ------------------------------------------------------------------------------------------------------

    async def _reviewed(self, call: ToolCall, allowed: Allow) -> Verdict:
        """An edit that may be made lands; it waits for its hunks only where someone set review "before"."""
        if call.plan is None or not self._host.allowed_edits_wait or not self._host.interactive:
            return allowed
        change = self._propose(call)
        return allowed if change is None else await self._settled(change, allowed, answered=False)

    def _propose(self, call: ToolCall) -> ChangeReview | None:
        if call.plan is None or self._proposals is None or self._host.review == "off":
            return None
        return ChangeReview.of(self._proposals, call.plan, self._host.origin, review=self._host.review)

    async def _settled(self, change: ChangeReview, allowed: Allow, *, answered: bool) -> Verdict:
        """Once every file that was proposed has been decided."""
        try:
            if change.others or not answered:
                with self._host.reviewing(change.pending(answered=answered)):
                    await change.wait(answered=answered)
        except BaseException:
            self._leave(change)
            raise
        return change.verdict(allowed)

    def _withdraw(self, change: ChangeReview | None) -> None:
        if change is not None:
            change.withdraw()

    def _leave(self, change: ChangeReview | None) -> None:
        """The turn ends under a question. Interrupted, the edit is off; when the process ends, it can still be made."""
        if not self._host.closed:
            self._withdraw(change)

    # --- hooks -------------------------------------------------------------------------------------------------------

    async def _run_hooks(
        self, event: HookEvent, call: ToolCall, *, reason: str, suggestions: Sequence[Suggestion] = ()
    ) -> list[HookOutcome]:
        data: Json = {"tool_name": call.action.tool, "tool_input": dict(call.action.input), "reason": reason}
        if event == "PermissionRequest":
            data["permission_suggestions"] = [{"type": "addRules", **_suggested(each)} for each in suggestions]
        else:
            data["tool_use_id"] = call.tool_use_id
        cwd = self._host.judgement().cwd
        return await self._hooks.run(
            HookCall(
                event=event,
                session_id=self._host.id,
                cwd=cwd,
                subject=call.action.tool,
                data=data,
                tool_use_id=call.tool_use_id,
                agent_id=call.parent_tool_use_id,
                detached=True,
            )
        )


def _suggested(suggestion: Suggestion) -> Json:
    """As hooks are given it, and may give it back."""
    tool, bracket, rest = suggestion.rule.partition("(")
    rule = {"toolName": tool, "ruleContent": rest[:-1]} if bracket else {"toolName": tool}
    place = {"session": "session", "user": "userSettings"}.get(suggestion.scope, "localSettings")
    return {"rules": [rule], "behavior": "allow", "destination": place}


def ask_params(session_id: str, turn_id: str, call: ToolCall, ask: Ask, proposal: Json | None) -> Json:
    """`assent/permission/ask`, without the requestId that each front gets of its own."""
    action = call.action
    params: Json = {
        "sessionId": session_id,
        "turnId": turn_id,
        "askId": new_id("a"),
        "toolUseId": call.tool_use_id,
        "tool": action.tool,
        "input": dict(action.input),
        "title": ask.title or call.title,
        "reason": ask.reason,
        "step": ask.step,
        "suggestions": []
        if ask.iron or too_big(action)
        else [{"rule": s.rule, "scope": s.scope, "covers": s.covers} for s in ask.suggestions],
    }
    if action.command is not None:
        parts = [{"argv": list(part.argv), "decision": part.decision} for part in ask.parts]
        params["command"] = {"text": action.command, "parts": parts}
    if proposal is not None:
        params["proposal"] = proposal
    if call.parent_tool_use_id is not None:
        params["parentToolUseId"] = call.parent_tool_use_id
    return params


def too_big(action: Action) -> bool:
    return action.command is not None and len(action.command) > TOO_BIG_TO_SHOW
