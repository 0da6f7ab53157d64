"""A session's turns as trees of calls: times, tokens, cache share. Made from the file alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from assent.storage import transcript
from assent.text.visible import visible
from assent.text.words import counted, one_line
from assent.types.blocks import Json, text_of

SHOWN_PROMPT = 60


def turns(path: Path) -> list[Json]:
    """Every turn that has a trace, the oldest first: its prompt, its totals, and `calls`, each with those below it."""
    prompts: dict[str, str] = {}
    records: dict[str, list[Json]] = {}
    for entry in transcript.stream(path):
        if isinstance(entry, int):
            continue
        if entry.type == "session/turn":
            prompts[str(entry.record.get("turnId"))] = text_of(entry.record.get("content") or [])
        elif entry.type == "session/trace":
            records.setdefault(str(entry.record.get("turnId")), []).append(entry.record)
    return [_turn(number, id, prompts.get(id, ""), found) for number, (id, found) in enumerate(records.items(), 1)]


def as_text(found: Iterable[Json]) -> str:
    return "\n\n".join("\n".join(_lines(turn)) for turn in found)


def _turn(number: int, id: str, prompt: str, records: list[Json]) -> Json:
    records = sorted(records, key=lambda each: each.get("startedAt") or 0.0)
    below: dict[str, list[Json]] = {}  # by the Agent call they came from
    for record in records:
        below.setdefault(str(record.get("parentToolUseId") or ""), []).append(record)
    calls = [each for each in records if each["what"] == "call"]
    began = min(each["startedAt"] for each in records)
    ended = max(each["startedAt"] + each["seconds"] for each in records)
    prompted = sum(each["input"] + each["cacheRead"] + each["cacheWrite"] for each in calls)
    hidden = [each for each in calls if each["source"] not in ("main", "subagent")]
    return {
        "turn": number,
        "turnId": id,
        "prompt": prompt,
        "chain": next((each["chain"] for each in calls if each["chain"]), ""),
        "seconds": round(ended - began, 3),
        "modelSeconds": round(sum(each["seconds"] for each in calls if each["depth"] == 0), 3),
        "toolSeconds": round(sum(each["seconds"] for each in below.get("", []) if each["what"] == "tool"), 3),
        "steps": sum(each["source"] == "main" for each in calls),
        "modelCalls": len(calls),
        "costUsd": sum(each["costUsd"] for each in calls),
        "input": prompted,
        "output": sum(each["output"] for each in calls),
        "cacheShare": sum(each["cacheRead"] for each in calls) / prompted if prompted else 0.0,
        "besideCalls": len(hidden),
        "besideCostUsd": sum(each["costUsd"] for each in hidden),
        "retries": sum(each["retries"] for each in calls),
        "waitedSeconds": sum(each["waitedMs"] for each in calls) / 1000,
        "failed": sum(bool(each["error"]) for each in calls),
        "withdrawn": sum(each["transition"] in ("stream_retry", "fallback_model_retry") for each in calls),
        "calls": _nested(below.pop("", []), below),
    }


def _nested(records: list[Json], below: dict[str, list[Json]]) -> list[Json]:
    """Tools stand under the step that called them, a subagent's calls under its Agent call."""
    top: list[Json] = []
    step: Json | None = None
    for record in records:
        children = _nested(below.pop(record["toolUseId"], []), below) if record["what"] == "tool" else []
        node: Json = {
            **{key: value for key, value in record.items() if key not in ("type", "turnId")},
            "calls": children,
        }
        if record["what"] == "call" and record["source"] in ("main", "subagent"):
            step = node
            top.append(node)
        elif record["what"] == "tool" and step is not None:
            step["calls"].append(node)
        else:
            top.append(node)
    return top


def _lines(turn: Json) -> Iterator[str]:
    prompt = visible(one_line(turn["prompt"], most=SHOWN_PROMPT))
    yield f'Turn {turn["turn"]}  "{prompt}"'
    yield (
        f"{turn['seconds']:.1f} s (model {turn['modelSeconds']:.1f} s, tools {turn['toolSeconds']:.1f} s), "
        f"{counted(turn['steps'], 'step')}, {turn['input']:,} tokens in, {turn['output']:,} out, "
        f"{100 * turn['cacheShare']:.0f} % from cache, ${turn['costUsd']:.4f}"
    )
    yield from _tree(turn["calls"], "")
    if waste := _waste(turn):
        yield "Waste: " + "; ".join(waste)


def _tree(nodes: list[Json], indent: str) -> Iterator[str]:
    for at, node in enumerate(nodes):
        last = at == len(nodes) - 1
        yield f"{indent}{'└─' if last else '├─'} {_line(node)}"
        yield from _tree(node["calls"], indent + ("   " if last else "│  "))


def _line(node: Json) -> str:
    if node["what"] == "tool":
        how = "  failed" if node["isError"] else ""
        return f"{visible(one_line(node['title'], most=70))}  {node['seconds']:.2f} s{how}"
    prompted = node["input"] + node["cacheRead"] + node["cacheWrite"]
    share = 100 * node["cacheRead"] / prompted if prompted else 0.0
    parts: list[Any] = [
        node["model"] if node["source"] == "main" else f"{node['source']}: {node['model']}",
        f"{node['seconds']:.2f} s" + (f" (first word {node['firstSeconds']:.2f} s)" if node["firstSeconds"] else ""),
        f"{prompted:,} in, {node['output']:,} out, {share:.0f} % from cache",
        f"${node['costUsd']:.4f}" if node["costUsd"] else "",
        f"because of {node['transition']}" if node["transition"] not in (None, "next_turn") else "",
        f"{counted(node['retries'], 'retry').replace('retrys', 'retries')}" if node["retries"] else "",
        visible(one_line(node["error"], most=100)),
    ]
    return "  ".join(part for part in parts if part)


def _waste(turn: Json) -> list[str]:
    """What was paid or waited for and brought nothing."""
    found: list[str] = []
    if turn["retries"]:
        found.append(f"{turn['waitedSeconds']:.1f} s waited before {turn['retries']} tries more")
    if turn["withdrawn"]:
        found.append(f"{counted(turn['withdrawn'], 'answer')} made again")
    if turn["failed"]:
        found.append(f"{counted(turn['failed'], 'call')} without an answer")
    if turn["besideCalls"]:
        found.append(f"{counted(turn['besideCalls'], 'call')} beside the conversation, ${turn['besideCostUsd']:.4f}")
    return found
