"""How things look in a terminal: pure functions from what the wire says to lines of text."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Self, TextIO
from urllib.parse import unquote

from assent.text.uris import split
from assent.text.visible import readable, visible
from assent.types.blocks import Json

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours, or none of them."""

    colour: bool

    @classmethod
    def of(cls, stream: TextIO) -> Self:
        """For whoever looks at this stream: a file, a pipe and someone who said NO_COLOR get none."""
        return cls(stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")

    def paint(self, style: str, text: str) -> str:
        if not self.colour or not text:
            return text
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m"


def call_title(event: Json) -> str:
    """What a call does, beginning with the tool's name."""
    tool, title = event["tool"], event["title"]
    return title if title.startswith(tool) else f"{tool}  {title}"


def proposal_diff(proposal: Json, palette: Palette, cwd: Path | None = None) -> list[str]:
    """A proposal as a diff a person can read: the file, then each hunk with its first line number."""
    name = path_of(proposal["uri"], cwd)
    lines = [palette.paint("bold", f"  {visible(name)}")]
    return [*lines, *(line for hunk in proposal["hunks"] for line in hunk_diff(hunk, palette))]


def hunk_diff(hunk: Json, palette: Palette) -> list[str]:
    start = hunk["range"]["start"]["line"] + 1
    old, new = _lines(hunk.get("oldDisplay", hunk["oldText"])), _lines(hunk.get("newDisplay", hunk["newText"]))
    return [
        palette.paint("cyan", f"  @@ line {start}"),
        *(palette.paint("red", f"  - {readable(line)}") for line in old),
        *(palette.paint("green", f"  + {readable(line)}") for line in new),
    ]


def status_line(facts: Json) -> str:
    """Below the prompt: model, mode, how full the context is, what it has cost."""
    parts = [visible(str(facts.get("model", ""))), f"mode {facts.get('mode', 'default')}"]
    if window := facts.get("contextWindow"):
        parts.append(f"context {100 * facts['contextTokens'] // window} %")
    if "totalCostUsd" in facts:
        parts.append(f"${facts['totalCostUsd']:.4f}")
    return " · ".join(part for part in parts if part)


def ask_card(ask: Json, palette: Palette, cwd: Path | None = None) -> list[str]:
    """A permission ask: what, why, and the change or the command itself."""
    title = "Go ahead with this plan?" if ask.get("tool") == "ExitPlanMode" else ask["title"]
    lines = [palette.paint("yellow", f"? {visible(title)}"), palette.paint("dim", f"  {visible(ask['reason'])}")]
    if proposal := ask.get("proposal"):
        lines += proposal_diff(proposal, palette, cwd)
    elif command := ask.get("command"):
        lines.append(f"  $ {visible(command['text'])}")
        if len(command["parts"]) > 1:
            lines += [f"    {_argv(part)}  [{part['decision']}]" for part in command["parts"]]
    elif ask.get("tool") == "ExitPlanMode":
        lines += _indented(str(ask["input"].get("plan", "")))
    else:
        for key, value in ask["input"].items():
            lines += _indented(f"{key}: {_short(value)}")
    return lines


def result_line(result: Json, palette: Palette, *, said: str = "") -> str:
    """How the turn ended. `said` was shown last: an error in the same words is not told twice."""
    usage = result["usage"]
    tokens = sum(count for count in usage.values() if isinstance(count, int))
    steps = result["numTurns"]
    facts = f"{steps} step{'s' if steps != 1 else ''}, {tokens:,} tokens, ${result['totalCostUsd']:.4f}"
    if result["isError"]:
        words = result["result"] or "the turn failed"
        told = "" if words.strip() == said.strip() else f": {readable(words)}"
        return palette.paint("red", f"✗ {result['terminal']}{told} ({facts})")
    return palette.paint("dim", f"✓ {result['terminal']} ({facts})")


def tool_lines(event: Json, palette: Palette) -> Iterator[str]:
    """What a finished tool call shows: its summary, or the first lines of what went wrong."""
    mark = palette.paint("red", "✗") if event["isError"] else palette.paint("green", "✓")
    yield f"  {mark} {visible(event['summary'])}" if event["summary"] else f"  {mark}"
    shown = [line for block in event["content"] if block.get("type") == "text" for line in _lines(block["text"])]
    if shown and shown[0].strip() == event["summary"].strip():
        del shown[0]  # many results begin with their own summary
    for line in shown[:8]:
        yield palette.paint("dim", f"    {readable(line)[:160]}")
    if len(shown) > 8:
        yield palette.paint("dim", f"    … {len(shown) - 8} more lines")


def hook_line(event: Json, palette: Palette) -> str:
    """What a hook did, where it did something: nothing for one that only looked."""
    outcome, what = event["outcome"], f"{event['event']} hook"
    words = visible(event.get("text") or "")
    if outcome == "running":
        return palette.paint("dim", f"… {words}")
    if outcome == "success" and not event.get("changed"):
        return ""
    took = f" ({event['durationMs']} ms)" if event.get("durationMs") is not None else ""
    known = {"success": "changed this", "prevented": "stopped the turn", "timeout": "took too long"}
    line = f"⚑ {what} {known.get(outcome, outcome)}{took}" + (f": {words}" if words else "")
    return palette.paint("dim" if outcome == "success" else "yellow", line)


def path_of(uri: str, cwd: Path | None = None) -> str:
    """The path a file's URI stands for, short where it is inside `cwd`."""
    parts = split(uri)
    if parts.scheme != "file":
        return uri
    path = PurePosixPath(unquote(parts.path))
    return str(path.relative_to(cwd)) if cwd is not None and path.is_relative_to(cwd) else str(path)


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in readable(text).split("\n")]


def _argv(part: Json) -> str:
    return visible(" ".join(part["argv"]))


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 400 else f"{text[:400]}… ({len(text):,} characters)"


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n") if text else []
