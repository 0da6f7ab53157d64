"""Agents with a worktree of their own: what they see, and what becomes of their changes (T7)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from assent.extensions.agents import AgentDefinition
from assent.tools.files.disk_workspace import DiskWorkspace
from assent.types.messages import Message, ToolFinished, ToolStarted
from enginekit import Gate
from enginekit.copies import (
    LINES,
    git,
    in_copy,
    made_repository,
    nothing_left,
    of_worker,
    staged,
    start,
)
from fakeapi import Reply, hold, text, tool


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return made_repository(tmp_path / "repo")


class Unsaved(DiskWorkspace):
    texts: Mapping[str, str]

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    def unsaved(self) -> Mapping[str, str]:
        return self.texts


async def test_an_isolated_agent_works_in_a_copy_and_its_changes_become_edits_of_the_users_files(repo: Path) -> None:
    (repo / "a.txt").write_text(LINES.replace("line 2\n", "uncommitted 2\n"))
    (repo / "untracked.txt").write_text("mine\n")
    (repo / "ignored").write_text("secret\n")
    async with staged(repo) as (stage, judge):
        stage.api.when(
            of_worker,
            in_copy("pwd; cat a.txt untracked.txt; ls ignored; sed -i 's/^line 18$/agent 18/' a.txt; rm old.txt"),
            in_copy("mkdir sub && printf 'new\\n' > sub/new.txt && printf 'junk' > ignored"),
            Reply(parts=(text("Done it."),)),
        )
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        turn = await stage.turn()

        said = str(stage.api.calls[1].messages)
        assert f"{repo}/.worktrees/agent-" in said
        seen = str(stage.api.calls[2].messages)
        assert "uncommitted 2" in seen and "mine" in seen and "secret" not in seen
        assert (repo / "a.txt").read_text() == LINES.replace("line 2\n", "uncommitted 2\n").replace(
            "line 18\n", "agent 18\n"
        )
        assert (repo / "sub" / "new.txt").read_text() == "new\n"
        assert not (repo / "old.txt").exists()
        assert (repo / "ignored").read_text() == "secret\n"
        merged = [call for call in judge.calls if call.parent_tool_use_id == "toolu_agent" and call.place is None]
        assert [call.action.tool for call in merged] == ["Write", "Write", "Bash"]
        assert merged[0].plan is not None and merged[0].plan.new_text.count("agent 18") == 1
        nested = [m for m in turn.messages if isinstance(m, ToolStarted | ToolFinished) and m.tool == "Write"]
        assert {m.parent_tool_use_id for m in nested} == {"toolu_agent"} and len(nested) == 4
        result = str(stage.api.calls[-1].tool_results["toolu_agent"]["content"])
        assert "Done it." in result and "a.txt" in result and "Deleted" in result
        assert git(repo, "diff", "--cached", "--name-only") == ""  # the user's index is as it was
        nothing_left(repo)


async def test_what_the_user_changed_meanwhile_is_merged_and_wins_where_both_changed(repo: Path) -> None:
    async with staged(repo) as (stage, _):
        stage.api.when(
            of_worker,
            in_copy("sed -i 's/^line 2$/agent 2/; s/^line 18$/agent 18/' a.txt; printf 'theirs\\n' > both.txt"),
            Reply(parts=(text("Done ", hold("end"), "it."),)),
        )
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        async with anyio.create_task_group() as group:
            group.start_soon(stage.turn)
            with anyio.fail_after(60):
                await stage.api.reached("end")
            (repo / "a.txt").write_text(LINES.replace("line 2\n", "user 2\n").replace("line 10\n", "user 10\n"))
            (repo / "both.txt").write_text("mine\n")
            stage.api.release("end")
        expected = LINES.replace("line 2\n", "user 2\n").replace("line 10\n", "user 10\n")
        assert (repo / "a.txt").read_text() == expected.replace("line 18\n", "agent 18\n")
        assert (repo / "both.txt").read_text() == "mine\n"
        result = str(stage.api.calls[-1].tool_results["toolu_agent"]["content"])
        assert "agent 2" in result and "both.txt was made by both" in result and "theirs" in result
        nothing_left(repo)


async def test_a_file_whose_change_is_denied_stays_and_the_others_are_taken_over(repo: Path) -> None:
    async with staged(repo) as (stage, judge):
        judge.denied = "a.txt"
        stage.api.when(of_worker, in_copy("echo more >> a.txt; echo more >> old.txt"), Reply(parts=(text("Done it."),)))
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
        assert (repo / "a.txt").read_text() == LINES
        assert (repo / "old.txt").read_text() == "to be deleted\nmore\n"
        assert "not this one" in str(stage.api.calls[-1].tool_results["toolu_agent"]["content"])


async def test_an_isolated_agent_cannot_edit_the_users_own_files(repo: Path) -> None:
    async with staged(repo) as (stage, judge):
        stage.api.when(
            of_worker,
            Reply(parts=(tool("Write", id="toolu_w", file_path=str(repo / "fresh.txt"), content="x\n"),)),
            Reply(parts=(tool("Write", id="toolu_x", file_path="fresh.txt", content="x\n"),)),
            Reply(parts=(text("Done it."),)),
        )
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
        refused = str(stage.api.calls[2].tool_results["toolu_w"]["content"])
        assert "/.worktrees/agent-" in refused and "instead of" in refused
        assert (repo / "fresh.txt").read_text() == "x\n"  # by the second call, merged
        inside = [call for call in judge.calls if call.place is not None]
        assert [call.mode for call in inside] == ["acceptEdits"]  # default mode: the review comes with the merge
        assert inside[0].plan is None and inside[0].place is not None
        assert all("/.worktrees/agent-" in root for root in inside[0].place.roots)


async def test_the_copy_has_what_the_editor_has_not_saved_and_lacks_what_may_not_be_read(repo: Path) -> None:
    workspace = Unsaved({str(repo / "a.txt"): "typed, not saved\n"})
    (repo / "private.txt").write_text("keep out\n")

    def may_read(path: str) -> bool:
        return not path.endswith("private.txt")

    async with staged(repo, workspace=workspace, may_read=lambda: may_read) as (stage, _):
        stage.api.when(of_worker, in_copy("cat a.txt; ls"), Reply(parts=(text("Done it."),)))
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
        seen = str(stage.api.calls[2].messages)
        assert "typed, not saved" in seen and "private.txt" not in seen
        assert (repo / "private.txt").exists()


async def test_unsaved_text_is_not_copied_through_a_folder_that_became_a_link(repo: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.txt").write_text("not ours\n")
    (repo / "d").mkdir()
    (repo / "d/x.txt").write_text("tracked\n")
    git(repo, "add", "d")
    git(repo, "commit", "-qm", "second")
    (repo / "d/x.txt").unlink()
    (repo / "d").rmdir()
    (repo / "d").symlink_to(outside)
    async with staged(repo, workspace=Unsaved({str(repo / "d/x.txt"): "typed\n"})) as (stage, _):
        stage.api.when(of_worker, in_copy("ls"), Reply(parts=(text("Done it."),)))
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
    assert (outside / "x.txt").read_text() == "not ours\n"


async def test_an_agent_that_worked_in_a_worktree_goes_on_in_one(repo: Path) -> None:
    """Its conversation speaks of the copy: in the user's own files its paths would be wrong."""
    plain = AgentDefinition(name="worker", description="works", prompt="You work.", tools=("Bash", "Read"))
    async with staged(repo, agents=(plain,)) as (stage, _judge):
        change = "pwd; sed -i 's/^line {0}$/agent {0}/' a.txt"
        stage.api.when(
            of_worker,
            in_copy(change.format(3)),
            Reply(parts=(text("Half of it."),)),
            in_copy(change.format(18)),
            Reply(parts=(text("All of it."),)),
        )
        stage.api.reply(start(isolation="worktree"))
        stage.api.reply(text("ok"))
        await stage.turn()
        (agent_id,) = stage.engine.agents.ended_ids()
        stage.api.reply(start("toolu_plain", resume=agent_id))
        stage.api.reply(start("toolu_again", resume=agent_id, isolation="worktree"))
        stage.api.reply(text("ok"))
        await stage.turn()
        results = stage.api.calls[-1].tool_results
        assert "resume it with isolation worktree" in str(results["toolu_plain"])
        assert "All of it." in str(results["toolu_again"])
        asked = "".join(str(call.messages) for call in stage.api.calls if of_worker(call))
        places = set(re.findall(r"/agent-\w+", asked))
        assert len(places) == 1
        expected = LINES.replace("line 3\n", "agent 3\n").replace("line 18\n", "agent 18\n")
        assert (repo / "a.txt").read_text() == expected
        nothing_left(repo)


async def test_isolated_agents_run_side_by_side_and_are_merged_one_after_the_other(repo: Path) -> None:
    names = [f"n{number}" for number in range(6)]
    async with staged(repo) as (stage, _):
        for number, name in enumerate(names):
            stage.api.when(
                lambda call, name=name: of_worker(call) and f"do {name}." in str(call.messages),
                in_copy(f"sed -i 's/^line {2 + number * 3}$/{name}/' a.txt"),
                Reply(parts=(text("Done ", hold(name), name),)),
            )
        stage.api.reply(*(start(id=f"toolu_{name}", prompt=f"do {name}.") for name in names))
        stage.api.reply(text("ok"))
        async with anyio.create_task_group() as group:
            group.start_soon(stage.turn)
            with anyio.fail_after(60):
                for name in names:
                    await stage.api.reached(name)  # while no other has ended
            for name in reversed(names):
                stage.api.release(name)
        found = (repo / "a.txt").read_text()
        assert [name for name in names if f"\n{name}\n" in found] == names
        nothing_left(repo)


async def test_the_call_that_is_interrupted_takes_its_worktree_with_it(repo: Path) -> None:  # L14
    gate = Gate()
    async with staged(repo, gate) as (stage, _):
        stage.api.when(of_worker, in_copy("echo x >> a.txt"), Reply(parts=(tool("Gate", text="deep"),)))
        stage.api.reply(start())

        def stop(_at: int, message: Message) -> None:
            if isinstance(message, ToolStarted) and message.tool == "Gate":
                assert list((repo / ".worktrees").glob("agent-*"))
                stage.engine.abort()

        turn = await stage.turn(on_message=stop)
        assert turn.result.terminal == "aborted_tools"
        assert (repo / "a.txt").read_text() == LINES
        nothing_left(repo)


async def test_once_changes_are_taken_over_the_answer_is_not_withdrawn_any_more(repo: Path) -> None:  # L10
    async with staged(repo) as (stage, _):
        stage.api.when(of_worker, in_copy("echo agent >> a.txt"), Reply(parts=(text("Done it."),)))
        stage.api.cut(start(), text("and more ", hold("more"), "words to come"), at_event=10)
        stage.api.reply(text("ok"))
        async with anyio.create_task_group() as group:

            def look(_at: int, message: Message) -> None:
                if isinstance(message, ToolFinished) and message.tool == "Write":
                    stage.api.release("more")

            async def turn() -> None:
                await stage.turn(on_message=look)

            group.start_soon(turn)
        assert (repo / "a.txt").read_text() == LINES + "agent\n"
        assert len([call for call in stage.api.calls if of_worker(call)]) == 2


async def test_a_file_that_the_agent_made_executable_is_executable_afterwards_and_asked_about(repo: Path) -> None:  # T7
    (repo / "run.sh").write_text("echo run\n")
    (repo / "tool.sh").write_text("echo tool\n")
    (repo / "tool.sh").chmod(0o755)
    (repo / "both.sh").write_text("echo both\n")
    async with staged(repo) as (stage, judge):
        work = "chmod +x run.sh both.sh; chmod -x tool.sh; echo more >> both.sh; echo new > new.sh; chmod 755 new.sh"
        stage.api.when(of_worker, in_copy(work), Reply(parts=(text("Done it."),)))
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()

        modes = {name: (repo / name).stat().st_mode & 0o777 for name in ("run.sh", "tool.sh", "both.sh", "new.sh")}
        assert {name: bool(mode & 0o100) for name, mode in modes.items()} == {
            "run.sh": True,
            "tool.sh": False,
            "both.sh": True,
            "new.sh": True,
        }
        assert (repo / "both.sh").read_text() == "echo both\nmore\n" and (repo / "run.sh").read_text() == "echo run\n"
        merged = [call for call in judge.calls if call.parent_tool_use_id == "toolu_agent" and call.place is None]
        assert [call.action.tool for call in merged] == ["Write", "Write", "Bash", "Bash"]
        assert "chmod +x" in merged[2].action.input["command"] and "chmod -x" in merged[3].action.input["command"]
        result = str(stage.api.calls[-1].tool_results["toolu_agent"]["content"])
        assert "Made executable" in result and "Made no longer executable" in result


async def test_a_change_of_mode_that_is_refused_or_comes_too_late_changes_nothing_and_is_told(repo: Path) -> None:  # T7
    (repo / "run.sh").write_text("echo run\n")
    (repo / "gone.sh").write_text("echo gone\n")
    async with staged(repo) as (stage, judge):
        judge.denied = "run.sh"

        work = in_copy(f"chmod +x run.sh gone.sh; rm {repo}/gone.sh; printf new > new.sh; chmod +x new.sh")
        stage.api.when(of_worker, work, Reply(parts=(text("Done it."),)))
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()

        assert not (repo / "run.sh").stat().st_mode & 0o100
        assert not (repo / "gone.sh").exists()
        result = str(stage.api.calls[-1].tool_results["toolu_agent"]["content"])
        assert "Not taken over: gone.sh" in result
        assert "Not taken over: chmod +x" in result and "not this one" in result


async def test_no_filter_of_a_submodule_runs_when_an_agent_starts(repo: Path, tmp_path: Path) -> None:
    git(repo, "submodule", "add", "-q", str(made_repository(tmp_path / "inner")), "sub")
    git(repo, "commit", "-qm", "sub")
    git(repo / "sub", "config", "filter.own.clean", f"touch {tmp_path}/ran; cat")
    (repo / ".git" / "modules" / "sub" / "info" / "attributes").write_text("* filter=own\n")
    os.utime(repo / "sub" / "a.txt", (1, 1))  # git looks into a file that may have changed
    async with staged(repo) as (stage, _):
        stage.api.when(of_worker, in_copy("echo more >> a.txt"), Reply(parts=(text("Done."),)))
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
    assert (repo / "a.txt").read_text() == f"{LINES}more\n"
    assert not (tmp_path / "ran").exists()


async def test_an_agent_s_copy_opens_no_more_than_the_session_s_own_folder(repo: Path) -> None:
    """The repository may begin far above the workspace: in the home, say, with keys that git does not even track."""
    (repo / "sub").mkdir()
    (repo / "sub" / "b.txt").write_text("b\n")
    (repo / "key").write_text("private\n")
    async with staged(repo / "sub") as (stage, judge):
        stage.api.when(of_worker, in_copy("echo more >> b.txt"), Reply(parts=(text("Done."),)))
        stage.api.reply(start())
        stage.api.reply(text("ok"))
        await stage.turn()
    place = next(call.place for call in judge.calls if call.place is not None)
    assert place.read_roots == (str(repo / "sub"),)
    assert [Path(root).relative_to(repo / ".worktrees").parts[1:] for root in place.roots] == [("sub",)]
    assert (repo / "sub" / "b.txt").read_text() == "b\nmore\n"
