"""Conversation messages in one word each, for tests that build a history by hand."""

from __future__ import annotations

import itertools
from typing import Any

from assent.types.blocks import Json, text_block, tool_result_block
from assent.types.messages import AssistantMessage, UserMessage

_numbers = itertools.count(1)


def user(*content: str | Json, meta: bool = False) -> UserMessage:
    blocks = tuple(text_block(each) if isinstance(each, str) else each for each in content)
    return UserMessage(uuid=f"u{next(_numbers)}", content=blocks, is_meta=meta)


def said(*content: str | Json, id: str = "msg_1", model: str = "claude-opus-5-5") -> AssistantMessage:
    blocks = tuple(text_block(each) if isinstance(each, str) else each for each in content)
    return AssistantMessage(uuid=f"a{next(_numbers)}", message_id=id, content=blocks, model=model)


def use(name: str, id: str, **input: Any) -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def result(id: str, content: str | list[Json] = "ok", *, error: bool = False) -> Json:
    return tool_result_block(id, content, is_error=error)
