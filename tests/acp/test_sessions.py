"""Sessions over ACP: begun, loaded, resumed, listed and closed; their modes, models and trust; and bad requests."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from acp.schema import EnvVariable, ImageContentBlock, McpServerStdio

from acp import RequestError
from acpclient import Asked, Running, always, find_tool, running
from fakeapi import FakeApi, hold, text, thinking, tool
from mcpserver import entry

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

pytestmark = pytest.mark.asyncio(loop_scope="module")


def shown(updates: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Kind and words of what a client would show, in order."""
    found: list[tuple[str, str]] = []
    for _, update in updates:
        match update.session_update:
            case "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk":
                found.append((update.session_update, update.content.text))
            case "tool_call":
                found.append(("tool_call", update.title))
            case "tool_call_update" if update.status in ("completed", "failed"):
                found.append((update.status, ""))
            case _:
                pass
    return found


async def test_a_session_killed_in_the_middle_is_loaded_with_its_history(
    api: FakeApi, place: Path, workspace: Path
) -> None:
    home = place / "killed"
    todos = [{"content": "Look", "status": "in_progress"}]
    async with running(home, env=api.env) as first:
        first.editor.answer = always("allow")
        api.reply(
            thinking("Hm."), text("I look."), tool("Read", file_path="greeter.py"), tool("TodoWrite", todos=todos)
        )
        api.reply(text("It greets."))
        session = await first.new(workspace)
        await first.prompt(session, "what does it do?")
        api.reply(text("And then ", hold("cut"), "never."))
        task = asyncio.create_task(first.prompt(session, "go on"))
        await api.reached("cut")
        os.kill(first.process.pid, signal.SIGKILL)
        with pytest.raises((ConnectionError, RequestError)):
            await task
    api.release("cut")
    async with running(home, env=api.env) as second:
        answer = await second.agent.load_session(session_id=session, cwd=str(workspace), mcp_servers=[])
        assert answer is not None and answer.modes is not None
        assert shown(second.editor.updates) == [
            ("user_message_chunk", "what does it do?"),
            ("agent_thought_chunk", "Hm."),
            ("agent_message_chunk", "I look."),
            ("tool_call", "Read"),
            ("completed", ""),
            ("agent_message_chunk", "It greets."),
            ("user_message_chunk", "go on"),
            ("agent_message_chunk", second.editor.notes()),
        ]
        assert "cut short" in second.editor.notes()
        assert [entry.content for entry in second.editor.of("plan")[-1].entries] == ["Look"]
        call = next(iter(second.editor.calls().values()))
        assert call["title"] == "Read: greeter.py" and "Helo" in call["raw_output"]
        second.editor.forget()
        api.reply(text("Here I am again."))
        assert (await second.prompt(session, "and now?")).stop_reason == "end_turn"
        assert second.editor.text() == "Here I am again."
        said = str(api.requests[-1].messages)
        assert "what does it do?" in said and "It greets." in said


async def test_an_ask_left_open_by_a_killed_process_is_asked_again_and_nobody_has_allowed_it(
    api: FakeApi, place: Path, workspace: Path
) -> None:
    home, file = place / "left", workspace / "left.txt"

    async def never(_asked: Asked) -> str:
        await asyncio.Event().wait()
        raise AssertionError

    async with running(home, env=api.env) as first:
        first.editor.answer = never
        api.reply(tool("Bash", command=f"touch {file}"))
        session = await first.new(workspace)
        task = asyncio.create_task(first.prompt(session, "make it"))
        await first.editor.until(lambda: first.editor.asked)
        first.process.stdin.close()  # pyright: ignore[reportOptionalMemberAccess] -- piped
        await first.ended(within=60)
        task.cancel()
    assert not file.exists()
    api.reply(text("Made it."))
    async with running(home, env=api.env) as second:
        second.editor.answer = always("allow")
        await second.agent.load_session(session_id=session, cwd=str(workspace), mcp_servers=[])
        await second.editor.until(lambda: second.editor.asked)
        assert str(file) in str(second.editor.asked[0].call.raw_input)
        await second.prompt(session, "go on")
        assert file.exists()


async def test_a_long_conversation_is_loaded_whole_and_in_order(run: Running, api: FakeApi, workspace: Path) -> None:
    picture = ImageContentBlock(type="image", data=PIXEL, mime_type="image/png")
    api.reply(*[tool("Glob", pattern=f"*.x{number}") for number in range(250)])
    api.reply(text("Nothing."))
    session = await run.new(workspace)
    await run.prompt(session, "look for these", picture)
    await run.agent.close_session(session_id=session)
    run.editor.forget()
    await run.agent.load_session(session_id=session, cwd=str(workspace), mcp_servers=[])
    first, second = run.editor.of("user_message_chunk")
    assert (first.content.text, second.content.data) == ("look for these", PIXEL)
    calls = list(run.editor.calls().values())
    assert [call["raw_input"]["pattern"] for call in calls] == [f"*.x{number}" for number in range(250)]
    assert {call["status"] for call in calls} == {"completed"}
    assert run.editor.text() == "Nothing."


async def test_a_session_loaded_in_the_middle_of_its_turn_misses_nothing(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    api.reply(text("Half ", hold("half"), "and half."))
    session = await run.new(workspace)
    task = asyncio.create_task(run.prompt(session, "slowly"))
    await run.editor.until(lambda: run.editor.text() == "Half ")
    run.editor.forget()
    await run.agent.load_session(session_id=session, cwd=str(workspace), mcp_servers=[])
    api.release("half")
    assert (await task).stop_reason == "end_turn"
    said = [update.content.text for update in run.editor.of("user_message_chunk")]
    assert (said, run.editor.text()) == (["slowly"], "Half and half.")


async def test_a_session_that_another_process_has_is_not_taken_from_it(
    run: Running, api: FakeApi, place: Path, workspace: Path
) -> None:
    api.reply(text("Mine."))
    session = await run.new(workspace)
    await run.prompt(session, "hi")
    async with running(place / "home", env=api.env) as other:
        with pytest.raises(RequestError, match="another"):
            await other.agent.load_session(session_id=session, cwd=str(workspace), mcp_servers=[])
        assert session in [info.session_id for info in (await other.agent.list_sessions()).sessions]
    api.reply(text("Still mine."))
    assert (await run.prompt(session, "and now?")).stop_reason == "end_turn"


async def test_resume_goes_on_without_repeating_anything(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(text("First."))
    session = await run.new(workspace)
    await run.prompt(session, "one")
    await run.agent.close_session(session_id=session)
    with pytest.raises(RequestError, match="no session"):
        await run.prompt(session, "two")
    run.editor.forget()
    await run.agent.resume_session(session_id=session, cwd=str(workspace), mcp_servers=[])
    api.reply(text("Second."))
    await run.prompt(session, "two")
    assert run.editor.text() == "Second." and run.editor.of("user_message_chunk") == []
    assert "First." in str(api.requests[-1].messages)


async def test_sessions_are_listed_with_title_and_folder(run: Running, api: FakeApi, place: Path) -> None:
    folder = place / "listed"
    folder.mkdir()
    api.reply(text("Listed."))
    session = await run.new(folder)
    await run.prompt(session, "find me later")
    page = await run.agent.list_sessions(cwd=str(folder))
    [info] = page.sessions
    assert (info.session_id, info.cwd, info.title) == (session, str(folder), "find me later")
    assert info.updated_at is not None and info.updated_at.endswith("+00:00")
    assert session in [info.session_id for info in (await run.agent.list_sessions()).sessions]
    with pytest.raises(RequestError, match="cursor"):
        await run.agent.list_sessions(cursor="nonsense")


async def test_modes_are_offered_and_count(run: Running, api: FakeApi, workspace: Path) -> None:
    answer = await run.agent.new_session(cwd=str(workspace), mcp_servers=[])
    assert answer.modes is not None
    assert answer.modes.current_mode_id == "default"
    offered = [mode.id for mode in answer.modes.available_modes]
    assert offered == ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"]
    await run.agent.set_session_mode(session_id=answer.session_id, mode_id="acceptEdits")
    await run.editor.until(lambda: run.editor.of("current_mode_update"))
    assert run.editor.of("current_mode_update")[-1].current_mode_id == "acceptEdits"
    api.reply(tool("Read", file_path="greeter.py"))
    api.reply(tool("Edit", file_path="greeter.py", old_string="Helo", new_string="Hello"))
    api.reply(text("Done."))
    await run.prompt(answer.session_id, "fix it")
    assert run.editor.asked == [] and "Hello" in (workspace / "greeter.py").read_text()
    edit = list(run.editor.calls().values())[-1]
    assert edit["content"][0].new_text == (workspace / "greeter.py").read_text()
    for wrong in ("root", ""):
        with pytest.raises(RequestError, match="no mode"):
            await run.agent.set_session_mode(session_id=answer.session_id, mode_id=wrong)


async def test_the_mode_that_skips_permissions_is_not_offered_where_settings_forbid_it(
    api: FakeApi, place: Path, workspace: Path
) -> None:
    home = place / "strict"
    (home / "config" / "assent").mkdir(parents=True)
    settings = {"permissions": {"disableBypassPermissions": True}}
    (home / "config" / "assent" / "settings.json").write_text(json.dumps(settings))
    async with running(home, env=api.env) as run:
        answer = await run.agent.new_session(cwd=str(workspace), mcp_servers=[])
        assert answer.modes is not None and answer.config_options is not None
        assert "bypassPermissions" not in [mode.id for mode in answer.modes.available_modes]
        options: Any = answer.config_options[0].options  # pyright: ignore[reportAttributeAccessIssue] -- a select
        assert "bypassPermissions" not in [option.value for option in options]
        with pytest.raises(RequestError, match="no mode"):
            await run.agent.set_session_mode(session_id=answer.session_id, mode_id="bypassPermissions")


async def test_the_model_is_chosen_by_option_and_by_slash_command(run: Running, api: FakeApi, workspace: Path) -> None:
    answer = await run.agent.new_session(cwd=str(workspace), mcp_servers=[])
    session = answer.session_id
    model: Any = next(option for option in answer.config_options or [] if option.id == "model")
    assert model.category == "model" and model.current_value in [option.value for option in model.options]
    other = next(option.value for option in model.options if option.value != model.current_value)
    changed: Any = await run.agent.set_config_option(session_id=session, config_id="model", value=other)
    assert {option.id: option.current_value for option in changed.config_options}["model"] == other
    api.reply(text("From another."))
    await run.prompt(session, "who are you?")
    assert api.requests[-1].body["model"] == other
    await run.prompt(session, f"/model {model.current_value}")
    last = run.editor.of("config_option_update")[-1]
    assert {option.id: option.current_value for option in last.config_options}["model"] == model.current_value
    for config, value in (("colour", "red"), ("mode", "red")):
        with pytest.raises(RequestError):
            await run.agent.set_config_option(session_id=session, config_id=config, value=value)


async def test_mcp_servers_that_the_client_names_are_used(run: Running, api: FakeApi, workspace: Path) -> None:  # T9
    plain = entry()
    server = McpServerStdio(
        name="tracker", command=plain["command"], args=plain["args"], env=[EnvVariable(name="A", value="b")]
    )
    session = await run.new(workspace, mcp_servers=[server])
    await find_tool(run, api, session, "mcp__tracker__echo")
    run.editor.answer = lambda asked: "allow"
    api.reply(tool("mcp__tracker__echo", id="toolu_e1", text="passed through"))
    api.reply(text("Echoed."))
    await run.prompt(session, "use it")
    assert "echo: passed through" in json.dumps(api.requests[-1].messages)


async def test_without_a_key_the_stand_in_says_what_it_is(place: Path, workspace: Path) -> None:
    async with running(place / "offline", env={}) as run:
        answer = await run.agent.new_session(cwd=str(workspace), mcp_servers=[])
        await run.prompt(answer.session_id, "hello")
        assert "the offline stand-in answers" in run.editor.notes()
        model: Any = next(option for option in answer.config_options or [] if option.id == "model")
        assert [option.value for option in model.options] == ["offline"]
        with pytest.raises(RequestError, match="no credentials"):
            await run.agent.set_config_option(session_id=answer.session_id, config_id="model", value="claude-opus-5-5")


# --- trust -----------------------------------------------------------------------------------------------------------


def hostile(place: Path, name: str) -> Path:
    folder = place / name
    (folder / ".assent").mkdir(parents=True)
    (folder / ".assent" / "settings.json").write_text(json.dumps({"permissions": {"allow": ["Bash(touch *)"]}}))
    return folder


@pytest.mark.parametrize(("answer", "trusted"), [("trust", True), ("restrict", False), (None, False), ("allow", False)])
async def test_a_folder_with_settings_of_its_own_is_asked_about_once_and_stays_restricted_without_a_yes(
    run: Running, api: FakeApi, place: Path, answer: str | None, trusted: bool
) -> None:
    folder = hostile(place, f"project-{answer}")
    run.editor.answer = lambda asked: answer if "trust" in asked.ids else "reject"
    for _ in range(2):
        api.reply(tool("Bash", command="touch made.txt"))
        api.reply(text("Tried."))
        await run.prompt(await run.new(folder), "make it")
    about_trust = [asked for asked in run.editor.asked if "trust" in asked.ids]
    assert len(about_trust) == 1 and about_trust[0].ids[0] == "restrict"
    assert str(folder) in str(about_trust[0].call.title)
    assert (folder / "made.txt").exists() is trusted


async def test_a_prompt_cancelled_while_trust_is_asked_never_begins(run: Running, api: FakeApi, place: Path) -> None:
    folder = hostile(place, "project-cancelled")

    async def never(_asked: Asked) -> str:
        await asyncio.Event().wait()
        raise AssertionError

    run.editor.answer = never
    session, before = await run.new(folder), len(api.requests)
    task = asyncio.create_task(run.prompt(session, "hi"))
    await run.editor.until(lambda: run.editor.asked)
    await run.agent.cancel(session_id=session)
    assert (await task).stop_reason == "cancelled"
    assert len(api.requests) == before


# --- bad requests ----------------------------------------------------------------------------------------------------


async def test_requests_for_sessions_that_are_not_there_say_so(run: Running, workspace: Path) -> None:
    for request in (
        run.prompt("nope", "hi"),
        run.agent.set_session_mode(session_id="nope", mode_id="plan"),
        run.agent.load_session(session_id="nope", cwd=str(workspace), mcp_servers=[]),
        run.agent.resume_session(session_id="../../etc", cwd=str(workspace), mcp_servers=[]),
        run.agent.close_session(session_id="nope"),
    ):
        with pytest.raises(RequestError) as caught:
            await request
        assert caught.value.code == -32002 and "session" in str(caught.value)
    await run.agent.cancel(session_id="nope")  # a notification: nothing to answer


@pytest.mark.parametrize("cwd", ["relative/path", "/no/such/folder", ""])
async def test_a_session_needs_a_real_folder(run: Running, cwd: str) -> None:
    with pytest.raises(RequestError) as caught:
        await run.agent.new_session(cwd=cwd, mcp_servers=[])
    assert caught.value.code == -32602


async def test_a_session_is_not_loaded_into_another_folder(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(text("Here."))
    session = await run.new(workspace)
    await run.prompt(session, "hi")
    with pytest.raises(RequestError, match="belongs to") as caught:
        await run.agent.load_session(session_id=session, cwd=str(workspace.parent), mcp_servers=[])
    assert caught.value.code == -32602


async def test_an_unknown_way_to_authenticate_is_refused_in_words(run: Running) -> None:
    with pytest.raises(RequestError, match="ANTHROPIC_API_KEY"):
        await run.agent.authenticate(method_id="oauth")
