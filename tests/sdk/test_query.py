"""`assent.query` as a program uses it: typed messages out, `system/init` first and `result` last."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import msgspec
import pytest

import assent
from assent import types
from fakeapi import FakeApi, Reply, text, tool


async def collected(prompt: object, **given: object) -> list[types.Message]:
    return [message async for message in assent.query(prompt, **given)]  # pyright: ignore[reportArgumentType]


def result_of(messages: list[types.Message]) -> types.Result:
    last = messages[-1]
    assert isinstance(last, types.Result)
    return last


async def test_a_query_yields_init_first_and_result_last(project: Path, model: FakeApi) -> None:  # Q3
    model.reply(text("Four."))
    messages = await collected("What is 2 + 2?", cwd=project)
    assert messages[0].type == "system/init" and messages[-1].type == "result"
    assert [message.type for message in messages].count("result") == 1
    assert result_of(messages).result == "Four."
    assert "assistant" in {message.type for message in messages}
    assert "stream_event" not in {message.type for message in messages}


async def test_without_credentials_the_offline_model_answers(project: Path) -> None:
    messages = await collected("hello", cwd=project)
    assert isinstance(messages[0], types.SystemInit) and messages[0].key_source == "none"
    assert "not a language model" in result_of(messages).result


async def test_partial_messages_come_when_asked_for(project: Path, model: FakeApi) -> None:
    model.reply(text("Four."))
    messages = await collected("hi", cwd=project, options=assent.Options(include_partial_messages=True))
    assert "stream_event" in {message.type for message in messages}


async def test_an_ask_without_a_callback_is_denied_and_the_model_is_told(project: Path, model: FakeApi) -> None:  # P12
    model.reply(tool("Bash", command="touch made"))
    model.reply(text("Then not."))
    result = result_of(await collected("make a file", cwd=project))
    assert not (project / "made").exists()
    assert [denial.tool_name for denial in result.permission_denials] == ["Bash"]


async def test_a_permission_callback_decides_with_a_reason_that_the_model_reads(project: Path, model: FakeApi) -> None:
    asked: list[assent.PermissionRequest] = []

    async def decide(request: assent.PermissionRequest) -> assent.PermissionAnswer | bool:
        asked.append(request)
        if request.input.get("command") == "touch yes":
            return True
        return assent.PermissionAnswer(decision="deny", message="not on a Friday")

    model.reply(tool("Bash", command="touch yes"))
    model.reply(tool("Bash", command="touch no"))
    model.reply(text("One of two."))
    await collected("make files", cwd=project, options=assent.Options(can_use_tool=decide))
    assert (project / "yes").exists() and not (project / "no").exists()
    assert [request.tool for request in asked] == ["Bash", "Bash"]
    assert "not on a Friday" in json.dumps(model.calls[-1].body["messages"])


async def test_a_callback_that_fails_denies(project: Path, model: FakeApi) -> None:
    async def decide(request: assent.PermissionRequest) -> bool:
        raise KeyError("oops")

    model.reply(tool("Bash", command="touch made"))
    model.reply(text("Then not."))
    await collected("make a file", cwd=project, options=assent.Options(can_use_tool=decide))
    assert not (project / "made").exists()


async def test_allow_and_deny_rules_of_the_options_hold(project: Path, model: FakeApi) -> None:
    model.reply(tool("Bash", command="touch made"))
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(text("Done."))
    options = assent.Options(allow=["Bash(touch made)"], deny=["Read(greeter.py)"])
    result = result_of(await collected("go", cwd=project, options=options))
    assert (project / "made").exists()
    assert [denial.tool_name for denial in result.permission_denials] == ["Read"]


async def test_prompts_that_come_one_by_one_are_turns_of_one_conversation(project: Path, model: FakeApi) -> None:
    async def prompts() -> AsyncIterator[str]:
        yield "first"
        yield "second"

    model.reply(text("One."))
    model.reply(text("Two."))
    messages = await collected(prompts(), cwd=project)
    results = [message for message in messages if isinstance(message, types.Result)]
    assert [result.result for result in results] == ["One.", "Two."]
    assert len({result.session_id for result in results}) == 1
    assert len(model.calls[-1].body["messages"]) == 3


@dataclass
class Point:
    x: int
    y: int


class Named(TypedDict):
    name: str


class Line(msgspec.Struct):
    start: Point
    end: Point


@pytest.mark.parametrize(
    ("output", "given", "expected"),
    [
        (Point, {"x": 1, "y": 2}, Point(1, 2)),
        (Named, {"name": "a"}, {"name": "a"}),
        (Line, {"start": {"x": 0, "y": 0}, "end": {"x": 1, "y": 1}}, Line(Point(0, 0), Point(1, 1))),
        ({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}, {"ok": True}, {"ok": True}),
    ],
)
async def test_an_answer_comes_back_as_the_type_that_was_asked_for(  # Q10
    project: Path, model: FakeApi, output: object, given: dict[str, object], expected: object
) -> None:
    model.reply(tool("StructuredOutput", raw_json=json.dumps(given)))
    model.reply(text("Done."))
    result = result_of(await collected("answer", cwd=project, options=assent.Options(output=output)))
    assert result.structured_output == expected and type(result.structured_output) is type(expected)


def test_a_type_without_fields_is_refused_at_once() -> None:
    from assent.sdk.output import schema_of

    with pytest.raises(TypeError, match="a type with fields"):
        schema_of(int)


async def test_closing_the_generator_interrupts_the_turn_and_the_session_goes_on(
    project: Path, model: FakeApi
) -> None:  # L14
    model.reply(tool("Bash", command="sleep 60"))
    async with assent.Client(cwd=project, options=assent.Options(allow=["Bash(sleep:*)"])) as client:
        async with aclosing(client.send("wait")) as messages:
            async for message in messages:
                if message.type == "tool_started":
                    break
        model.reply(text("Here again."))
        assert (await client.ask("still there?")).result == "Here again."


async def test_an_interrupted_turn_still_has_its_result(project: Path, model: FakeApi) -> None:
    model.reply(tool("Bash", command="sleep 60"))
    async with assent.Client(cwd=project, options=assent.Options(allow=["Bash(sleep:*)"])) as client:
        seen: list[types.Message] = []
        async with aclosing(client.send("wait")) as messages:
            async for message in messages:
                seen.append(message)
                if message.type == "tool_started":
                    await client.interrupt()
        result = seen[-1]
        assert isinstance(result, types.Result) and result.terminal == "aborted_tools"


async def test_hooks_are_functions(project: Path, model: FakeApi) -> None:  # H
    events: list[str] = []

    async def note(call: assent.HookCall) -> assent.HookOutcome | None:
        events.append(f"{call.event}:{call.subject}")
        return assent.HookOutcome(status="blocked", text="no reading today")

    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(text("Then not."))
    hooks = {"PreToolUse": [assent.HookMatcher(run=note, matcher="Read")]}
    await collected("read it", cwd=project, options={"hooks": hooks})
    assert events == ["PreToolUse:Read"]
    assert "no reading today" in json.dumps(model.calls[-1].body["messages"])


async def test_a_session_is_resumed_listed_and_read(project: Path, model: FakeApi) -> None:  # S2
    model.reply(text("Blue."))
    first = result_of(await collected("My colour is blue.", cwd=project))
    model.reply(text("You said blue."))
    second = result_of(await collected("Which?", cwd=project, options=assent.Options(resume=first.session_id)))
    assert second.session_id == first.session_id
    assert len(model.calls[-1].body["messages"]) == 3
    assert [each["sessionId"] for each in assent.list_sessions(cwd=project)] == [first.session_id]
    said = [message.type for message in assent.read_session(first.session_id)]
    assert said == ["user", "assistant", "user", "assistant"]
    model.reply(text("Still blue."))
    third = result_of(await collected("And now?", cwd=project, options=assent.Options(continue_latest=True)))
    assert third.session_id == first.session_id


async def test_options_count_for_a_resumed_session_too(project: Path, model: FakeApi) -> None:
    model.reply(text("Blue."))
    first = result_of(await collected("My colour is blue.", cwd=project))
    model.reply(tool("Read", file_path="greeter.py"))
    limited = assent.Options(
        resume=first.session_id, max_turns=1, system_prompt="Speak like a pirate.", title="Colours"
    )
    second = result_of(await collected("Which?", cwd=project, options=limited))
    assert second.subtype == "error_max_turns"
    assert "Speak like a pirate." in str(model.calls[-1].body["system"])
    assert [each["title"] for each in assent.list_sessions(cwd=project)] == ["Colours"]


async def test_a_fork_goes_on_without_changing_the_original(project: Path, model: FakeApi) -> None:
    model.reply(text("One."))
    async with assent.Client(cwd=project) as client:
        await client.ask("first")
        model.reply(text("Two."))
        async with await client.fork() as copy:
            assert copy.session_id != client.session_id
            assert (await copy.ask("second")).result == "Two."
        assert len(assent.read_session(client.session_id)) == 2


async def test_model_mode_and_cost_of_a_client(project: Path, model: FakeApi) -> None:
    async with assent.Client(cwd=project) as client:
        await client.set_mode("acceptEdits")
        model.reply(tool("Read", file_path="greeter.py"))
        model.reply(tool("Edit", file_path="greeter.py", old_string="Helo", new_string="Hello"))
        model.reply(text("Fixed."))
        assert (await client.ask("fix it")).result == "Fixed."
        assert "Hello" in (project / "greeter.py").read_text()
        assert (await client.cost())["totalCostUsd"] > 0


async def test_two_engines_run_side_by_side(project: Path, model: FakeApi) -> None:
    other = project.parent / "other"
    other.mkdir()
    model.otherwise(Reply(parts=(text("Hello."),)))
    async with assent.Client(cwd=project) as one, assent.Client(cwd=other, options={"mode": "plan"}) as two:
        assert (await one.ask("hi")).session_id != (await two.ask("hi")).session_id


async def test_project_settings_have_no_effect_unless_asked_for(project: Path, model: FakeApi) -> None:
    (project / ".assent").mkdir()
    (project / ".assent" / "settings.json").write_text('{"permissions": {"deny": ["Read(greeter.py)"]}}')
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(text("Read."))
    plain = result_of(await collected("read", cwd=project))
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(text("Not read."))
    options = assent.Options(setting_sources=("user", "project"))
    restricted = result_of(await collected("read", cwd=project, options=options))
    assert (len(plain.permission_denials), len(restricted.permission_denials)) == (0, 1)


async def test_an_unknown_option_is_named() -> None:
    with pytest.raises(TypeError, match="colour"):
        await collected("hi", options={"colour": "blue"})


def test_a_script_runs_a_prompt_without_an_event_loop(project: Path) -> None:
    assert "not a language model" in assent.run("hello", cwd=project).result
