"""Parameters from the wire: unknown fields pass, wrong ones are refused with the path to them."""

import re
from typing import Any, TypeVar

import msgspec

from assent.types.errors import ProtocolError
from assent.wire.shapes import Wire

_PATH = re.compile(r" - at `(?:key in )?(.+?)`$")


T = TypeVar("T", bound=Wire)


def decoded(params: Any, struct: type[T]) -> T:
    """The struct these parameters fill; raises `invalidParams`, whose data has the `path` of the wrong field."""
    try:
        return msgspec.convert(params, struct)
    except msgspec.ValidationError as error:
        found = _PATH.search(str(error))
        raise ProtocolError(
            "invalidParams",
            str(error),
            hint="See docs/protocol.md for this method.",
            data={"path": found[1] if found else "$"},
        ) from None
