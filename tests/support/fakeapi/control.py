"""The side door of a fake that runs as its own process: /fake/requests, /fake/script, /fake/forget, /fake/key,
/fake/release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from fakeapi.script import answer_from_json

if TYPE_CHECKING:
    from fakeapi.server import FakeApi, Request


def control(api: FakeApi, request: Request) -> tuple[int, Any]:
    match request.method, request.path.split("/")[2:]:
        case "GET", ["requests"]:
            return 200, [_seen(each) for each in api.requests]
        case "GET", ["cache"]:
            return 200, {"share": api.cache_share(), "left": api.left, "refusals": api.refusals}
        case "POST", ["script"]:
            api.add(*(answer_from_json(each) for each in orjson.loads(request.raw)))
            return 200, {"left": api.left}
        case "POST", ["forget"]:
            api.forget()
            return 200, {"left": api.left}
        case "POST", ["key"]:
            api.key = orjson.loads(request.raw)["key"]
            return 200, {}
        case "POST", ["release", name]:
            api.release(name)
            return 200, {}
        case _:
            return 404, {"error": f"no such door: {request.method} {request.path}"}


def _seen(request: Request) -> dict[str, Any]:
    return {
        "number": request.number,
        "path": request.path,
        "body": request.body,
        "refusal": request.refusal,
        "finished": request.finished,
        "cache": None
        if request.cache is None
        else {"read": request.cache.read, "written": request.cache.written, "possible": request.cache.possible},
    }
