"""Going back: the conversation, the code, or both, to any message (S3). Going back is itself a message one can go
back to, so every rewind can be undone.

Code changes only where the agent changed it and nobody else has since; anything else is a conflict, told and left
alone.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import anyio.to_thread

from assent.sessions.live.session import Session
from assent.sessions.stream.snapshot import usage
from assent.sessions.stream.translate import message_event
from assent.storage import transcript
from assent.storage.files import write_atomically
from assent.storage.history import Past, digest_of
from assent.storage.transcript import REWOUND, Entry
from assent.types.blocks import Json
from assent.types.errors import ProtocolError, ToolError
from assent.types.ids import new_id
from assent.types.messages import AssistantMessage, Attachment, UserMessage
from assent.types.ports import EditPlan, FileText
from assent.wire.events import Tombstone, UsageEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One file on its way back: what it is now, what it was."""

    past: Past
    now: FileText | None

    @property
    def change(self) -> str:
        if self.past.text is None:
            return "deleted"
        return "modified" if self.now is not None else "created"

    @property
    def needed(self) -> bool:
        return digest_of(self.now) != digest_of(_as_file(self.past))

    @property
    def conflict(self) -> str:
        """Why we must not touch it, or nothing."""
        if digest_of(self.now) == self.past.left and self.past.known:
            return ""
        if not self.past.known:
            return "it is not known how the agent left this file"
        return (
            "it was changed after the agent's last edit" if self.now else "it was deleted after the agent's last edit"
        )


async def rewind(session: Session, params: Json) -> Json:
    with session.turns.held():
        return await _rewind(session, params)


async def _rewind(session: Session, params: Json) -> Json:
    restore = params.get("restore")
    if restore not in ("conversation", "code", "both"):
        raise ProtocolError("invalidParams", "restore must be conversation, code or both")
    message_id = str(params.get("messageId"))
    entry = await anyio.to_thread.run_sync(transcript.find_uuid, session.record.path, message_id)
    if entry is None:
        raise ProtocolError("invalidParams", f"There is no message {message_id} in this session")
    cut = entry.offset if _goes_before(entry) else entry.end
    steps = await _steps(session, cut) if restore != "conversation" else []
    answer: Json = {
        "files": [{"path": s.past.path, "change": s.change} for s in steps if s.needed and not s.conflict],
        "conflicts": [{"path": s.past.path, "reason": s.conflict} for s in steps if s.needed and s.conflict],
    }
    if params.get("dryRun"):
        return answer
    rewind_id = new_id("w")
    old = await anyio.to_thread.run_sync(transcript.shown, session.record.path) if restore != "code" else {}
    target = cut if restore != "code" else None
    session.record.note("rewound", uuid=rewind_id, to=message_id, restore=restore, offset=target)
    await session.record.durable()
    if restore != "conversation":
        with session.restoring():
            failed = [await _restore(session, step) for step in steps if step.needed and not step.conflict]
        bad = {item["path"] for item in failed if item}
        answer["files"] = [item for item in answer["files"] if item["path"] not in bad]
        answer["conflicts"] += [item for item in failed if item]
    if restore != "code":
        session.went_back(cut)
        await _show(session, old, undone=entry.type == REWOUND)
    answer["rewindId"] = rewind_id
    if entry.type == "user":
        answer["prompt"] = entry.record.get("content", [])
    return answer


async def drop_turn(session: Session, turn: Json) -> None:
    """Take a cut turn out of the conversation, prompt and all; files stay as they are."""
    path = session.record.path
    prompt = await anyio.to_thread.run_sync(transcript.find_uuid, path, str(turn["messageId"]))
    if prompt is None:  # the crash came before the prompt itself was written
        session.went_back(session.record.end)
        return
    old = await anyio.to_thread.run_sync(transcript.shown, path)
    session.record.note("rewound", uuid=new_id("w"), to=turn["messageId"], restore="conversation", offset=prompt.offset)
    session.went_back(prompt.offset)
    await _show(session, old, undone=False)


def _goes_before(entry: Entry) -> bool:
    """A prompt is taken back with everything after it; any other message is the last that stays."""
    if entry.type == REWOUND:
        return True
    content = cast("list[Json]", entry.record.get("content", []))
    return entry.type == "user" and not any(block.get("type") == "tool_result" for block in content)


async def _steps(session: Session, cut: int) -> list[_Step]:
    found: list[_Step] = []
    for past in await anyio.to_thread.run_sync(session.history.since, cut):
        try:
            now: FileText | None = await session.workspace.read(past.path)
        except ToolError:
            now = None
        found.append(_Step(past=past, now=now))
    return found


async def _restore(session: Session, step: _Step) -> Json | None:
    """Put one file back; what went wrong, as a conflict, or None."""
    past, path = step.past, Path(step.past.path)
    try:
        if past.text is not None and step.now is not None:
            plan = EditPlan(path=past.path, before=step.now, new_text=past.text, tool="Rewind", tool_use_id=new_id("w"))
            await session.workspace.apply(plan)
            return None
        session.history.before(past.path, step.now, at=session.record.end)
        if past.text is None:
            await anyio.to_thread.run_sync(path.unlink)
            session.history.after(past.path, None)
        else:
            await anyio.to_thread.run_sync(lambda: write_atomically(path, past.data or b"", mode=0o644))
            session.history.after(past.path, _as_file(past))
    except (ToolError, OSError) as error:
        return {"path": past.path, "reason": f"it could not be restored: {error}"}
    return None


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
    now = await anyio.to_thread.run_sync(usage, session)
    session.publish(
        UsageEvent(
            input=0,
            output=0,
            cache_read=0,
            cache_write=0,
            context_tokens=now.context_tokens,
            context_window=now.context_window,
            cost_usd=0.0,
            total_cost_usd=now.cost_usd,
        )
    )
    session.notice("info", "The rewind was undone." if undone else "The conversation was rewound.")


def _as_file(past: Past) -> FileText | None:
    if past.text is None:
        return None
    return FileText(path=past.path, text=past.text, encoding=past.encoding, bom=past.bom)
