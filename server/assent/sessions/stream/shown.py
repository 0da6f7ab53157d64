"""What people saw between the messages: titles and outcomes of calls, answers, plans, ends of turns.

The messages do not say it, so it is kept in the transcript beside them, as `session/shown`: a conversation that
is opened again looks as it did. Ends of turns are there as results already.
"""

from collections.abc import Callable, Collection
from typing import cast

from assent.sessions.stream.translate import wire_result
from assent.storage import transcript
from assent.storage.transcript import Entry, Page
from assent.types.blocks import Json
from assent.types.messages import Result

# The events that are kept, and of each what the messages do not hold themselves.
KEPT: dict[str, tuple[str, ...]] = {
    "toolStarted": ("toolUseId", "tool", "title"),
    "toolFinished": ("toolUseId", "isError", "summary", "durationMs"),
    "permissionResolved": ("askId", "decision", "by", "tool", "title"),
    "planProposed": ("plan",),
}


def keeper(note: Callable[[Json], object]) -> Callable[[Json, str | None], None]:
    """Writes down what a session publishes, as far as it is to be shown again."""

    def keep(event: Json, parent: str | None) -> None:
        fields = KEPT.get(str(event["type"]))
        if fields is not None and parent is None:  # a subagent's steps are not in the transcript either
            note({"type": event["type"], **{name: event[name] for name in fields if event.get(name) is not None}})

    return keep


def wire_shown(page: Page, unshown: Collection[str] = ()) -> list[Json]:
    """The events of a page's stretch, each with the message it came after; none before the first message."""
    found: list[Json] = []
    after: str | None = None
    for entry in sorted((*page.entries, *page.around), key=lambda entry: entry.offset):
        if entry.type in transcript.SHOWN:
            uuid = str(entry.record.get("uuid"))
            after = after if uuid in unshown else uuid
        elif (event := _event(entry)) is not None:
            found.append({"event": event, **({"after": after} if after else {})})
    return found


def _event(entry: Entry) -> Json | None:
    if entry.type == transcript.SHOWN_BESIDE:
        event = cast("Json", entry.record.get("event") or {})
        return event if event.get("type") in KEPT else None
    message = transcript.revive(entry.record)
    return {"type": "turnFinished", "result": wire_result(message)} if isinstance(message, Result) else None
