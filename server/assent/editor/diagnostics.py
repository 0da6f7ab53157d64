"""Problems the editor's language servers see, and which of them an edit brought: only NEW ones are told to the model.

A problem is the same one as before when source, code, message and the text of its line are the same; its line number
is not looked at, so a problem that an edit pushed down is not news. Our own marks (source "assent") are never counted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, cast

from assent.editor.client_edits import ClientEdits, ClientGone
from assent.editor.documents import Document
from assent.text.lines import LineIndex
from assent.text.uris import path_of, same_document

OWN_SOURCE = "assent"
_SEVERITY = {1: "error", 2: "warning", 3: "info", 4: "hint"}
_MOST = 20
_KEPT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem:
    source: str
    code: str
    message: str
    line_text: str
    line: int  # from 0
    severity: int

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.source, self.code, self.message, self.line_text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the language servers said at one moment. `settled`: the editor thinks they had finished."""

    problems: tuple[FileProblem, ...]
    settled: bool


class EditDiagnostics:
    """Asks for problems around an edit. A client that cannot say costs nothing and tells nothing."""

    def __init__(self, client: ClientEdits) -> None:
        self._client = client
        self._baselines: dict[str, Seen] = {}

    async def take_baseline(self, key: str, document: Document) -> None:
        """Before the first edit of `key` lands; what is there already is no news afterwards."""
        if key in self._baselines:
            return
        seen = await self._ask(document, settle_ms=0, timeout_ms=500)
        if seen is not None:
            self._baselines[key] = seen
            while len(self._baselines) > _KEPT:  # edits whose news nobody came to ask for
                del self._baselines[next(iter(self._baselines))]

    async def news(self, key: str, document: Document) -> str:
        """After the edits of `key` landed: what they brought, in words; empty when nothing, or nobody can say."""
        baseline = self._baselines.pop(key, None)
        if baseline is None:
            return ""
        seen = await self._ask(document, settle_ms=300, timeout_ms=3000)
        if seen is None:
            return ""
        return in_words(document.path or document.uri, new_problems(baseline, seen), settled=seen.settled)

    async def _ask(self, document: Document, *, settle_ms: int, timeout_ms: int) -> Seen | None:
        if not self._client.can_query:
            return None
        try:
            answer = await self._client.query(
                "diagnostics", {"uri": document.client_uri, "settleMs": settle_ms, "timeoutMs": timeout_ms}
            )
        except ClientGone:
            return None
        if answer.get("status") != "success":
            return None
        found = problems(answer.get("value"), document.uri, document.text)
        settled: Any = answer.get("settled", _within(answer.get("value"), "settled"))
        return Seen(problems=tuple(found), settled=settled is True)


def problems(value: object, uri: str, text: str) -> list[FileProblem]:
    """LSP diagnostics from the wire: a list, `{diagnostics: [...]}`, or such objects per URI. Odd ones are skipped."""
    lines = LineIndex(text)
    found: list[FileProblem] = []
    for item in _flat(value, uri):
        line = _line(item)
        source, message = str(item.get("source") or ""), str(item.get("message") or "")
        if source == OWN_SOURCE or not message:
            continue
        severity: Any = item.get("severity")
        found.append(
            FileProblem(
                source=source,
                code=_code(item.get("code")),
                message=message,
                line=line,
                line_text=text[lines.start(line) : lines.content_end(text, line)].strip() if line < len(lines) else "",
                severity=severity if isinstance(severity, int) else 1,
            )
        )
    return found


def new_problems(before: Seen, after: Seen) -> list[FileProblem]:
    """Those of `after` that `before` did not have; two equal ones where there was one count as one new."""
    had = Counter(problem.key for problem in before.problems)
    fresh: list[FileProblem] = []
    for problem in after.problems:
        if had[problem.key] > 0:
            had[problem.key] -= 1
        else:
            fresh.append(problem)
    return sorted(fresh, key=lambda problem: (problem.severity, problem.line))


def in_words(path: str, fresh: Sequence[FileProblem], *, settled: bool) -> str:
    unsure = "" if settled else " (not confirmed: the language servers may not have finished)"
    if not fresh:
        return "" if settled else f"No new diagnostics so far{unsure}."
    lines = [f"New diagnostics after this edit{unsure}:"]
    name = PurePath(path).name
    for problem in fresh[:_MOST]:
        by = " ".join(part for part in (problem.source, problem.code) if part)
        severity = _SEVERITY.get(problem.severity, "error")
        lines.append(f"{name}:{problem.line + 1}: {severity}: {problem.message}" + (f" [{by}]" if by else ""))
    if len(fresh) > _MOST:
        lines.append(f"… and {len(fresh) - _MOST} more")
    return "\n".join(lines)


def _flat(value: object, uri: str) -> list[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        value = cast("Mapping[str, Any]", value).get("diagnostics")
    if not isinstance(value, list):
        return []
    flat: list[Mapping[str, Any]] = []
    for item in cast("list[object]", value):
        if not isinstance(item, Mapping):
            continue
        entry = cast("Mapping[str, Any]", item)
        if isinstance(entry.get("diagnostics"), list):
            if path_of(str(entry.get("uri"))) is None or same_document(str(entry["uri"])) == same_document(uri):
                flat += _flat(entry["diagnostics"], uri)
        else:
            flat.append(entry)
    return flat


def _within(value: object, name: str) -> object:
    return cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None


def _line(item: Mapping[str, Any]) -> int:
    try:
        return max(0, int(item["range"]["start"]["line"]))
    except (KeyError, TypeError, ValueError):
        return 0


def _code(raw: object) -> str:
    if isinstance(raw, Mapping):  # some editors give {value, target}
        raw = cast("Mapping[str, Any]", raw).get("value")
    return "" if raw is None else str(raw)
