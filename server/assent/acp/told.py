"""Our errors as the protocol's."""

import contextlib
from collections.abc import Generator

from acp import RequestError
from assent.types.errors import ModelError, ProtocolError


@contextlib.contextmanager
def told() -> Generator[None]:
    """Our errors as the protocol's, in words a person can act on."""
    try:
        yield
    except ProtocolError as error:
        words = f"{error}. {error.hint}" if error.hint else str(error)
        code = -32002 if error.kind == "unknownSession" else error.code
        raise RequestError(code, words, {"kind": error.kind}) from None
    except ModelError as error:
        raise RequestError(-32602, str(error), {"kind": error.kind}) from None
