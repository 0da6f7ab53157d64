"""How much of the window is used, without asking the endpoint: the last real count plus a guess of the rest (M8).

The guess is on the high side: too high compacts a little early, too low fails a request.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from assent.types.blocks import Block
from assent.types.messages import AssistantMessage, CompactBoundary, ConversationMessage
from assent.types.ports import ModelRequest
from assent.types.usage import Usage

BYTES_PER_TOKEN = 3.3
IMAGE_TOKENS = 1_600
PDF_BYTES_PER_TOKEN = 25  # base64 of a page is some 100 kB and costs about 3,000 tokens, text and picture
PER_MESSAGE = 4


def of_text(text: str) -> int:
    """Counted in bytes, not characters: scripts other than Latin take more tokens a character."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return int(size / BYTES_PER_TOKEN) + 1


def of_blocks(blocks: Iterable[Block]) -> int:
    return sum(map(_of_block, blocks))


def of_messages(messages: Iterable[ConversationMessage]) -> int:
    return sum(_of_message(message) + PER_MESSAGE for message in messages)


def of_request(request: ModelRequest) -> int:
    """The whole request, when nothing real is known yet."""
    return (
        sum(map(of_text, request.system))
        + of_text(request.user_context)
        + sum(of_text(repr(tool)) for tool in request.tools)
        + of_messages(request.messages)
    )


def in_context(
    messages: Sequence[ConversationMessage], usage_of: Mapping[str, Usage], *, before: int = 0, freed: int = 0
) -> int:
    """What the next request will hold: the usage of the last answer that has one, plus a guess of what follows it.

    `before` stands for system prompt and tools while there is no real count; `freed` is what reductions took out since.
    """
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if isinstance(message, CompactBoundary):
            break
        if isinstance(message, AssistantMessage) and message.message_id in usage_of:
            after = messages[at + 1 :]
            return max(0, usage_of[message.message_id].context_tokens + of_messages(after) - freed)
    return max(0, before + of_messages(messages) - freed)


def _of_message(message: ConversationMessage) -> int:
    if isinstance(message, CompactBoundary):
        return of_text(message.summary) + of_blocks(message.kept)
    return of_blocks(message.content)


def _of_block(block: Block) -> int:
    match block.get("type"):
        case "text":
            return of_text(str(block.get("text", "")))
        case "thinking":
            return of_text(str(block.get("thinking", "")))
        case "image":
            return IMAGE_TOKENS
        case "document":
            source = cast("Mapping[str, Any]", block.get("source") or {})
            data = str(source.get("data", ""))
            return of_text(data) if source.get("type") == "text" else len(data) // PDF_BYTES_PER_TOKEN + IMAGE_TOKENS
        case "tool_result":
            content = block.get("content", "")
            return of_text(content) if isinstance(content, str) else of_blocks(cast("list[Block]", content or []))
        case _:
            return of_text(repr(block))  # close enough to its JSON, and cannot fail on odd strings
