"""Bash: output, directory, limits, background jobs, and what a child gets to see (T5, C1, S5)."""

import os
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from assent.storage.spill import SpillFolder
from assent.tools.bash import Bash
from assent.tools.bash_output import BashOutput
from assent.tools.process.environment import child_environment, hardened
from assent.tools.process.fence import Fences
from assent.tools.process.shell_process import Keeper
from assent.tools.search.ripgrep import system_program
from assent.types.errors import ToolError
from assent.types.programs import safe_path
from toolbox import Toolbox, gone

SECRET = "sk-ant-test-not-a-real-key"


async def test_stdout_and_stderr_come_together_in_order(box: Toolbox) -> None:
    output = await box.call("Bash", command="echo one; echo two >&2; echo three")
    assert (output.content, output.is_error) == ("one\ntwo\nthree", False)
    assert await box.text("Bash", command="true") == "(no output)"


async def test_the_summary_is_the_first_line_that_says_something(box: Toolbox) -> None:
    assert (await box.call("Bash", command="printf -- '----\\n\\nRan 2 tests\\nOK\\n'")).summary == "Ran 2 tests"
    assert (await box.call("Bash", command="echo ...")).summary == "..."


async def test_a_failure_tells_its_exit_code_or_signal(box: Toolbox) -> None:
    output = await box.call("Bash", command="echo no; exit 3")
    assert (output.content, output.is_error) == ("no\nExit code 3", True)
    output = await box.call("Bash", command="kill -SEGV $$")
    assert (output.content, output.is_error) == ("Killed by SIGSEGV", True)


@pytest.mark.parametrize("command", ["echo a | grep b", "diff /dev/null /etc/passwd >/dev/null", "true && test 1 = 2"])
async def test_a_no_of_grep_diff_or_test_is_no_failure(box: Toolbox, command: str) -> None:
    output = await box.call("Bash", command=command)
    assert (output.content, output.is_error) == ("Exit code 1", False)


async def test_the_directory_is_kept_from_call_to_call(box: Toolbox) -> None:
    (box.root / "sub dir").mkdir()
    await box.call("Bash", command="cd 'sub dir' && x=1; false")
    assert box.state.cwd == str(box.root / "sub dir")
    assert "cwd" in box.changes
    assert await box.text("Bash", command="pwd; echo [$x]") == f"{box.root}/sub dir\n[]"
    await box.call("Bash", command="(cd /); pushd .. >/dev/null; exit 0")
    assert box.state.cwd == str(box.root)


async def test_descriptors_a_script_opens_are_its_own(box: Toolbox) -> None:
    (box.root / "sub").mkdir()
    await box.call("Bash", command="exec 3>out 9>out9; cd sub; echo three >&3")
    assert (box.root / "out").read_text() == "three\n"
    assert (box.root / "out9").read_text() == ""
    assert box.state.cwd == str(box.root / "sub")


async def test_colours_and_cursor_movements_are_left_out(box: Toolbox) -> None:
    command = r"printf '\e[1;31mred\e[0m \e]0;title\a\e[2Kplain \e(B[x] \\e[1m'"
    assert await box.text("Bash", command=command) == "red plain \x1b(B[x] \\e[1m"


async def test_a_directory_outside_the_workspace_is_not_kept_and_that_is_said(box: Toolbox) -> None:
    text = await box.text("Bash", command="cd /; pwd")
    assert text == f"/\nThe working directory is still {box.root}: / lies outside the workspace"
    assert box.state.cwd == str(box.root)


async def test_a_directory_that_is_gone_is_told(box: Toolbox) -> None:
    box.state.cwd = str(box.root / "gone")
    assert "is gone" in await box.error("Bash", command="true")


async def test_a_timeout_kills_everything_the_command_started(box: Toolbox) -> None:
    command = "trap '' TERM; sleep 1000 & echo $! $$; exec 2>/dev/null; wait; wait"
    pids: list[str] = []
    for seconds in (1.5, 15, 150):  # a busy machine may need longer than the shortest to say its numbers
        output = await box.call("Bash", command=command, timeout=round(1000 * seconds))
        said, _, words = str(output.content).rpartition("\n")
        assert output.is_error and f"stopped after {seconds:g} seconds" in words
        if pids := said.split():
            break
    assert len(pids) == 2
    await gone(*map(int, pids))


async def test_a_cancelled_call_kills_its_processes(box: Toolbox) -> None:  # L14
    pids = box.root / "pids"
    os.mkfifo(pids)
    said = ""
    async with anyio.create_task_group() as group:
        group.start_soon(_swallow, box, "sleep 1000 & echo $! $$ > pids; wait")
        said = await anyio.to_thread.run_sync(pids.read_text)
        group.cancel_scope.cancel()
    await gone(*map(int, said.split()))


async def _swallow(box: Toolbox, command: str) -> None:
    await box.call("Bash", command=command)


async def test_a_child_left_behind_does_not_hold_the_call_up(box: Toolbox) -> None:
    with anyio.fail_after(120):
        assert (await box.text("Bash", command="sleep 1000 & echo done")) == "done"


async def test_long_output_is_cut_in_the_middle_and_kept_in_a_file(box: Toolbox) -> None:  # C1
    text = await box.text("Bash", command="seq 1 20000")
    assert len(text) < Bash.max_result_chars
    assert text.startswith("1\n2\n")
    assert text.endswith("19999\n20000")
    assert "the whole output is in" in text
    spilled = box.root.parent / "spilled" / "toolu_1.txt"
    assert str(spilled) in text
    assert spilled.read_text() == "\n".join(map(str, range(1, 20001)))


async def test_a_command_that_ran_is_told_with_its_ends_though_the_disk_is_full(box: Toolbox) -> None:  # C1
    (box.root.parent / "full").write_text("no folder can be made below this")
    spill = SpillFolder(box.root.parent / "full" / "spill")
    output = await box.call_in(box.context(spill=spill), "Bash", {"command": "seq 1 20000"})
    assert isinstance(output.content, str) and not output.is_error
    assert output.content.startswith("1\n2\n") and output.content.endswith("19999\n20000")
    assert "the whole output could not be saved" in output.content
    await box.call("Bash", command="seq 1 20000", run_in_background=True)
    await _finished(box)
    asked = {"bash_id": box.jobs.list()[0]["jobId"]}
    output = await box.call_in(box.context(spill=spill), "BashOutput", asked)
    assert "could not be saved" in str(output.content) and str(output.content).endswith("20000")


async def test_a_flood_costs_bounded_memory(box: Toolbox) -> None:
    keeper = Keeper()
    process = await keeper.start(
        ["/bin/sh", "-c", "head -c 40000000 /dev/zero; echo end"], cwd="/", env={"PATH": os.defpath}, keep=100_000
    )
    with anyio.fail_after(120):
        await process.ended.wait()
    assert process.received == 40_000_004
    kept = process.output()
    assert len(kept) < 400_000
    assert kept.endswith(b"end\n")
    assert b"bytes not kept" in kept
    await keeper.close()


async def test_a_command_that_never_stops_writing_is_stopped(box: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assent.tools.process.shell_process.FLOOD", 1_000_000)
    with anyio.fail_after(120):
        output = await box.call("Bash", command="yes")
    assert output.is_error
    assert "wrote more than" in str(output.content)


async def test_progress_streams_while_it_runs(box: Toolbox) -> None:
    gate = box.root / "gate"
    os.mkfifo(gate)
    async with anyio.create_task_group() as group:
        group.start_soon(_swallow, box, "echo working; read line < gate; echo done")
        await box.until(lambda: box.progress)
        assert box.progress[0] == "working"
        await anyio.to_thread.run_sync(gate.write_text, "go\n")


async def test_no_child_has_our_key_in_its_environment(box: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", SECRET)
    monkeypatch.setenv("MY_COPY", f"Bearer {SECRET}")
    monkeypatch.setenv("HARMLESS", "yes")
    box.tools["Bash"] = Bash(secrets=lambda: [SECRET])
    box.env = {"FROM_SETTINGS": "1", "ANTHROPIC_BASE_URL": "http://x", "EDITOR_KEY": SECRET}
    text = await box.text("Bash", command="env; cat /proc/self/environ | tr '\\0' '\\n'; cat /proc/$PPID/environ")
    assert SECRET not in text
    assert "ANTHROPIC" not in text
    assert "HARMLESS=yes" in text and "FROM_SETTINGS=1" in text
    job = await box.call("Bash", command="env; cat /proc/$PPID/environ", run_in_background=True)
    assert isinstance(job.content, str)
    await _finished(box)
    assert SECRET not in await box.text("BashOutput", bash_id=box.jobs.list()[0]["jobId"])


async def test_there_is_no_terminal_and_no_input(box: Toolbox) -> None:
    text = await box.text("Bash", command="tty; cat; [ -t 1 ] || echo no; ps -o tty= -p $$ 2>/dev/null || echo '?'")
    assert text == "not a tty\nno\n?"


async def test_a_command_has_a_process_group_and_session_of_its_own(box: Toolbox) -> None:  # T5
    group, session, pid = (await box.text("Bash", command="ps -o pgid=,sess= -p $$; echo $$")).split()
    assert group == session == pid
    assert int(group) != os.getpgid(0)


async def test_shell_start_up_files_and_exported_functions_do_not_count(
    box: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    (box.root / "rc").write_text("echo from rc\n")
    monkeypatch.setenv("BASH_ENV", str(box.root / "rc"))
    monkeypatch.setenv("BASH_FUNC_ls%%", "() { echo shadowed; }")
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}:")
    (box.root / "ls").write_text("#!/bin/sh\necho fake\n")
    (box.root / "ls").chmod(0o755)
    assert await box.text("Bash", command="ls") == "ls\nrc"


async def test_git_runs_no_code_of_the_repository_in_a_command_nobody_was_asked_about(box: Toolbox) -> None:
    box.tools["Bash"] = Bash(is_read_only=lambda command, _cwd, _roots: command.startswith("git status"))
    hook = box.root / "hook.sh"
    hook.write_text("#!/bin/sh\ntouch ran\necho\n")
    hook.chmod(0o755)
    await box.call("Bash", command=f"git init -q . && git config core.fsmonitor {hook}")
    assert "?? hook.sh" in await box.text("Bash", command="git status --short")
    assert not (box.root / "ran").exists()
    await box.call("Bash", command="git -c core.quotepath=off status")
    assert (box.root / "ran").exists(), "without the hardening it does run: the test is real"


def test_the_environment_drops_secrets_and_traps() -> None:
    env = child_environment(
        {
            "HOME": "/h",
            "PATH": "a:/bin::/usr/bin:.",
            "ANTHROPIC_X": "1",
            "ASSENT_Y": "1",
            "PS4": "$(x)",
            "KEY": "longsecret",
        },
        extra={"NEW": "1", "BASH_ENV": "x"},
        secrets=["longsecret", "1"],
    )
    assert env["PATH"] == "/bin:/usr/bin"
    assert {"HOME", "NEW"} <= env.keys()
    assert not {"ANTHROPIC_X", "ASSENT_Y", "PS4", "BASH_ENV", "KEY"} & env.keys()
    assert safe_path(".") == os.defpath


def test_a_hardened_path_holds_nothing_of_the_workspace(tmp_path: Path) -> None:
    inside = tmp_path / "bin"
    inside.mkdir()
    env = hardened({"PATH": f"{inside}:/bin", "LESSOPEN": "|x"}, roots=[str(tmp_path)])
    assert env["PATH"] == "/bin"
    assert "LESSOPEN" not in env
    assert env["GIT_CONFIG_COUNT"].isdigit()


def test_a_hardened_environment_holds_no_variable_that_is_named_like_a_secret() -> None:
    secrets = ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "npm_config__authToken", "PGPASSWORD")
    env = hardened({**dict.fromkeys(secrets, "x"), "PATH": "/bin", "VIRTUAL_ENV": "/v", "LS_COLORS": "x"}, roots=[])
    assert not env.keys() & set(secrets)
    assert env["VIRTUAL_ENV"] == "/v"
    assert env["LS_COLORS"] == "x"


def test_a_hardened_environment_lets_no_variable_load_code_or_write_files() -> None:
    names = """
        LD_DEBUG_OUTPUT LD_AUDIT PYTHONUSERBASE PYTHONWARNINGS PIP_PYTHON PIP_LOG npm_config_node_options NODE_V8_COVERAGE
        PERL5OPT RUBYOPT PHPRC GIT_CONFIG_SYSTEM GIT_TRACE2_EVENT MAGIC CURL_HOME DOCKER_CONFIG GCONV_PATH GOENV
    """
    env = hardened({**dict.fromkeys(names.split(), "./evil"), "PATH": "/bin"}, roots=[])
    assert "./evil" not in env.values()


def test_a_hardened_environment_takes_nothing_of_the_workspace_for_the_user_s_configuration(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    for value in (f"{tmp_path}/evil", "evil", f"/etc/xdg:{tmp_path}/link/evil"):
        env = hardened({"PATH": "/bin", "HOME": value, "XDG_CONFIG_HOME": value}, roots=[str(tmp_path)])
        assert not {"HOME", "XDG_CONFIG_HOME"} & env.keys(), value
    env = hardened({"PATH": "/bin", "HOME": str(tmp_path), "XDG_CONFIG_DIRS": "/etc/xdg"}, roots=[str(tmp_path)])
    assert env["HOME"] == str(tmp_path)
    assert env["XDG_CONFIG_DIRS"] == "/etc/xdg"


async def test_what_the_chain_said_decides_whether_a_command_is_fenced(box: Toolbox) -> None:
    """Not what the tool thinks of it: a person may have allowed what the reader calls reading, somewhere else."""
    box.tools["Bash"] = Bash(is_read_only=lambda _command, _cwd, _roots: True, fence=Fences().make())
    for fenced, private in ((True, True), (False, False), (None, True)):
        output = await box.call_in(box.context(fenced=fenced), "Bash", {"command": "echo $TMPDIR"})
        assert ("/assent-" in str(output.content)) == private


async def test_only_commands_judged_read_only_run_beside_others() -> None:  # T2
    tool = Bash(is_read_only=lambda command, cwd, _roots: command == "ls" and cwd == "/here")
    assert tool.safe_at(tool.parse({"command": "ls"}), cwd="/here")
    assert not tool.safe_at(tool.parse({"command": "ls"}), cwd="/there")
    assert not tool.safe_at(tool.parse({"command": "rm x"}), cwd="/here")
    assert not tool.safe_at(tool.parse({"command": "ls", "run_in_background": True}), cwd="/here")


async def test_a_line_that_changes_the_directory_runs_alone() -> None:  # T2
    tool = Bash(is_read_only=lambda _command, _cwd, _roots: True)
    assert not tool.safe_at(tool.parse({"command": "cd sub && ls"}), cwd="/here")


async def test_whether_a_command_only_reads_is_asked_where_it_runs(box: Toolbox) -> None:  # T5
    asked: list[tuple[str, str, tuple[str, ...]]] = []

    def is_read_only(command: str, cwd: str, roots: Sequence[str]) -> bool:
        asked.append((command, cwd, tuple(roots)))
        return False

    (box.root / "sub").mkdir()
    box.tools["Bash"] = Bash(is_read_only=is_read_only)
    await box.text("Bash", command="cd sub")
    asked.clear()
    await box.text("Bash", command="git status")
    assert {cwd for _, cwd, _ in asked} == {str(box.root / "sub")}
    assert asked[-1][2]


async def test_what_was_not_saved_is_told(box: Toolbox) -> None:
    class Unsaved:
        async def save_barrier(self) -> str:
            return "a.txt is not saved"

    ctx = box.context(workspace=Unsaved())
    output = await box.call_in(ctx, "Bash", {"command": "echo hi"})
    assert output.content == "hi\na.txt is not saved"


@pytest.mark.parametrize("command", ["", "  \n", "echo \0"])
async def test_commands_that_are_none_are_refused(box: Toolbox, command: str) -> None:
    assert await box.error("Bash", command=command)


async def test_a_syntax_error_is_told_and_nothing_breaks(box: Toolbox) -> None:
    output = await box.call("Bash", command="cd / && (")
    assert output.is_error
    assert "syntax error" in str(output.content)


# --- the background -----------------------------------------------------------------------------------------------


async def test_a_background_command_can_be_watched_and_is_announced_when_it_ends(box: Toolbox) -> None:  # S5
    gate = box.root / "gate"
    os.mkfifo(gate)
    output = await box.call("Bash", command="echo one; read x < gate; echo two; exit 4", run_in_background=True)
    job_id = str(box.jobs.list()[0]["jobId"])
    assert job_id in str(output.content)
    job = box.watch(box.jobs.get(job_id))
    await box.until(lambda: job.process.received)
    assert await box.text("BashOutput", bash_id=job_id) == "[running]\none"
    assert await box.text("BashOutput", bash_id=job_id) == "[running]\n(nothing new)"
    await anyio.to_thread.run_sync(gate.write_text, "go\n")
    await _finished(box)
    assert await box.text("BashOutput", bash_id=job_id, filter="t.o") == "[failed, Exit code 4]\ntwo"
    command = "echo one; read x < gate; echo two; exit 4"
    assert box.job_events == [
        {"jobId": job_id, "command": command, "state": "running", "toolUseId": "toolu_1"},
        {"jobId": job_id, "command": command, "state": "failed", "exitCode": 4, "toolUseId": "toolu_1"},
    ]


async def test_long_output_of_a_background_command_is_cut_and_kept_in_a_file(box: Toolbox) -> None:  # C1
    await box.call("Bash", command="seq 1 20000", run_in_background=True)
    await _finished(box)
    text = await box.text("BashOutput", bash_id=box.jobs.list()[0]["jobId"])
    assert text.startswith("[completed]\n[… the first ")
    assert text.endswith("19999\n20000")
    assert len(text) < 25_000
    spilled = box.root.parent / "spilled" / "toolu_2.txt"
    assert f"all of it is in {spilled}" in text
    assert spilled.read_text() == "".join(f"{number}\n" for number in range(1, 20_001))


async def test_the_model_is_told_once_that_a_background_command_ended(box: Toolbox) -> None:  # L11
    await box.call("Bash", command="exit 3", run_in_background=True)
    await _finished(box)
    (told,) = box.jobs.take_finished()
    assert (told["state"], told["exitCode"]) == ("failed", 3)
    assert box.jobs.take_finished() == []
    await box.call("Bash", command="true", run_in_background=True)
    await _finished(box)
    await box.call("BashOutput", bash_id=box.jobs.list()[-1]["jobId"])
    assert box.jobs.take_finished() == [], "it has seen the end itself"
    await box.call("Bash", command="sleep 1000", run_in_background=True)
    await box.call("KillShell", shell_id=box.jobs.list()[-1]["jobId"])
    assert box.jobs.take_finished() == []


async def test_a_background_command_can_be_stopped(box: Toolbox) -> None:
    await box.call("Bash", command="sleep 1000 & wait", run_in_background=True)
    job_id = str(box.jobs.list()[0]["jobId"])
    assert (await box.text("KillShell", shell_id=job_id)).startswith(f"Stopped {job_id}")
    assert box.job_events[-1]["state"] == "killed"
    assert "had already ended (killed)" in await box.text("KillShell", shell_id=job_id)
    assert not await box.jobs.kill(job_id)


async def test_a_command_in_front_can_be_moved_to_the_background(box: Toolbox) -> None:  # S5
    gate = box.root / "gate"
    os.mkfifo(gate)
    outputs: list[str] = []
    job_id: str | None = None

    async def run() -> None:
        ctx = box.context(tool_use_id="front")
        outputs.append(str((await box.call_in(ctx, "Bash", {"command": "echo hi; read x < gate; echo bye"})).content))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await box.until(lambda: box.progress)
        job_id = box.jobs.move_to_background("front")
    assert job_id is not None and job_id in outputs[0]
    await anyio.to_thread.run_sync(gate.write_text, "go\n")
    await _finished(box)
    assert await box.text("BashOutput", bash_id=job_id) == "[completed]\nhi\nbye"
    assert box.jobs.move_to_background("front") is None


@pytest.mark.parametrize("rg", [system_program(), None])
async def test_an_unknown_job_and_a_bad_filter_are_told(box: Toolbox, rg: str | None) -> None:
    box.tools["BashOutput"] = BashOutput(find_rg=lambda: rg)
    assert "There is no background command nope" in await box.error("BashOutput", bash_id="nope")
    await box.call("Bash", command="echo a; echo é; echo b", run_in_background=True)
    job_id = str(box.jobs.list()[0]["jobId"])
    await _finished(box)
    assert "not a valid regular expression" in await box.error("BashOutput", bash_id=job_id, filter="(")
    assert await box.text("BashOutput", bash_id=job_id, filter="^[^a]$") == "[completed]\né\nb"


async def test_no_filter_keeps_the_server_busy(box: Toolbox) -> None:
    await box.call("Bash", command=f"echo {'a' * 5000}b; echo {'a' * 40}", run_in_background=True)
    await _finished(box)
    with anyio.fail_after(60):
        text = await box.text("BashOutput", bash_id=box.jobs.list()[0]["jobId"], filter="^(a+)+$")
    assert text == f"[completed]\n{'a' * 40}"


async def test_without_a_session_there_is_no_background(box: Toolbox) -> None:
    with pytest.raises(ToolError, match="cannot run commands in the background"):
        await box.call_in(box.context(jobs=None), "Bash", {"command": "true", "run_in_background": True})
    output = await box.call_in(box.context(jobs=None), "Bash", {"command": "echo alone"})
    assert output.content == "alone"
    with pytest.raises(ToolError, match="no background commands"):
        await box.call_in(box.context(jobs=None), "BashOutput", {"bash_id": "x"})
    assert BashOutput().concurrency_safe(BashOutput().parse({"bash_id": "x"}))


async def test_too_many_commands_at_once_are_refused(box: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assent.tools.process.jobs.MOST_RUNNING", 1)
    await box.call("Bash", command="sleep 1000", run_in_background=True)
    assert "are running already" in await box.error("Bash", command="true")


async def _finished(box: Toolbox) -> None:
    await box.until(lambda: all(job["state"] != "running" for job in box.jobs.list()))
