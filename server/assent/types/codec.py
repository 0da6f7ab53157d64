"""Messages to JSON and back. Unknown fields are dropped on load, so an older program reads a newer transcript."""

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any, cast

from assent.types import messages
from assent.types.blocks import Json
from assent.types.usage import ModelUsage, Usage

_KINDS: dict[str, type[Any]] = {
    typing.get_args(cls.__annotations__["type"])[0]: cls for cls in typing.get_args(messages.Message)
}


def to_json(message: messages.Message) -> Json:
    return cast("Json", _plain(message))


def from_json(raw: Mapping[str, Any]) -> messages.Message | None:
    """The message this object stands for, or None for a kind this version does not know."""
    cls = _KINDS.get(str(raw.get("type")))
    if cls is None:
        return None
    values: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        if field.name in raw:
            values[field.name] = _revive(field.name, raw[field.name])
    return cast("messages.Message", cls(**values))


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in cast("dict[str, object]", value).items()}
    return value


def _revive(name: str, value: Any) -> Any:
    match name:
        case "usage":
            return _usage(value)
        case "model_usage":
            return {
                model: ModelUsage(usage=_usage(entry["usage"]), cost_usd=entry["cost_usd"])
                for model, entry in value.items()
            }
        case "permission_denials":
            return tuple(messages.PermissionDenial(**entry) for entry in value)
        case "changed" if isinstance(value, list):
            return tuple(messages.ChangedFile(**entry) for entry in cast("list[Any]", value))
        case "structured_output":
            return value
        case _:
            return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


def _usage(raw: Mapping[str, int]) -> Usage:
    known = {field.name for field in dataclasses.fields(Usage)}
    return Usage(**{key: count for key, count in raw.items() if key in known})
