"""`assent hooks`: which hooks there are, and one event run by hand.

`assent hooks list` names every hook with its file; `assent hooks test EVENT` runs those of one event with an example
of its input, or with the JSON object on stdin, and shows what each printed and what that would mean.
"""

import json
import sys
from pathlib import Path
from typing import Any, TextIO, cast

import anyio

from assent.cli.preflight import UsageError, project_folder
from assent.text.visible import visible
from assent.tools.tool_responses import command_response
from assent.types.blocks import Json
from assent.types.hooks import EVENTS, HookCall, HookEvent, HookOutcome

_CALL: Json = {"tool_name": "Bash", "tool_input": {"command": "echo hello"}, "tool_use_id": "test"}
_TASK: Json = {"task_id": "1", "task_subject": "say hello", "task_description": "Say it politely."}
_SWITCH: Json = {"old_model": "claude-opus-4-8", "new_model": "claude-haiku-4-5", "context_tokens": 12_000}
_STOP: Json = {
    "stop_hook_active": False,
    "last_assistant_message": "Done.",
    "background_tasks": [],
    "session_crons": [],
}
EXAMPLES: dict[HookEvent, tuple[str, Json]] = {
    "PreToolUse": ("Bash", _CALL),
    "PostToolUse": ("Bash", {**_CALL, "tool_response": command_response("hello"), "duration_ms": 5}),
    "PostToolUseFailure": ("Bash", {**_CALL, "error": "exit code 1", "is_interrupt": False, "duration_ms": 5}),
    "PostToolBatch": ("", {"tool_calls": [{**_CALL, "tool_response": "hello\n"}]}),
    "PermissionRequest": (
        "Bash",
        {"tool_name": "Bash", "tool_input": {"command": "echo hello"}, "permission_suggestions": []},
    ),
    "PermissionDenied": ("Bash", {**_CALL, "reason": "Auto mode judged this call unsafe."}),
    "UserPromptSubmit": ("", {"prompt": "hello"}),
    "UserPromptExpansion": (
        "greet",
        {
            "expansion_type": "slash_command",
            "command_name": "greet",
            "command_args": "world",
            "command_source": "user",
            "prompt": "/greet world",
        },
    ),
    "SessionStart": ("startup", {"source": "startup"}),
    "SessionEnd": ("other", {"reason": "other"}),
    "Setup": ("init", {"trigger": "init"}),
    "Stop": ("", _STOP),
    "StopFailure": ("server_error", {"error": "server_error", "error_details": "the endpoint answered 500"}),
    "SubagentStart": ("general-purpose", {"agent_id": "test", "agent_type": "general-purpose"}),
    "SubagentStop": ("general-purpose", {"agent_id": "test", "agent_type": "general-purpose", **_STOP}),
    "TaskCreated": ("", _TASK),
    "TaskCompleted": ("", _TASK),
    "TeammateIdle": ("", {"teammate_name": "general-purpose"}),
    "PreCompact": ("manual", {"trigger": "manual", "custom_instructions": ""}),
    "PostCompact": ("manual", {"trigger": "manual", "compact_summary": "They said hello."}),
    "Notification": (
        "permission_prompt",
        {"message": "hello", "title": "Assent", "notification_type": "permission_prompt"},
    ),
    "MessageDisplay": (
        "",
        {"turn_id": "test", "message_id": "test", "index": 0, "final": True, "delta": "Hello.\n"},
    ),
    "Elicitation": ("server", {"mcp_server_name": "server", "message": "Which colour?", "mode": "form"}),
    "ElicitationResult": (
        "server",
        {"mcp_server_name": "server", "mode": "form", "action": "accept", "content": {"colour": "blue"}},
    ),
    "ConfigChange": ("user_settings", {"source": "user_settings", "file_path": "settings.json"}),
    "InstructionsLoaded": (
        "session_start",
        {"file_path": "AGENTS.md", "memory_type": "Project", "load_reason": "session_start"},
    ),
    "CwdChanged": ("", {"old_cwd": "/", "new_cwd": "/tmp"}),
    "DirectoryAdded": ("slash_command", {"directory": "/tmp", "source": "slash_command"}),
    "FileChanged": (".envrc", {"file_path": ".envrc", "event": "change"}),
    "WorktreeCreate": ("", {"name": "test"}),
    "WorktreeRemove": ("", {"worktree_path": "/tmp/test"}),
    "PreModelSwitch": ("", _SWITCH),
    "PostModelSwitch": ("", _SWITCH),
}


def run(action: str, event: str | None, *, cwd: Path | None, json_output: bool, stdin: TextIO | None = None) -> int:
    folder = project_folder(cwd)
    if action == "list":
        return anyio.run(_list, str(folder), json_output)
    if event is None:
        raise UsageError(f"say which event: assent hooks test EVENT, one of {', '.join(EVENTS)}")
    spelt: dict[str, HookEvent] = {name.casefold(): name for name in EVENTS}
    named = spelt.get(event.casefold())
    if named is None:
        raise UsageError(f"{event} is not a hook event; there are {', '.join(EVENTS)}")
    given = _given(stdin if stdin is not None else sys.stdin)
    return anyio.run(_test, named, str(folder), given, json_output)


async def _list(folder: str, json_output: bool) -> int:
    from assent.app import Options, headless

    async with headless(Options(interactive=False, offline=True)) as app:
        found, wrong = app.session_hooks.listed(folder), app.session_hooks.problems(folder)
    if json_output:
        print(json.dumps({"hooks": found, "problems": wrong}, indent=2))
        return 0
    for problem in wrong:
        print(visible(f"assent: {problem}"), file=sys.stderr)
    if not found:
        print("There are no hooks here. docs/hooks.md says how to write one.")
    for hook in found:
        matcher = f" {hook['matcher']}" if hook["matcher"] else ""
        state = "" if hook["active"] else f"  (withheld: {hook['withheld']})"
        print(visible(f"{hook['hookId']}  {hook['event']}{matcher}  {hook['type']}: {hook['command']}{state}"))
        print(visible(f"{'':13}{hook['source']}"))
    return 0


async def _test(event: HookEvent, folder: str, given: Json | None, json_output: bool) -> int:
    from assent.app import Options, headless

    subject, example = EXAMPLES[event]
    data = given if given is not None else example
    subject = str(data.get("tool_name") or data.get("source") or data.get("trigger") or subject)
    call = HookCall(event=event, session_id="test", cwd=folder, subject=subject, data=data)
    async with headless(Options(interactive=False)) as app:
        runner = app.session_hooks.runner
        handlers = [each for each in runner.listed(folder) if each.event == event and each.matches(subject)]
        outcomes = [(handler, await runner.try_out(handler, call)) for handler in handlers]
    if json_output:
        print(json.dumps([_as_json(str(handler.origin), outcome) for handler, outcome in outcomes], indent=2))
    elif not outcomes:
        about = f" for {subject}" if subject else ""
        print(f"No active hook of {event} matches{about}. `assent hooks list` names those there are.")
    else:
        for handler, outcome in outcomes:
            print("\n".join(_lines(handler.command, str(handler.origin), outcome)))
    return 1 if any(outcome.status in ("error", "timeout") for _, outcome in outcomes) else 0


def _lines(command: str, origin: str, outcome: HookOutcome) -> list[str]:
    code = f", exit code {outcome.exit_code}" if outcome.exit_code is not None else ""
    lines = [f"{outcome.status}{code}, {outcome.duration_ms} ms: {command}", f"  {origin}"]
    for name, text in (
        ("decision", outcome.decision or ""),
        ("text", outcome.text),
        ("context", outcome.context),
        ("input", json.dumps(outcome.updated_input) if outcome.updated_input is not None else ""),
        ("printed", outcome.output),
    ):
        lines += [f"  {name}: {line}" for line in text.splitlines()[:20]]
    return [visible(line) for line in lines]


def _as_json(origin: str, outcome: HookOutcome) -> Json:
    return {
        "source": origin,
        "hookId": outcome.hook_id,
        "outcome": outcome.status,
        "exitCode": outcome.exit_code,
        "durationMs": outcome.duration_ms,
        "decision": outcome.decision,
        "text": outcome.text,
        "context": outcome.context,
        "updatedInput": outcome.updated_input,
        "output": outcome.output,
    }


def _given(stdin: TextIO) -> Json | None:
    """The event's own fields, where someone pipes them in."""
    if stdin.isatty():
        return None
    text = stdin.read(1_000_000).strip()
    if not text:
        return None
    try:
        value: Any = json.loads(text)
    except ValueError as error:
        raise UsageError(f"the input on stdin is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError("the input on stdin must be a JSON object")
    return cast("Json", value)
