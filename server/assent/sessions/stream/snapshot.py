"""The snapshot for a client that attaches: the newest page of the conversation and the current state (S6)."""

from collections.abc import Callable, Collection
from dataclasses import replace

import msgspec

from assent.sessions.live.record import saved_state
from assent.sessions.live.session import Session
from assent.sessions.stream.context_fill import filled, usage
from assent.sessions.stream.front import Call
from assent.sessions.stream.shown import displayed, wire_shown
from assent.sessions.stream.translate import stored_boundary, stored_message, wire_tasks, wire_todos
from assent.storage import lock, spending, transcript
from assent.storage.paths import SessionPaths
from assent.text.visible import readable
from assent.tools.task_list import TaskBoard
from assent.types.blocks import text_block
from assent.types.ids import new_id
from assent.types.messages import AssistantMessage, Attachment, CompactBoundary, UserMessage
from assent.types.ports import ModelInfo
from assent.wire.events import MessageEvent
from assent.wire.requests import SessionAttach
from assent.wire.results import Attached, CutTurn, StoredMessage, WaitingMessage
from assent.wire.shapes import Proposal


def attach(session: Session, params: SessionAttach, call: Call) -> Attached:
    """Subscribe the caller and say where it stands. Events it missed follow the answer; live ones follow those."""
    cursor = params.cursor or None
    events = session.events
    # Nothing is awaited in here: the page, the number and the subscription are of one moment.
    events.flush()
    after = params.after_seq
    missed = events.replay(after) if params.epoch == events.epoch and after is not None else None
    reset = missed is None
    page: transcript.Page | None = None
    last_seq = events.last_seq
    coming = set(session.turns.output.unshown)
    if missed is None or cursor is not None:
        page = transcript.newest_page(session.record.path, cursor=cursor)
    if missed is None and cursor is None and call.front is not None and call.front.flags.partials:
        # In the middle of an answer: the client gets the words so far as the events they came with.
        missed = events.replay_growing()
        last_seq -= len(missed)
        coming |= {each.params.event.id for each in missed if isinstance(each.params.event, MessageEvent)}
    if cursor is None:
        session.events.join(call, session.spawn)
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
    return Attached(
        epoch=events.epoch,
        last_seq=last_seq,
        reset=reset,
        messages=wire_page(page, coming) if page else [],
        shown=wire_shown(page, coming) if page else [],
        running=session.running,
        turn_id=session.turn.id if session.turn is not None else None,
        pending_asks=session.asks.permissions(),
        pending_elicits=session.asks.elicitations(),
        pending_reviews=list(session.waiting.reviews),
        state=session.waiting.status,
        proposals=msgspec.convert(
            session.deps.proposals.list(session.id) if session.deps.proposals else [], list[Proposal]
        ),
        todos=wire_todos(session.state.todos),
        tasks=wire_tasks(session.tasks) or None,
        mode=session.state.mode,
        model=session.options.model,
        title=readable(session.title),
        cwd=session.cwd,
        queued=session.inbox.ids(),
        queue=msgspec.convert(session.inbox.shown(), list[WaitingMessage]),
        usage=usage(session) if reset else None,
        snips=session.snips.listed(),
        next_cursor=page.cursor or None if page else None,
        interrupted=None if session.interrupted is None else msgspec.convert(session.interrupted, CutTurn),
        damaged=page.damaged or None if page else None,
    )


def read_only(
    paths: SessionPaths, params: SessionAttach, model_info: Callable[[str], ModelInfo], *, why: str | None = None
) -> Attached:
    """A session another process owns, or a newer version wrote: its messages as they are now, and no events."""
    state = saved_state(paths.transcript)
    model = str(state.get("model", ""))
    spent = spending.spent(paths.transcript)
    page = transcript.newest_page(paths.transcript, cursor=params.cursor or None)
    return Attached(
        epoch=new_id(),  # no stream of ours goes on from here: whoever attaches later starts afresh
        last_seq=0,
        reset=True,
        messages=wire_page(page),
        shown=wire_shown(page),
        running=lock.busy(paths.lock),
        pending_asks=[],
        pending_elicits=[],
        proposals=[],
        todos=wire_todos(state.get("todos") or []),
        tasks=wire_tasks(TaskBoard().restored(state.get("tasks") or [])) or None,
        mode=str(state.get("mode", "default")),
        model=model,
        usage=filled(paths.transcript, model_info(model), spent.total_cost_usd if spent else 0.0),
        title=readable(str(state.get("title", ""))),
        read_only=True,
        read_only_reason=why,
        damaged=page.damaged or None,
        next_cursor=page.cursor or None,
    )


def wire_page(page: transcript.Page, unshown: Collection[str] = ()) -> list[StoredMessage]:
    """The page's messages in the shape of `message` events; a compaction shows as a system entry.

    What the engine has written down but not yet published is left out: it is about to come as an event.
    """
    shown: list[StoredMessage] = []
    instead = displayed(page)
    for entry in page.entries:
        if entry.record.get("uuid") in unshown:
            continue
        message = transcript.revive(entry.record)
        if isinstance(message, AssistantMessage) and message.uuid in instead:
            message = replace(message, content=(text_block(instead[message.uuid]),))
        match message:
            case UserMessage() | AssistantMessage() | Attachment():
                shown.append(stored_message(message))
            case CompactBoundary():
                shown.append(stored_boundary(message))
            case _:
                pass
    return shown
