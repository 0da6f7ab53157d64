"""The same endpoint as the clouds offer it: other paths, and fields moved between body, URL and headers."""

from __future__ import annotations

import re
import urllib.parse
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from fakeapi.server import Request

Provider = Literal["anthropic", "bedrock", "vertex"]

_BEDROCK = re.compile(r"/model/(?P<model>[^/]+)/invoke(?P<stream>-with-response-stream)?$")
_VERTEX = re.compile(r"/projects/[^/]+/locations/[^/]+/publishers/anthropic/models/(?P<model>[^:]+):(?P<how>\w+)$")


def of_path(path: str) -> Provider | None:
    bare = path.partition("?")[0].removeprefix("/anthropic")  # Foundry serves it one folder down
    if bare in ("/v1/messages", "/v1/messages/count_tokens"):
        return "anthropic"
    if _BEDROCK.search(bare):
        return "bedrock"
    return "vertex" if _VERTEX.search(bare) else None


def normalise(request: Request) -> None:
    """Puts the fields back where the Messages API has them, so that one set of rules fits all."""
    match request.provider:
        case "bedrock":
            found = _BEDROCK.search(request.path)
            assert found is not None
            request.body["stream"] = found["stream"] is not None
        case "vertex":
            found = _VERTEX.search(request.path)
            assert found is not None
        case _:
            return
    request.body["model"] = urllib.parse.unquote(found["model"])
    request.body.pop("anthropic_version", None)
    betas = request.body.pop("anthropic_beta", None)
    if betas:
        request.headers = {**request.headers, "anthropic-beta": ",".join(betas)}
