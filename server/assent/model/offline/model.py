"""The offline model: deterministic, embedded, and open about what it is. Same interface as a real one.

It looks at the conversation, works out the next step of what was asked, and streams it. All it does to the project
goes through the tools, and so through the permission chain, like anything a real model does.
"""

import hashlib
from collections.abc import AsyncGenerator, Callable
from typing import Any, cast

from assent.model.offline import offline_summaries, streaming, structured
from assent.model.offline.offline_history import OfflineHistory, read_history
from assent.model.offline.phrases import understand
from assent.model.offline.plans import PlannedCall, carry_out
from assent.types.blocks import Json, text_block
from assent.types.ids import new_id
from assent.types.messages import AssistantMessage
from assent.types.ports import CallModel, ModelEvent, ModelRequest

HELLO = "(I am Assent's offline stand-in, not a language model: I follow a few fixed phrases.)"
NOTHING_MORE = "I have nothing more to do."


def make_call_model(*, pace: float = 0.0, ids: Callable[[], str] = new_id) -> CallModel:
    """`pace`: seconds between pieces of text, so that a person sees it being written."""

    def call(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        return streaming.stream(answer(request), request, message_id=_message_id(request), ids=ids, pace=pace)

    return call


def answer(request: ModelRequest) -> list[Json]:
    """The content blocks of the next answer: a pure function of the conversation."""
    history = read_history(request.messages)
    match request.source:
        case "main" | "subagent":
            return _next(history, request)
        case "compact":
            return [text_block(offline_summaries.of_conversation(history))]
        case "collapse":
            return [text_block(offline_summaries.of_stretch(history.prompt))]
        case "title":
            return [text_block(offline_summaries.title(history))]
        case "summary":
            return [text_block(offline_summaries.of_calls(history.prompt))]
        case "classifier":
            return [text_block("ask")]  # judging what is safe is not for a program that follows phrases
        case "hook":
            return [text_block(NOTHING_MORE)]
        case "suggestion" | "memory" | "dream":
            return [text_block("NONE")]


def _next(history: OfflineHistory, request: ModelRequest) -> list[Json]:
    tools = {str(tool.get("name")): tool for tool in request.tools}
    if history.nudged:
        return _finished(NOTHING_MORE, history, tools)
    plan = carry_out(understand(history.prompt), history, frozenset(tools))
    try:
        call = next(plan)
        for exchange in history.exchanges:
            call = plan.send(exchange)
    except StopIteration as done:
        return _finished(cast("str", done.value), history, tools)
    if call.tool not in tools:
        return _finished(f"I would need the tool {call.tool} for that, and it is not available here.", history, tools)
    return _calling(call, history, request)


def _calling(call: PlannedCall, history: OfflineHistory, request: ModelRequest) -> list[Json]:
    said = f"{HELLO}\n\n{call.say}".strip() if history.first else call.say
    number = sum(isinstance(each, AssistantMessage) for each in request.messages)
    use: Json = {"type": "tool_use", "id": _tool_id(request, number), "name": call.tool, "input": call.input}
    return [text_block(said), use] if said else [use]


def _finished(words: str, history: OfflineHistory, tools: dict[str, Any]) -> list[Json]:
    if "StructuredOutput" in tools and not any(each.tool == "StructuredOutput" for each in history.exchanges):
        schema = cast("Json", tools["StructuredOutput"].get("input_schema") or {})
        made = structured.instance(schema, words)
        id = f"toolu_off{hashlib.sha256(words.encode('utf-8', 'replace')).hexdigest()[:12]}"
        return [{"type": "tool_use", "id": id, "name": "StructuredOutput", "input": made}]
    said = words or NOTHING_MORE
    return [text_block(f"{HELLO}\n\n{said}" if history.first else said)]


def _tool_id(request: ModelRequest, number: int) -> str:
    return f"toolu_off{_digest(request)}{number:03d}"


def _message_id(request: ModelRequest) -> str:
    return f"msg_off{_digest(request)}{len(request.messages):04d}"


def _digest(request: ModelRequest) -> str:
    """Different for every place in every conversation, the same when a call is made again."""
    seen = "|".join(str(getattr(message, "uuid", "")) for message in request.messages)
    return hashlib.sha256(seen.encode("utf-8", "replace")).hexdigest()[:12]
