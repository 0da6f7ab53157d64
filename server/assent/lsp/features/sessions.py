"""`assent/session/*`: conversations. Thin, because `sessions/` does the work."""

import msgspec

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.sessions.stream.front import Call
from assent.text.uris import path_of, same_document
from assent.wire import requests, results, roster
from assent.wire.shapes import Empty


@server.feature("assent/session/new")
async def new(ls: BaseServer, params: requests.SessionNew, call: Call) -> results.NewSession:
    """A new session in a workspace folder; a folder that holds something to trust is asked about, without waiting."""
    if params.cwd is None and (roots := ls.client.roots()):
        params = msgspec.structs.replace(params, cwd=roots[0])
    answer = await ls.app.sessions.new(params, call)
    ls.trust.ask_later(answer.session_id)
    return answer


@server.feature("assent/session/send", on_cancel="signal")
async def send(ls: BaseServer, params: requests.SessionSend, call: Call) -> results.Sent:
    """Start or queue a turn. A mention of a document that is no file, such as one never saved, is quoted in it."""
    ls.trust.ask_later(params.session_id)  # its files may have changed since the session began
    if params.mentions:
        params = msgspec.structs.replace(params, mentions=[_with_text(ls, mention) for mention in params.mentions])
    return await ls.app.sessions.send(params, call)


@server.feature("assent/session/interrupt")
async def interrupt(ls: BaseServer, params: requests.SessionRef, call: Call) -> results.Interrupted:
    return await ls.app.sessions.interrupt(params, call)


@server.feature("assent/session/unqueue")
async def unqueue(ls: BaseServer, params: requests.SessionUnqueue, call: Call) -> results.Unqueued:
    return await ls.app.sessions.unqueue(params, call)


@server.feature("assent/session/list", on_cancel="stop")
async def list_sessions(ls: BaseServer, params: requests.SessionList, call: Call) -> results.Sessions:
    return await ls.app.sessions.stored.list(params, call)


@server.feature("assent/session/search", on_cancel="stop")
async def search(ls: BaseServer, params: requests.SessionList, call: Call) -> results.Sessions:
    return await ls.app.sessions.stored.list(params, call)


@server.feature("assent/session/attach")
async def attach(ls: BaseServer, params: requests.SessionAttach, call: Call) -> results.Attached:
    return await ls.app.sessions.attach(params, call)


@server.feature("assent/session/fork")
async def fork(ls: BaseServer, params: requests.SessionFork, call: Call) -> results.Forked:
    return await ls.app.sessions.stored.fork(params, call)


@server.feature("assent/session/rename")
async def rename(ls: BaseServer, params: requests.SessionRename, call: Call) -> Empty:
    return await ls.app.sessions.rename(params, call)


@server.feature("assent/session/delete")
async def delete(ls: BaseServer, params: requests.SessionRef, call: Call) -> Empty:
    return await ls.app.sessions.delete(params, call)


@server.feature("assent/session/export", on_cancel="stop")
async def export(ls: BaseServer, params: requests.SessionExport, call: Call) -> results.Exported:
    return await ls.app.sessions.stored.export(params, call)


@server.feature("assent/session/close")
async def close(ls: BaseServer, params: requests.SessionRef, call: Call) -> Empty:
    return await ls.app.sessions.close(params, call)


@server.feature("assent/session/configure")
async def configure(ls: BaseServer, params: requests.SessionConfigure, call: Call) -> results.Configured:
    return await ls.app.sessions.configure(params, call)


@server.feature("assent/session/rewind")
async def rewind(ls: BaseServer, params: requests.SessionRewind, call: Call) -> results.Rewound:
    return await ls.app.sessions.history.rewind(params, call)


@server.feature("assent/session/snip")
async def snip(ls: BaseServer, params: requests.SessionSnip, call: Call) -> results.Snip:
    return await ls.app.sessions.history.snip(params, call)


@server.feature("assent/session/trace", on_cancel="stop")
async def trace(ls: BaseServer, params: requests.SessionTrace, call: Call) -> results.Traced:
    return await ls.app.sessions.stored.trace(params, call)


@server.feature("assent/session/unsnip")
async def unsnip(ls: BaseServer, params: requests.SessionUnsnip, call: Call) -> Empty:
    return await ls.app.sessions.history.unsnip(params, call)


@server.feature("assent/session/retry")
async def retry(ls: BaseServer, params: requests.SessionRef, call: Call) -> results.Sent:
    return await ls.app.sessions.history.retry(params, call)


@server.feature("assent/session/context")
async def context(ls: BaseServer, params: requests.SessionRef, call: Call) -> results.ContextUsage:
    return await ls.app.sessions.history.context(params, call)


@server.feature("assent/session/cost")
async def cost(ls: BaseServer, params: requests.SessionRef, call: Call) -> results.Cost:
    return await ls.app.sessions.history.cost(params, call)


@server.feature("assent/session/roster")
async def list_roster(ls: BaseServer, params: roster.RosterRequest, call: Call) -> roster.Roster:
    return await ls.app.sessions.list_roster(params, call)


def _with_text(ls: BaseServer, mention: requests.Mention) -> requests.Mention:
    """A document that is no file cannot be read by its name."""
    document = ls.app.editor.documents.get(same_document(mention.uri)) if path_of(mention.uri) is None else None
    if document is None or mention.text is not None:
        return mention
    chosen = mention.range
    text = document.text if chosen is None else ls.chats.selected(mention.uri, msgspec.to_builtins(chosen))
    return msgspec.structs.replace(mention, label=mention.label or mention.uri, text=text)
