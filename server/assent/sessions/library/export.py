"""A conversation as one text: Markdown for people, JSON for programs (S2). Meta messages are for the model only."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import msgspec
import orjson

from assent.sessions.live.record import saved_state
from assent.sessions.stream.translate import stored_boundary, stored_message
from assent.storage import transcript
from assent.types.blocks import Block, Json, text_of
from assent.types.errors import ProtocolError
from assent.types.messages import AssistantMessage, Attachment, CompactBoundary, ConversationMessage, UserMessage

MOST = 64 * 1024 * 1024  # bytes of transcript that still make a text one can send over a wire
RESULT_LINES = 40


def export(path: Path, *, format: str) -> str:
    if format not in ("markdown", "json"):
        raise ProtocolError("invalidParams", "format must be markdown or json")
    if path.stat().st_size > MOST:
        raise ProtocolError("tooLarge", "This conversation is too long to export at once", hint=f"It is in {path}.")
    head, state = transcript.header(path), saved_state(path)
    if format == "json":
        body: Json = {
            "sessionId": head.get("sessionId", path.stem),
            "title": state.get("title", ""),
            "cwd": head.get("cwd", ""),
            "createdAt": head.get("createdAt"),
            "model": state.get("model"),
            "messages": [_json(message) for message in conversation(path)],
        }
        return orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()
    title = str(state.get("title") or "Conversation")
    parts = [f"# {title}", f"*{head.get('cwd', '')}*"]
    speaker = ""
    for message in conversation(path):
        said = _markdown(message)
        if not said:
            continue
        name = _speaker(message)
        if name and name != speaker:
            parts.append(f"## {name}")
            speaker = name
        parts.append(said)
    return "\n\n".join(parts) + "\n"


def conversation(path: Path) -> Iterator[ConversationMessage]:
    """Every message of the conversation as it is now, withdrawn ones left out."""
    kept = transcript.shown(path)
    for offset in kept.values():
        record = transcript.record_at(path, offset)
        message = transcript.revive(record) if record else None
        if isinstance(message, UserMessage | AssistantMessage | Attachment | CompactBoundary):
            yield message


def _json(message: ConversationMessage) -> Json:
    if isinstance(message, CompactBoundary):
        return msgspec.to_builtins(stored_boundary(message))
    return msgspec.to_builtins(stored_message(message))


def _speaker(message: ConversationMessage) -> str:
    match message:
        case AssistantMessage():
            return "Assent"
        case UserMessage() if not _is_results(message):
            return "You"
        case Attachment():
            return "You"
        case _:
            return ""  # results and boundaries stand under whoever spoke last


def _markdown(message: ConversationMessage) -> str:
    match message:
        case CompactBoundary():
            return f"---\n\n*The conversation was compacted here.*\n\n{_details('Summary', message.summary)}"
        case UserMessage(is_meta=True) | Attachment(is_meta=True):
            return ""
        case _:
            return "\n\n".join(part for block in message.content if (part := _block(block)))


def _block(block: Block) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text", "")).strip()
        case "thinking":
            return _details("Thinking", str(block.get("thinking", "")))
        case "tool_use":
            given = orjson.dumps(block.get("input", {}), option=orjson.OPT_INDENT_2).decode()
            return _details(f"Tool: {block.get('name')}", _fenced(given, "json"))
        case "tool_result":
            text = text_of(cast("str | list[Block]", block.get("content", "")))
            return _details("Error" if block.get("is_error") else "Result", _fenced(_cut(text)))
        case "image" | "document":
            return f"*({block.get('type')})*"
        case _:
            return ""


def _details(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>" if text.strip() else ""


def _fenced(text: str, language: str = "") -> str:
    longest = max((len(run) for run in _backtick_runs(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _backtick_runs(text: str) -> Iterator[str]:
    for line in text.splitlines():
        stripped = line.lstrip()
        if stripped.startswith("`"):
            yield stripped[: len(stripped) - len(stripped.lstrip("`"))]


def _cut(text: str) -> str:
    lines = text.splitlines()
    return text if len(lines) <= RESULT_LINES else "\n".join([*lines[:RESULT_LINES], f"… {len(lines)} lines in all"])


def _is_results(message: UserMessage) -> bool:
    return any(block.get("type") == "tool_result" for block in message.content)
