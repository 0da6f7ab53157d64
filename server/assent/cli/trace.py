"""`assent trace`: where the time and the tokens of a turn went, from the session's file alone."""

import asyncio
import json
import sys
from pathlib import Path

from assent.cli.preflight import project_folder
from assent.text.visible import readable
from assent.types.blocks import Json
from assent.types.errors import AssentError


def run(session: str, *, cwd: Path | None, turn: int | None, everything: bool, json_output: bool) -> int:
    return asyncio.run(_run(session, project_folder(cwd), turn, everything, json_output))


async def _run(session: str, cwd: Path, turn: int | None, everything: bool, json_output: bool) -> int:
    from assent.app import Options, headless

    async with headless(Options(interactive=False)) as app:
        if session == "latest":
            listed = (await app.sessions.request("assent/session/list", {"cwd": str(cwd)}))["sessions"]
            if not listed:
                raise AssentError(f"there is no session of {cwd} yet; `assent sessions` lists all of them")
            session = listed[0]["sessionId"]
        params: Json = {"sessionId": session, "all": everything}
        found = await app.sessions.request("assent/session/trace", params | ({"turn": turn} if turn else {}))
    if json_output:
        print(json.dumps(found["turns"], indent=2))
    elif found["turns"]:
        print(readable(found["text"]))
    else:
        print("Nothing was traced: the session has no such turn, or is older than traces are.", file=sys.stderr)
        return 1
    return 0
