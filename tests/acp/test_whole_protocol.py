"""What makes protocol 1 whole: deleting, forking, signing in and out, cancelling single requests, further folders,
every option, terminals of the editor, and forms and pages of MCP servers."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from acp.schema import (
    BooleanConfigOptionCapabilities,
    ClientSessionCapabilities,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    ElicitationUrlCapabilities,
    McpServerStdio,
    SessionConfigOptionsCapabilities,
)

from acp import RequestError
from acpclient import FILES, Asked, Running, always, find_tool, running
from fakeapi import FakeApi, hold, text, tool
from mcpserver import entry

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVERYTHING = FILES.model_copy(
    update={
        "terminal": True,
        "elicitation": ElicitationCapabilities(form=ElicitationFormCapabilities(), url=ElicitationUrlCapabilities()),
        "session": ClientSessionCapabilities(
            config_options=SessionConfigOptionsCapabilities(boolean=BooleanConfigOptionCapabilities())
        ),
    }
)


def values(options: Any) -> dict[str, Any]:
    return {option.id: option.current_value for option in options or ()}


async def failure(request: Any) -> RequestError:
    with pytest.raises(RequestError) as caught:
        await request
    return caught.value


# --- sessions --------------------------------------------------------------------------------------------------------


async def test_a_deleted_session_is_gone_from_the_list_and_cannot_be_loaded(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    api.reply(text("Kept for now."))
    session = await run.new(workspace)
    await run.prompt(session, "hi")
    assert session in {each.session_id for each in (await run.agent.list_sessions(cwd=str(workspace))).sessions}
    assert await run.request("session/delete", {"sessionId": session}) == {}
    assert session not in {each.session_id for each in (await run.agent.list_sessions(cwd=str(workspace))).sessions}
    loading = run.agent.load_session(session_id=session, cwd=str(workspace), mcp_servers=[])
    assert (await failure(loading)).code == -32002
    assert (await failure(run.request("session/delete", {"sessionId": session}))).code == -32002
    assert (await failure(run.request("session/delete", {}))).code == -32602


async def test_a_fork_knows_the_conversation_and_goes_its_own_way(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(text("The password is swordfish."))
    session = await run.new(workspace)
    await run.prompt(session, "what is it?")
    forked = await run.agent.fork_session(session_id=session, cwd=str(workspace), mcp_servers=[])
    assert forked.session_id != session and values(forked.config_options)["mode"] == "default"
    api.reply(text("As I said."))
    await run.prompt(forked.session_id, "again?")
    assert "swordfish" in str(api.requests[-1].messages) and "again?" in str(api.requests[-1].messages)
    api.reply(text("Who forked?"))
    await run.prompt(session, "and you?")
    assert "again?" not in str(api.requests[-1].messages)


async def test_a_session_is_told_with_its_title_and_time(run: Running, api: FakeApi, workspace: Path) -> None:
    api.reply(text("Done."))
    session = await run.new(workspace)
    await run.prompt(session, "paint the shed")
    info = run.editor.of("session_info_update")[-1]
    assert "paint the shed" in info.title and info.updated_at.startswith("20")


async def test_further_folders_count_as_the_workspace_and_others_do_not(
    run: Running, api: FakeApi, place: Path, workspace: Path
) -> None:
    more, elsewhere = place / "more", place / "elsewhere"
    for folder in (more, elsewhere):
        folder.mkdir(exist_ok=True)
        (folder / "note.txt").write_text(f"a note in {folder.name}\n")
    session = await run.new(workspace, additional_directories=[str(more)])
    api.reply(tool("Read", file_path=str(more / "note.txt")), tool("Read", file_path=str(elsewhere / "note.txt")))
    api.reply(text("One of two."))
    await run.prompt(session, "read both")
    results = str(api.requests[-1].messages[-1])
    assert "a note in more" in results and "a note in elsewhere" not in results
    assert [str(elsewhere) in str(asked.call.raw_input) for asked in run.editor.asked] == [True]
    for wrong in ("relative", str(more / "note.txt"), str(place / "missing")):
        error = await failure(run.new(workspace, additional_directories=[wrong]))
        assert error.code == -32602 and wrong in str(error)


# --- signing in ------------------------------------------------------------------------------------------------------


async def test_signing_out_refuses_turns_until_the_client_authenticates(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    assert run.hello is not None and run.hello.auth_methods
    (method,) = run.hello.auth_methods
    session = await run.new(workspace)
    assert await run.request("logout", {}) == {}
    for refused in (run.prompt(session, "hi"), run.new(workspace)):
        error = await failure(refused)
        assert error.code == -32000 and "uthenticate" in str(error)
    await run.agent.authenticate(method_id=method.id)
    api.reply(text("Welcome back."))
    assert (await run.prompt(session, "hi")).stop_reason == "end_turn"


async def test_without_credentials_authenticating_says_where_a_key_goes(place: Path, workspace: Path) -> None:
    async with running(place / "keyless", env={}) as alone:
        assert alone.hello is not None and alone.hello.auth_methods
        error = await failure(alone.agent.authenticate(method_id=alone.hello.auth_methods[0].id))
        assert error.code == -32000 and "ANTHROPIC_API_KEY" in str(error)


# --- cancelling single requests --------------------------------------------------------------------------------------


async def test_a_cancelled_prompt_request_ends_the_turn_and_says_cancelled(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    session = await run.new(workspace)
    api.reply(text("It goes ", hold("stopped"), "on."))
    task = asyncio.create_task(run.prompt(session, "talk"))
    await api.reached("stopped")
    await run.notify("$/cancel_request", {"requestId": run.agent._conn._next_request_id - 1})
    assert (await failure(task)).code == -32800
    api.release("stopped")
    api.reply(text("Here."))
    assert (await run.prompt(session, "and now?")).stop_reason == "end_turn"


async def test_cancelling_what_is_answered_or_was_never_asked_changes_nothing(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    session = await run.new(workspace)
    for id in (0, 999_999, "nope", None):
        await run.notify("$/cancel_request", {"requestId": id})
    api.reply(text("Still here."))
    assert (await run.prompt(session, "hi")).stop_reason == "end_turn"


async def test_an_ask_that_is_moot_is_cancelled_at_the_client(run: Running, api: FakeApi, workspace: Path) -> None:
    seen: list[Any] = []
    asked_ids: list[Any] = []

    def watch(event: Any) -> None:
        message = event.message
        if message.get("method") == "$/cancel_request":
            seen.append(message["params"]["requestId"])
        elif message.get("method") == "session/request_permission":
            asked_ids.append(message["id"])

    async def never(_asked: Asked) -> str:
        await asyncio.Event().wait()
        raise AssertionError

    run.agent._conn.add_observer(watch)
    run.editor.answer = never
    session = await run.new(workspace)
    api.reply(tool("Bash", command="touch never.txt"))
    task = asyncio.create_task(run.prompt(session, "make it"))
    await run.editor.until(lambda: run.editor.asked)
    await run.agent.cancel(session_id=session)
    assert (await task).stop_reason == "cancelled"
    assert seen == asked_ids != []


# --- options ---------------------------------------------------------------------------------------------------------


async def test_effort_and_thinking_are_options_that_reach_the_model(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    await run.introduce(EVERYTHING)
    session = await run.new(workspace)
    answer: Any = await run.agent.set_config_option(session_id=session, config_id="model", value="claude-opus-4-6")
    assert [(option.id, option.category, option.type) for option in answer.config_options or ()] == [
        ("mode", "mode", "select"),
        ("model", "model", "select"),
        ("effort", "thought_level", "select"),
        ("thinking", "model_config", "boolean"),
    ]
    chosen: Any = await run.agent.set_config_option(session_id=session, config_id="effort", value="low")
    assert values(chosen.config_options)["effort"] == "low"
    chosen = await run.agent.set_config_option(session_id=session, config_id="thinking", value=False)
    assert values(chosen.config_options) | {"model": ""} == {
        "mode": "default", "model": "", "effort": "low", "thinking": False,
    }  # fmt: skip
    api.reply(text("Quickly."))
    await run.prompt(session, "hi")
    body = api.requests[-1].body
    assert body["thinking"] == {"type": "disabled"} and body["output_config"]["effort"] == "low"
    chosen = await run.agent.set_config_option(session_id=session, config_id="effort", value="default")
    assert values(chosen.config_options)["effort"] == "default"
    for config, value in (("effort", "huge"), ("thinking", "yes"), ("colour", "red")):
        error = await failure(run.agent.set_config_option(session_id=session, config_id=config, value=value))
        assert error.code == -32602
    await run.introduce(FILES)


async def test_a_client_without_switches_is_offered_none(run: Running, workspace: Path) -> None:
    answer = await run.agent.new_session(cwd=str(workspace), mcp_servers=[])
    assert {option.type for option in answer.config_options or ()} == {"select"}


async def test_models_that_the_endpoint_offers_can_be_chosen(place: Path, api: FakeApi, workspace: Path) -> None:
    api.offers = ["claude-opus-4-6", "house-model"]
    async with running(place / "offers", env=api.env) as run:
        await run.new(workspace)

        def offered() -> list[str]:
            update = run.editor.of("config_option_update")[-1:]
            return [
                each.value
                for option in (update[0].config_options if update else ())
                if option.id == "model"
                for each in option.options
            ]

        await run.editor.until(lambda: "house-model" in offered())
        assert "claude-opus-4-6" in offered() and len(offered()) > 2


# --- terminals -------------------------------------------------------------------------------------------------------


async def test_an_allowed_command_runs_in_the_editors_terminal_and_a_harmless_one_in_the_fence(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    await run.introduce(EVERYTHING)
    run.editor.answer = always("allow")
    trap = workspace / "trap.sh"
    trap.write_text("echo trapped\n")
    for name in ("bash", "env"):
        (workspace / name).write_text("#!/bin/sh\necho trapped\n")
        (workspace / name).chmod(0o755)
    secret = dict.fromkeys(("ANTHROPIC_API_KEY", "ANTHROPIC_CUSTOM_HEADERS", "ASSENT_X", "CLAUDE_CODE_OAUTH"), "secret")
    traps = dict.fromkeys(("CDPATH", "GIT_DIR", "GLOBIGNORE"), "secret")
    first_here = f"{workspace}:{os.environ['PATH']}"
    run.editor.terminal_env = {**secret, **traps, "PATH": first_here, "BASH_ENV": str(trap), "MINE": "yes"}
    session = await run.new(workspace)
    # An id of its own: another test may have used the fake API's first one.
    api.reply(
        tool(
            "Bash",
            id="toolu_t1",
            command='echo "key=$(/usr/bin/env | grep -c secret) mine=$MINE" > seen.txt; cat seen.txt; exit 3',
        )
    )
    api.reply(tool("Bash", id="toolu_t2", command="echo harmless"))
    api.reply(text("Both ran."))
    await run.prompt(session, "run both")
    (pane,) = run.editor.terminals.values()
    assert pane.released and pane.process.returncode == 3
    assert (
        workspace / "seen.txt"
    ).read_text() == "key=0 mine=yes\n"  # no trap ran, no program of the folder, our key was not there
    first, second = run.editor.calls()["toolu_t1"], run.editor.calls()["toolu_t2"]
    assert [content.type for content in first["content"]] == ["terminal"] and first["status"] == "failed"
    assert [content.type for content in second["content"]] == ["content"] and second["status"] == "completed"
    told = json.dumps(api.requests[-1].messages)
    assert "key=0 mine=yes" in told and "exit code 3" in told.lower().replace("status", "code")
    await run.introduce(FILES)


async def test_a_cancelled_turn_ends_the_command_in_the_terminal(run: Running, api: FakeApi, workspace: Path) -> None:
    await run.introduce(EVERYTHING)
    run.editor.answer = always("allow")
    session = await run.new(workspace)
    api.reply(tool("Bash", command="touch began.txt; sleep 600"))
    task = asyncio.create_task(run.prompt(session, "wait"))
    await run.editor.until(lambda: run.editor.terminals)
    await run.agent.cancel(session_id=session)
    assert (await task).stop_reason == "cancelled"
    (pane,) = run.editor.terminals.values()
    await run.editor.until(lambda: pane.released)
    assert await pane.process.wait() < 0
    await run.introduce(FILES)


# --- forms and pages of MCP servers ----------------------------------------------------------------------------------


async def test_an_mcp_server_asks_in_the_editors_form_and_by_a_page(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    await run.introduce(EVERYTHING)
    run.editor.answer = always("allow")
    run.editor.first_forms = [{}]  # the field is required
    run.editor.form = {"colour": "green"}
    server = entry()
    stdio = McpServerStdio(name="plain", command=server["command"], args=server["args"], env=[])
    session = await run.new(workspace, mcp_servers=[stdio])
    await find_tool(run, api, session, "mcp__plain__ask")
    await find_tool(run, api, session, "mcp__plain__visit")
    api.reply(tool("mcp__plain__ask", id="toolu_m1"))
    api.reply(tool("mcp__plain__visit", id="toolu_m2"))
    api.reply(text("Asked."))
    await run.prompt(session, "ask them")
    (form_words, form), (again, _), (page_words, page) = run.editor.forms
    assert again == f"{form_words}\n\nThe last answer did not fit: colour: it is required"
    assert "plain" in form_words and "colour" in str(form) and "plain" in page_words
    assert "https://example.org/sign" in str(page) and len(run.editor.completed) == 1
    told = json.dumps(api.requests[-1].messages)
    assert "accept green" in told
    await run.introduce(FILES)
