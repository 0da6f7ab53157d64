"""The display data between messages: titles and outcomes of calls, answers to asks, plans, ends of turns.

The messages do not say it, so it is kept in the transcript beside them, as `session/shown`: a conversation that
is opened again looks as it did. Ends of turns are there as results already.
"""

from collections.abc import Callable, Collection
from typing import cast

import msgspec

from assent.sessions.stream.translate import wire_result
from assent.storage import transcript
from assent.storage.transcript import Entry, Page
from assent.types.blocks import Json
from assent.types.messages import Result
from assent.wire.events import (
    Event,
    Hook,
    PermissionResolved,
    PlanProposed,
    Snipped,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from assent.wire.results import ShownEvent

# The events that are kept, and of each the fields that the messages do not hold themselves.
KEPT: dict[type[Event], tuple[str, ...]] = {
    ToolStarted: ("tool_use_id", "tool", "title"),
    ToolFinished: ("tool_use_id", "is_error", "summary", "duration_ms", "changed"),
    PermissionResolved: ("ask_id", "decision", "by", "tool", "title"),
    PlanProposed: ("plan",),
    Snipped: ("snip_id", "message_ids", "tokens_freed", "by"),
    Hook: ("event", "outcome", "text", "hook_id", "tool_use_id", "duration_ms", "exit_code", "changed"),
}
DISPLAY = "display"  # {id, text}: what a hook had people see in place of a message's own words
_NAMES = {kind: {field.name: field.encode_name for field in msgspec.structs.fields(kind)} for kind in KEPT}
_TYPES = frozenset(str(kind.__struct_config__.tag) for kind in KEPT)


def keeper(note: Callable[[Json], object]) -> Callable[[Event, str | None], None]:
    """Writes down what a session publishes, as far as it is to be shown again."""

    def keep(event: Event, parent: str | None) -> None:
        kind = type(event)
        if kind in KEPT and parent is None:  # a subagent's steps are not in the transcript either
            values = {_NAMES[kind][name]: getattr(event, name) for name in KEPT[kind]}
            told = {name: value for name, value in values.items() if value is not None}
            note({"type": kind.__struct_config__.tag, **cast("Json", msgspec.to_builtins(told))})

    return keep


def displayed(page: Page) -> dict[str, str]:
    """By message, the text that people saw in its place."""
    events = [
        cast("Json", entry.record.get("event") or {}) for entry in page.around if entry.type == transcript.SHOWN_BESIDE
    ]
    return {str(event.get("id")): str(event.get("text")) for event in events if event.get("type") == DISPLAY}


def wire_shown(page: Page, unshown: Collection[str] = ()) -> list[ShownEvent]:
    """The events of a page's stretch, each with the message it came after; none before the first message."""
    found: list[ShownEvent] = []
    after: str | None = None
    for entry in sorted((*page.entries, *page.around), key=lambda entry: entry.offset):
        if entry.type in transcript.SHOWN:
            uuid = str(entry.record.get("uuid"))
            after = after if uuid in unshown else uuid
        elif (event := _event(entry)) is not None:
            found.append(ShownEvent(event=event, after=after))
    return found


def _event(entry: Entry) -> Json | None:
    if entry.type == transcript.SHOWN_BESIDE:
        event = cast("Json", entry.record.get("event") or {})
        return event if event.get("type") in _TYPES else None
    message = transcript.revive(entry.record)
    return msgspec.to_builtins(TurnFinished(wire_result(message))) if isinstance(message, Result) else None
