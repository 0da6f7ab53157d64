"""What a client gets when it attaches: the newest page of the conversation and everything that is going on (S6)."""

from collections.abc import Collection

from assent.sessions.live.record import saved_state
from assent.sessions.live.session import Session
from assent.sessions.stream.front import Call
from assent.sessions.stream.shown import wire_shown
from assent.sessions.stream.translate import wire_boundary, wire_message, wire_todos
from assent.storage import lock, transcript
from assent.storage.paths import SessionPaths
from assent.types.blocks import Json
from assent.types.ids import new_id
from assent.types.messages import AssistantMessage, Attachment, CompactBoundary, UserMessage


def attach(session: Session, params: Json, call: Call) -> Json:
    """Subscribe the caller and say where it stands. Events it missed follow the answer; live ones follow those."""
    cursor = params.get("cursor") or None
    events = session.events
    after = params.get("afterSeq")
    # Nothing is awaited in here: the page, the number and the subscription are of one moment.
    events.flush()
    missed = events.replay(int(after)) if params.get("epoch") == events.epoch and after is not None else None
    reset = missed is None
    page: transcript.Page | None = None
    last_seq = events.last_seq
    coming = set(session.turns.unshown)
    if missed is None or cursor is not None:
        page = transcript.newest_page(session.record.path, cursor=cursor)
    if missed is None and cursor is None and call.front is not None and call.front.flags.partials:
        # In the middle of an answer: the client gets the words so far as the events they came with.
        missed = events.replay_growing()
        last_seq -= len(missed)
        coming |= {str(params["event"].get("id")) for params in missed if params["event"]["type"] == "message"}
    if cursor is None:
        session.join(call)
        if call.front is not None:
            subscription = events.subscribe(call.front)
            for event in missed or ():
                subscription.deliver(event)
            session.asks.attach(call.front)
            session.orphans.present()
            if page and page.damaged and not session.damage_told:
                session.damage_told = True
                text = f"{page.damaged} damaged lines of this conversation's file cannot be read."
                hint = "Everything else is here: go on, or start a new chat if something you need is missing."
                session.notice("warning", f"{text} {hint}")
    answer: Json = {
        "epoch": events.epoch,
        "lastSeq": last_seq,
        "reset": reset,
        "messages": wire_page(page, coming) if page else [],
        "shown": wire_shown(page, coming) if page else [],
        "running": session.running,
        "pendingAsks": session.asks.pending("permission"),
        "pendingElicits": session.asks.pending("elicitation"),
        "pendingReviews": list(session.pending_reviews),
        "state": session.status,
        "proposals": session.deps.proposals.list(session.id) if session.deps.proposals else [],
        "todos": wire_todos(session.state.todos),
        "mode": session.state.mode,
        "model": session.options.model,
        "title": session.title,
        "cwd": session.cwd,
        "queued": session.inbox.ids(),
        "queue": session.inbox.shown(),
    }
    if reset:
        answer["usage"] = usage(session)
    if page and page.cursor:
        answer["nextCursor"] = page.cursor
    if session.turn is not None:
        answer["turnId"] = session.turn.id
    if session.interrupted is not None:
        answer["interrupted"] = session.interrupted
    if page and page.damaged:
        answer["damaged"] = page.damaged
    return answer


def usage(session: Session) -> Json:
    """What the conversation fills and has cost by now, as the event `usage` tells it while it grows."""
    return {
        "contextTokens": transcript.context_tokens(session.record.path),
        "contextWindow": session.deps.model_info(session.options.model).context_window,
        "costUsd": session.turns.cost_usd,
    }


def read_only(paths: SessionPaths, params: Json) -> Json:
    """A session another process owns: its messages as they are now, and no events."""
    state = saved_state(paths.transcript)
    page = transcript.newest_page(paths.transcript, cursor=params.get("cursor") or None)
    answer: Json = {
        "epoch": new_id(),  # no stream of ours goes on from here: whoever attaches later starts afresh
        "lastSeq": 0,
        "reset": True,
        "messages": wire_page(page),
        "shown": wire_shown(page),
        "running": lock.busy(paths.lock),
        "pendingAsks": [],
        "pendingElicits": [],
        "proposals": [],
        "todos": wire_todos(state.get("todos") or []),
        "mode": str(state.get("mode", "default")),
        "model": str(state.get("model", "")),
        "title": str(state.get("title", "")),
        "readOnly": True,
    }
    return {**answer, "nextCursor": page.cursor} if page.cursor else answer


def wire_page(page: transcript.Page, unshown: Collection[str] = ()) -> list[Json]:
    """The page's messages in the shape of `message` events; a compaction shows as a system entry.

    What the engine has written down but not yet published is left out: it is about to come as an event.
    """
    shown: list[Json] = []
    for entry in page.entries:
        if entry.record.get("uuid") in unshown:
            continue
        message = transcript.revive(entry.record)
        match message:
            case UserMessage() | AssistantMessage() | Attachment():
                shown.append(wire_message(message))
            case CompactBoundary():
                body: Json = {"role": "system", "kind": "compacted", "id": message.uuid, "meta": False, "content": []}
                shown.append({**body, **wire_boundary(message)})
            case _:
                pass
    return shown
