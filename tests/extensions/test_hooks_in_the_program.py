"""Hooks of settings files in the whole program: each event with a real script, what it gets and may change (H)."""

from __future__ import annotations

import io
import json
import stat
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest

from assent.app import App, Options, headless
from assent.cli import hooks as hooks_command
from assent.cli.ask import Printer
from assent.cli.preflight import UsageError
from assent.sessions.stream.front import Call
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.hooks import EVENTS
from fakeapi import FakeApi, text, tool


class Project:
    """A project folder, a home, and scripts that write down what they were given."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.cwd = root / "project"
        self.given = root / "given.jsonl"
        self.settings = self.home / ".config" / "assent" / "settings.json"
        for folder in (self.home, self.cwd, self.settings.parent):
            folder.mkdir(parents=True)

    def script(self, body: str, name: str = "hook.sh") -> str:
        """A shell script; it first keeps its input, and the variables that scripts rely on."""
        path = self.root / name
        keep = f'input=$(cat); printf "%s\\n" "$input" >> {self.given}; env > {self.root}/env-{name}\n'
        path.write_text("#!/bin/bash\n" + keep + body + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def hooks(self, hooks: Json, **more: Any) -> None:
        self.settings.write_text(json.dumps({"hooks": hooks, **more}))

    def on(self, event: str, body: str, more: Json | None = None, *, matcher: str = "") -> None:
        entry = {"type": "command", "command": self.script(body), **(more or {})}
        self.hooks({event: [{"matcher": matcher, "hooks": [entry]}]})

    def inputs(self) -> list[Json]:
        return [json.loads(line) for line in self.given.read_text().splitlines()] if self.given.exists() else []

    def environment(self, name: str = "hook.sh") -> dict[str, str]:
        lines = (self.root / f"env-{name}").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-not-a-real-key-0123456789")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return made


class Run:
    """One conversation: its events and results."""

    def __init__(self, app: App, session_id: str, front: Any) -> None:
        self.app = app
        self.id = session_id
        self.front = front
        self.results: list[Json] = []

    async def say(self, prompt: str) -> Json:
        params = {"sessionId": self.id, "prompt": prompt, "wait": True}
        answer = await self.app.sessions.request("assent/session/send", params, Call(front=self.front))
        self.results.append(answer["result"])
        return answer["result"]

    def log(self) -> list[Json]:
        session = self.app.sessions.live[self.id]
        return list(reversed(self.app.session_hooks.logged(self.id, session.record.paths.folder, None)["runs"]))


class Listener(Printer):
    def __init__(self) -> None:
        super().__init__(stream=False)
        self.seen: list[Any] = []


async def converse(
    project: Project, *prompts: str, settings: Json | None = None, interactive: bool = False
) -> tuple[Run, list[Json]]:
    """Say each prompt to the offline model; gives the run and the hook log."""
    async with headless(Options(source_seconds=60, offline=True, interactive=interactive, settings=settings)) as app:
        front = Listener()
        opened = await app.sessions.request("assent/session/new", {"cwd": str(project.cwd)}, Call(front=front))
        run = Run(app, opened["sessionId"], front)
        for prompt in prompts:
            await run.say(prompt)
        return run, run.log()


ALLOW = {"permissions": {"allow": ["Bash"]}}


async def test_pre_tool_use_gets_the_call_and_exit_code_2_denies_it_with_its_words(project: Project) -> None:
    project.on("PreToolUse", "echo 'no files on Fridays' >&2; exit 2", matcher="Bash")
    run, log = await converse(project, "run `touch made`", settings=ALLOW)
    assert not (project.cwd / "made").exists()
    (given,) = project.inputs()
    assert given["hook_event_name"] == "PreToolUse" and given["tool_name"] == "Bash"
    assert given["tool_input"]["command"] == "touch made" and given["tool_use_id"]
    assert given["session_id"] == run.id and given["cwd"] == str(project.cwd)
    assert Path(given["transcript_path"]).name == f"{run.id}.jsonl" and given["permission_mode"] == "default"
    (entry,) = log
    assert (entry["event"], entry["outcome"], entry["exitCode"], entry["changed"]) == ("PreToolUse", "blocked", 2, True)
    assert entry["text"] == "no files on Fridays" and entry["toolUseId"] == given["tool_use_id"]


async def test_a_hook_runs_in_the_session_s_folder_with_the_names_scripts_rely_on_and_without_our_key(
    project: Project,
) -> None:
    project.on("PreToolUse", 'pwd > "$ASSENT_PROJECT_DIR/where"')
    await converse(project, "run `true`", settings=ALLOW)
    env = project.environment()
    assert (project.cwd / "where").read_text().strip() == str(project.cwd)
    for name in ("ASSENT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"):
        assert env[name] == str(project.cwd)
    assert env["ASSENT_SESSION_ID"] and "ANTHROPIC_API_KEY" not in env
    assert not any("sk-ant-not-a-real-key" in value for value in env.values())


@pytest.mark.parametrize("decision", ["allow", "deny", "ask", "defer"])
async def test_a_decision_counts_with_nobody_there_only_allow_lets_the_call_run(
    project: Project, decision: str
) -> None:
    answer = {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": "because"}
    project.on("PreToolUse", f"echo '{json.dumps({'hookSpecificOutput': answer})}'")
    await converse(project, "run `touch made`")
    assert (project.cwd / "made").exists() is (decision == "allow")


async def test_a_hook_s_allow_passes_no_deny_rule_no_ask_rule_and_not_the_iron_gate(project: Project) -> None:
    answer = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}})
    project.on("PreToolUse", f"echo '{answer}'")
    (project.cwd / ".git").mkdir()
    for rules, command in (
        ({"deny": ["Bash(touch:*)"]}, "touch denied"),
        ({"ask": ["Bash(touch:*)"]}, "touch asked"),
        ({}, "touch .git/iron"),
    ):
        await converse(project, f"run `{command}`", settings={"permissions": rules})
        assert not (project.cwd / command.split()[1]).exists(), command


async def test_rewritten_input_runs_instead_and_is_judged_again_from_the_start(project: Project) -> None:
    def answer(command: str) -> str:
        own = {"hookEventName": "PreToolUse", "updatedInput": {"command": command}}
        return f"echo '{json.dumps({'hookSpecificOutput': own})}'"

    project.on("PreToolUse", answer("touch other"))
    await converse(project, "run `touch made`", settings=ALLOW)
    assert (project.cwd / "other").exists() and not (project.cwd / "made").exists()
    project.on("PreToolUse", answer("touch forbidden"))
    rules = {"permissions": {"allow": ["Bash"], "deny": ["Bash(touch forbidden)"]}}
    await converse(project, "run `touch made`", settings=rules)
    assert not (project.cwd / "forbidden").exists()


@pytest.mark.parametrize(
    "instead", ["nothing to see", {"stdout": "nothing to see", "stderr": "", "interrupted": False}]
)
async def test_post_tool_use_sees_the_result_and_replaces_what_the_model_reads(
    project: Project, instead: object
) -> None:
    own = {"hookEventName": "PostToolUse", "updatedToolOutput": instead, "additionalContext": "mind the gap"}
    project.on("PostToolUse", f"echo '{json.dumps({'hookSpecificOutput': own})}'")
    run, log = await converse(project, "run `echo visible`", settings=ALLOW)
    (given,) = project.inputs()
    assert given["tool_response"]["stdout"] == "visible" and given["duration_ms"] >= 0
    text = _transcript(project, run.id)
    assert '"nothing to see"' in text and "mind the gap" in text and "stdout" not in text
    assert log[0]["changed"] is True


async def test_a_failed_call_fires_its_own_event(project: Project) -> None:
    script = project.script("")
    project.hooks({event: [{"hooks": [{"command": script}]}] for event in ("PostToolUse", "PostToolUseFailure")})
    await converse(project, "run `false`", settings=ALLOW)
    (given,) = project.inputs()
    assert given["hook_event_name"] == "PostToolUseFailure" and given["error"]


async def test_user_prompt_submit_adds_context_or_blocks_the_prompt(project: Project) -> None:
    project.on("UserPromptSubmit", "echo 'the build is red'")
    run, _ = await converse(project, "hello")
    (given,) = project.inputs()
    assert given["prompt"] == "hello"
    assert "the build is red" in _transcript(project, run.id)
    project.on("UserPromptSubmit", """echo '{"decision": "block", "reason": "no secrets please"}'""")
    run, _ = await converse(project, "hello")
    assert run.results[0]["terminal"] == "hook_stopped" and "no secrets please" in json.dumps(run.results[0])


async def test_stop_sends_the_model_back_to_work_with_its_reason(project: Project) -> None:  # L13
    project.on("Stop", "echo 'run `true` first' >&2; exit 2")
    run, log = await converse(project, "hello", settings=ALLOW)
    assert {entry["outcome"] for entry in log} == {"blocked"}
    given = project.inputs()
    assert given[0]["stop_hook_active"] is False and all(each["stop_hook_active"] for each in given[1:])
    assert given[0]["last_assistant_message"]
    assert run.results[0]["terminal"] == "completed" and "run `true` first" in _transcript(project, run.id)


async def test_continue_false_ends_the_turn(project: Project) -> None:
    project.on("PostToolUse", """echo '{"continue": false, "stopReason": "enough for today"}'""")
    run, _ = await converse(project, "run `true`", settings=ALLOW)
    assert run.results[0]["terminal"] == "hook_stopped"
    assert "enough for today" in json.dumps(run.results[0])


async def test_permission_request_answers_instead_of_a_person(project: Project) -> None:
    def answer(**decision: Any) -> str:
        own = {"hookEventName": "PermissionRequest", "decision": decision}
        return f"echo '{json.dumps({'hookSpecificOutput': own})}'"

    project.on("PermissionRequest", answer(behavior="allow"))
    await converse(project, "run `touch made`")
    assert (project.cwd / "made").exists()
    (given,) = project.inputs()
    assert given["tool_name"] == "Bash" and isinstance(given["permission_suggestions"], list)
    assert "tool_use_id" not in given
    project.on("PermissionRequest", answer(behavior="deny", message="not today"))
    run, log = await converse(project, "run `touch second`")
    assert not (project.cwd / "second").exists() and "not today" in _transcript(project, run.id)
    project.on("PermissionRequest", "exit 2")
    run, log = await converse(project, "run `touch third`")
    assert log[0]["outcome"] == "error"


async def test_the_if_rule_decides_which_calls_a_hook_gets(project: Project) -> None:
    project.on("PreToolUse", "", {"if": "Bash(touch:*)"}, matcher="Bash")
    await converse(project, "run `true`", "run `touch made`", settings=ALLOW)
    assert [given["tool_input"]["command"] for given in project.inputs()] == ["touch made"]


async def test_an_if_rule_on_an_event_without_a_call_never_holds(project: Project) -> None:
    project.on("UserPromptSubmit", "", {"if": "Bash(touch:*)"})
    _, log = await converse(project, "run `touch made`", settings=ALLOW)
    assert log == [] and project.inputs() == []


async def test_the_same_hook_in_two_files_runs_once_and_all_that_match_run(project: Project) -> None:
    one, two = project.script("", "one.sh"), project.script("", "two.sh")
    project.hooks({"PreToolUse": [{"hooks": [{"command": one}, {"command": two}]}]})
    claude = project.home / ".claude" / "settings.json"
    claude.parent.mkdir()
    claude.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"command": one}]}]}}))
    _, log = await converse(project, "run `true`", settings=ALLOW)
    assert sorted(Path(entry["command"]).name for entry in log) == ["one.sh", "two.sh"]


async def test_hooks_of_an_untrusted_project_never_run_and_are_listed_as_withheld(project: Project) -> None:
    script = project.script("")
    for name in (".assent/settings.json", ".claude/settings.json", ".github/hooks/x.json"):
        path = project.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"command": script, "env": {"A": name}}]}]}}))
    async with headless(Options(source_seconds=60, offline=True, interactive=False, settings=ALLOW)) as app:
        opened = await app.sessions.request("assent/session/new", {"cwd": str(project.cwd)}, Call())
        run = Run(app, opened["sessionId"], None)
        await run.say("run `true`")
        listed = app.session_hooks.listed(str(project.cwd))
        assert [hook["active"] for hook in listed] == [False] * 3 and all(hook["withheld"] for hook in listed)
        assert all(hook["command"] == script for hook in listed)
    assert project.inputs() == []


# --- what goes wrong --------------------------------------------------------------------------------------------------

ODD: dict[str, tuple[str, Callable[[Json], bool]]] = {
    "odd exit": ("exit 77", lambda entry: entry["outcome"] == "error" and entry["exitCode"] == 77),
    "killed by itself": ("kill -9 $$", lambda entry: entry["outcome"] == "error"),
    "10 MB": ("head -c 10000000 /dev/zero | tr '\\0' x", lambda entry: entry["outcome"] == "success"),
    "10 MB of complaints": ("head -c 10000000 /dev/zero >&2; exit 1", lambda entry: entry["outcome"] == "error"),
    "invalid UTF-8": (r"printf '\xff\xfe{\xc3('", lambda entry: entry["outcome"] == "success"),
    "broken JSON": ("echo '{\"decision\": '", lambda entry: entry["outcome"] == "error"),
    "closed stdin": ("exec 0<&-; cat <&0; true", lambda entry: entry["outcome"] == "success"),
    "children left": ("sleep 300 & sleep 300 & disown; echo fine", lambda entry: entry["outcome"] == "success"),
    "closed stdout": ("exec 1>&- 2>&-; echo x", lambda entry: entry["outcome"] in ("success", "error")),
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ODD)
async def test_a_hook_that_misbehaves_is_named_and_the_call_goes_on(project: Project, kind: str) -> None:
    body, fits = ODD[kind]
    project.on("PreToolUse", body)
    run, log = await converse(project, "run `touch made`", settings=ALLOW)
    assert (project.cwd / "made").exists() and run.results[0]["terminal"] == "completed"
    assert len(log) == 1 and fits(log[0]), log
    assert len(json.dumps(log[0])) < 20_000
    assert log[0]["source"].startswith(f"{project.settings}:")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("must", [False, True])
async def test_a_hook_that_hangs_is_ended_and_blocks_only_where_it_must_not_fail(project: Project, must: bool) -> None:
    project.on("PreToolUse", "sleep 300", {"timeout": 0.3, **({"onFailure": "block"} if must else {})})
    _, log = await converse(project, "run `touch made`", settings=ALLOW)
    assert (project.cwd / "made").exists() is not must
    assert log[0]["outcome"] == ("blocked" if must else "timeout")


async def test_a_program_that_does_not_exist_is_named(project: Project) -> None:
    project.hooks({"PreToolUse": [{"hooks": [{"command": "/no/such/program", "args": []}]}]})
    _, log = await converse(project, "run `touch made`", settings=ALLOW)
    assert (project.cwd / "made").exists()
    assert log[0]["outcome"] == "error" and "no program /no/such/program" in log[0]["text"]


def _transcript(project: Project, session_id: str) -> str:
    (path,) = (project.home / ".local/share/assent/sessions").glob(f"*/{session_id}.jsonl")
    return path.read_text()


# --- events of a session ----------------------------------------------------------------------------------------------


async def test_session_start_and_end_run_and_the_first_prompt_waits_for_what_start_prints(project: Project) -> None:
    start = project.script(
        'sleep 0.3; echo "we are on branch main"; echo "export GREETING=hello" >> "$CLAUDE_ENV_FILE"', "start.sh"
    )
    end = project.script("", "end.sh")
    project.hooks(
        {
            "SessionStart": [{"matcher": "startup", "hooks": [{"command": start}]}],
            "SessionEnd": [{"command": end, "timeout": 60}],  # what it has otherwise, a busy machine exceeds
        }
    )
    async with headless(Options(source_seconds=60, offline=True, interactive=False, settings=ALLOW)) as app:
        opened = await app.sessions.request("assent/session/new", {"cwd": str(project.cwd)})
        run = Run(app, opened["sessionId"], Listener())
        await run.say("run `printenv GREETING`")
        await app.sessions.request("assent/session/close", {"sessionId": run.id})  # the program's end waits less for it
    events = [(given["hook_event_name"], given.get("source"), given.get("reason")) for given in project.inputs()]
    assert events == [("SessionStart", "startup", None), ("SessionEnd", None, "other")]
    assert "we are on branch main" in _transcript(project, run.id)
    assert '"content":"hello' in _transcript(project, run.id).replace(": ", ":")
    log = (project.home / ".local/share/assent/sessions").glob(f"*/{run.id}/hooks.jsonl")
    assert [json.loads(line)["event"] for line in next(log).read_text().splitlines()] == ["SessionStart", "SessionEnd"]


async def test_a_resumed_and_a_forked_session_say_so(project: Project) -> None:
    project.on("SessionStart", "", matcher="resume|fork")
    async with headless(Options(source_seconds=60, offline=True, interactive=False)) as app:
        opened = await app.sessions.request("assent/session/new", {"cwd": str(project.cwd)})
        run = Run(app, opened["sessionId"], Listener())
        await run.say("hello")
        forked = await app.sessions.request("assent/session/fork", {"sessionId": run.id})
        await Run(app, forked["sessionId"], Listener()).say("hello")
        await app.sessions.request("assent/session/close", {"sessionId": run.id})
        await run.say("hello again")
    assert [given["source"] for given in project.inputs()] == ["fork", "resume"]


async def test_a_batch_of_calls_fires_once_and_can_end_the_turn(project: Project) -> None:
    project.on("PostToolBatch", """echo '{"decision": "block", "reason": "look at the plan first"}'""")
    run, _ = await converse(project, "run `true`", settings=ALLOW)
    (given,) = project.inputs()
    assert [call["tool_name"] for call in given["tool_calls"]] == ["Bash"]
    assert run.results[0]["terminal"] == "hook_stopped" and "look at the plan first" in json.dumps(run.results[0])


async def test_the_model_is_not_switched_where_a_hook_denies_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"hookEventName": "PreModelSwitch", "permissionDecision": "deny", "permissionDecisionReason": "too dear"}
    project.on("PreModelSwitch", f"echo '{json.dumps({'hookSpecificOutput': own})}'")
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        async with headless(Options(source_seconds=60, interactive=False)) as app:
            opened = await app.sessions.request("assent/session/new", {"cwd": str(project.cwd)})
            with pytest.raises(ProtocolError, match="too dear"):
                params = {"sessionId": opened["sessionId"], "model": "claude-opus-4-8"}
                await app.sessions.request("assent/session/configure", params)
    (given,) = project.inputs()
    assert given["new_model"] == "claude-opus-4-8"


async def test_that_hooks_of_another_tool_run_is_said_once_with_the_way_to_turn_it_off(project: Project) -> None:
    claude = project.home / ".claude" / "settings.json"
    claude.parent.mkdir()
    claude.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}))
    said: list[int] = []
    for _ in range(2):
        async with headless(Options(source_seconds=60, offline=True, interactive=False)) as app:
            opened = await app.sessions.request("assent/session/new", {"cwd": str(project.cwd)})
            session = app.sessions.live[opened["sessionId"]]
            texts = [str(event) for event in session.events.replay(0) or []]
            said.append(sum("readClaudeSettings" in text for text in texts))
    assert said == [1, 0]


# --- handlers of other kinds ------------------------------------------------------------------------------------------


async def test_an_async_hook_is_not_waited_for_and_its_context_comes_with_the_next_prompt(project: Project) -> None:
    own = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "the linter is unhappy"}}
    project.on("PostToolUse", f"sleep 0.2; echo '{json.dumps(own)}'; touch {project.root}/done", {"async": True})
    async with headless(Options(source_seconds=60, offline=True, interactive=False, settings=ALLOW)) as app:
        opened = await app.sessions.request("assent/session/new", {"cwd": str(project.cwd)})
        run = Run(app, opened["sessionId"], Listener())
        await run.say("run `true`")
        assert "unhappy" not in _transcript(project, run.id)
        with anyio.fail_after(120):
            while not run.log():  # noqa: ASYNC110 -- the log is what a client polls
                await anyio.sleep(0.02)
        await run.say("hello")
        assert "the linter is unhappy" in _transcript(project, run.id)


async def test_an_http_hook_posts_its_input_with_allowed_variables_only(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_TEAM", "blue")
    monkeypatch.setenv("HOOK_SECRET", "hidden")
    own = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "says the server"}
    with http_server([(200, json.dumps({"hookSpecificOutput": own}))]) as (url, requests):
        headers = {"X-Team": "$HOOK_TEAM", "X-Secret": "${HOOK_SECRET}"}
        handler = {"type": "http", "url": url, "headers": headers, "allowedEnvVars": ["HOOK_TEAM"]}
        project.hooks({"PreToolUse": [{"hooks": [handler]}]})
        run, log = await converse(project, "run `touch made`", settings=ALLOW)
    ((sent, body),) = requests
    assert body["tool_input"]["command"] == "touch made"
    assert sent["X-Team"] == "blue" and "hidden" not in sent.get("X-Secret", "")
    assert not (project.cwd / "made").exists() and "says the server" in _transcript(project, run.id)
    assert log[0]["changed"] is True


async def test_settings_limit_which_servers_hooks_call_and_which_variables_they_send(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_TEAM", "blue")
    monkeypatch.setenv("HOOK_SECRET", "hidden")
    with http_server([(200, "{}"), (200, "{}")]) as (url, requests):
        headers = {"X-Team": "$HOOK_TEAM", "X-Secret": "$HOOK_SECRET"}
        handler = {"type": "http", "url": url, "headers": headers, "allowedEnvVars": ["HOOK_TEAM", "HOOK_SECRET"]}
        project.hooks({"UserPromptSubmit": [{"hooks": [handler]}]})
        limits: Json = {"allowedHttpHookUrls": ["https://hooks.example.com/*"]}
        _, log = await converse(project, "hello", settings=limits)
        assert not requests and log[0]["outcome"] == "error" and "allowedHttpHookUrls" in log[0]["text"]
        limits = {"allowedHttpHookUrls": ["http://127.0.0.1:*"], "httpHookAllowedEnvVars": ["HOOK_TEAM"]}
        _, log = await converse(project, "hello", settings=limits)
    ((sent, _),) = requests
    assert sent["X-Team"] == "blue" and sent["X-Secret"] == "" and log[-1]["outcome"] == "success"


@pytest.mark.parametrize("must", [False, True])
async def test_a_server_that_fails_blocks_only_where_it_must_not(project: Project, must: bool) -> None:
    with http_server([(500, "broken")]) as (url, _):
        handler = {"type": "http", "url": url, **({"onFailure": "block"} if must else {})}
        project.hooks({"PreToolUse": [{"hooks": [handler]}]})
        _, log = await converse(project, "run `touch made`", settings=ALLOW)
    assert (project.cwd / "made").exists() is not must
    assert log[0]["outcome"] == ("blocked" if must else "error") and "500" in log[0]["text"]


async def test_plain_words_of_a_server_are_an_error_and_no_context(project: Project) -> None:
    with http_server([(200, "all is well")]) as (url, _):
        project.hooks({"UserPromptSubmit": [{"hooks": [{"type": "http", "url": url}]}]})
        _, log = await converse(project, "hello")
    assert (log[0]["outcome"], log[0]["changed"]) == ("error", False) and "all is well" in log[0]["text"]


async def test_a_prompt_hook_asks_the_small_model_and_its_no_denies_the_call(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        api.reply(tool("Bash", {"command": "touch made"}))
        api.reply(text('{"ok": false, "reason": "it creates a file"}'))
        api.reply(text("I stop."))
        handler = {"type": "prompt", "prompt": "Is this safe? $ARGUMENTS", "continueOnBlock": True}
        project.hooks({"PreToolUse": [{"hooks": [handler]}]})
        async with headless(Options(source_seconds=60, interactive=False, settings=ALLOW)) as app:
            opened = await app.sessions.request("assent/session/new", {"cwd": str(project.cwd)})
            run = Run(app, opened["sessionId"], Listener())
            await run.say("make a file")
            (entry,) = run.log()
        asked = json.dumps(api.calls[1].body)
        assert "Is this safe?" in asked and "touch made" in asked
    assert (entry["outcome"], entry["text"]) == ("blocked", "it creates a file")
    assert not (project.cwd / "made").exists() and "it creates a file" in _transcript(project, run.id)


@contextmanager
def http_server(answers: list[tuple[int, str]]) -> Generator[tuple[str, list[tuple[dict[str, str], Json]]]]:
    """A server on the loopback that gives these answers and keeps what it was sent."""
    seen: list[tuple[dict[str, str], Json]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            seen.append((dict(self.headers.items()), json.loads(body)))
            status, text = answers[min(len(seen), len(answers)) - 1]
            self.send_response(status)
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_hooks_are_listed_and_run_by_hand(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.on("PreToolUse", "echo 'not on a Friday' >&2; exit 2", matcher="Bash")
    assert hooks_command.run("list", None, cwd=project.cwd, json_output=False) == 0
    assert "PreToolUse Bash  command:" in capsys.readouterr().out
    assert hooks_command.run("test", "pretooluse", cwd=project.cwd, json_output=True, stdin=io.StringIO("")) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["outcome"], row["exitCode"], row["text"]) == ("blocked", 2, "not on a Friday")
    other = io.StringIO('{"tool_name": "Read", "tool_input": {"file_path": "x"}}')
    assert hooks_command.run("test", "PreToolUse", cwd=project.cwd, json_output=False, stdin=other) == 0
    assert "No active hook of PreToolUse matches for Read" in capsys.readouterr().out
    with pytest.raises(UsageError, match="is not a hook event"):
        hooks_command.run("test", "Sometimes", cwd=project.cwd, json_output=False, stdin=io.StringIO(""))


def test_there_is_an_example_of_every_event() -> None:
    assert set(hooks_command.EXAMPLES) == set(EVENTS)
    assert all(data for _, data in hooks_command.EXAMPLES.values())


async def test_a_path_that_a_hook_extends_still_has_what_it_had(project: Project) -> None:
    tools = project.root / "tools"
    tools.mkdir()
    (tools / "greet").write_text("#!/bin/sh\ntouch greeted\n")
    (tools / "greet").chmod(0o755)
    project.on("SessionStart", f"""echo 'export PATH="$PATH:{tools}"' >> "$CLAUDE_ENV_FILE\"""")
    await converse(project, "run `greet`", settings=ALLOW)
    assert (project.cwd / "greeted").exists()  # and `touch` was found on the rest of it


async def test_hooks_get_the_file_of_a_plan_and_may_give_the_input_back(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "dict(hookEventName='PreToolUse', permissionDecision='ask', updatedInput=json.load(sys.stdin)['tool_input'])"
    code = f"import json, sys; print(json.dumps(dict(hookSpecificOutput={said})))"
    before = project.script(f'{sys.executable} -c "{code}" <<< "$input"')
    hooks = {"PreToolUse": before, "PermissionRequest": project.script("", "asked.sh")}
    project.hooks({event: [{"matcher": "ExitPlanMode", "hooks": [{"command": each}]}] for event, each in hooks.items()})
    async with FakeApi() as api:
        for name, value in api.env.items():
            monkeypatch.setenv(name, value)
        api.reply(tool("EnterPlanMode"))
        api.reply(tool("ExitPlanMode", plan="1. Mend it"))
        api.reply(text("Not now."))
        async with headless(Options(source_seconds=60, interactive=False)) as app:
            opened = await app.sessions.request("assent/session/new", {"cwd": str(project.cwd)})
            await Run(app, opened["sessionId"], Listener()).say("plan it")
    given = project.inputs()
    assert [each["hook_event_name"] for each in given] == ["PreToolUse", "PermissionRequest"]
    for each in given:
        assert each["tool_input"]["plan"] == "1. Mend it"
        assert await anyio.Path(each["tool_input"]["planFilePath"]).read_text() == "1. Mend it"


async def test_an_expansion_is_told_as_it_was_typed_and_blocked_before_its_commands_run(project: Project) -> None:
    commands = project.home / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "make.md").write_text("---\nallowed-tools: Bash(touch:*)\n---\n!`touch made`\n")
    project.on("UserPromptExpansion", "echo 'not this one' >&2; exit 2", matcher="make")
    run, _ = await converse(project, "/make it so")
    (given,) = project.inputs()
    assert (given["prompt"], given["command_name"], given["command_args"]) == ("/make it so", "make", "it so")
    assert "not this one" in run.results[0]["result"] and not (project.cwd / "made").exists()
