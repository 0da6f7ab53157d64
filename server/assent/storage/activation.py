"""What the files of a project would activate, item by item: this is what trust is about (P14).

An item is one rule, variable, hook, server, setting or definition (a command, skill or agent that runs or permits
something) together with its value and its file. A person is shown items;
trust counts for exactly those, so one that is new or has another value is withheld until it was shown too.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from assent.types.blocks import Json

ItemKind = Literal["hook", "mcpServer", "command", "skill", "agent", "env", "setting", "rule", "definitions"]
"""`definitions` stands for a folder of commands, skills or agents that only say something."""
_HARMLESS_SETTINGS = frozenset(
    {
        *("model", "smallModel", "fallbackModel", "effort", "thinking", "maxTurns", "maxBudgetUsd", "memory", "review"),
        *("appendSystemPrompt", "outputStyle", "backgroundCalls", "contextEdits", "persistentRetry"),
    }
)
_HARMLESS_MODES = frozenset({"default", "plan", "dontAsk"})
_READING_TOOLS = frozenset({"Read", "Glob", "Grep"})
_ORDER: tuple[ItemKind, ...] = (
    *("hook", "mcpServer", "command", "skill", "agent", "env", "setting", "rule", "definitions"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustItem:
    kind: ItemKind
    name: str
    value: str  # whole, as text: what a person judges
    file: str

    @property
    def dangerous(self) -> bool:
        """May it run a program, or let one run unasked?"""
        match self.kind:
            case "rule":
                return self.name.split("(", 1)[0] not in _READING_TOOLS
            case "setting" if self.name == "permissions.defaultMode":
                return self.value not in _HARMLESS_MODES
            case "setting":
                return self.name not in _HARMLESS_SETTINGS
            case "definitions":
                return False
            case _:
                return True

    @property
    def must_be_shown(self) -> bool:
        """An editor's own word for a folder covers rules, variables and plain settings, not this."""
        return self.kind in ("hook", "mcpServer", "command", "skill", "agent") or (
            self.kind == "setting" and self.dangerous
        )

    @property
    def digest(self) -> str:
        return hashlib.sha256(orjson.dumps([self.kind, self.name, self.value, self.file])).hexdigest()

    @property
    def place(self) -> tuple[str, str, str]:
        """What it is about, without its value: an item of the same place with another value was changed."""
        return self.kind, self.name, self.file


Approves = Callable[[TrustItem], bool]


def in_order(items: Iterable[TrustItem]) -> list[TrustItem]:
    """Dangerous ones first, then by kind, file and name."""
    return sorted(items, key=lambda item: (not item.dangerous, _ORDER.index(item.kind), item.file, item.name))


def set_hash(items: Iterable[TrustItem]) -> str:
    """One hash of all of them, whatever their order."""
    return hashlib.sha256("\n".join(sorted({item.digest for item in items})).encode()).hexdigest()


def activated(values: Json, allows: Sequence[str], file: str) -> list[TrustItem]:
    """Every item of one file."""
    return [item for item, _ in _parts(values, file)] + [rule_item(rule, file) for rule in allows]


def rule_item(rule: str, file: str) -> TrustItem:
    return TrustItem(kind="rule", name=rule, value=f"allow {rule}", file=file)


def hook_item(event: str, entry: Json, file: str) -> TrustItem:
    return TrustItem(kind="hook", name=event, value=_as_text(entry), file=file)


def approved_part(values: Json, file: str, approves: Approves) -> Json:
    """The values without the items that are not approved."""
    kept: Json = {}
    for item, put in _parts(values, file):
        if approves(item):
            put(kept)
    return kept


def approved_rule(rule: str, file: str, approves: Approves) -> bool:
    return approves(rule_item(rule, file))


def summary(items: Sequence[TrustItem]) -> list[str]:
    """One line per file and kind, names only; for a status line, not for a decision."""
    groups: dict[tuple[str, str], list[str]] = {}
    for item in items:
        name = Path(item.file).name if item.file.startswith("/") else item.file
        key = f"{name}: {item.name}" if item.kind == "setting" else f"{name}: {_SUMMARY[item.kind]}"
        groups.setdefault((item.kind, key), []).append(item.name)
    return [line if kind == "setting" else _listed(kind, line, names) for (kind, line), names in groups.items()]


_SUMMARY = {
    "hook": "hooks",
    "mcpServer": "mcpServers",
    "command": "commands that run programs",
    "skill": "skills that run programs or allow tools",
    "agent": "agents that run programs",
    "env": "env",
    "rule": "allow rules",
    "definitions": "commands, skills and agents",
}


def _listed(kind: str, line: str, names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    words = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"{line} {words}" if kind == "rule" else f"{line} ({words})"


def _parts(values: Json, file: str) -> list[tuple[TrustItem, Callable[[Json], None]]]:
    """Each item of a file's values, and how to put it, and nothing else, into another set of values."""
    found: list[tuple[TrustItem, Callable[[Json], None]]] = []

    def add(kind: ItemKind, name: str, value: Any, put: Callable[[Json], None]) -> None:
        found.append((TrustItem(kind=kind, name=name, value=_as_text(value), file=file), put))

    for key, value in values.items():
        if key == "$schema" or value in ({}, [], None):
            continue
        match key:
            case "env" | "mcpServers":
                kind: ItemKind = "env" if key == "env" else "mcpServer"
                for name, inner in cast("Json", value).items():
                    add(kind, name, inner, _put(key, name, inner))
            case "hooks":
                for event, entries in cast("dict[str, list[Any]]", value).items():
                    for entry in entries:
                        add("hook", event, entry, _append(key, event, entry))
            case "permissions":
                for name, inner in cast("Json", value).items():
                    add("setting", f"permissions.{name}", inner, _put(key, name, inner))
            case _:
                add("setting", key, value, _set(key, value))
    return found


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _set(key: str, value: Any) -> Callable[[Json], None]:
    def put(kept: Json) -> None:
        kept[key] = value

    return put


def _put(key: str, name: str, value: Any) -> Callable[[Json], None]:
    def put(kept: Json) -> None:
        kept.setdefault(key, {})[name] = value

    return put


def _append(key: str, name: str, value: Any) -> Callable[[Json], None]:
    def put(kept: Json) -> None:
        kept.setdefault(key, {}).setdefault(name, []).append(value)

    return put
