"""Going back: the conversation, the code, or both, to any message (S3). Going back is itself a message one can go
back to, so every rewind can be undone.

Code changes where the agent changed it, by its edits or its commands. Where someone else has changed the same file
since, both are merged by lines; what does not merge is a conflict, told and left alone.
"""

import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import anyio.to_thread

from assent.sessions.files.baseline import digest
from assent.sessions.live.session import Session
from assent.sessions.stream.context_fill import usage_event
from assent.sessions.stream.translate import message_event, wire_tasks, wire_todos
from assent.storage import transcript
from assent.storage.files import write_atomically
from assent.storage.history import Past, content_of
from assent.storage.transcript import REWOUND, Entry
from assent.text.diff3 import merged
from assent.types.blocks import Json
from assent.types.errors import ProtocolError, ToolError
from assent.types.ids import new_id
from assent.types.messages import AssistantMessage, Attachment, UserMessage
from assent.types.ports import EditPlan, FileText
from assent.types.regular_files import RefusedFile, read_regular
from assent.wire.events import Tasks, Todos, Tombstone
from assent.wire.requests import SessionRewind
from assent.wire.results import FileChange, RewindConflict, Rewound

MOST_BYTES = 64 * 1024 * 1024  # of a file that is no text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One file on its way back: what it is now, what it was."""

    past: Past
    now: FileText | None
    data: bytes | None  # now, also where it is no text
    mode: int | None  # now

    @property
    def change(self) -> str:
        if not self.past.existed:
            return "deleted"
        if self.data is None:
            return "created"
        return "modified" if self.untouched else "merged"

    @property
    def needed(self) -> bool:
        return self.data != self.past.content or self.other_mode

    @property
    def other_mode(self) -> bool:
        return None not in (self.mode, self.past.mode) and self.mode != self.past.mode

    @property
    def untouched(self) -> bool:
        """Nobody has changed it since the agent did."""
        return self.past.known and digest(self.data) == self.past.left

    @property
    def wanted(self) -> str | None:
        """The text to put there: as it was, with what others did since; None where that is no text or cannot merge."""
        if self.untouched:
            return self.past.text
        left = self.past.left_content
        if not self.past.known or self.now is None or self.past.text is None or left is None:
            return None
        try:
            base = left.removeprefix(self.now.bom).decode(self.now.encoding)
        except (UnicodeDecodeError, LookupError):
            return None
        return merged(base, self.now.text, self.past.text)

    def by_text(self, text: str) -> bool:
        """Whether an edit brings back the very bytes; not where a command gave the file another encoding."""
        if self.now is None or self.now.from_buffer or not self.untouched:
            return self.now is not None
        return content_of(replace(self.now, text=text)) == self.past.content

    @property
    def conflict(self) -> str:
        """Why we must not touch it, or nothing."""
        if self.untouched or self.wanted is not None:
            return ""
        if not self.past.known:
            return "it is not known how the agent left this file"
        return (
            "it was changed after the agent's last edit"
            if self.data is not None
            else "it was deleted after the agent's last edit"
        )


async def rewind(session: Session, params: SessionRewind) -> Rewound:
    with session.turns.held():
        return await _rewind(session, params)


async def _rewind(session: Session, params: SessionRewind) -> Rewound:
    restore, message_id = params.restore, params.message_id
    entry = await anyio.to_thread.run_sync(transcript.find_uuid, session.record.path, message_id)
    if entry is None:
        raise ProtocolError("invalidParams", f"There is no message {message_id} in this session")
    cut = entry.offset if _goes_before(entry) else entry.end
    steps = await _steps(session, cut) if restore != "conversation" else []
    answer = Rewound(
        files=[FileChange(s.past.path, s.change) for s in steps if s.needed and not s.conflict],
        conflicts=[RewindConflict(s.past.path, s.conflict) for s in steps if s.needed and s.conflict],
    )
    if restore != "conversation":
        answer.untracked = await anyio.to_thread.run_sync(session.files.history.untracked_since, cut) or None
    if params.dry_run:
        return answer
    rewind_id = new_id("w")
    old = await anyio.to_thread.run_sync(transcript.shown, session.record.path) if restore != "code" else {}
    target = cut if restore != "code" else None
    at = session.record.note("rewound", uuid=rewind_id, to=message_id, restore=restore, offset=target)
    await session.record.durable()
    if restore != "conversation":
        with session.files.restoring(at):
            tried = [await _restore(session, step, at) for step in steps if step.needed and not step.conflict]
        failed = [conflict for conflict in tried if conflict is not None]
        bad = {conflict.path for conflict in failed}
        answer.files = [file for file in answer.files if file.path not in bad]
        answer.conflicts += failed
    if restore != "code":
        _went_back(session, cut)
        await _show(session, old, undone=entry.type == REWOUND)
    answer.rewind_id = rewind_id
    if entry.type == "user" and cut == entry.offset:
        answer.prompt = entry.record.get("content", [])
    return answer


async def drop_turn(session: Session, turn: Json) -> None:
    """Take a cut turn out of the conversation, prompt and all; files stay as they are."""
    path = session.record.path
    prompt = await anyio.to_thread.run_sync(transcript.find_uuid, path, str(turn["messageId"]))
    if prompt is None:  # the crash came before the prompt itself was written
        _went_back(session, session.record.end)
        return
    old = await anyio.to_thread.run_sync(transcript.shown, path)
    session.record.note("rewound", uuid=new_id("w"), to=turn["messageId"], restore="conversation", offset=prompt.offset)
    _went_back(session, prompt.offset)
    await _show(session, old, undone=False)


def _goes_before(entry: Entry) -> bool:
    """A prompt is taken back with everything after it; any other message is the last that stays."""
    if entry.type == REWOUND:
        return True
    content = cast("list[Json]", entry.record.get("content", []))
    return entry.type == "user" and not any(block.get("type") == "tool_result" for block in content)


async def _steps(session: Session, cut: int) -> list[_Step]:
    found: list[_Step] = []
    for past in await anyio.to_thread.run_sync(session.files.history.since, cut):
        try:
            now: FileText | None = await session.files.workspace.read(past.path)
        except ToolError:
            now = None
        data = content_of(now) if now is not None else await anyio.to_thread.run_sync(_on_disk, past.path)
        found.append(_Step(past=past, now=now, data=data, mode=await anyio.to_thread.run_sync(_mode, past.path)))
    return found


def _mode(path: str) -> int | None:
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except OSError:
        return None


def _on_disk(path: str) -> bytes | None:
    """What the editor and the tools do not read as text."""
    try:
        return read_regular(path, limit=MOST_BYTES, follow=False).data
    except (OSError, RefusedFile):
        return None


async def _restore(session: Session, step: _Step, at: int) -> RewindConflict | None:
    """Put one file back; what went wrong, as a conflict, or None."""
    past, path = step.past, Path(step.past.path)
    try:
        text = step.wanted
        if text is not None and step.now is not None and step.by_text(text):
            if step.other_mode:  # an edit keeps the mode, and does not note it
                written = content_of(replace(step.now, text=text))
                session.files.history.changed(past.path, step.data, written, at=at, mode=step.mode or 0o644)
            plan = EditPlan(path=past.path, before=step.now, new_text=text, tool="Rewind", tool_use_id=new_id("w"))
            if text != step.now.text:
                await session.files.workspace.apply(plan)
            if step.other_mode and past.mode is not None:
                await anyio.to_thread.run_sync(path.chmod, past.mode)
            return None
        kept = past.mode if past.mode is not None else step.mode if step.mode is not None else 0o644
        before = step.mode if step.mode is not None else kept
        session.files.history.changed(past.path, step.data, past.content, at=at, mode=before)
        if past.content is None:
            await anyio.to_thread.run_sync(path.unlink)
        else:
            await anyio.to_thread.run_sync(_put, path, past.content, kept)
    except (ToolError, OSError) as error:
        return RewindConflict(past.path, f"it could not be restored: {error}")
    return None


def _went_back(session: Session, offset: int) -> None:
    """The conversation now ends at an earlier point: build the engine again, restore the lists of that time."""
    session.turns.engine.forget()
    session.interrupted = None
    session.orphans.drop()
    session.late.clear()
    session.state.read_files.clear()
    then = transcript.last_entry(session.record.path, "session/state", before=offset)
    session.state.todos = cast("list[Json]", then.record.get("todos") or []) if then else []
    session.publish(Todos(wire_todos(session.state.todos)))
    had = len(session.tasks)
    session.tasks.load(cast("list[Json]", then.record.get("tasks") or []) if then else [])
    if had or len(session.tasks):
        session.publish(Tasks(wire_tasks(session.tasks)))
    session.save_state()


async def _show(session: Session, old: dict[str, int], *, undone: bool) -> None:
    """Tell every front which messages are gone, and which are back."""
    path = session.record.path
    new = await anyio.to_thread.run_sync(transcript.shown, path)
    back = [offset for uuid, offset in new.items() if uuid not in old]
    records = await anyio.to_thread.run_sync(lambda: [transcript.record_at(path, offset) for offset in back])
    gone = [uuid for uuid in old if uuid not in new]
    session.publish(Tombstone(message_ids=gone, block_ids=gone, reason="rewind"))
    for record in records:
        message = transcript.revive(record) if record else None
        if isinstance(message, UserMessage | AssistantMessage | Attachment):
            session.publish(message_event(message))
    session.publish(await anyio.to_thread.run_sync(usage_event, session))
    session.notice("info", "The rewind was undone." if undone else "The conversation was rewound.")


def _put(path: Path, content: bytes, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)  # a command may have removed the folder too; not a private one
    write_atomically(path, content, mode=mode)
    path.chmod(mode)
