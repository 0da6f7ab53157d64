"""The list of tasks that the agents of a session share (L13, T7)."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from assent.extensions.agents import AgentDefinition
from assent.tools.agent import Agent
from assent.tools.task_list import TaskBoard, Team
from assent.tools.tasks import TaskCreate, TaskList, TaskUpdate
from assent.types.hooks import HookCall, HookEvent, HookOutcome
from enginekit import Gate, Stage
from enginekit.stage import WAIT
from fakeapi import Block, Reply, Request, text, tool

SCOUT = AgentDefinition(name="scout", description="looks", prompt="You scout.")


def of_scout(request: Request) -> bool:
    return "You scout." in str(request.body.get("system"))


def start(**options: Any) -> Block:
    return tool("Agent", id="toolu_agent", description="d", prompt="find it", subagent_type="scout", **options)


class Asked:
    """Hooks that refuse what `refuse` names, and remember what they heard."""

    def __init__(self, refuse: str = "") -> None:
        self.refuse = refuse
        self.heard: list[tuple[HookEvent, str]] = []

    def wants(self, event: HookEvent) -> bool:
        return event in ("TaskCreated", "TaskCompleted", "TeammateIdle")

    async def run(self, call: HookCall) -> list[HookOutcome]:
        self.heard.append((call.event, str(call.data.get("task_subject", call.data.get("teammate_name")))))
        if self.refuse and self.refuse in str(call.data.get("task_subject")):
            return [HookOutcome(status="blocked", text="the tests fail", exit_code=2)]
        return [HookOutcome()]


async def test_agents_share_one_list_of_tasks_and_hooks_hear_of_it() -> None:  # L13, T7
    board, hooks = TaskBoard(), Asked()
    tools = [Agent(), TaskCreate(), TaskUpdate(), TaskList()]
    async with Stage(tools=tools, agents=(SCOUT,), team=Team(board=board), hooks=hooks) as stage:
        stage.api.when(
            of_scout,
            Reply(parts=(tool("TaskList", id="toolu_list"), tool("TaskUpdate", taskId="1", status="in_progress"))),
            Reply(parts=(text("I stop here."),)),
        )
        stage.api.reply(
            tool("TaskCreate", subject="Find it", description="the bug"), tool("TaskCreate", subject="Fix it")
        )
        stage.api.reply(start())
        stage.api.reply(tool("TaskUpdate", taskId="#2", status="completed"))
        stage.api.reply(text("ok"))
        await stage.turn()
        assert "#1 Find it" in str(stage.api.calls[-2].tool_results["toolu_agent"]["content"])
        listed = next(call.tool_results["toolu_list"] for call in stage.api.calls if "toolu_list" in call.tool_results)
        assert "#1 [pending] Find it" in str(listed["content"]) and "the bug" in str(listed["content"])
        assert board.to_json() == [
            {
                "id": "1",
                "subject": "Find it",
                "status": "pending",  # it stopped without saying that it is done: another agent can take it
                "description": "the bug",
            },
            {"id": "2", "subject": "Fix it", "status": "completed"},
        ]
        assert hooks.heard == [
            ("TaskCreated", "Find it"),
            ("TaskCreated", "Fix it"),
            ("TaskCompleted", "Find it"),  # the agent stops with a task in progress
            ("TeammateIdle", "scout"),
            ("TaskCompleted", "Fix it"),
            ("TeammateIdle", "main"),
        ]


async def test_a_hook_can_refuse_a_task_and_its_completion() -> None:  # L13
    board = TaskBoard()
    tools = [TaskCreate(), TaskUpdate()]
    async with Stage(tools=tools, team=Team(board=board), hooks=Asked(refuse="bad")) as stage:
        stage.api.reply(tool("TaskCreate", id="toolu_1", subject="a bad idea"))
        stage.api.reply(tool("TaskCreate", id="toolu_2", subject="fine"))
        stage.api.reply(text("ok"))
        await stage.turn()
        assert "was not created: the tests fail" in str(stage.api.calls[1].tool_results["toolu_1"]["content"])
        (task,) = board.list()
        assert task.subject == "fine"
        board.change(task, subject="bad after all")
        stage.api.reply(tool("TaskUpdate", id="toolu_3", taskId=task.id, status="completed"))
        stage.api.reply(text("ok"))
        await stage.turn()
        assert "was not marked as completed: the tests fail" in str(
            stage.api.calls[4].tool_results["toolu_3"]["content"]
        )
        assert board.list()[0].status == "pending"


async def test_a_task_that_another_agent_does_cannot_be_taken_and_unknown_ones_are_named() -> None:
    board = TaskBoard()
    async with Stage(tools=[TaskCreate(), TaskUpdate()], team=Team(board=board)) as stage:
        stage.api.reply(tool("TaskCreate", subject="one"))
        stage.api.reply(tool("TaskUpdate", taskId="1", status="in_progress", owner="a7"))
        stage.api.reply(
            tool("TaskUpdate", id="toolu_a", taskId="1", status="in_progress"),
            tool("TaskUpdate", id="toolu_b", taskId="9", status="completed"),
            tool("TaskUpdate", id="toolu_c", taskId="1"),
        )
        stage.api.reply(text("ok"))
        await stage.turn()
        results = stage.api.calls[-1].tool_results
        assert "being done by a7 already" in str(results["toolu_a"]["content"])
        assert "There is no task 9. There are: #1" in str(results["toolu_b"]["content"])
        assert "Say what changes" in str(results["toolu_c"]["content"])


@pytest.mark.parametrize("ending", ["stopped", "fails", "turn aborted"])
async def test_what_an_agent_had_in_progress_when_it_ended_is_nobodys_again(ending: str) -> None:  # T7, S5
    board, gate = TaskBoard(), Gate()
    tools = [Agent(), TaskCreate(), TaskUpdate(), gate]
    async with Stage(tools=tools, agents=(SCOUT,), team=Team(board=board)) as stage:
        stage.api.when(
            of_scout,
            Reply(parts=(tool("TaskUpdate", taskId="1", status="in_progress"),)),
            Reply(parts=(tool("Gate", text="deep"),)),
            Reply(parts=(text("Refused."),), stop_reason="refusal"),
        )
        stage.api.reply(tool("TaskCreate", subject="Find it"), tool("TaskCreate", subject="Fix it"))
        stage.api.reply(tool("TaskUpdate", taskId="2", status="in_progress"), start())
        stage.api.reply(text("ok"))

        async def act() -> None:
            await gate.reached.wait()
            (run,) = stage.engine.agents.list()
            assert [(task.status, task.owner) for task in board.list()] == [
                ("in_progress", run["agentId"]),
                ("in_progress", "main"),
            ]
            if ending == "stopped":
                assert stage.engine.agents.stop(run["agentId"])
            elif ending == "turn aborted":
                stage.engine.abort()
            else:
                gate.opened.set()

        with anyio.fail_after(WAIT):
            async with anyio.create_task_group() as group:
                group.start_soon(stage.turn)
                group.start_soon(act)
        assert [(task.status, task.owner) for task in board.list()] == [("pending", ""), ("in_progress", "main")]
        if ending != "turn aborted":
            said = str(stage.api.calls[-1].tool_results["toolu_agent"]["content"])
            assert "left in progress" in said and "#1 Find it" in said and "#2" not in said


def test_a_list_from_before_a_crash_gives_nobody_work_but_the_main_agent() -> None:  # S4
    saved = [
        {"id": "1", "subject": "of an agent", "status": "in_progress", "owner": "a7"},
        {"id": "2", "subject": "of the main agent", "status": "in_progress", "owner": "main"},
        {"id": "3", "subject": "done", "status": "completed", "owner": "a7"},
    ]
    board = TaskBoard()
    board.load(saved)
    assert [(task.status, task.owner) for task in board.list()] == [
        ("pending", ""),
        ("in_progress", "main"),
        ("completed", "a7"),
    ]
    assert TaskBoard().restored(saved).to_json() == saved  # of a process that still runs, as it says
