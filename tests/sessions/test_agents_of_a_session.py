"""Agents, their tasks and their conversations as a session keeps and shows them (T7, S5)."""

import os
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest

from assent.extensions.agents import AgentDefinition
from assent.extensions.hooks.payload import payload
from assent.extensions.hooks.ports import SessionFacts
from assent.sessions import agent_pages
from assent.sessions.deps import PermissionFacts
from assent.tools.agent import Agent
from assent.tools.bash import Bash
from assent.tools.read import Read
from assent.tools.tasks import TaskCreate, TaskUpdate
from assent.tools.write import Write
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.hooks import HookCall
from assent.types.permissions import Action, Allow, Ask, Decision
from assent.types.ports import ModelRequest
from assent.wire import extensions
from sessions.harness import WAIT, TestFront, jobs_of, running, say, use


def allow(_action: Action, _facts: PermissionFacts) -> Decision:
    return Allow(step="rules", reason="ok")


SCOUT = AgentDefinition(name="scout", description="looks", prompt="You scout.", color="blue")


def commit_all(folder: Path) -> None:
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *command], cwd=folder, check=True)


async def test_tasks_are_shown_and_kept_with_the_session(tmp_path: Path) -> None:  # L13
    tools = [TaskCreate(), TaskUpdate()]
    answers = ([use("TaskCreate", subject="Find it")], [use("TaskUpdate", "tu2", taskId="1", status="in_progress")])
    async with running(tmp_path, *answers, tools=tools) as harness:
        front = TestFront()
        session = await harness.new(front)
        await harness.send(session, "go", front)
        await front.seen("turnFinished")
        assert [event["items"] for event in front.of("tasks")] == [
            [{"id": "1", "subject": "Find it", "status": "pending"}],
            [{"id": "1", "subject": "Find it", "status": "in_progress", "owner": "main"}],
        ]
    async with running(tmp_path, tools=tools) as harness:
        attached = await harness.request("session/attach", sessionId=session)
        assert attached["tasks"] == [{"id": "1", "subject": "Find it", "status": "in_progress", "owner": "main"}]


async def test_the_scratchpad_is_the_users_alone_and_counts_as_a_folder_of_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    async with running(tmp_path / "home") as harness:
        session = harness.hub.live[await harness.new()]
        before = session.roots()
        made = session.services.scratchpad()
        assert made is not None and made.stat().st_mode & 0o077 == 0 and session.id in str(made)
        assert session.roots() == (*before, str(made)) and session.permission_facts().roots == session.roots()
        other = harness.hub.live[await harness.new()]
        (tmp_path / f"assent-{os.getuid()}" / other.id).symlink_to(tmp_path)
        assert other.services.scratchpad() is None  # someone else's link is not followed


def test_hooks_are_told_of_the_scratchpad_once_there_is_one() -> None:
    call = HookCall(event="Stop", session_id="s", cwd="/w")
    assert "scratchpad_dir" not in payload(call, SessionFacts(project="/w"))
    assert payload(call, SessionFacts(project="/w", scratchpad="/t/s"))["scratchpad_dir"] == "/t/s"


async def test_an_agents_conversation_can_be_read_while_it_runs_afterwards_and_after_a_restart(tmp_path: Path) -> None:
    reached, go_on = anyio.Event(), anyio.Event()

    async def held(_request: ModelRequest) -> list[Json]:
        reached.set()
        await go_on.wait()
        return say("It is in a.py.")

    def page(agent: str) -> extensions.AgentRead:
        return extensions.AgentRead(session_id="s", agent_id=agent)

    call = use("Agent", description="find", prompt="Where is it?", subagent_type="scout")
    run: Json = {}
    options: dict[str, Any] = {"tools": [Agent()], "agents": lambda: (SCOUT,)}
    async with running(tmp_path, [call], held, **options) as harness:
        front = TestFront()
        session_id = await harness.new(front)
        session = harness.hub.live[session_id]
        async with anyio.create_task_group() as group:
            group.start_soon(harness.send, session_id, "go", front)
            with anyio.fail_after(WAIT):
                await reached.wait()
            assert session.turns.engine.agents is not None
            (run,) = session.turns.engine.agents.list()
            assert (run["state"], run["color"]) == ("running", "blue")
            now = await agent_pages.read(session, page(run["agentId"]))
            assert "Where is it?" in str(now.messages[0].content) and now.agent is not None
            go_on.set()
        await front.seen("turnFinished")
        then = await agent_pages.read(session, page(run["agentId"]))
        assert [message.role for message in then.messages] == ["user", "assistant"]
        assert then.agent is not None and then.agent.state == "finished" and (then.agent.tokens or 0) > 0
        for wrong in ("nobody", "../../x"):
            with pytest.raises(ProtocolError, match="There is no agent"):
                await agent_pages.read(session, page(wrong))
    async with running(tmp_path, **options) as harness:
        await harness.request("session/attach", sessionId=session_id)
        later = await agent_pages.read(harness.hub.live[session_id], page(run["agentId"]))
        assert later.agent is None and "It is in a.py." in str(later.messages[-1].content)


async def test_what_an_isolated_agent_changed_is_reviewed_hunk_by_hunk(tmp_path: Path) -> None:  # T7
    def ask_for_writes(action: Action, facts: PermissionFacts) -> Decision:
        inside = "/.worktrees/agent-" in facts.cwd and facts.mode == "acceptEdits"
        if action.writes and not inside:
            return Ask(step="mode", reason="edits are asked about", title=f"Edit {action.writes[0]}")
        return Allow(step="rules", reason="ok")

    lines = "".join(f"line {number}\n" for number in range(40))
    after = lines.replace("line 3\n", "line three\n").replace("line 30\n", "line thirty\n")
    cwd = tmp_path / "project"
    cwd.mkdir()
    (cwd / "a.txt").write_text(lines)
    commit_all(cwd)
    worker = AgentDefinition(name="worker", description="works", prompt="You work.", isolation="worktree")
    start = use("Agent", "tu_agent", description="do", prompt="Do it.", subagent_type="worker")
    answers = (
        [start],
        [use("Read", "tu1", file_path="a.txt")],
        [use("Write", "tu2", file_path="a.txt", content=after)],
    )
    async with running(
        tmp_path,
        *answers,
        say("Done."),
        say("ok"),
        tools=[Agent(lambda: [("worker", "works")], lambda _name: True), Read(), Write()],
        agents=lambda: (worker,),
        decide=ask_for_writes,
        editor=True,
        jobs=jobs_of,
    ) as harness:
        front = TestFront()
        session = await harness.new(front)
        await harness.send(session, "go", front)
        await front.until(lambda: front.asked)
        assert front.asked[0]["tool"] == "Agent"  # its edits will not be asked about one by one
        front.answer({"decision": "allow"})
        await front.until(lambda: len(front.asked) == 2)
        ask = front.asked[1]
        assert (ask["tool"], ask["parentToolUseId"]) == ("Write", "tu_agent")
        assert ask["proposal"]["uri"].endswith("/project/a.txt")
        (first, _second) = (hunk["hunkId"] for hunk in ask["proposal"]["hunks"])
        front.answer({"decision": "allow", "hunks": [{"hunkId": first, "decision": "accept"}]})
        await front.seen("turnFinished")
        assert (cwd / "a.txt").read_text() == lines.replace("line 3\n", "line three\n")
        told = str(harness.model.requests[-1].messages)
        assert "1 of 2 hunks" in told and "Done." in told
        assert not (cwd / ".worktrees").exists()


@pytest.mark.parametrize("order", ["while idle", "in a turn", "sent back", "killed"])
async def test_a_command_taken_to_the_front_is_waited_for_and_its_end_is_told(tmp_path: Path, order: str) -> None:  # S5
    reached, go_on = anyio.Event(), anyio.Event()

    async def held(_request: ModelRequest) -> list[Json]:
        reached.set()
        await go_on.wait()
        return [use("Note", "tu2", text="x")]

    start = use("Bash", command="read x < gate; echo it is done", run_in_background=True)
    idle = order != "in a turn"
    answers = ([start], say("Started.")) if idle else ([start], held, say("Done."))
    async with running(
        tmp_path,
        *answers,
        tools=[Bash()],
        decide=allow,
        jobs=jobs_of,
    ) as harness:
        os.mkfifo(harness.cwd / "gate")
        front = TestFront()
        session_id = await harness.new(front)
        session = harness.hub.live[session_id]
        gate = harness.cwd / "gate"

        async def open_gate() -> None:
            await anyio.to_thread.run_sync(gate.write_text, "go\n")

        job: Json = {}
        async with anyio.create_task_group() as group:
            group.start_soon(harness.send, session_id, "go", front)
            job = await front.seen("job")
            if idle:
                await front.seen("turnFinished")
            else:
                with anyio.fail_after(WAIT):
                    await reached.wait()
            assert session.background.move_to_foreground(job["jobId"]) == "tu1"
            assert session.background.move_to_foreground(job["jobId"]) == "tu1"
            assert (await front.seen("job", 2))["foreground"] is True
            if order == "sent back":
                assert session.background.move_to_background("tu1") == job["jobId"]
                assert "foreground" not in await front.seen("job", 3)
                await open_gate()
                await front.seen("job", 4)
            elif order == "killed":
                assert session.jobs is not None and await session.jobs.kill(job["jobId"])
            elif order == "in a turn":
                go_on.set()
                await front.until(lambda: harness.note.notes)
                assert len(harness.model.requests) == 2  # the turn waits
                await open_gate()
            else:
                await open_gate()
        if order == "sent back":
            assert len(front.of("turnStarted")) == 1  # nobody waits: told with the next prompt
            await harness.send(session_id, "and?", front)
            await front.seen("turnFinished", 2)
        elif idle:
            await front.seen("turnFinished", 2)  # its end began a turn
            assert job["jobId"] in str(front.of("turnStarted")[1]["prompt"])
        else:
            await front.seen("turnFinished")
            assert len(front.of("turnStarted")) == 1
        told = str(harness.model.requests[-1].messages)
        assert told.count(f"The background command {job['jobId']} has ended") == 1
        with pytest.raises(ProtocolError, match="does not run in the background"):
            session.background.move_to_foreground(job["jobId"])


async def test_a_late_decision_on_an_agents_edit_is_told_to_the_agent_and_not_to_its_parent(
    tmp_path: Path,
) -> None:  # L11, T7
    path = tmp_path / "project" / "a.txt"
    path.parent.mkdir()
    path.write_text("one\ntwo\n")
    worker = AgentDefinition(name="worker", description="works", prompt="You work.", tools=("Read", "Write"))

    async def rejected_meanwhile(_request: ModelRequest) -> list[Json]:
        """The agent's edit has landed; while its model thinks, a person takes it back."""
        (proposal,) = (await harness.request("session/attach", front, sessionId=session))["proposals"]
        assert harness.deps.proposals is not None
        await harness.deps.proposals.resolve(proposal["proposalId"], {"all": "reject"}, message="not this")
        return [use("Read", "tu3", file_path=str(path))]

    answers = (
        [use("Agent", "tu_agent", description="do", prompt="Do it.", subagent_type="worker")],
        [use("Read", "tu1", file_path=str(path))],
        [use("Write", "tu2", file_path=str(path), content="one\n2\n")],
        rejected_meanwhile,
        say("I see."),
        say("ok"),
        say("and on"),
    )
    tools = [Agent(), Read(), Write()]
    async with running(tmp_path, *answers, tools=tools, agents=lambda: (worker,), decide=allow, editor=True) as harness:
        front = TestFront()
        session = await harness.new(front)
        await harness.request("session/configure", sessionId=session, review="after")
        await harness.send(session, "go", front, wait=True)
        await harness.send(session, "go on", front, wait=True)
        assert path.read_text() == "one\ntwo\n"
        told = {"main": list[bool](), "subagent": list[bool]()}
        for request in harness.model.requests:
            told[request.source].append("decided by the user meanwhile" in str(request.messages))
        assert told == {"main": [False, False, False], "subagent": [False, False, False, True]}
        assert "not this" in str(harness.model.requests[4].messages)
