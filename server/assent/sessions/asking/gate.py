"""Whether a tool call may be made: `can_use_tool` of a session.

    the chain (permissions.decide) → a hook's word → for an ask: hooks, the classifier in auto mode, then people

It permits, nothing else: how an edit is decided hunk by hunk is `review`, the next stage. One edit, one decision: when
an edit needs asking, the ask carries its proposal, and the first of the ask's reply or the review of its last hunk
decides; the other is withdrawn. Deny is final wherever it comes from. The iron gate's asks are answered by people only.
An answer takes time, and rules and links may change meanwhile: it counts for what the question was about (`standing`).
"""

import logging
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Protocol

import msgspec

from assent.sessions.asking.ask_answers import AskAnswer, LastingRules, read_answer
from assent.sessions.asking.asks import Asks
from assent.sessions.asking.change import AskedChange
from assent.sessions.asking.orphans import Orphans
from assent.sessions.asking.permission_hooks import PermissionHooks, permission_updates
from assent.sessions.asking.review import EditReview
from assent.sessions.asking.standing import Standing, changed_since
from assent.sessions.deps import Classify, Decide, PermissionFacts
from assent.tools.tool import AnyTool, SessionState
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.ids import new_id
from assent.types.permissions import Action, Allow, Ask, Decision, Deny, Suggestion, Verdict
from assent.types.ports import ToolCall
from assent.wire import shapes as wire
from assent.wire.asks import PendingAsk
from assent.wire.shapes import CommandPart, Proposal, ShellCommand

log = logging.getLogger(__name__)
UNSAFE = "Auto mode judged this call unsafe. Find another way, or ask the user."
TOO_BIG_TO_SHOW = 10_000  # characters; nobody can agree for ever to what they cannot read


class NamedTools(Protocol):
    def named(self, name: str, /) -> AnyTool | None: ...


class GateSession(Protocol):
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
    def state(self) -> SessionState: ...
    def permission_facts(self) -> PermissionFacts: ...
    def judging(self, call: ToolCall) -> None: ...
    @property
    def tools(self) -> NamedTools: ...
    async def announce(self) -> None: ...
    def ask_timeout(self) -> float | None: ...


class Gate:
    def __init__(
        self,
        host: GateSession,
        *,
        decide: Decide,
        hooks: PermissionHooks,
        classify: Classify | None,
        review: EditReview,
    ) -> None:
        self._host = host
        self._decide = decide
        self._hooks = hooks
        self._classify = classify
        self._review = review

    async def can_use_tool(self, call: ToolCall) -> Verdict:
        self._host.judging(call)
        self._review.forget(call)
        with self._review.following(call):
            verdict = await self._verdict(call)
        if isinstance(verdict, Deny) and verdict.reason == UNSAFE:
            return replace(verdict, reason=await self._hooks.denied(call, verdict.reason))
        return verdict

    async def _verdict(self, call: ToolCall) -> Verdict:
        facts = self._facts(call)
        if call.hook_decision is not None or self._hooks.may_answer:
            facts = replace(facts, interactive=True)  # a hook may answer where nobody else can
        decision = self._decide(call.action, facts)
        standing = Standing.of(call, decision, cwd=facts.cwd)
        if call.hook_decision == "defer" and not isinstance(decision, Deny):
            reason = call.hook_reason or "A hook leaves this to a person."
            decision = Ask(step="rules", reason=reason, title=call.title, iron=True)
        if isinstance(decision, Allow) and call.hook_decision == "ask":
            decision = Ask(step="rules", reason=call.hook_reason or "A hook wants you to decide.", title=call.title)
        match decision:
            case Deny() | Allow():
                return decision
            case Ask():
                verdict = await self._without_people(call, decision)
                if verdict is None:
                    return await self._ask(call, decision)
                if isinstance(verdict, Deny) or verdict.updated_input is not None:  # judged just now
                    return verdict
                return await self._judged_anew(call, decision, standing) or verdict

    def _standing(self, call: ToolCall) -> Standing:
        facts = replace(self._facts(call), interactive=True)  # whoever answered was there
        return Standing.of(call, self._decide(call.action, facts), cwd=facts.cwd)

    async def _judged_anew(
        self, call: ToolCall, ask: Ask, before: Standing, change: AskedChange | None = None
    ) -> Verdict | None:
        """What counts instead of an answer to `ask`, where that is no longer what would be asked."""
        again = changed_since(before, self._standing(call), ask)
        if again is not None and change is not None:
            change.withdraw()
        if again is None or isinstance(again, Deny):
            return again
        return await self._ask(call, again) if self._host.interactive else nobody_here(again)

    def _facts(self, call: ToolCall) -> PermissionFacts:
        facts = self._host.permission_facts()
        if (place := call.place) is not None:
            readable = (*facts.read_roots, *place.read_roots)
            facts = replace(facts, cwd=place.cwd, roots=place.roots, read_roots=readable)
        return facts if call.mode is None else replace(facts, mode=call.mode)

    # --- answers that need no person ---------------------------------------------------------------------------------

    async def _without_people(self, call: ToolCall, ask: Ask) -> Verdict | None:
        people_only = ask.iron or ask.step == "policy"  # what the organisation wants asked, no program answers
        by_rule = ask.step == "rules"  # an ask rule is the user's own word; a hook's allow does not pass it
        if not people_only and not by_rule and call.hook_decision == "allow":
            return Allow(step=ask.step, reason=call.hook_reason or "A hook allowed it.")
        for outcome in await self._hooks.requested(call, reason=ask.reason, suggestions=ask.suggestions):
            if outcome.decision == "deny" or outcome.status in ("blocked", "prevented"):
                reason = outcome.text or "A hook denied it."
                return Deny(step=ask.step, reason=reason, interrupt=outcome.interrupt)
            if outcome.decision == "allow" and not people_only and not by_rule:
                self._host.rules_kept.update(permission_updates(outcome))
                if outcome.updated_input is not None:
                    return await self._rejudge(call, ask, dict(outcome.updated_input), outcome.text)
                return Allow(step=ask.step, reason=outcome.text or "A hook allowed it.")
        facts = self._facts(call)
        people_only = people_only or bool(call.action.always_ask)
        if facts.mode == "auto" and self._classify is not None and not people_only:
            said = await self._classified(call, ask)
            if said == "allow":
                return Allow(step="mode", reason="Auto mode judged this call safe.")
            if said == "deny":
                return Deny(step="mode", reason=UNSAFE)
        if facts.mode == "dontAsk":
            return Deny(
                step="mode", reason=f"This needs the user's permission ({ask.reason}), and mode dontAsk never asks."
            )
        if not self._host.interactive:
            return nobody_here(ask)
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
        change = self._review.propose(call.plan)
        asked = pending_ask(self._host.id, self._host.turn_id, call, ask, change.shown if change else None)
        asks = self._host.asks
        before = self._standing(call)
        await self._host.announce()
        question = self._host.orphans.adopt(call.tool_use_id) or asks.open(asked)
        answer: Json | None = None
        try:
            async with AsyncExitStack() as stack:
                if change is not None:
                    await stack.enter_async_context(change.deciding(asks, question))
                answer = await asks.wait(question, timeout=self._host.ask_timeout())
        except BaseException:
            self._review.leave(change)
            raise
        if answer is None and question.by == "review":
            self._review.answered(call, change)
            return Allow(step=ask.step, reason="Decided in the review.")
        if answer is None:
            if change is not None:
                change.withdraw()
            return Deny(step=ask.step, reason="Nobody answered the permission question.")
        said = read_answer(answer)
        if said.allowed and said.updated_input is None and not (change is not None and change.landed):
            instead = await self._judged_anew(call, ask, before, change)
            if instead is not None:
                return instead
        return await self._from_answer(call, ask, said, change)

    async def _from_answer(self, call: ToolCall, ask: Ask, answer: AskAnswer, change: AskedChange | None) -> Verdict:
        message, updated = answer.message, answer.updated_input
        if not answer.allowed:
            if change is not None:
                change.withdraw()
            if change is not None and change.landed:
                # Some hunks were accepted in the review before the rest was refused: the model must hear of both.
                self._review.answered(call, change)
                return Allow(step=ask.step, reason="The user accepted part of it.", message=message)
            said = f" and said: {message}" if message else "."
            return Deny(step=ask.step, reason=f"The user denied this call{said}", interrupt=answer.interrupt)
        if answer.mode is not None and call.action.tool == "ExitPlanMode":
            self._host.state.mode_before_plan = answer.mode  # the tool leaves plan mode for it
        suggested = next((each.rules or (each.rule,) for each in ask.suggestions), ())
        self._host.rules_kept.keep(answer, suggested=suggested, lasting=not (ask.iron or too_big(call.action)))
        if updated is None or updated == dict(call.action.input):
            self._review.answered(call, change, answer)
            return Allow(step=ask.step, reason="The user allowed it.", message=message)
        if change is not None:
            change.withdraw()
        verdict = await self._rejudge(call, ask, updated, message)
        self._review.answered(call, None)  # the person wrote this input: it is not shown to them once more
        return verdict

    async def _rejudge(self, call: ToolCall, ask: Ask, updated: Json, message: str) -> Verdict:
        """Input a person changed goes through the whole chain again, from parsing on."""
        tool = self._host.tools.named(call.action.tool)
        if tool is None:
            return Deny(step="exists", reason=f"There is no tool named {call.action.tool}.")
        try:
            parsed = tool.parse_rewritten(updated)
            action: Action = tool.action(parsed, cwd=self._facts(call).cwd)
        except ToolError as error:
            return Deny(step="tool", reason=f"The user allowed it with a changed input that does not fit: {error}")
        decision: Decision = self._decide(action, self._facts(call))
        said = message or "The user changed the input before allowing it."
        match decision:
            case Deny():
                return decision
            case Allow():
                return replace(decision, updated_input=updated, message=said)
            case Ask() if decision.iron or (decision.step == "rules" and ask.step != "rules"):
                changed = replace(
                    call, action=action, title=tool.title(parsed), plan=None, hook_decision=None, for_hooks=None
                )
                verdict = await self._ask(changed, decision)
                if isinstance(verdict, Allow) and verdict.updated_input is None:
                    return replace(verdict, updated_input=updated)
                return verdict
            case Ask():
                return Allow(step=decision.step, reason="The user allowed it.", updated_input=updated, message=said)


def nobody_here(ask: Ask) -> Deny:
    reason = f"This needs permission ({ask.reason}), and nobody is here to give it. Allow it with a rule."
    return Deny(step=ask.step, reason=reason)


def pending_ask(session_id: str, turn_id: str, call: ToolCall, ask: Ask, proposal: Json | None) -> PendingAsk:
    action = call.action
    parts = [CommandPart(list(part.argv), part.decision) for part in ask.parts]
    return PendingAsk(
        session_id=session_id,
        turn_id=turn_id,
        ask_id=new_id("a"),
        tool_use_id=call.tool_use_id,
        tool=action.tool,
        input=dict(action.input),
        title=ask.title or call.title,
        reason=ask.reason,
        step=ask.step,
        suggestions=[] if ask.iron or too_big(action) else [_suggested(each) for each in ask.suggestions],
        command=None if action.command is None else ShellCommand(action.command, parts),
        proposal=None if proposal is None else msgspec.convert(proposal, Proposal),
        parent_tool_use_id=call.parent_tool_use_id,
    )


def _suggested(suggestion: Suggestion) -> wire.Suggestion:
    rules = list(suggestion.rules) or None
    return wire.Suggestion(suggestion.rule, scope=suggestion.scope, covers=suggestion.covers, rules=rules)


def too_big(action: Action) -> bool:
    return action.command is not None and len(action.command) > TOO_BIG_TO_SHOW
