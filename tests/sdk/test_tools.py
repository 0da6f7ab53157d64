"""`@assent.tool`: the signature is the schema, the docstring the description, the return value the result."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest

import assent
from assent import types
from fakeapi import FakeApi, text, tool

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@assent.tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@assent.tool(name="look_up", description="Look a word up.", read_only=True)
async def look(word: str, where: Literal["here", "there"] = "here") -> str:
    return f"{word} is {where}"


@dataclass
class Item:
    name: str
    count: Annotated[int, msgspec.Meta(ge=1)]


@assent.tool
def order(items: list[Item]) -> dict[str, int]:
    """Order some things."""
    return {item.name: item.count for item in items}


@assent.tool
def broken() -> str:
    """Always fails."""
    raise ValueError("out of paper")


async def ask(model: FakeApi, project: Path, *calls: object, **options: object) -> list[str]:
    """What the model reads back from these calls."""
    for call in calls:
        model.reply(call)  # pyright: ignore[reportArgumentType]
    model.reply(text("Done."))
    given = assent.Options(tools=[add, look, order, broken], **options)  # pyright: ignore[reportArgumentType]
    messages = [message async for message in assent.query("go", cwd=project, options=given)]
    return [
        json.dumps(block.get("content"), ensure_ascii=False)
        for message in messages
        if isinstance(message, types.UserMessage)
        for block in message.content
        if block.get("type") == "tool_result"
    ]


async def test_tools_run_with_checked_input_and_their_results_reach_the_model(project: Path, model: FakeApi) -> None:
    said = await ask(
        model,
        project,
        tool("add", a=2, b=3),
        tool("look_up", word="fern", where="there"),
        tool("order", items=[{"name": "pen", "count": 2}]),
    )
    assert ["5" in said[0], "fern is there" in said[1], "pen" in said[2]] == [True, True, True]


async def test_the_signature_is_the_schema_that_the_model_gets(project: Path, model: FakeApi) -> None:
    await ask(model, project)
    tools = {each["name"]: each for each in model.calls[0].body["tools"]}
    assert tools["add"]["description"] == "Add two numbers."
    assert tools["add"]["input_schema"]["required"] == ["a"]
    assert tools["look_up"]["input_schema"]["properties"]["where"]["enum"] == ["here", "there"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (tool("add", a="two"), "Expected `int`"),
        (tool("order", items=[{"name": "pen", "count": 0}]), "Expected `int` >= 1"),
        (tool("broken"), "out of paper"),
    ],
)
async def test_wrong_input_and_failures_are_told_to_the_model(
    project: Path, model: FakeApi, call: object, words: str
) -> None:
    assert words in (await ask(model, project, call))[0]


async def test_a_deny_rule_holds_for_a_programs_own_tool(project: Path, model: FakeApi) -> None:
    said = await ask(model, project, tool("add", a=1), deny=["add"])
    assert "denied" in said[0].lower() or "not allowed" in said[0].lower()


async def test_an_in_process_server_offers_its_tools_under_its_name(project: Path, model: FakeApi) -> None:
    model.reply(tool("mcp__sums__add", a=1, b=1))
    model.reply(text("Two."))
    server = assent.mcp_server("sums", tools=[add])
    options = assent.Options(mcp_servers={"sums": server})
    messages = [message async for message in assent.query("sum", cwd=project, options=options)]
    finished = [message for message in messages if isinstance(message, types.ToolFinished)]
    assert [(each.tool, each.is_error) for each in finished] == [("mcp__sums__add", False)]


async def test_a_server_is_known_by_its_key_and_a_rule_for_the_server_covers_its_tools(
    project: Path, model: FakeApi
) -> None:
    asked: list[str] = []

    def decide(request: assent.PermissionRequest) -> bool:
        asked.append(request.tool)
        return True

    model.reply(tool("mcp__other__add", a=1))
    model.reply(text("Two."))
    options = assent.Options(
        mcp_servers={"other": assent.mcp_server("sums", tools=[add])}, ask=["mcp__other"], can_use_tool=decide
    )
    messages = [message async for message in assent.query("sum", cwd=project, options=options)]
    assert asked == ["mcp__other__add"]
    assert [each.is_error for each in messages if isinstance(each, types.ToolFinished)] == [False]
    with pytest.raises(ValueError, match="a server's name"):
        async with assent.Client(cwd=project, options={"mcp_servers": {"a b": assent.mcp_server("s", tools=[add])}}):
            raise AssertionError


async def test_a_tool_may_be_marked_by_empty_brackets_and_give_a_picture(project: Path, model: FakeApi) -> None:
    @assent.tool()
    async def draw(size: int | None = None) -> list[dict[str, object]]:
        """Draw."""
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        return [{"type": "text", "text": "drawn"}, {"type": "image", "source": source}]

    model.reply(tool("draw"))
    model.reply(text("Nice."))
    async with assent.Client(cwd=project, options=assent.Options(tools=[draw])) as client:
        await client.ask("draw")
    (result,) = model.calls[-1].tool_results.values()
    assert [each["type"] for each in result["content"]] == ["text", "image"]


def test_a_marked_function_is_still_a_function() -> None:
    assert add(2, b=2) == 4 and (add.name, look.name) == ("add", "look_up")


def test_what_cannot_be_a_tool_is_refused_where_it_is_defined() -> None:
    with pytest.raises(TypeError, match="needs a type"):
        assent.tool(name="untyped", description="Says nothing of its input.")(lambda anything: "")  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]  # that is the point
    with pytest.raises(ValueError, match="needs a description"):
        assent.tool(name="silent")(lambda: "")
