"""What a person's answer to an ask means, and the rule it may leave behind (P11).

Only a clear yes is a yes: any answer that protocol.md does not know is a no.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from assent.sessions import rules_in_force
from assent.storage.activation import rule_item
from assent.storage.settings import SettingsFiles, SourcedRule
from assent.storage.trust import TrustStore
from assent.types.blocks import Json
from assent.types.errors import ProtocolError, SettingsError
from assent.types.permissions import MODES, Mode
from assent.wire.shapes import Level

Scope = Literal["once", "session", "project", "user"]
NOT_FOR_HOOKS: frozenset[Mode] = frozenset({"bypassPermissions", "auto"})  # only a person takes the questions away
_PLACES: dict[str, rules_in_force.Place] = {
    "session": "session",
    "localSettings": "local",
    "projectSettings": "project",
    "userSettings": "user",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAnswer:
    allowed: bool
    message: str = ""
    scope: Scope = "once"
    rules: tuple[object, ...] | None = None  # as they came: a wrong one costs the rule, not the answer
    updated_input: Json | None = None
    hunks: list[Json] | None = None  # None: all of them
    interrupt: bool = False  # a deny that ends the turn
    mode: Mode | None = None  # of a plan that was approved: how it is carried out


def read_answer(raw: Mapping[str, Any]) -> AskAnswer:
    said, updated, hunks = raw.get("message"), raw.get("updatedInput"), raw.get("hunks")
    message = said if isinstance(said, str) else ""
    scope = "once" if raw.get("scope") is None else raw["scope"]
    known = scope in ("once", "session", "project", "user") and isinstance(said, str | None)
    shaped = isinstance(updated, Mapping | None) and isinstance(hunks, list | None)
    if raw.get("decision") != "allow" or not known or not shaped:
        return AskAnswer(allowed=False, message=message, interrupt=raw.get("interrupt") is True)
    return AskAnswer(
        allowed=True,
        message=message,
        scope=scope,
        rules=_rules(raw),
        updated_input=None if updated is None else dict(cast("Json", updated)),
        hunks=None if hunks is None else hunk_decisions(cast("list[object]", hunks)),
        mode=raw["mode"] if raw.get("mode") in ("default", "acceptEdits") else None,
    )


def _rules(raw: Mapping[str, Any]) -> tuple[object, ...] | None:
    several, one = raw.get("rules"), raw.get("rule")
    if isinstance(several, list) and several:
        return tuple(cast("list[object]", several))
    return None if one is None else (one,)


def hunk_decisions(hunks: list[object]) -> list[Json]:
    """Per-hunk answers: [{hunkId, decision, newText?}], or bare hunk ids, which mean accept."""
    found: list[Json] = []
    for hunk in hunks:
        if isinstance(hunk, str):
            found.append({"hunkId": hunk, "decision": "accept"})
        elif isinstance(hunk, dict):
            found.append(cast("Json", hunk))
    return found


class RuleOwner(Protocol):
    """What saving a rule uses of the session."""

    @property
    def cwd(self) -> str: ...
    @property
    def rules(self) -> list[SourcedRule]: ...
    def notice(self, level: Level, text: str) -> None: ...
    def set_mode(self, mode: Mode) -> None: ...
    def add_folder(self, folder: str) -> str: ...
    def remove_folder(self, folder: str) -> None: ...


class LastingRules:
    """Rules that people, or hooks in their place, give with an answer: for the session, the project or themselves."""

    def __init__(
        self, keeper: RuleOwner, settings: SettingsFiles, trust: TrustStore, parse_rule: Callable[[str], object]
    ) -> None:
        self._keeper = keeper
        self._settings = settings
        self._trust = trust
        self._parse_rule = parse_rule

    def keep(self, answer: AskAnswer, *, suggested: Sequence[str], lasting: bool) -> None:
        """`lasting`: a call of this kind may be allowed for longer than once. All rules are kept, or none."""
        scope = answer.scope
        if scope == "once" and answer.rules is None:
            return
        given = suggested if answer.rules is None else answer.rules
        wanted = [rule for rule in given if isinstance(rule, str)]
        if not wanted or len(wanted) < len(given) or not (lasting or scope == "once"):
            self._keeper.notice("warning", "Allowed once: no rule can be saved for this call.")
            return
        for rule in wanted:
            try:
                self._parse_rule(rule)
            except ValueError as error:
                self._keeper.notice("warning", f"Allowed once: {rule!r} is not a rule ({error}).")
                return
        if scope != "once":
            for rule in wanted:
                self._save(rule, scope)

    def _save(self, rule: str, scope: Literal["session", "project", "user"]) -> None:
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

    # --- what a hook of PermissionRequest changes besides ------------------------------------------------------------

    def update(self, updates: Sequence[Json]) -> None:
        """`updatedPermissions`: apply the valid entries; show a notice for each invalid one."""
        for entry in updates:
            try:
                self._update(entry)
            except (ProtocolError, SettingsError, OSError, ValueError, TypeError, KeyError) as error:
                self._keeper.notice("warning", f"A hook's permission update was left out: {error or entry}")

    def _update(self, entry: Json) -> None:
        kind = entry.get("type")
        match kind:
            case "setMode":
                self._set_mode(entry.get("mode"))
            case "addDirectories" | "removeDirectories":
                for folder in cast("list[object]", entry["directories"]):
                    if kind == "addDirectories":
                        self._keeper.add_folder(str(folder))
                    else:
                        self._keeper.remove_folder(str(folder))
            case "addRules" | "replaceRules" | "removeRules":
                self._change_rules(kind, entry)
            case _:
                raise ValueError(f"there is no update of type {kind!r}")

    def _set_mode(self, wanted: object) -> None:
        mode: Mode | None = next((each for each in MODES if each == wanted), None)
        if mode is None or mode in NOT_FOR_HOOKS:
            raise ValueError(f"a hook cannot switch to the mode {wanted!r}")
        self._keeper.set_mode(mode)

    def _change_rules(self, kind: str, entry: Json) -> None:
        scope = _PLACES[str(entry.get("destination", "session"))]
        behaviour = str(entry.get("behavior", "allow"))
        written = [_rule_text(cast("Json", each)) for each in cast("list[object]", entry["rules"])]
        session, rows = self._keeper.rules, self._listed()
        mine = [row for row in rows if row["scope"] == scope and row["behaviour"] == behaviour]
        kept = kind == "removeRules"
        gone = [row for row in mine if (row["rule"] in written) is kept] if kind != "addRules" else []
        known = {row["rule"] for row in mine}
        fresh = [] if kept else [rule for rule in written if rule not in known]
        rules_in_force.changed(
            self._settings,
            self._trust,
            self._keeper.cwd,
            remove=gone,
            add=[{"rule": rule, "behaviour": behaviour, "scope": scope} for rule in fresh],
            session=session,
            parse_rule=self._parse_rule,
        )

    def _listed(self) -> list[Json]:
        return rules_in_force.listed(self._settings, self._trust, self._keeper.cwd, self._keeper.rules)


def _rule_text(rule: Json) -> str:
    content = rule.get("ruleContent")
    return f"{rule['toolName']}({content})" if content else str(rule["toolName"])
