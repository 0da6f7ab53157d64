"""Notifies InstructionsLoaded hooks which instruction files were loaded, and why. The turn does not wait for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.extensions.memory import MemoryFile
from assent.types.blocks import Json
from assent.types.hooks import HookCall, Hooks

if TYPE_CHECKING:
    from assent.engine.turn import Turn

_TYPES = {"managed": "Managed", "user": "User", "auto": "User", "local": "Local"}


def tell_hooks(turn: Turn, files: Sequence[MemoryFile], *, touched: str = "") -> None:
    """Run the hooks in the background, one call for each file that was read."""
    hooks = turn.services.hooks
    loaded = [file for file in files if not file.refused]
    if loaded and hooks.wants("InstructionsLoaded"):
        calls = [
            HookCall(
                event="InstructionsLoaded",
                session_id=turn.config.session_id,
                cwd=turn.app.cwd,
                subject=file.reason,
                data=_data(file, touched),
                detached=True,
            )
            for file in loaded
        ]
        turn.background.spawn(_run(hooks, calls), name="InstructionsLoaded hooks")


async def _run(hooks: Hooks, calls: Sequence[HookCall]) -> None:
    for call in calls:
        await hooks.run(call)


def _data(file: MemoryFile, touched: str) -> Json:
    data: Json = {
        "file_path": file.path,
        "memory_type": _TYPES.get(file.scope, "Project"),
        "load_reason": file.reason,
    }
    if file.globs:
        data["globs"] = list(file.globs)
    if touched:
        data["trigger_file_path"] = touched
    if file.parent:
        data["parent_file_path"] = file.parent
    return data
