"""What the loop does between two calls: in which order, and with which words it ends (L1, L2, L3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from assent.extensions.hooks import Hook, InProcessHooks
from assent.tools.tool import AnyTool, Input, Tool, ToolContext, ToolOutput, TurnWish, as_json
from assent.types.blocks import text_block
from assent.types.hooks import HookCall, HookEvent, HookOutcome
from assent.types.messages import MaxTurnsReached, RequestStart, ToolUseSummary, UserMessage
from assent.types.permissions import Action, Deny, Verdict
from assent.types.ports import ToolCall
from enginekit import Change, Echo, Stage
from enginekit.stage import MODEL, OTHER_MODEL
from enginekit.tools import TextInput
from fakeapi import Reply, text, tool

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def hooks_of(event: HookEvent, outcome: HookOutcome) -> tuple[InProcessHooks, list[HookCall]]:
    heard: list[HookCall] = []

    async def run(call: HookCall) -> HookOutcome:
        heard.append(call)
        return outcome

    return InProcessHooks((Hook(event=event, run=run),)), heard


class SkillInput(Input, frozen=True):
    skill: str


class Skilled(Tool[SkillInput]):
    """Named Skill: what it was asked for is all that counts."""

    name: ClassVar[str] = "Skill"
    input_type: ClassVar[type[Input]] = SkillInput

    def description(self) -> str:
        return "a skill, for tests"

    def action(self, input: SkillInput, *, cwd: str) -> Action:
        return Action(tool=self.name, input=as_json(input), read_only=True)

    async def call(self, input: SkillInput, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(content="the skill")


class Acts(Echo):
    """Does something to the conversation around it while it runs."""

    name: ClassVar[str] = "Acts"

    def __init__(self, act: Callable[[], None]) -> None:
        super().__init__()
        self._act = act

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        self._act()
        return await super().call(input, ctx)


async def test_tools_that_come_between_two_steps_are_offered_in_the_next() -> None:  # L4, T9
    offered: list[AnyTool] = []
    offered.append(Acts(lambda: offered.append(Change())))
    async with Stage() as stage:
        stage.api.reply(tool("Acts", text="x"))
        stage.api.reply(text("done"))
        await stage.turn(engine=stage.new_engine(tools=lambda: tuple(offered)))
        first, second = ([each["name"] for each in call.body["tools"]] for call in stage.api.calls)
        assert "Change" not in first and "Change" in second


async def test_hooks_after_an_answer_hear_why_it_ended_and_not_after_a_failure() -> None:  # L13, L8
    hooks, heard = hooks_of("PostSampling", HookOutcome())
    async with Stage(tools=[Echo()], hooks=hooks) as stage:
        stage.api.reply(tool("Echo", text="x"))
        stage.api.error(400, "bad request")
        turn = await stage.turn()
        assert turn.result.terminal == "model_error"
        assert [call.data["stop_reason"] for call in heard] == ["tool_use"]


async def test_a_hook_on_a_batch_ends_the_turn_in_its_own_words() -> None:  # H, L3
    hooks, heard = hooks_of("PostToolBatch", HookOutcome(status="prevented", text="enough for today"))
    async with Stage(tools=[Echo()], hooks=hooks) as stage:
        stage.api.reply(tool("Echo", text="x"))
        turn = await stage.turn()
        assert (turn.result.terminal, turn.result.result) == ("hook_stopped", "enough for today")
        assert [each["tool_name"] for each in heard[0].data["tool_calls"]] == ["Echo"]
        assert len(stage.api.calls) == 1


async def test_a_hook_on_a_call_ends_the_turn_in_its_own_words() -> None:  # H, L3
    hooks, _ = hooks_of("PostToolUse", HookOutcome(status="prevented", text="stop right here"))
    async with Stage(tools=[Echo()], hooks=hooks) as stage:
        stage.api.reply(tool("Echo", text="x"))
        turn = await stage.turn()
        assert (turn.result.terminal, turn.result.result) == ("hook_stopped", "stop right here")


async def test_a_person_who_says_stop_ends_the_turn_as_aborted() -> None:  # P11, L3
    async def stop(_call: ToolCall) -> Verdict:
        return Deny(step="tool", reason="no", interrupt=True)

    async with Stage(tools=[Change()], can_use_tool=stop) as stage:
        stage.api.reply(tool("Change", text="x"))
        turn = await stage.turn()
        assert (turn.result.terminal, turn.result.result) == ("aborted_tools", "Aborted")
        assert len(stage.api.calls) == 1


async def test_a_structured_answer_is_the_result_in_both_forms() -> None:  # Q10
    async with Stage(json_schema=SCHEMA) as stage:
        stage.api.reply(text("Here it is."), tool("StructuredOutput", n=3))
        turn = await stage.turn()
        assert (turn.result.terminal, turn.result.structured_output) == ("completed", {"n": 3})
        assert turn.result.result == '{"n":3}'


async def test_stop_hooks_hear_a_structured_answer_as_the_last_words() -> None:  # L13, Q10
    hooks, heard = hooks_of("Stop", HookOutcome())
    async with Stage(json_schema=SCHEMA, hooks=hooks) as stage:
        stage.api.reply(text("Here it is."), tool("StructuredOutput", n=3))
        await stage.turn()
        assert [call.data["last_assistant_message"] for call in heard] == ['{"n":3}']


async def test_what_calls_came_to_is_told_in_a_line_once_the_next_answer_is_there() -> None:  # L15
    async with Stage(tools=[Echo()], background_calls=frozenset({"summary"})) as stage:
        stage.api.when("what these tool calls", *[Reply(parts=(text("Looked around"),)) for _ in range(3)])
        for number in range(3):
            stage.api.reply(tool("Echo", id=f"toolu_{number}", text="a"))
        stage.api.reply(text("ok"))
        turn = await stage.turn()
        assert turn.of(ToolUseSummary)[0].tool_use_ids == ("toolu_0",)
        stage.api.forget()


async def test_a_structured_answer_that_does_not_fit_is_asked_for_again() -> None:  # Q10, L2
    async with Stage(json_schema=SCHEMA) as stage:
        stage.api.reply(tool("StructuredOutput", n="three"))
        stage.api.reply(tool("StructuredOutput", n=3))
        turn = await stage.turn()
        assert turn.transitions == ["structured_output_retry"]
        assert [start.attempt for start in turn.of(RequestStart)] == [0, 1]
        assert turn.result.structured_output == {"n": 3}
        assert [block["type"] for block in stage.api.calls[-1].messages[-1]["content"]] == ["tool_result"]


async def test_a_skill_that_was_used_counts_as_discovered_in_this_turn_only() -> None:  # Q1
    async with Stage(tools=[Echo(), Skilled()]) as stage:
        stage.api.reply(tool("Echo", text="x"), tool("Skill", skill="nowhere"))
        stage.api.reply(text("done"))
        await stage.turn()
        assert stage.engine._conversation.discovered_skills == {"nowhere"}
        stage.api.reply(text("again"))
        await stage.turn()
        assert stage.engine._conversation.discovered_skills == set()


async def test_the_step_limit_is_told_with_its_number() -> None:  # L2, L3
    async with Stage(tools=[Echo()], max_turns=2) as stage:
        for _ in range(2):
            stage.api.reply(text("Working."), tool("Echo", text="x"))
        turn = await stage.turn()
        assert turn.of(MaxTurnsReached) == [MaxTurnsReached(max_turns=2, turn_count=3)]
        assert (turn.result.terminal, turn.result.subtype) == ("max_turns", "error_max_turns")
        assert turn.result.result == "Stopped after 2 steps, the limit set."
        assert len(stage.api.calls) == 2


async def test_what_was_queued_is_told_with_the_results_of_a_step() -> None:  # L11
    queued = UserMessage(uuid="q", content=(text_block("also the tests"),))
    async with Stage(tools=[Acts(lambda: stage.engine.enqueue(queued))]) as stage:
        stage.api.reply(tool("Acts", text="x"))
        stage.api.reply(text("done"))
        await stage.turn()
        assert "also the tests" in str(stage.api.calls[-1].messages[-1])


async def test_a_tool_that_ends_the_turn_leaves_the_last_words_as_the_result() -> None:  # L3
    class Ends(Echo):
        name: ClassVar[str] = "Ends"

        async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
            return ToolOutput(content="over", stop_turn=True)

    async with Stage(tools=[Ends()]) as stage:
        stage.api.reply(text("That is all."), tool("Ends", text="x"))
        turn = await stage.turn()
        assert (turn.result.terminal, turn.result.result) == ("completed", "That is all.")
        assert turn.result.structured_output is None
        assert len(stage.api.calls) == 1


class Wishing(Echo):
    """Like a loaded skill: the rest of the turn is to go on with another model, harder thinking and fewer tools."""

    name: ClassVar[str] = "Wishing"

    async def call(self, input: TextInput, ctx: ToolContext) -> ToolOutput:
        ctx.wish(TurnWish(model=input.text, effort="high", without=("Change",)))
        return ToolOutput(content="wished")


async def test_what_a_tool_wishes_of_the_turn_counts_from_the_next_request_until_the_turns_end() -> None:  # Q4, L1
    async with Stage(tools=[Wishing(), Change()]) as stage:
        stage.api.reply(tool("Wishing", text=OTHER_MODEL))
        stage.api.reply(text("done"))
        await stage.turn()
        stage.api.reply(text("as before"))
        await stage.turn()
        sent = [(each.model, each.effort, [tool["name"] for tool in each.tools]) for each in stage.requests]
        before = (MODEL, stage.requests[0].effort, ["Wishing", "Change", "Snip"])
        assert sent == [before, (OTHER_MODEL, "high", ["Wishing", "Snip"]), before]
        assert before[1] != "high"
