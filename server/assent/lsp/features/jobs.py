"""`assent/job/*`: commands that run in the background."""

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.sessions.live.session import Session
from assent.types.blocks import Json
from assent.wire import extensions


@server.feature("assent/job/list")
async def list_jobs(ls: BaseServer, params: extensions.JobList) -> Json:
    jobs: list[Json] = []
    for session in await _sessions(ls, params.session_id):
        if session.jobs is not None:
            jobs += [{"sessionId": session.id, **job} for job in session.jobs.list()]
    return {"jobs": jobs}


@server.feature("assent/job/kill")
async def kill_job(ls: BaseServer, params: extensions.JobKill) -> Json:
    for session in await _sessions(ls, params.session_id):
        if session.jobs is not None and await session.jobs.kill(params.job_id):
            return {"killed": True}
    return {"killed": False}


@server.feature("assent/job/background")
async def background(ls: BaseServer, params: extensions.JobBackground) -> extensions.Backgrounded:
    """Let a running command or agent go on in the background: its call ends now, its end is told later."""
    session = await ls.app.sessions.session(params.session_id)
    return extensions.Backgrounded(job_id=session.background.move_to_background(params.tool_use_id))


@server.feature("assent/job/foreground")
async def foreground(ls: BaseServer, params: extensions.JobForeground) -> extensions.Foregrounded:
    """Wait for a background command or agent again; `job/background` with its call sends it back."""
    session = await ls.app.sessions.session(params.session_id)
    return extensions.Foregrounded(tool_use_id=session.background.move_to_foreground(params.job_id))


async def _sessions(ls: BaseServer, session_id: str | None) -> list[Session]:
    if session_id is not None:
        return [await ls.app.sessions.session(session_id)]
    return list(ls.app.sessions.live.values())
