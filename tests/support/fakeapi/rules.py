"""What the endpoint refuses in the envelope of a request; `conversation` has the rules about messages.

`refuse` gives the error it would answer, or None. Authentication and the script are the server's business.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

import orjson

from fakeapi.body import Json, Refused, blocks_of, field, items
from fakeapi.caching import prefix_segments
from fakeapi.conversation import check_messages
from fakeapi.models import Limits
from fakeapi.script import Failure, failure
from fakeapi.shapes import Misfit, fit

MAX_MARKS = 4
MAX_BODY_BYTES = 32 * 1024 * 1024
HEADER_FIELDS = frozenset({"betas", "user_profile_id", "workspace_id"})
NEEDS_BETA: dict[str, str] = {
    "context_management": "context-management-2025-06-27",
    "compaction": "compact-2026-09-04",
    "mcp_servers": "mcp-client-2025-11-20",
}
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the endpoint remembers of its own answers."""

    limits: Limits
    blocks: frozenset[str] = frozenset()  # unknown kinds it sent itself, and so takes back
    paused: frozenset[str] = frozenset()  # digests of answers that ended in pause_turn


def refuse(body: Json, headers: Mapping[str, str], known: Known) -> Failure | None:
    try:
        _check(body, _betas(headers), known)
    except (Misfit, Refused) as problem:
        return failure(400, str(problem))
    return None


def _check(body: Json, betas: tuple[str, ...], known: Known) -> None:
    _check_betas(body, betas)
    _check_shape(body, betas, known.blocks)
    _check_limits(body, known.limits)
    _check_thinking_config(body, known.limits)
    _check_tools(body, known.limits)
    for each in items(body, "system"):
        if not each["text"]:
            raise Refused("system: text content blocks must be non-empty")
    check_messages(body, known.limits, known.paused)
    _check_marks(body)


@functools.cache
def known_betas() -> frozenset[str]:
    from anthropic.types.anthropic_beta_param import AnthropicBetaParam

    names = {name for each in get_args(AnthropicBetaParam) for name in get_args(each)}
    return frozenset(names) | {"oauth-2025-04-20"}


@functools.cache
def _request_type(*, beta: bool) -> Any:
    if beta:
        from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming as Beta

        return Beta
    from anthropic.types.message_create_params import MessageCreateParamsStreaming as Plain

    return Plain


def _betas(headers: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(each.strip() for each in headers.get("anthropic-beta", "").split(",") if each.strip())


def _check_betas(body: Json, betas: tuple[str, ...]) -> None:
    unknown = [each for each in betas if each not in known_betas()]
    if unknown:
        names = ", ".join(f"`{each}`" for each in unknown)
        raise Refused(f"Unexpected value(s) {names} for the `anthropic-beta` header.")
    for name, beta in NEEDS_BETA.items():
        if body.get(name) is not None and beta not in betas:
            raise Refused(f"{name}: Extra inputs are not permitted")
    if field(body, "output_config").get("task_budget") and "task-budgets-2026-03-13" not in betas:
        raise Refused("output_config.task_budget: Extra inputs are not permitted")
    if field(body, "thinking").get("block_binding") and "thinking-binding-controls-2026-08-01" not in betas:
        raise Refused("thinking.adaptive.block_binding: Extra inputs are not permitted")


def _check_shape(body: Json, betas: tuple[str, ...], own: frozenset[str]) -> None:
    for name in HEADER_FIELDS & body.keys():
        raise Refused(f"{name}: Extra inputs are not permitted")
    fit({**body, "stream": True}, _request_type(beta=bool(betas)), "", allow_blocks=own)
    if not isinstance(body.get("stream", False), bool):
        raise Refused("stream: Input should be a valid boolean")


def _check_limits(body: Json, limits: Limits) -> None:
    asked = body["max_tokens"]
    if asked < 0:
        raise Refused("max_tokens: Input should be greater than or equal to 0")
    if asked > limits.max_output:
        raise Refused(
            f"max_tokens: {asked} > {limits.max_output}, which is the maximum allowed number of output tokens for {body['model']}"
        )
    segments = prefix_segments(body)
    size = segments[-1].end if segments else 0
    if size > limits.window:
        raise Refused(f"prompt is too long: {size} tokens > {limits.window} maximum")


def _check_thinking_config(body: Json, limits: Limits) -> None:
    config = cast("Json | None", body.get("thinking"))
    if config is None:
        return
    kind = str(config["type"])
    if kind not in limits.thinking:
        raise Refused(
            f'"thinking.type.{kind}" is not supported for this model. Use "thinking.type.adaptive" and '
            '"output_config.effort" to control thinking behavior.'
        )
    if kind == "enabled":
        budget = cast("int", config["budget_tokens"])
        if budget < 1024:
            raise Refused("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
        if budget >= body["max_tokens"]:
            raise Refused("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if kind in ("enabled", "adaptive") and field(body, "tool_choice").get("type") in ("any", "tool"):
        raise Refused("Thinking may not be enabled when tool_choice forces tool use.")


def _check_tools(body: Json, limits: Limits) -> None:
    tools = items(body, "tools")
    names = [str(each.get("name")) for each in tools if "name" in each]
    for at, each in enumerate(tools):
        if each.get("type") in (None, "custom"):
            if not _NAME.fullmatch(str(each["name"])):
                raise Refused(f"tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
            _check_schema(at, cast("Json", each["input_schema"]))
    if len(set(names)) != len(names):
        raise Refused("tools: Tool names must be unique.")
    deferred = {str(each.get("name")) for each in tools if each.get("defer_loading")}
    if tools and len(deferred) == len(tools):
        raise Refused("tools: At least one tool must have defer_loading=false.")
    for block in (block for message in items(body, "messages") for block in blocks_of(message)):
        for each in items(block, "content") if isinstance(block.get("content"), list) else []:
            if each.get("type") == "tool_reference" and each["tool_name"] not in deferred:
                raise Refused(f"Tool reference '{each['tool_name']}' not found in available tools")
    choice = cast("Json | None", body.get("tool_choice"))
    if choice is None:
        return
    if not tools:
        raise Refused("tool_choice: tool_choice may only be specified while providing tools.")
    if choice["type"] in ("any", "tool") and not limits.forced_tools:
        raise Refused(f'tool_choice: "tool_choice.type.{choice["type"]}" is not supported for this model.')
    if choice["type"] == "tool" and choice["name"] not in names:
        raise Refused(f"tool_choice: Tool '{choice['name']}' not found in provided tools")


def _check_schema(at: int, schema: Json) -> None:
    if schema.get("type") != "object":
        raise Refused(f"tools.{at}.custom.input_schema.type: Input should be 'object'")
    if problem := _schema_problem(orjson.dumps(schema)):
        raise Refused(f"tools.{at}.custom.input_schema: JSON schema is invalid: {problem}")


@functools.lru_cache(maxsize=1_000)
def _schema_problem(schema: bytes) -> str:
    """Every call brings the same tools: looked at once, for this took most of the time of an answer."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(orjson.loads(schema))
    except SchemaError as problem:
        return problem.message or "not a schema"
    return ""


def _check_marks(body: Json) -> None:
    marked = [each for each in [*items(body, "tools"), *items(body, "system")] if each.get("cache_control")]
    for message in items(body, "messages"):
        for each in blocks_of(message):
            if each.get("cache_control"):
                if each["type"] in ("thinking", "redacted_thinking"):
                    raise Refused(f"messages: cache_control cannot be set for `{each['type']}` blocks")
                marked.append(each)
    if len(marked) > MAX_MARKS:
        raise Refused(f"A maximum of {MAX_MARKS} blocks with cache_control may be provided. Found {len(marked)}.")
    lives = [each["cache_control"].get("ttl", "5m") for each in marked]
    if "1h" in lives and "5m" in lives[: len(lives) - lives[::-1].index("1h")]:
        raise Refused("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.")
