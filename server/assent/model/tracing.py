"""Every model call as one record: when, how long, what it used, and which chain of calls it belongs to.

Wraps a `CallModel` and changes nothing of it. Records hold numbers and names, never what was said.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

import orjson

from assent.types.blocks import Json
from assent.types.errors import ModelError
from assent.types.ids import new_id
from assent.types.messages import ApiRetry, AssistantFinal, Heartbeat, Notice
from assent.types.ports import CallModel, ModelEvent, ModelRequest
from assent.types.private_files import create_as_named
from assent.types.redaction import redact
from assent.types.usage import Usage

logger = logging.getLogger(__name__)

Trace = Callable[[str, Json], None]
"""(session id, record)."""


class TraceFile:
    """One line of JSON for each call, for whoever looks at many sessions at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.write(None)  # a folder that cannot be written is found before the first call

    def write(self, record: Json | None) -> None:
        line = redact(orjson.dumps(record).decode()) + "\n" if record is not None else ""
        with open(self._path, "a", encoding="utf-8", opener=create_as_named) as file:
            file.write(line)


def tracing(
    call_model: CallModel,
    trace: Trace,
    *,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], float] = time.time,
) -> CallModel:
    async def call(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        began, started = clock(), now()
        chain_id = request.chain.id or new_id()
        first: float | None = None
        usage, cost, model = Usage(), 0.0, request.model
        stop_reason: str | None = None
        retries, waited = 0, 0
        error = ""
        try:
            async with aclosing(call_model(request)) as events:
                async for event in events:
                    match event:
                        case ApiRetry():
                            retries += 1
                            waited += event.delay_ms
                        case Heartbeat() | Notice():
                            pass
                        case AssistantFinal():
                            usage += event.usage
                            cost += event.cost_usd
                            stop_reason, model = event.stop_reason, event.model
                        case _:
                            first = clock() - began if first is None else first
                    yield event
        except ModelError as failure:
            error = f"{type(failure).__name__}: {failure}"
            raise
        except BaseException as end:
            error = type(end).__name__  # given up: a turn that was aborted, a consumer that left
            raise
        finally:
            chain = request.chain
            record: Json = {
                "what": "call",
                "chain": chain_id,
                "depth": chain.depth,
                "source": request.source,
                "model": model,
                "startedAt": started,
                "seconds": round(clock() - began, 3),
                "firstSeconds": None if first is None else round(first, 3),
                "input": usage.input_tokens,
                "output": usage.output_tokens,
                "cacheRead": usage.cache_read_input_tokens,
                "cacheWrite": usage.cache_creation_input_tokens,
                "costUsd": cost,
                "stopReason": stop_reason,
                "transition": chain.transition,
                "stepId": chain.step_id,
                "parentToolUseId": chain.parent_tool_use_id,
                "retries": retries,
                "waitedMs": waited,
                "error": error[:200],
            }
            told = {key: value for key, value in record.items() if key == "depth" or value not in (None, "", 0)}
            logger.info("call %s", told)
            try:
                trace(chain.session_id, record)
            except Exception:  # a full disk, say: a trace is not worth a turn
                logger.exception("a call could not be traced")

    return call
