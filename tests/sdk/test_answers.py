"""Structured output by a type: what the schema cannot say is the type's own affair, and the model hears of it."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec
import pydantic
import pytest

import assent
from assent import types
from fakeapi import FakeApi, Reply, tool


@dataclass
class Meeting:
    begins: datetime
    minutes: int

    def __post_init__(self) -> None:
        if self.minutes > 60:
            raise ValueError("a meeting has at most an hour")


class Room(pydantic.BaseModel):
    name: str
    seats: int

    @pydantic.field_validator("seats")
    @classmethod
    def enough(cls, seats: int) -> int:
        if seats < 2:
            raise ValueError("too small for two")
        return seats


class Tree(msgspec.Struct):
    name: str
    branches: list["Tree"] = []


NINE = "2026-01-01T09:00:00Z"


@pytest.mark.parametrize(
    ("output", "wrong", "said", "right"),
    [
        (Meeting, {"begins": "soon", "minutes": 5}, "RFC3339", {"begins": NINE, "minutes": 5}),
        (Meeting, {"begins": NINE, "minutes": 90}, "at most an hour", {"begins": NINE, "minutes": 45}),
        (Room, {"name": "cell", "seats": 1}, "too small for two", {"name": "hall", "seats": 80}),
    ],
    ids=["a date", "a check of a dataclass", "a check of a pydantic model"],
)
async def test_an_answer_that_fits_the_schema_but_not_the_type_is_refused_and_given_again(
    project: Path, model: FakeApi, output: type, wrong: dict[str, object], said: str, right: dict[str, object]
) -> None:  # Q10
    model.reply(tool("StructuredOutput", wrong, id="toolu_wrong"))
    model.reply(tool("StructuredOutput", right))
    async with assent.Client(cwd=project, options=assent.Options(output=output)) as client:
        result = await client.ask("answer")
    refused = model.calls[1].tool_results["toolu_wrong"]
    assert refused["is_error"] and said in str(refused["content"])
    assert isinstance(result.structured_output, output) and result.subtype == "success"


async def test_a_type_that_holds_itself_comes_back_whole(project: Path, model: FakeApi) -> None:
    model.reply(tool("StructuredOutput", name="oak", branches=[{"name": "left", "branches": [{"name": "leaf"}]}]))
    async with assent.Client(cwd=project, options=assent.Options(output=Tree)) as client:
        result = await client.ask("grow")
    assert result.structured_output == Tree("oak", [Tree("left", [Tree("leaf")])])


async def test_a_model_that_never_gives_the_type_ends_as_a_failure_without_a_value(
    project: Path, model: FakeApi
) -> None:
    model.otherwise(Reply(parts=(tool("StructuredOutput", begins=NINE, minutes=600),)))
    messages = [message async for message in assent.query("meet", cwd=project, options=assent.Options(output=Meeting))]
    result = messages[-1]
    assert isinstance(result, types.Result)
    assert (result.subtype, result.is_error, result.structured_output) == ("error_max_structured_output", True, None)
