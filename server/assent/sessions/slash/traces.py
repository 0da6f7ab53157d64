"""/trace: what the last turns did, as trees."""

from __future__ import annotations

from assent.extensions.commands import CommandHost, SlashCommand
from assent.sessions.slash.host import SlashSession
from assent.types.blocks import Json


def command(session: SlashSession) -> SlashCommand:
    async def run(arguments: str, _host: CommandHost) -> str:
        words = arguments.split()
        params: Json = {"sessionId": session.id}
        if words == ["all"]:
            params["all"] = True
        elif words and words[0].isdecimal():
            params["turn"] = int(words[0])
        elif words:
            return "`/trace` shows the newest turn, `/trace 2` the second one, `/trace all` every one."
        await session.record.durable()
        text = (await session.deps.request("assent/session/trace", params))["text"]
        return f"```text\n{text}\n```" if text else "No turn with a model call yet."

    return SlashCommand(
        name="trace",
        description="where the time and the tokens of a turn went",
        argument_hint="[N|all]",
        run=run,
    )
