"""What the list of sessions says of one: kept in the index, shown on the wire."""

from collections.abc import Sequence

from assent.sessions.live.session import Session
from assent.storage.fulltext import Hit
from assent.storage.index import Summary
from assent.storage.lines import clean
from assent.text.visible import readable
from assent.wire.results import SessionInfo, Snippet


def summary_of(session: Session) -> Summary:
    return Summary(
        session_id=session.id,
        title=clean(session.title),
        cwd=clean(session.cwd),
        branch=session.branch,
        updated_at=session.updated_at,
        turns=session.turns.count,
        cost_usd=session.cost_usd,
        folder=session.record.path.parent.name,
        text="\n".join(session.prompts)[-2000:],
    )


def listed(summary: Summary, *, running: bool, hits: Sequence[Hit] | None = None) -> SessionInfo:
    return SessionInfo(
        session_id=summary.session_id,
        title=readable(summary.title),
        updated_at=summary.updated_at,
        turns=summary.turns,
        cost_usd=summary.cost_usd,
        cwd=summary.cwd,
        branch=summary.branch,
        running=running,
        snippet=hits[0].text if hits else None,
        snippets=[
            Snippet(text=hit.text, ranges=hit.ranges, role=hit.role, message_id=hit.message_id) for hit in hits or ()
        ]
        or None,
    )
