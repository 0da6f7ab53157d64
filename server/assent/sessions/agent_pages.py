"""The conversation of one subagent, for people: a page of its file, and how it stands."""

import anyio.to_thread
import msgspec

from assent.sessions.live.session import Session
from assent.sessions.stream.snapshot import wire_page
from assent.storage import transcript
from assent.types.errors import ProtocolError
from assent.wire import extensions

LARGEST_PAGE = 500


async def read(session: Session, params: extensions.AgentRead) -> extensions.AgentConversation:
    path = session.agent_logs.path(params.agent_id)
    if path is None:
        hint = "assent/agent/list names those there are."
        raise ProtocolError("invalidRequest", f"There is no agent {params.agent_id}", hint=hint)
    limit = min(max(1, params.limit or transcript.PAGE_MESSAGES), LARGEST_PAGE)
    page = await anyio.to_thread.run_sync(lambda: transcript.newest_page(path, cursor=params.cursor, limit=limit))
    run = session.turns.engine.agents.get(params.agent_id) if session.turns.engine.agents is not None else None
    return extensions.AgentConversation(
        messages=wire_page(page),
        agent=msgspec.convert(run.as_json(), extensions.AgentRun) if run is not None else None,
        next_cursor=page.cursor or None,
    )
