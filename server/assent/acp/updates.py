"""Session events as `session/update` notifications, and a loaded conversation as the same. Pure translation.

One translator per session remembers what the protocol names once and events repeat, or the other way round: which
blocks were streamed, which tool calls the client knows, what each call changes.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Literal, cast

from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    AvailableCommand,
    AvailableCommandInput,
    AvailableCommandsUpdate,
    Cost,
    ImageContentBlock,
    PlanEntry,
    PlanEntryStatus,
    SessionInfoUpdate,
    TextContentBlock,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    UnstructuredCommandInput,
    UsageUpdate,
    UserMessageChunk,
)

from assent.acp import calls, terminals
from assent.text.words import nearly_full
from assent.types.blocks import Json, text_of
from assent.types.ports import EditPlan

Update = (
    AgentMessageChunk
    | AgentThoughtChunk
    | UserMessageChunk
    | ToolCallStart
    | ToolCallProgress
    | AgentPlanUpdate
    | AvailableCommandsUpdate
    | UsageUpdate
)

WITHDRAWN = "The answer above broke off and is given again."
_STATUS: dict[str, PlanEntryStatus] = {"in_progress": "in_progress", "completed": "completed"}


class Translator:
    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._streamed: set[str] = set()  # blocks that came as deltas
        self._calls: dict[str, Literal["pending", "running", "done"]] = {}  # those the client knows
        self._plans: dict[str, EditPlan] = {}  # the change each call is about to make
        self._terminals: dict[str, str] = {}  # the client's terminal that each call runs in

    def planned(self, tool_use_id: str, plan: EditPlan) -> None:
        self._plans[tool_use_id] = plan

    def runs_in(self, tool_use_id: str, terminal_id: str) -> ToolCallProgress:
        self._terminals[tool_use_id] = terminal_id
        return terminals.shown_in(tool_use_id, terminal_id)

    def places(self, input: Json) -> list[ToolCallLocation]:
        return calls.places_of(input, self._cwd)

    def announced(self, tool_use_id: str, tool: str, parent: str | None) -> Iterator[Update]:
        """A call is about to be asked for: the client must know it by then."""
        return self._prepared(tool_use_id, tool, parent)

    def change(self, tool_use_id: str) -> list[calls.Content]:
        plan = self._plans.get(tool_use_id)
        return [calls.change_content(plan)] if plan is not None else []

    def said(self, params: Json) -> Iterator[Json]:
        """What one event means to the client, as it goes out."""
        for update in self.updates(params):
            yield from self.rendered(update.model_dump(mode="json", by_alias=True, exclude_none=True))

    def rendered(self, update: Json) -> Iterator[Json]:
        """An update as this client's protocol has it."""
        yield update

    def call(self, call: Json) -> Json:
        """A tool call as this client's protocol has it."""
        return call

    def updates(self, params: Json) -> Iterator[Update]:
        """What one event means to the client; nothing, for most of them."""
        event = cast("Json", params["event"])
        parent = params.get("parentToolUseId")
        match event["type"]:
            case "textDelta" if parent is None:
                self._streamed.add(event["blockId"])
                yield said(event["text"], event["blockId"])
            case "thinkingDelta" if parent is None:
                self._streamed.add(event["blockId"])
                yield thought(event["text"], event["blockId"])
            case "message":
                yield from self._message(event, parent)
            case "toolPreparing":
                yield from self._prepared(str(event["toolUseId"]), str(event["tool"]), parent)
            case "toolStarted":
                yield from self._started(event, parent)
            case "toolProgress":
                yield from self._progressed(event)
            case "toolFinished":
                yield from self._finished(event["toolUseId"], event["content"], is_error=event["isError"])
            case "todos":
                yield plan_of(event["items"])
            case "usage" if parent is None:
                cost = Cost(amount=event["totalCostUsd"], currency="USD")
                yield UsageUpdate(
                    session_update="usage_update", used=event["contextTokens"], size=event["contextWindow"], cost=cost
                )
            case "tombstone":
                yield from self._withdrawn(event)
            case _:
                yield from _aside(event)

    def replayed(self, messages: Sequence[Json]) -> Iterator[Update]:
        """A conversation from its file, oldest first. What only the model reads is left out."""
        for message in messages:
            content = cast("list[Json]", message.get("content") or [])
            for block in content:
                if block.get("type") == "tool_result":
                    error = block.get("is_error") is True
                    yield from self._finished(
                        str(block["tool_use_id"]), calls.blocks_of(block.get("content")), is_error=error
                    )
            match message.get("role"):
                case "user" if not message.get("meta") and "kind" not in message:
                    yield from prompted(content, str(message["id"]))
                case "assistant":
                    yield from self._message(message, None)
                case "system":
                    yield thought("The conversation before this point was summarised for the model.", message["id"])
                case _:
                    pass

    # --- answers -----------------------------------------------------------------------------------------------------

    def _message(self, message: Json, parent: str | None) -> Iterator[Update]:
        if message.get("role") != "assistant" or message.get("error"):
            return  # an error is how the prompt ends: it is said there, once
        id = str(message.get("id", ""))
        streamed = id in self._streamed
        self._streamed.discard(id)
        for block in cast("list[Json]", message.get("content") or []):
            match block.get("type"):
                case "text" if not streamed and parent is None and block.get("text"):
                    yield said(str(block["text"]), id)
                case "thinking" if not streamed and parent is None and block.get("thinking"):
                    yield thought(str(block["thinking"]), id)
                case "tool_use":
                    yield from self._asked_for(block, parent)
                case _:
                    pass

    # --- tool calls --------------------------------------------------------------------------------------------------

    def _prepared(self, id: str, tool: str, parent: str | None) -> Iterator[Update]:
        if tool not in calls.UNSEEN and id not in self._calls:
            self._calls[id] = "pending"
            yield ToolCallStart(
                session_update="tool_call",
                tool_call_id=id,
                title=tool,
                kind=calls.kind_of(tool),
                status="pending",
                field_meta=_meta(parent, tool),
            )

    def _asked_for(self, block: Json, parent: str | None) -> Iterator[Update]:
        """The call's block is closed: from here its input is known."""
        id, tool = str(block.get("id")), str(block.get("name"))
        yield from self._prepared(id, tool, parent)
        given = cast("Json", block["input"]) if isinstance(block.get("input"), dict) else None
        if self._calls.get(id) == "pending" and given is not None:  # one that runs has better words for itself
            yield ToolCallProgress(
                session_update="tool_call_update",
                tool_call_id=id,
                title=calls.title_of(tool, given),
                raw_input=given,
                locations=self.places(given),
            )

    def _started(self, event: Json, parent: str | None) -> Iterator[Update]:
        id, tool = str(event["toolUseId"]), str(event["tool"])
        yield from self._prepared(id, tool, parent)
        if id in self._calls:
            self._calls[id] = "running"
            yield ToolCallProgress(
                session_update="tool_call_update",
                tool_call_id=id,
                title=event["title"] or tool,
                status="in_progress",
                raw_input=event["input"],
                locations=self.places(event["input"]),
                content=self.change(id) or None,
            )

    def _progressed(self, event: Json) -> Iterator[Update]:
        id = str(event["toolUseId"])
        if self._calls.get(id) == "running":
            latest = calls.text(calls.fenced(event["text"]))
            yield ToolCallProgress(session_update="tool_call_update", tool_call_id=id, content=[latest])

    def _finished(self, id: str, content: Sequence[Json], *, is_error: bool) -> Iterator[Update]:
        known = self._calls.get(id) in ("pending", "running")
        change: list[calls.Content] = [] if is_error else self.change(id)
        self._plans.pop(id, None)
        if (terminal := self._terminals.pop(id, None)) is not None:
            change = [terminals.content_of(terminal)]
        if known:
            self._calls[id] = "done"
            yield ToolCallProgress(
                session_update="tool_call_update",
                tool_call_id=id,
                status="failed" if is_error else "completed",
                content=change or calls.result_content(content),
                raw_output=text_of(content)[: calls.SHOWN],
            )

    def _withdrawn(self, event: Json) -> Iterator[Update]:
        """What was shown cannot be unsaid in this protocol, so it is said that it does not count."""
        if event["reason"] == "rewind":
            return
        for id in [id for id, state in self._calls.items() if state != "done"]:
            yield from self._finished(id, [{"type": "text", "text": WITHDRAWN}], is_error=True)
        if self._streamed.intersection(event["blockIds"]) or event["messageIds"]:
            yield thought(WITHDRAWN)
        self._streamed.difference_update(event["blockIds"])


def said(words: str, id: str | None = None) -> AgentMessageChunk:
    chunk = TextContentBlock(type="text", text=words)
    return AgentMessageChunk(session_update="agent_message_chunk", content=chunk, message_id=id)


def thought(words: str, id: str | None = None) -> AgentThoughtChunk:
    chunk = TextContentBlock(type="text", text=words)
    return AgentThoughtChunk(session_update="agent_thought_chunk", content=chunk, message_id=id)


def note(words: str) -> AgentMessageChunk:
    """Assent itself speaks, not the model: set off as a quotation, a paragraph of its own."""
    return said("\n\n> **Assent:** " + words.replace("\n", "\n> ") + "\n\n")


def plan_of(todos: Sequence[Json]) -> AgentPlanUpdate:
    entries = [
        PlanEntry(content=todo["content"], priority="medium", status=_STATUS.get(todo["status"], "pending"))
        for todo in todos
    ]
    return AgentPlanUpdate(session_update="plan", entries=entries)


def info_of(title: str, changed: float) -> SessionInfoUpdate:
    return SessionInfoUpdate(session_update="session_info_update", title=title or None, updated_at=iso(changed))


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def commands_of(commands: Sequence[Json]) -> AvailableCommandsUpdate:
    available = [
        AvailableCommand(
            name=command["name"],
            description=command["description"],
            input=AvailableCommandInput(root=UnstructuredCommandInput(hint=command["argumentHint"]))
            if command.get("argumentHint")
            else None,
        )
        for command in commands
    ]
    return AvailableCommandsUpdate(session_update="available_commands_update", available_commands=available)


def prompted(content: Sequence[Json], id: str) -> Iterator[UserMessageChunk]:
    for block in content:
        chunk: TextContentBlock | ImageContentBlock | None = None
        if block.get("type") == "text" and block.get("text"):
            chunk = TextContentBlock(type="text", text=block["text"])
        elif block.get("type") == "image":
            chunk = calls.picture(block)
        if chunk is not None:
            yield UserMessageChunk(session_update="user_message_chunk", content=chunk, message_id=id)


def _aside(event: Json) -> Iterator[Update]:
    """What goes on beside the conversation."""
    match event["type"]:
        case "notice" if event["level"] == "info":
            yield thought(f"{event['text']}\n")
        case "notice":
            yield note(event["text"])
        case "retrying":
            seconds = event["delayMs"] / 1000
            tries = f"attempt {event['attempt']} of {event['maxAttempts']}"
            yield thought(f"The model cannot be reached ({event['error']}); again in {seconds:.0f} s, {tries}.\n")
        case "compactSoon":
            yield thought(f"{nearly_full(event)}\n")
        case "compacting":
            yield thought("The conversation is being summarised to make room.\n")
        case _:
            return


def _meta(parent: str | None, tool: str) -> Json:
    own: Json = {"tool": tool}
    return {"assent": own if parent is None else {**own, "parentToolUseId": parent}}
