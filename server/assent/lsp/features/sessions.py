"""`assent/session/*`: conversations. Thin, because `sessions/` does the work."""

import msgspec

from assent.lsp.base import BaseServer
from assent.lsp.prompts import fenced
from assent.lsp.registry import server
from assent.sessions.stream.front import Call
from assent.text.uris import path_of, same_document
from assent.types.blocks import text_block
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
    mentions = params.mentions or []
    unsaved = [mention for mention in mentions if _is_unsaved(ls, mention.uri)]
    if unsaved:
        prompt = params.prompt
        blocks = [text_block(prompt)] if isinstance(prompt, str) else list(prompt)
        blocks += [text_block(_quoted(ls, mention)) for mention in unsaved]
        kept = [mention for mention in mentions if mention not in unsaved]
        params = msgspec.structs.replace(params, prompt=blocks, mentions=kept)
    return await ls.app.sessions.send(params, call)


@server.feature("assent/session/interrupt")
async def interrupt(ls: BaseServer, params: requests.SessionRef, call: Call) -> results.Interrupted:
    return await ls.app.sessions.interrupt(params, call)


@server.feature("assent/session/unqueue")
async def unqueue(ls: BaseServer, params: requests.SessionUnqueue, call: Call) -> results.Unqueued:
    return await ls.app.sessions.unqueue(params, call)


@server.feature("assent/session/list", on_cancel="stop")
async def list_sessions(ls: BaseServer, params: requests.SessionList, call: Call) -> results.Sessions:
    return await ls.app.sessions.list(params, call)


@server.feature("assent/session/search", on_cancel="stop")
async def search(ls: BaseServer, params: requests.SessionList, call: Call) -> results.Sessions:
    return await ls.app.sessions.list(params, call)


@server.feature("assent/session/attach")
async def attach(ls: BaseServer, params: requests.SessionAttach, call: Call) -> results.Attached:
    return await ls.app.sessions.attach(params, call)


@server.feature("assent/session/fork")
async def fork(ls: BaseServer, params: requests.SessionFork, call: Call) -> results.Forked:
    return await ls.app.sessions.fork(params, call)


@server.feature("assent/session/rename")
async def rename(ls: BaseServer, params: requests.SessionRename, call: Call) -> Empty:
    return await ls.app.sessions.rename(params, call)


@server.feature("assent/session/delete")
async def delete(ls: BaseServer, params: requests.SessionRef, call: Call) -> Empty:
    return await ls.app.sessions.delete(params, call)


@server.feature("assent/session/export", on_cancel="stop")
async def export(ls: BaseServer, params: requests.SessionExport, call: Call) -> results.Exported:
    return await ls.app.sessions.export(params, call)


@server.feature("assent/session/close")
async def close(ls: BaseServer, params: requests.SessionRef, call: Call) -> Empty:
    return await ls.app.sessions.close(params, call)


@server.feature("assent/session/configure")
async def configure(ls: BaseServer, params: requests.SessionConfigure, call: Call) -> results.Configured:
    return await ls.app.sessions.configure(params, call)


@server.feature("assent/session/rewind")
async def rewind(ls: BaseServer, params: requests.SessionRewind, call: Call) -> results.Rewound:
    return await ls.app.sessions.rewind(params, call)


@server.feature("assent/session/snip")
async def snip(ls: BaseServer, params: requests.SessionSnip, call: Call) -> results.Snip:
    return await ls.app.sessions.snip(params, call)


@server.feature("assent/session/unsnip")
async def unsnip(ls: BaseServer, params: requests.SessionUnsnip, call: Call) -> Empty:
    return await ls.app.sessions.unsnip(params, call)


@server.feature("assent/session/retry")
async def retry(ls: BaseServer, params: requests.SessionRef, call: Call) -> results.Sent:
    return await ls.app.sessions.retry(params, call)


@server.feature("assent/session/context")
async def context(ls: BaseServer, params: requests.SessionRef, call: Call) -> results.ContextUsage:
    return await ls.app.sessions.context(params, call)


@server.feature("assent/session/cost")
async def cost(ls: BaseServer, params: requests.SessionRef, call: Call) -> results.Cost:
    return await ls.app.sessions.cost(params, call)


@server.feature("assent/session/roster")
async def list_roster(ls: BaseServer, params: roster.RosterRequest, call: Call) -> roster.Roster:
    return await ls.app.sessions.list_roster(params, call)


def _is_unsaved(ls: BaseServer, uri: str) -> bool:
    return path_of(uri) is None and ls.app.editor.documents.get(same_document(uri)) is not None


def _quoted(ls: BaseServer, mention: requests.Mention) -> str:
    document = ls.app.editor.documents.get(same_document(mention.uri))
    whole = document.text if document is not None else ""
    text = whole if mention.range is None else ls.chats.selected(mention.uri, msgspec.to_builtins(mention.range))
    return f"The user mentioned {mention.uri}:\n{fenced(text)}"
