"""From a row of the feature table to a handler of the peer: decode, make the `Call`, arrange cancelling, run.

The same function serves a method in both stages of the start; only what it is bound to differs. `assent/*` parameters
are decoded by msgspec into the struct of the method's row in `assent.wire`; other methods are decoded by whoever binds
them, since that takes lsprotocol.
"""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, cast

import anyio

from assent.lsp.base import BaseServer
from assent.lsp.registry import Feature, FeatureTable
from assent.lsp.rpc.peer import Incoming, RequestHandler, params_object
from assent.sessions.stream.front import Call
from assent.types.errors import ProtocolError
from assent.wire import CLIENT_REQUESTS
from assent.wire.decoding import decoded

Decode = Callable[[Any], Any]
EXECUTE_COMMAND = "workspace/executeCommand"
ACTS = frozenset({"assent/session/send", "assent/edit/resolve", "assent/permission/answer"})
"""Requests that only a person's doing brings about; a command is one too."""


def serve_early(ls: BaseServer, table: FeatureTable, *, later: Callable[[str], RequestHandler]) -> None:
    """Serve the table from the peer while pygls is not there; `later` serves what only it can decode."""
    for feature in table.features.values():
        function = partial(feature.function, ls)
        if not feature.is_request:
            ls.peer.notifications[feature.method] = function
        elif feature.method in CLIENT_REQUESTS:
            ls.peer.requests[feature.method] = request_handler(ls, feature, function, own_params(feature.method))
        else:
            ls.peer.requests[feature.method] = later(feature.method)
    commands = {name: partial(command, ls) for name, command in table.commands.items()}
    ls.peer.requests[EXECUTE_COMMAND] = command_handler(commands, ls.app.acted)


def request_handler(
    ls: BaseServer, feature: Feature, function: Callable[..., Coroutine[Any, Any, Any]], decode: Decode
) -> RequestHandler:
    """`function` is the handler with its server already in it: `(params)` or `(params, call)`."""
    opens_session_stream = feature.method.startswith("assent/session/")
    acts = feature.method in ACTS
    takes_call, on_cancel = feature.takes_call, feature.on_cancel

    async def serve(params: Any, incoming: Incoming) -> Any:
        typed = decode(params)
        if acts:
            ls.app.acted()
        if opens_session_stream:
            ls.client.speaks_assent = True
        if on_cancel == "finish":
            incoming.on_cancel = _finish
        if not takes_call:
            return await function(typed)
        answered = anyio.Event()
        call = Call(front=ls.front, answered=answered)
        incoming.after_answer.append(answered.set)
        if on_cancel == "signal":
            incoming.on_cancel = call.cancelled.set
        return await function(typed, call)

    return serve


def command_handler(
    commands: "dict[str, Callable[[list[Any]], Coroutine[Any, Any, Any]]]", acted: Callable[[], None]
) -> RequestHandler:
    """`workspace/executeCommand`: looks the command up and hands over its arguments."""

    async def serve(params: Any, incoming: Incoming) -> Any:
        incoming.on_cancel = _finish
        acted()
        wanted = params_object(params)
        name = wanted.get("command")
        arguments: Any = wanted.get("arguments") or []
        command = commands.get(name) if isinstance(name, str) else None
        if command is None:
            raise ProtocolError("invalidParams", f"there is no command {name!r}", hint="initialize lists the commands.")
        if not isinstance(arguments, list):
            raise ProtocolError("invalidParams", "`arguments` must be an array")
        return await command(cast("list[Any]", arguments))

    return serve


def own_params(method: str) -> Decode:
    """Checks the parameters of an `assent/*` method against its struct."""
    struct = CLIENT_REQUESTS[method].params

    return lambda params: decoded(params_object(params), struct)


def _finish() -> None:
    """The request is not cancelled: it is short, and half of it would be worse."""
