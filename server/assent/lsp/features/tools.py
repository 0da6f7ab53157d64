"""`assent/tool/*`: tools without a model, and `assent/complete`, what can be typed into a prompt."""

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.sessions.stream.front import Call
from assent.wire import requests, results


@server.feature("assent/tool/list")
async def list_tools(ls: BaseServer, params: requests.ToolList, call: Call) -> results.Tools:
    return await ls.app.sessions.tools.list(params, call)


@server.feature("assent/tool/run", on_cancel="signal")
async def run_tool(ls: BaseServer, params: requests.ToolRun, call: Call) -> results.ToolRan:
    """The same permission chain as in a turn. Its progress goes to the token that the client gave."""
    token = params.work_done_token
    if token is None:
        return await ls.app.sessions.tools.run(params, call)
    progress = ls.progress.of_request(token, title=params.name, cancel=call.cancelled.set)
    call.progress = progress.report
    try:
        return await ls.app.sessions.tools.run(params, call)
    finally:
        ls.progress.end_request(token)


@server.feature("assent/complete", on_cancel="stop")
async def complete(ls: BaseServer, params: requests.Complete, call: Call) -> results.Completions:
    return await ls.app.sessions.tools.complete(params, call)
