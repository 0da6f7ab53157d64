"""The small tree of errors.

    AssentError
    ├── ToolError             the model sees it as an error result; the turn goes on
    │   └── FileMissing       there is no such file: a Write may create it
    ├── ModelError            a call to the model failed; recovered from by name, or a terminal
    │   ├── PromptTooLong
    │   ├── MediaTooLarge
    │   ├── StreamInterrupted the stream was cut, stalled or malformed after it had begun
    │   ├── FallbackTriggered overloaded three times in a row, and there is a fallback model
    │   └── NoCredentials
    ├── SettingsError         names the file and the key
    ├── ProtocolError         answers a request on the wire: kind, code, hint
    └── AbortError            one-shot helpers only; `submit` never raises it

Anything else that escapes is a bug: logged at the boundary, and the session survives.
"""

from typing import Any

from assent.types.tries import Tries


class AssentError(Exception):
    """The root; its message is written for people."""


class ToolError(AssentError):
    """Something the model should know about its call."""


class Unfenced(ToolError):
    """A command was not run, because the fence that had to surround it did not close."""


class FileMissing(ToolError):
    """Raised by `Workspace.read` for a path where nothing is."""


class ModelError(AssentError):
    def __init__(
        self, message: str, *, kind: str = "api_error", status: int | None = None, request_id: str | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.request_id = request_id


class PromptTooLong(ModelError):
    """The endpoint refused the request for its size; the numbers are there when the endpoint told them."""

    def __init__(
        self, message: str, *, status: int | None = 400, actual: int | None = None, limit: int | None = None
    ) -> None:
        super().__init__(message, kind="prompt_too_long", status=status)
        self.actual = actual
        self.limit = limit


class MediaTooLarge(ModelError):
    def __init__(self, message: str, *, status: int | None = 400) -> None:
        super().__init__(message, kind="media_too_large", status=status)


class StreamInterrupted(ModelError):
    """`partial` is what was said in the block that never closed: worth showing, never worth running.

    `tries` goes back with the next try of the same call; `again` is False when everything has been tried.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "stream_interrupted",
        status: int | None = None,
        partial: str = "",
        tries: Tries | None = None,
        again: bool = True,
    ) -> None:
        super().__init__(message, kind=kind, status=status)
        self.partial = partial
        self.tries = tries
        self.again = again


class FallbackTriggered(ModelError):
    def __init__(self, *, original: str, fallback: str) -> None:
        super().__init__(f"{original} is overloaded; switching to {fallback} for this turn", kind="fallback")
        self.original = original
        self.fallback = fallback


class NoCredentials(ModelError):
    def __init__(self, message: str) -> None:
        super().__init__(message, kind="no_credentials", status=401)


class SettingsError(AssentError):
    def __init__(self, message: str, *, file: str | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.file = file
        self.key = key


class AbortError(AssentError):
    """The turn was interrupted before it had an answer."""


ERROR_CODES: dict[str, int] = {
    "invalidRequest": -32600,
    "invalidParams": -32602,
    "methodNotFound": -32601,
    "notInitialized": -32002,
    "cancelled": -32800,
    "internal": -32603,
} | dict.fromkeys(
    (
        "unknownSession",
        "unknownProposal",
        "unknownHunk",
        "unknownAsk",
        "busy",
        "ownedElsewhere",
        "untrusted",
        "noCredentials",
        "staleProposal",
        "staleTrust",
        "outsideWorkspace",
        "permissionDenied",
        "tooLarge",
        "unsupported",
    ),
    -32803,
)


_HINTS = {  # what to do, where the place that raises knows no better
    "invalidRequest": "See the base protocol of LSP.",
    "invalidParams": "See the protocol's page for this method.",
    "methodNotFound": "initialize lists the methods.",
    "notInitialized": "LSP begins with `initialize`.",
    "cancelled": "Send it again if it is still wanted.",
    "internal": "The server log says more.",
    "permissionDenied": "Change your settings if it should be allowed.",
    "unsupported": "Nothing can be done about it here.",
}


class ProtocolError(AssentError):
    """Answers one request with `error.data = {kind, hint, …}`; never a traceback."""

    def __init__(self, kind: str, message: str, *, hint: str = "", data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.code = ERROR_CODES[kind]
        self.hint = hint or _HINTS.get(kind, "")
        self.data = data or {}
