"""What the endpoint refuses in the messages: roles, empty content, calls and results that do not pair, thinking."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import cast

from fakeapi.body import Json, Refused, blocks_of, field, items, merged
from fakeapi.models import Limits
from fakeapi.signing import Prefix, check

MAX_IMAGE_BYTES = 5 * 1024 * 1024
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_THINKING = ("thinking", "redacted_thinking")


def check_messages(body: Json, limits: Limits, paused: frozenset[str]) -> None:
    messages = items(body, "messages")
    _check_roles(messages, limits, paused)
    for at, message in enumerate(messages):
        _check_content(at, message)
    turns = merged(messages)
    _check_pairs(turns)
    for at, turn in enumerate(turns):
        if turn["role"] == "assistant" and turn["content"][-1]["type"] in _THINKING:
            raise Refused(f"messages.{at}: The final block in an assistant message cannot be `thinking`.")
    if field(body, "thinking").get("type") == "enabled":
        _check_begins_thinking(turns)
    _check_thinking_blocks(body, limits)


def _check_begins_thinking(turns: list[Json]) -> None:
    """With a thinking budget, an answer in the middle of calling tools must begin with its thinking."""
    for at, turn in list(enumerate(turns))[-2:]:
        blocks = cast("list[Json]", turn["content"])
        calls = any(each["type"] == "tool_use" for each in blocks)
        if turn["role"] == "assistant" and calls and blocks[0]["type"] not in _THINKING:
            raise Refused(
                f"messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
                f"`{blocks[0]['type']}`. When `thinking` is enabled, a final `assistant` message must start with a "
                "thinking block."
            )


def answer_digest(blocks: list[Json]) -> str:
    prefix = Prefix()
    for each in blocks:
        prefix.add("assistant", each)
    return prefix.digest


def _check_roles(messages: list[Json], limits: Limits, paused: frozenset[str]) -> None:
    if not messages:
        raise Refused("messages: at least one message is required")
    if messages[0]["role"] != "user":
        raise Refused('messages: first message must use the "user" role')
    last = messages[-1]
    if last["role"] == "assistant" and answer_digest(blocks_of(last)) not in paused:
        if not limits.prefill:
            raise Refused(
                "This model does not support assistant message prefill. The conversation must end with a user message."
            )
        final = blocks_of(last)[-1]
        if final["type"] == "text" and final["text"] != final["text"].rstrip():
            raise Refused("messages: final assistant content cannot end with trailing whitespace")


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


def _check_thinking_blocks(body: Json, limits: Limits) -> None:
    prefix = Prefix()
    binding = field(field(body, "thinking"), "block_binding")
    dropping = binding.get("prefix_mismatch_behavior") == "drop_block"
    for at, message in enumerate(items(body, "messages")):
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
