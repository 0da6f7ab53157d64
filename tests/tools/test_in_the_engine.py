"""The real tools in the real engine, asked for by a fake Messages API over HTTP."""

from typing import cast

from assent.tools.tool import ToolServices
from assent.types.blocks import Json
from assent.types.messages import Attachment, Message, ToolProgress, UserMessage
from enginekit import Stage, TurnLog
from fakeapi import text, tool
from toolbox import Toolbox, gone


def _stage(box: Toolbox) -> Stage:
    services = ToolServices(workspace=box.workspace, roots=lambda: (str(box.root),), jobs=box.jobs, spill=box.spill)
    return Stage(tools=list(box.tools.values()), cwd=str(box.root), services=services)


def _results(turn: TurnLog) -> list[Json]:
    messages = cast("list[UserMessage]", turn.of(UserMessage))
    return [dict(b) for m in messages for b in m.content if b.get("type") == "tool_result"]


async def test_a_file_is_found_read_changed_and_checked_in_one_turn(box: Toolbox) -> None:
    path = box.root / "src" / "sum.py"
    path.parent.mkdir()
    path.write_text("def add(a, b):\n    return a - b\n")
    async with _stage(box) as stage:
        stage.api.reply(tool("Glob", pattern="**/*.py"), tool("Grep", pattern="a - b", output_mode="content"))
        stage.api.reply(tool("Read", file_path="src/sum.py"))
        stage.api.reply(tool("Edit", file_path="src/sum.py", old_string="a - b", new_string="a + b"))
        stage.api.reply(tool("Bash", command="cd src && python3 -c 'import sum; print(sum.add(1, 2))'"))
        stage.api.reply(text("fixed"))
        turn = await stage.turn()
        contents = [str(result["content"]) for result in _results(turn)]
        assert contents[0] == "src/sum.py"
        assert contents[1] == "src/sum.py:2:    return a - b"
        assert "     2→    return a + b" in contents[3]
        assert contents[4] == "3"
        assert not any(result.get("is_error") for result in _results(turn))
        assert turn.result.subtype == "success"
    assert path.read_text() == "def add(a, b):\n    return a + b\n"


async def test_a_failed_command_takes_its_siblings_with_it_and_reads_do_not(box: Toolbox) -> None:  # T2
    async with _stage(box) as stage:
        stage.api.reply(
            tool("Read", file_path="missing"), tool("Bash", command="exit 2"), tool("Bash", command="echo x")
        )
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        contents = [str(result["content"]) for result in _results(turn)]
        assert "does not exist" in contents[0]
        assert contents[1] == "Exit code 2"
        assert contents[2].startswith("Cancelled")


async def test_the_end_of_a_background_command_is_told_to_the_model(box: Toolbox) -> None:  # S5, L11
    async with _stage(box) as stage:
        stage.api.reply(tool("Bash", command="echo built", run_in_background=True))
        stage.api.reply(text("started"))
        await stage.turn()
        await box.until(lambda: all(job["state"] != "running" for job in box.jobs.list()))
        stage.api.reply(text("good"))
        turn = await stage.turn("and?")
        job_id = box.jobs.list()[0]["jobId"]
        notices = [a for a in cast("list[Attachment]", turn.of(Attachment)) if a.kind == "task_notification"]
        told = f"The background command {job_id} has ended (completed, exit code 0): echo built"
        everything = str(stage.api.calls[-1].messages)
        assert told in everything
        assert len(notices) <= 1


async def test_an_interrupted_command_leaves_no_process_and_a_valid_history(box: Toolbox) -> None:  # L14
    started: list[int] = []
    async with _stage(box) as stage:

        def on(_at: int, message: Message) -> None:
            if isinstance(message, ToolProgress) and not started:
                started.append(int(message.text))
                stage.engine.abort()

        stage.api.reply(tool("Bash", command="echo $$; sleep 1000"))
        turn = await stage.turn(on_message=on)
        assert turn.result.terminal == "aborted_tools"
        assert len(_results(turn)) == 1
        await gone(*started)
        stage.api.reply(text("fine"))
        assert (await stage.turn("go on")).result.subtype == "success"
