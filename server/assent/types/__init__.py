"""Data only: messages, decisions, errors and ids that every layer shares.

Standard library only, so a program can import these types without pulling in the runtime. They are loaded when they are
first named: whoever needs one small module of this package, such as the bridge to a host, does not wait for the others.
"""

TYPE_CHECKING = False  # checkers know the name; importing it from typing would cost more than all the rest
if TYPE_CHECKING:
    from typing import Any

    from assent.types.blocks import Block, Json
    from assent.types.messages import (
        ApiRetry,
        AssistantFinal,
        AssistantMessage,
        Attachment,
        Collapsed,
        CompactBoundary,
        Compacting,
        ContinueReason,
        ConversationMessage,
        Heartbeat,
        HookRan,
        MaxTurnsReached,
        Message,
        Notice,
        PermissionDenial,
        RequestStart,
        Result,
        ResultSubtype,
        StreamEvent,
        SystemInit,
        TerminalReason,
        Tombstone,
        ToolFinished,
        ToolProgress,
        ToolStarted,
        ToolUseSummary,
        UserMessage,
    )
    from assent.types.usage import ModelUsage, Usage

__all__ = [
    "ApiRetry",
    "AssistantFinal",
    "AssistantMessage",
    "Attachment",
    "Block",
    "Collapsed",
    "CompactBoundary",
    "Compacting",
    "ContinueReason",
    "ConversationMessage",
    "Heartbeat",
    "HookRan",
    "Json",
    "MaxTurnsReached",
    "Message",
    "ModelUsage",
    "Notice",
    "PermissionDenial",
    "RequestStart",
    "Result",
    "ResultSubtype",
    "StreamEvent",
    "SystemInit",
    "TerminalReason",
    "Tombstone",
    "ToolFinished",
    "ToolProgress",
    "ToolStarted",
    "ToolUseSummary",
    "Usage",
    "UserMessage",
]

_ELSEWHERE = {"Block": "blocks", "Json": "blocks", "ModelUsage": "usage", "Usage": "usage"}


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'messages')}"), name)
