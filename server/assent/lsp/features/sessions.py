"""`assent/session/*`: conversations. Thin, because `sessions/` does the work."""

from typing import Any

import msgspec

from assent.lsp.base import BaseServer
from assent.lsp.prompts import fenced
from assent.lsp.registry import server
from assent.sessions.stream.front import Call
from assent.text.uris import path_of, same_document
from assent.types.blocks import Json, text_block
from assent.wire import requests


@server.feature("assent/session/new")
async def new(ls: BaseServer, params: requests.SessionNew, call: Call) -> Json:
    """A new session in a workspace folder; a folder that holds something to trust is asked about, without waiting."""
    if params.cwd is None and (roots := ls.client.roots()):
        params = msgspec.structs.replace(params, cwd=roots[0])
    answer = await ls.app.sessions.new(as_json(params), call)
    ls.trust.ask_later(str(answer["sessionId"]))
    return answer


@server.feature("assent/session/send", on_cancel="signal")
async def send(ls: BaseServer, params: requests.SessionSend, call: Call) -> Json:
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
    return await ls.app.sessions.send(as_json(params), call)


@server.feature("assent/session/interrupt")
async def interrupt(ls: BaseServer, params: requests.SessionRef, call: Call) -> Json:
    return await ls.app.sessions.interrupt(as_json(params), call)


@server.feature("assent/session/unqueue")
async def unqueue(ls: BaseServer, params: requests.SessionUnqueue, call: Call) -> Json:
    return await ls.app.sessions.unqueue(as_json(params), call)


@server.feature("assent/session/list", on_cancel="stop")
async def list_sessions(ls: BaseServer, params: requests.SessionList, call: Call) -> Json:
    return await ls.app.sessions.list(as_json(params), call)


@server.feature("assent/session/search", on_cancel="stop")
async def search(ls: BaseServer, params: requests.SessionList, call: Call) -> Json:
    return await ls.app.sessions.list(as_json(params), call)


@server.feature("assent/session/attach")
async def attach(ls: BaseServer, params: requests.SessionAttach, call: Call) -> Json:
    return await ls.app.sessions.attach(as_json(params), call)


@server.feature("assent/session/fork")
async def fork(ls: BaseServer, params: requests.SessionFork, call: Call) -> Json:
    return await ls.app.sessions.fork(as_json(params), call)


@server.feature("assent/session/rename")
async def rename(ls: BaseServer, params: requests.SessionRename, call: Call) -> Json:
    return await ls.app.sessions.rename(as_json(params), call)


@server.feature("assent/session/delete")
async def delete(ls: BaseServer, params: requests.SessionRef, call: Call) -> Json:
    return await ls.app.sessions.delete(as_json(params), call)


@server.feature("assent/session/export", on_cancel="stop")
async def export(ls: BaseServer, params: requests.SessionExport, call: Call) -> Json:
    return await ls.app.sessions.export(as_json(params), call)


@server.feature("assent/session/close")
async def close(ls: BaseServer, params: requests.SessionRef, call: Call) -> Json:
    return await ls.app.sessions.close(as_json(params), call)


@server.feature("assent/session/configure")
async def configure(ls: BaseServer, params: requests.SessionConfigure, call: Call) -> Json:
    return await ls.app.sessions.configure(as_json(params), call)


@server.feature("assent/session/rewind")
async def rewind(ls: BaseServer, params: requests.SessionRewind, call: Call) -> Json:
    return await ls.app.sessions.rewind(as_json(params), call)


@server.feature("assent/session/retry")
async def retry(ls: BaseServer, params: requests.SessionRef, call: Call) -> Json:
    return await ls.app.sessions.retry(as_json(params), call)


@server.feature("assent/session/context")
async def context(ls: BaseServer, params: requests.SessionRef, call: Call) -> Json:
    return await ls.app.sessions.context(as_json(params), call)


@server.feature("assent/session/cost")
async def cost(ls: BaseServer, params: requests.SessionRef, call: Call) -> Json:
    return await ls.app.sessions.cost(as_json(params), call)


def as_json(params: msgspec.Struct) -> Json:
    """For `Sessions`, which takes the wire's own names; optional fields that were left out are left out."""
    plain: Any = msgspec.to_builtins(params)
    return plain


def _is_unsaved(ls: BaseServer, uri: str) -> bool:
    return path_of(uri) is None and ls.app.editor.documents.get(same_document(uri)) is not None


def _quoted(ls: BaseServer, mention: requests.Mention) -> str:
    document = ls.app.editor.documents.get(same_document(mention.uri))
    whole = document.text if document is not None else ""
    text = whole if mention.range is None else ls.chats.selected(mention.uri, as_json(mention.range))
    return f"The user mentioned {mention.uri}:\n{fenced(text)}"
