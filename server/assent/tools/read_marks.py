"""What the model has seen of each file: must-read-first, staleness, and what it is told after a change.

Shared by every tool that changes a file. Owns no state: the marks live in the session's state.
"""

from assent.tools.files import target_of
from assent.tools.text_match import line_number, split_lines
from assent.tools.tool import ReadMark, ToolContext, ToolOutput
from assent.types.errors import FileMissing, ToolError
from assent.types.ports import EditOutcome, EditPlan, FileText

_AROUND = 3  # lines of context in a snippet
_MOST = 60  # lines of a snippet


def mark(
    ctx: ToolContext,
    path: str,
    text: FileText,
    *,
    shown: bool,
    whole: bool = True,
    offset: int | None = None,
    limit: int | None = None,
) -> None:
    """Remember what the model now knows. `shown`: the text itself is in its view, so a re-read may be a stub (C7)."""
    ctx.state.read_files[path] = ReadMark(
        sha256=text.sha256,
        mtime_ns=text.mtime_ns,
        version=text.version,
        whole=whole,
        offset=offset,
        limit=limit,
        tool_use_id=ctx.tool_use_id,
        in_view=shown,
    )


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


async def carry_out(plan: EditPlan, ctx: ToolContext) -> ToolOutput:
    """Make the planned change and tell the model what became of it."""
    outcome = await ctx.workspace.apply(plan, proposal_id=ctx.proposal_id)
    if outcome.after is not None:
        mark(ctx, plan.path, outcome.after, shown=False)
    return ToolOutput(content=_told(plan, outcome), summary=_summary(plan, outcome))


def numbered(lines: list[str], first: int) -> str:
    """Lines as the model reads them: a number, an arrow, the text."""
    return "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, first))


def _told(plan: EditPlan, outcome: EditOutcome) -> str:
    after = outcome.after.text if outcome.after is not None else plan.new_text
    made = "Created" if plan.before is None else "Changed"
    parts = [outcome.report] if outcome.report else []
    if outcome.after is not None and (plan.before is None or after != plan.before.text):
        parts.append(f"{made} {plan.path}.")
        if plan.before is not None:
            parts.append(_snippet(plan.before.text, after))
    elif not parts:
        parts.append(f"{plan.path} was not changed.")
    if outcome.diagnostics:
        parts.append(f"New diagnostics after this change:\n{outcome.diagnostics}")
    return "\n".join(parts)


def _snippet(before: str, after: str) -> str:
    """The changed lines and a few around them, numbered."""
    start, end = changed_span(before, after)
    lines = split_lines(after)
    first = max(line_number(after, start) - 1 - _AROUND, 0)
    last = min(line_number(after, end) + _AROUND, len(lines))
    if last - first <= _MOST:
        return f"It now reads, from line {first + 1}:\n{numbered(lines[first:last], first + 1)}"
    head, tail = lines[first : first + _MOST // 2], lines[last - _MOST // 2 : last]
    gap = f"       … {last - first - len(head) - len(tail)} lines …"
    return (
        f"It now reads, from line {first + 1}:\n{numbered(head, first + 1)}\n{gap}\n"
        f"{numbered(tail, last - len(tail) + 1)}"
    )


def changed_span(before: str, after: str) -> tuple[int, int]:
    """Where the two begin to differ and, in `after`, where they stop."""
    short = min(len(before), len(after))
    start = _common_prefix(before, after, short)
    rest = short - start
    tail = _common_prefix(before[::-1], after[::-1], rest)
    return start, len(after) - tail


def _common_prefix(left: str, right: str, most: int) -> int:
    """By bisection: comparing slices is much faster than comparing characters."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _summary(plan: EditPlan, outcome: EditOutcome) -> str:
    if outcome.report:
        return outcome.report.split("\n", 1)[0]
    after = split_lines(plan.new_text)
    if plan.before is None:
        return f"{len(after)} lines written"
    more = len(after) - len(split_lines(plan.before.text))
    return "changed" if more == 0 else f"changed, {more:+d} lines"
