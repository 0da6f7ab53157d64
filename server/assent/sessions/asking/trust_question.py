"""The question of trust in a folder, the same for every front: what it activates, what changed, and the words for it.

Trust is bound to what was shown. `look` takes the items as the files hold them now, with one hash of them all;
`approve` counts only when that hash is still the one of the files.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assent.storage.activation import TrustItem, set_hash
from assent.storage.settings import SettingsFiles
from assent.storage.trust import FolderTrust, Remember, TrustStore
from assent.text.visible import visible
from assent.types.blocks import Json

_ROOM = 1800  # characters of items that a message dialog bears
_WORDS = {
    "hook": "runs a program on",
    "mcpServer": "starts the MCP server",
    "env": "sets the variable",
    "rule": "never asks for",
    "setting": "sets",
    "command": "lets you run the command",
    "skill": "uses the skill",
    "agent": "uses the agent",
    "definitions": "uses what is in",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustState:
    folder: str
    answer: FolderTrust
    items: tuple[TrustItem, ...]  # dangerous ones first
    unapproved: tuple[TrustItem, ...]

    @property
    def hash(self) -> str:
        return set_hash(self.items)

    @property
    def changed(self) -> bool:
        """The user trusted this folder, and now it holds something that they were not shown."""
        return self.answer.trusted and not self.answer.vouched and bool(self.unapproved)

    @property
    def trusted(self) -> bool:
        return self.answer.trusted and not self.changed

    def change(self, item: TrustItem) -> Literal["added", "changed"] | None:
        if not self.answer.approved or item.digest in self.answer.approved:
            return None
        return "added" if self.answer.before(item) is None else "changed"

    def as_json(self) -> Json:
        return {
            "trusted": self.trusted,
            "hash": self.hash,
            "items": [self._item_json(item) for item in self.items],
            "changed": self.changed,
        }

    def _item_json(self, item: TrustItem) -> Json:
        found: Json = {
            "kind": item.kind,
            "name": visible(item.name),
            "value": visible(item.value),
            "file": item.file,
            "dangerous": item.dangerous,
        }
        if change := self.change(item):
            found["change"] = change
        if change == "changed" and (before := self.answer.before(item)):
            found["was"] = visible(before.value)
        return found


def look(settings: SettingsFiles, trust: TrustStore, folder: str) -> TrustState:
    answer = trust.of(folder)
    loaded = settings.load(folder, trust=answer)
    return TrustState(folder=folder, answer=answer, items=loaded.activates, unapproved=loaded.unapproved)


def approve(settings: SettingsFiles, trust: TrustStore, shown: TrustState, *, remember: Remember) -> bool | None:
    """Trust the folder for what was shown; whether that was saved. None: the files hold something else by now."""
    if look(settings, trust, shown.folder).hash != shown.hash:
        return None
    return trust.set(shown.folder, trusted=True, remember=remember, items=shown.items)


def question(state: TrustState, *, room: int = _ROOM) -> tuple[str, bool]:
    """The question with its items, and whether some had to be left out for lack of room: `listing` has them all."""
    begin = f"Assent: do you trust {visible(state.folder)}?"
    if state.changed and state.answer.approved:
        begin = f"Assent: {visible(state.folder)} would activate more than you trusted it for. Trust that too?"
        items = state.unapproved
    else:
        items = state.items
    lines, cut = _fitted([_line(state, item) for item in items], room)
    return "\n".join([begin, "Trusting it would activate:", *lines]), cut


def listing(state: TrustState) -> str:
    """All of it as Markdown, each value whole."""
    lines = [f"# What trusting {visible(state.folder)} would activate", ""]
    if not state.items:
        lines.append("Nothing: its files hold no rules, variables, hooks or servers.")
    for item in state.items:
        mark = {"added": " (new)", "changed": " (changed)", None: ""}[state.change(item)]
        danger = "**" if item.dangerous else ""
        lines.append(f"- {danger}{_WORDS[item.kind]} {visible(item.name)}{danger}{mark}, in {_file(item)}")
        if before := state.answer.before(item) if mark == " (changed)" else None:
            lines += ["", "  before:", *_fenced(before.value), "", "  now:"]
        lines += [*_fenced(item.value), ""]
    lines.append(f"Hash of all of it: {state.hash}")
    return "\n".join(lines) + "\n"


def _line(state: TrustState, item: TrustItem) -> str:
    mark = {"added": "new: ", "changed": "changed: ", None: ""}[state.change(item)]
    value = "" if item.kind == "rule" else f" = {visible(item.value)}"
    line = f"• {mark}{_WORDS[item.kind]} {visible(item.name)}{value} ({_file(item)})"
    before = state.answer.before(item) if mark == "changed: " else None
    return f"{line}; before it was {visible(before.value)}" if before else line


def _fitted(lines: list[str], room: int) -> tuple[list[str], bool]:
    """As many whole lines as there is room for; what is left out is counted."""
    used = 0
    for count, line in enumerate(lines):
        used += len(line) + 1
        if used > room:
            shown = lines[:count] or [f"{line[:room]}… ({len(line) - room} more characters)"]
            left = len(lines) - len(shown)
            return [*shown, *([f"… and {left} more"] if left else [])], True
    return lines, False


def _file(item: TrustItem) -> str:
    return Path(item.file).name if item.file.startswith("/") else item.file


def _fenced(value: str) -> list[str]:
    text = visible(value)
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"  {fence}", *(f"  {line}" for line in text.splitlines() or [""]), f"  {fence}"]
