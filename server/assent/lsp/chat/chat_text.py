"""A conversation as a Markdown document: what it says, and what a turn adds to it. Pure text.

<!-- assent session=ID -->

## You

the prompt

## Assent

the answer, tool calls folded into <details>
"""

import re
from typing import Any, cast

from assent.text.attached import fenced
from assent.text.words import nearly_full
from assent.types.blocks import Json, text_of

_HEADER = re.compile(r"\A\ufeff?<!-- assent session=([0-9A-Za-z_-]{1,64}) -->[ \t]*(?:\r\n|\n|\r|\Z)")
_HEADING = re.compile(r"^##[ \t]+(You|Assent)[ \t]*\r?$", re.MULTILINE)
_SHOWN_OUTPUT = 2000

YOU = "## You"
ASSENT = "## Assent"


def session_in(text: str) -> str | None:
    found = _HEADER.match(text)
    return found[1] if found else None


def header(session_id: str) -> str:
    return f"<!-- assent session={session_id} -->"


def header_span(text: str) -> tuple[int, int]:
    """Where the header stands, without its line end; empty at the start of a text that has none."""
    found = _HEADER.match(text)
    return (0, found.end(1) + len(" -->")) if found else (0, 0)


def prompt_in(text: str) -> str:
    """The text under the last `## You`; nothing when it has been answered. A text without headings is all prompt."""
    headings = list(_HEADING.finditer(text))
    if not headings:
        return text[header_span(text)[1] :].strip()
    last = headings[-1]
    return text[last.end() :].strip() if last[1] == "You" else ""


def prompt_line(text: str) -> int:
    """The line of the last `## You`, where a Send lens belongs; the first line without one."""
    found = [heading for heading in _HEADING.finditer(text) if heading[1] == "You"]
    return text.count("\n", 0, found[-1].start()) if found else 0


class Rendering:
    """Events of one session to text that goes to the end of its document."""

    def __init__(self) -> None:
        self._streamed: set[str] = set()  # blocks shown while they grew
        self._titles: dict[str, str] = {}  # by toolUseId
        self._gap = True  # the text so far ends with an empty line

    def begin(self) -> str:
        self._gap = True
        return f"{ASSENT}\n\n"

    def of(self, event: Json) -> str:
        match event.get("type"):
            case "textDelta":
                return self._delta(str(event["blockId"]), str(event["text"]))
            case "message":
                return self._message(event)
            case "toolStarted":
                self._titles[str(event["toolUseId"])] = str(event.get("title") or event.get("tool"))
                return ""
            case "toolFinished":
                return self._paragraph(self._tool(event))
            case "permissionPending" | "elicitationPending":
                about = event.get("title") or event.get("message") or "a question"
                return self._paragraph(
                    f"> Waiting for you: {_line(str(about))}. The code actions here offer the answers."
                )
            case "notice" if event.get("level") != "info":
                return self._paragraph(f"> {_line(str(event.get('text', '')))}")
            case "compactSoon":
                return self._paragraph(f"> {_line(nearly_full(event))}")
            case "retrying":
                return self._paragraph(f"> The model is busy; trying again in {int(event['delayMs']) // 1000} s.")
            case "tombstone" if self._streamed.intersection(cast("list[str]", event.get("blockIds", []))):
                return self._paragraph("> The answer above was cut off; here it is again.")
            case "turnFinished":
                return self._end(cast("Json", event["result"]))
            case _:
                return ""

    def _delta(self, block: str, text: str) -> str:
        if block in self._streamed:
            self._gap = text.endswith("\n\n") if text else self._gap
            return text
        self._streamed.add(block)
        return self._open() + self._said(text)

    def _message(self, event: Json) -> str:
        if event.get("role") != "assistant" or event.get("id") in self._streamed:
            return ""
        blocks = cast("list[Json]", event.get("content", []))
        text = "\n\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
        return self._open() + self._said(text) if text.strip() else ""

    def _tool(self, event: Json) -> str:
        tool_use = str(event["toolUseId"])
        title = _escaped(_line(self._titles.pop(tool_use, "") or str(event.get("summary", ""))))
        mark = "✗" if event.get("isError") else "✓"
        content: Any = event.get("content", "")
        output = text_of(content) or str(event.get("summary", ""))
        if len(output) > _SHOWN_OUTPUT:
            output = output[:_SHOWN_OUTPUT] + "\n…"
        return f"<details><summary>{mark} {title}</summary>\n\n{fenced(output)}\n\n</details>"

    def _end(self, result: Json) -> str:
        end = ""
        if result.get("isError"):
            end = self._paragraph(f"> {_line(str(result.get('result') or result.get('terminal')))}")
        end += f"{self._open()}{YOU}\n\n"
        self._streamed.clear()
        self._titles.clear()
        self._gap = True
        return end

    def _paragraph(self, text: str) -> str:
        whole = f"{self._open()}{text}\n\n"
        self._gap = True
        return whole

    def _open(self) -> str:
        gap, self._gap = self._gap, False
        return "" if gap else "\n\n"

    def _said(self, text: str) -> str:
        self._gap = text.endswith("\n\n")
        return text


def _line(text: str) -> str:
    return " ".join(text.split())[:300]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
