"""The table of what the server serves, filled by decorators that read as pygls's own.

    @server.feature("assent/session/send", on_cancel="signal")
    async def send(ls: BaseServer, params: SessionSend, call: Call) -> Json: ...

A function is registered once and served in both stages of the start: `loop` serves the table itself until pygls has
loaded, and `AssentServer` then registers every row with pygls. A coroutine function answers a request; a plain
function handles a notification, in the order of arrival. Knows no method and imports neither pygls nor lsprotocol.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

OnCancel = Literal["stop", "finish", "signal"]
"""What `$/cancelRequest` does to a running request.

stop: the handler is cancelled and the request answers `cancelled`; for handlers that only read.
finish: nothing; the handler is short and would leave half a change behind.
signal: `call.cancelled` is set, and the handler decides what its answer is.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One method and the function that serves it."""

    method: str
    function: Callable[..., Any]
    options: Any = None  # of the method's capability, as pygls takes them
    on_cancel: OnCancel = "finish"

    @property
    def is_request(self) -> bool:
        return inspect.iscoroutinefunction(self.function)

    @property
    def takes_call(self) -> bool:
        """The handler wants the `Call`: who asked, whether it was cancelled, where progress goes."""
        return len(inspect.signature(self.function).parameters) > 2


class FeatureTable:
    def __init__(self) -> None:
        self.features: dict[str, Feature] = {}
        self.commands: dict[str, Callable[..., Any]] = {}

    def feature(
        self, method: str, options: Any = None, *, on_cancel: OnCancel = "finish"
    ) -> Callable[[Function], Function]:
        """Serve `method` with the decorated function: `(ls, params)` or, for requests, `(ls, params, call)`."""

        def register(function: Function) -> Function:
            if method in self.features:
                raise ValueError(f"{method} is registered twice")
            self.features[method] = Feature(method=method, function=function, options=options, on_cancel=on_cancel)
            return function

        return register

    def command(self, name: str) -> Callable[[Function], Function]:
        """Serve a command of `workspace/executeCommand` with the decorated coroutine function `(ls, arguments)`."""

        def register(function: Function) -> Function:
            if name in self.commands:
                raise ValueError(f"{name} is registered twice")
            self.commands[name] = function
            return function

        return register


server = FeatureTable()
"""The one table. Modules in `features/` import it under this name."""
