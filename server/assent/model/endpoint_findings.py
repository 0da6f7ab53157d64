"""What was found out about endpoints, kept between runs: the models they offer, and what they turned out not to take.

One small file of the user's alone, by endpoint. It holds names only; without it everything is found out again.
"""

import contextlib
import os
from pathlib import Path
from typing import Any, cast

import orjson

from assent.model.lacking import FEATURES, Feature
from assent.model.offered import EndpointModels, OfferedModel
from assent.types.ids import new_id
from assent.types.private_files import create_private, private_folder
from assent.types.regular_files import read_regular

FILE = "models.json"
_MOST_BYTES = 4_000_000
_MOST_ENDPOINTS = 20


class Findings:
    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE

    def offer(self, endpoint: str) -> EndpointModels:
        row = self._row(endpoint)
        models = [
            OfferedModel(id=str(each["id"]), name=str(each["name"]), source="endpoint")
            for each in _rows(row.get("models"))
            if "id" in each and "name" in each
        ]
        asked = row.get("askedAt")
        return EndpointModels(endpoint=endpoint, models=tuple(models), asked_at=float(asked) if asked else 0.0)

    def lacking(self, endpoint: str) -> dict[str, frozenset[Feature]]:
        found: dict[str, frozenset[Feature]] = {}
        for model, names in _object(self._row(endpoint).get("lacking")).items():
            found[model] = frozenset(each for each in FEATURES if each in (names or ()))
        return found

    def everything(self) -> dict[str, dict[str, frozenset[Feature]]]:
        """By endpoint and model, what is not taken; for `doctor`."""
        return {endpoint: found for endpoint in self._read() if (found := self.lacking(endpoint))}

    def keep_offer(self, endpoint: str, offer: EndpointModels) -> None:
        models = [{"id": each.id, "name": each.name} for each in offer.models]
        self._change(endpoint, {"models": models, "askedAt": offer.asked_at})

    def keep_lacking(self, endpoint: str, found: dict[str, frozenset[Feature]]) -> None:
        self._change(endpoint, {"lacking": {model: sorted(names) for model, names in found.items()}})

    def _row(self, endpoint: str) -> dict[str, Any]:
        return _object(self._read().get(endpoint))

    def _read(self) -> dict[str, Any]:
        try:
            return _object(orjson.loads(read_regular(self._file, limit=_MOST_BYTES).data))
        except (OSError, ValueError):
            return {}

    def _change(self, endpoint: str, change: dict[str, Any]) -> None:
        """A courtesy to the next run: a disk that takes nothing takes nothing away."""
        known = self._read()
        row = {**_object(known.pop(endpoint, None)), **change}
        kept = dict(list(known.items())[-(_MOST_ENDPOINTS - 1) :])
        written = self._file.with_name(f"{FILE}.{new_id()}")
        with contextlib.suppress(OSError):
            private_folder(self._file.parent)
            with open(written, "xb", opener=create_private) as file:
                file.write(orjson.dumps({**kept, endpoint: row}))
            os.replace(written, self._file)  # noqa: PTH105 -- both are in one folder
        with contextlib.suppress(OSError):
            written.unlink(missing_ok=True)


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _rows(value: Any) -> list[dict[str, Any]]:
    return [_object(each) for each in cast("list[Any]", value)] if isinstance(value, list) else []
