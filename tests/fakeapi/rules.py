"""What the endpoint refuses, rule by rule. `refuse` gives the error it would answer, or None.

Rules here are about the request alone; authentication and what the script wants are the server's business.
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from fakeapi.caching import prefix_segments
from fakeapi.models import Limits
from fakeapi.script import Failure, Json, failure
from fakeapi.shapes import Misfit, fit
from fakeapi.signing import Prefix, check

MAX_MARKS = 4
MAX_IMAGE_BYTES = 5 * 1024 * 1024
MAX_BODY_BYTES = 32 * 1024 * 1024
HEADER_FIELDS = frozenset({"betas", "user_profile_id", "workspace_id"})
NEEDS_BETA: dict[str, str] = {
    "context_management": "context-management-2025-06-27",
    "compaction": "compact-2026-09-04",
    "mcp_servers": "mcp-client-2025-11-20",
}
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ID = re.compile(r"[a-zA-Z0-9_-]+")


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


class Refused(Exception):
    pass


def _check(body: Json, betas: tuple[str, ...], known: Known) -> None:
    _check_betas(body, betas)
    _check_shape(body, betas, known.blocks)
    _check_limits(body, known.limits)
    _check_thinking_config(body, known.limits)
    _check_tools(body, known.limits)
    _check_system(body)
    messages = cast("list[Json]", body["messages"])
    _check_roles(messages, known)
    for at, message in enumerate(messages):
        _check_content(at, message)
    _check_pairs(merged(messages))
    _check_marks(body)
    _check_thinking_blocks(body, known.limits)


def merged(messages: list[Json]) -> list[Json]:
    """Consecutive turns of one role are one turn to the endpoint."""
    out: list[Json] = []
    for message in messages:
        blocks = blocks_of(message)
        if out and out[-1]["role"] == message["role"]:
            out[-1]["content"].extend(blocks)
        else:
            out.append({"role": message["role"], "content": list(blocks)})
    return out


def blocks_of(message: Json) -> list[Json]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else cast("list[Json]", content)


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
    for field, beta in NEEDS_BETA.items():
        if body.get(field) is not None and beta not in betas:
            raise Refused(f"{field}: Extra inputs are not permitted")
    if (body.get("output_config") or {}).get("task_budget") and "task-budgets-2026-03-13" not in betas:
        raise Refused("output_config.task_budget: Extra inputs are not permitted")
    if (body.get("thinking") or {}).get("block_binding") and "thinking-binding-controls-2026-08-01" not in betas:
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
    if kind in ("enabled", "adaptive") and (body.get("tool_choice") or {}).get("type") in ("any", "tool"):
        raise Refused("Thinking may not be enabled when tool_choice forces tool use.")


def _check_tools(body: Json, limits: Limits) -> None:
    tools = cast("list[Json]", body.get("tools") or [])
    names = [str(each.get("name")) for each in tools if "name" in each]
    for at, each in enumerate(tools):
        if each.get("type") in (None, "custom"):
            if not _NAME.fullmatch(str(each["name"])):
                raise Refused(f"tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
            _check_schema(at, cast("Json", each["input_schema"]))
    if len(set(names)) != len(names):
        raise Refused("tools: Tool names must be unique.")
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
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    if schema.get("type") != "object":
        raise Refused(f"tools.{at}.custom.input_schema.type: Input should be 'object'")
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as problem:
        raise Refused(f"tools.{at}.custom.input_schema: JSON schema is invalid: {problem.message}") from None


def _check_system(body: Json) -> None:
    system = body.get("system")
    for each in cast("list[Json]", system if isinstance(system, list) else []):
        if not each["text"]:
            raise Refused("system: text content blocks must be non-empty")


def _check_roles(messages: list[Json], known: Known) -> None:
    if not messages:
        raise Refused("messages: at least one message is required")
    if messages[0]["role"] != "user":
        raise Refused('messages: first message must use the "user" role')
    last = messages[-1]
    if last["role"] == "assistant" and answer_digest(blocks_of(last)) not in known.paused:
        if not known.limits.prefill:
            raise Refused(
                "This model does not support assistant message prefill. The conversation must end with a user message."
            )
        final = blocks_of(last)[-1]
        if final["type"] == "text" and final["text"] != final["text"].rstrip():
            raise Refused("messages: final assistant content cannot end with trailing whitespace")


def answer_digest(blocks: list[Json]) -> str:
    prefix = Prefix()
    for each in blocks:
        prefix.add("assistant", each)
    return prefix.digest


def _check_content(at: int, message: Json) -> None:
    blocks = blocks_of(message)
    if not blocks or (isinstance(message["content"], str) and not message["content"]):
        raise Refused(f"messages.{at}: all messages must have non-empty content")
    for number, each in enumerate(blocks):
        where = f"messages.{at}.content.{number}"
        for inner in _with_inner(each):
            if inner.get("type") == "text":
                if not inner["text"]:
                    raise Refused("messages: text content blocks must be non-empty")
                if not inner["text"].strip():
                    raise Refused("messages: text content blocks must contain non-whitespace text")
            if inner.get("type") == "image":
                _check_image(where, inner)
        _check_place(where, message["role"], each)


def _check_place(where: str, role: str, each: Json) -> None:
    kind = each["type"]
    if role == "user" and kind in ("tool_use", "thinking", "redacted_thinking"):
        raise Refused(f"{where}: `{kind}` blocks can only be in `assistant` messages")
    if role == "assistant" and kind in ("tool_result", "image", "document"):
        raise Refused(f"{where}: `{kind}` blocks can only be in `user` messages")
    if role == "user" and kind == "text" and each.get("citations"):
        raise Refused(f"{where}: `citations` are not permitted on text blocks in user messages")
    if kind in ("tool_use", "tool_result"):
        id = str(each["id" if kind == "tool_use" else "tool_use_id"])
        if not _ID.fullmatch(id):
            raise Refused(f"{where}.{kind}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")


def _with_inner(each: Json) -> Iterator[Json]:
    yield each
    if each.get("type") == "tool_result" and isinstance(each.get("content"), list):
        yield from cast("list[Json]", each["content"])


def _check_image(where: str, each: Json) -> None:
    source = cast("Json", each["source"])
    if source["type"] != "base64":
        return
    try:
        size = len(base64.b64decode(source["data"], validate=True))
    except (binascii.Error, ValueError):
        raise Refused(f"{where}.image.source.base64.data: invalid base64 data") from None
    if size > MAX_IMAGE_BYTES:
        raise Refused(
            f"{where}.image.source.base64: image exceeds 5 MB maximum: {size} bytes > {MAX_IMAGE_BYTES} bytes"
        )


def _check_pairs(turns: list[Json]) -> None:
    seen: set[str] = set()
    for at, turn in enumerate(turns):
        blocks = cast("list[Json]", turn["content"])
        if turn["role"] == "assistant":
            ids = [str(each["id"]) for each in blocks if each["type"] == "tool_use"]
            if len(set(ids)) != len(ids) or seen & set(ids):
                raise Refused(f"messages.{at}: `tool_use` ids must be unique")
            seen.update(ids)
            answered = _leading_results(turns[at + 1]) if at + 1 < len(turns) else []
            missing = [id for id in ids if id not in answered]
            if missing:
                raise Refused(
                    f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                    f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in "
                    "the next message."
                )
            continue
        asked = [
            str(each["id"])
            for each in cast("list[Json]", turns[at - 1]["content"] if at else [])
            if each["type"] == "tool_use"
        ]
        given = [str(each["tool_use_id"]) for each in blocks if each["type"] == "tool_result"]
        for id in given:
            if id not in asked:
                raise Refused(
                    f"messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` "
                    "block must have a corresponding `tool_use` block in the previous message."
                )
            if given.count(id) > 1:
                raise Refused(
                    f"messages.{at}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
                )


def _leading_results(turn: Json) -> list[str]:
    ids: list[str] = []
    for each in cast("list[Json]", turn["content"]):
        if each["type"] != "tool_result":
            break
        ids.append(str(each["tool_use_id"]))
    return ids


def _check_marks(body: Json) -> None:
    marked: list[Json] = [each for each in cast("list[Json]", body.get("tools") or []) if each.get("cache_control")]
    system = body.get("system")
    marked += [
        each for each in cast("list[Json]", system if isinstance(system, list) else []) if each.get("cache_control")
    ]
    for message in cast("list[Json]", body["messages"]):
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


def _check_thinking_blocks(body: Json, limits: Limits) -> None:
    prefix = Prefix()
    binding = cast("Json", (body.get("thinking") or {}).get("block_binding") or {})
    dropping = binding.get("prefix_mismatch_behavior") == "drop_block"
    for at, message in enumerate(cast("list[Json]", body["messages"])):
        for number, each in enumerate(blocks_of(message)):
            where = f"messages.{at}.content.{number}"
            if each["type"] == "redacted_thinking" and not str(each["data"]).startswith("redacted:"):
                raise Refused(f"{where}: Invalid `data` in `redacted_thinking` block")
            if each["type"] == "thinking":
                wrong = check(each, model=body["model"], prefix=prefix)
                if wrong in ("altered", "model"):
                    raise Refused(f"{where}: Invalid `signature` in `thinking` block")
                if wrong == "prefix" and limits.bound_thinking and not dropping:
                    raise Refused(
                        f"{where}: Invalid `signature` in `thinking` block. The block is bound to a different "
                        "conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` "
                        'to "drop_block".'
                    )
            prefix.add(message["role"], each)
