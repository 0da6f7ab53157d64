"""A `ModelRequest` as the bytes the Messages API is sent: a pure function of it, the same bytes every time.

1. The view starts at the last compact boundary.
2. Blocks of one role in a row are one message; in a user message the tool results come first.
3. Nothing the endpoint refuses is sent: empty text, thinking of another model, thinking at the end of a message,
   a call without a result or a result without a call, strings that are not Unicode.
4. Thinking blocks go back as they came.
5. At most four cache marks: end of tools, end of system, the last message, and the user message before it (M6). A
   forked call reads the cache up to where its conversation was and writes nothing: its own end is not marked, and
   none of its messages where they are not those of an earlier request.

`folding` does 1–4 and remembers; this module does the envelope. Inputs are never changed.
"""

from dataclasses import dataclass, replace
from typing import Literal, cast

import orjson

from assent.model.folding import FoldedMessage, MessageFolder, encoded
from assent.types.blocks import Json
from assent.types.ports import ModelInfo, ModelRequest

CONTEXT_EDITS_BETA = "context-management-2025-06-27"
COMPACT_EDIT_BETA = "compact-2026-01-12"
TASK_BUDGET_BETA = "task-budgets-2026-03-13"
THINKING_BINDING_BETA = "thinking-binding-controls-2026-08-01"
FAST_MODE_BETA = "fast-mode-2026-02-01"
LONG_CACHE_BETA = "extended-cache-ttl-2025-04-11"

MIN_THINKING_BUDGET = 1_024
DEFAULT_THINKING_BUDGET = 10_000
THINKING_ROOM = 4_000  # for models that think where they were asked not to


OldThinking = Literal["sent", "droppable", "left_out"]
"""Thinking of earlier answers: sent as it is, sent with leave to drop what no longer fits, or not sent at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions:
    """What settings add to every request."""

    betas: tuple[str, ...] = ()
    cache: Literal["5m", "1h", "off"] = "5m"
    fast: bool = False
    old_thinking: OldThinking = "sent"
    references: bool = False  # the endpoint takes `defer_loading` and references to tools
    plain: bool = False  # nothing that takes a beta


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest:
    model: str
    body: bytes
    betas: tuple[str, ...]
    max_tokens: int
    has_media: bool


class RequestBuilder:
    """Builds requests; what it remembers of earlier ones only saves work and never shows in the bytes."""

    def __init__(self) -> None:
        self._folder = MessageFolder()
        self._head: tuple[ModelRequest, bytes, frozenset[str], bytes] | None = None

    def build(
        self, request: ModelRequest, model: ModelInfo, options: RequestOptions | None = None, *, cap: int | None = None
    ) -> ApiRequest:
        """`cap` lowers max_tokens after the endpoint said how much room there is."""
        options = options or RequestOptions()
        names = frozenset(str(tool.get("name")) for tool in request.tools) if options.references else frozenset[str]()
        turns = self._folder.fold(request, thinking=options.old_thinking != "left_out", references=names)
        thinking, max_tokens = _thinking(request, model, turns, cap)
        if options.old_thinking == "droppable" and thinking is not None and thinking["type"] == "adaptive":
            thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
        betas = set(options.betas)
        rest: Json = {"max_tokens": max_tokens, "stream": True}
        if thinking is not None:
            rest["thinking"] = thinking
            if "block_binding" in thinking:
                betas.add(THINKING_BINDING_BETA)
        if (choice := _tool_choice(request, model, thinking)) is not None:
            rest["tool_choice"] = choice
        if request.temperature is not None and model.accepts_temperature and not _thinks(thinking):
            rest["temperature"] = request.temperature
        if output := _output_config(request, model, plain=options.plain):
            rest["output_config"] = output
            if "task_budget" in output:
                betas.add(TASK_BUDGET_BETA)
        if request.context_edits and not options.plain:
            rest["context_management"] = {"edits": list(request.context_edits)}
            betas.add(CONTEXT_EDITS_BETA)
            if any(str(edit.get("type", "")).startswith("compact_") for edit in request.context_edits):
                betas.add(COMPACT_EDIT_BETA)
        if options.fast and model.accepts_fast_mode and not options.plain:
            rest["speed"] = "fast"
            betas.add(FAST_MODE_BETA)
        if options.cache == "1h" and not options.plain:
            betas.add(LONG_CACHE_BETA)
        return ApiRequest(
            model=request.model,
            body=self._body(request, turns, rest, _mark(options)),
            betas=() if options.plain else tuple(sorted(betas)),
            max_tokens=max_tokens,
            has_media=bool(turns) and turns[-1].has_media,
        )

    def _body(self, request: ModelRequest, turns: list[FoldedMessage], rest: Json, mark: bytes) -> bytes:
        """Prefix first (model, tools, system, messages), then what may change from call to call."""
        if request.forked and len(turns) == 1:
            mark = b""  # it begins a conversation that nobody goes on with
        messages = _messages(turns, b"" if request.unshared else mark, forked=request.forked)
        # Head and tail join the first and last message, so that a long conversation is copied once and not twice.
        # What a search loaded is named where that happened: its definition stays out of the cached prefix.
        deferred = frozenset(name for turn in turns for name in turn.references)
        messages[0] = self._head_of(request, mark, deferred) + messages[0]
        messages[-1] = b"".join([messages[-1], b"],", orjson.dumps(rest)[1:]])
        return b",".join(messages)

    def _head_of(self, request: ModelRequest, mark: bytes, deferred: frozenset[str]) -> bytes:
        """Everything before the first message; the same for all calls of a turn, and worth remembering."""
        if self._head is not None:
            old, with_mark, without, head = self._head
            if (
                (old.model, with_mark, without) == (request.model, mark, deferred)
                and old.tools is request.tools
                and old.system == request.system
            ):
                return head
        head = _head(request, mark, deferred)
        self._head = (replace(request, messages=()), mark, deferred, head)
        return head


def build(
    request: ModelRequest, model: ModelInfo, options: RequestOptions | None = None, *, cap: int | None = None
) -> ApiRequest:
    return RequestBuilder().build(request, model, options, cap=cap)


def _head(request: ModelRequest, mark: bytes, deferred: frozenset[str]) -> bytes:
    parts = [b'{"model":', orjson.dumps(request.model)]
    if request.tools:
        defined = [{**tool, "defer_loading": True} if tool.get("name") in deferred else tool for tool in request.tools]
        tools = [encoded(tool) for tool in defined]
        last = max((at for at, tool in enumerate(defined) if not tool.get("defer_loading")), default=-1)
        if last >= 0:
            tools[last] = _marked(tools[last], mark)
        parts += [b',"tools":[', b",".join(tools), b"]"]
    layers = [layer for layer in request.system if layer.strip()]
    if layers:
        system = [encoded({"type": "text", "text": layer}) for layer in layers]
        system[-1] = _marked(system[-1], mark)
        parts += [b',"system":[', b",".join(system), b"]"]
    return b"".join([*parts, b',"messages":['])


def _messages(turns: list[FoldedMessage], mark: bytes, *, forked: bool) -> list[bytes]:
    out = [turn.whole for turn in turns] or [b""]
    if not turns or not mark:
        return out
    last = len(turns) - 1
    # The one before the last message of the same author is where the previous request put its last mark: a hit there
    # is certain, however many blocks a batch of tools has put in between.
    before = next((at for at in range(last - 1, -1, -1) if turns[at].role == "user"), None)
    for at in (None if forked else last, before):
        if at is not None:
            out[at] = turns[at].marked(mark)
    return out


def _mark(options: RequestOptions) -> bytes:
    match options.cache:
        case "5m":
            return b',"cache_control":{"type":"ephemeral"}}'
        case "1h":
            return b',"cache_control":{"type":"ephemeral","ttl":"1h"}}'
        case "off":
            return b""


def _marked(block: bytes, mark: bytes) -> bytes:
    return block[:-1] + mark if mark else block


def _thinking(
    request: ModelRequest, model: ModelInfo, turns: list[FoldedMessage], cap: int | None
) -> tuple[Json | None, int]:
    """The thinking config in the form this model takes, and max_tokens with room for it."""
    asked = request.max_tokens or model.default_max_tokens
    limit = min(model.max_output_tokens, cap or model.max_output_tokens)
    max_tokens = max(1, min(asked, limit))
    wanted = request.thinking
    if not model.accepts_thinking:
        return None, max_tokens
    if wanted is None:
        # Models that always think tell nothing of it unless asked, and a person who waits wants to see something.
        config: Json | None = {"type": "adaptive", "display": "summarized"} if model.binds_thinking else None
    else:
        config = _as_taken(wanted, model)
    if config is None:
        return None, max_tokens
    if wanted is not None and wanted.get("type") == "disabled" and _thinks(config):
        # It cannot stop thinking, and what it thinks counts: a short answer would be used up before its first word.
        return config, min(limit, max_tokens + THINKING_ROOM)
    if config["type"] == "enabled":
        budget = max(MIN_THINKING_BUDGET, int(config.get("budget_tokens") or DEFAULT_THINKING_BUDGET))
        if request.max_tokens is None:
            max_tokens = min(limit, max(max_tokens, budget + model.default_max_tokens))
        budget = min(budget, max_tokens - 1)
        # In this mode an answer that called tools must have begun with thinking, or it cannot be continued.
        if budget < MIN_THINKING_BUDGET or any(turn.unthought for turn in turns[-2:]):
            return None, max_tokens
        return {**config, "budget_tokens": budget}, max_tokens
    return config, max_tokens


def _as_taken(wanted: Json, model: ModelInfo) -> Json | None:
    kind = str(wanted.get("type"))
    modes = model.thinking_modes
    if kind in modes:
        return dict(wanted)
    if kind in ("enabled", "adaptive", "between_tools"):
        display = {"display": wanted["display"]} if "display" in wanted else {}
        if "adaptive" in modes:
            return {"type": "adaptive", **display}
        return {"type": "enabled", "budget_tokens": DEFAULT_THINKING_BUDGET} if "enabled" in modes else None
    if kind == "disabled":
        # A model that cannot stop thinking is asked for the least it can do.
        return {"type": "between_tools"} if "between_tools" in modes else {"type": "adaptive"}
    return dict(wanted)


def _thinks(thinking: Json | None) -> bool:
    return thinking is not None and thinking["type"] != "disabled"


def _tool_choice(request: ModelRequest, model: ModelInfo, thinking: Json | None) -> Json | None:
    choice = request.tool_choice
    if choice is None or not request.tools:
        return None
    if choice.get("type") in ("any", "tool") and (not model.accepts_forced_tools or _thinks(thinking)):
        kept = {key: choice[key] for key in ("disable_parallel_tool_use",) if key in choice}
        return {"type": "auto", **kept}
    return dict(choice)


def _output_config(request: ModelRequest, model: ModelInfo, *, plain: bool) -> Json:
    config: Json = {}
    if request.effort is not None and model.accepts_effort:
        config["effort"] = request.effort
    if request.task_budget_remaining is not None and not plain:
        remaining = max(0, request.task_budget_remaining)
        total = request.task_budget_total or remaining
        config["task_budget"] = {"type": "tokens", "total": max(total, remaining), "remaining": remaining}
    return config


def decoded(request: ApiRequest) -> Json:
    """The body as an object, for providers whose SDK client rewrites it."""
    return cast("Json", orjson.loads(request.body))
