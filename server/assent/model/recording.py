"""Model traffic on a file: recorded once with an endpoint, replayed any number of times without one.

One line of JSON per call: what was asked, in short, and every event of the answer. No key is in it, since none is in
a request, and texts go through the redactor. A replay answers a call with the recorded one that has the same last
words, else with the next one that is left; it never calls an endpoint.
"""

import hashlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import orjson

from assent.types import codec
from assent.types.blocks import Json, text_of
from assent.types.errors import AssentError, ModelError
from assent.types.messages import AssistantMessage, Attachment, UserMessage
from assent.types.ports import CallModel, ModelEvent, ModelRequest
from assent.types.private_files import create_as_named
from assent.types.redaction import redact
from assent.types.regular_files import read_regular

LARGEST = 500_000_000


def recording(call_model: CallModel, path: Path) -> CallModel:
    """`call_model`, whose calls are also written to `path` as they end. An earlier recording there is replaced.

    Raises AssentError where the file cannot be written, or is something else than a recording.
    """
    if path.exists() and not path.is_symlink():  # a link is refused below, wherever it leads
        _recorded(path)
        path.unlink()
    try:
        _append(path, "")  # a folder that cannot be written is found before the first call
    except OSError as error:
        raise AssentError(f"the recording {path} cannot be written: {error.strerror}") from None

    async def call(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        events: list[Json] = []
        failure: Json | None = None
        try:
            async for event in call_model(request):
                events.append(codec.to_json(event))
                yield event
        except ModelError as error:
            failure = {"message": str(error), "kind": error.kind, "status": error.status}
            raise
        finally:
            line = {**_asked(request), "events": events, "error": failure}
            text = redact(orjson.dumps(line).decode())
            _append(path, text + "\n")

    return call


def replaying(path: Path) -> CallModel:
    """Answers from a recording. Raises AssentError for a file that is none."""
    left = _recorded(path)

    async def call(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        asked = _asked(request)
        same = [each for each in left if each["source"] == asked["source"] and each["words"] == asked["words"]]
        found = next(iter(same), None) or next((each for each in left if each["source"] == asked["source"]), None)
        if found is None:
            raise ModelError(f"The recording {path.name} has no further call to answer with.", kind="replay")
        left.remove(found)
        for raw in cast("list[Json]", found["events"]):
            event = codec.from_json(raw)
            if event is not None:
                yield cast("ModelEvent", event)
        failure: Any = found.get("error")
        if failure:
            raise ModelError(str(failure["message"]), kind=str(failure["kind"]), status=failure.get("status"))

    return call


def _append(path: Path, text: str) -> None:
    with open(path, "a", encoding="utf-8", opener=create_as_named) as file:  # Path.open has no opener
        file.write(text)


def _recorded(path: Path) -> list[Json]:
    found: list[Json] = []
    try:
        lines = read_regular(path, limit=LARGEST).data.splitlines()
    except OSError as error:
        raise AssentError(f"the recording {path} cannot be read: {error.strerror or error}") from None
    for number, line in enumerate(lines, 1):
        try:
            each: Any = orjson.loads(line)
            found.append({"source": each["source"], "words": each["words"], "events": each["events"], **each})
        except (ValueError, TypeError, KeyError):
            raise AssentError(f"{path}, line {number}: not a recording of Assent's") from None
    return found


def _asked(request: ModelRequest) -> Json:
    """Which call it is: its source, and a digest of the last words, which the same prompt and results give again."""
    last = next((m for m in reversed(request.messages) if isinstance(m, UserMessage | AssistantMessage)), None)
    content = last.content if last is not None else ()
    words = [text_of([block]) or orjson.dumps(block.get("content")).decode() for block in content]
    texts = [text_of(m.content) for m in request.messages if isinstance(m, UserMessage | Attachment)]
    digest = hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
    return {"source": request.source, "model": request.model, "words": digest, "said": texts[-1][:200] if texts else ""}
