"""/snip: what fills the model's view, and taking some of it out."""

from __future__ import annotations

from assent.extensions.commands import CommandHost, SlashCommand
from assent.sessions.slash.host import SlashSession
from assent.text.visible import visible
from assent.types.errors import ProtocolError

USAGE = "Say which by number, such as `/snip 1 3`; `/snip` lists them, `/snip undo` takes the newest snip back."


def command(session: SlashSession) -> SlashCommand:
    async def run(arguments: str, _host: CommandHost) -> str:
        words = arguments.replace(",", " ").split()
        if words == ["undo"]:
            return await _undo(session)
        largest = (await session.turns.ready_engine()).largest()
        if not words:
            session.snips.offered = [each.uuid for each in largest]
            if not largest:
                return "There is nothing in the model's view yet that is worth taking out."
            rows = [f"{n}. {visible(each.label)}, about {each.tokens:,} tokens" for n, each in enumerate(largest, 1)]
            return "\n".join(["What fills the model's view, the largest first:", "", *rows, "", USAGE])
        known = session.snips.offered or [each.uuid for each in largest]
        if not all(word.isdecimal() and 0 < int(word) <= len(known) for word in words):
            return USAGE
        try:
            _, freed = await session.snips.snip([known[int(word) - 1] for word in words], dry_run=False)
        except ProtocolError as error:
            return f"{error}."
        return f"Taken out of the model's view: about {freed:,} tokens. You still see it; `/snip undo` brings it back."

    return SlashCommand(
        name="snip",
        description="take something out of the model's view, or bring it back",
        argument_hint="[N …|undo]",
        run=run,
    )


async def _undo(session: SlashSession) -> str:
    snip = await session.snips.undo()
    if snip is None:
        return "There is no snip to take back."
    return f"The model sees it again: about {snip.tokens_freed:,} tokens."
