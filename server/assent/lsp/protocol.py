"""The `protocol_cls` of our pygls server: everything that Assent does differently from pygls on the wire.

pygls contributes the server class, the registry of features and commands, lsprotocol's types with their converter, the
typed client API (`window_show_message_request_async`, …) and the computing of capabilities. Framing, envelope, order,
cancelling, kinds of errors and writing are ours (`rpc`), because pygls's own dispatch leaves requests unanswered after
shutdown, sends tracebacks to the client, lets the writer block the loop, confuses the ids of both directions, and costs
twice as much. So every public method through which a message enters or leaves is overridden whole, and no private name
of pygls is used. A test holds the list of names that are overridden.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from assent.lsp.base import BaseServer
from assent.lsp.dispatch import EXECUTE_COMMAND, command_handler, own_params, request_handler
from assent.lsp.registry import server as table
from assent.lsp.rpc import envelope
from assent.lsp.rpc.peer import params_object
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.wire import CLIENT_REQUESTS

if TYPE_CHECKING:
    from cattrs import Converter

logging.getLogger("pygls").setLevel(logging.CRITICAL)  # it logs bodies, and the parameters of initialize, at INFO

Handler = Callable[..., Any]

_PLACE_ONLY: Json = {"diagnostics": []}  # the context of a code action request that says nothing more


class AssentProtocol(LanguageServerProtocol):
    def __init__(self, server: LanguageServer, converter: "Converter") -> None:
        assert isinstance(server, BaseServer)
        self.ls = server
        self.peer = server.peer
        self.converter = converter
        super().__init__(server, converter)

    def serve(self) -> None:
        """Let the peer call what pygls has registered, from the next message on."""
        registry: Any = self.fm  # pygls leaves it untyped
        features: dict[str, Handler] = registry.features
        for method, function in features.items():
            feature = table.features[method]
            if not feature.is_request:
                self.peer.notifications[method] = function
            elif method in CLIENT_REQUESTS:
                self.peer.requests[method] = request_handler(self.ls, feature, function, own_params(method))
            else:
                decode = partial(self.structure, method)
                self.peer.requests[method] = request_handler(self.ls, feature, self._unstructured(function), decode)
        self.peer.requests[EXECUTE_COMMAND] = command_handler(registry.commands, lambda: self.ls.app.acted())

    # --- in -------------------------------------------------------------------------------------------------------

    def structure_message(self, data: Json) -> envelope.Message:
        """One whole message. pygls would call this for every nested object, and lose one that has a `jsonrpc` key."""
        return envelope.message(data)

    def handle_message(self, message: Any) -> None:
        match message:
            case envelope.Malformed():
                self.peer.refuse(message.id, message.error)
            case envelope.Response():
                self.peer.settle(message)
            case _:
                self.peer.receive(message)

    def structure(self, method: str, params: Any) -> Any:
        """The parameters of a plain LSP method, as lsprotocol has them."""
        given = params_object(params)
        kind: Any = types.METHOD_TO_TYPES[method][2]
        try:
            return self.converter.structure(given, kind)
        except Exception as error:  # cattrs raises groups of whatever went wrong, field by field
            if given.get("context", _PLACE_ONLY) != _PLACE_ONLY:
                # A newer editor may describe its diagnostics in words we do not know: the place alone still counts.
                return self.structure(method, {**given, "context": _PLACE_ONLY})
            hint = f"See {method} in the language server protocol."
            raise ProtocolError("invalidParams", f"the parameters do not fit {method}", hint=hint) from error

    # --- out ------------------------------------------------------------------------------------------------------

    def notify(self, method: str, params: Any = None) -> None:
        self.peer.notify(method, self.converter.unstructure(params))

    def send_request(
        self,
        method: str,
        params: Any = None,
        callback: Callable[[Any], None] | None = None,
        msg_id: str | int | None = None,
    ) -> Future[Any]:
        answer: Future[Any] = Future()
        if callback is not None:
            answer.add_done_callback(lambda done: callback(done.result()))

        def settle(done: "asyncio.Future[Any]") -> None:
            if done.cancelled():
                answer.cancel()
            elif (error := done.exception()) is not None:
                answer.set_exception(error)
            else:
                answer.set_result(done.result())

        self.send_request_async(method, params, msg_id).add_done_callback(settle)
        return answer

    def send_request_async(
        self, method: str, params: Any = None, msg_id: str | int | None = None
    ) -> "asyncio.Future[Any]":
        return asyncio.ensure_future(self._ask(method, params, msg_id))

    async def _ask(self, method: str, params: Any, msg_id: str | int | None) -> Any:
        id = None if msg_id is None else str(msg_id)
        result = await self.peer.request(method, self.converter.unstructure(params), id=id)
        kind = self.get_result_type(method)
        if kind is None:
            return result
        return self.converter.structure({"id": id or 0, "jsonrpc": "2.0", "result": result}, kind).result

    def set_writer(self, writer: Any, include_headers: bool = True) -> NoReturn:
        raise RuntimeError("the peer owns the writer: one thread writes, and never blocks the loop")

    def _unstructured(self, function: Handler) -> Handler:
        async def serve(params: Any) -> Any:
            result = await function(params)
            return self.converter.unstructure(result) if _is_typed(result) else result

        return serve


def _is_typed(result: Any) -> bool:
    """Made of lsprotocol's types; our own handlers answer plain JSON, which needs no converter."""
    first: Any = next(iter(cast("list[Any]", result)), None) if isinstance(result, list) else result
    return hasattr(first, "__attrs_attrs__")
