"""One end of a JSON-RPC conversation: requests in and out, answers matched to both.

Owns the tables of what is in flight. Guarantees that every request is answered exactly once, that notifications are
handled in the order they came, and that an answer nobody waits for any more is dropped. Not aware of LSP or of bytes.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, cast

from assent.lsp.rpc import envelope
from assent.lsp.rpc.envelope import Id, Notification, Request, Response
from assent.types.blocks import Json
from assent.types.errors import AssentError, NoCredentials, ProtocolError, SettingsError
from assent.types.ids import new_id

log = logging.getLogger("assent.lsp")

METHOD_NOT_FOUND = -32601


class RemoteError(Exception):
    """The other side answered with an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data

    @property
    def unknown_method(self) -> bool:
        return self.code == METHOD_NOT_FOUND


@dataclass(slots=True, kw_only=True)
class Incoming:
    """One request being served. A handler that ends by itself when cancelled sets `on_cancel`; others are cut off."""

    id: Id
    method: str
    on_cancel: Callable[[], None] | None = None
    after_answer: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    task: asyncio.Task[None] | None = None
    begun: bool = False  # a task that is cancelled before its first step never runs at all, and would answer nothing


RequestHandler = Callable[[Any, Incoming], Awaitable[Any]]
NotificationHandler = Callable[[Any], None]
Send = Callable[[bytes, bool], None]
"""(body, urgent): queue a message; see `writer.FrameWriter.send`."""


class Peer:
    def __init__(self, send: Send) -> None:
        self.send = send
        self._incoming: dict[Id, Incoming] = {}
        self._outgoing: dict[str, asyncio.Future[Any]] = {}
        self.requests: dict[str, RequestHandler] = {}
        self.notifications: dict[str, NotificationHandler] = {}

    # --- outgoing -------------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Any, *, id: str | None = None, recall: bool = True) -> Any:
        """The other side's result. Raises RemoteError; when cancelled, tells the other side and forgets the answer.

        Without `recall` it is not told: what was asked for is wanted all the same, only not the answer.
        """
        id = id or new_id()
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._outgoing[id] = answer
        try:
            self.send(envelope.request_body(id, method, params), False)
            return await answer
        except asyncio.CancelledError:
            if recall:
                self.notify("$/cancelRequest", {"id": id})
            raise
        finally:
            self._outgoing.pop(id, None)

    def notify(self, method: str, params: Any) -> None:
        self.send(envelope.notification_body(method, params), False)

    def settle(self, response: Response) -> None:
        answer = self._outgoing.get(cast("str", response.id))
        if answer is None or answer.done():
            return  # late, or never asked
        if response.error is None:
            answer.set_result(response.result)
        else:
            error = response.error
            code = error.get("code")
            text = str(error.get("message", "the client answered with an error"))
            answer.set_exception(RemoteError(code if isinstance(code, int) else 0, text, error.get("data")))

    def abandon(self, error: Exception) -> None:
        """The other side has gone: every request that waits for its answer fails with this."""
        for answer in self._outgoing.values():
            if not answer.done():
                answer.set_exception(error)

    # --- incoming -------------------------------------------------------------------------------------------------

    def receive(self, message: Request | Notification) -> None:
        """Notifications are handled here and now, in the order they came; a request becomes a task of its own."""
        if isinstance(message, Notification):
            notified = self.notifications.get(message.method)
            if notified is None:
                return
            try:
                notified(message.params)
            except ProtocolError as error:
                log.info("%s: %s", message.method, error)
            except Exception:
                log.exception("%s failed", message.method)
            return
        handler = self.requests.get(message.method)
        if handler is None:
            self.refuse(message.id, unknown_method(message.method))
        elif message.id in self._incoming:
            self.refuse(message.id, ProtocolError("invalidRequest", "a request with this id is being served"))
        else:
            incoming = self._incoming[message.id] = Incoming(id=message.id, method=message.method)
            incoming.task = asyncio.create_task(self._answer(message, handler, incoming), name=message.method)

    def refuse(self, id: Id, error: ProtocolError) -> None:
        self.send(envelope.error_body(id, error), True)

    def cancel(self, id: Any) -> None:
        """`$/cancelRequest`: an id we do not serve (any more) is no error."""
        incoming = self._incoming.get(id) if isinstance(id, int | str) else None
        if incoming is None:
            return
        if not incoming.begun:
            asyncio.get_running_loop().call_soon(self.cancel, id)
        elif incoming.on_cancel is not None:
            incoming.on_cancel()
        elif incoming.task is not None:
            incoming.task.cancel()

    @property
    def serving(self) -> int:
        return len(self._incoming)

    async def close(self) -> None:
        """Cut off everything in flight, both ways; requests still get their answers."""
        await asyncio.sleep(0)  # those just received begin: only then can they answer
        tasks = [incoming.task for incoming in self._incoming.values() if incoming.task is not None]
        for task in tasks:
            task.cancel()
        for answer in self._outgoing.values():
            answer.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=0.2)

    async def _answer(self, message: Request, handler: RequestHandler, incoming: Incoming) -> None:
        incoming.begun = True
        urgent = not message.method.startswith("assent/")
        try:
            body = envelope.result_body(message.id, await handler(message.params, incoming))
        except asyncio.CancelledError:
            body = envelope.error_body(message.id, ProtocolError("cancelled", "the request was cancelled"))
        except Exception as error:
            body = envelope.error_body(message.id, as_protocol_error(error, message.method))
        finally:
            self._incoming.pop(message.id, None)
        self.send(body, urgent)
        for callback in incoming.after_answer:
            callback()


def unknown_method(method: str) -> ProtocolError:
    return ProtocolError("methodNotFound", f"there is no method {method[:200]!r}", hint="initialize lists the methods.")


def as_protocol_error(error: Exception, method: str = "") -> ProtocolError:
    match error:
        case ProtocolError():
            return error
        case NoCredentials():
            return ProtocolError("noCredentials", str(error), hint="Set ANTHROPIC_API_KEY, or hand over a key.")
        case SettingsError():
            return ProtocolError("invalidParams", str(error), hint=f"Check {error.key or 'the value'}.")
        case AssentError():
            log.warning("%s: %s", method, error)
            return ProtocolError("internal", str(error), hint="The server log says more.")
        case _:
            log.error("%s failed", method, exc_info=error)
            return envelope.internal(error)


def params_object(params: Any) -> Json:
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise ProtocolError("invalidParams", "`params` must be an object")
    return cast("Json", params)
