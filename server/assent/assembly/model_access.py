"""How models are reached: whose credentials, which endpoint, what is recorded of the traffic."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assent.engine.side_calls.plain_answer import BookFor
from assent.engine.side_calls.single_calls import SideCalls
from assent.model.choice import Models
from assent.model.recording import recording, replaying
from assent.model.tracing import tracing
from assent.types.blocks import Json
from assent.types.ports import CallModel


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """One way to reach models. A session keeps the one it began with."""

    models: Models
    call: CallModel
    side_calls: SideCalls


def model_access(
    models: Models,
    *,
    record: Path | None,
    replay: Path | None,
    traced: Callable[[str, Json], None],
    book: BookFor,
) -> ModelAccess:
    """`record`: write the traffic there; `replay`: answer from such a file, without an endpoint."""
    models.secrets()  # from here on they are held back from logs, index, spilled results and exports
    reached: CallModel = models.call
    if replay is not None:
        reached = replaying(replay)
    elif record is not None:
        reached = recording(models.call, record)
    call = tracing(reached, traced)
    return ModelAccess(models, call, SideCalls(call, model=lambda: models.small_model, book=book))
