"""A re-read of an unchanged file may be a stub only while the earlier result is in view (C7)."""

from collections.abc import Collection
from typing import Protocol, TypeVar


class Mark(Protocol):
    @property
    def tool_use_id(self) -> str: ...
    @property
    def in_view(self) -> bool: ...


M = TypeVar("M", bound=Mark)


def out_of_view(marks: dict[str, M], hidden: Collection[str] | None) -> list[str]:
    """Paths whose content the model can no longer see; `hidden` None means nothing of before is in view."""
    return [path for path, mark in marks.items() if mark.in_view and (hidden is None or mark.tool_use_id in hidden)]
