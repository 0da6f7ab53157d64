"""What the offline model reads of a conversation: the last prompt, and what its tools have answered since.

It keeps no state between calls; everything it knows is in the messages, as it would be for a real model.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from assent.text.attached import own_words
from assent.types.blocks import Block, text_of
from assent.types.messages import AssistantMessage, Attachment, CompactBoundary, ConversationMessage, UserMessage


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call and its answer."""

    tool: str
    input: dict[str, Any]
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineHistory:
    prompt: str
    exchanges: tuple[Exchange, ...]  # since the prompt
    earlier: tuple[Exchange, ...]  # before it
    first: bool  # nothing was answered before
    nudged: bool  # the last word is a hidden one, after an answer that was already complete
    prompts: tuple[str, ...]
    shown: tuple[tuple[str, str], ...]  # files and what was shown of them, by reading or because the user named them
    summary: str = ""

    def known_text(self, path: str) -> str | None:
        """What was read of a file before, for when reading again only says that it is unchanged."""
        for shown, text in reversed(self.shown):
            if shown == path and (lines := unnumbered(text)) is not None:
                return lines
        return None


def read_history(messages: Sequence[ConversationMessage]) -> OfflineHistory:
    prompts: list[str] = []
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    exchanges: list[Exchange] = []
    shown: list[tuple[str, str]] = []
    since = 0
    answered = False
    nudged = False
    summary = ""
    for message in messages:
        match message:
            case CompactBoundary():
                summary, answered = message.summary, True
            case AssistantMessage():
                answered = True
                nudged = False
                for block in message.content:
                    if block.get("type") == "tool_use":
                        given: object = block.get("input")
                        calls[str(block.get("id"))] = (
                            str(block.get("name")),
                            cast("dict[str, Any]", given) if isinstance(given, dict) else {},
                        )
            case UserMessage() | Attachment():
                answers = _answers(message.content, calls)
                exchanges += answers
                shown += [(str(each.input.get("file_path")), each.text) for each in answers if _was_read(each)]
                if isinstance(message, Attachment) and message.kind == "file":
                    shown.append((str(message.data.get("path")), text_of(message.content)))
                words = _words(message)
                if words and _is_prompt(message):
                    prompts.append(words)
                    since = len(exchanges)
                    nudged = False
                elif words and not any(block.get("type") == "tool_result" for block in message.content):
                    nudged = isinstance(message, UserMessage)
    return OfflineHistory(
        prompt=prompts[-1] if prompts else "",
        exchanges=tuple(exchanges[since:]),
        earlier=tuple(exchanges[:since]),
        first=not answered,
        nudged=nudged,
        prompts=tuple(prompts),
        shown=tuple(shown),
        summary=summary,
    )


def unnumbered(text: str) -> str | None:
    """The text of a Read result without its line numbers; None when it shows no lines."""
    lines = [found.group(1) for line in text.split("\n") if (found := re.match(r"\s*\d+[→\t](.*)$", line))]
    return "\n".join(lines) if lines else None


def _was_read(exchange: Exchange) -> bool:
    return exchange.tool == "Read" and not exchange.is_error


def _is_prompt(message: UserMessage | Attachment) -> bool:
    if isinstance(message, Attachment):
        return message.kind == "queued_message"
    return not message.is_meta and not any(block.get("type") == "tool_result" for block in message.content)


def _words(message: UserMessage | Attachment) -> str:
    return own_words([block for block in message.content if block.get("type") == "text"]).strip()


def _answers(blocks: Sequence[Block], calls: dict[str, tuple[str, dict[str, Any]]]) -> list[Exchange]:
    found: list[Exchange] = []
    for block in blocks:
        if block.get("type") == "tool_result" and (call := calls.pop(str(block.get("tool_use_id")), None)) is not None:
            content = cast("str | list[Block]", block.get("content") or "")
            found.append(Exchange(call[0], call[1], text_of(content), bool(block.get("is_error"))))
    return found
