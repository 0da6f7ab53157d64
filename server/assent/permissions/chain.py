"""The ten steps from a tool call to allow, ask or deny (P).

     1 exists        deny: no such tool
     2 enabled       deny: switched off now, or a change in plan mode
     3 policy        deny, firm ask or allow, by the managed file
     4 sandbox       deny what cannot be resolved, ask about what lies outside the workspace
     5 readOnly      allow what only reads inside it
     6 rules         deny, firm ask or allow, by everyone's rules
     7 mode          allow (bypassPermissions, acceptEdits) or firm ask (plan)
     8 ironGate      iron ask
     9 tool          deny, ask or firm ask: is the command understood, does the address mean one host?
    10 consolidate   iron ask, firm ask, allow, ask, in this order; silence asks; with nobody to ask, deny

Pure but for looking at the file system to see where paths lead. Deny is final at once; allow and ask are provisional,
so a later step still runs whatever an earlier one said. A firm ask is one that no allow outweighs; an iron one only a
person may answer, neither a hook nor the classifier.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeGuard

from assent.permissions import coverage, suggestions
from assent.permissions.case import Case, open_case
from assent.permissions.context import PermissionContext
from assent.permissions.iron_gate import iron_reason
from assent.permissions.repositories import repository_doubt
from assent.permissions.shell.judge import Judgement
from assent.permissions.web import MAX_CARRIED
from assent.text.visible import shown
from assent.types.permissions import Action, Allow, Ask, CommandPart, Decision, Deny, Step, Suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One step's opinion. No vote at all is a pass."""

    kind: Literal["allow", "ask", "deny"]
    reason: str
    rule: str | None = None
    firm: bool = False  # for asks: no allow outweighs it
    iron: bool = False


def decide(action: Action, context: PermissionContext) -> Decision:
    """Judge one call. Every step is a function below."""
    case = open_case(action, context)
    steps: list[tuple[Step, Callable[[Case], Vote | None]]] = [
        ("exists", exists),
        ("enabled", enabled),
        ("policy", policy),
        ("sandbox", sandbox),
        ("readOnly", read_only),
        ("rules", rules),
        ("mode", mode),
        ("ironGate", iron_gate),
        ("tool", tool),
    ]
    votes: list[tuple[Step, Vote]] = []
    for step, opinion in steps:
        vote = opinion(case)
        if vote is not None and vote.kind == "deny":
            return Deny(step=step, reason=shown(vote.reason), rule=vote.rule)
        if vote is not None:
            votes.append((step, replace(vote, reason=shown(vote.reason))))
    return consolidate(case, votes)


def exists(case: Case) -> Vote | None:
    known = case.context.tools
    if known is not None and case.action.tool not in known:
        return Vote(kind="deny", reason=f"There is no tool named {shown(case.action.tool, 100)}.")
    return None


def enabled(case: Case) -> Vote | None:
    name = case.action.tool
    if why := case.context.disabled_tools.get(name):
        return Vote(kind="deny", reason=f"{name} is not available now: {why}")
    if case.context.effective_mode == "plan" and case.action.writes:
        return Vote(kind="deny", reason="In plan mode nothing is changed. Present the plan with ExitPlanMode first.")
    return None


def policy(case: Case) -> Vote | None:
    """The managed file: its denials are final, its asks firm; what it allows no other rule needs to."""
    managed = case.context.policy
    if case.action.tool in managed.disabled_tools:
        return Vote(kind="deny", reason=f"{case.action.tool} is switched off by your organisation's policy.")
    return _rule_vote(case, coverage.match(case, managed.rules), "your organisation's policy")


def sandbox(case: Case) -> Vote | None:
    """Where the call reaches: outside the workspace asks, what cannot be resolved is refused."""
    if case.refused:
        return Vote(kind="deny", reason=f"The path cannot be resolved safely: {case.refused}.")
    if outside := coverage.outside_scope(case):
        return Vote(kind="ask", reason=outside)
    return None


def read_only(case: Case) -> Vote | None:
    if case.action.harmless:
        return Vote(kind="allow", reason="It acts only inside the session.")
    if case.shell is not None:
        if coverage.shell_covered(case, by="table"):
            if why := case.context.unfenced:
                return Vote(kind="ask", reason=f"It only reads, but cannot be fenced in: {shown(why, 200)}.")
            return Vote(kind="allow", reason="It only reads, inside the workspace.")
        return None
    if case.action.read_only and case.action.url is None and not coverage.outside_scope(case):
        return Vote(kind="allow", reason="It only reads, inside the workspace.")
    return None


def rules(case: Case) -> Vote | None:
    return _rule_vote(case, coverage.match(case, case.rules), "your rules")


def mode(case: Case) -> Vote | None:
    match case.context.effective_mode:
        case "bypassPermissions":
            return Vote(kind="allow", reason="Permissions are bypassed in this session.")
        case "acceptEdits" if coverage.edit_covered(case):
            return Vote(kind="allow", reason="Edits inside the workspace are accepted in this mode.")
        case "plan" if not (case.action.read_only or case.action.harmless or case.action.always_ask):
            if case.site is None and case.action.tool != "WebSearch" and not coverage.shell_covered(case, by="table"):
                return Vote(kind="ask", reason="In plan mode only reading goes unasked.", firm=True)
            return None
        case _:
            return None


def iron_gate(case: Case) -> Vote | None:
    """What is asked even under allow rules and bypass."""
    if reason := iron_reason(case):
        return Vote(kind="ask", reason=reason, firm=True, iron=True)
    return None


def tool(case: Case) -> Vote | None:
    """The tool's own check: a command must be understood, a URL must mean one host."""
    if case.action.always_ask:
        return Vote(kind="ask", reason=case.action.always_ask, firm=True)
    if case.site is not None:
        return _site_vote(case)
    if case.action.tool in _WORKTREES and case.action.writes and case.context.effective_mode != "bypassPermissions":
        return _checked_out(case)
    if case.shell is not None:
        return _understood(case, case.shell)
    return None


_WORKTREES = frozenset({"EnterWorktree", "ExitWorktree", "Agent"})


def _checked_out(case: Case) -> Vote | None:
    """These tools run git, which puts files there by the filters that the repository's configuration names."""
    context = case.context
    doubt = repository_doubt(frozenset({context.cwd}), context.effective_roots, trusted=context.trusted)
    return Vote(kind="ask", reason=f"{doubt[0].upper()}{doubt[1:]}.", firm=True) if doubt else None


def _understood(case: Case, shell: Judgement) -> Vote | None:
    """What is not understood asks; in bypass only where something is denied that it could hide."""
    if unsure := shell.doubts or shell.unchecked:
        reason = f"The command is not fully understood: {unsure[0]}."
        if coverage.has_restrictions(case):
            reason = f"{reason} It cannot be held against your deny rules."
            return Vote(kind="ask", reason=reason, firm=True, iron=coverage.denies_something(case))
        if case.context.effective_mode != "bypassPermissions":
            return Vote(kind="ask", reason=reason, firm=bool(shell.doubts))
    if shell.unnamed and coverage.restricts_names(case):
        reason = f"It cannot be held against your deny rules: {shell.unnamed[0]}."
        return Vote(kind="ask", reason=reason, firm=True, iron=coverage.denies_something(case))
    return None


def consolidate(case: Case, votes: Sequence[tuple[Step, Vote]]) -> Decision:
    """Iron, then firm asks, then any allow, then any ask; silence becomes an ask (10)."""
    firm = sorted((vote for vote in votes if vote[1].firm), key=lambda vote: not vote[1].iron)
    allows = [vote for vote in votes if vote[1].kind == "allow"]
    asks = [vote for vote in votes if vote[1].kind == "ask"]
    if not firm and allows:
        step, vote = allows[0]
        # Whoever else allows it: what our reader judged stays inside the fence.
        fenced = case.shell is not None and any(step == "readOnly" for step, _ in allows)
        return Allow(step=step, reason=vote.reason, rule=vote.rule, fenced=fenced)
    silence: tuple[Step, Vote] = ("consolidation", Vote(kind="ask", reason=shown(_why(case))))
    step, vote = (firm or asks or [silence])[0]
    if case.context.effective_mode == "dontAsk" or not case.context.interactive:
        nobody = "asking is switched off" if case.context.interactive else "nobody is there to be asked"
        return Deny(step=step, reason=f"It needs permission, and {nobody}: {vote.reason}", rule=vote.rule)
    return Ask(
        step=step,
        reason=vote.reason,
        rule=vote.rule,
        title=_title(case),
        parts=_command_parts(case),
        suggestions=() if vote.firm else _suggested(case),
        iron=vote.iron,
    )


def _rule_vote(case: Case, found: coverage.Match | None, whose: str) -> Vote | None:
    if found is None:
        return None
    said = {"deny": "Denied", "ask": "Asked about", "allow": "Allowed"}[found.behaviour]
    reason = found.reason or f"{said} by {whose}: {found.rule}"
    firm = found.behaviour == "ask"
    return Vote(kind=found.behaviour, reason=reason, rule=found.rule, firm=firm, iron=found.doubtful)


def _site_vote(case: Case) -> Vote | None:
    site = case.site
    assert site is not None
    if site.private and not coverage.private_site_allowed(case):
        reason = (
            f"{site.host} is on this machine or a private network. A rule WebFetch(domain:{site.host}) would allow it."
        )
        return Vote(kind="deny", reason=reason)
    if site.doubt:
        return Vote(kind="ask", reason=f"The address is not plain: {site.doubt}.", firm=True)
    return None


def _why(case: Case) -> str:
    if case.shell is not None:
        for part in case.shell.shown:
            if part.reason and not coverage.part_covered(case, part, by="rules"):
                return f"{part.reason[0].upper()}{part.reason[1:]}."
    if case.site is not None and coverage.stopped_by_length(case):
        return (
            f"The address carries more than {MAX_CARRIED} characters that the model made, which a rule for the host "
            f"does not cover. A rule WebFetch(domain:{case.site.host}, query) would."
        )
    return "Nothing allows it yet."


def _title(case: Case) -> str:
    action = case.action
    if action.command is not None:
        return f"Run {shown(action.command, 200)}"
    if action.url is not None:
        return f"Fetch {shown(action.url, 200)}"
    if action.writes:
        return f"{'Write' if action.tool == 'Write' else 'Edit'} {shown(', '.join(action.writes), 200)}"
    if action.reads:
        return f"Read {shown(', '.join(action.reads), 200)}"
    return f"Use {shown(action.tool, 100)}"


def _command_parts(case: Case) -> tuple[CommandPart, ...]:
    if case.shell is None:
        return ()
    return tuple(
        CommandPart(
            argv=tuple(shown(word, 400) for word in part.argv),
            decision="allow" if not case.shell.doubts and coverage.part_covered(case, part, by="rules") else "ask",
            reason=shown(part.reason, 400),
        )
        for part in case.shell.shown[:50]
    )


def _suggested(case: Case) -> tuple[Suggestion, ...]:
    action = case.action
    if case.shell is not None:
        open_parts = [part for part in case.shell.shown if not coverage.part_covered(case, part, by="rules")]
        return suggestions.command_suggestions(open_parts, action.command or "")
    if case.site is not None:
        return suggestions.host_suggestions(case.site.host, long=case.site.long) if _is_plain(case.site.host) else ()
    if action.writes or action.reads:
        return suggestions.path_suggestions(action.tool, case.writes or case.reads, case.roots)
    return suggestions.tool_suggestions(action.tool)


def _is_plain(host: str | None) -> TypeGuard[str]:
    return bool(host) and "." in (host or "") and ":" not in (host or "")
