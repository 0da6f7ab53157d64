"""The place a planned change will be written to is judged with the call that asks for it."""

from collections.abc import Callable
from pathlib import Path

from assent.tools.executor import ToolExecutor
from assent.tools.tool import ToolContext
from assent.types.messages import Message
from assent.types.permissions import Deny, Verdict
from assent.types.ports import ToolCall
from toolbox import Toolbox


async def test_where_links_lead_is_among_the_writes_that_are_judged(box: Toolbox, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("old")
    (box.root / "link.txt").symlink_to(outside)
    await box.call("Read", file_path="link.txt")
    judged: list[ToolCall] = []

    async def refuse(call: ToolCall) -> Verdict:
        judged.append(call)
        return Deny(step="rules", reason="no")

    def context(*, tool_use_id: str, progress: Callable[[str], None]) -> ToolContext:
        return box.context(tool_use_id=tool_use_id, progress=progress)

    said: list[Message] = []
    executor = ToolExecutor(
        tools=box.tools,
        can_use_tool=refuse,
        make_context=context,
        emit=said.append,
        clock=lambda: 0.0,
        cwd=lambda: str(box.root),
    )
    async with executor:
        raw = {"file_path": "link.txt", "old_string": "old", "new_string": "new"}
        executor.add({"type": "tool_use", "id": "t1", "name": "Edit", "input": raw})
        (result,) = await executor.finish()
    assert result.ended == "denied"
    assert judged[0].action.writes == (str(box.root / "link.txt"), str(outside.resolve()))
    assert outside.read_text() == "old"
