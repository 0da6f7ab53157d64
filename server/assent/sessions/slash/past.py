"""/resume, /rewind, /fork and /export: the conversation as something one can go back to, copy and keep."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import anyio.to_thread

from assent.extensions.commands import CommandHost, SlashCommand
from assent.sessions.slash.host import SlashSession
from assent.storage.files import write_atomically
from assent.text.visible import visible
from assent.types.blocks import Json, text_of
from assent.types.errors import AssentError

LISTED = 15
WAYS = ("conversation", "code", "both")


def commands(session: SlashSession) -> tuple[SlashCommand, ...]:
    async def resume(arguments: str, _host: CommandHost) -> str:
        return await _resume(session, arguments)

    async def rewind(arguments: str, _host: CommandHost) -> str:
        return await _rewind(session, arguments)

    async def fork(_arguments: str, _host: CommandHost) -> str:
        answer = await session.deps.request("assent/session/fork", {"sessionId": session.id})
        forked = answer["sessionId"]
        return f"Copied into session {forked}. Open it from the list of sessions, or: `assent chat --session {forked}`"

    async def export(arguments: str, _host: CommandHost) -> str:
        return await _export(session, arguments)

    return (
        SlashCommand(
            name="resume", description="earlier conversations of this folder", argument_hint="[words]", run=resume
        ),
        SlashCommand(
            name="rewind",
            description="go back to an earlier prompt: conversation, code or both",
            argument_hint="[N conversation|code|both]",
            run=rewind,
        ),
        SlashCommand(name="fork", description="copy this conversation into a new session", run=fork),
        SlashCommand(
            name="export",
            description="write this conversation into a file",
            argument_hint="[file.md | file.json]",
            run=export,
        ),
    )


async def _resume(session: SlashSession, words: str) -> str:
    params: Json = {"cwd": session.cwd, **({"query": words} if words else {})}
    answer = await session.deps.request("assent/session/list", params)
    rows = [row for row in cast("list[Json]", answer["sessions"]) if row["sessionId"] != session.id][:LISTED]
    if not rows:
        return "There are no other conversations of this folder" + (f" about {words!r}." if words else " yet.")
    lines = [f"- `{row['sessionId']}` {visible(row['title'] or '(no title)')}, {row['turns']} turns" for row in rows]
    hint = "Open one from the list of sessions in the editor, or in a terminal: `assent chat --session ID`"
    return "\n".join(["Earlier conversations, newest first:", "", *lines, "", hint])


async def _rewind(session: SlashSession, arguments: str) -> str:
    words = arguments.split()
    prompts = await _prompts(session)
    if not words:
        if not prompts:
            return "There is nothing to go back to yet."
        lines = [f"{number}. {_title(prompt)}" for number, prompt in enumerate(prompts, 1)]
        hint = "`/rewind N` goes back to before prompt N; add `conversation`, `code` or `both` (as if unsaid)."
        return "\n".join(["Prompts, newest first:", "", *lines, "", hint])
    way = words[1] if len(words) > 1 else "both"
    if not words[0].isdigit() or not 0 < int(words[0]) <= len(prompts) or way not in WAYS:
        return "Say which prompt and what to restore, such as `/rewind 1 both`. `/rewind` lists the prompts."
    params: Json = {"sessionId": session.id, "messageId": prompts[int(words[0]) - 1]["id"], "restore": way}
    turn = session.turn

    async def go_back() -> None:
        if turn is not None:
            await turn.done.wait()
        try:
            answer = await session.deps.request("assent/session/rewind", params)
        except AssentError as error:
            session.notice("error", f"Could not go back: {error}")
            return
        files, conflicts = cast("list[Json]", answer["files"]), cast("list[Json]", answer["conflicts"])
        told = f"Went back ({way}): {len(files)} files restored"
        session.notice(
            "info", told + (f", {len(conflicts)} left alone because they changed since." if conflicts else ".")
        )

    session.spawn(go_back)
    return f"Going back to before: {_title(prompts[int(words[0]) - 1])}"


async def _prompts(session: SlashSession) -> list[Json]:
    """The user's own prompts that are in force, newest first."""
    answer = await session.deps.request("assent/session/attach", {"sessionId": session.id})
    messages = cast("list[Json]", answer["messages"])
    mine = [m for m in messages if m.get("role") == "user" and not m.get("meta") and _said(m)]
    return [m for m in reversed(mine) if not text_of(m["content"]).startswith("/rewind")][:LISTED]


def _said(message: Json) -> str:
    """The user's words; none where it is the result of a call."""
    content = cast("list[Json]", message.get("content") or [])
    return "" if any(block.get("type") == "tool_result" for block in content) else text_of(content)


def _title(message: Json) -> str:
    line = " ".join(text_of(message["content"]).split())
    return visible(line[:90] + ("…" if len(line) > 90 else ""))


async def _export(session: SlashSession, name: str) -> str:
    shape = "json" if name.endswith(".json") else "markdown"
    answer = await session.deps.request("assent/session/export", {"sessionId": session.id, "format": shape})
    folder = session.record.paths.folder if not name else Path(session.cwd)
    target = folder / (name or "conversation.md")
    problem = await anyio.to_thread.run_sync(_problem, target, folder)
    if name and problem:
        return f"{problem}; nothing was written."
    data = str(answer["text"]).encode()
    await anyio.to_thread.run_sync(lambda: write_atomically(target, data))
    return f"Written: {target} ({len(data):,} bytes)"


def _problem(target: Path, folder: Path) -> str:
    """Why a file that the user named is not written."""
    if not target.resolve().is_relative_to(folder.resolve()):
        return f"{target} is outside of {folder}"
    if target.suffix not in (".md", ".json", ".txt"):
        return "The name of the file must end in .md, .txt or .json"
    return f"{target} exists already" if target.exists() else ""
