"""A fence is used again by the next command, and only when nothing of the last one can still reach it.

The process that becomes the next command is forked ahead; what happens when it dies is shown here, too.
"""

import os
import signal
import sys
from pathlib import Path

import pytest

from assent.tools.bash import Bash
from assent.tools.process import sandbox
from assent.tools.process.fence import Fences
from toolbox import Toolbox, gone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Landlock is for Linux")


def _yes(*_where: object) -> bool:
    return True


def exists(path: str) -> bool:
    return os.path.lexists(path)


@pytest.fixture
def fenced(box: Toolbox) -> Toolbox:
    assert sandbox.found_here().kind == "landlock"
    home = box.root.parent / "home"
    home.mkdir()
    box.env["HOME"] = str(home)
    box.tools["Bash"] = Bash(is_read_only=_yes, fence=Fences(home=str(home)).make())
    return box


async def scratch(box: Toolbox, command: str = "true") -> str:
    return (await box.text("Bash", command=f'{command}; echo "$TMPDIR"')).splitlines()[-1]


def waiting(box: Toolbox) -> set[int]:
    """Children of the supervisor."""
    supervisor = box.jobs.keeper._supervisor
    assert supervisor is not None
    return set(map(int, Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()))


async def test_the_next_command_gets_the_same_folder_and_finds_it_empty(fenced: Toolbox) -> None:
    first = await scratch(fenced)
    assert await scratch(fenced) == first
    assert await fenced.text("Bash", command='ls -A "$TMPDIR" | wc -l') == "0"
    assert await fenced.text("Bash", command='echo x > "$TMPDIR/a" && cat "$TMPDIR/a"') == "x"


async def test_a_folder_with_something_in_it_is_removed_and_not_used_again(fenced: Toolbox) -> None:
    first = await scratch(fenced, 'echo x > "$TMPDIR/a"')
    second = await scratch(fenced)
    assert second != first
    assert not exists(first)


async def test_a_folder_that_a_process_of_the_last_command_could_reach_is_not_used_again(fenced: Toolbox) -> None:
    first = await scratch(fenced, f"(exec setsid sleep 1003.{os.getpid()} >/dev/null 2>&1 &)")
    assert await scratch(fenced) != first


async def test_commands_that_run_at_the_same_time_have_folders_of_their_own(fenced: Toolbox) -> None:
    await scratch(fenced)
    background = await fenced.call("Bash", command='echo "$TMPDIR"; sleep 1000', run_in_background=True)
    first, second = await scratch(fenced), await scratch(fenced)
    job = fenced.watch(next(iter(fenced.jobs._jobs.values())))
    assert not background.is_error
    await fenced.until(lambda: b"\n" in job.process.output())
    assert job.process.output().decode().strip() not in (first, second)


async def test_the_users_git_configuration_is_there_for_every_command(fenced: Toolbox) -> None:
    (fenced.root.parent / "home/.gitconfig").write_text("[core]\n\tabbrev = 12\n")
    for _ in range(2):
        assert await fenced.text("Bash", command="git config --global core.abbrev") == "12"
        await fenced.text("Bash", command='echo "[core]" > "$TMPDIR/.gitconfig"')


async def test_a_file_that_was_replaced_since_can_be_read(fenced: Toolbox) -> None:
    """Rules bind to inodes: a ruleset whose paths are no longer what they were is made anew."""
    other = fenced.root.parent / "other"
    for text in ("one", "two", "three"):
        other.mkdir()
        (other / "a.txt").write_text(text)
        (fenced.root / "old").mkdir(exist_ok=True)
        assert await fenced.text("Bash", command="pwd") == str(fenced.root)
        fenced.root.rename(fenced.root.parent / f"was-{text}")
        other.rename(fenced.root)
        assert await fenced.text("Bash", command="cat a.txt") == text


async def test_a_killed_waiting_process_does_not_stop_the_next_command(fenced: Toolbox) -> None:
    for _ in range(3):
        assert await fenced.text("Bash", command="echo hi") == "hi"
        left = waiting(fenced)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        await gone(*left)


async def test_the_waiting_process_ends_with_its_session_and_leaves_no_folder(fenced: Toolbox) -> None:
    first = await scratch(fenced)
    left = waiting(fenced)
    assert exists(first)
    await fenced.jobs.close()
    await gone(*left)
    assert not exists(first)


async def test_a_killed_server_leaves_no_folder_and_no_waiting_process(fenced: Toolbox) -> None:
    first = await scratch(fenced)
    left = waiting(fenced)
    keeper = fenced.jobs.keeper
    assert keeper._socket is not None and keeper._supervisor is not None
    keeper._socket.shutdown(2)  # as the kernel does when the server is gone
    await gone(keeper._supervisor, *left)
    assert not exists(first)
