"""Prompts as a program may write them: text, content blocks, or a whole user message; one, or many as they come."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from typing import Any, cast

from assent.types.blocks import Block
from assent.types.messages import UserMessage

Prompt = str | Sequence[Block] | UserMessage | Mapping[str, Any]
"""Text, content blocks, an `assent.types.UserMessage`, or a mapping such as `{"role": "user", "content": "…"}`."""


def wire(prompt: Prompt) -> str | list[Block]:
    """The prompt as a session takes it. Raises TypeError for what is none."""
    given: Any = prompt
    if isinstance(given, UserMessage):
        given = given.content
    elif isinstance(given, Mapping):
        message = cast("Mapping[str, Any]", given)
        inner: Any = message.get("message", message)
        said: Mapping[str, Any] = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else {}
        if (message.get("type", "user"), said.get("role", "user")) != ("user", "user"):
            raise TypeError("a prompt is what the user says: its role is user")
        given = said.get("content")
    if isinstance(given, str):
        return given
    if isinstance(given, Sequence) and all(isinstance(each, Mapping) for each in cast("Sequence[Any]", given)):
        return list(cast("Sequence[Block]", given))
    raise TypeError(
        "a prompt is text, a list of content blocks, a UserMessage or a mapping with `content`;"
        f" this is {type(prompt).__name__}"
    )


async def prompts_of(given: Prompt | AsyncIterable[Prompt]) -> AsyncGenerator[Prompt, None]:
    """One prompt, or many as they come."""
    if isinstance(given, AsyncIterable):
        async for each in given:
            yield each
    else:
        yield given
