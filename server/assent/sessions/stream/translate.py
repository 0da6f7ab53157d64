"""Engine messages as the wire's events (`assent.wire.events`).

Pure translation: one translator per session remembers only what the wire names and the engine does not repeat (which
tool a half-streamed block belongs to, which blocks are open).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, assert_never, cast

from msgspec.structs import asdict

from assent.text.attached import own_words
from assent.text.visible import visible
from assent.tools.task_list import TaskBoard
from assent.types.blocks import Json
from assent.types.messages import (
    ApiRetry,
    AssistantFinal,
    AssistantMessage,
    Attachment,
    ChangedFile,
    Collapsed,
    CompactBoundary,
    Compacting,
    CompactSoon,
    Heartbeat,
    HookRan,
    MaxTurnsReached,
    Message,
    Notice,
    RequestStart,
    Result,
    Spent,
    StreamEvent,
    SystemInit,
    Tombstone,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    ToolUseSummary,
    UserMessage,
)
from assent.types.usage import Usage
from assent.wire import events as wire
from assent.wire import shapes
from assent.wire.results import StoredMessage

TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a block that is still growing; pieces of one kind and id may be merged."""

    kind: type[wire.TextDelta] | type[wire.ThinkingDelta] | type[wire.ToolInputDelta]
    id: str
    text: str
    parent: str | None = None


class EventTranslator:
    def __init__(self, *, context_window: int = 200_000, total_cost: float = 0.0) -> None:
        self.step_id: str | None = None
        self.context_window = context_window
        self.total_cost = total_cost
        self._open: dict[str, str] = {}  # block uuid → tool use id, or empty for text and thinking

    def delta(self, message: StreamEvent) -> Delta | wire.ToolPreparing | None:
        """A partial event: a piece of text, the start of a tool call, or None for events the wire does not show."""
        event = message.event
        match event.get("type"):
            case "content_block_delta":
                return self._piece(message, cast("Json", event.get("delta", {})))
            case "content_block_start":
                block = cast("Json", event.get("content_block", {}))
                if block.get("type") == "tool_use":
                    self._open[message.block_uuid] = str(block.get("id", ""))
                    return wire.ToolPreparing(tool_use_id=str(block.get("id", "")), tool=str(block.get("name", "")))
                self._open[message.block_uuid] = ""
                return None
            case _:
                return None

    def events(self, message: Message) -> Iterator[wire.AnyEvent]:
        """The events of one message, in order; partials go through `delta`, the first and last by the session."""
        match message:
            case RequestStart():
                self.step_id = message.step_id
                yield wire.StepStarted(model=message.model, transition=message.transition)
            case UserMessage() | AssistantMessage() | Attachment():
                if isinstance(message, AssistantMessage):
                    self._open.pop(message.uuid, None)
                yield message_event(message)
            case AssistantFinal():
                self.total_cost += message.cost_usd
                yield self._usage(message)
            case ToolStarted():
                yield wire.ToolStarted(
                    tool_use_id=message.tool_use_id,
                    tool=message.tool,
                    input=dict(message.input),
                    title=visible(message.title),
                )
            case ToolProgress():
                yield wire.ToolProgress(tool_use_id=message.tool_use_id, text=message.text)
            case ToolFinished():
                yield wire.ToolFinished(
                    tool_use_id=message.tool_use_id,
                    is_error=message.is_error,
                    summary=visible(message.summary),
                    content=_blocks(message.content),
                    duration_ms=message.duration_ms,
                    changed=[_changed(each) for each in message.changed] or None,
                )
            case ToolUseSummary():
                yield wire.ToolSummary(text=message.text, tool_use_ids=list(message.tool_use_ids))
            case HookRan():
                yield hook_event(message)
            case Compacting():
                yield wire.Compacting(trigger=message.trigger)
                yield wire.Status(state="compacting")
            case CompactBoundary():
                yield wire.Compacted(
                    trigger=message.trigger,
                    tokens_before=message.tokens_before,
                    tokens_after=message.tokens_after,
                    summary=message.summary,
                )
                yield wire.Status(state="running")
            case ApiRetry():
                yield wire.Retrying(
                    attempt=message.attempt,
                    max_attempts=message.max_attempts,
                    delay_ms=message.delay_ms,
                    status=message.status,
                    error=message.error,
                )
            case Heartbeat():
                yield wire.Heartbeat()
            case Notice():
                yield wire.Notice(level=message.level, text=message.text)
            case Tombstone(reason="snip"):
                yield wire.Snipped(
                    snip_id=message.snip_id,
                    message_ids=list(message.message_uuids),
                    tokens_freed=message.tokens_freed,
                    by=message.by,
                    reason=message.why or None,
                )
            case Tombstone():
                yield self._tombstone(message)
            case CompactSoon():
                yield wire.CompactSoon(tokens=message.tokens, threshold=message.threshold, would_go=message.would_go)
            case MaxTurnsReached():
                yield wire.MaxTurnsReached(max_turns=message.max_turns, turn_count=message.turn_count)
            case SystemInit() | Result() | Spent() | StreamEvent() | Collapsed():
                return
            case _:
                assert_never(message)

    def _piece(self, message: StreamEvent, delta: Json) -> Delta | None:
        block, parent = message.block_uuid, message.parent_tool_use_id
        match delta.get("type"):
            case "text_delta":
                self._open.setdefault(block, "")
                return Delta(wire.TextDelta, block, str(delta.get("text", "")), parent)
            case "thinking_delta":
                self._open.setdefault(block, "")
                return Delta(wire.ThinkingDelta, block, str(delta.get("thinking", "")), parent)
            case "input_json_delta":
                tool_use = self._open.get(block, "")
                text = str(delta.get("partial_json", ""))
                return Delta(wire.ToolInputDelta, tool_use, text, parent) if tool_use else None
            case _:
                return None

    def _tombstone(self, message: Tombstone) -> wire.Tombstone:
        # A block that was still streaming has no message to withdraw, only what was shown of it.
        half_shown = list(self._open) if message.reason != "rewind" else []
        self._open.clear()
        uuids = list(message.message_uuids)
        blocks = [*uuids, *(block for block in half_shown if block not in uuids)]
        return wire.Tombstone(message_ids=uuids, block_ids=blocks, reason=message.reason)

    def _usage(self, message: AssistantFinal) -> wire.UsageEvent:
        usage = message.usage
        return wire.UsageEvent(
            input=usage.input_tokens,
            output=usage.output_tokens,
            cache_read=usage.cache_read_input_tokens,
            cache_write=usage.cache_creation_input_tokens,
            context_tokens=message.context_tokens or usage.context_tokens,
            context_window=self.context_window,
            cost_usd=message.cost_usd,
            total_cost_usd=self.total_cost,
        )


def parent_of(message: Message) -> str | None:
    return getattr(message, "parent_tool_use_id", None)


def turn_started(init: SystemInit | None, prompt: str | list[Json], *, message_id: str) -> wire.TurnStarted:
    if init is None:
        return wire.TurnStarted(prompt=prompt, message_id=message_id)
    return wire.TurnStarted(
        prompt=prompt,
        message_id=message_id,
        session_id=init.session_id,
        model=init.model,
        cwd=init.cwd,
        tools=list(init.tools),
        mcp_servers=[dict(server) for server in init.mcp_servers],
        permission_mode=init.permission_mode,
        key_source=init.key_source,
        slash_commands=list(init.slash_commands),
        agents=list(init.agents),
    )


def message_event(message: UserMessage | AssistantMessage | Attachment) -> wire.MessageEvent:
    """Ids of assistant messages are also the blockId of their deltas."""
    return wire.MessageEvent(
        role="assistant" if isinstance(message, AssistantMessage) else "user", **_message_fields(message)
    )


def stored_message(message: UserMessage | AssistantMessage | Attachment) -> StoredMessage:
    return StoredMessage(
        role="assistant" if isinstance(message, AssistantMessage) else "user", **_message_fields(message)
    )


def stored_boundary(message: CompactBoundary) -> StoredMessage:
    return StoredMessage(
        role="system",
        kind="compacted",
        id=message.uuid,
        meta=False,
        content=[],
        trigger=message.trigger,
        tokens_before=message.tokens_before,
        tokens_after=message.tokens_after,
        summary=message.summary,
    )


def wire_usage(usage: Usage) -> shapes.Usage:
    return shapes.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_creation_input_tokens=usage.cache_creation_input_tokens,
        cache_read_input_tokens=usage.cache_read_input_tokens,
        web_search_requests=usage.web_search_requests,
    )


def model_usage(usage: Usage, cost_usd: float) -> shapes.ModelUsage:
    return shapes.ModelUsage(**asdict(wire_usage(usage)), cost_usd=cost_usd)


def wire_result(result: Result) -> shapes.TurnResult:
    """Q6, in camelCase."""
    return shapes.TurnResult(
        subtype=result.subtype,
        is_error=result.is_error,
        result=result.result,
        terminal=result.terminal,
        stop_reason=result.stop_reason,
        num_turns=result.num_turns,
        duration_ms=result.duration_ms,
        duration_api_ms=result.duration_api_ms,
        total_cost_usd=result.total_cost_usd,
        usage=wire_usage(result.usage),
        model_usage={model: model_usage(used.usage, used.cost_usd) for model, used in result.model_usage.items()},
        permission_denials=[
            shapes.PermissionDenial(
                tool_name=denial.tool_name, tool_use_id=denial.tool_use_id, tool_input=dict(denial.tool_input)
            )
            for denial in result.permission_denials
        ],
        session_id=result.session_id,
        structured_output=result.structured_output,
    )


def failed_result(session_id: str, error: str, last: Result | None) -> Result:
    """A result for a turn the engine could not end itself; the session's totals stay what they were."""
    base = last or Result(
        subtype="error_during_execution", is_error=True, terminal="model_error", result="", session_id=session_id
    )
    return replace(
        base,
        subtype="error_during_execution",
        is_error=True,
        terminal="aborted_streaming" if error == "Aborted" else "model_error",
        result=error,
        structured_output=None,
        stop_reason=None,
        num_turns=0,
        duration_ms=0,
        duration_api_ms=0,
    )


def title_of(content: list[Json]) -> str:
    first = " ".join(own_words(content).split())
    return first if len(first) <= TITLE_LENGTH else first[: TITLE_LENGTH - 1].rstrip() + "…"


def says_little(title: str) -> bool:
    """Whether the text is too general for a title: a greeting, a short reminder, a slash command, a bare address."""
    return title.startswith("/") or len(title) < 12 or " " not in title.strip()


def wire_todos(todos: list[Json]) -> list[shapes.Todo]:
    return [
        shapes.Todo(
            id=str(item.get("id") or index + 1),
            content=str(item.get("content", "")),
            active_form=str(item.get("activeForm") or item.get("active_form") or item.get("content", "")),
            status=str(item.get("status", "pending")),
        )
        for index, item in enumerate(todos)
    ]


def wire_tasks(board: TaskBoard) -> list[shapes.Task]:
    return [
        shapes.Task(
            id=task.id,
            subject=visible(task.subject),
            status=task.status,
            description=visible(task.description) or None,
            owner=task.owner or None,
        )
        for task in board.list()
    ]


def hook_event(message: HookRan) -> wire.Hook:
    return wire.Hook(
        event=message.event,
        outcome=message.outcome,
        text=visible(message.text) or None,
        hook_id=message.hook_id or None,
        tool_use_id=message.tool_use_id,
        duration_ms=message.duration_ms,
        exit_code=message.exit_code,
        changed=message.changed if message.hook_id else None,
        output=visible(message.output) or None,
        command=visible(message.command) or None,
        source=visible(message.source) or None,
        terminal_sequence=message.terminal_sequence or None,
    )


def _message_fields(message: UserMessage | AssistantMessage | Attachment) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "content": _blocks(message.content),
        "id": message.uuid,
        "meta": not isinstance(message, AssistantMessage) and message.is_meta,
        "timestamp": message.timestamp or None,
    }
    match message:
        case AssistantMessage():
            return fields | {"message_id": message.message_id, "model": message.model, "error": message.error}
        case Attachment():
            return fields | {"kind": message.kind}
        case UserMessage():
            return fields


def _changed(file: ChangedFile) -> wire.ChangedFile:
    return wire.ChangedFile(path=file.path, added=file.added, removed=file.removed)


def _blocks(content: Any) -> list[Json]:
    return list(content)
