"""One tool call as an ACP client shows it: its kind, title, places, and what it says. Pure.

A change is shown as the whole file before and after, which is what the protocol asks for; of a large file only the
part that changes, with some lines around it.
"""

import os
from collections.abc import Sequence
from typing import Any, cast

from acp.schema import (
    ContentToolCallContent,
    FileEditToolCallContent,
    ImageContentBlock,
    TerminalToolCallContent,
    TextContentBlock,
    ToolCallLocation,
    ToolKind,
)

from assent.types.blocks import Block, Json
from assent.types.ports import EditPlan

Content = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent

WHOLE_FILE = 64 * 1024  # characters; beyond this only what changes is sent
AROUND = 20  # lines kept on either side of a change then
SHOWN = 20_000  # characters of a result; the rest is in rawOutput's summary and the transcript
UNSEEN = frozenset({"TodoWrite"})  # shown as the plan instead

_KINDS: dict[str, ToolKind] = {
    "Read": "read",
    "Write": "edit",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Glob": "search",
    "Grep": "search",
    "Bash": "execute",
    "BashOutput": "execute",
    "KillShell": "execute",
    "WebFetch": "fetch",
    "WebSearch": "fetch",
    "Agent": "think",
    "EnterPlanMode": "switch_mode",
    "ExitPlanMode": "switch_mode",
}
_PATHS = ("file_path", "notebook_path", "path")
_TELLING = (*_PATHS, "command", "pattern", "url", "query", "description", "prompt")


def kind_of(tool: str) -> ToolKind:
    return _KINDS.get(tool, "other")


def title_of(tool: str, input: Json) -> str:
    """For calls whose own title was not kept: those of a conversation that is loaded again."""
    words = next((str(input[name]) for name in _TELLING if isinstance(input.get(name), str) and input[name]), "")
    first = words.strip().split("\n", 1)[0][:120]
    return f"{tool}: {first}" if first else tool


def places_of(input: Json, cwd: str) -> list[ToolCallLocation]:
    found = next((input[name] for name in _PATHS if isinstance(input.get(name), str) and input[name]), None)
    if found is None:
        return []
    offset = input.get("offset")
    line = offset if isinstance(offset, int) and offset > 0 else None
    return [ToolCallLocation(path=os.path.normpath(os.path.join(cwd, found)), line=line)]  # noqa: PTH118 -- lexical


def text(words: str) -> ContentToolCallContent:
    return ContentToolCallContent(type="content", content=TextContentBlock(type="text", text=words))


def result_content(blocks: Sequence[Block]) -> list[Content]:
    """What a call gave back. Text is fenced: it is output, and clients would read it as Markdown."""
    shown: list[Content] = []
    for block in blocks:
        if block.get("type") == "text" and str(block.get("text", "")).strip():
            shown.append(text(fenced(str(block["text"]))))
        elif block.get("type") == "image" and (image := picture(block)) is not None:
            shown.append(ContentToolCallContent(type="content", content=image))
    return shown


def picture(block: Block) -> ImageContentBlock | None:
    source = cast("Json", block.get("source") or {})
    if source.get("type") != "base64":
        return None
    return ImageContentBlock(type="image", data=source["data"], mime_type=source["media_type"])


def change_content(plan: EditPlan) -> FileEditToolCallContent:
    before = None if plan.before is None else plan.before.text
    after = plan.new_text
    if before is not None and len(before) + len(after) > WHOLE_FILE:
        before, after = _changed_part(before, after)
    return FileEditToolCallContent(type="diff", path=plan.path, old_text=before, new_text=after)


def fenced(words: str, language: str = "") -> str:
    """Text in a Markdown fence that it cannot close."""
    if len(words) > SHOWN:
        words = f"{words[:SHOWN]}\n… {len(words) - SHOWN:,} more characters"
    fence = "```"
    while fence in words:
        fence += "`"
    return f"{fence}{language}\n{words.rstrip()}\n{fence}"


def blocks_of(content: Any) -> list[Json]:
    """The content of a tool_result, which may be a bare string."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [cast("Json", block) for block in cast("list[Any]", content) if isinstance(block, dict)] if content else []


def _changed_part(before: str, after: str) -> tuple[str, str]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    most = min(len(old), len(new))
    start = next((at for at in range(most) if old[at] != new[at]), most)
    end = next((at for at in range(most - start) if old[-1 - at] != new[-1 - at]), most - start)
    first, last = max(0, start - AROUND), max(0, end - AROUND)
    return "".join(old[first : len(old) - last]), "".join(new[first : len(new) - last])
