"""A conversation over ACP, driven by the protocol library's own client: what goes in and what is streamed back."""

import asyncio
import json
from pathlib import Path

import pytest
from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextResourceContents,
)

from acp import RequestError
from acpclient import Running, always
from fakeapi import FakeApi, Reply, hold, text, thinking, tool

pytestmark = pytest.mark.asyncio(loop_scope="module")

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def test_initialize_says_what_the_agent_can_do(run: Running) -> None:
    assert run.hello is not None
    assert run.hello.protocol_version == 1
    assert [method.id for method in run.hello.auth_methods or ()] == ["environment"]
    assert run.hello.agent_info is not None and run.hello.agent_info.name == "assent"
    can = run.hello.agent_capabilities
    assert can is not None and can.load_session and can.prompt_capabilities and can.session_capabilities
    assert (can.prompt_capabilities.image, can.prompt_capabilities.audio) == (True, False)
    assert can.prompt_capabilities.embedded_context
    offered = can.session_capabilities
    names = ("list", "resume", "close", "fork", "delete", "additional_directories")
    assert [name for name in names if getattr(offered, name) is None] == []
    assert can.auth is not None and can.auth.logout is not None


async def test_an_answer_is_streamed_and_the_turn_ends(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(thinking("Let me think."), text("Hello ", hold("middle"), "world."))
    session = await run.new(workspace)

    async def finish() -> None:
        await run.editor.until(lambda: run.editor.text().endswith("Hello "))
        api.release("middle")

    answer, _ = await asyncio.gather(run.prompt(session, "hi"), finish())
    assert answer.stop_reason == "end_turn"
    assert run.editor.text() == "Hello world."
    assert run.editor.text("agent_thought_chunk") == "Let me think."
    assert {id for id, _ in run.editor.updates} == {session}
    [usage] = run.editor.of("usage_update")
    assert usage.used > 0 and usage.size >= 200_000 and usage.cost.currency == "USD"
    assert run.editor.of("session_info_update")[-1].title == "hi"


async def test_commands_are_announced_after_the_session_and_work(run: Running, workspace: Path) -> None:
    session = await run.new(workspace)
    await run.editor.until(lambda: run.editor.of("available_commands_update"))
    [update] = run.editor.of("available_commands_update")
    known = {command.name: command for command in update.available_commands}
    assert {"help", "compact", "model"} <= set(known)
    assert known["model"].input.root.hint
    assert (await run.prompt(session, "/help")).stop_reason == "end_turn"
    assert "/compact" in run.editor.text()


async def test_a_tool_call_goes_from_pending_to_completed(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(tool("Read", file_path="greeter.py"))
    api.reply(text("Read."))
    session = await run.new(workspace)
    await run.prompt(session, "read it")
    [call] = run.editor.calls().values()
    assert call["statuses"] == ["pending", "in_progress", "completed"]
    assert (call["kind"], call["locations"][0].path) == ("read", str(workspace / "greeter.py"))
    assert call["raw_input"]["file_path"] == "greeter.py"
    assert "Helo" in call["content"][0].content.text and "Helo" in call["raw_output"]


async def test_the_todo_list_is_the_plan(run: Running, api: FakeApi, workspace: Path) -> None:
    todos = [{"content": "Look", "status": "completed"}, {"content": "Fix", "status": "in_progress"}]
    api.reply(tool("TodoWrite", todos=[*todos, {"content": "Test", "status": "pending"}]))
    api.reply(text("Planned."))
    await run.prompt(await run.new(workspace), "plan it")
    entries = run.editor.of("plan")[-1].entries
    assert [(entry.content, entry.status) for entry in entries] == [
        ("Look", "completed"),
        ("Fix", "in_progress"),
        ("Test", "pending"),
    ]
    assert run.editor.calls() == {}  # the plan says it already


async def test_pictures_links_and_embedded_files_reach_the_model(run: Running, api: FakeApi, workspace: Path) -> None:
    (workspace / "my notes.txt").write_text("linked words\n")
    api.reply(text("Seen."))
    embedded = TextResourceContents(uri=f"file://{workspace}/draft.md", text="embedded ``` words")
    await run.prompt(
        await run.new(workspace),
        "look at ",
        ResourceContentBlock(type="resource_link", name="notes", uri=f"file://{workspace}/my%20notes.txt"),
        " and at ",
        EmbeddedResourceContentBlock(type="resource", resource=embedded),
        ImageContentBlock(type="image", data=PIXEL, mime_type="image/png"),
        EmbeddedResourceContentBlock(
            type="resource", resource=BlobResourceContents(uri="a.png", blob=PIXEL, mime_type="image/png")
        ),
        ResourceContentBlock(type="resource_link", name="the site", uri="https://example.org/x"),
    )
    sent = api.requests[-1].blocks
    pictures = [block for _, block in sent if block["type"] == "image"]
    words = "\n".join(block["text"] for _, block in sent if block["type"] == "text")
    assert [picture["source"]["data"] for picture in pictures] == [PIXEL, PIXEL]
    assert f'look at @"{workspace}/my notes.txt" and at' in words
    assert "linked words" in words and f"{workspace}/draft.md:\n````\nembedded ``` words\n````" in words
    assert "[the site](https://example.org/x)" in words


@pytest.mark.parametrize(
    "block",
    [
        AudioContentBlock(type="audio", data="AAAA", mime_type="audio/wav"),
        ImageContentBlock(type="image", data=PIXEL, mime_type="image/tiff"),
        EmbeddedResourceContentBlock(
            type="resource", resource=BlobResourceContents(uri="a.zip", blob="AAAA", mime_type="application/zip")
        ),
    ],
    ids=["audio", "tiff", "zip"],
)
async def test_what_the_model_cannot_take_is_refused_in_words(run: Running, workspace: Path, block: object) -> None:
    session = await run.new(workspace)
    with pytest.raises(RequestError, match="cannot be sent") as caught:
        await run.prompt(session, block)
    assert caught.value.code == -32602


async def test_an_empty_prompt_is_refused(run: Running, workspace: Path) -> None:
    with pytest.raises(RequestError, match="empty"):
        await run.prompt(await run.new(workspace), "  ")


async def test_a_refusal_of_the_model_is_a_refusal(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(text("I will"), stop_reason="refusal")
    assert (await run.prompt(await run.new(workspace), "do it")).stop_reason == "refusal"


async def test_a_failing_endpoint_answers_the_prompt_with_an_error(run: Running, api: FakeApi, workspace: Path) -> None:
    api.error(400, "the credit is used up")
    session = await run.new(workspace)
    with pytest.raises(RequestError, match="credit is used up") as caught:
        await run.prompt(session, "hi")
    assert caught.value.code == -32603
    api.reply(text("Better."))
    assert (await run.prompt(session, "again")).stop_reason == "end_turn"  # the session survived it


async def test_a_cancelled_turn_says_so_and_the_next_one_runs(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(text("Never ", hold("ever"), "done."))
    session = await run.new(workspace)
    asking = asyncio.create_task(run.prompt(session, "go on for ever"))
    await api.reached("ever")
    await run.agent.cancel(session_id=session)
    assert (await asking).stop_reason == "cancelled"
    api.release("ever")
    api.reply(text("Here."))
    run.editor.forget()
    assert (await run.prompt(session, "are you there?")).stop_reason == "end_turn"
    assert run.editor.text() == "Here."


async def test_a_cancel_right_behind_the_prompt_is_not_lost(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(text("Late ", hold("late"), "words."))
    session = await run.new(workspace)
    answer, _ = await asyncio.gather(run.prompt(session, "go"), run.agent.cancel(session_id=session))
    assert answer.stop_reason == "cancelled"
    api.release("late")


async def test_a_command_that_runs_shows_its_output(run: Running, api: FakeApi, workspace: Path) -> None:
    run.editor.answer = always("allow")
    api.reply(tool("Bash", command="echo out; echo err >&2; exit 3"))
    api.reply(text("It failed."))
    await run.prompt(await run.new(workspace), "run it")
    [call] = run.editor.calls().values()
    assert (call["kind"], call["status"]) == ("execute", "failed")
    assert "out" in call["content"][0].content.text


async def test_an_answer_that_breaks_off_is_said_to_be_given_again(run: Running, api: FakeApi, workspace: Path) -> None:
    api.cut(text("Half of"), text(" it"), at_event=7)
    api.reply(text("All of it."))
    assert (await run.prompt(await run.new(workspace), "say it")).stop_reason == "end_turn"
    assert run.editor.text().endswith("All of it.")
    assert "broke off" in run.editor.text("agent_thought_chunk")


@pytest.mark.parametrize(
    ("settings", "stop"),
    [({"maxTurns": 1}, "max_turn_requests"), ({"maxBudgetUsd": 0.0001}, "max_turn_requests")],
    ids=["steps", "budget"],
)
async def test_a_limit_that_was_reached_is_named(
    run: Running, api: FakeApi, place: Path, workspace: Path, settings: dict[str, object], stop: str
) -> None:
    file = place / "home" / "config" / "assent" / "settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings))
    try:
        session = await run.new(workspace)
        api.reply(tool("Read", file_path="greeter.py"))
        api.reply(text("More."))
        answer = await run.prompt(session, "read it")
    finally:
        file.unlink()
    assert (answer.stop_reason, bool(run.editor.notes())) == (stop, True)


async def test_an_answer_that_never_fits_ends_with_max_tokens(run: Running, api: FakeApi, workspace: Path) -> None:
    api.otherwise(lambda _request: Reply(parts=(text("and on "),), stop_reason="max_tokens"))
    assert (await run.prompt(await run.new(workspace), "talk")).stop_reason == "max_tokens"


async def test_a_command_that_is_none_is_answered_in_words(run: Running, workspace: Path) -> None:
    session = await run.new(workspace)
    try:
        await run.prompt(session, "/nosuch")
        said = run.editor.text() + run.editor.notes()
    except RequestError as error:
        said = str(error)
    assert "no command /nosuch" in said


async def test_two_sessions_talk_at_once_and_each_hears_only_itself(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    api.when("one", Reply(parts=(text("First ", hold("first"), "session."),)))
    api.when("two", Reply(parts=(text("Second session."),)))
    one, two = await run.new(workspace), await run.new(workspace)
    asking = asyncio.create_task(run.prompt(one, "one"))
    await api.reached("first")
    await run.prompt(two, "two")
    api.release("first")
    await asking
    for session, words in ((one, "First session."), (two, "Second session.")):
        mine = [u for id, u in run.editor.updates if id == session and u.session_update == "agent_message_chunk"]
        assert "".join(update.content.text for update in mine) == words


async def test_text_that_is_no_text_does_not_stop_anything(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(tool("Bash", raw_json='{"command": "touch \\ud800 made"}'))
    api.reply(text("Odd."))
    assert (await run.prompt(await run.new(workspace), "odd")).stop_reason == "end_turn"
    [call] = run.editor.calls().values()
    assert call["status"] == "failed" and run.editor.text() == "Odd."
