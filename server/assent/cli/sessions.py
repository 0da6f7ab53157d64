"""`assent sessions`: earlier conversations, from the files alone."""

import asyncio
import json
import sys
import time
from pathlib import Path

from assent.cli.preflight import UsageError, project_folder
from assent.text.visible import visible
from assent.types.blocks import Json
from assent.types.errors import AssentError


def run(*, action: str, session: str | None, cwd: Path | None, json_output: bool) -> int:
    if action != "list" and not session:
        raise UsageError(f"which session? `assent sessions` lists them; then: assent sessions {action} ID")
    return asyncio.run(_run(action, session or "", project_folder(cwd) if cwd else None, json_output))


async def _run(action: str, session: str, cwd: Path | None, json_output: bool) -> int:
    from assent.app import Options, headless

    async with headless(Options(interactive=False)) as app:
        match action:
            case "list":
                where = {"cwd": str(cwd)} if cwd else {}
                found: list[Json] = (await app.sessions.request("assent/session/list", where))["sessions"]
                if json_output:
                    print(json.dumps(found, indent=2))
                elif found:
                    print("\n".join(_line(each) for each in found))
                else:
                    print("No conversations yet. Start one: assent chat", file=sys.stderr)
            case "show" | "export":
                shape = "json" if json_output else "markdown"
                answer = await app.sessions.request("assent/session/export", {"sessionId": session, "format": shape})
                print(answer["text"])
            case "delete":
                await app.sessions.request("assent/session/delete", {"sessionId": session})
                print(f"Deleted {session}.")
            case _:
                raise AssentError(f"unknown action {action}")
    return 0


def _line(session: Json) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(_seconds(session["updatedAt"])))
    title = visible(session["title"] or "(no title)").replace("\n", " ")[:60]
    turns = f"{session['turns']:>3} turn{'s' if session['turns'] != 1 else ' '}"
    return f"{session['sessionId']:<13} {when}  {turns}  ${session['costUsd']:.4f}  {title}"


def _seconds(stamp: object) -> float:
    if isinstance(stamp, int | float):
        return stamp / 1000 if stamp > 1e11 else float(stamp)
    from datetime import datetime

    return datetime.fromisoformat(str(stamp)).timestamp()
