"""What hooks did, run by run: the newest in memory, all of a session in `hooks.jsonl` beside its other files.

The file outlives the process, so secrets are taken out of it. It is cut to its newer half when it grows too large.
"""

import contextlib
from collections import deque
from pathlib import Path
from typing import Any, cast

import orjson

from assent.types.blocks import Json
from assent.types.private_files import create_private, private_folder
from assent.types.redaction import redact

PAGE = 100
LARGEST = 4_000_000  # bytes of the file
_KEPT = 1_000  # runs of a session in memory, where it has no folder


class HookLog:
    def __init__(self) -> None:
        self._recent: dict[str, deque[Json]] = {}

    def add(self, session_id: str, folder: Path | None, run: Json) -> None:
        kept = self._recent.setdefault(session_id, deque(maxlen=_KEPT))
        kept.append(run)
        if folder is not None:
            with contextlib.suppress(OSError):  # a full disk must not stop a turn; memory has it
                _append(folder / "hooks.jsonl", run)

    def page(self, session_id: str, folder: Path | None, cursor: str | None = None) -> Json:
        """Newest first."""
        runs = _read(folder / "hooks.jsonl") if folder is not None else []
        runs = runs or list(self._recent.get(session_id, ()))
        start = int(cursor) if cursor and cursor.isdigit() else 0
        newest = list(reversed(runs))
        answer: Json = {"runs": newest[start : start + PAGE]}
        if start + PAGE < len(newest):
            answer["nextCursor"] = str(start + PAGE)
        return answer

    def forget(self, session_id: str) -> None:
        self._recent.pop(session_id, None)


def _append(file: Path, run: Json) -> None:
    private_folder(file.parent)
    line = redact(orjson.dumps(run).decode()).encode() + b"\n"
    if file.exists() and file.stat().st_size > LARGEST:
        whole = file.read_bytes()
        half = whole[whole.find(b"\n", len(whole) // 2) + 1 :]
        spare = file.with_suffix(".new")
        with open(spare, "wb", opener=create_private) as target:
            target.write(half)
        spare.replace(file)
    with open(file, "ab", opener=create_private) as target:
        target.write(line)


def _read(file: Path) -> list[Json]:
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError:
        return []
    found: list[Json] = []
    for line in lines:
        with contextlib.suppress(orjson.JSONDecodeError):
            value: Any = orjson.loads(line) if line else None
            if isinstance(value, dict):
                found.append(cast("Json", value))
    return found
