"""The draft of protocol 2 behind `--draft`, by the protocol library's own client of it, against the spawned program."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from acp import RequestError
from acpclient import PATIENCE, always, running
from acpdraft import AGENT, DraftEditor, Refused, chosen, draft_editor, library
from fakeapi import FakeApi, hold, text, thinking, tool
from mcpserver import entry

pytestmark = pytest.mark.asyncio(loop_scope="module")

FORMS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared_editor(place: Path, shared_api: FakeApi) -> AsyncIterator[DraftEditor]:
    async with draft_editor(place / "draft", env=shared_api.env, capabilities=FORMS) as editor:
        yield editor


@pytest.fixture
def editor(shared_editor: DraftEditor) -> DraftEditor:
    for seen in (shared_editor.updates, shared_editor.asked, shared_editor.completed):
        seen.clear()
    shared_editor.answers = {"permission": lambda _about: chosen("reject")}
    return shared_editor


async def test_a_client_of_the_draft_is_told_what_the_agent_can_do_in_it(editor: DraftEditor) -> None:
    assert editor.hello["protocolVersion"] == 2 and editor.hello["info"]["name"] == "assent"
    assert editor.hello["capabilities"] == {
        "session": {
            "prompt": {"image": {}, "embeddedContext": {}},
            "mcp": {"stdio": {}, "http": {}},
            "delete": {},
            "additionalDirectories": {},
            "fork": {},
        }
    }
    assert [(each["type"], each["methodId"]) for each in editor.hello["authMethods"]] == [("agent", "environment")]


async def test_a_prompt_is_accepted_at_once_and_the_states_carry_its_turn(
    editor: DraftEditor, api: FakeApi, workspace: Path
) -> None:
    api.reply(thinking("Let me think."), text("Hello ", hold("middle"), "world."))
    session = await editor.new(workspace)
    message = await editor.say(session, "hi")  # answered, while the model is still held
    await editor.until(lambda: editor.text() == "Hello ")
    assert editor.states() == ["running"]
    assert [(each["messageId"], each["content"][0]["text"]) for each in editor.of("UserMessageUpdate")] == [
        (message, "hi")
    ]
    api.release("middle")
    await editor.until(lambda: editor.states() == ["running", "idle"])
    assert editor.of("IdleSessionStateUpdate")[0]["stopReason"] == "end_turn"
    assert (editor.text(), editor.text("AgentThoughtChunk")) == ("Hello world.", "Let me think.")
    assert len({each["messageId"] for each in editor.of("AgentMessageChunk")}) == 1
    assert editor.of("UsageUpdate")[0]["used"] > 0 and editor.of("SessionInfoUpdate")[-1]["title"] == "hi"
    assert not [name for name, _ in editor.updates if name.startswith("Other")]


async def test_commands_are_offered_and_answered(editor: DraftEditor, workspace: Path) -> None:
    session = await editor.new(workspace)
    await editor.until(lambda: editor.of("AvailableCommandsUpdate"))
    known = {each["name"]: each for each in editor.of("AvailableCommandsUpdate")[0]["availableCommands"]}
    assert known["model"]["input"]["type"] == "text" and known["model"]["input"]["hint"]
    assert (await editor.turn(session, "/help"))["stopReason"] == "end_turn"
    assert "/compact" in editor.text()


async def test_an_edit_waits_for_its_yes_and_is_shown_as_a_patch(
    editor: DraftEditor, api: FakeApi, workspace: Path
) -> None:
    landed: list[str] = []

    def look_and_allow(_about: dict[str, Any]) -> Any:
        landed.append((workspace / "greeter.py").read_text())
        return chosen("allow")

    editor.answers["permission"] = look_and_allow
    before = (workspace / "greeter.py").read_text()
    api.reply(tool("Read", id="toolu_r", file_path="greeter.py"))
    api.reply(tool("Edit", id="toolu_e", file_path="greeter.py", old_string='"Helo"', new_string='"Hello"'))
    api.reply(text("Fixed."))
    await editor.turn(await editor.new(workspace), "fix it")
    [(_, about)] = editor.asked
    call = about["subject"]["toolCall"]
    assert about["subject"]["type"] == "tool_call" and about["title"] and call["toolCallId"] == "toolu_e"
    assert [option["kind"] for option in about["options"]][:2] == ["reject_once", "allow_once"]
    assert landed == [before] and '"Hello"' in (workspace / "greeter.py").read_text()
    [diff] = [each for each in call["content"] if each["type"] == "diff"]
    assert [(each["operation"], each["path"]) for each in diff["changes"]] == [
        ("modify", str(workspace / "greeter.py"))
    ]
    shown = editor.calls()["toolu_e"]
    assert (shown["name"], shown["kind"], shown["status"]) == ("Edit", "edit", "completed")
    assert shown["content"] == [diff] and diff["patch"]["format"] == "git_patch"
    assert '-    return "Helo"\n+    return "Hello"\n' in diff["patch"]["text"]
    assert editor.states() == ["running", "requires_action", "running", "idle"]


@pytest.mark.parametrize(
    "answer",
    [
        chosen("reject"),
        chosen("no-such-option"),
        {"outcome": {"outcome": "cancelled"}},
        {"outcome": {"outcome": "allowed", "optionId": "allow"}},
    ],
    ids=["no", "unknown", "cancelled", "another outcome"],
)
async def test_everything_but_a_clear_yes_is_a_no(
    editor: DraftEditor, api: FakeApi, workspace: Path, answer: Any
) -> None:
    editor.answers["permission"] = lambda _about: answer
    api.reply(tool("Bash", command=f"touch {workspace / 'never.txt'}"))
    api.reply(text("Then not."))
    assert (await editor.turn(await editor.new(workspace), "make it"))["stopReason"] == "end_turn"
    [(_, about)] = editor.asked
    assert f"touch {workspace / 'never.txt'}" in about["description"]
    assert not (workspace / "never.txt").exists()
    assert [call["status"] for call in editor.calls().values()] == ["failed"]


async def test_a_turn_is_cancelled_with_what_waits_behind_it_and_the_next_one_runs(
    editor: DraftEditor, api: FakeApi, workspace: Path
) -> None:
    session = await editor.new(workspace)
    api.reply(text("It goes ", hold("on"), "on."))
    await editor.say(session, "talk")
    await api.reached("on")
    await editor.say(session, "and then this")
    await editor.call("cancel_session", session_id=session)
    await editor.until(lambda: editor.of("IdleSessionStateUpdate"))
    assert editor.of("IdleSessionStateUpdate")[0]["stopReason"] == "cancelled"
    api.release("on")
    api.reply(text("Here."))
    await editor.turn(session, "are you there?")
    assert editor.text().endswith("Here.") and "and then this" not in json.dumps(api.requests[-1].messages)


async def test_a_turn_that_is_cancelled_while_it_asks_allows_nothing_and_ends_idle(
    editor: DraftEditor, api: FakeApi, workspace: Path
) -> None:
    editor.answers["permission"] = lambda _about: None  # nobody answers
    session = await editor.new(workspace)
    api.reply(tool("Bash", command=f"touch {workspace / 'never.txt'}"))
    await editor.say(session, "make it")
    await editor.until(lambda: editor.asked)
    await editor.call("cancel_session", session_id=session)
    await editor.until(lambda: editor.of("IdleSessionStateUpdate"))
    api.reply(text("Here."))
    assert (await editor.turn(session, "are you there?"))["stopReason"] == "end_turn"
    assert editor.of("IdleSessionStateUpdate")[0]["stopReason"] == "cancelled"
    states = editor.states()
    assert states[:2] == ["running", "requires_action"] and states[-3:] == ["idle", "running", "idle"]
    assert not (workspace / "never.txt").exists()


async def test_trust_is_asked_before_the_first_prompt_is_taken_in(
    editor: DraftEditor, api: FakeApi, place: Path
) -> None:
    folder = place / "draft-hostile"
    (folder / ".assent").mkdir(parents=True)
    rules = {"permissions": {"allow": ["Bash(touch *)"]}}
    (folder / ".assent" / "settings.json").write_text(json.dumps(rules))
    editor.answers["permission"] = lambda about: chosen("restrict" if "Trust" in about["title"] else "reject")
    api.reply(tool("Bash", command="touch made.txt"))
    api.reply(text("Tried."))
    await editor.turn(await editor.new(folder), "make it")
    await editor.until(lambda: editor.states()[-2:] == ["running", "idle"])
    assert [about["options"][0]["optionId"] for _, about in editor.asked] == ["restrict", "reject"]
    assert editor.states()[:3] == ["requires_action", "idle", "running"]
    assert not (folder / "made.txt").exists()


async def test_a_failing_endpoint_is_a_notice_and_the_session_goes_on(
    editor: DraftEditor, api: FakeApi, workspace: Path
) -> None:
    api.error(400, "the credit is used up")
    session = await editor.new(workspace)
    assert "stopReason" not in await editor.turn(session, "hi")
    [notice] = [each for each in editor.of("SessionNotice") if each["severity"] == "error"]
    assert "the credit is used up" in notice["title"]
    api.reply(text("Better."))
    assert (await editor.turn(session, "again"))["stopReason"] == "end_turn"


async def test_a_session_is_listed_resumed_replayed_forked_closed_and_deleted(
    editor: DraftEditor, api: FakeApi, place: Path
) -> None:
    folder = place / "life"
    folder.mkdir()
    (folder / "a.txt").write_text("words\n")
    session = await editor.new(folder)
    todos = [{"content": "Look", "status": "in_progress"}]
    api.reply(tool("Read", id="toolu_a", file_path="a.txt"), tool("TodoWrite", id="toolu_t", todos=todos))
    api.reply(text("Words."))
    message = await editor.say(session, "what is in it?", {"type": "image", "data": PIXEL, "mimeType": "image/png"})
    await editor.until(lambda: editor.of("IdleSessionStateUpdate"))
    [plan] = editor.of("SessionPlanUpdate")
    assert plan["plan"]["type"] == "items" and [each["content"] for each in plan["plan"]["entries"]] == ["Look"]
    listed = await editor.call("list_sessions", cwd=str(folder))
    assert [(each["sessionId"], each["cwd"]) for each in listed["sessions"]] == [(session, str(folder))]

    async def resumed(**more: Any) -> list[str]:
        await editor.call("close_session", session_id=session)
        with pytest.raises(Refused, match="no session"):
            await editor.say(session, "hello?")
        editor.updates.clear()
        options = await editor.call("resume_session", session_id=session, cwd=str(folder), **more)
        assert {each["configId"] for each in options["configOptions"]} >= {"mode", "model"}
        return [name for name, _ in editor.updates if "Message" in name or "ToolCall" in name]

    assert await resumed() == []
    replayed = await resumed(replay_from={"type": "start"})
    assert replayed[:2] == ["UserMessageChunk"] * 2 and "AgentMessageChunk" in replayed
    assert {each["messageId"] for each in editor.of("UserMessageChunk")} == {message}  # it keeps its id
    assert editor.calls()["toolu_a"]["status"] == "completed"
    with pytest.raises(Refused, match="replayFrom") as refused:
        await editor.call("resume_session", session_id=session, cwd=str(folder), replay_from={"type": "_middle"})
    assert refused.value.code == -32602
    forked = await editor.call("fork_session", session_id=session, cwd=str(folder))
    api.reply(text("Still words."))
    await editor.turn(forked["sessionId"], "and now?")
    assert "what is in it?" in json.dumps(api.requests[-1].messages)
    for each in (session, forked["sessionId"]):
        await editor.call("delete_session", session_id=each)
    assert (await editor.call("list_sessions", cwd=str(folder)))["sessions"] == []


async def test_options_are_set_and_told_and_there_are_no_modes_besides(
    editor: DraftEditor, api: FakeApi, workspace: Path
) -> None:
    opened = await editor.call("new_session", cwd=str(workspace))
    assert "modes" not in opened
    session = opened["sessionId"]
    changed = await editor.call("set_config_option", session_id=session, config_id="model", value="claude-opus-4-6")
    kinds = {each["configId"]: each["type"] for each in changed["configOptions"]}
    assert kinds == {"mode": "select", "model": "select", "effort": "select", "thinking": "boolean"}
    changed = await editor.call("set_config_option", session_id=session, config_id="thinking", value=False)
    assert [each["currentValue"] for each in changed["configOptions"] if each["configId"] == "thinking"] == [False]
    api.reply(tool("ExitPlanMode", plan="1. Do this"))
    api.reply(text("Begun."))
    editor.answers["permission"] = lambda _about: chosen("allow")
    await editor.call("set_config_option", session_id=session, config_id="mode", value="plan")
    await editor.turn(session, "plan it")
    assert api.requests[-1].body["model"] == "claude-opus-4-6"
    assert api.requests[-1].body["thinking"] == {"type": "disabled"}
    told = {each["configId"]: each["currentValue"] for each in editor.of("ConfigOptionUpdate")[-1]["configOptions"]}
    assert told["mode"] == "default"  # the plan was approved
    with pytest.raises(Refused) as refused:
        await editor.call("set_config_option", session_id=session, config_id="colour", value="red")
    assert refused.value.code == -32602


async def test_signing_out_refuses_turns_until_the_client_signs_in(
    editor: DraftEditor, api: FakeApi, workspace: Path
) -> None:
    session = await editor.new(workspace)
    await editor.call("logout")
    with pytest.raises(Refused) as refused:
        await editor.say(session, "hi")
    assert refused.value.code == -32000
    await editor.call("login", method_id="environment")
    api.reply(text("Welcome back."))
    assert (await editor.turn(session, "hi"))["stopReason"] == "end_turn"


async def test_servers_of_the_client_are_used_and_ask_in_its_forms_and_pages(
    editor: DraftEditor, api: FakeApi, place: Path, workspace: Path
) -> None:
    more = place / "draft-more"
    more.mkdir()
    (more / "note.txt").write_text("a note\n")
    editor.answers["permission"] = lambda _about: chosen("allow")
    editor.answers["elicitation"] = lambda about: {
        "action": "accept",
        **({"content": {"colour": "green"}} if about["mode"] == "form" else {}),
    }
    plain = entry()
    server = {"type": "stdio", "name": "plain", "command": plain["command"], "args": plain["args"]}
    session = await editor.new(workspace, mcp_servers=[server], additional_directories=[str(more)])
    async with asyncio.timeout(PATIENCE):
        while True:
            api.reply(tool("ToolSearch", query="select:mcp__plain__ask,mcp__plain__visit"))
            api.reply(text("Looked."))
            await editor.turn(session, "find them")
            if "mcp__plain__visit" in [each["name"] for each in api.calls[-1].body["tools"]]:
                break
    api.reply(tool("mcp__plain__ask", id="toolu_m1"))
    api.reply(tool("mcp__plain__visit", id="toolu_m2"))
    api.reply(tool("Read", id="toolu_m3", file_path=str(more / "note.txt")))
    api.reply(text("Asked."))
    editor.asked.clear()
    await editor.turn(session, "ask them")
    forms = [about for what, about in editor.asked if what == "elicitation"]
    assert [about["mode"] for about in forms] == ["form", "url"]
    assert "colour" in str(forms[0]["requested_schema"]) and "https://example.org/sign" in forms[1]["url"]
    assert len(editor.completed) == 1
    told = json.dumps(api.requests[-1].messages)
    assert "accept green" in told and "a note" in told
    with pytest.raises(Refused, match="cannot be reached"):
        await editor.new(workspace, mcp_servers=[{"type": "acp", "name": "inside", "serverId": "1"}])


async def test_a_client_of_protocol_1_is_served_as_ever_beside_the_flag_and_with_the_newer_library(
    place: Path, api: FakeApi, workspace: Path
) -> None:
    env = {**api.env, "PYTHONPATH": str(library())}
    async with running(place / "first", env=env, command=AGENT) as run:
        assert run.hello is not None and run.hello.protocol_version == 1
        run.editor.answer = always("allow")
        api.reply(tool("Bash", command=f"touch {workspace / 'made-by-1.txt'}"))
        api.reply(text("Made."))
        session = await run.new(workspace)
        await run.editor.until(lambda: run.editor.of("available_commands_update"))  # sent behind the answer
        assert (await run.prompt(session, "make it")).stop_reason == "end_turn"
        assert (workspace / "made-by-1.txt").exists()
        api.reply(text("It goes ", hold("stopped"), "on."))
        asking = asyncio.create_task(run.prompt(session, "talk"))
        await api.reached("stopped")
        await run.notify("$/cancel_request", {"requestId": run.agent._conn._next_request_id - 1})
        with pytest.raises(RequestError) as cancelled:
            await asking
        assert cancelled.value.code == -32800
        api.release("stopped")
        assert await run.request("session/delete", {"sessionId": session}) == {}


async def test_without_the_flag_a_client_of_the_draft_is_told_protocol_1(place: Path) -> None:
    env = {"ASSENT_OFFLINE": "1", "PYTHONPATH": str(library())}
    command = tuple(part for part in AGENT if part != "--draft")
    async with running(place / "plain", env=env, command=command, initialize=False) as run:
        assert (await run.agent.initialize(protocol_version=2)).protocol_version == 1
