"""What is remembered of servers: approvals and switches of the user, and the tools each server had when last seen.

Approvals are keyed on the hash of a configuration. The remembered tools are also what a person accepted: a later
definition that differs from them has to be accepted again.
"""

import contextlib
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import orjson

from assent.types.blocks import Json

Write = Callable[[Path, bytes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What one server configuration had to offer when we last spoke to it."""

    era: str = ""
    tools: tuple[Json, ...] = ()
    prompts: tuple[Json, ...] = ()
    instructions: str = ""
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])  # its name, title, version and icons
    version: str = ""  # of the protocol
    gone: tuple[Json, ...] = ()  # tools it had before: one that comes back differently has changed


class KnownServers:
    """One file per server configuration, in the user's cache of this program."""

    def __init__(self, folder: Path, *, write: Write) -> None:
        self._folder = folder
        self._write = write

    def get(self, identity: str) -> Known | None:
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            data = cast("Json", orjson.loads(self._file(identity).read_bytes()))
            tools = [tool for tool in cast("list[Json]", data["tools"]) if str(tool["name"])]
            return Known(
                era=str(data["era"]),
                tools=tuple(tools),
                prompts=tuple(data["prompts"]),
                instructions=str(data["instructions"]),
                capabilities=dict(data["capabilities"]),
                info=dict(data.get("info", {})),
                version=str(data.get("version", "")),
                gone=tuple(tool for tool in data.get("gone", ()) if str(tool["name"])),
            )
        return None

    def put(self, identity: str, known: Known) -> None:
        """A disk that does not take it costs the next start some time, no more."""
        data: Json = {
            "era": known.era,
            "tools": list(known.tools),
            "prompts": list(known.prompts),
            "instructions": known.instructions,
            "capabilities": dict(known.capabilities),
            "info": dict(known.info),
            "version": known.version,
            "gone": list(known.gone),
        }
        with contextlib.suppress(OSError, TypeError, ValueError):
            self._write(self._file(identity), orjson.dumps(data))

    def forget(self, identity: str) -> None:
        with contextlib.suppress(OSError):
            self._file(identity).unlink()

    def _file(self, identity: str) -> Path:
        return self._folder / f"{identity}.json"


class Approvals:
    """What the user approved and switched off, per folder; read again when the file changed."""

    def __init__(self, file: Path, *, write: Write) -> None:
        self._file = file
        self._write = write
        self._read: tuple[tuple[int, int], Json] | None = None

    def approved(self, folder: str, name: str, hash: str) -> bool:
        return self._entry(folder, name).get("hash") == hash

    def shown(self, folder: str, name: str) -> str:
        """The configuration as it was approved, in words; empty when none was."""
        return str(self._entry(folder, name).get("shown", ""))

    def approve(self, folder: str, name: str, *, hash: str, shown: str) -> None:
        self._change(lambda data: _table(data, "approved", folder).__setitem__(name, {"hash": hash, "shown": shown}))

    def disabled(self, folder: str, name: str) -> bool:
        return name in _table(self._data(), "disabled", folder)

    def set_disabled(self, folder: str, name: str, disabled: bool) -> None:
        def change(data: Json) -> None:
            names = _table(data, "disabled", folder)
            if disabled:
                names[name] = True
            else:
                names.pop(name, None)

        self._change(change)

    def _entry(self, folder: str, name: str) -> Json:
        entry = _table(self._data(), "approved", folder).get(name)
        return cast("Json", entry) if isinstance(entry, dict) else {}

    def _change(self, change: Callable[[Json], None]) -> None:
        """Raises OSError when the disk does not take it."""
        data = cast("Json", orjson.loads(orjson.dumps(self._data())))
        change(data)
        self._write(self._file, orjson.dumps(data, option=orjson.OPT_INDENT_2))
        self._read = None

    def _data(self) -> Json:
        try:
            status = self._file.stat()
        except OSError:
            return {}
        stamp = (status.st_mtime_ns, status.st_size)
        if self._read is None or self._read[0] != stamp:
            value: Any = {}
            with contextlib.suppress(OSError, ValueError):
                value = orjson.loads(self._file.read_bytes())
            self._read = (stamp, cast("Json", value) if isinstance(value, dict) else {})
        return self._read[1]


def _table(data: Json, kind: str, folder: str) -> Json:
    tables = data.setdefault(kind, {})
    if not isinstance(tables, dict):
        tables = data[kind] = {}
    table = cast("Json", tables).setdefault(folder, {})
    return cast("Json", table) if isinstance(table, dict) else {}


def changed_tools(before: Sequence[Json], now: Sequence[Json]) -> dict[str, tuple[Json, Json]]:
    """Tools that were known and are defined differently now, by name. New tools are not among them."""
    old = {str(tool["name"]): tool for tool in before}
    pairs = ((str(tool["name"]), old.get(str(tool["name"])), tool) for tool in now)
    return {name: (was, tool) for name, was, tool in pairs if was is not None and _meaning(was) != _meaning(tool)}


def difference(before: str, now: str, *, context: int = 2) -> str:
    lines = difflib.unified_diff(before.splitlines(), now.splitlines(), "before", "now", lineterm="", n=context)
    return "\n".join(lines)


def tool_text(tool: Json) -> str:
    """A tool's definition as people read it."""
    schema = orjson.dumps(tool.get("inputSchema", {}), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()
    meta = orjson.dumps(tool.get("_meta", {}), option=orjson.OPT_SORT_KEYS).decode()
    title = tool.get("title", "")
    hints = orjson.dumps(tool.get("annotations", {}), option=orjson.OPT_SORT_KEYS).decode()
    return "\n".join([str(tool["name"]), title, str(tool.get("description", "")), schema, hints, meta])


def _meaning(tool: Json) -> bytes:
    """The parts that the model reads or that decide how a call is treated."""
    kept = {key: tool.get(key) for key in ("description", "title", "inputSchema", "annotations")}
    said = tool.get("_meta")
    meta = cast("Json", said) if isinstance(said, dict) else {}
    kept["_meta"] = {key: value for key, value in meta.items() if key.startswith("anthropic/")}
    return orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)
