"""Which workspaces the user trusts, and for what (P14): for this process, or for good. Untrusted is the default.

Trusting a folder covers what is inside it; saying no to an inner folder stays no. Trust activates only items that were
shown (`activation.TrustItem`): the items a person approved are kept with the answer, and any other one is withheld. An
editor that vouches for its workspace covers rules and variables, not programs to start nor settings that loosen.
"""

import contextlib
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from assent.storage.activation import TrustItem
from assent.storage.files import write_atomically

log = logging.getLogger(__name__)

Remember = Literal["session", "always"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderTrust:
    """What the user said of one folder."""

    trusted: bool
    everything: bool = False  # nobody has to approve single items
    vouched: bool = False  # the editor's word: covers what need not be shown
    approved: Mapping[str, TrustItem] = field(default_factory=dict[str, TrustItem])  # by digest

    def approves(self, item: TrustItem) -> bool:
        if not self.trusted:
            return False
        return self.everything or item.digest in self.approved or (self.vouched and not item.must_be_shown)

    def before(self, item: TrustItem) -> TrustItem | None:
        """The approved item that this one changes."""
        return next((old for old in self.approved.values() if old.place == item.place), None)


UNTRUSTED = FolderTrust(trusted=False)
EVERYTHING = FolderTrust(trusted=True, everything=True)
"""To look at all that files say, as if the user had approved it: for checks and explanations, never for a session."""


@dataclass(slots=True)
class _Answers:
    folders: dict[str, bool] = field(default_factory=dict[str, bool])
    approved: dict[str, dict[str, TrustItem]] = field(default_factory=dict[str, dict[str, TrustItem]])

    def copy(self) -> "_Answers":
        return _Answers(dict(self.folders), {folder: dict(items) for folder, items in self.approved.items()})


class TrustStore:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._session = _Answers()
        self._vouched: dict[str, bool] = {}
        self._read: tuple[tuple[int, int], _Answers] | None = None

    def of(self, folder: str) -> FolderTrust:
        """The user's word on the folder now."""
        saved = self._saved()
        key = os.path.realpath(folder)
        approved = saved.approved.get(key, {}) | self._session.approved.get(key, {})
        return FolderTrust(
            trusted=_nearest(saved.folders | self._session.folders, key) is True,
            vouched=_nearest(self._vouched, key) is True,
            approved=approved,
        )

    def trusted(self, folder: str) -> bool:
        return self.of(folder).trusted

    def decided(self, folder: str) -> bool:
        """Whether the user has said anything about exactly this folder or one around it."""
        return _nearest(self._saved().folders | self._session.folders, os.path.realpath(folder)) is not None

    def vouch(self, folder: str, *, trusted: bool) -> None:
        """The editor's own word for a folder, until this process ends."""
        key = os.path.realpath(folder)
        self._session.folders[key] = self._vouched[key] = trusted

    def set(self, folder: str, *, trusted: bool, remember: Remember, items: Iterable[TrustItem] = ()) -> bool:
        """Whether it is remembered as asked. An answer that the disk did not take counts until this process ends.

        `items` are those the person was shown; they replace what was approved before. A no withdraws all of them.
        """
        key = os.path.realpath(folder)
        shown = {item.digest: item for item in items} if trusted else {}
        self._session.folders[key] = trusted
        self._session.approved[key] = shown
        if not trusted:
            self._vouched.pop(key, None)
        if remember == "session":
            return True
        return self._save(key, lambda answers: _answer(answers, key, trusted, shown))

    def approve(self, folder: str, items: Iterable[TrustItem]) -> bool:
        """Items that the person themselves just wrote; whether the folder is trusted stays as it is."""
        key = os.path.realpath(folder)
        own = {item.digest: item for item in items}
        self._session.approved.setdefault(key, {}).update(own)
        return self._save(key, lambda answers: answers.approved.setdefault(key, {}).update(own), keep_session=True)

    def _save(self, key: str, change: Callable[[_Answers], None], *, keep_session: bool = False) -> bool:
        answers = self._saved().copy()
        change(answers)
        try:
            write_atomically(self._file, orjson.dumps(_as_json(answers), option=orjson.OPT_INDENT_2))
        except OSError as error:
            log.warning("the trust in %s could not be saved: %s", key, error.strerror)
            return False
        if not keep_session:  # the file speaks for it, and what another window writes there later
            del self._session.folders[key], self._session.approved[key]
        return True

    def _saved(self) -> _Answers:
        """The file's answers, read again when it changed: another window may have been told."""
        try:
            status = self._file.stat()
        except OSError:
            return _Answers()
        stamp = (status.st_mtime_ns, status.st_size)
        if self._read is None or self._read[0] != stamp:
            self._read = (stamp, self._parsed())
        return self._read[1]

    def _parsed(self) -> _Answers:
        """Version 0.1 knew folders only: what such a folder activates is asked about once more."""
        answers = _Answers()
        with contextlib.suppress(OSError, ValueError, AttributeError, TypeError, KeyError):
            data = orjson.loads(self._file.read_bytes())
            for folder, answer in data["folders"].items():
                if isinstance(answer, bool):
                    answers.folders[folder] = answer
            for folder, items in data.get("approved", {}).items():
                found = [_item(item) for item in items]
                answers.approved[folder] = {item.digest: item for item in found}
        return answers


def _nearest(answers: Mapping[str, bool], key: str) -> bool | None:
    path = Path(key)
    for candidate in (path, *path.parents):
        answer = answers.get(str(candidate))
        if answer is not None:
            return answer
    return None


def _answer(answers: _Answers, key: str, trusted: bool, shown: dict[str, TrustItem]) -> None:
    answers.folders[key] = trusted
    answers.approved[key] = shown


def _item(saved: dict[str, str]) -> TrustItem:
    texts = {name: saved[name] for name in ("kind", "name", "value", "file")}
    if not all(isinstance(text, str) for text in texts.values()):  # pyright: ignore[reportUnnecessaryIsInstance] -- read from a file
        raise TypeError("an approved item must hold strings")
    return TrustItem(**cast("Any", texts))


def _as_json(answers: _Answers) -> dict[str, Any]:
    approved = {
        folder: [
            {"kind": item.kind, "name": item.name, "value": item.value, "file": item.file} for item in items.values()
        ]
        for folder, items in answers.approved.items()
        if items
    }
    return {"folders": answers.folders} | ({"approved": approved} if approved else {})
