"""What a person's answer to an ask means, and the rule it may leave behind (P11).

Only a clear yes is a yes: any answer that protocol.md does not know is a no.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from assent.storage.activation import rule_item
from assent.storage.settings import SettingsFiles, SourcedRule
from assent.storage.trust import TrustStore
from assent.types.blocks import Json
from assent.types.errors import SettingsError
from assent.wire.shapes import Level

Scope = Literal["once", "session", "project", "user"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    allowed: bool
    message: str = ""
    scope: Scope = "once"
    rule: object = None  # as it came: a wrong one costs the rule, not the answer
    updated_input: Json | None = None
    hunks: list[Json] | None = None  # None: all of them
    interrupt: bool = False  # a deny that ends the turn


def read_answer(raw: Mapping[str, Any]) -> Answer:
    said, updated, hunks = raw.get("message"), raw.get("updatedInput"), raw.get("hunks")
    message = said if isinstance(said, str) else ""
    scope = "once" if raw.get("scope") is None else raw["scope"]
    known = scope in ("once", "session", "project", "user") and isinstance(said, str | None)
    shaped = isinstance(updated, Mapping | None) and isinstance(hunks, list | None)
    if raw.get("decision") != "allow" or not known or not shaped:
        return Answer(allowed=False, message=message, interrupt=raw.get("interrupt") is True)
    return Answer(
        allowed=True,
        message=message,
        scope=scope,
        rule=raw.get("rule"),
        updated_input=None if updated is None else dict(cast("Json", updated)),
        hunks=None if hunks is None else hunk_decisions(cast("list[object]", hunks)),
    )


def hunk_decisions(hunks: list[object]) -> list[Json]:
    """Per-hunk answers: [{hunkId, decision, newText?}], or bare hunk ids, which mean accept."""
    found: list[Json] = []
    for hunk in hunks:
        if isinstance(hunk, str):
            found.append({"hunkId": hunk, "decision": "accept"})
        elif isinstance(hunk, dict):
            found.append(cast("Json", hunk))
    return found


class Keeper(Protocol):
    """What the session lends to keep a rule."""

    @property
    def cwd(self) -> str: ...
    @property
    def rules(self) -> list[SourcedRule]: ...
    def notice(self, level: Level, text: str) -> None: ...


class LastingRules:
    """Rules that people give with an answer: for the session, the project or themselves."""

    def __init__(
        self, keeper: Keeper, settings: SettingsFiles, trust: TrustStore, parse_rule: Callable[[str], object]
    ) -> None:
        self._keeper = keeper
        self._settings = settings
        self._trust = trust
        self._parse_rule = parse_rule

    def keep(self, answer: Answer, *, suggested: str | None, lasting: bool) -> None:
        """`lasting`: a call of this kind may be allowed for longer than once."""
        scope = answer.scope
        if scope == "once" and answer.rule is None:
            return
        rule = suggested if answer.rule is None else answer.rule
        if not isinstance(rule, str) or not (lasting or scope == "once"):
            self._keeper.notice("warning", "Allowed once: no rule can be saved for this call.")
            return
        try:
            self._parse_rule(rule)
        except ValueError as error:
            self._keeper.notice("warning", f"Allowed once: {rule!r} is not a rule ({error}).")
            return
        if scope == "once":
            return
        # The user's own answer holds for this session whatever the file's trust; the file makes it last.
        self._keeper.rules.append(SourcedRule(rule=rule, source="session", behaviour="allow"))
        if scope == "session":
            return
        try:
            path = self._settings.add_rule(scope, self._keeper.cwd, "allow", rule)
        except (SettingsError, OSError) as error:
            self._keeper.notice("error", f"{rule} is allowed for this session, but could not be saved: {error}")
        else:
            if scope == "project":  # the person saw this rule: it is not asked about again as the project's
                self._trust.approve(self._keeper.cwd, [rule_item(rule, str(path))])
            self._keeper.notice("info", f"{rule} is now always allowed; saved in {path}.")
