"""What headers of commands, skills and rules say, and what is wrong with them, in a real session (X)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from assent.app import App, Options, headless
from definition_files import Ground, ground, opened, said, trust
from fakeapi import FakeApi, Reply, text, tool

Json = dict[str, Any]
REVIEWER = """---
name: reviewer
description: reviews
tools: Read, Grep, Bash
disallowedTools: Bash
model: haiku
effort: low
skills: [taste]
---
Look for faults only.
"""
TASTE = "---\nname: taste\ndescription: d\n---\nShort names."


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    found = ground(tmp_path)
    found.write("~/.claude/agents/reviewer.md", REVIEWER)
    found.write("~/.claude/skills/taste/SKILL.md", TASTE)
    return found


async def asked(
    place: Ground, monkeypatch: pytest.MonkeyPatch, *prompts: str, answers: Sequence[Any] = ()
) -> tuple[list[Json], list[str]]:
    """The requests to the model that these prompts made, and the warnings that a client saw."""
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        for answer in answers:
            api.reply(answer)
        api.otherwise(lambda _request: Reply(parts=(text("ok"),)))
        async with headless(Options(source_seconds=60, interactive=False)) as app:
            await trust(app, place.project)
            session = await opened(app, place.project)
            for prompt in prompts:
                await said(app, session, prompt)
            events = [each.json() for each in app.sessions.live[session["sessionId"]].events.replay(0) or []]
    shown = [each.get("event", each) for each in events]
    return [call.body for call in api.calls], [each["text"] for each in shown if each["type"] == "notice"]


def tools(body: Json) -> set[str]:
    return {each["name"] for each in body["tools"]} - {"Snip"}


def last_words(body: Json) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else "\n".join(each.get("text", "") for each in content)


async def test_a_prompt_file_is_worked_on_here_as_the_agent_that_it_names(  # X
    place: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(".github/prompts/check.prompt.md", "---\nagent: reviewer\n---\nCheck it.")
    (plain, check, after), notices = await asked(place, monkeypatch, "hello", "/check", "go on")
    words = last_words(check)
    assert words.index("Look for faults only.") < words.index("Short names.") < words.index("Check it.")
    assert tools(check) == {"Read", "Grep"}
    assert (check["model"], check["output_config"]["effort"]) == ("claude-haiku-5-5", "low")
    assert check["system"] == plain["system"] and "hello" in str(check["messages"])  # it is this conversation
    assert (after["model"], tools(after)) == (plain["model"], tools(plain))
    assert notices == []


async def test_what_a_prompt_file_says_itself_comes_before_what_its_agent_says(  # X
    place: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = "agent: reviewer\ntools: ['search']\nmodel: sonnet"
    place.write(".github/prompts/check.prompt.md", f"---\n{header}\n---\nCheck it.")
    (check,), _ = await asked(place, monkeypatch, "/check")
    assert (check["model"], tools(check)) == ("claude-sonnet-5-5", {"Grep", "Glob"})
    assert "Look for faults only." in last_words(check)


@pytest.mark.parametrize(
    ("key", "mode", "reads_only"), [("agent", "ask", True), ("mode", "plan", True), ("agent", "agent", False)]
)
async def test_the_modes_of_vs_code_say_which_tools_there_are(  # X
    place: Ground, monkeypatch: pytest.MonkeyPatch, key: str, mode: str, reads_only: bool
) -> None:
    place.write(".github/prompts/check.prompt.md", f"---\n{key}: {mode}\n---\nCheck it.")
    (plain, check), notices = await asked(place, monkeypatch, "hello", "/check")
    assert notices == [] and {"Read", "Grep", "WebFetch"} <= tools(check)
    assert (tools(check) == tools(plain)) is not reads_only
    assert bool({"Edit", "Write", "Bash", "Agent"} & tools(check)) is not reads_only


async def test_an_agent_that_is_not_there_is_told_with_its_line_and_the_prompt_works(  # X
    place: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = place.write(".github/prompts/check.prompt.md", "---\ndescription: d\nagent: nobody\n---\nCheck it.")
    (plain, check), notices = await asked(place, monkeypatch, "hello", "/check")
    assert notices == [f"{file}:3: there is no agent 'nobody'; /check works without it."]
    assert tools(check) == tools(plain) and last_words(check).endswith("Check it.")


@pytest.mark.parametrize(("more", "apart"), [("", True), ("\nsubtask: false", False)])
async def test_a_command_of_opencode_is_given_to_its_agent_unless_it_says_not_to(  # X
    place: Ground, monkeypatch: pytest.MonkeyPatch, more: str, apart: bool
) -> None:
    place.write(".opencode/commands/check.md", f"---\nagent: reviewer{more}\n---\nCheck it.")
    (_, check), _ = await asked(place, monkeypatch, "hello", "/check")
    assert ("hello" in str(check["messages"])) is not apart
    assert ("Look for faults only." in str(check["system"])) is apart
    assert tools(check) == {"Read", "Grep"}


async def test_agent_alone_says_nothing_in_a_command_of_claude_code(  # X
    place: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(".claude/commands/check.md", "---\nagent: reviewer\n---\nCheck it.")
    (plain, check), _ = await asked(place, monkeypatch, "hello", "/check")
    assert tools(check) == tools(plain) and "Look for faults only." not in str(check)


PWSH = """#!/bin/sh
for each in "$@"; do printf '[%s]' "$each"; done
"""
SHELL = "---\nname: day\ndescription: d\nshell: {shell}\nallowed-tools: {allowed}\n---\nToday: !`Get-Date -Format 'o'`"


@pytest.mark.parametrize(
    ("allowed", "command", "runs"),
    [
        ("PowerShell", "Get-Date -Format 'o'", True),
        ("PowerShell(Get-Date:*)", "Get-Date -Format 'o'", True),
        ("PowerShell(Get-Date *)", "Get-Date; Remove-Item x", False),
        ("PowerShell(Get-*)", "Get-Date | Out-File x", False),
        ("PowerShell(Get-Date *)", "Get-Content x", False),
        ("Read", "Get-Date", False),
        ("Bash(pwsh:*)", "Get-Date", False),
        ("PowerShell", "Get-Content ~/.ssh/id_rsa", False),
    ],
)
async def test_commands_for_powershell_are_run_by_it_through_the_permission_chain(  # X
    place: Ground, monkeypatch: pytest.MonkeyPatch, allowed: str, command: str, runs: bool
) -> None:
    program = place.write("~/programs/pwsh", PWSH)  # stands in for PowerShell: prints what it was given
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    skill = SHELL.format(shell="powershell", allowed=f"[{allowed!r}]").replace("Get-Date -Format 'o'", command)
    file = place.write("~/.claude/skills/day/SKILL.md", skill)
    async with headless(Options(source_seconds=60, offline=True, interactive=False)) as app:
        session = await opened(app, place.project)
        answer = await said(app, session, "/day")
        kept = app.sessions.live[session["sessionId"]].state.skills
    if runs:
        assert f"Today: [-NoProfile][-NonInteractive][-Command][{command}]" in kept["day"]
    else:
        assert answer.startswith(f"{file}:7: /day was not run. Its command `pwsh -NoProfile") and kept == {}
        assert "is not allowed" in answer


async def test_a_skill_for_powershell_is_refused_with_its_line_where_there_is_none(  # X
    place: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    file = place.write("~/.claude/skills/day/SKILL.md", SHELL.format(shell="powershell", allowed="Bash(pwsh:*)"))
    async with headless(Options(source_seconds=60, offline=True, interactive=False)) as app:
        answer = await said(app, await opened(app, place.project), "/day")
    assert answer.startswith(f"{file}:7: /day was not run.") and "PowerShell (`pwsh`) is not installed" in answer


async def test_a_shell_that_nobody_knows_is_told_with_its_line(place: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SHELL.format(shell="fish", allowed="Read").replace("Get-Date -Format 'o'", "echo Monday")
    file = place.write("~/.claude/skills/day/SKILL.md", text)
    (day,), notices = await asked(place, monkeypatch, "/day")
    assert notices == [f"{file}:4: shell can be bash or powershell, not 'fish'; bash runs its commands"]
    assert "Today: Monday" in last_words(day)


GREEDY = "---\nname: greedy\ndescription: Greedy.\nallowed-tools: Bash(*)\n---\nx"


async def test_what_is_wrong_with_rules_and_skills_further_down_is_told_once_when_a_file_there_is_touched(  # X
    place: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = place.write("web/.claude/rules/css.md", "---\npaths: ['*.css']\n???\n---\nUse variables.")
    skill = place.write("web/.claude/skills/odd/SKILL.md", "---\nname: odd\n---\nx")
    place.write("web/.claude/skills/good/SKILL.md", "---\nname: good\ndescription: Good styles.\n---\nx")
    greedy = place.write("web/.claude/skills/greedy/SKILL.md", GREEDY)
    touched = [place.write(f"web/{name}", "1\n") for name in ("a.py", "b.py", "c.css")]
    answers = [each for path in touched for each in (tool("Read", file_path=str(path)), text("ok"))]
    bodies, notices = await asked(place, monkeypatch, "one", "two", "three", "/compact", "four", answers=answers)
    assert sorted(notices) == sorted(
        [
            f"{rule}:3: expected `key: value`, found '???'",
            f"{greedy}: the skill greedy is not used: what it runs or permits was not approved yet. In the project's own "
            "folder of skills it would be shown with that, and asked about.",
            f"{skill}:1: has no description, so the skill is not used",
        ]
    )
    told = [index for index, body in enumerate(bodies) if "Use variables." in str(body["messages"])]
    assert told[0] == 5  # only after the file that the rule is for was read
    assert any("- good: Good styles." in str(body["messages"]) for body in bodies)  # in a folder that is trusted
    assert not any("Greedy." in str(body["messages"]) for body in bodies)


SKILL = "---\nname: good\ndescription: Good styles.\n---\nUse blue."
GONE = "There is no skill 'good'."


def _stays(_app: App, _project: Path, _skill: Path) -> None: ...


def _is_rewritten(_app: App, _project: Path, skill: Path) -> None:
    skill.write_text(SKILL.replace("blue", "green"))


def _is_deleted(_app: App, _project: Path, skill: Path) -> None:
    skill.unlink()


def _permits_more(_app: App, _project: Path, skill: Path) -> None:
    skill.write_text(SKILL.replace("---\nUse", "allowed-tools: Bash\n---\nUse"))


def _is_distrusted(app: App, project: Path, _skill: Path) -> None:
    assert app.trust.set(str(project), trusted=False, remember="session")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_stays, "Use blue."),
        (_is_rewritten, "Use green."),
        (_is_deleted, GONE),
        (_permits_more, GONE),
        (_is_distrusted, GONE),
    ],
)
async def test_a_skill_further_down_is_loaded_as_it_is_now_and_only_while_the_folder_is_trusted(  # X
    place: Ground, monkeypatch: pytest.MonkeyPatch, change: Callable[[App, Path, Path], object], expected: str
) -> None:
    skill = place.write("web/.claude/skills/good/SKILL.md", SKILL)
    touched = place.write("web/a.py", "1\n")
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        read, load = tool("Read", file_path=str(touched)), tool("Skill", skill="good")
        for answer in (read, text("ok"), text("ok"), load, text("ok")):
            api.reply(answer)
        async with headless(Options(source_seconds=60, interactive=False)) as app:
            await trust(app, place.project)
            session = await opened(app, place.project)
            await said(app, session, "one")
            await said(app, session, "two")
            assert "- good: Good styles." in str(api.calls[-1].body["messages"])
            change(app, place.project, skill)
            await said(app, session, "three")
    assert expected in str(api.calls[-1].body["messages"][-1])


async def test_a_skill_for_certain_files_is_offered_once_such_a_file_was_read(  # X
    place: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = "name: styles\ndescription: Blue styles.\npaths: ['*.css']"
    place.write("~/.claude/skills/styles/SKILL.md", f"---\n{header}\n---\nUse blue.")
    touched = [place.write(name, "1\n") for name in ("a.py", "web/b.css")]
    answers = [each for path in touched for each in (tool("Read", file_path=str(path)), text("ok"))]
    bodies, notices = await asked(place, monkeypatch, "one", "two", "three", answers=answers)
    offered = ["styles: Blue styles." in str(body) for body in bodies]
    assert offered[:3] == [False] * 3  # up to the call that reads the style sheet
    assert offered[-1] and notices == []
