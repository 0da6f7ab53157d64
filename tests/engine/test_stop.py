"""When the model stops: hooks, budgets and what follows, in their strict order (L8, L12, L13, L15)."""

from __future__ import annotations

import dataclasses
import typing
from pathlib import Path

import anyio
import pytest

from assent.engine.budget import Continuation, check_token_budget
from assent.engine.state import BudgetTracking, CompactTracking, State, Transition
from assent.extensions.hooks import Hook, InProcessHooks
from assent.storage.agent_logs import AgentLogs
from assent.tools.task_list import Task, TaskBoard, Team
from assent.tools.tool import ToolContext, ToolOutput
from assent.types.hooks import HookCall, HookEvent, HookOutcome
from assent.types.messages import Attachment, ContinueReason, HookRan, Message, ToolUseSummary
from enginekit import Echo, Stage
from enginekit.stage import WAIT
from enginekit.tools import Simple, TextInput
from fakeapi import Reply, failure, hold, text, tool

NOTHING_RUNS: dict[str, list[str]] = {"background_tasks": [], "session_crons": []}


class Witness:
    """Hooks that answer from a list and write down what they were told."""

    def __init__(self, *answers: HookOutcome | None) -> None:
        self.answers = list(answers)
        self.calls: list[HookCall] = []

    async def __call__(self, call: HookCall) -> HookOutcome | None:
        self.calls.append(call)
        return self.answers.pop(0) if self.answers else None

    def on(self, *events: HookEvent) -> InProcessHooks:
        return InProcessHooks(tuple(Hook(event=event, run=self) for event in events))

    @property
    def events(self) -> list[str]:
        return [call.event for call in self.calls]


async def test_stop_hooks_are_told_what_was_said_and_whether_they_have_blocked_before() -> None:  # L13
    witness = Witness(HookOutcome(status="blocked", text="not yet"))
    async with Stage(tools=[Echo()], hooks=witness.on("Stop")) as stage:
        stage.api.reply(text("done?"))
        stage.api.reply(tool("Echo", text="more"))
        stage.api.reply(text("done!"))
        turn = await stage.turn()
        assert turn.transitions == ["stop_hook_blocking", "next_turn"]
        assert turn.result.result == "done!"
        assert [call.data for call in witness.calls] == [
            {"stop_hook_active": False, "last_assistant_message": "done?", **NOTHING_RUNS},
            {"stop_hook_active": True, "last_assistant_message": "done!", **NOTHING_RUNS},
        ]


async def test_stop_hooks_never_run_on_an_error_and_stop_failure_hooks_do() -> None:  # L8
    witness = Witness()
    async with Stage(hooks=witness.on("Stop", "StopFailure")) as stage:
        stage.api.add(failure(403, "no"))
        turn = await stage.turn()
        assert turn.result.terminal == "model_error"
        with anyio.fail_after(WAIT):
            while not witness.calls:
                await anyio.lowlevel.checkpoint()
        assert witness.events == ["StopFailure"]
        data = {"error": "authentication_failed", "error_details": "no", "last_assistant_message": ""}
        assert witness.calls[0].data == data and witness.calls[0].subject == "authentication_failed"


async def test_a_hook_that_crashes_or_hangs_is_shown_and_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def crash(_call: HookCall) -> HookOutcome:
        raise RuntimeError("boom")

    async def hang(_call: HookCall) -> HookOutcome:
        await anyio.sleep_forever()
        return HookOutcome()

    hooks = InProcessHooks((Hook(event="Stop", run=crash), Hook(event="Stop", run=hang, timeout=0.01)))
    async with Stage(hooks=hooks) as stage:
        stage.api.reply(text("done"))
        turn = await stage.turn()
        assert turn.result.terminal == "completed"
        assert sorted(hook.outcome for hook in turn.of(HookRan)) == ["error", "timeout"]


async def test_hooks_come_before_the_token_budget() -> None:  # L8
    witness = Witness(HookOutcome(status="prevented", text="that is enough"))
    async with Stage(hooks=witness.on("Stop"), token_budget=1_000_000) as stage:
        stage.api.reply(text("done"), output_tokens=10)
        turn = await stage.turn()
        assert turn.result.terminal == "stop_hook_prevented"
        assert turn.transitions == []


async def test_recovery_comes_before_hooks() -> None:  # L8
    witness = Witness()
    async with Stage(hooks=witness.on("Stop")) as stage:
        stage.api.reply(text("cut"), stop_reason="max_tokens")
        stage.api.reply(text("whole"))
        await stage.turn()
        assert [call.data["last_assistant_message"] for call in witness.calls] == ["whole"]


async def test_subagents_have_their_own_stop_event_and_never_auto_continue(tmp_path: Path) -> None:  # L12, H
    from assent.extensions.agents import AgentDefinition
    from assent.tools.agent import Agent

    witness = Witness()
    scout = AgentDefinition(name="scout", description="d", prompt="You scout.")
    hooks = witness.on("Stop", "SubagentStart", "SubagentStop")
    logs = AgentLogs(tmp_path / "agents")
    async with Stage(tools=[Agent()], agents=(scout,), hooks=hooks, token_budget=100, agent_logs=logs) as stage:
        stage.api.when(lambda r: "You scout." in str(r.body.get("system")), Reply(parts=(text("here"),)))
        stage.api.reply(tool("Agent", description="d", prompt="p", subagent_type="scout"), output_tokens=60)
        stage.api.reply(text("ok"), output_tokens=60)
        turn = await stage.turn()
        assert witness.events == ["SubagentStart", "SubagentStop", "Stop"]
        (file,) = (tmp_path / "agents").iterdir()  # what the agent said; hooks may read it
        assert [call.data.get("agent_transcript_path") for call in witness.calls] == [None, str(file), None]
        assert turn.result.terminal == "token_budget_stop"


async def test_in_team_mode_tasks_and_then_idleness_are_asked_about() -> None:  # L13
    board = TaskBoard()
    for number in ("1", "2"):
        board.add(Task(id=number, subject=f"task {number}", status="in_progress", owner="main"))
    board.add(Task(id="3", subject="of another", status="in_progress", owner="a7"))
    witness = Witness(None, None, None, HookOutcome(status="blocked", text="take task 3"))
    async with Stage(team=Team(board=board), hooks=witness.on("Stop", "TaskCompleted", "TeammateIdle")) as stage:
        stage.api.reply(text("done"))
        stage.api.reply(text("task 3 done"))
        turn = await stage.turn()
        assert witness.events == ["Stop", "TaskCompleted", "TaskCompleted", "TeammateIdle"]
        assert witness.calls[2].data == {"task_id": "2", "task_subject": "task 2", "teammate_name": "main"}
        assert witness.calls[3].data == {"teammate_name": "main"}
        assert turn.transitions == ["stop_hook_blocking"]


async def test_a_task_that_a_hook_sends_back_is_worked_on_before_anyone_is_idle() -> None:  # L13
    board = TaskBoard()
    board.add(Task(id="1", subject="task 1", status="in_progress", owner="main"))
    witness = Witness(None, HookOutcome(status="blocked", text="its tests fail"))
    async with Stage(team=Team(board=board), hooks=witness.on("Stop", "TaskCompleted", "TeammateIdle")) as stage:
        stage.api.reply(text("done"))
        stage.api.reply(text("mended"))
        turn = await stage.turn()
        assert witness.events == ["Stop", "TaskCompleted"]
        assert turn.transitions == ["stop_hook_blocking"]
        assert "its tests fail" in stage.api.calls[-1].last_text


async def test_without_tasks_there_is_no_team_and_nobody_is_idle() -> None:  # L13
    witness = Witness()
    async with Stage(team=Team(board=TaskBoard()), hooks=witness.on("Stop", "TaskCompleted", "TeammateIdle")) as stage:
        stage.api.reply(text("done"))
        await stage.turn()
        assert witness.events == ["Stop"]


async def test_the_post_sampling_hook_hears_of_every_answer() -> None:  # L13
    witness = Witness()
    async with Stage(tools=[Echo()], hooks=witness.on("PostSampling")) as stage:
        stage.api.reply(tool("Echo", text="a"))
        stage.api.reply(text("ok"))
        await stage.turn()
        assert [call.data["stop_reason"] for call in witness.calls] == ["tool_use", "end_turn"]


async def test_compaction_hooks_can_stop_a_compaction_and_hear_of_one() -> None:  # C5
    from assent.extensions.commands import BUILT_IN

    witness = Witness(HookOutcome(status="blocked", text="keep everything"))
    async with Stage(hooks=witness.on("PreCompact", "PostCompact"), commands=BUILT_IN) as stage:
        stage.api.reply(text("ok"))
        await stage.turn()
        turn = await stage.turn("/compact")
        assert "nothing has changed" in turn.result.result
        stage.api.when("about to be replaced", Reply(parts=(text("<summary>s</summary>"),)))
        await stage.turn("/compact")
        assert [(call.event, call.subject) for call in witness.calls] == [
            ("PreCompact", "manual"),
            ("PreCompact", "manual"),
            ("PostCompact", "manual"),
        ]


@pytest.mark.parametrize(("failed", "calls"), [(False, 1), (True, 2)])
async def test_a_tool_may_end_the_turn_but_not_by_failing(failed: bool, calls: int) -> None:
    class Finish(Simple):
        name = "Finish"

        async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
            return ToolOutput(content="that was it", is_error=failed, stop_turn=True)

    async with Stage(tools=[Finish()]) as stage:
        stage.api.reply(tool("Finish", text="x"))
        stage.api.otherwise(Reply(parts=(text("ok"),)))
        turn = await stage.turn()
        assert turn.result.terminal == "completed"
        assert len(stage.api.calls) == calls


async def test_summaries_of_calls_come_from_the_small_model_and_are_not_waited_for() -> None:  # L15
    async with Stage(tools=[Echo()], background_calls=frozenset({"summary"})) as stage:
        stage.api.when("what these tool calls", *[Reply(parts=(text("Looked around"),)) for _ in range(4)])
        for number in range(4):
            stage.api.reply(tool("Echo", id=f"toolu_{number}", text="a"))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        summaries = turn.of(ToolUseSummary)
        assert summaries and summaries[0].text == "Looked around"
        assert {call.body["model"] for call in stage.api.calls if "what these tool" in call.last_text} == {
            "claude-haiku-4-5"
        }
        assert "claude-haiku-4-5" in stage.engine.cost()["byModel"]  # counted (M10)


async def test_no_call_is_made_that_nobody_asked_for() -> None:  # M10
    async with Stage(tools=[Echo()]) as stage:
        stage.api.reply(tool("Echo", text="a"))
        stage.api.reply(text("ok"))
        await stage.turn()
        assert len(stage.api.requests) == 2


@pytest.mark.parametrize("bare", [False, True])
async def test_after_the_turn_a_suggestion_comes_and_the_result_does_not_wait_for_it(bare: bool) -> None:  # L13
    told: list[Message] = []
    async with Stage(background_calls=frozenset({"suggestion"}), publish=told.append, bare=bare) as stage:
        stage.api.when("most likely send next", Reply(parts=(hold("suggestion"), text("Now run the tests"))))
        stage.api.reply(text("done"))
        await stage.turn()
        assert told == []
        stage.api.release("suggestion")
        with anyio.fail_after(WAIT):
            while stage.engine._conversation.background.running:
                await anyio.lowlevel.checkpoint()
        assert [m.kind for m in told if isinstance(m, Attachment)] == ([] if bare else ["suggestion"])
        assert len(stage.api.requests) == (1 if bare else 2)


async def test_a_command_answered_here_leaves_nothing_to_think_about() -> None:  # L13, Q7
    from assent.extensions.commands import BUILT_IN

    async with Stage(background_calls=frozenset({"suggestion"}), commands=BUILT_IN) as stage:
        await stage.turn("/cost")
        assert stage.engine._conversation.background.running == 0
        assert stage.api.requests == []


@pytest.mark.parametrize(
    ("budget", "used", "tracking", "goes_on"),
    [
        (None, 10, BudgetTracking(), None),
        (0, 10, BudgetTracking(), None),
        (1_000, 899, BudgetTracking(), True),
        (1_000, 900, BudgetTracking(), False),
        (100_000, 700, BudgetTracking(continuations=3, last_delta=499, tokens_at_last_check=300), False),
        (100_000, 700, BudgetTracking(continuations=2, last_delta=499, tokens_at_last_check=300), True),
        (100_000, 900, BudgetTracking(continuations=3, last_delta=499, tokens_at_last_check=300), True),
        (100_000, 700, BudgetTracking(continuations=3, last_delta=500, tokens_at_last_check=300), True),
    ],
)
def test_the_token_budget_goes_on_below_ninety_per_cent_and_while_it_pays(  # L12
    budget: int | None, used: int, tracking: BudgetTracking, goes_on: bool | None
) -> None:
    verdict = check_token_budget(budget, used, tracking)
    assert (None if verdict is None else isinstance(verdict, Continuation)) is goes_on
    if isinstance(verdict, Continuation):
        assert "Do not summarise" in verdict.nudge
        assert verdict.tracking.tokens_at_last_check == used


RECOVERY = {"output_recovery_count", "max_tokens_override", "stream_retry_count", "pause_count"}
RESET: dict[ContinueReason, set[str]] = {
    "next_turn": RECOVERY | {"reactive_compact_attempted"},
    "structured_output_retry": RECOVERY | {"reactive_compact_attempted"},
    "token_budget_continuation": RECOVERY | {"reactive_compact_attempted"},
    "stop_hook_blocking": RECOVERY,
    "max_output_tokens_escalate": set(),
    "max_output_tokens_recovery": set(),
    "reactive_compact_retry": set(),
    "collapse_drain_retry": set(),
    "fallback_model_retry": set(),
    "stream_retry": set(),
    "pause_turn": set(),
}


@pytest.mark.parametrize("reason", typing.get_args(ContinueReason))
def test_each_reason_resets_what_the_table_says_and_keeps_the_rest(reason: ContinueReason) -> None:  # L1
    full = State(
        messages=(),
        model="m",
        tracking=CompactTracking(failures=2),
        budget=BudgetTracking(continuations=1),
        output_recovery_count=2,
        reactive_compact_attempted=True,
        max_tokens_override=64_000,
        stream_retry_count=1,
        pause_count=1,
        structured_retries=1,
        stop_hook_active=True,
        turn_count=7,
    )
    fresh = State(messages=(), model="m")
    after = full.proceed(reason, attempt=3)
    for each in dataclasses.fields(State):
        if each.name != "transition":
            source = fresh if each.name in RESET[reason] else full
            assert getattr(after, each.name) == getattr(source, each.name), each.name
    assert after.transition == Transition(reason=reason, attempt=3)
