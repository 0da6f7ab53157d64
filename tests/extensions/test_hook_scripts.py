"""What scripts that were written for other tools rely on in the answers of hooks, beyond the plain cases of
`test_hook_files.py`; and the same in the whole program, with a model that is told what to call (H)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from assent.app import App, Options, headless
from assent.engine.hook_facts import background_tasks, failure_name
from assent.extensions.hooks import answers
from assent.extensions.hooks.handlers import Handler, HookOrigin, once_each, parse_entry
from assent.extensions.hooks.run_handler import command_line
from assent.sessions.stream.front import Call, FrontFlags
from assent.types.blocks import Json
from assent.types.hooks import HookEvent
from assent.wire.asks import Elicit, PermissionAsk
from fakeapi import FakeApi, Reply, Request, failure, text, tool


def test_exit_code_2_blocks_and_what_the_json_says_besides_still_counts() -> None:
    own = {"hookEventName": "PreToolUse", "permissionDecision": "allow", "additionalContext": "see the wiki"}
    answer = {"systemMessage": "the guard ran", "hookSpecificOutput": {**own, "updatedInput": {"command": "ls"}}}
    outcome = answers.from_process("PreToolUse", 2, json.dumps(answer), "not here\n")
    assert (outcome.status, outcome.text, outcome.exit_code) == ("blocked", "not here", 2)
    assert (outcome.system_message, outcome.context) == ("the guard ran", "see the wiki")
    assert outcome.decision is None and outcome.updated_input is None
    outcome = answers.from_process("PostToolUse", 2, '{"continue": false, "stopReason": "enough"}', "x")
    assert (outcome.status, outcome.text) == ("prevented", "enough")
    own = {"hookEventName": "Elicitation", "action": "accept"}
    outcome = answers.from_process("Elicitation", 2, json.dumps({"hookSpecificOutput": own}), "no")
    assert (outcome.status, dict(outcome.specific)) == ("blocked", {})


def test_without_words_on_stderr_exit_code_2_is_explained_by_what_was_printed() -> None:
    assert answers.from_process("Stop", 2, "the tests fail\n", "").text == "the tests fail"


def test_a_permission_decision_counts_whatever_the_exit_code_is() -> None:
    own = {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "no"}}
    outcome = answers.from_process("PermissionRequest", 2, json.dumps({"hookSpecificOutput": own}), "x")
    assert (outcome.decision, outcome.text) == ("deny", "no")


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostModelSwitch"])
def test_text_that_only_begins_like_json_is_text_where_text_is_context(event: HookEvent) -> None:
    outcome = answers.from_process(event, 0, "{branch} is main\n", "")
    assert (outcome.status, outcome.context) == ("success", "{branch} is main")
    assert answers.from_server(event, "{branch} is main").status == "error"


def test_a_byte_order_mark_before_an_answer_changes_nothing() -> None:
    answer = json.dumps({"decision": "block", "reason": "r"})
    assert answers.from_process("PreToolUse", 0, f"\ufeff{answer}", "").decision == "deny"
    assert answers.from_process("UserPromptSubmit", 0, "\ufeffwords", "").context == "words"
    assert answers.from_server("PreToolUse", f"\ufeff{answer}").decision == "deny"


def test_half_a_character_in_an_answer_does_not_undo_it() -> None:
    outcome = answers.from_process("PreToolUse", 0, r'{"decision": "block", "reason": "\ud83d.txt is odd"}', "")
    assert (outcome.decision, outcome.text) == ("deny", "\ufffd.txt is odd")


def test_a_call_that_is_deferred_waits_as_it_is() -> None:
    own = {"hookEventName": "PreToolUse", "permissionDecision": "defer", "updatedInput": {"command": "ls"}}
    outcome = answers.from_json("PreToolUse", {"hookSpecificOutput": {**own, "additionalContext": "c"}})
    assert (outcome.decision, outcome.updated_input, outcome.context) == ("defer", None, "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('```json\n{"ok": false, "reason": "in a fence"}\n```', "in a fence"),
        ('{"ok": false, "reason": "words follow"}\nI am sure {really}.', "words follow"),
        ('The set {a, b} is odd. {"ok": false, "reason": "words before"}', "words before"),
        ('Not {"ok": true}, since {"ok": false, "reason": "the last one counts"}', "the last one counts"),
    ],
)
def test_a_verdict_is_found_among_the_words_around_it(text: str, reason: str) -> None:
    outcome = answers.from_verdict("Stop", text, ends_turn=True)
    assert (outcome.status, outcome.text) == ("blocked", reason)


@pytest.mark.parametrize(
    ("event", "ends", "status"),
    [
        ("PostToolUse", True, "prevented"),
        ("PostToolUse", False, "blocked"),
        ("TeammateIdle", True, "prevented"),
        ("TeammateIdle", False, "blocked"),
        ("PostToolUseFailure", True, "blocked"),
        ("UserPromptSubmit", True, "blocked"),
        ("PermissionDenied", True, "success"),
    ],
)
def test_what_a_models_no_does_depends_on_the_event(event: HookEvent, ends: bool, status: str) -> None:
    assert answers.from_verdict(event, '{"ok": false, "reason": "no"}', ends_turn=ends).status == status


def test_only_the_names_of_folders_are_filled_into_a_line_without_a_shell() -> None:
    entry = {"command": "${CLAUDE_PROJECT_DIR}/check", "args": ["-c", "echo $HOME '$PATH'", "${CLAUDE_PLUGIN_ROOT}/x"]}
    (handler,), _ = parse_entry("Stop", entry, HookOrigin(file="f"))
    env = {"CLAUDE_PROJECT_DIR": "/p q", "CLAUDE_PLUGIN_ROOT": "/plugin", "HOME": "/home/me", "PATH": "/bin"}
    assert command_line(handler, env) == ["/p q/check", "-c", "echo $HOME '$PATH'", "/plugin/x"]


def test_what_a_skill_brings_along_runs_beside_the_same_line_in_the_settings() -> None:
    def made(source: str, file: str) -> Handler:
        return parse_entry("Stop", {"command": "check"}, HookOrigin(file=file, source=source))[0][0]

    found = once_each([made("user", "a"), made("project", "b"), made("skill", "c"), made("skill", "c")])
    assert [handler.origin.file for handler in found] == ["a", "c"]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("rate_limit_error", "rate_limit"),
        ("overloaded_error", "overloaded"),
        ("authentication_error", "authentication_failed"),
        ("billing_error", "billing_error"),
        ("invalid_request_error", "invalid_request"),
        ("not_found_error", "model_not_found"),
        ("api_error", "server_error"),
        ("max_output_tokens_exhausted", "max_output_tokens"),
        ("something new", "unknown"),
    ],
)
def test_a_failure_has_the_name_that_matchers_of_stop_failure_know(kind: str, name: str) -> None:
    assert failure_name(kind) == name


def test_what_runs_in_the_background_is_told_as_scripts_read_it() -> None:
    job = {"jobId": "j1", "command": "x" * 2_000, "state": "running"}
    agent = {"agentId": "a1", "name": "explore", "title": "look", "state": "running", "background": True}
    shell, helper = background_tasks(
        [job, {**job, "state": "exited"}], [agent, {**agent, "background": False}, {**agent, "state": "finished"}]
    )
    assert (shell["id"], shell["type"], shell["status"]) == ("j1", "shell", "running")
    assert shell["command"] == shell["description"] == "x" * 1_000 + "… [+1000 chars]"
    wanted = {"id": "a1", "type": "subagent", "status": "running", "description": "look", "agent_type": "explore"}
    assert helper == wanted


# --- in the whole program ---------------------------------------------------------------------------------------------


class Person:
    """Allows what it is asked about; answers no question."""

    flags = FrontFlags(permissions=True, elicitation=True, partials=True, max_event_rate=0)

    def __init__(self) -> None:
        self.questions = 0

    def event(self, published: Any) -> None: ...

    async def ask(self, ask: PermissionAsk) -> Json:
        return {"decision": "allow"}

    async def elicit(self, elicit: Elicit) -> Json:
        self.questions += 1
        return {"action": "cancel"}

    def withdraw(self, request_id: str) -> None: ...


class Talk:
    """A home with hooks, and a model that calls what the prompt names: `CALL ["Bash", {"command": "true"}]`."""

    def __init__(self, root: Path, api: FakeApi) -> None:
        self.root, self.api, self.cwd = root, api, root / "project"
        self.cwd.mkdir()
        self.person = Person()
        self.hooks: Json = {}
        self.allow = ["Bash", "Edit", "Write"]
        self.settings: Json = {}
        self.results: list[Json] = []
        self.title = ""
        api.otherwise(self._model)

    def hook(self, event: str, lines: str, *, matcher: str = "", **more: Any) -> None:
        script = self.root / f"{event}-{len(self.hooks.get(event, []))}.sh"
        script.write_text(
            f"#!/bin/bash\ninput=$(cat)\nprintf '%s\\n' \"$input\" >> {self.root}/{event}.given\n{lines}\n"
        )
        handler = {"type": "command", "command": f"bash {script}", **more}
        self.hooks.setdefault(event, []).append({"matcher": matcher, "hooks": [handler]})

    def given(self, event: str) -> list[Json]:
        file = self.root / f"{event}.given"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    async def say(self, *prompts: str, then: Callable[[App, str], Any] | None = None) -> None:
        settings = {"hooks": self.hooks, "permissions": {"allow": self.allow}, **self.settings}
        async with headless(Options(interactive=True, settings=settings)) as app:
            call = Call(front=self.person)
            session = (await app.sessions.request("assent/session/new", {"cwd": str(self.cwd)}, call))["sessionId"]
            for prompt in prompts:
                params = {"sessionId": session, "prompt": prompt, "wait": True}
                self.results.append((await app.sessions.request("assent/session/send", params, call))["result"])
            self.title = app.sessions.live[session].title
            if then is not None:
                await then(app, session)

    def read_by_the_model(self) -> str:
        return json.dumps([call.body for call in self.api.calls])

    def _model(self, request: Request) -> Any:
        if any(block.get("type") == "tool_result" for _, block in request.blocks[-1:]):
            return Reply(parts=(text("Done."),))
        words = request.last_text
        if "FAIL" in words:
            return failure(int(words.split("FAIL ")[1][:3]), "the test wants this to fail")
        if "CALL " in words:
            (name, given), _ = json.JSONDecoder().raw_decode(words[words.index("CALL ") + 5 :])
            return Reply(parts=(tool(name, given),))
        return Reply(parts=(text("Hello."),))


@pytest.fixture
async def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        yield Talk(tmp_path, api)


def called(name: str, **given: Any) -> str:
    return f"CALL {json.dumps([name, given])}"


QUESTION = {"question": "Which colour?", "header": "Colour", "options": [{"label": "red"}, {"label": "blue"}]}


@pytest.mark.parametrize(("answer", "words"), [("blue", "blue"), (["red", "blue"], "red, blue")])
async def test_a_hook_that_asked_in_its_own_way_answers_a_question_for_the_person(
    talk: Talk, answer: object, words: str
) -> None:
    given = {"questions": [QUESTION], "answers": {"Which colour?": answer}}
    own = {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": given}
    talk.hook("PreToolUse", f"echo '{json.dumps({'hookSpecificOutput': own})}'", matcher="AskUserQuestion")
    talk.hook("PostToolUse", "")
    await talk.say(called("AskUserQuestion", questions=[QUESTION]))
    assert f"Which colour? \\u2192 {words}" in talk.read_by_the_model() and talk.person.questions == 0
    assert talk.given("PostToolUse")[0]["tool_response"]["answers"] == {"Which colour?": words}


async def test_the_model_itself_cannot_answer_for_the_person(talk: Talk) -> None:
    await talk.say(called("AskUserQuestion", questions=[QUESTION], answers={"Which colour?": "blue"}))
    assert "The user answered" not in talk.read_by_the_model()


async def test_stop_is_told_of_a_command_that_still_runs(talk: Talk) -> None:
    talk.hook("Stop", "")
    await talk.say(called("Bash", command="sleep 300", run_in_background=True))
    (given,) = talk.given("Stop")
    (task,) = given["background_tasks"]
    assert (task["type"], task["status"], task["command"]) == ("shell", "running", "sleep 300")


@pytest.mark.parametrize(("status", "name"), [(400, "invalid_request"), (404, "model_not_found")])
async def test_a_matcher_of_stop_failure_hears_of_its_failure_only(talk: Talk, status: int, name: str) -> None:
    talk.hook("StopFailure", "", matcher=name)
    talk.hook("StopFailure", "touch wrong", matcher="rate_limit|overloaded")

    async def ran(app: App, session: str) -> None:
        with anyio.fail_after(120):
            while not talk.given("StopFailure"):  # noqa: ASYNC110 -- what is waited for is a file
                await anyio.sleep(0.02)

    await talk.say(f"FAIL {status}", then=ran)
    assert [each["error"] for each in talk.given("StopFailure")] == [name]
    assert not (talk.cwd / "wrong").exists()


async def test_a_prompt_that_a_hook_blocks_reaches_no_model_and_is_not_repeated(talk: Talk) -> None:
    own = {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": True}
    answer = {"decision": "block", "reason": "it holds a secret", "hookSpecificOutput": own}
    talk.hook("UserPromptSubmit", f"""[[ $input == *hunter2* ]] && echo '{json.dumps(answer)}' || true""")
    await talk.say("the password is hunter2", "hello")
    blocked, answered = talk.results
    assert "it holds a secret" in json.dumps(blocked) and "hunter2" not in json.dumps(blocked)
    assert answered["result"] == "Hello." and "hunter2" not in talk.read_by_the_model()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("echo 'run the formatter' >&2; exit 2", "run the formatter"),
        ("""echo '{"decision": "block", "reason": "mind the style"}'""", "mind the style"),
    ],
)
@pytest.mark.parametrize(
    ("event", "command"), [("PostToolUse", "echo visible"), ("PostToolUseFailure", "echo no; false")]
)
async def test_after_a_call_the_words_of_a_hook_stand_beside_its_result(
    talk: Talk, event: str, command: str, lines: str, words: str
) -> None:
    talk.hook(event, lines)
    await talk.say(called("Bash", command=command))
    assert talk.results[0]["terminal"] == "completed"
    read = json.dumps(talk.api.calls[-1].body)
    assert words in read and command.split()[1].rstrip(";") in read


@pytest.mark.parametrize(("key", "counts"), [("updatedMCPToolOutput", False), ("updatedToolOutput", True)])
async def test_output_for_servers_replaces_that_of_servers_only(talk: Talk, key: str, counts: bool) -> None:
    own = {"hookEventName": "PostToolUse", key: "put-in-its-place"}
    talk.hook("PostToolUse", f"echo '{json.dumps({'hookSpecificOutput': own})}'")
    await talk.say(called("Bash", command="echo visible"))
    assert ("put-in-its-place" in talk.read_by_the_model()) is counts


async def test_a_subagent_is_told_what_its_start_hook_says_and_sent_back_by_its_stop_hook(talk: Talk) -> None:
    own = {"hookEventName": "SubagentStart", "additionalContext": "the staging host is down"}
    talk.hook("SubagentStart", f"echo '{json.dumps({'hookSpecificOutput': own})}'", matcher="general-purpose")
    once = f"test -e {talk.root}/sent && exit 0; touch {talk.root}/sent"
    talk.hook("SubagentStop", f"{once}; echo 'list the files too' >&2; exit 2")
    talk.allow.append("Agent")
    await talk.say(called("Agent", prompt="Say hello.", description="hello", subagent_type="general-purpose"))
    assert "the staging host is down" in json.dumps(talk.api.calls[1].body)
    assert "list the files too" in json.dumps(talk.api.calls[2].body)
    (given,) = talk.given("SubagentStop")
    assert (given["stop_hook_active"], given["last_assistant_message"]) == (False, "Hello.")


async def test_a_start_hook_names_the_session_but_not_after_clear(talk: Talk) -> None:
    own = {"hookEventName": "SessionStart", "sessionTitle": "By the hook"}
    talk.hook("SessionStart", f"echo '{json.dumps({'hookSpecificOutput': own})}'", matcher="clear")
    await talk.say("hello", "/clear")
    assert talk.given("SessionStart")[0]["source"] == "clear" and talk.title != "By the hook"


IF_RULES = [
    ("Bash(git *)", "FOO=bar git push", True),
    ("Bash(git *)", "npm test && git push", True),
    ("Bash(rm *)", "echo $(rm -rf /)", True),
    ("Bash(rm *)", "echo fine", False),
    ("Bash(git push *)", "echo $(date)", True),
    ("Bash(git push *)", "git status", False),
    ("Bash(rm *)", "echo 'unclosed", True),
    ("Edit(*.ts)", "true", False),
]


async def test_the_if_rule_holds_for_the_commands_that_it_holds_for_elsewhere(talk: Talk) -> None:
    async def judged(app: App, _session: str) -> None:
        covers = app.deciding.matches_rule
        found = {(rule, line): covers(rule, "Bash", {"command": line}, str(talk.cwd)) for rule, line, _ in IF_RULES}
        assert found == {(rule, line): runs for rule, line, runs in IF_RULES}
        for path, runs in (("src/a.ts", True), ("a.py", False)):
            assert covers("Edit(*.ts)", "Edit", {"file_path": str(talk.cwd / path)}, str(talk.cwd)) is runs

    await talk.say(then=judged)


async def test_hooks_run_outside_the_fence_that_commands_run_in(talk: Talk) -> None:
    talk.settings = {"sandbox": {"scope": "all"}}
    talk.hook("PreToolUse", f"touch {talk.root}/outside")
    await talk.say(called("Bash", command="true"))
    assert (talk.root / "outside").exists()
