"""No child outlives its session, whatever it does and however the server ends (T5, safety.md)."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from assent.tools.process.jobs import ShellJobs
from assent.tools.process.shell_process import Keeper
from assent.types.errors import ToolError
from processes import alive
from toolbox import Toolbox, gone

# Each prints the pids of processes that it leaves running.
LEFT_BEHIND = {
    "a background child": "sleep 1000 & echo $!",
    "a session of its own": "setsid sh -c 'echo $$ > pid; exec sleep 1000' & until [ -s pid ]; do :; done; cat pid",
    "a daemon that forked twice": (
        "(setsid sh -c '(sh -c \"echo \\$\\$ > pid; exec sleep 1000\" &) ; exit' >/dev/null 2>&1 &); "
        "until [ -s pid ]; do :; done; cat pid"
    ),
    "a daemon without environment": (
        "(setsid env -i sh -c '(sh -c \"echo \\$\\$ > pid; exec sleep 1000\" &) ; exit' >/dev/null 2>&1 &); "
        "until [ -s pid ]; do :; done; cat pid"
    ),
    "one that ignores signals": "sh -c 'trap \"\" TERM HUP INT; echo $$ > pid; sleep 1000; sleep 1000' & until [ -s pid ]; do :; done; cat pid",
    "nohup": "nohup sleep 1000 >/dev/null 2>&1 & echo $!",
}


@pytest.mark.parametrize("command", LEFT_BEHIND.values(), ids=LEFT_BEHIND)
async def test_closing_the_session_ends_what_a_command_left_behind(box: Toolbox, command: str) -> None:
    pids = [int(word) for word in (await box.text("Bash", command=command)).split()]
    assert pids and all(alive(pid) for pid in pids)
    with anyio.fail_after(120):
        await box.jobs.close()
        await gone(*pids)


async def test_closing_the_session_ends_background_jobs_and_says_so(box: Toolbox) -> None:
    await box.call("Bash", command="sleep 1000", run_in_background=True)
    job = box.jobs.get(str(box.jobs.list()[0]["jobId"]))
    with anyio.fail_after(120):
        await box.jobs.close()
    assert job.state == "killed"
    assert box.job_events[-1]["state"] == "killed"
    assert "closed" in await box.error("Bash", command="true")


async def test_stopping_a_job_finds_its_daemons_and_spares_others(box: Toolbox) -> None:
    other = int(await box.text("Bash", command="sleep 1000 & echo $!"))
    command = LEFT_BEHIND["a daemon that forked twice"] + "; sleep 1000"
    await box.call("Bash", command=command, run_in_background=True)
    job = box.watch(box.jobs.get(str(box.jobs.list()[0]["jobId"])))
    await box.until(lambda: b"\n" in job.process.output())
    daemon = int(job.process.output())
    await box.call("KillShell", shell_id=job.job_id)
    await gone(daemon)
    assert alive(other)


SERVER = """
import asyncio, os, sys
from assent.tools.process.jobs import ShellJobs

async def main():
    jobs = ShellJobs()
    for command in sys.argv[1:]:
        job = await jobs.start(["bash", "-c", command], command=command, cwd=os.getcwd(), env={"PATH": "/usr/bin:/bin"}, tool_use_id="t")
        await job.process.ended.wait()
        print(job.process.output().decode(), end="", flush=True)
    forever = await jobs.start(["sleep", "1000"], command="", cwd=os.getcwd(), env={"PATH": "/usr/bin:/bin"}, tool_use_id="t")
    while forever.process.pid is None:
        await asyncio.sleep(0)
    print(forever.process.pid, flush=True)
    print("ready", flush=True)
    await asyncio.sleep(1000)

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_killed_server_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    commands = [re.sub(r"\bpid\b", f"pid{n}", command) for n, command in enumerate(LEFT_BEHIND.values())]
    server = _start([sys.executable, "-c", SERVER, *commands], tmp_path)
    assert server.stdout is not None
    try:
        lines: list[str] = []
        while not lines or lines[-1] not in ("ready", ""):
            lines.append((await anyio.to_thread.run_sync(server.stdout.readline)).strip())
        pids = [int(line) for line in lines[:-1]]
        assert len(pids) == len(LEFT_BEHIND) + 1
        assert all(alive(pid) for pid in pids)
        server.send_signal(number)
        server.wait(120)
    finally:
        server.kill()
        server.stdout.close()
    with anyio.fail_after(120):  # five times the two seconds asked for
        await gone(*pids)


def _start(argv: list[str], cwd: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(argv, cwd=cwd, stdout=subprocess.PIPE, text=True)


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_program_that_is_not_there_is_told(box: Toolbox) -> None:
    process = await box.jobs.keeper.start(["no-such-program"], cwd="/", env={"PATH": os.defpath})
    with anyio.fail_after(120):
        await process.ended.wait()
    assert process.error == "No such file or directory"


async def test_a_dead_keeper_ends_its_processes_for_us_and_a_new_one_can_start() -> None:
    keeper = Keeper()
    process = await keeper.start(["sh", "-c", "echo $$; exec sleep 1000"], cwd="/", env={"PATH": os.defpath})
    supervisor = keeper._supervisor
    assert supervisor is not None
    ready = anyio.Event()
    process.on_output = ready.set
    with anyio.fail_after(120):
        await ready.wait()
    pid = int(process.output())
    os.kill(supervisor, signal.SIGKILL)
    with anyio.fail_after(120):
        await process.ended.wait()
    assert process.error
    again = await keeper.start(["sh", "-c", "echo hi"], cwd="/", env={"PATH": os.defpath})
    with anyio.fail_after(120):
        await again.ended.wait()
    assert again.output() == b"hi\n"
    await gone(pid)
    await keeper.close()


async def test_a_closed_session_starts_nothing() -> None:
    jobs = ShellJobs()
    await jobs.close()
    with pytest.raises(ToolError, match="closed"):
        await jobs.start(["true"], command="true", cwd="/", env={}, tool_use_id="t")


async def test_file_descriptors_do_not_leak(box: Toolbox) -> None:
    await box.call("Bash", command="true")
    before = _descriptors()
    for _ in range(20):
        await box.call("Bash", command="cd . && echo x")
        await box.call("Grep", pattern="x")
    assert _descriptors() <= before + 1
    output = await box.text("Bash", command="ls /proc/self/fd | tr '\\n' ' '")
    assert output.split() == ["0", "1", "2", "3"], "a child gets no descriptor of ours; the last is its own listing"


@pytest.mark.parametrize(
    ("argv", "env"),
    [
        (["/bin/echo", "a\0b"], {}),
        (["/bin/echo"], {"A": "\0"}),
        (["/bin/echo"], {"A=B": "x"}),
        (["/bin/echo"], {"": "x"}),
    ],
)
async def test_a_program_that_can_never_start_is_told_and_harms_no_other(argv: list[str], env: dict[str, str]) -> None:
    keeper = Keeper()
    try:
        other = await keeper.start(["sleep", "1000"], cwd="/", env={"PATH": os.defpath})
        wrong = await keeper.start(argv, cwd="/", env={"PATH": os.defpath, **env})
        with anyio.fail_after(120):
            await wrong.ended.wait()
        assert wrong.error and "session" not in wrong.error
        assert not other.ended.is_set()
    finally:
        await keeper.close()
