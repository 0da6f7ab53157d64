"""Tools that act on the session itself: todo list, questions, plans, agents, skills, the structured answer (T7, T10)."""

from typing import Any

import anyio
import pytest

from assent.tools.agent import Agent
from assent.tools.builtin import builtin_tools
from assent.tools.skill import LoadedSkill, Skill, Skills
from assent.tools.structured_output import StructuredOutput
from assent.tools.tool import ToolContext, ToolOutput
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.ports import ElicitationAnswer
from toolbox import Toolbox

NAMES = [
    "Read",
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "Glob",
    "Grep",
    "Bash",
    "BashOutput",
    "KillShell",
    "WebFetch",
    "WebSearch",
    "Agent",
    "TodoWrite",
    "AskUserQuestion",
    "EnterPlanMode",
    "ExitPlanMode",
    "EnterWorktree",
    "ExitWorktree",
    "Sleep",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
]
EDITOR_NAMES = [
    "Diagnostics",
    "Definition",
    "References",
    "Hover",
    "Symbols",
    "Rename",
    "CodeActions",
    "Format",
    "CurrentSelection",
    "OpenFile",
]


def test_the_tools_come_in_a_stable_order_and_the_editors_only_with_an_editor() -> None:
    assert [tool.name for tool in builtin_tools()] == NAMES
    assert [tool.name for tool in builtin_tools(editor=True)] == NAMES + EDITOR_NAMES
    assert [tool.definition() for tool in builtin_tools()] == [tool.definition() for tool in builtin_tools()]


@pytest.mark.parametrize("tool", builtin_tools(editor=True), ids=lambda tool: tool.name)
def test_every_tool_describes_itself_with_a_valid_schema(tool: Any) -> None:  # T1
    import jsonschema

    definition = tool.definition()
    assert definition["input_schema"]["type"] == "object"
    assert definition["input_schema"]["additionalProperties"] is False
    assert len(definition["description"]) > 40
    jsonschema.Draft202012Validator.check_schema(definition["input_schema"])
    with pytest.raises(ToolError, match=f"Invalid input for {tool.name}"):
        tool.parse({"surely not a field": 1})


async def test_the_todo_list_is_replaced_and_entries_keep_their_ids(box: Toolbox) -> None:
    await box.call(
        "TodoWrite",
        todos=[
            {"content": "Build", "status": "in_progress", "activeForm": "Building"},
            {"content": "Test", "status": "pending"},
        ],
    )
    first = list(box.state.todos)
    assert [todo["status"] for todo in first] == ["in_progress", "pending"]
    assert first[1]["activeForm"] == "Test"
    assert box.changes == ["todos"]
    text = await box.text(
        "TodoWrite",
        todos=[{"content": "Build", "status": "completed"}, {"content": "Test", "status": "in_progress"}],
    )
    assert "1 to do" in text
    assert [todo["id"] for todo in box.state.todos] == [todo["id"] for todo in first]
    both = [{"content": "a", "status": "in_progress"}, {"content": "b", "status": "in_progress"}]
    assert "Only one entry" in await box.error("TodoWrite", todos=both)


QUESTIONS: list[Json] = [
    {"question": "Which one?", "header": "Choice", "options": [{"label": "A", "description": "first"}, {"label": "B"}]},
    {"question": "Which ones?", "multiSelect": True, "options": [{"label": "C"}, {"label": "D"}]},
]


async def test_questions_reach_the_user_and_answers_the_model(box: Toolbox) -> None:
    box.answer = ElicitationAnswer(
        action="accept", content={"answers": {"q1": ["B"], "q2": ["C", "D"]}, "other": {"q2": " and E "}}
    )
    text = await box.text("AskUserQuestion", questions=QUESTIONS)
    assert text == "The user answered:\nWhich one? → B\nWhich ones? → C, D, in own words: and E"
    assert box.asked[0].questions == (
        {
            "id": "q1",
            "header": "Choice",
            "question": "Which one?",
            "multiSelect": False,
            "options": [{"label": "A", "description": "first"}, {"label": "B"}],
            "allowOther": True,
        },
        {
            "id": "q2",
            "header": "Question 2",
            "question": "Which ones?",
            "multiSelect": True,
            "options": [{"label": "C"}, {"label": "D"}],
            "allowOther": True,
        },
    )


@pytest.mark.parametrize("content", [{}, {"answers": None}, {"answers": {"q1": 3}}, {"answers": []}])
async def test_an_answer_of_a_strange_shape_makes_nothing_up(box: Toolbox, content: Json) -> None:
    box.answer = ElicitationAnswer(action="accept", content=content)
    assert (await box.text("AskUserQuestion", questions=QUESTIONS[:1])).endswith("→ (no answer)")


async def test_a_declined_question_or_nobody_to_ask_lets_the_model_decide(box: Toolbox) -> None:
    assert "Nobody can be asked" in await box.text("AskUserQuestion", questions=QUESTIONS)
    box.answer = ElicitationAnswer(action="decline")
    assert "did not answer" in await box.text("AskUserQuestion", questions=QUESTIONS)


async def test_a_plan_is_shown_before_it_is_asked_for_and_restores_the_mode(box: Toolbox) -> None:
    box.state.mode = "acceptEdits"
    assert "not in plan mode" in await box.error("ExitPlanMode", plan="x")
    await box.call("EnterPlanMode")
    assert (box.state.mode, box.state.mode_before_plan) == ("plan", "acceptEdits")
    assert "already" in await box.text("EnterPlanMode")

    tool = box.tools["ExitPlanMode"]
    input = tool.parse({"plan": "1. do it"})
    assert tool.action(input, cwd="/").always_ask
    await tool.prepare(input, box.context())
    assert box.state.plan == "1. do it"
    assert box.changes == ["mode", "plan"]
    assert box.state.mode == "plan", "until the user has said yes"
    await tool.call(input, box.context())
    assert (box.state.mode, box.state.mode_before_plan) == ("acceptEdits", None)


class Runner:
    def __init__(self) -> None:
        self.ran: list[Json] = []

    def repeatable(self, agent: str, *, isolated: bool, background: bool = False, resume: str = "") -> bool:
        return not background

    async def run(
        self, *, agent: str, prompt: str, description: str, background: bool, ctx: ToolContext, **_options: object
    ) -> ToolOutput:
        self.ran.append({"agent": agent, "prompt": prompt, "description": description, "background": background})
        return ToolOutput(content="found it")


async def test_an_agent_is_run_and_its_last_words_come_back(box: Toolbox) -> None:
    box.tools["Agent"] = Agent(lambda: [("scout", "looks around")])
    assert "- scout: looks around" in box.tools["Agent"].description()
    runner = Runner()
    ctx = box.context(agents=runner)
    raw = {"description": "Look", "prompt": "Where?", "subagent_type": "scout", "run_in_background": True}
    assert (await box.call_in(ctx, "Agent", raw)).content == "found it"
    assert runner.ran == [{"agent": "scout", "prompt": "Where?", "description": "Look", "background": True}]
    with pytest.raises(ToolError, match="There is no agent 'nobody'"):
        await box.call_in(ctx, "Agent", {**raw, "subagent_type": "nobody"})
    assert "cannot be started here" in await box.error("Agent", description="x", prompt="y")
    tool = box.tools["Agent"]
    assert not tool.safe_in(tool.parse(raw), ctx), "what works on in the background cannot be called back"


async def test_a_skill_is_loaded_by_name(box: Toolbox) -> None:
    async def load(name: str, args: str) -> LoadedSkill:
        return LoadedSkill(text=f"instructions of {name} for {args}")

    skills = Skills(known=lambda: [("deploy", "puts it out")], load=load)
    assert [tool.name for tool in builtin_tools(skills=skills)] == [*NAMES, "Skill"]
    box.tools["Skill"] = Skill(skills)
    assert "- deploy: puts it out" in box.tools["Skill"].description()
    assert await box.text("Skill", skill="/deploy", args="prod") == "instructions of deploy for prod"
    assert "There is no skill 'x'" in await box.error("Skill", skill="x")


async def test_sleep_waits_and_can_be_interrupted(box: Toolbox) -> None:
    assert await box.text("Sleep", seconds=0) == "Waited 0 seconds."
    with anyio.fail_after(120):
        with anyio.move_on_after(0.01) as scope:
            await box.call("Sleep", seconds=3600)
        assert scope.cancelled_caught
    with pytest.raises(ToolError):
        box.tools["Sleep"].parse({"seconds": 10_000})


SCHEMA: Json = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
    "additionalProperties": False,
}


async def test_the_answer_is_checked_against_the_schema(box: Toolbox) -> None:  # Q10
    tool = StructuredOutput(SCHEMA)
    assert tool.input_schema() == SCHEMA
    box.tools["StructuredOutput"] = tool
    output = await box.call("StructuredOutput", name="Ada", age=36)
    assert output.stop_turn
    assert tool.action(tool.parse({"name": "Ada"}), cwd="/").input == {"name": "Ada"}
    with pytest.raises(ToolError) as caught:
        tool.parse({"age": -1, "x": 1})
    told = str(caught.value)
    assert "$.age: -1 is less than the minimum of 0" in told
    assert "'name' is a required property" in told
    assert "'x' was unexpected" in told
    with pytest.raises(ToolError, match="must be a JSON object"):
        tool.parse([1])


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"type": "array"}])
def test_a_schema_that_cannot_be_used_is_told(schema: Json) -> None:
    with pytest.raises(ToolError, match="schema"):
        StructuredOutput(schema)
