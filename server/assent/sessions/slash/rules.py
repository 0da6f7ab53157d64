"""/permissions: every rule with its source; add, remove or move one by its number."""

from __future__ import annotations

from assent.extensions.commands import CommandHost, SlashCommand
from assent.sessions import rules_in_force
from assent.sessions.slash.host import SlashSession
from assent.text.visible import visible
from assent.types.blocks import Json
from assent.types.errors import ProtocolError

USAGE = (
    "`/permissions remove N` takes a rule out, `/permissions move N user|project|local|session` moves it, "
    "`/permissions allow|ask|deny RULE [user|project|local|session]` adds one (local unless said)."
)


def command(session: SlashSession) -> SlashCommand:
    async def run(arguments: str, _host: CommandHost) -> str:
        try:
            return _answer(session, arguments)
        except ProtocolError as error:
            return f"{error}. {error.hint or ''}".strip()

    return SlashCommand(
        name="permissions",
        description="the permission rules with their sources; add, remove or move one",
        argument_hint="[remove N | move N WHERE | allow|ask|deny RULE]",
        aliases=("allowed-tools",),
        run=run,
    )


def _answer(session: SlashSession, arguments: str) -> str:
    words = arguments.split()
    rows = current(session)
    if not words:
        return as_text(rows, session.state.mode)
    match words[0]:
        case "remove" if len(words) == 2:
            row = _row(rows, words[1])
            _change(session, remove=[row])
            return f"Removed: {_line(row)}"
        case "move" if len(words) == 3:
            row = _row(rows, words[1])
            added = {"rule": row["rule"], "behaviour": row["behaviour"], "scope": words[2]}
            _change(session, remove=[row], add=[added])
            return f"Moved to {words[2]}: {row['behaviour']} {row['rule']}"
        case "allow" | "ask" | "deny" if len(words) > 1:
            scope = words[-1] if len(words) > 2 and words[-1] in rules_in_force.PLACES else "local"
            rule = " ".join(words[1:-1] if words[-1] == scope and len(words) > 2 else words[1:])
            _change(session, add=[{"rule": rule, "behaviour": words[0], "scope": scope}])
            return f"Added ({scope}): {words[0]} {rule}"
        case _:
            return USAGE


def current(session: SlashSession) -> list[Json]:
    return rules_in_force.listed(session.deps.settings, session.deps.trust, session.cwd, session.rules)


def as_text(rows: list[Json], mode: str) -> str:
    if not rows:
        return f"There are no permission rules; the mode is {mode}. {USAGE}"
    lines = [f"{number}. {_line(row)}" for number, row in enumerate(rows, 1)]
    return "\n".join(
        [f"Permission rules (mode {mode}; deny stands above ask, ask above allow):", "", *lines, "", USAGE]
    )


def _line(row: Json) -> str:
    withheld = f"; no effect: {row['withheld']}" if row.get("withheld") else ""
    return f"**{row['behaviour']}** `{visible(row['rule'])}` ({row['scope']}, {row['file']}{withheld})"


def _row(rows: list[Json], number: str) -> Json:
    if not number.isdigit() or not 0 < int(number) <= len(rows):
        raise ProtocolError("invalidParams", f"There is no rule number {number}", hint="`/permissions` lists them.")
    return rows[int(number) - 1]


def _change(session: SlashSession, *, remove: list[Json] | None = None, add: list[Json] | None = None) -> None:
    rules_in_force.changed(
        session.deps.settings,
        session.deps.trust,
        session.cwd,
        remove=remove or [],
        add=add or [],
        session=session.rules,
        parse_rule=session.deps.parse_rule,
    )
    session.save_state()
