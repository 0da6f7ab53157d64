"""Pending hunks for plain clients, as the JSON of LSP objects: diagnostics, lenses and code actions.

Pure: takes proposals as they are on the wire. Clients that claim `review` draw their own and get none of these.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from assent.editor.diagnostics import OWN_SOURCE
from assent.text.uris import same_document
from assent.types.blocks import Json

_INFORMATION = 3
_MOST = 12


def hunk_diagnostics(proposals: Iterable[Mapping[str, Any]]) -> list[Json]:
    """Information diagnostics, one per hunk that can be decided: code hunkId, message a short diff."""
    return [
        {
            "range": hunk["range"],
            "severity": _INFORMATION,
            "source": OWN_SOURCE,
            "code": hunk["hunkId"],
            "message": _message(proposal, hunk),
            "data": {"proposalId": proposal["proposalId"], "hunkId": hunk["hunkId"]},
        }
        for proposal, hunk in _deciding(proposals)
    ]


def hunk_lenses(proposals: Iterable[Mapping[str, Any]]) -> list[Json]:
    lenses: list[Json] = []
    for proposal, hunk in _deciding(proposals):
        at = {"start": hunk["range"]["start"], "end": hunk["range"]["start"]}
        for title, command in (("Accept hunk", "assent.acceptHunk"), ("Reject hunk", "assent.rejectHunk")):
            if command == "assent.acceptHunk" and hunk["state"] == "conflict":
                continue
            lenses.append({"range": at, "command": _command(title, command, proposal, hunk)})
    return lenses


def hunk_actions(proposals: Iterable[Mapping[str, Any]], uri: str, span: Mapping[str, Any] | None = None) -> list[Json]:
    """Code actions for the hunks of this document that the range touches, then for the file, then for everything."""
    everything = list(proposals)
    here = [proposal for proposal in everything if same_document(str(proposal["uri"])) == same_document(uri)]
    actions: list[Json] = []
    for proposal, hunk in _deciding(here):
        if span is not None and not _touch(hunk["range"], span):
            continue
        label = f"line {hunk['range']['start']['line'] + 1}"
        if hunk["state"] != "conflict":
            actions.append(_action(f"Assent: Accept hunk at {label}", "assent.acceptHunk", proposal, hunk))
        actions.append(_action(f"Assent: Reject hunk at {label}", "assent.rejectHunk", proposal, hunk))
    if any(True for _ in _deciding(here)):
        actions.append(_plain("Assent: Accept all hunks in this file", "assent.acceptFile", [uri]))
        actions.append(_plain("Assent: Reject all hunks in this file", "assent.rejectFile", [uri]))
    if any(True for _ in _deciding(everything)):
        actions.append(_plain("Assent: Accept all hunks", "assent.acceptAll", []))
        actions.append(_plain("Assent: Reject all hunks", "assent.rejectAll", []))
    return actions


def _deciding(proposals: Iterable[Mapping[str, Any]]) -> Iterable[tuple[Mapping[str, Any], Json]]:
    for proposal in proposals:
        for hunk in proposal["hunks"]:
            if hunk.get("open", hunk["state"] in ("pending", "landed", "edited", "conflict")):
                yield proposal, hunk


def _message(proposal: Mapping[str, Any], hunk: Mapping[str, Any]) -> str:
    match hunk["state"]:
        case "pending":
            head = "Assent proposes"
        case "conflict":
            head = f"Assent's proposal conflicts: {hunk.get('why') or 'these lines were changed meanwhile'}"
        case _:
            head = "Assent changed this"
    reason = f" ({proposal['reason']})" if proposal.get("reason") else ""
    return f"{head}{reason}:\n{_diff(hunk['oldText'], hunk['newText'])}"


def _diff(old: str, new: str) -> str:
    from assent.editor.hunks import Hunk, short_diff

    return short_diff(Hunk(start=0, end=0, old_text=old, new_text=new), most=_MOST)


def _command(title: str, command: str, proposal: Mapping[str, Any], hunk: Mapping[str, Any]) -> Json:
    return {"title": title, "command": command, "arguments": [proposal["proposalId"], hunk["hunkId"]]}


def _action(title: str, command: str, proposal: Mapping[str, Any], hunk: Mapping[str, Any]) -> Json:
    return {"title": title, "kind": "quickfix", "command": _command(title, command, proposal, hunk)}


def _plain(title: str, command: str, arguments: list[str]) -> Json:
    return {"title": title, "kind": "quickfix", "command": {"title": title, "command": command, "arguments": arguments}}


def _touch(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two ranges share a line: a cursor anywhere on a hunk's lines means the hunk."""
    last = one["end"]["line"] - (1 if one["end"]["character"] == 0 and one["end"]["line"] > one["start"]["line"] else 0)
    return one["start"]["line"] <= other["end"]["line"] and other["start"]["line"] <= last
