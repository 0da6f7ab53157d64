"""Merges the changes of an isolated agent into the user's files, as edits that are judged and reviewed like any other.

Each file is merged three ways, from what it was when the agent began, what the agent left, and what it is now; where
both changed the same lines, the user's version stays and the model gets the agent's as text. The result is a Write
call under the agent's, so hooks, rules, asks, proposals and the file history all apply to it;
deletions are one Bash call, and so are files that became executable, and files that are so no longer.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from assent.text.diff3 import pieces
from assent.tools.files.encoding import NotText, decode
from assent.tools.files.read_marks import mark
from assent.tools.run.calls import CallResult
from assent.tools.run.executor import ToolExecutor
from assent.tools.tool import SessionState, ToolContext
from assent.tools.worktrees.isolation import Changed, Isolation, is_executable
from assent.types.blocks import Json, text_of
from assent.types.errors import FileMissing, ToolError
from assent.types.ids import new_id
from assent.types.messages import Message
from assent.types.private_files import private_folder

if TYPE_CHECKING:
    from assent.engine.turn import Turn

MOST_FILES = 200  # nobody looks at more, one by one
_TOLD_CHARS = 2_000  # of what became of one file
_SHOWN_LINES = 40  # of the agent's version of a conflict


@dataclass(slots=True)
class _Work:
    writes: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  # path, its new text
    deletes: list[str] = field(default_factory=list[str])
    modes: dict[str, bool] = field(default_factory=dict[str, bool])  # by path: whether it is to be executable
    words: list[str] = field(default_factory=list[str])  # for the model


async def take_over(
    turn: Turn, isolation: Isolation, ctx: ToolContext, *, kept: Path | None, emit: Callable[[Message], None]
) -> str:
    """Merge the agent's changes into the user's files, as far as permitted; returns a report for the model."""
    changed = await isolation.changed()
    if not changed:
        return "It changed no file."
    if len(changed) > MOST_FILES:
        return await _too_many(isolation, changed, kept)
    work = _Work()
    state = SessionState(cwd=ctx.state.cwd, mode=ctx.state.mode)
    marked = replace(ctx, state=state)
    for each in changed:
        try:
            if each.base != each.now or each.odd:
                await _plan(turn, isolation, each, marked, work, kept)
            await _plan_mode(isolation, each, work)
        except ToolError as error:
            work.words.append(f"Not taken over: {each.path}: {error}")
    if work.writes or work.deletes or work.modes:
        ctx.acted()
        work.words += await _made(turn, marked, work, emit)
    return "What it changed in its copy of the repository, and what became of that:\n" + "\n".join(
        f"- {line}" for line in work.words
    )


async def _plan(
    turn: Turn, isolation: Isolation, each: Changed, ctx: ToolContext, work: _Work, kept: Path | None
) -> None:
    path = str(Path(isolation.repository, each.path))
    if each.odd:
        work.words.append(f"Not taken over: {each.path} {each.odd}")
        return
    try:
        theirs = decode(each.now).text if each.now is not None else None
        base = decode(each.base).text if each.base is not None else None
    except NotText:
        where = await _kept_copy(each, kept)
        work.words.append(f"Not taken over: {each.path} is not a text{where}")
        return
    try:
        now = await turn.services.workspace.read(path)
    except FileMissing:
        now = None
    mine = now.text if now is not None else None
    if now is not None:
        mark(ctx, path, now)
    if mine == theirs:
        work.words.append(f"{each.path} is already so")
    elif theirs is None:
        if mine == base:
            work.deletes.append(path)
        else:
            work.words.append(f"{each.path} was deleted by the agent and changed by the user meanwhile: it stays")
    elif base is None:
        if mine is None:
            work.writes.append((path, theirs))
        else:
            work.words.append(_conflict(each.path, "made by both", [theirs]))
    elif mine is None:
        work.words.append(_conflict(each.path, "deleted by the user meanwhile, so it stays deleted", [theirs]))
    else:
        found = pieces(base, mine, theirs)
        merged = "".join(piece.ours if piece.merged is None else piece.merged for piece in found)
        if lost := [piece.theirs for piece in found if piece.merged is None]:
            work.words.append(_conflict(each.path, "partly changed by the user meanwhile; their lines stay", lost))
        if merged != mine:
            work.writes.append((path, merged))


async def _plan_mode(isolation: Isolation, each: Changed, work: _Work) -> None:
    path = Path(isolation.repository, each.path)
    if each.executable is None:
        return
    written = str(path) in (name for name, _text in work.writes)
    there = await anyio.to_thread.run_sync(lambda: path.is_file() and not path.is_symlink())
    if not there and not written:
        work.words.append(f"Not taken over: {each.path} is not there, so its mode stays as it is")
    elif there and await anyio.to_thread.run_sync(is_executable, path) == each.executable:
        if each.base == each.now:
            work.words.append(f"{each.path} is already so")
    else:
        work.modes[str(path)] = each.executable


async def _made(turn: Turn, ctx: ToolContext, work: _Work, emit: Callable[[Message], None]) -> list[str]:
    async def ran(tool: str, given: Json) -> CallResult:
        """One by one, each for itself: a refusal or a failure of one call says nothing of the next."""
        async with _executor(turn, ctx, emit) as executor:
            executor.add({"type": "tool_use", "id": new_id("toolu_"), "name": tool, "input": given})
            return (await executor.finish())[0]

    async def command(program: str, paths: Sequence[str], done: str) -> None:
        if paths:
            line = f"{program} " + " ".join(shlex.quote(path) for path in paths)
            result = await ran("Bash", {"command": line, "description": f"{done} by the agent"})
            names = ", ".join(paths)
            words.append(f"{done}: {names}" if result.ended == "done" else f"Not taken over: {line}: {_said(result)}")

    words: list[str] = []
    refused: set[str] = set()
    for path, text in work.writes:
        result = await ran("Write", {"file_path": path, "content": text})
        if result.ended != "done":
            refused.add(path)
        words.append(f"{'Not taken over: ' if path in refused else ''}{path}: {_said(result)}")
    for bit, done in ((True, "Made executable"), (False, "Made no longer executable")):
        paths = [path for path, wanted in work.modes.items() if wanted is bit and path not in refused]
        await command("chmod +x --" if bit else "chmod -x --", paths, done)
    await command("rm --", work.deletes, "Deleted")
    return words


def _executor(turn: Turn, ctx: ToolContext, emit: Callable[[Message], None]) -> ToolExecutor:
    def context(*, tool_use_id: str, progress: Callable[[str], None]) -> ToolContext:
        return replace(ctx, tool_use_id=tool_use_id, progress=progress, plan=None, reviewed=None)

    return ToolExecutor(
        tools={tool.name: tool for tool in turn.source_tools() if tool.name in ("Write", "Bash")},
        can_use_tool=turn.can_use_tool,
        review_edit=turn.review_edit,
        make_context=context,
        emit=emit,
        clock=turn.services.clock,
        hooks=turn.services.hooks,
        session_id=turn.config.session_id,
        cwd=lambda: ctx.cwd,
        parent_tool_use_id=ctx.tool_use_id,
        interrupted=turn.interruption,
    )


def _said(result: CallResult) -> str:
    return text_of(result.block.get("content", "")).strip()[:_TOLD_CHARS]


def _conflict(name: str, how: str, theirs: Sequence[str]) -> str:
    text = "\n".join("\n".join(part.splitlines()[:_SHOWN_LINES]) for part in theirs)
    return f"Not taken over where both changed it: {name} was {how}. The agent's version:\n```\n{text}\n```"


async def _kept_copy(each: Changed, kept: Path | None) -> str:
    """Save a change that cannot be proposed where the model can read it; returns a note with the place."""
    if kept is None or each.now is None:
        return ""
    data, place = each.now, kept / each.path

    def write() -> None:
        private_folder(place.parent)
        place.write_bytes(data)

    await anyio.to_thread.run_sync(write)
    return f"; its new content is in {place}"


async def _too_many(isolation: Isolation, changed: Sequence[Changed], kept: Path | None) -> str:
    if kept is not None:
        for each in changed:
            await _kept_copy(each, kept)
    where = f" Their new contents are in {kept}." if kept is not None else ""
    return (
        f"It changed {len(changed)} files of {isolation.repository}, more than the {MOST_FILES} that can be reviewed: "
        f"none was taken over.{where}"
    )
