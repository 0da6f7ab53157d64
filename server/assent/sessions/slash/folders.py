"""/add-dir: another folder that this session may work in."""

from __future__ import annotations

from assent.extensions.commands import CommandHost, SlashCommand
from assent.sessions.slash.host import SlashSession
from assent.text.visible import visible

USAGE = "`/add-dir PATH` adds one, `/add-dir remove PATH` takes it away again."


def command(session: SlashSession) -> SlashCommand:
    async def run(arguments: str, _host: CommandHost) -> str:
        wanted = arguments.strip()
        try:
            if not wanted:
                return _listed(session)
            if wanted.startswith("remove "):
                session.folders.remove(wanted.removeprefix("remove ").strip())
                return _listed(session)
            return f"This session may work in {visible(session.folders.add(wanted))} too, as in its own folder."
        except (ValueError, OSError) as error:
            return f"{visible(str(error))}. {USAGE}"

    return SlashCommand(
        name="add-dir",
        description="let this session work in another folder too",
        argument_hint="[PATH | remove PATH]",
        run=run,
    )


def _listed(session: SlashSession) -> str:
    lines = [f"- {visible(folder)}" for folder in session.folders.added]
    return "\n".join(["Folders besides the session's own:", "", *lines, "", USAGE]) if lines else f"None yet. {USAGE}"
