"""The permission rules in force in a folder, each with the file it stands in, and the user's changes to them.

Only the user's own files, the project's and the session's rules can be changed here; what an organisation, an editor,
a command line or another tool says is shown and stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, cast

from assent.storage.activation import rule_item
from assent.storage.settings import SettingsFiles, SourcedRule
from assent.storage.settings.files import local_file, project_file
from assent.storage.trust import EVERYTHING, TrustStore
from assent.types.blocks import Json
from assent.types.errors import ProtocolError, SettingsError

Place = Literal["user", "project", "local", "session"]
PLACES: tuple[Place, ...] = ("user", "project", "local", "session")
BEHAVIOURS = ("allow", "ask", "deny")
SESSION = "session"  # stands for a file where rules of a session are listed


def listed(settings: SettingsFiles, trust: TrustStore, cwd: str, session: Sequence[SourcedRule] = ()) -> list[Json]:
    """Every rule: deny first, then ask, then allow; those that have no effect with the reason."""
    said = trust.of(cwd)
    loaded = settings.load(cwd, trust=EVERYTHING)
    in_force = {(rule.rule, rule.behaviour, rule.file) for rule in settings.load(cwd, trust=said).rules}
    found: list[Json] = []
    for rule in loaded.rules:
        row: Json = {"rule": rule.rule, "behaviour": rule.behaviour, "scope": _scope(rule), "file": rule.file}
        if (rule.rule, rule.behaviour, rule.file) not in in_force:
            row["withheld"] = "this folder is not trusted for it"
        found.append(row)
    found += [{"rule": rule.rule, "behaviour": rule.behaviour, "scope": "session", "file": SESSION} for rule in session]
    return found


def changed(
    settings: SettingsFiles,
    trust: TrustStore,
    cwd: str,
    *,
    remove: Iterable[Json] = (),
    add: Iterable[Json] = (),
    session: list[SourcedRule] | None = None,
    parse_rule: Callable[[str], object],
) -> None:
    """Take rules out of their files and put others in. Everything is checked before the first file is written."""
    removals, additions = list(remove), list(add)
    files = {str(settings.user_file): "user", str(project_file(cwd)): "project", str(local_file(cwd)): "local"}
    known = {(row["rule"], row["behaviour"], row["file"]) for row in listed(settings, trust, cwd, session or ())}
    for row in removals:
        if row.get("file") not in files and row.get("file") != SESSION:
            raise ProtocolError(
                "invalidParams",
                f"rules of {row.get('file')} cannot be changed here",
                hint="Change that file itself; only your own settings, the project's and the session's are written.",
            )
        if (row.get("rule"), row.get("behaviour"), row.get("file")) not in known:
            raise ProtocolError(
                "invalidParams", f"there is no rule {row.get('rule')} in {row.get('file')}", hint="List them again."
            )
    for row in additions:
        _checked(row, session is not None, parse_rule)
    try:
        for row in removals:
            _remove(settings, cwd, files, row, session)
        for row in additions:
            _add(settings, trust, cwd, row, session)
    except SettingsError as error:
        raise ProtocolError("invalidRequest", str(error), hint="Nothing else was changed.") from None


def _checked(row: Json, has_session: bool, parse_rule: Callable[[str], object]) -> None:
    rule, behaviour, scope = row.get("rule"), row.get("behaviour"), row.get("scope")
    if behaviour not in BEHAVIOURS or scope not in PLACES or not isinstance(rule, str):
        raise ProtocolError("invalidParams", "a rule needs `rule`, `behaviour` (allow, ask, deny) and `scope`")
    if scope == "session" and not has_session:
        raise ProtocolError("invalidParams", "name the session whose rule it is", hint="Give `sessionId`.")
    try:
        parse_rule(rule)
    except ValueError as error:
        raise ProtocolError(
            "invalidParams", f"{rule!r} is not a rule: {error}", hint="See docs/permissions.md."
        ) from None


def _remove(
    settings: SettingsFiles, cwd: str, files: dict[str, str], row: Json, session: list[SourcedRule] | None
) -> None:
    if row["file"] == SESSION:
        if session is not None:
            session[:] = [r for r in session if (r.rule, r.behaviour) != (row["rule"], row["behaviour"])]
        return
    path = Path(row["file"])

    def change(values: Json) -> None:
        rules = cast("list[str]", cast("Json", values.get("permissions") or {}).get(row["behaviour"]) or [])
        rules[:] = [rule for rule in rules if rule != row["rule"]]

    settings.edit(path, change, cwd if files[row["file"]] != "user" else None)


def _add(settings: SettingsFiles, trust: TrustStore, cwd: str, row: Json, session: list[SourcedRule] | None) -> None:
    rule, behaviour, scope = str(row["rule"]), row["behaviour"], cast("Place", row["scope"])
    if scope == "session":
        if session is not None:
            session.append(SourcedRule(rule=rule, source="session", behaviour=behaviour))
        return
    path = {"user": settings.user_file, "project": project_file(cwd), "local": local_file(cwd)}[scope]

    def change(values: Json) -> None:
        rules = cast("list[str]", values.setdefault("permissions", {}).setdefault(behaviour, []))
        if rule not in rules:
            rules.append(rule)

    settings.edit(path, change, cwd if scope != "user" else None)
    if behaviour == "allow" and scope != "user":  # the person themselves wrote it: nobody has to show it to them
        trust.approve(cwd, [rule_item(rule, str(path))])


def _scope(rule: SourcedRule) -> str:
    return "managed" if rule.source == "policy" else rule.source
