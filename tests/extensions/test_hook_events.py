"""Every event with every kind of handler that it may have: one conversation in which all of them happen (H).

Each event has a handler of each kind; the tables below say what each must get. What handlers may change is in
`test_hook_answers.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from assent.app import App, Options, headless
from assent.extensions.hooks.handlers import TYPES, parse_entry
from assent.extensions.hooks.handlers import HookOrigin as Where
from assent.sessions.stream.front import Call, FrontFlags
from assent.types.blocks import Json
from assent.types.hooks import EVENTS, HookCall, HookEvent, HookOutcome
from assent.wire.asks import Elicit, PermissionAsk
from fakeapi import Answer, FakeApi, Reply, Request, failure, text, tool

PLAIN_SERVER = Path(__file__).parent.parent / "support" / "mcpserver" / "plain.py"
COMMON = {"session_id", "transcript_path", "cwd", "hook_event_name", "permission_mode"}
FIELDS: dict[HookEvent, set[str]] = {
    "SessionStart": {"source", "model"},
    "Setup": {"trigger"},
    "UserPromptSubmit": {"prompt"},
    "UserPromptExpansion": {"expansion_type", "command_name", "command_args", "command_source", "prompt"},
    "PreToolUse": {"tool_name", "tool_input", "tool_use_id"},
    "PermissionRequest": {"tool_name", "tool_input", "permission_suggestions"},
    "PermissionDenied": {"tool_name", "tool_input", "tool_use_id", "reason"},
    "PostToolUse": {"tool_name", "tool_input", "tool_use_id", "tool_response", "duration_ms"},
    "PostToolUseFailure": {"tool_name", "tool_input", "tool_use_id", "error", "is_interrupt", "duration_ms"},
    "PostToolBatch": {"tool_calls"},
    "Notification": {"message", "title", "notification_type"},
    "MessageDisplay": {"turn_id", "message_id", "index", "final", "delta"},
    "SubagentStart": {"agent_id", "agent_type"},
    "SubagentStop": {
        "agent_id",
        "agent_type",
        "agent_transcript_path",
        "stop_hook_active",
        "last_assistant_message",
        "background_tasks",
        "session_crons",
    },
    "Stop": {"stop_hook_active", "last_assistant_message", "background_tasks", "session_crons"},
    "StopFailure": {"error", "error_details", "last_assistant_message"},
    "PreCompact": {"trigger", "custom_instructions"},
    "PostCompact": {"trigger", "compact_summary"},
    "SessionEnd": {"reason"},
    "ConfigChange": {"source", "file_path"},
    "CwdChanged": {"old_cwd", "new_cwd"},
    "DirectoryAdded": {"directory", "source"},
    "FileChanged": {"file_path", "event"},
    "InstructionsLoaded": {"file_path", "memory_type", "load_reason"},
    "Elicitation": {"mcp_server_name", "message", "mode", "requested_schema"},
    "ElicitationResult": {"mcp_server_name", "mode", "action", "content"},
    "PreModelSwitch": {
        *("old_model", "new_model", "context_tokens", "prompt_cache_warm", "estimated_cache_write_usd", "pricing"),
    },
    "PostModelSwitch": {"old_model", "new_model", "context_tokens", "pricing"},
    "TaskCreated": {"task_id", "task_subject", "task_description", "teammate_name"},
    "TaskCompleted": {"task_id", "task_subject", "task_description", "teammate_name"},
    "TeammateIdle": {"teammate_name"},
    "WorktreeCreate": {"name"},
    "WorktreeRemove": {"worktree_path"},
}
MATCHERS: dict[HookEvent, str] = {"FileChanged": "watched.txt", "SubagentStop": "general-purpose"}
KINDS = (*TYPES, "in-process")


def allowed(event: HookEvent, kind: str) -> bool:
    entry = {"type": kind, "command": "x", "url": "x", "server": "x", "tool": "x", "prompt": "x"}
    return kind == "in-process" or not parse_entry(event, entry, Where(file=""))[1]


PAIRS = [(event, kind) for event in FIELDS for kind in KINDS if allowed(event, kind)]


@dataclass
class Heard:
    """By event, what each handler was given, and the log of the session."""

    given: dict[str, dict[str, list[Json]]] = field(default_factory=lambda: {kind: {} for kind in KINDS})
    log: list[Json] = field(default_factory=list[Json])

    def note(self, kind: str, payload: Json) -> None:
        self.given[kind].setdefault(payload["hook_event_name"], []).append(payload)


def test_the_table_knows_every_event() -> None:
    assert set(FIELDS) == set(EVENTS)


@pytest.mark.parametrize(("event", "kind"), PAIRS)
def test_each_event_reaches_each_kind_of_handler_with_its_fields(heard: Heard, event: HookEvent, kind: str) -> None:
    assert heard.given[kind].get(event), f"no handler of type {kind} ran; the log has {_events(heard)}"
    for given in heard.given[kind][event]:
        missing = FIELDS[event] - given.keys()
        if kind != "in-process":
            missing |= COMMON - given.keys()
        assert not missing, (event, kind, given)


def test_what_the_events_say_is_what_happened(heard: Heard) -> None:
    got = heard.given["command"]
    assert [each["source"] for each in got["SessionStart"]] == ["startup", "compact", "clear"]
    assert [each["reason"] for each in got["SessionEnd"]] == ["clear", "other"]
    assert got["Setup"][0]["trigger"] == "init"
    expanded = next(each for each in got["UserPromptExpansion"] if each["command_name"] == "greet")
    assert (expanded["command_args"], expanded["command_source"]) == ("world", "user")
    assert expanded["prompt"] == "/greet world" and expanded["expansion_type"] == "slash_command"
    assert any(each["tool_input"].get("command") == "touch made" for each in got["PermissionRequest"])
    assert all("tool_use_id" not in each for each in got["PermissionRequest"])
    assert got["PermissionDenied"][0]["tool_input"]["command"] == "touch unsafe"
    assert {each["notification_type"] for each in got["Notification"]} >= {"permission_prompt", "elicitation_dialog"}
    assert "".join(each["delta"] for each in got["MessageDisplay"] if each["index"] == 0).count("Done") >= 1
    for event in ("SubagentStart", "SubagentStop"):
        assert got[event][0]["agent_type"] == "general-purpose"
    assert got["ConfigChange"][0]["source"] == "user_settings"
    assert got["CwdChanged"][0]["new_cwd"].endswith("/sub")
    assert got["FileChanged"][0]["event"] == "add" and got["FileChanged"][0]["file_path"].endswith("/watched.txt")
    assert got["DirectoryAdded"][0]["source"] == "slash_command"
    assert got["InstructionsLoaded"][0]["load_reason"] == "session_start"
    assert "compact" in {each["load_reason"] for each in got["InstructionsLoaded"]}
    assert got["UserPromptSubmit"][0]["prompt"] == got["UserPromptExpansion"][0]["prompt"] == "/greet world"
    assert got["Elicitation"][0]["mcp_server_name"] == "plain" and "colour" in got["Elicitation"][0]["message"].lower()
    assert got["ElicitationResult"][0]["action"] == "accept"
    assert got["PreModelSwitch"][0]["new_model"] == "claude-haiku-4-5"
    assert got["PreModelSwitch"][0]["pricing"]["input"] > 0
    assert got["TaskCreated"][0]["task_subject"] == got["TaskCompleted"][0]["task_subject"] == "mend it"
    assert got["WorktreeCreate"][0]["name"] == "apart"
    assert got["WorktreeRemove"][0]["worktree_path"].endswith("/other")
    nested = next(each for each in got["InstructionsLoaded"] if each["load_reason"] == "nested_traversal")
    assert nested["file_path"].endswith("/sub/AGENTS.md") and nested["trigger_file_path"].endswith("/sub/a.css")
    matched = next(each for each in got["InstructionsLoaded"] if each["load_reason"] == "path_glob_match")
    assert matched["globs"] == ["*.css"] and matched["trigger_file_path"].endswith("/sub/a.css")
    included = next(each for each in got["InstructionsLoaded"] if each["load_reason"] == "include")
    assert included["file_path"].endswith("/more.md") and included["parent_file_path"].endswith("/CLAUDE.md")


def test_every_run_is_in_the_log_with_its_time_and_source(heard: Heard) -> None:
    assert {entry["event"] for entry in heard.log} == set(FIELDS)
    assert all(entry["hookId"] and entry["durationMs"] >= 0 and entry["source"] for entry in heard.log)
    assert {entry["outcome"] for entry in heard.log} == {"success"}, [e for e in heard.log if e["outcome"] != "success"]


def _events(heard: Heard) -> list[tuple[str, str]]:
    return [(entry["event"], entry["outcome"]) for entry in heard.log]


# --- the conversation -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Generator[Heard]:
    root = tmp_path_factory.mktemp("events")
    found = Heard()
    with pytest.MonkeyPatch.context() as patch, _http(found) as url:
        home = root / "home"
        patch.setenv("HOME", str(home))
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"):
            patch.delenv(name, raising=False)
        asyncio.run(asyncio.wait_for(_conversation(root, url, found, patch), 600))
    yield found


async def _conversation(root: Path, url: str, found: Heard, patch: pytest.MonkeyPatch) -> None:
    home, cwd, given = root / "home", root / "project", root / "given.jsonl"
    for folder in (home / ".config/assent", home / ".claude/commands", cwd / "sub", root / "other"):
        folder.mkdir(parents=True)
    (home / ".claude/commands/greet.md").write_text("Greet $ARGUMENTS")
    (cwd / "CLAUDE.md").write_text("Be brief. See @more.md")
    (cwd / "more.md").write_text("Use tabs.")
    (cwd / "sub/AGENTS.md").write_text("Use spaces here.")
    (cwd / "sub/a.css").write_text("a {}")
    (cwd / ".claude/rules").mkdir(parents=True)
    (cwd / ".claude/rules/css.md").write_text("---\npaths: '*.css'\n---\nUse variables.")
    script = root / "note.py"
    script.write_text(
        f"import json, sys\ngiven = json.load(sys.stdin)\nopen({str(given)!r}, 'a').write(json.dumps(given) + '\\n')\n"
        f"if given['hook_event_name'] == 'WorktreeCreate': print({str(root / 'other')!r})\n"
    )
    handlers: dict[str, Json] = {
        "command": {"command": sys.executable, "args": ["-I", "-S", str(script)]},
        "http": {"url": url},
        "mcp_tool": {"server": "plain", "tool": "echo", "input": {"text": "${hook_event_name}"}},
        "prompt": {"prompt": "Is this in order?"},
        "agent": {"prompt": "Look whether this is in order."},
    }
    patience = {"timeout": 600}  # some events end theirs after a moment, which says nothing on a busy machine
    hooks = {
        event: [
            {
                "matcher": MATCHERS.get(event, ""),
                "hooks": [
                    {"type": kind, **handlers[kind], **patience} for kind in reversed(TYPES) if allowed(event, kind)
                ],
            }
        ]
        for event in FIELDS
    }
    server = {"command": sys.executable, "args": ["-I", "-S", str(PLAIN_SERVER)]}
    settings = {"hooks": hooks, "mcpServers": {"plain": server}, "permissions": {"allow": ["mcp__plain"]}}
    file = home / ".config/assent/settings.json"
    file.write_text(json.dumps(settings))
    async with FakeApi() as api:
        for name, value in api.env.items():
            patch.setenv(name, value)
        api.otherwise(_model)
        async with headless(Options(interactive=True, source_seconds=60)) as app:
            for event in FIELDS:
                app.add_hook(event, _noting(found))
            await _talk(app, cwd, root / "other", file, settings)
        for request in api.calls:
            kind = _asked_kind(request)
            if kind:
                said = request.messages[0]["content"]
                words = said if isinstance(said, str) else "".join(str(block.get("text", "")) for block in said)
                found.note(kind, json.loads(words[words.index("{") :]))
    for line in given.read_text().splitlines():
        found.note("command", json.loads(line))
    (log,) = home.glob(".local/share/assent/sessions/*/*/hooks.jsonl")
    found.log = [json.loads(line) for line in log.read_text().splitlines()]
    payloads = {event: each[0] for event, each in found.given["command"].items()}
    for entry in found.log:
        if entry["command"] == "plain/echo" and entry["stdout"] == f"echo: {entry['event']}":
            found.note("mcp_tool", payloads[entry["event"]])


async def _talk(app: App, cwd: Path, other: Path, file: Path, settings: Json) -> None:
    front = Person()
    request = app.sessions.request
    session_id = (await request("assent/session/new", {"cwd": str(cwd)}, Call(front=front)))["sessionId"]

    async def say(prompt: str) -> Json:
        params = {"sessionId": session_id, "prompt": prompt, "wait": True}
        return (await request("assent/session/send", params, Call(front=front)))["result"]

    async def logged(event: str) -> None:
        async with asyncio.timeout(120):
            session = app.sessions.live[session_id]
            wanted = sum(allowed(event, kind) for kind in TYPES)  # pyright: ignore[reportArgumentType]
            while True:
                runs = app.session_hooks.logged(session_id, session.folder, None)["runs"]
                if sum(run["event"] == event for run in runs) >= wanted:
                    return
                await asyncio.sleep(0.02)

    def call(name: str, /, **given: Any) -> str:
        return f"CALL {json.dumps([name, given])}"

    await say("/greet world")
    await logged("InstructionsLoaded")
    await say("/init")
    await say(call("Bash", command="touch made"))
    await say(call("Bash", command="false"))
    await say(call("mcp__plain__ask"))
    await request("assent/session/configure", {"sessionId": session_id, "mode": "auto"})
    await say(call("Bash", command="touch unsafe"))
    await request("assent/session/configure", {"sessionId": session_id, "mode": "default"})
    await say(call("Agent", prompt="Say hello.", description="hello", subagent_type="general-purpose"))
    await say("/compact")
    await request("assent/session/configure", {"sessionId": session_id, "model": "claude-haiku-4-5"})
    await logged("PostModelSwitch")
    await say(call("Read", file_path=str(cwd / "sub" / "a.css")))
    await say(call("Bash", command="cd sub"))
    await logged("CwdChanged")
    await say(f"/add-dir {other}")
    await logged("DirectoryAdded")
    (cwd / "watched.txt").write_text("new")
    await logged("FileChanged")
    await asyncio.to_thread(file.write_text, json.dumps({**settings, "maxTurns": 40}))
    await logged("ConfigChange")
    await say(call("TaskCreate", subject="mend it", description="all of it"))
    await say(call("TaskUpdate", taskId="1", status="completed"))
    await say(call("EnterWorktree", name="apart"))
    await say(call("ExitWorktree", remove=True))
    await say("FAIL")
    await logged("StopFailure")
    await say("/clear")
    await request("assent/session/close", {"sessionId": session_id})


class Person:
    """A front that allows what it is asked about and likes blue."""

    flags = FrontFlags(permissions=True, elicitation=True, partials=True, max_event_rate=0)

    def event(self, published: Any) -> None: ...

    async def ask(self, ask: PermissionAsk) -> Json:
        return {"decision": "allow"}

    async def elicit(self, elicit: Elicit) -> Json:
        return {"action": "accept", "content": {"colour": "blue"}}

    def withdraw(self, request_id: str) -> None: ...


def _noting(found: Heard) -> Any:
    async def note(call: HookCall) -> HookOutcome | None:
        agent = {"agent_id": call.agent_id, "agent_type": call.agent_type}
        found.note("in-process", {**agent, **call.data, "hook_event_name": call.event})
        return None

    return note


def _asked_kind(request: Request) -> str:
    """Which kind of handler asks the model, if one does."""
    system = json.dumps(request.body.get("system", ""))
    if "You check one condition" not in system or len(request.messages) != 1:
        return ""
    return "agent" if "Look at files" in system else "prompt"


def _model(request: Request) -> Answer:
    """The model of this conversation does what it is told in so many words."""
    system = json.dumps(request.body.get("system", ""))
    if "You check one condition" in system:
        return Reply(parts=(text('{"ok": true}'),))
    if "You guard a developer's machine" in system:
        return Reply(parts=(text("deny"),))
    said = [block for _, block in request.blocks if block.get("type") in ("text", "tool_result")]
    words = request.last_text
    if any(block.get("type") == "tool_result" for block in said[-3:]):
        return Reply(parts=(text("Done.\n", "That was it.\n"),))
    if "FAIL" in words:
        return failure(400, "the test wants this to fail")
    if "CALL " in words:
        with contextlib.suppress(ValueError):
            (name, given), _ = json.JSONDecoder().raw_decode(words[words.index("CALL ") + 5 :])
            return Reply(parts=(tool(name, given),))
    return Reply(parts=(text("Done.\n", "That was it.\n"),))


@contextlib.contextmanager
def _http(found: Heard) -> Generator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.note("http", json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
