"""Commands, skills, agents and rules of files in a real session, with the program's own wiring and no model (X, T7)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assent.app import App, Options, headless
from assent.extensions.catalogue import Catalogue
from assent.sessions import hub
from definition_files import opened, said, trust
from fakeapi import FakeApi, Reply, text, tool

Json = dict[str, Any]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "app" / ".git").mkdir(parents=True)
    return tmp_path


@pytest.fixture
async def app(home: Path) -> AsyncGenerator[App]:
    """The program, entered and left by one task."""
    running, ready, over = (
        headless(Options(source_seconds=60, offline=True, interactive=False)),
        asyncio.Event(),
        asyncio.Event(),
    )

    async def live() -> None:
        async with running:
            ready.set()
            await over.wait()

    task = asyncio.create_task(live())
    await asyncio.wait_for(ready.wait(), 120)
    yield running
    over.set()
    await asyncio.wait_for(task, 120)


@pytest.fixture
def write(home: Path) -> Callable[[str, str], Path]:
    def put(path: str, text: str) -> Path:
        file = home / path[2:] if path.startswith("~/") else home / "app" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return put


Write = Callable[[str, str], Path]


async def test_every_built_in_command_is_offered_and_none_can_be_taken_by_a_file(
    app: App, home: Path, write: Write
) -> None:
    write("~/.claude/commands/permissions.md", "nothing good")
    session = await opened(app, home / "app")
    names = {command["name"] for command in session["commands"]}
    wanted = "clear compact context cost model mode memory permissions resume rewind fork export help init mcp agents"
    assert {*wanted.split(), "skills", "todos", "status", "doctor", "review", "plugins", "output-style"} <= names
    assert "user:permissions" in names
    assert "Permission rules" in await said(app, session, "/permissions") or "no permission rules" in await said(
        app, session, "/permissions"
    )


async def test_commands_of_a_project_can_be_used_once_the_folder_is_trusted(app: App, home: Path, write: Write) -> None:
    write(".claude/commands/hello.md", "---\ndescription: greets\nargument-hint: [name]\n---\nSay hello to $0.")
    session = await opened(app, home / "app")
    assert "hello" not in {command["name"] for command in session["commands"]}
    assert "There is no command /hello" in await said(app, session, "/hello you")
    await trust(app, home / "app")
    listed = await app.sessions.request("assent/command/list", {"cwd": str(home / "app")})
    (row,) = [command for command in listed["commands"] if command["name"] == "hello"]
    assert (row["description"], row["argumentHint"]) == ("greets", "[name]")
    assert "There is no command" not in await said(app, session, "/hello you")


async def test_a_command_inside_a_text_runs_when_the_rules_allow_it_and_otherwise_ends_it_in_words(
    app: App, home: Path, write: Write
) -> None:
    write(".assent/commands/read.md", "Look at !`cat note.txt` and stop.")
    file = write(".assent/commands/danger.md", "---\ndescription: d\n---\nfirst\n!`touch made`\n")
    write("note.txt", "the-note")
    await trust(app, home / "app")
    session = await opened(app, home / "app")
    refused = await said(app, session, "/danger")
    assert f"{file}:5" in refused and "is not allowed" in refused
    assert not (home / "app" / "made").exists()
    await said(app, session, "/read")
    exported = await app.sessions.request("assent/session/export", {"sessionId": session["sessionId"]})
    assert "Look at the-note and stop." in exported["text"]


async def test_allowed_tools_grant_for_one_turn_and_never_over_a_deny_rule(app: App, home: Path, write: Write) -> None:
    write(".assent/commands/make.md", "---\nallowed-tools: Bash(touch:*)\n---\n!`touch made`\n")
    write(".assent/commands/denied.md", "---\nallowed-tools: Bash(touch:*)\n---\n!`touch secret`\n")
    write(".assent/settings.json", '{"permissions": {"deny": ["Bash(touch secret)"]}}')
    await trust(app, home / "app")
    session = await opened(app, home / "app")
    await said(app, session, "/make")
    assert (home / "app" / "made").exists()
    assert "is not allowed" in await said(app, session, "/denied")
    assert not (home / "app" / "secret").exists()
    live = app.sessions.live[session["sessionId"]]
    assert live.turn_rules == []


async def test_a_skill_allows_its_own_scripts_by_their_folder(app: App, home: Path, write: Write) -> None:
    rule = "Bash(${CLAUDE_SKILL_DIR}/scripts/make.sh *)"
    body = "!`${CLAUDE_SKILL_DIR}/scripts/make.sh made`"
    write("~/.claude/skills/make/SKILL.md", f"---\nname: make\ndescription: d\nallowed-tools: {rule}\n---\n{body}\n")
    write("~/.claude/skills/make/scripts/make.sh", '#!/bin/sh\ntouch "$1"\n').chmod(0o755)
    session = await opened(app, home / "app")
    await said(app, session, "/make")
    assert (home / "app" / "made").exists()


async def test_a_skill_is_listed_by_name_and_loaded_whole_on_demand(app: App, home: Path, write: Write) -> None:
    text = "---\nname: pdf\ndescription: reads PDF files\n---\nUse ${CLAUDE_SKILL_DIR}/go.py with $ARGUMENTS."
    file = write(".claude/skills/pdf/SKILL.md", text)
    await trust(app, home / "app")
    session = await opened(app, home / "app")
    assert "Skill" in session["tools"]
    params = {"sessionId": session["sessionId"], "name": "Skill", "input": {"skill": "pdf", "args": "a.pdf"}}
    answer = await app.sessions.request("assent/tool/run", params)
    loaded = answer["content"][0]["text"]
    assert loaded == f"Base directory for this skill: {file.parent}\n\nUse {file.parent}/go.py with a.pdf."
    assert app.sessions.live[session["sessionId"]].state.skills == {"pdf": loaded}
    (row,) = (await app.sessions.request("assent/skill/list", {"cwd": str(home / "app")}))["skills"]
    assert (row["name"], row["source"], "withheld" in row) == ("pdf", str(file), False)


async def test_without_skills_there_is_no_skill_tool(app: App, home: Path) -> None:
    assert "Skill" not in (await opened(app, home / "app"))["tools"]


async def test_skills_of_an_untrusted_project_are_listed_with_the_reason_and_not_offered(
    app: App, home: Path, write: Write
) -> None:
    write(".claude/skills/x/SKILL.md", "---\nname: x\ndescription: d\n---\ny")
    session = await opened(app, home / "app")
    (row,) = (await app.sessions.request("assent/skill/list", {"cwd": str(home / "app")}))["skills"]
    assert row["withheld"] == "this folder is not trusted"
    assert "Skill" not in session["tools"]
    assert "not used: this folder is not trusted" in await said(app, session, "/skills")


async def test_memory_lists_what_is_loaded_and_a_note_becomes_a_line(app: App, home: Path, write: Write) -> None:
    notes = write("AGENTS.md", "# Notes\n\nUse tabs.\n")
    session = await opened(app, home / "app")
    (row,) = (await app.sessions.request("assent/memory/list", {"cwd": str(home / "app")}))["files"]
    assert (row["path"], row["scope"], row["kind"], row["reason"]) == (str(notes), "project", "notes", "always")
    assert row["tokens"] > 0
    assert "AGENTS.md" in await said(app, session, "/memory")
    assert "Added to" in await said(app, session, "# never use spaces")
    assert notes.read_text() == "# Notes\n\nUse tabs.\n\n- never use spaces\n"
    await said(app, session, "/memory add local my own")
    assert (home / "app" / "CLAUDE.local.md").read_text() == "- my own\n"


async def test_memory_lists_what_a_touched_file_brought_in(app: App, home: Path, write: Write) -> None:
    write("sub/AGENTS.md", "Use spaces here.")
    write(".claude/rules/text.md", "---\npaths: '*.txt'\n---\nBe brief.")
    write("sub/note.txt", "hello")
    session = await opened(app, home / "app")
    assert "sub/AGENTS.md" not in await said(app, session, "/memory")
    await said(app, session, "read sub/note.txt")
    listed = await said(app, session, "/memory")
    assert "sub/AGENTS.md" in listed and "a file in its folder was touched" in listed
    assert "rules/text.md" in listed and "a file it is for was touched: *.txt" in listed


async def test_rules_are_listed_with_their_files_moved_and_removed(app: App, home: Path, write: Write) -> None:
    write("~/.config/assent/settings.json", '{"permissions": {"deny": ["Bash(rm:*)"], "allow": ["Bash(make:*)"]}}')
    project = write(".assent/settings.json", '{"permissions": {"allow": ["Bash(npm:*)"]}}')
    user = str(home / ".config" / "assent" / "settings.json")
    cwd = str(home / "app")

    async def rules() -> list[tuple[str, str, str, bool]]:
        found = (await app.sessions.request("assent/permission/rules", {"cwd": cwd}))["rules"]
        return [(row["behaviour"], row["rule"], row["scope"], "withheld" in row) for row in found]

    assert await rules() == [
        ("deny", "Bash(rm:*)", "user", False),
        ("allow", "Bash(make:*)", "user", False),
        ("allow", "Bash(npm:*)", "project", True),
    ]
    session = await opened(app, home / "app")
    assert "Moved to local" in await said(app, session, "/permissions move 2 local")
    assert "Removed" in await said(app, session, "/permissions remove 2")
    assert "Added (session)" in await said(app, session, "/permissions deny Bash(git push:*) session")
    assert await rules() == [("deny", "Bash(rm:*)", "user", False), ("allow", "Bash(make:*)", "local", True)]
    assert "npm" not in project.read_text()
    removed = {"rule": "Bash(rm:*)", "behaviour": "deny", "file": user}
    edited = await app.sessions.request("assent/permission/editRules", {"cwd": cwd, "remove": [removed]})
    assert [row["rule"] for row in edited["rules"]] == ["Bash(make:*)"]


async def test_agents_of_files_are_listed_with_their_sources(app: App, home: Path, write: Write) -> None:
    file = write(".claude/agents/r.md", "---\nname: reviewer\ndescription: reviews\n---\nYou review.")
    await trust(app, home / "app")
    session = await opened(app, home / "app")
    assert {"general-purpose", "explore", "reviewer"} == {agent["name"] for agent in session["agents"]}
    assert f"**reviewer**: reviews ({file})" in await said(app, session, "/agents")


async def test_what_is_wrong_with_a_file_is_told_once_with_its_line(app: App, home: Path, write: Write) -> None:
    file = write("~/.claude/skills/x/SKILL.md", "---\nname: x\n---\nno description")
    session = await opened(app, home / "app")
    events: list[Json] = []
    live = app.sessions.live[session["sessionId"]]
    live.events.on_event = lambda event, _parent: events.append(msgspec.to_builtins(event))
    await said(app, session, "/status")
    await said(app, session, "/status")
    told = [event["text"] for event in events if event.get("type") == "notice"]
    assert [text for text in told if str(file) in text] == [f"{file}:1: has no description, so the skill is not used"]


async def test_the_conversation_can_be_copied_and_written_into_a_file(app: App, home: Path) -> None:
    session = await opened(app, home / "app")
    await said(app, session, "/status")
    assert "Copied into session" in await said(app, session, "/fork")
    assert "Written" in await said(app, session, "/export talk.md")
    assert (home / "app" / "talk.md").is_file()
    assert "exists already" in await said(app, session, "/export talk.md")
    assert "outside" in await said(app, session, "/export ../talk.md")
    assert "nothing to go back to" in await said(app, session, "/rewind")


async def test_an_output_style_is_chosen_by_name_and_reaches_the_system_prompt(
    app: App, home: Path, write: Write
) -> None:
    write("~/.claude/output-styles/pirate.md", "---\nname: pirate\ndescription: arr\n---\nTalk like a pirate.")
    session = await opened(app, home / "app")
    assert "**default**" in await said(app, session, "/output-style")
    assert "There is no output style" in await said(app, session, "/output-style nobody")
    assert "style pirate" in await said(app, session, "/output-style Pirate")
    assert app.sessions.live[session["sessionId"]].configuration().custom_system_prompt == "Talk like a pirate."


async def test_hooks_of_an_installed_plugin_are_listed_with_their_source(app: App, home: Path, write: Write) -> None:
    write("~/tools/.claude-plugin/plugin.json", '{"name": "tools"}')
    handler = '{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/check.sh"}'
    write("~/tools/hooks/hooks.json", f'{{"hooks": {{"Stop": [{{"hooks": [{handler}]}}]}}}}')
    app.definitions.plugins.accept(app.definitions.plugins.stage(str(home / "tools"), cwd="/"))
    session = await opened(app, home / "app")
    answer = await said(app, session, "/hooks")
    assert "**Stop**: command `${CLAUDE_PLUGIN_ROOT}/check.sh`" in answer
    assert "hooks/hooks.json" in answer


FORKED = "---\nname: survey\ndescription: looks around\ncontext: fork\n---\nSurvey $ARGUMENTS and report.\n"


async def test_a_forked_skill_is_done_by_an_agent_and_only_its_answer_stays(
    home: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("~/.claude/skills/survey/SKILL.md", FORKED)
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        api.reply(text("There are three files."))
        api.reply(text("As I said: three."))
        async with headless(Options(source_seconds=60, interactive=False)) as app:
            session = await opened(app, home / "app")
            assert (await said(app, session, "/survey the tests")).startswith("There are three files.")
            assert await said(app, session, "how many?") == "As I said: three."
        task, later = json.dumps(api.calls[0].body["messages"]), json.dumps(api.calls[1].body["messages"])
    assert "Survey the tests and report." in task
    assert "Survey the tests" not in later and "/survey the tests" in later and "There are three files." in later


async def test_a_skill_that_the_user_runs_is_kept_by_compactions_as_one_the_model_loads(
    app: App, home: Path, write: Write
) -> None:
    write("~/.claude/skills/careful/SKILL.md", "---\nname: careful\ndescription: care\n---\nMind the gap.\n")
    session = await opened(app, home / "app")
    await said(app, session, "/careful")
    kept = app.sessions.live[session["sessionId"]].state.skills
    assert list(kept) == ["careful"] and "Mind the gap." in kept["careful"]


async def test_a_prompt_that_names_a_command_waits_for_a_slow_disk_and_any_other_one_does_not(
    home: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("~/.claude/commands/hello.md", "Say hello.")
    monkeypatch.setattr(hub, "DEFINITIONS_SECONDS", 0.01)
    async with headless(Options(source_seconds=0.01, offline=True, interactive=False)) as app:
        load, there = app.definitions.load, asyncio.Event()

        async def slow(cwd: str) -> Catalogue:
            await there.wait()
            return await load(cwd)

        monkeypatch.setattr(app.definitions, "load", slow)
        session = await opened(app, home / "app")
        assert await said(app, session, "hello")
        asyncio.get_running_loop().call_later(0.5, there.set)  # many times what an ordinary prompt waits
        assert "There is no command" not in await said(app, session, "/hello")


async def test_commands_are_made_once_until_their_files_change(app: App, home: Path, write: Write) -> None:
    write("~/.claude/commands/hello.md", "Say hello.")
    session = await opened(app, home / "app")
    live = app.sessions.live[session["sessionId"]]
    await said(app, session, "/hello")
    first = live.services.commands()
    await said(app, session, "/hello")
    assert all(one is other for one, other in zip(first, live.services.commands(), strict=True))
    write("~/.claude/commands/bye.md", "Say bye.")
    await said(app, session, "/bye")
    assert {command.name for command in live.services.commands()} - {command.name for command in first} == {"bye"}


async def test_the_files_of_a_folder_are_looked_at_for_turns_that_ask_the_model_only(app: App, home: Path) -> None:
    """And not before the first request goes out: that look costs more than the request."""
    session = await opened(app, home / "app")
    live = app.sessions.live[session["sessionId"]]
    await said(app, session, "/status")
    assert not live.files.effects.prepared
    await said(app, session, "hello")
    assert live.files.effects.prepared


AGENT = "---\nname: {name}\ndescription: helps\nmodel: {model}\n---\nYou help."


async def test_models_are_named_as_other_tools_name_them(
    home: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("~/.claude/commands/think.md", "---\nmodel: Sonnet\neffort: high\n---\nThink.")
    write("~/.claude/commands/other.md", "---\nmodel: GPT-4o\n---\nThink again.")
    write("~/.claude/agents/small.md", AGENT.format(name="small", model="haiku"))
    write("~/.copilot/agents/far.agent.md", AGENT.format(name="far", model="GPT-5 (copilot)"))
    write("~/.claude/skills/survey/SKILL.md", FORKED.replace("context: fork", "context: fork\nmodel: haiku"))
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        for agent in ("small", "far"):
            api.reply(tool("Agent", prompt="Say hi.", description="hi", subagent_type=agent))
            api.reply(text("hi"))
            api.reply(text("It said hi."))
        api.reply(tool("Skill", skill="survey", args="it"))
        api.otherwise(lambda _request: Reply(parts=(text("ok"),)))
        async with headless(Options(source_seconds=60, interactive=False)) as app:
            session = await opened(app, home / "app")
            for prompt in ("go", "on", "survey it", "/think", "/other"):
                await said(app, session, prompt)
            events = app.sessions.live[session["sessionId"]].events.replay(0) or []
    sent = [str(call.body["model"]) for call in api.calls]
    own, small, sonnet = sent[0], "claude-haiku-5-5", "claude-sonnet-5-5"
    assert sent == [own, small, own, own, own, own, own, small, own, sonnet, own]
    assert api.calls[9].body["output_config"] == {"effort": "high"}
    notices = json.dumps([event.json() for event in events])
    assert "model GPT-5 (copilot)" in notices and "the model GPT-4o" in notices


@pytest.mark.parametrize("by_user", [False, True])
async def test_a_skill_in_use_says_model_effort_and_tools_of_the_rest_of_the_turn(  # Q4
    home: Path, write: Write, monkeypatch: pytest.MonkeyPatch, by_user: bool
) -> None:
    header = "name: calm\ndescription: d\nmodel: haiku\neffort: low\ndisallowed-tools: Bash, Task, mcp__far"
    write("~/.claude/skills/calm/SKILL.md", f"---\n{header}\n---\nBe calm.")
    write(".github/prompts/look.prompt.md", "---\ntools: ['search/codebase', 'fetch', 'far/*']\n---\nLook.")
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        if not by_user:
            api.reply(tool("Skill", skill="calm"))
        api.otherwise(lambda _request: Reply(parts=(text("ok"),)))
        async with headless(Options(source_seconds=60, interactive=False)) as app:
            await trust(app, home / "app")
            session = await opened(app, home / "app")
            for prompt in ("/calm" if by_user else "be calm", "go on", "/look"):
                await said(app, session, prompt)
    *first, calm, after, look_only = [call.body for call in api.calls]
    offered = [{each["name"] for each in body["tools"]} for body in (calm, after, look_only)]
    assert (calm["model"], calm["output_config"]["effort"]) == ("claude-haiku-5-5", "low")
    assert "Read" in offered[0] and not {"Bash", "Agent"} & offered[0]
    assert after["model"] != calm["model"] and {"Bash", "Agent"} <= offered[1]
    assert all({**body, "messages": []} == {**after, "messages": []} for body in first)
    assert offered[2] - {"Snip"} == {"Grep", "Glob", "Read", "WebFetch"}
