"""Hooks of settings files in the whole program: each event with a real script, what it gets and may change (H)."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assent.app import App, Options, headless
from assent.cli.ask import Printer
from assent.sessions.stream.front import Call
from assent.types.blocks import Json


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

    def on(self, event: str, body: str, *, matcher: str = "", **handler: Any) -> None:
        entry = {"type": "command", "command": self.script(body), **handler}
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
    async with headless(Options(offline=True, interactive=interactive, settings=settings)) as app:
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


async def test_post_tool_use_sees_the_result_and_replaces_what_the_model_reads(project: Project) -> None:
    own = {"hookEventName": "PostToolUse", "updatedToolOutput": "nothing to see", "additionalContext": "mind the gap"}
    project.on("PostToolUse", f"echo '{json.dumps({'hookSpecificOutput': own})}'")
    run, log = await converse(project, "run `echo visible`", settings=ALLOW)
    (given,) = project.inputs()
    assert "visible" in json.dumps(given["tool_response"]) and given["duration_ms"] >= 0
    text = _transcript(project, run.id)
    assert "nothing to see" in text and "mind the gap" in text
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
    project.on("PreToolUse", "", matcher="Bash", **{"if": "Bash(touch:*)"})
    await converse(project, "run `true`", "run `touch made`", settings=ALLOW)
    assert [given["tool_input"]["command"] for given in project.inputs()] == ["touch made"]


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
    async with headless(Options(offline=True, interactive=False, settings=ALLOW)) as app:
        opened = await app.sessions.request("assent/session/new", {"cwd": str(project.cwd)}, Call())
        run = Run(app, opened["sessionId"], None)
        await run.say("run `true`")
        listed = app.session_hooks.listed(str(project.cwd), run.id)
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


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ODD)
async def test_a_hook_that_misbehaves_is_named_and_the_call_goes_on(project: Project, kind: str) -> None:
    body, fits = ODD[kind]
    project.on("PreToolUse", body)
    run, log = await converse(project, "run `touch made`", settings=ALLOW)
    assert (project.cwd / "made").exists() and run.results[0]["terminal"] == "completed"
    assert len(log) == 1 and fits(log[0]), log
    assert len(json.dumps(log[0])) < 20_000
    assert log[0]["source"].startswith(f"{project.settings}:")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("must", [False, True])
async def test_a_hook_that_hangs_is_ended_and_blocks_only_where_it_must_not_fail(project: Project, must: bool) -> None:
    project.on("PreToolUse", "sleep 300", timeout=0.3, **({"onFailure": "block"} if must else {}))
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
