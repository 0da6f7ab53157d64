"""Engine messages as the wire's events (protocol.md, `assent/session/event`). Names and fields there are a contract.

Pure translation: one translator per session remembers only what the wire names and the engine does not repeat (which
tool a half-streamed block belongs to, which blocks are open).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, assert_never, cast

from assent.types.blocks import Json, text_of
from assent.types.messages import (
    ApiRetry,
    AssistantFinal,
    AssistantMessage,
    Attachment,
    Collapsed,
    CompactBoundary,
    Compacting,
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

TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a block that is still growing; pieces with the same key may be merged."""

    type: str
    id_field: str
    id: str
    text_field: str
    text: str
    parent: str | None = None


class Translator:
    def __init__(self, *, context_window: int = 200_000, total_cost: float = 0.0) -> None:
        self.step_id: str | None = None
        self.context_window = context_window
        self.total_cost = total_cost
        self._open: dict[str, str] = {}  # block uuid → tool use id, or empty for text and thinking

    def delta(self, message: StreamEvent) -> Delta | Json | None:
        """A partial: a piece of text, the news that a tool call is being written, or nothing the wire shows."""
        event = message.event
        match event.get("type"):
            case "content_block_delta":
                return self._piece(message, cast("Json", event.get("delta", {})))
            case "content_block_start":
                block = cast("Json", event.get("content_block", {}))
                if block.get("type") == "tool_use":
                    self._open[message.block_uuid] = str(block.get("id", ""))
                    return {"type": "toolPreparing", "toolUseId": block.get("id"), "tool": block.get("name")}
                self._open[message.block_uuid] = ""
                return None
            case _:
                return None

    def events(self, message: Message) -> Iterator[Json]:
        """The events of one message, in order; partials go through `delta`, the first and last by the session."""
        match message:
            case RequestStart():
                self.step_id = message.step_id
                yield _compact({"type": "stepStarted", "model": message.model, "transition": message.transition})
            case UserMessage() | AssistantMessage() | Attachment():
                if isinstance(message, AssistantMessage):
                    self._open.pop(message.uuid, None)
                yield {"type": "message", **wire_message(message)}
            case AssistantFinal():
                self.total_cost += message.cost_usd
                yield {"type": "usage", **self._usage(message)}
            case ToolStarted():
                yield {
                    "type": "toolStarted",
                    "toolUseId": message.tool_use_id,
                    "tool": message.tool,
                    "input": message.input,
                    "title": message.title,
                }
            case ToolProgress():
                yield {"type": "toolProgress", "toolUseId": message.tool_use_id, "text": message.text}
            case ToolFinished():
                yield {
                    "type": "toolFinished",
                    "toolUseId": message.tool_use_id,
                    "isError": message.is_error,
                    "summary": message.summary,
                    "content": list(message.content),
                    "durationMs": message.duration_ms,
                }
            case ToolUseSummary():
                yield {"type": "toolSummary", "text": message.text, "toolUseIds": list(message.tool_use_ids)}
            case HookRan():
                yield _compact(
                    {"type": "hook", "event": message.event, "outcome": message.outcome, "text": message.text or None}
                )
            case Compacting():
                yield {"type": "compacting", "trigger": message.trigger}
                yield {"type": "status", "state": "compacting"}
            case CompactBoundary():
                yield {"type": "compacted", **wire_boundary(message)}
                yield {"type": "status", "state": "running"}
            case ApiRetry():
                yield {
                    "type": "retrying",
                    "attempt": message.attempt,
                    "maxAttempts": message.max_attempts,
                    "delayMs": message.delay_ms,
                    "status": message.status,
                    "error": message.error,
                }
            case Heartbeat():
                yield {"type": "heartbeat"}
            case Notice():
                yield {"type": "notice", "level": message.level, "text": message.text}
            case Tombstone():
                yield self._tombstone(message)
            case MaxTurnsReached():
                yield {"type": "maxTurnsReached", "maxTurns": message.max_turns, "turnCount": message.turn_count}
            case SystemInit() | Result() | Spent() | StreamEvent() | Collapsed():
                return
            case _:
                assert_never(message)

    def _piece(self, message: StreamEvent, delta: Json) -> Delta | None:
        block, parent = message.block_uuid, message.parent_tool_use_id
        match delta.get("type"):
            case "text_delta":
                self._open.setdefault(block, "")
                return Delta("textDelta", "blockId", block, "text", str(delta.get("text", "")), parent)
            case "thinking_delta":
                self._open.setdefault(block, "")
                return Delta("thinkingDelta", "blockId", block, "text", str(delta.get("thinking", "")), parent)
            case "input_json_delta":
                tool_use = self._open.get(block, "")
                text = str(delta.get("partial_json", ""))
                return Delta("toolInputDelta", "toolUseId", tool_use, "partialJson", text, parent) if tool_use else None
            case _:
                return None

    def _tombstone(self, message: Tombstone) -> Json:
        # A block that was still streaming has no message to withdraw, only what was shown of it.
        half_shown = list(self._open) if message.reason not in ("rewind", "snip") else []
        self._open.clear()
        uuids = list(message.message_uuids)
        blocks = [*uuids, *(block for block in half_shown if block not in uuids)]
        return {"type": "tombstone", "messageIds": uuids, "blockIds": blocks, "reason": message.reason}

    def _usage(self, message: AssistantFinal) -> Json:
        usage = message.usage
        return {
            "input": usage.input_tokens,
            "output": usage.output_tokens,
            "cacheRead": usage.cache_read_input_tokens,
            "cacheWrite": usage.cache_creation_input_tokens,
            "contextTokens": message.context_tokens or usage.context_tokens,
            "contextWindow": self.context_window,
            "costUsd": message.cost_usd,
            "totalCostUsd": self.total_cost,
        }


def parent_of(message: Message) -> str | None:
    return getattr(message, "parent_tool_use_id", None)


def turn_started(init: SystemInit | None, prompt: str | list[Json], **more: Any) -> Json:
    event: Json = {"type": "turnStarted", "prompt": prompt}
    if init is not None:
        event |= {
            "sessionId": init.session_id,
            "model": init.model,
            "cwd": init.cwd,
            "tools": list(init.tools),
            "mcpServers": list(init.mcp_servers),
            "permissionMode": init.permission_mode,
            "keySource": init.key_source,
            "slashCommands": list(init.slash_commands),
            "agents": list(init.agents),
        }
    return event | _compact(more)


def wire_message(message: UserMessage | AssistantMessage | Attachment) -> Json:
    """`message{role, content, id, meta}`; ids of assistant messages are also the blockId of their deltas."""
    body: Json = {
        "role": "assistant" if isinstance(message, AssistantMessage) else "user",
        "content": list(message.content),
        "id": message.uuid,
        "meta": not isinstance(message, AssistantMessage) and message.is_meta,
    }
    if message.timestamp:
        body["timestamp"] = message.timestamp
    match message:
        case AssistantMessage():
            body |= _compact({"messageId": message.message_id, "model": message.model, "error": message.error})
        case Attachment():
            body["kind"] = message.kind
        case UserMessage():
            pass
    return body


def wire_boundary(message: CompactBoundary) -> Json:
    return {
        "trigger": message.trigger,
        "tokensBefore": message.tokens_before,
        "tokensAfter": message.tokens_after,
        "summary": message.summary,
    }


def wire_usage(usage: Usage) -> Json:
    return {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cacheCreationInputTokens": usage.cache_creation_input_tokens,
        "cacheReadInputTokens": usage.cache_read_input_tokens,
        "webSearchRequests": usage.web_search_requests,
    }


def wire_result(result: Result) -> Json:
    """Q6, in camelCase."""
    body: Json = {
        "subtype": result.subtype,
        "isError": result.is_error,
        "result": result.result,
        "terminal": result.terminal,
        "stopReason": result.stop_reason,
        "numTurns": result.num_turns,
        "durationMs": result.duration_ms,
        "durationApiMs": result.duration_api_ms,
        "totalCostUsd": result.total_cost_usd,
        "usage": wire_usage(result.usage),
        "modelUsage": {
            model: {**wire_usage(used.usage), "costUsd": used.cost_usd} for model, used in result.model_usage.items()
        },
        "permissionDenials": [
            {"toolName": denial.tool_name, "toolUseId": denial.tool_use_id, "toolInput": denial.tool_input}
            for denial in result.permission_denials
        ],
        "sessionId": result.session_id,
    }
    if result.structured_output is not None:
        body["structuredOutput"] = result.structured_output
    return body


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
    first = " ".join(text_of(content).split())
    return first if len(first) <= TITLE_LENGTH else first[: TITLE_LENGTH - 1].rstrip() + "…"


def wire_todos(todos: list[Json]) -> list[Json]:
    return [
        {
            "id": str(item.get("id") or index + 1),
            "content": str(item.get("content", "")),
            "activeForm": str(item.get("activeForm") or item.get("active_form") or item.get("content", "")),
            "status": str(item.get("status", "pending")),
        }
        for index, item in enumerate(todos)
    ]


def _compact(values: Json) -> Json:
    return {key: value for key, value in values.items() if value is not None}
