"""Who may allow what over ACP: asks, their options, and everything that is not a clear yes."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from acp.schema import ClientCapabilities, ElicitationCapabilities, ElicitationFormCapabilities, FileEditToolCallContent

from acpclient import FILES, Asked, Running, always
from fakeapi import FakeApi, text, tool

pytestmark = pytest.mark.asyncio(loop_scope="module")


def wants_to_write(api: FakeApi, path: Path) -> None:
    api.reply(tool("Bash", command=f"touch {path}"))
    api.reply(text("Done."))


async def test_an_allowed_command_runs(run: Running, api: FakeApi, workspace: Path) -> None:
    wants_to_write(api, workspace / "made.txt")
    run.editor.answer = always("allow")
    await run.prompt(await run.new(workspace), "make it")
    assert (workspace / "made.txt").exists()
    [asked] = run.editor.asked
    assert (asked.call.kind, asked.call.status) == ("execute", "pending")
    assert f"touch {workspace / 'made.txt'}" in asked.words
    [call] = run.editor.calls().values()
    assert call["tool_call_id"] == asked.call.tool_call_id
    assert call["statuses"] == ["pending", "in_progress", "completed"]


@pytest.mark.parametrize("answer", ["reject", None, "no-such-option", ""], ids=["no", "cancelled", "unknown", "empty"])
async def test_everything_but_a_clear_yes_is_a_no(
    run: Running, api: FakeApi, workspace: Path, answer: str | None
) -> None:
    wants_to_write(api, workspace / "never.txt")
    run.editor.answer = lambda _asked: answer
    assert (await run.prompt(await run.new(workspace), "make it")).stop_reason == "end_turn"
    assert not (workspace / "never.txt").exists()
    [result] = api.requests[-1].tool_results.values()
    assert result["is_error"] and "denied" in str(result["content"])
    [call] = run.editor.calls().values()
    assert call["status"] == "failed"


async def test_a_client_that_fails_to_ask_has_not_allowed(run: Running, api: FakeApi, workspace: Path) -> None:
    def breaks(_asked: Asked) -> str:
        raise RuntimeError("the dialog broke")

    wants_to_write(api, workspace / "never.txt")
    run.editor.answer = breaks
    await run.prompt(await run.new(workspace), "make it")
    assert not (workspace / "never.txt").exists()


async def test_the_first_option_is_a_no_and_a_lasting_one_shows_its_rule(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    api.reply(tool("Bash", command="make build"))
    api.reply(tool("Bash", command="make build"))
    api.reply(text("Twice."))
    run.editor.answer = always("allow:session")
    await run.prompt(await run.new(workspace), "build it, twice")
    [asked] = run.editor.asked  # the second one was covered
    assert [option.kind for option in asked.options[:2]] == ["reject_once", "allow_once"]
    lasting = next(option for option in asked.options if option.option_id == "allow:session")
    assert lasting.kind == "allow_always" and "Bash(make build" in lasting.name


async def test_an_edit_is_asked_with_its_change(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(tool("Read", file_path="greeter.py"))
    api.reply(tool("Edit", file_path="greeter.py", old_string='"Helo"', new_string='"Hello"'))
    api.reply(text("Fixed."))
    run.editor.answer = always("allow")
    await run.prompt(await run.new(workspace), "fix it")
    [asked] = run.editor.asked
    change: Any = (asked.call.content or [])[0]
    assert isinstance(change, FileEditToolCallContent)
    assert (change.path, change.old_text) == (str(workspace / "greeter.py"), 'def greet():\n    return "Helo"\n')
    assert change.new_text == 'def greet():\n    return "Hello"\n'
    shown = run.editor.calls()[asked.call.tool_call_id]
    assert shown["content"] == [change] and shown["kind"] == "edit"
    assert (workspace / "greeter.py").read_text() == change.new_text


async def test_edits_of_three_files_wait_each_for_its_yes_and_every_file_is_shown(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    paths = [workspace / f"part{number}.py" for number in range(3)]
    for path in paths:
        path.write_text("limit = 1\n")
    api.reply(*(tool("Read", file_path=str(path)) for path in paths))
    changes = {"old_string": "limit = 1", "new_string": "limit = 2"}
    api.reply(*(tool("Edit", {"file_path": str(path), **changes}) for path in paths))
    api.reply(text("Two of them."))
    landed: list[list[str]] = []

    def answer(asked: Asked) -> str:
        landed.append([path.read_text() for path in paths])
        return "reject" if len(landed) == 2 else "allow"

    run.editor.answer = answer
    await run.prompt(await run.new(workspace), "raise the limits")
    shown = [each for asked in run.editor.asked for each in asked.call.content or []]
    diffs = [each for each in shown if isinstance(each, FileEditToolCallContent)]
    assert [(each.path, each.old_text, each.new_text) for each in diffs] == [
        (str(path), "limit = 1\n", "limit = 2\n") for path in paths
    ]
    assert landed[0] == ["limit = 1\n"] * 3  # nothing is written while the first one is asked
    assert [path.read_text() for path in paths] == ["limit = 2\n", "limit = 1\n", "limit = 2\n"]


async def test_cancelling_while_asked_ends_the_turn_and_allows_nothing(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    wants_to_write(api, workspace / "never.txt")
    late = asyncio.Event()

    async def slow(_asked: Asked) -> str:
        await late.wait()
        return "allow"

    run.editor.answer = slow
    session = await run.new(workspace)
    asking = asyncio.create_task(run.prompt(session, "make it"))
    await run.editor.until(lambda: run.editor.asked)
    await run.agent.cancel(session_id=session)
    assert (await asking).stop_reason == "cancelled"
    late.set()  # the answer comes after all, to a question nobody has any more
    run.editor.forget()
    api._script.clear()
    api.reply(text("Nothing was made."))
    await run.prompt(session, "and?")
    assert not (workspace / "never.txt").exists()


async def test_a_plan_is_approved_and_the_mode_follows(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(tool("ExitPlanMode", plan="1. Do *this*"))
    api.reply(text("Begun."))
    run.editor.answer = always("allow")
    session = await run.new(workspace)
    await run.agent.set_session_mode(session_id=session, mode_id="plan")
    await run.prompt(session, "plan it")
    [asked] = run.editor.asked
    assert asked.call.kind == "switch_mode"
    assert "1. Do *this*" in asked.words
    assert run.editor.of("current_mode_update")[-1].current_mode_id == "default"
    options = {option.id: option.current_value for option in run.editor.of("config_option_update")[-1].config_options}
    assert options["mode"] == "default"


async def test_a_subagents_call_is_shown_and_asked_like_any_other(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(tool("Agent", description="make a file", prompt="make it", subagent_type="general-purpose"))
    api.reply(text("I make it."), tool("Bash", command=f"touch {workspace / 'by-agent.txt'}"))
    api.reply(text("The subagent is done."))
    api.reply(text("All done."))
    run.editor.answer = always("allow")
    await run.prompt(await run.new(workspace), "delegate it")
    [asked] = run.editor.asked
    shown = run.editor.calls()
    parent = next(call for call in shown.values() if call["kind"] == "think")
    own = shown[asked.call.tool_call_id]["field_meta"]["assent"]
    assert own == {"tool": "Bash", "parentToolUseId": parent["tool_call_id"]}
    assert (workspace / "by-agent.txt").exists()
    assert run.editor.text() == "All done."  # what a subagent says is its parent's affair


QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "like a rose"}, {"label": "Blue"}],
}


async def test_a_question_is_declined_where_the_client_has_no_forms(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    api.reply(tool("AskUserQuestion", questions=[QUESTION]))
    api.reply(text("Red, then."))
    await run.prompt(await run.new(workspace), "paint it")
    [result] = api.requests[-1].tool_results.values()
    assert "did not answer" in str(result["content"])


async def test_a_question_is_a_form_where_the_client_has_them(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(tool("AskUserQuestion", questions=[QUESTION, {**QUESTION, "multiSelect": True}]))
    api.reply(text("Painted."))
    run.editor.form = {"q1": "Blue", "q2": ["Red", "Mauve"], "q2_other": "matt"}
    forms = ElicitationCapabilities(form=ElicitationFormCapabilities())
    await run.introduce(ClientCapabilities(elicitation=forms))
    try:
        await run.prompt(await run.new(workspace), "paint it")
    finally:
        await run.introduce(FILES)
    [(_, mode)] = run.editor.forms
    schema = json.loads(mode.requested_schema.model_dump_json(by_alias=True, exclude_none=True))
    assert [choice["const"] for choice in schema["properties"]["q1"]["oneOf"]] == ["Red", "Blue"]
    [result] = api.requests[-1].tool_results.values()
    assert "Which colour? → Blue\nWhich colour? → Red, in own words: matt" in str(result["content"])
