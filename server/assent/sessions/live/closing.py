"""Closes a session, in three steps: stop its turn, close its children, save and free its file."""

from assent.sessions.live.session import Session

SHUT_DOWN = "Interrupted: the session was closed before this call finished. It may have run in part; check first."


def stop(session: Session) -> None:
    """Ask the turn to end; `stopped` waits for it. A turn that does not end in time is shown as interrupted later."""
    if session.turn is not None and not session.closed:
        # The next process asks once more (Q11), so the call must stay unanswered in the file.
        asks = [ask for ask in session.asks.permissions() if ask.turn_id == session.turn_id]
        session.left_asks = [ask for ask in asks if not ask.parent_tool_use_id]
        session.record.unanswered = frozenset(ask.tool_use_id for ask in session.left_asks)
    session.closed = True
    session.turns.abort(why=SHUT_DOWN)


async def stopped(session: Session) -> None:
    if session.turn is not None:
        await session.turn.done.wait()


async def close_children(session: Session) -> None:
    session.repository.close()
    if session.deps.mcp is not None:
        session.deps.mcp.leave(session.id)
    await session.turns.aclose()
    if session.jobs is not None:
        await session.jobs.close()


def shut(session: Session) -> bool:
    """Save everything and free the file; False when the disk did not take everything."""
    session.closed = True
    session.moves.close()
    session.events.flush()
    session.files.close()
    return session.record.close()
