"""The place a planned change will be written to is judged with the call that asks for it."""

from collections.abc import Callable
from pathlib import Path

from assent.tools.run.executor import ToolExecutor
from assent.tools.tool import ToolContext
from assent.types.blocks import Block
from assent.types.messages import Message
from assent.types.permissions import Deny, Verdict
from assent.types.ports import ToolCall
from toolbox import Toolbox


def _executor(box: Toolbox, judged: list[ToolCall]) -> ToolExecutor:
    """Writes down what it is asked, and refuses it."""

    async def refuse(call: ToolCall) -> Verdict:
        judged.append(call)
        return Deny(step="rules", reason="no")

    def context(*, tool_use_id: str, progress: Callable[[str], None]) -> ToolContext:
        return box.context(tool_use_id=tool_use_id, progress=progress)

    said: list[Message] = []
    return ToolExecutor(
        tools=box.tools,
        can_use_tool=refuse,
        make_context=context,
        emit=said.append,
        clock=lambda: 0.0,
        cwd=lambda: str(box.root),
    )


def _edit(call: str, file: str) -> Block:
    raw = {"file_path": file, "old_string": "old", "new_string": "new"}
    return {"type": "tool_use", "id": call, "name": "Edit", "input": raw}


async def test_where_links_lead_is_among_the_writes_that_are_judged(box: Toolbox, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("old")
    (box.root / "link.txt").symlink_to(outside)
    await box.call("Read", file_path="link.txt")
    judged: list[ToolCall] = []
    async with _executor(box, judged) as executor:
        executor.add(_edit("t1", "link.txt"))
        (result,) = await executor.finish()
    assert result.ended == "denied"
    assert judged[0].action.writes == (str(box.root / "link.txt"), str(outside.resolve()))
    assert outside.read_text() == "old"


async def test_a_change_carries_the_words_the_model_said_before_it_cut_to_a_line(box: Toolbox) -> None:
    (box.root / "a.txt").write_text("old")
    await box.call("Read", file_path="a.txt")
    judged: list[ToolCall] = []
    async with _executor(box, judged) as executor:
        executor.add(_edit("t1", "a.txt"))
        executor.heard("I looked around.\n\nThe name is  wrong,\nso I \u202emend it:\n\n")
        executor.add(_edit("t2", "a.txt"))
        executor.heard("word " * 100)
        executor.add(_edit("t3", "a.txt"))
        executor.heard(" \n\n ")
        executor.add(_edit("t4", "a.txt"))
        await executor.finish()
    reasons = [call.plan.reason for call in judged if call.plan]
    assert reasons[:2] == ["", "The name is wrong, so I mend it"]
    assert len(reasons[2]) <= 120 and reasons[2].endswith("word…")
    assert reasons[3] == ""
