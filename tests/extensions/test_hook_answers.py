"""What hooks may change, event by event, with real scripts in the whole program (H). Fires when, gets what: see
`test_hook_events.py`."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from assent.app import App, Options, headless
from assent.extensions.hooks import terminal_sequences
from assent.extensions.hooks.answers import from_json
from assent.sessions.stream.front import Call, FrontFlags
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.wire.asks import Elicit, PermissionAsk
from fakeapi import FakeApi, Reply, Request, text, tool

PLAIN_SERVER = Path(__file__).parent.parent / "support" / "mcpserver" / "plain.py"
ALLOW = {"permissions": {"allow": ["Bash"]}}


def own(event: str, **said: Any) -> Json:
    return {"hookSpecificOutput": {"hookEventName": event, **said}}


class Person:
    """A front that allows, and gives the answers it was told to questions."""

    flags = FrontFlags(permissions=True, elicitation=True, partials=True, max_event_rate=0)

    def __init__(self, answers: Json | None = None) -> None:
        self.answers = answers
        self.events: list[Json] = []
        self.asked: list[Json] = []
        self.questions: list[Json] = []

    def event(self, published: Any) -> None:
        self.events.append(json.loads(published.line)["event"])

    async def ask(self, ask: PermissionAsk) -> Json:
        self.asked.append(msgspec.to_builtins(ask))
        return {"decision": "allow"}

    async def elicit(self, elicit: Elicit) -> Json:
        self.questions.append(msgspec.to_builtins(elicit))
        return {"action": "accept", "content": self.answers or {}}

    def withdraw(self, request_id: str) -> None: ...

    def of(self, kind: str) -> list[Json]:
        return [event for event in self.events if event["type"] == kind]


class Place:
    def __init__(self, root: Path) -> None:
        self.root, self.home, self.cwd = root, root / "home", root / "project"
        self.settings = self.home / ".config/assent/settings.json"
        for folder in (self.settings.parent, self.cwd):
            folder.mkdir(parents=True)

    def hook(self, event: str, answer: Json | str, *, matcher: str = "", **more: Any) -> None:
        """One hook, a script that keeps its input and prints this answer, or runs these lines."""
        script = self.root / f"{event}.sh"
        printed = f"cat <<'END'\n{json.dumps(answer)}\nEND\n" if isinstance(answer, dict) else answer
        script.write_text(f"cat >> {self.root}/{event}.given; echo >> {self.root}/{event}.given\n{printed}")
        handler = {"type": "command", "command": f"bash {script}", **more}
        self.write({event: [{"matcher": matcher, "hooks": [handler]}]})

    def write(self, hooks: Json, **settings: Any) -> None:
        known: Json = json.loads(self.settings.read_text()) if self.settings.exists() else {}
        merged = {**known, **settings, "hooks": {**known.get("hooks", {}), **hooks}}
        self.settings.write_text(json.dumps(merged))

    def given(self, event: str) -> list[Json]:
        file = self.root / f"{event}.given"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = Place(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return made


class Talk:
    def __init__(self, app: App, session_id: str, person: Person) -> None:
        self.app, self.id, self.person = app, session_id, person

    async def say(self, prompt: str) -> Json:
        params = {"sessionId": self.id, "prompt": prompt, "wait": True}
        return (await self.app.sessions.request("assent/session/send", params, Call(front=self.person)))["result"]

    @property
    def transcript(self) -> str:
        return self.app.sessions.live[self.id].transcript.read_text()

    async def until(self, true: Callable[[], bool]) -> None:
        with anyio.fail_after(120):
            while not true():  # noqa: ASYNC110 -- what is waited for is a file or a list
                await anyio.sleep(0.02)


async def talking(
    place: Place,
    does: Callable[[Talk], Awaitable[None]],
    *,
    answers: Json | None = None,
    settings: Json | None = None,
    offline: bool = True,
    interactive: bool = True,
) -> Talk:
    person = Person(answers)
    async with headless(Options(source_seconds=60, offline=offline, interactive=interactive, settings=settings)) as app:
        opened = await app.sessions.request("assent/session/new", {"cwd": str(place.cwd)}, Call(front=person))
        talk = Talk(app, opened["sessionId"], person)
        await does(talk)
    return talk


# --- sessions ---------------------------------------------------------------------------------------------------------


async def test_session_start_names_the_session_and_says_the_first_prompt(place: Place) -> None:
    place.hook("SessionStart", own("SessionStart", sessionTitle="Named by a hook", initialUserMessage="hello there"))

    async def does(talk: Talk) -> None:
        await talk.until(lambda: bool(talk.person.of("turnFinished")))
        assert talk.app.sessions.live[talk.id].title == "Named by a hook"
        assert talk.person.of("turnStarted")[0]["prompt"] == "hello there"

    await talking(place, does)
    assert place.given("SessionStart")[0]["model"]


async def test_a_prompt_hook_names_the_session(place: Place) -> None:
    place.hook("UserPromptSubmit", own("UserPromptSubmit", sessionTitle="About greetings"))

    async def does(talk: Talk) -> None:
        await talk.say("hello")
        assert talk.app.sessions.live[talk.id].title == "About greetings"

    await talking(place, does)


async def test_what_setup_prints_is_context_of_the_prompt_that_follows(place: Place) -> None:
    place.hook("Setup", own("Setup", additionalContext="the toolchain is pinned to 3.12"), matcher="init")

    async def does(talk: Talk) -> None:
        await talk.say("/init")
        assert "the toolchain is pinned to 3.12" in talk.transcript

    await talking(place, does)
    assert [each["trigger"] for each in place.given("Setup")] == ["init"]


async def test_clear_ends_and_starts_with_its_own_reasons(place: Place) -> None:
    place.hook("SessionEnd", "", matcher="clear", timeout=60)  # what it has otherwise, a busy machine exceeds
    place.hook("SessionStart", "echo remember the milk", matcher="clear")

    async def does(talk: Talk) -> None:
        await talk.say("/clear")
        assert "remember the milk" in talk.transcript

    await talking(place, does)
    assert len(place.given("SessionEnd")) == len(place.given("SessionStart")) == 1


# --- prompts, answers, stops ------------------------------------------------------------------------------------------


async def test_an_expansion_can_be_blocked(place: Place) -> None:
    (place.home / ".claude/commands").mkdir(parents=True)
    (place.home / ".claude/commands/deploy.md").write_text("Deploy $1.")
    place.hook("UserPromptExpansion", {"decision": "block", "reason": "not on Fridays"}, matcher="deploy")

    async def does(talk: Talk) -> None:
        result = await talk.say("/deploy now prod")
        assert result["isError"] and "not on Fridays" in result["result"]

    await talking(place, does)
    assert place.given("UserPromptExpansion")[0]["prompt"] == "/deploy now prod"


async def test_context_of_a_stop_hook_sends_the_model_on_without_an_error(place: Place) -> None:  # L13
    body = f"test -e {place.root}/told || echo '{json.dumps(own('Stop', additionalContext='run the linter too'))}'"
    place.hook("Stop", f"{body}\ntouch {place.root}/told")

    async def does(talk: Talk) -> None:
        result = await talk.say("hello")
        assert not result["isError"] and "run the linter too" in talk.transcript
        assert len(talk.person.of("stepStarted")) == 2

    await talking(place, does)


async def test_people_see_what_a_display_hook_gives_and_the_model_keeps_its_words(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.hook("MessageDisplay", "sed -n 's/.*//p' < /dev/null\n" + _upper(place))
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        api.reply(text("first line\n", "second line\n", "the end"))
        api.reply(text("yes"))

        async def does(talk: Talk) -> None:
            await talk.say("hello")
            shown = [
                block["text"] for e in talk.person.of("message") for block in e["content"] if e["role"] == "assistant"
            ]
            assert shown == ["FIRST LINE\nSECOND LINE\nTHE END"]
            deltas = "".join(each["text"] for each in talk.person.of("textDelta"))
            assert shown[0].startswith(deltas) and "first" not in deltas
            assert "first line" in talk.transcript
            await talk.say("again")
            again = await talk.app.sessions.request("assent/session/attach", {"sessionId": talk.id})
            assert "FIRST LINE" in json.dumps(again["messages"]) and "first line" not in json.dumps(again["messages"])

        await talking(place, does, offline=False)
        assert "first line" in json.dumps(api.calls[1].body) and "FIRST LINE" not in json.dumps(api.calls[1].body)
    pieces = place.given("MessageDisplay")
    assert [each["final"] for each in pieces if each["message_id"] == pieces[0]["message_id"]][-1] is True


def _upper(place: Place) -> str:
    script = place.root / "upper.py"
    script.write_text(
        "import json, sys\n"
        f"given = json.loads(open({str(place.root / 'MessageDisplay.given')!r}).read().splitlines()[-1])\n"
        "print(json.dumps({'hookSpecificOutput': {'hookEventName': 'MessageDisplay', "
        "'displayContent': given['delta'].upper()}}))\n"
    )
    return f"{sys.executable} -I -S {script}"


async def test_a_compaction_can_be_blocked(place: Place) -> None:
    place.hook("PreCompact", "echo 'the plan must stay' >&2; exit 2", matcher="manual")

    async def does(talk: Talk) -> None:
        await talk.say("hello")
        await talk.say("/compact")
        assert not talk.person.of("compacted")
        assert any("the plan must stay" in each["text"] for each in talk.person.of("notice"))

    await talking(place, does)


async def test_an_async_hook_that_exits_with_2_wakes_the_idle_session(place: Place) -> None:
    once = f"test -e {place.root}/woken && exit 0; touch {place.root}/woken"
    place.hook("Stop", f"{once}; echo 'the tests broke' >&2; exit 2", asyncRewake=True)

    async def does(talk: Talk) -> None:
        await talk.say("hello")
        await talk.until(lambda: len(talk.person.of("turnFinished")) >= 2)
        assert "the tests broke" in json.dumps(talk.person.of("turnStarted")[1]["prompt"])

    await talking(place, does)


# --- permissions ------------------------------------------------------------------------------------------------------


def _updates(*entries: Json) -> Json:
    return own("PermissionRequest", decision={"behavior": "allow", "updatedPermissions": list(entries)})


async def test_a_permission_hook_adds_and_removes_rules_folders_and_the_mode(place: Place) -> None:
    other = place.root / "other"
    other.mkdir()
    rule = {"toolName": "Bash", "ruleContent": "touch second"}
    place.hook(
        "PermissionRequest",
        _updates(
            {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"},
            {
                "type": "addRules",
                "rules": [{"toolName": "WebFetch"}],
                "behavior": "deny",
                "destination": "userSettings",
            },
            {"type": "addDirectories", "directories": [str(other)], "destination": "session"},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            {"type": "setMode", "mode": "bypassPermissions", "destination": "session"},
            {"type": "sing"},
        ),
    )

    async def does(talk: Talk) -> None:
        await talk.say("run `touch first`")
        await talk.say("run `touch second`")
        session = talk.app.sessions.live[talk.id]
        assert session.state.mode == "acceptEdits" and str(other) in session.roots()
        told = " ".join(each["text"] for each in talk.person.of("notice"))
        assert "'bypassPermissions'" in told and "'sing'" in told

    talk = await talking(place, does)
    assert (place.cwd / "first").exists() and (place.cwd / "second").exists() and not talk.person.asked
    assert [each["tool_input"]["command"] for each in place.given("PermissionRequest")] == ["touch first"]
    assert json.loads(place.settings.read_text())["permissions"] == {"deny": ["WebFetch"]}


async def test_a_permission_hook_that_changes_the_input_is_judged_again(place: Place) -> None:
    decision = {"behavior": "allow", "updatedInput": {"command": "touch .git/hooks/x"}}
    (place.cwd / ".git").mkdir()
    place.hook("PermissionRequest", own("PermissionRequest", decision=decision))

    async def does(talk: Talk) -> None:
        await talk.say("run `touch first`")

    talk = await talking(place, does, interactive=False)
    assert not (place.cwd / "first").exists() and not (place.cwd / ".git/hooks/x").exists()
    assert not talk.person.asked


async def test_a_denial_by_auto_mode_may_be_tried_again_where_a_hook_says_so(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.hook("PermissionDenied", own("PermissionDenied", retry=True))
    place.write({}, permissions={"deny": ["Bash(touch never)"]})
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)

        def model(request: Request) -> Reply:
            if "You guard a developer" in json.dumps(request.body.get("system", "")):
                return Reply(parts=(text("deny"),))
            wanted = "touch never" if "never" in request.last_text else "touch made"
            results = any(block.get("type") == "tool_result" for _, block in request.blocks[-1:])
            return Reply(parts=(text("I stop."),)) if results else Reply(parts=(tool("Bash", command=wanted),))

        api.otherwise(model)

        async def does(talk: Talk) -> None:
            await talk.app.sessions.request("assent/session/configure", {"sessionId": talk.id, "mode": "auto"})
            await talk.say("make it")
            assert "you may try this call again" in talk.transcript
            await talk.say("never")

        await talking(place, does, offline=False)
    assert [each["tool_input"]["command"] for each in place.given("PermissionDenied")] == ["touch made"]


async def test_what_a_hook_tells_the_classifier_reaches_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.hook("PostToolUse", own("PostToolUse", classifierContext="this machine is disposable"))
    asked: list[str] = []
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)

        def model(request: Request) -> Reply:
            if "You guard a developer" in json.dumps(request.body.get("system", "")):
                asked.append(request.last_text)
                return Reply(parts=(text("allow"),))
            results = any(block.get("type") == "tool_result" for _, block in request.blocks[-1:])
            return Reply(parts=(text("Done."),)) if results else Reply(parts=(tool("Bash", command="touch made"),))

        api.otherwise(model)

        async def does(talk: Talk) -> None:
            await talk.app.sessions.request("assent/session/configure", {"sessionId": talk.id, "mode": "auto"})
            await talk.say("one")
            await talk.say("two")

        await talking(place, does, offline=False)
    assert ["disposable" in each for each in asked] == [False, True]


# --- servers, models, files, settings ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "answer", "colour"),
    [
        ("Elicitation", own("Elicitation", action="accept", content={"colour": "green"}), "green"),
        ("Elicitation", own("Elicitation", action="decline"), "decline"),
        ("Elicitation", "echo no >&2; exit 2", "decline"),
        ("ElicitationResult", own("ElicitationResult", action="accept", content={"colour": "red"}), "red"),
        ("ElicitationResult", "exit 0", "blue"),
    ],
)
async def test_a_server_s_question_is_answered_by_a_hook_or_by_the_person(
    place: Place, monkeypatch: pytest.MonkeyPatch, event: str, answer: Json | str, colour: str
) -> None:
    place.hook(event, answer, matcher="plain")
    server = {"command": sys.executable, "args": ["-I", "-S", str(PLAIN_SERVER)]}
    place.write({}, mcpServers={"plain": server}, permissions={"allow": ["mcp__plain"]})
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        api.reply(tool("mcp__plain__ask", {}))
        api.reply(text("I see."))

        async def does(talk: Talk) -> None:
            servers = talk.app.sessions.live[talk.id].tools.mcp
            assert servers is not None
            await servers.servers.named("plain").connected()
            await talk.say("ask")

        talk = await talking(place, does, offline=False, answers={"colour": "blue"})
        assert colour in json.dumps(api.calls[1].tool_results)
    assert bool(talk.person.questions) is (event == "ElicitationResult")


@pytest.mark.parametrize("agrees", [False, True])
async def test_a_person_decides_on_a_model_where_a_hook_wants_that(
    place: Place, agrees: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = own("PreModelSwitch", permissionDecision="ask", permissionDecisionReason="it costs twice as much")
    place.hook("PreModelSwitch", answer)
    place.hook("PostModelSwitch", "echo now on another model")
    chosen = {"answers": {"model": ["Change it" if agrees else "Keep the model"]}}

    async def does(talk: Talk) -> None:
        result = await talk.say("/model claude-haiku-4-5")
        assert "it costs twice as much" in json.dumps(talk.person.questions)
        assert (talk.app.sessions.live[talk.id].options.model == "claude-haiku-4-5") is agrees
        assert ("is now" in result["result"]) is agrees
        if agrees:
            await talk.until(lambda: bool(place.given("PostModelSwitch")))
            await talk.until(lambda: any(each["event"] == "PostModelSwitch" for each in talk.person.of("hook")))
            await talk.say("hello")
            assert "now on another model" in talk.transcript
        else:
            with pytest.raises(ProtocolError, match="did not agree"):
                params = {"sessionId": talk.id, "model": "claude-haiku-4-5"}
                await talk.app.sessions.request("assent/session/configure", params)

    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        api.otherwise(Reply(parts=(text("Hello."),)))
        await talking(place, does, answers=chosen, offline=False)


async def test_a_hook_names_files_to_watch_and_hears_of_each_change(place: Place) -> None:
    watched = place.root / "elsewhere" / "lock.toml"
    watched.parent.mkdir()
    watched.write_text("one")
    place.hook("SessionStart", own("SessionStart", watchPaths=[str(watched)]))
    place.hook("FileChanged", 'echo "export LOCK=changed" >> "$CLAUDE_ENV_FILE"', matcher="lock.toml|.envrc")

    async def does(talk: Talk) -> None:
        await talk.say("hello")  # after SessionStart
        watched.write_text("two, and longer")
        await talk.until(lambda: len(place.given("FileChanged")) >= 1)
        (place.cwd / ".envrc").write_text("x")
        await talk.until(lambda: len(place.given("FileChanged")) >= 2)
        watched.unlink()
        await talk.until(lambda: len(place.given("FileChanged")) >= 3)
        await talk.until(lambda: len(talk.person.of("hook")) >= 4)
        await talk.say("run `printenv LOCK`")
        assert '"changed' in talk.transcript

    await talking(place, does, settings=ALLOW)
    kinds = [(Path(each["file_path"]).name, each["event"]) for each in place.given("FileChanged")]
    assert kinds == [("lock.toml", "change"), (".envrc", "add"), ("lock.toml", "unlink")]


@pytest.mark.parametrize("blocks", [True, False])
async def test_a_blocked_change_of_settings_has_no_effect_until_the_next_one(place: Place, blocks: bool) -> None:
    refuse = "grep -q keep_out settings-now && { echo 'ask the team' >&2; exit 2; } || true"
    refuse = refuse.replace("settings-now", str(place.settings)) if blocks else ""
    place.hook("ConfigChange", refuse, matcher="user_settings")

    async def does(talk: Talk) -> None:
        def rules() -> list[str]:
            return [rule.rule for rule in talk.app.sessions.live[talk.id].settings.rules]

        assert rules() == []
        place.write({}, permissions={"allow": ["Bash(keep_out)"]})
        await talk.until(lambda: bool(talk.person.of("hook")))
        await talk.until(lambda: rules() == ([] if blocks else ["Bash(keep_out)"]))
        assert any("ask the team" in each["text"] for each in talk.person.of("notice")) is blocks
        place.write({}, permissions={"allow": ["Bash(fine)"]})
        await talk.until(lambda: rules() == ["Bash(fine)"])

    await talking(place, does)
    assert place.given("ConfigChange")[0]["file_path"] == str(place.settings)


# --- skills, shown status, terminals ----------------------------------------------------------------------------------

SKILL = """\
---
name: guarded
description: works with a guard
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: "cat >> {given}; echo >> {given}"
          once: {once}
          statusMessage: looking at the command
---
Be careful.
"""


@pytest.mark.parametrize(("once", "runs"), [("true", 1), ("false", 2)])
async def test_hooks_of_a_skill_count_from_its_use_until_the_conversation_starts_afresh(
    place: Place, once: str, runs: int
) -> None:
    given = place.root / "PreToolUse.given"
    skill = place.home / ".claude/skills/guarded/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(SKILL.format(given=given, once=once))

    async def does(talk: Talk) -> None:
        await talk.say("run `true`")
        assert place.given("PreToolUse") == []
        await talk.say("/guarded")
        await talk.say("run `true`")
        await talk.say("run `true`")
        listed = talk.app.session_hooks.listed(str(place.cwd), talk.id)
        assert [row["source"] for row in listed] == [str(skill)]
        status = [each["text"] for each in talk.person.of("hook") if each["outcome"] == "running"]
        assert status == ["looking at the command"] * runs
        await talk.say("/clear")
        await talk.say("run `true`")

    await talking(place, does, settings=ALLOW)
    assert len(place.given("PreToolUse")) == runs


async def test_hooks_of_skills_are_off_with_all_hooks(place: Place) -> None:
    given = place.root / "PreToolUse.given"
    skill = place.home / ".claude/skills/guarded/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(SKILL.format(given=given, once="false"))

    async def does(talk: Talk) -> None:
        await talk.say("/guarded")
        await talk.say("run `true`")

    await talking(place, does, settings={**ALLOW, "disableAllHooks": True})
    assert place.given("PreToolUse") == []


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("\x1b]2;building\x07", "\x1b]2;building\x07"),
        ("\x1b]9;done\x1b\\ and words", "\x1b]9;done\x1b\\"),
        ("\x07", "\x07"),
        ("\x1b]777;notify;a;b\x07\x1b[2J", "\x1b]777;notify;a;b\x07"),
        ("\x1b]52;c;c2VjcmV0\x07", ""),
        ("\x1b]8;;http://x\x07click\x1b]8;;\x07", ""),
        ("\x1b]2;a\x1b[31mb\x07", "\x07"),
        (7, ""),
    ],
)
def test_of_a_terminal_sequence_only_titles_notifications_and_the_bell_pass(written: object, kept: str) -> None:
    assert terminal_sequences.allowed(written) == kept
    assert from_json("Stop", {"terminalSequence": written}).terminal_sequence == kept
