"""What a call that was taken back had shown or marked is as if it had never been: the model has not seen it (C7, L10)."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from assent.tools.bash_output import BashOutput
from assent.tools.process.jobs import Job, ShellJobs
from assent.tools.snip import Snip
from assent.tools.tool import ToolServices
from enginekit import Echo, Stage
from enginekit.stage import WAIT
from fakeapi import Limits, hold, text, tool


async def background(jobs: ShellJobs, folder: Path, line: str) -> Job:
    argv = ["/bin/sh", "-c", line]
    return await jobs.start(argv, command=line, cwd=str(folder), env={}, tool_use_id="toolu_bash", background=True)


@pytest.mark.parametrize("how", ["cut", "cap"])
async def test_output_that_only_a_withdrawn_call_read_is_given_again(tmp_path: Path, how: str) -> None:  # C7, L10, T5
    jobs = ShellJobs()
    async with Stage(tools=[BashOutput(), Echo()], services=ToolServices(jobs=jobs)) as stage:
        job = await background(jobs, tmp_path, "echo the first word")
        with anyio.fail_after(WAIT):
            await job.process.ended.wait()
        stage.api.reply(tool("BashOutput", id="toolu_old", bash_id="none"))
        reads = [tool("BashOutput", id=f"toolu_{name}", bash_id=job.job_id) for name in ("a", "b")]
        if how == "cut":
            stage.api.cut(*reads, text("and more words to come"), at_event=13)
        else:
            stage.api.reply(*reads, text("words"), stop_reason="model_context_window_exceeded")
        stage.api.reply(tool("BashOutput", id="toolu_again", bash_id=job.job_id))
        stage.api.reply(text("done"))
        turn = await stage.turn()
        if how == "cut":
            assert "stream_retry" in turn.transitions
            assert "the first word" in str(stage.api.calls[-1].tool_results["toolu_again"])
        else:  # the calls ran and their results are in view: nothing was taken back
            assert "the first word" in str(stage.api.calls[-1].tool_results["toolu_a"])
            assert "nothing new" in str(stage.api.calls[-1].tool_results["toolu_again"])
    await jobs.close()


async def test_the_end_of_a_job_that_only_a_withdrawn_call_told_is_told(tmp_path: Path) -> None:  # L11, S5
    jobs = ShellJobs()
    async with Stage(tools=[BashOutput(), Echo()], services=ToolServices(jobs=jobs)) as stage:
        os.mkfifo(tmp_path / "gate")
        job = await background(jobs, tmp_path, "read x < gate")
        looks = tool("BashOutput", bash_id=job.job_id)
        stage.api.cut(text("a ", hold("h"), "b"), looks, text("and more words to come"), at_event=14)
        stage.api.reply(tool("Echo", text="something else"))
        stage.api.reply(text("done"))

        async def end() -> None:
            await stage.api.reached("h")
            await anyio.to_thread.run_sync((tmp_path / "gate").write_text, "go\n")
            await job.process.ended.wait()
            stage.api.release("h")

        async with anyio.create_task_group() as group:
            group.start_soon(end)
            assert "stream_retry" in (await stage.turn()).transitions
        assert f"The background command {job.job_id} has ended" in str(stage.api.calls[-1].messages)
    await jobs.close()


async def test_a_snip_that_was_taken_back_leaves_the_results_in_view() -> None:  # C2, L10
    async with Stage(tools=[Snip(), Echo()], limits=Limits(window=60_000, max_output=8_000)) as stage:
        for number in range(16):
            stage.api.reply(tool("Echo", id=f"toolu_{number}", text=f"{number} " + "word " * 900))
        stage.api.cut(tool("Snip", id="toolu_snip", numbers=[1]), text("and more words to come"), at_event=10)
        stage.api.reply(text("done"))
        turn = await stage.turn()
        assert "stream_retry" in turn.transitions
        before, after = stage.api.calls[-2], stage.api.calls[-1]
        assert "let go of them with Snip" in str(before.messages)
        assert after.tool_results.keys() == before.tool_results.keys()
