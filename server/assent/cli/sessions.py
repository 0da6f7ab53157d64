"""`assent sessions`: earlier conversations, from the files alone."""

import asyncio
import json
import sys
import time
from pathlib import Path

from assent.cli.chat.render import Palette
from assent.cli.preflight import UsageError, project_folder
from assent.text.visible import readable, visible
from assent.types.blocks import Json
from assent.types.errors import AssentError


def run(*, action: str, session: str | None, cwd: Path | None, json_output: bool, search: str | None = None) -> int:
    if action != "list" and not session:
        raise UsageError(f"which session? `assent sessions` lists them; then: assent sessions {action} ID")
    if search is not None and action != "list":
        raise UsageError(f"--search goes with the list, not with {action}")
    folder = project_folder(cwd) if cwd else None
    return asyncio.run(
        _search(search, folder, json_output) if search else _run(action, session or "", folder, json_output)
    )


async def _search(query: str, cwd: Path | None, json_output: bool) -> int:
    from assent.app import Options, headless

    palette = Palette.of(sys.stdout)
    where: Json = {"query": query, **({"cwd": str(cwd)} if cwd else {})}
    async with headless(Options(interactive=False)) as app:
        answer = await app.sessions.request("assent/session/search", where)
        while answer.get("unread"):  # the first search of many conversations reads them all
            print(f"assent: {answer['unread']} conversations are still being read", file=sys.stderr)
            answer = await app.sessions.request("assent/session/search", where)
    found: list[Json] = answer["sessions"]
    if json_output:
        print(json.dumps(found, indent=2))
    elif not found:
        print("Nothing was found.", file=sys.stderr)
        return 1
    else:
        for each in found:
            print(_line(each))
            for snippet in each.get("snippets") or ():
                print(f"    {_painted(snippet, palette)}")
        if answer.get("nextCursor"):
            print("There is more: more words find less.", file=sys.stderr)
    return 0


def _painted(snippet: Json, palette: Palette) -> str:
    """The snippet with its words marked. Ranges count UTF-16 code units."""
    units = str(snippet["text"]).encode("utf-16-le")
    parts: list[str] = []
    at = 0
    for start, end in snippet["ranges"]:
        parts.append(visible(units[at * 2 : start * 2].decode("utf-16-le", "replace")))
        parts.append(palette.paint("bold", visible(units[start * 2 : end * 2].decode("utf-16-le", "replace"))))
        at = end
    return "".join([*parts, visible(units[at * 2 :].decode("utf-16-le", "replace"))])


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
                print(readable(answer["text"]) if sys.stdout.isatty() else answer["text"])
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
