"""Turns of a program that does the unexpected: cancels, asks twice, changes its mind, or names what is not there."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import assent
from assent import types
from fakeapi import FakeApi, Reply, hold, text, tool

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}


async def test_messages_that_come_one_by_one_may_have_pictures_and_every_turn_has_both_ends(
    project: Path, model: FakeApi
) -> None:
    async def prompts() -> AsyncIterator[Any]:
        yield {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "look"}, PICTURE]}}
        yield types.UserMessage(uuid="u", content=({"type": "text", "text": "and now?"},))

    model.otherwise(Reply(parts=(text("Seen."),)))
    kinds = [message.type async for message in assent.query(prompts(), cwd=project)]
    assert [kind for kind in kinds if kind in ("system/init", "result")] == ["system/init", "result"] * 2
    assert (kinds[0], kinds[-1]) == ("system/init", "result")
    assert PIXEL in json.dumps(model.calls[0].body["messages"])
    assert "and now?" in json.dumps(model.calls[-1].body["messages"])


async def test_a_source_of_prompts_that_fails_ends_the_query_with_its_error(project: Path, model: FakeApi) -> None:
    async def prompts() -> AsyncIterator[str]:
        yield "one"
        raise ConnectionError("the queue is gone")

    model.reply(text("One."))
    seen: list[str] = []
    with pytest.raises(ConnectionError, match="the queue is gone"):
        async for message in assent.query(prompts(), cwd=project):
            seen.append(message.type)
    assert seen[-1] == "result"


async def test_a_cancelled_ask_interrupts_its_turn_and_the_next_one_runs(project: Path, model: FakeApi) -> None:  # L14
    async with assent.Client(cwd=project) as client:
        model.reply(text("It goes ", hold("on"), "on."))
        asking = asyncio.create_task(client.ask("talk"))
        await model.reached("on")
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        model.release("on")
        model.reply(text("Here."))
        assert (await client.ask("still there?")).result == "Here."


async def test_a_second_ask_during_a_turn_is_refused_and_the_first_one_ends_well(project: Path, model: FakeApi) -> None:
    async with assent.Client(cwd=project) as client:
        model.reply(text("One ", hold("middle"), "two."))
        asking = asyncio.create_task(client.ask("count"))
        await model.reached("middle")
        with pytest.raises(assent.AssentError, match="A turn is running"):
            await client.ask("and me?")
        model.release("middle")
        assert (await asking).result == "One two."


async def test_the_mode_can_change_in_the_middle_of_a_turn(project: Path, model: FakeApi) -> None:
    async def relax(call: assent.HookCall) -> None:
        await client.set_mode("acceptEdits")

    client = assent.Client(
        cwd=project, options={"hooks": {"PostToolUse": [assent.HookMatcher(run=relax, matcher="Read")]}}
    )
    async with client:
        model.reply(tool("Read", file_path="greeter.py"))
        model.reply(tool("Edit", file_path="greeter.py", old_string="Helo", new_string="Hello"))
        model.reply(text("Fixed."))
        assert (await client.ask("fix it")).permission_denials == ()
    assert "Hello" in (project / "greeter.py").read_text()


async def test_what_does_not_exist_is_named_in_an_error_of_ours(project: Path, model: FakeApi) -> None:
    with pytest.raises(assent.AssentError, match="no session nope"):
        assent.read_session("nope")
    for folder, resume, words in ((project, "nope", "no session nope"), (project / "no", None, "not a folder")):
        with pytest.raises(assent.AssentError, match=words):
            [message async for message in assent.query("hi", cwd=folder, options={"resume": resume})]
    outside = assent.Client(cwd=project)
    with pytest.raises(assent.AssentError, match="async with"):
        await outside.ask("hi")
    async with outside as client:
        await client.interrupt()  # nothing runs: nothing to do
        for call in (client.set_mode("reckless"), client.rewind("nope"), client.fork(message_id="nope")):
            with pytest.raises(assent.AssentError, match=r"reckless|nope"):
                await call
        model.reply(text("Well."))
        assert (await client.ask("hi")).result == "Well."


async def test_a_fork_by_option_leaves_the_session_it_came_from(project: Path, model: FakeApi) -> None:
    model.reply(text("Blue."))
    async with assent.Client(cwd=project) as client:
        await client.ask("My colour is blue.")
    model.reply(text("Blue, still."))
    options = assent.Options(resume=client.session_id, fork=True)
    async with assent.Client(cwd=project, options=options) as copy:
        assert (await copy.ask("Which?")).session_id != client.session_id
    assert "My colour is blue." in json.dumps(model.calls[-1].body["messages"])
    assert len(assent.read_session(client.session_id)) == 2 and len(assent.read_session(copy.session_id)) == 4


QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red"}, {"label": "Blue"}, {"label": "Green"}],
}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"q1": "Blue"}, "Which colour? → Blue"),
        ({"q1": ["Red", "Green"]}, "Which colour? → Red, Green"),
        ({"answers": {"q1": ["Red"]}, "other": {"q1": "but dark"}}, "Which colour? → Red, in own words: but dark"),
        (None, "did not answer"),
        ({}, "did not answer"),
        (RuntimeError("no screen"), "did not answer"),
    ],
    ids=["one", "several", "own words", "nothing", "empty", "an error"],
)
async def test_a_function_answers_the_models_questions(
    project: Path, model: FakeApi, answer: object, told: str
) -> None:
    def decide(asked: dict[str, Any]) -> Any:
        assert [each["question"] for each in asked["questions"]] == ["Which colour?"]
        if isinstance(answer, Exception):
            raise answer
        return answer

    model.reply(tool("AskUserQuestion", questions=[QUESTION]))
    model.reply(text("Painted."))
    async with assent.Client(cwd=project, options={"on_elicit": decide}) as client:
        await client.ask("paint it")
    assert told in json.dumps(model.calls[-1].body["messages"], ensure_ascii=False)


async def test_every_kind_of_hook_of_a_turn_is_called_and_can_change_a_call(project: Path, model: FakeApi) -> None:  # H
    events: list[str] = []

    def note(call: assent.HookCall) -> None:
        events.append(call.event)

    def other(call: assent.HookCall) -> assent.HookOutcome:
        return assent.HookOutcome(updated_input={"file_path": "other.txt"})

    (project / "other.txt").write_text("other words\n")
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(text("Read."))
    kinds = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd")
    hooks: Any = {**{kind: [note] for kind in kinds}, "PreToolUse": [note, other]}
    async with assent.Client(cwd=project, options={"hooks": hooks}) as client:
        await client.ask("read it")
    assert events == ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"]
    assert "other words" in json.dumps(model.calls[-1].body["messages"])
