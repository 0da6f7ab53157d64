"""What the model has seen of each file: must-read-first, staleness, and what it is told after a change.

Shared by every tool that changes a file. Owns no state: the marks live in the session's state.
"""

from collections.abc import Callable, Collection, Mapping

from assent.text.diff import changed_lines
from assent.text.words import counted
from assent.tools.files.disk_workspace import target_of
from assent.tools.files.text_match import LINE_END, line_end, line_number, split_lines
from assent.tools.tool import ReadMark, ToolContext, ToolOutput
from assent.tools.tool_responses import edit_response
from assent.types.blocks import Json
from assent.types.errors import FileMissing, ToolError
from assent.types.messages import ChangedFile
from assent.types.ports import EditOutcome, EditPlan, FileText

_AROUND = 3  # lines of context in a snippet
_MOST = 60  # lines of a snippet


def mark(
    ctx: ToolContext,
    path: str,
    text: FileText,
    *,
    offset: int | None = None,
    limit: int | None = None,
) -> None:
    """Remember what the model now knows, and which call it knows it from."""
    ctx.state.read_files[path] = ReadMark(
        sha256=text.sha256,
        mtime_ns=text.mtime_ns,
        version=text.version,
        offset=offset,
        limit=limit,
        tool_use_id=ctx.tool_use_id,
    )


def take_back(marks: dict[str, ReadMark], before: Mapping[str, ReadMark], calls: Collection[str]) -> None:
    """Forget what these calls marked: the model never gets their results. What was known before them counts again."""
    for path in [path for path, mark in marks.items() if mark.tool_use_id in calls]:
        if path in before:
            marks[path] = before[path]
        else:
            del marks[path]


async def known_text(path: str, ctx: ToolContext) -> FileText:
    """The file as it is now, if that is what the model saw. Raises ToolError otherwise."""
    text = await ctx.workspace.read(path)
    seen = ctx.state.read_files.get(path)
    if seen is None:
        raise ToolError(f"{path} has not been read yet. Read it first, then change it")
    if seen.sha256 != text.sha256:
        raise ToolError(
            f"{path} changed since it was read (by the user, a formatter or a command). Read it again first"
        )
    return text


async def known_text_or_none(path: str, ctx: ToolContext) -> FileText | None:
    """Like `known_text`, and None where no file is yet."""
    try:
        return await known_text(path, ctx)
    except FileMissing:
        return None


def plan_of(path: str, before: FileText | None, new_text: str, *, tool: str, ctx: ToolContext) -> EditPlan:
    if before is not None and before.text == new_text:
        raise ToolError(f"The change leaves {path} as it is: there is nothing to do")
    return EditPlan(
        path=path,
        before=before,
        new_text=new_text,
        tool=tool,
        tool_use_id=ctx.tool_use_id,
        target=target_of(path),
    )


async def carry_out(plan: EditPlan, ctx: ToolContext, said: Callable[[Json], Json]) -> ToolOutput:
    """Make the planned change and tell the model what became of it; `said` adds to the response what the tool's own
    input has for it."""
    outcome = await make(plan, ctx, ctx.reviewed)
    before = plan.before.text if plan.before is not None else None
    after = outcome.after.text if outcome.after is not None else None
    return ToolOutput(
        content=told(plan, outcome),
        summary=_summary(plan, outcome),
        changed=lines_changed(plan, outcome),
        response=lambda: said(edit_response(outcome.path, before=before, after=after, planned=plan.new_text)),
    )


async def make(plan: EditPlan, ctx: ToolContext, reviewed: EditOutcome | None) -> EditOutcome:
    """The change, made now unless it was reviewed: then it has landed as far as people accepted it."""
    outcome = reviewed or await ctx.workspace.apply(plan)
    if outcome.path != plan.path:
        ctx.state.read_files.pop(plan.path, None)
    if outcome.after is not None:
        mark(ctx, outcome.path, outcome.after)
    return outcome


def changed(plan: EditPlan, outcome: EditOutcome) -> bool:
    return outcome.after is not None and (plan.before is None or outcome.after.text != plan.before.text)


def lines_changed(plan: EditPlan, outcome: EditOutcome) -> tuple[ChangedFile, ...]:
    """What is in the file now and was not before, counted; nothing where it is as it was."""
    if outcome.after is None or not changed(plan, outcome):
        return ()
    added, removed = changed_lines(plan.before.text if plan.before is not None else "", outcome.after.text)
    return (ChangedFile(path=outcome.path, added=added, removed=removed),)


def numbered(lines: list[str], first: int) -> str:
    """Lines as the model reads them: a number, an arrow, the text."""
    return "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, first))


def told(plan: EditPlan, outcome: EditOutcome) -> str:
    after = outcome.after.text if outcome.after is not None else plan.new_text
    made = "Created" if plan.before is None else "Changed"
    parts = [outcome.report] if outcome.report else []
    if outcome.path != plan.path:
        parts.append(f"The user renamed {plan.path} to {outcome.path} meanwhile.")
    if changed(plan, outcome):
        parts.append(f"{made} {outcome.path}.")
        if plan.before is not None:
            parts.append(_snippet(plan.before.text, after))
    else:
        parts.append(f"{outcome.path} was not changed.")
    if outcome.diagnostics:
        parts.append(outcome.diagnostics)
    return "\n".join(parts)


def _snippet(before: str, after: str) -> str:
    """The changed lines and a few around them, numbered."""
    start, end = changed_span(before, after)
    begin = start
    for _ in range(_AROUND + 1):
        begin = max(after.rfind("\n", 0, begin), after.rfind("\r", 0, begin), 0)
        begin -= after[begin - 1 : begin + 1] == "\r\n"
    if begin:
        begin += len(line_end(after, begin))
    finish = end
    for _ in range(_AROUND + 1):
        at = LINE_END.search(after, finish)
        finish = at.end() if at else len(after)
    first = line_number(after, begin)
    lines = split_lines(after[begin:finish])
    if len(lines) <= _MOST:
        return f"It now reads, from line {first}:\n{numbered(lines, first)}"
    head, tail = lines[: _MOST // 2], lines[-_MOST // 2 :]
    gap = f"       … {len(lines) - len(head) - len(tail)} lines …"
    after_gap = numbered(tail, first + len(lines) - len(tail))
    return f"It now reads, from line {first}:\n{numbered(head, first)}\n{gap}\n{after_gap}"


def changed_span(before: str, after: str) -> tuple[int, int]:
    """Where the two begin to differ and, in `after`, where they stop. By bisection: comparing slices is quick."""
    low, high = 0, min(len(before), len(after))
    most = high
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    start, low, high = low, 0, most - low
    while low < high:
        middle = (low + high + 1) // 2
        if before[len(before) - middle : len(before) - low] == after[len(after) - middle : len(after) - low]:
            low = middle
        else:
            high = middle - 1
    return start, len(after) - low


def _summary(plan: EditPlan, outcome: EditOutcome) -> str:
    if outcome.report:
        return outcome.report.split("\n", 1)[0]
    after = line_number(plan.new_text.rstrip("\r\n"), len(plan.new_text))
    if plan.before is None:
        return f"{counted(after, 'line')} written"
    before = plan.before.text
    more = after - line_number(before.rstrip("\r\n"), len(before))
    return "changed" if more == 0 else f"changed, {more:+d} {'line' if abs(more) == 1 else 'lines'}"
