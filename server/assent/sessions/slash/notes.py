"""/memory and `# a note`: which instruction files are loaded, opening one, and adding a line to one."""

from __future__ import annotations

from pathlib import Path

from assent.context.tokens import estimate_content
from assent.extensions.commands import CommandHost, SlashCommand
from assent.extensions.instructions.quick_add import NoteScope, note_file, with_note
from assent.extensions.memory import MemoryFile, refusals
from assent.sessions.slash.host import SlashSession
from assent.storage import paths
from assent.text.uris import uri_of
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.ids import new_id
from assent.types.ports import EditPlan, FileText

MOST_TOUCHED = 200  # files, the most recently touched
SCOPES: tuple[NoteScope, ...] = ("project", "local", "user")
USAGE = (
    "`/memory open N` shows one in the editor; `/memory add [project|local|user] TEXT`, or a prompt `# TEXT`, adds a "
    "line to one."
)
_WHY = {
    "session_start": "always",
    "nested_traversal": "a file in its folder was touched",
    "path_glob_match": "a file it is for was touched",
    "include": "imported",
    "compact": "always",
}


def commands(session: SlashSession) -> tuple[SlashCommand, ...]:
    async def memory(arguments: str, _host: CommandHost) -> str:
        return await _memory(session, arguments)

    async def note(arguments: str, _host: CommandHost) -> str:
        return await add(session, "project", arguments)

    return (
        SlashCommand(
            name="memory",
            description="the instruction files that are loaded; open one or add to one",
            argument_hint="[open N | add TEXT]",
            run=memory,
        ),
        SlashCommand(name="#", description="add a line to the project's instructions", hidden=True, run=note),
    )


async def files(session: SlashSession) -> list[MemoryFile]:
    """Those that every session has, then those that files brought in which this one has touched."""
    memory = session.services.memory
    if memory is None or not session.settings.get("memory", True):
        return []
    found = await memory.load(session.cwd)
    for path in list(session.state.read_files)[-MOST_TOUCHED:]:
        known = {file.path for file in found}
        found += [file for file in await memory.nested(path, session.cwd) if file.path not in known]
    return found


def row(file: MemoryFile) -> Json:
    """One file as `assent/memory/list` says it."""
    return {
        "path": file.path,
        "kind": file.kind,
        "scope": file.scope,
        "tokens": estimate_content(file.text),
        "reason": f"not read: {file.refused}" if file.refused else _reason(file),
    }


def _reason(file: MemoryFile) -> str:
    if file.parent:
        return f"imported by {file.parent}"
    return f"{_WHY[file.reason]}: {', '.join(file.globs)}" if file.globs else _WHY[file.reason]


async def _memory(session: SlashSession, arguments: str) -> str:
    loaded = await files(session)
    words = arguments.split(maxsplit=2)
    match words:
        case ["open", number, *_] if number.isdigit() and 0 < int(number) <= len(loaded):
            return await _open(session, loaded[int(number) - 1].path)
        case ["add", scope, text] if scope in SCOPES:
            return await add(session, scope, text)
        case ["add", *_] if len(words) > 1:
            return await add(session, "project", arguments.split(maxsplit=1)[1])
        case []:
            return as_text(loaded, session.settings.get("memory", True) is not False)
        case _:
            return USAGE


def as_text(loaded: list[MemoryFile], on: bool) -> str:
    if not on:
        return "Memory is switched off (`memory: false` in the settings)."
    if not loaded:
        return f"No instruction file is there yet. `/init` writes one. {USAGE}"
    lines: list[str] = []
    for number, file in enumerate(loaded, 1):
        shown = row(file)
        link = f"[{file.path}]({uri_of(file.path)})"
        lines.append(
            f"{number}. {link}: {shown['scope']} {shown['kind']}, {shown['tokens']:,} tokens, {shown['reason']}"
        )
    total = sum(estimate_content(file.text) for file in loaded)
    wrong = [f"- {text}" for text in refusals(loaded)]
    return "\n".join([f"Instruction files, {total:,} tokens in all:", "", *lines, *wrong, "", USAGE])


async def _open(session: SlashSession, path: str) -> str:
    editor = session.deps.editor
    if editor is not None:
        answer = await editor.query("openFile", {"uri": uri_of(path)})
        if answer.get("status") == "success":
            return f"{path} is open in the editor."
    return f"Open it yourself: [{path}]({uri_of(path)})"


async def add(session: SlashSession, scope: NoteScope, note: str) -> str:
    """Put a line into an instruction file, through the editor where the file is open there."""
    path = note_file(scope, cwd=session.cwd, config=str(paths.config_dir()))
    before: FileText | None = None
    if Path(path).exists():  # noqa: ASYNC240 -- one look at the disk
        before = await session.files.workspace.read(path)
    text = with_note(before.text if before else "", note)
    if before is not None and before.text == text:
        return f"{path} says so already."
    plan = EditPlan(path=path, before=before, new_text=text, tool="Memory", tool_use_id=new_id("m"), reason="your note")
    try:
        with session.files.restoring():  # the user's own words are not up for review
            await session.files.workspace.apply(plan)
    except ToolError as error:
        return f"The note could not be added to {path}: {error}"
    added = " ".join(note.split())
    return f"Added to [{path}]({uri_of(path)}): {added}\nIt counts from the next session or compaction on."
