"""Conversations of Claude Code, from its JSONL files into transcripts of ours; the source is only read.

The conversation is the way from its last message up to the first, by `parentUuid`; what was edited away or said by
subagents (`isSidechain`) is left out. Results of calls that ran side by side hang beside that way, and are taken along.
Thinking is not taken over: it is signed for another program's requests. A call without a result gets one that says so.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from assent.sessions.live.record import VERSION
from assent.sessions.stream.translate import title_of
from assent.storage import transcript
from assent.storage.lines import decode, encode
from assent.storage.paths import session_paths
from assent.types import codec
from assent.types.blocks import Json, text_block
from assent.types.messages import AssistantMessage, UserMessage
from assent.types.private_files import create_private, private_folder
from assent.types.regular_files import refuse_kind

LARGEST = 256 * 1024 * 1024
NO_RESULT = "There is no result of this call in the conversation that was imported."
_TAKEN = frozenset({"text", "tool_use", "tool_result", "image", "document"})


@dataclass(slots=True, kw_only=True)
class Imported:
    source: str
    session_id: str = ""
    title: str = ""
    messages: int = 0
    state: str = "imported"  # or: known, empty, failed
    problems: list[str] = field(default_factory=list[str])


def import_all(folder: Path, data: Path, *, now: float, secrets: Sequence[str] = ()) -> list[Imported]:
    """Every conversation under `folder` (`~/.claude/projects`) that is not here yet."""
    return [import_one(file, data, now=now, secrets=secrets) for file in sorted(folder.glob("*/*.jsonl"))]


def import_one(source: Path, data: Path, *, now: float, secrets: Sequence[str] = ()) -> Imported:
    done = Imported(source=str(source))
    try:
        refuse_kind(str(source), source.stat(), LARGEST)  # a pipe would be waited for
        records = _records(source, done.problems)
    except OSError as error:
        done.state = "failed"
        done.problems.append(f"{source}: {error.strerror or error}")
        return done
    said = _conversation(records)
    cwd = next((str(record["cwd"]) for record in said if record.get("cwd")), "")
    messages = _answered([message for record in said if (message := _message(record)) is not None])
    if not messages or not Path(cwd).is_absolute():
        done.state = "empty"
        return done
    paths = session_paths(data, cwd, f"cc-{source.stem}"[:64])
    done.session_id, done.messages, done.title = paths.session_id, len(messages), _title(records, messages)
    if paths.transcript.exists():
        done.state = "known"
        return done
    last = messages[-1].timestamp or now
    prompts = [each for each in messages if isinstance(each, UserMessage) and not each.is_meta and not _results(each)]
    model = next((each.model for each in reversed(messages) if isinstance(each, AssistantMessage) and each.model), "")
    head: Json = {"sessionId": paths.session_id, "cwd": cwd, "createdAt": messages[0].timestamp, "importedAt": now}
    branch = str(said[-1].get("gitBranch") or "")
    state: Json = {"title": done.title, "mode": "default", "cwd": cwd, "branch": branch, "turns": len(prompts)}
    if model:
        state |= {"model": model, "options": {"model": model}}
    lines: list[Json] = [
        {"type": "session/header", "version": VERSION, **head, "branch": branch, "importedFrom": str(source)},
        {"type": "session/format", "version": transcript.FORMAT},
        *(codec.to_json(message) for message in messages),
        {"type": "session/state", "format": transcript.FORMAT, **state},
    ]
    try:
        private_folder(paths.transcript.parent)
        partial = paths.transcript.with_suffix(".part")
        partial.unlink(missing_ok=True)
        with open(partial, "xb", opener=create_private) as file:
            file.writelines(encode(line, secrets) for line in lines)
            file.flush()
            os.fsync(file.fileno())
        os.utime(partial, (last, last))  # listed where it belongs
        partial.replace(paths.transcript)
    except OSError as error:
        done.state = "failed"
        done.problems.append(f"{source}: it could not be written: {error.strerror}")
    return done


def _records(source: Path, problems: list[str]) -> list[Json]:
    found: list[Json] = []
    with source.open("rb") as file:
        for number, line in enumerate(file, 1):
            record = decode(line)
            if record is not None:
                found.append(record)
            elif line.strip():
                problems.append(f"{source}:{number}: the line cannot be read; it is left out")
    return found


def _conversation(records: Sequence[Json]) -> list[Json]:
    """In the order they were said."""
    own = [record for record in records if record.get("uuid") and not record.get("isSidechain")]
    by_id = {str(record["uuid"]): record for record in own}
    numbers = {id(record): number for number, record in enumerate(own)}
    spoken = [record for record in own if record.get("type") in ("user", "assistant")]
    chain: set[str] = set()
    at = spoken[-1] if spoken else None
    while at is not None and str(at["uuid"]) not in chain:
        chain.add(str(at["uuid"]))
        above = at.get("parentUuid") or at.get("logicalParentUuid")
        before = numbers[id(at)] - 1 if above and str(above) not in by_id else -1
        # A parent that is missing was on a damaged line: what was written before it is the best guess.
        at = by_id.get(str(above)) if above else None
        if at is None and before >= 0:
            at = own[before]
    answers = {_answer_id(record) for record in spoken if str(record["uuid"]) in chain} - {""}
    beside = [record for record in spoken if str(record["uuid"]) in chain or _answer_id(record) in answers]
    calls = {block.get("id") for record in beside for block in _blocks(record) if block.get("type") == "tool_use"}
    kept = {str(record["uuid"]) for record in beside}
    for record in spoken:
        blocks = _blocks(record)
        if record.get("type") == "user" and any(block.get("tool_use_id") in calls for block in blocks):
            kept.add(str(record["uuid"]))
    return [record for record in spoken if str(record["uuid"]) in kept and not record.get("isApiErrorMessage")]


def _answer_id(record: Json) -> str:
    message = record.get("message")
    return str(cast("Json", message).get("id") or "") if isinstance(message, dict) else ""


def _blocks(record: Json) -> list[Json]:
    message = record.get("message")
    content: Any = cast("Json", message).get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [text_block(content)] if content.strip() else []
    items = cast("list[Any]", content) if isinstance(content, list) else []
    return [cast("Json", item) for item in items if isinstance(item, dict)]


def _message(record: Json) -> UserMessage | AssistantMessage | None:
    blocks = tuple(block for block in _blocks(record) if str(block.get("type")) in _TAKEN)
    if not blocks:
        return None
    uuid, when = str(record["uuid"]), _seconds(record.get("timestamp"))
    if record.get("type") == "user":
        meta = bool(record.get("isMeta") or record.get("isCompactSummary"))
        return UserMessage(uuid=uuid, content=blocks, timestamp=when, is_meta=meta)
    model = str(cast("Json", record["message"]).get("model") or "")
    return AssistantMessage(
        uuid=uuid, message_id=_answer_id(record) or uuid, content=blocks, timestamp=when, model=model
    )


def _results(message: UserMessage) -> bool:
    return any(block.get("type") == "tool_result" for block in message.content)


def _answered(messages: Sequence[UserMessage | AssistantMessage]) -> list[UserMessage | AssistantMessage]:
    """Each call with exactly one result, and no result without its call: else nobody could go on with it."""
    found: list[UserMessage | AssistantMessage] = []
    waiting: dict[str, float] = {}

    def settle() -> None:
        if waiting:
            blocks = tuple(
                {"type": "tool_result", "tool_use_id": id, "content": NO_RESULT, "is_error": True} for id in waiting
            )
            found.append(
                UserMessage(uuid=f"{next(iter(waiting))}-none", content=blocks, timestamp=max(waiting.values()))
            )
            waiting.clear()

    for message in messages:
        if isinstance(message, AssistantMessage):
            last = found[-1] if found else None
            if not (isinstance(last, AssistantMessage) and last.message_id == message.message_id):
                settle()
            for block in message.content:
                if block.get("type") == "tool_use":
                    waiting[str(block.get("id"))] = message.timestamp
            found.append(message)
            continue
        blocks = tuple(
            block for block in message.content
            if block.get("type") != "tool_result" or str(block.get("tool_use_id")) in waiting
        )  # fmt: skip
        if not any(block.get("type") == "tool_result" for block in blocks):
            settle()
        for block in blocks:
            waiting.pop(str(block.get("tool_use_id")), None)
        if blocks:
            found.append(
                UserMessage(uuid=message.uuid, content=blocks, timestamp=message.timestamp, is_meta=message.is_meta)
            )
    settle()
    return found


def _title(records: Sequence[Json], messages: Sequence[UserMessage | AssistantMessage]) -> str:
    """Its summary, which Claude Code wrote, or the first prompt that is no command."""
    for record in reversed(records):
        if record.get("type") == "summary" and str(record.get("summary") or "").strip():
            return title_of([text_block(str(record["summary"]))])
    prompts = [each for each in messages if isinstance(each, UserMessage) and not each.is_meta and not _results(each)]
    titles = [
        title
        for each in prompts
        if (title := title_of([dict(block) for block in each.content])) and not title.startswith("<")
    ]
    return titles[0] if titles else "Imported"


def _seconds(stamp: object) -> float:
    try:
        return datetime.fromisoformat(str(stamp).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0
