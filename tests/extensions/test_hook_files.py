"""Hooks as files write them: parsed, matched and read exactly (H)."""

from __future__ import annotations

from typing import Any

import pytest

from assent.extensions.hooks import answers
from assent.extensions.hooks.exported import exported
from assent.extensions.hooks.handlers import HookOrigin, ending_together, once_each, parse_hooks
from assent.extensions.hooks.matcher import matches
from assent.types.hooks import EVENTS, HookEvent, HookOutcome, strictest

HERE = HookOrigin(file="/p/.assent/settings.json", line=4)


def command(line: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": line, **more}


@pytest.mark.parametrize(
    ("matcher", "event", "subject", "runs"),
    [
        ("", "PreToolUse", "Bash", True),
        ("*", "PreToolUse", "Bash", True),
        ("Bash", "PreToolUse", "Bash", True),
        ("Bash", "PreToolUse", "BashOutput", False),
        ("bash", "PreToolUse", "Bash", False),
        ("Edit|Write", "PreToolUse", "Write", True),
        ("Edit, Write", "PreToolUse", "Write", True),
        ("Edit|Write", "PreToolUse", "MultiEdit", False),
        ("mcp__files__read", "PreToolUse", "mcp__files__read", True),
        ("mcp__.*", "PreToolUse", "mcp__files__read", True),
        ("Edit.*", "PreToolUse", "MultiEdit", True),  # a regular expression may match anywhere
        ("^Edit.*", "PreToolUse", "MultiEdit", False),
        ("(?<name>Bash)", "PreToolUse", "Bash", True),  # as JavaScript writes a named group
        ("(?<!Multi)Edit", "PreToolUse", "MultiEdit", False),
        ("[", "PreToolUse", "Bash", False),
        ("startup|resume", "SessionStart", "resume", True),
        ("startup", "SessionStart", "resume", False),
        (".env|.envrc", "FileChanged", ".envrc", True),
        ("manual", "PreCompact", "auto", False),
        ("rate_limit", "StopFailure", "rate_limit", True),
        ("anything", "UserPromptSubmit", "", True),  # an event without a subject ignores the matcher
        ("anything", "Stop", "", True),
    ],
)
def test_a_matcher_is_a_list_of_names_or_a_regular_expression(
    matcher: str, event: HookEvent, subject: str, runs: bool
) -> None:
    assert matches(matcher, event, subject) is runs


def test_groups_and_handlers_that_stand_by_themselves_are_both_read() -> None:
    handlers, problems = parse_hooks(
        {
            "PreToolUse": [{"matcher": "Bash", "hooks": [command("a"), {"type": "http", "url": "http://127.0.0.1:1"}]}],
            "postToolUse": [{"type": "command", "command": "b"}],
            "Stop": [{"command": "c"}],
        },
        HERE,
    )
    assert problems == []
    assert [(each.event, each.matcher, each.type, each.command) for each in handlers] == [
        ("PreToolUse", "Bash", "command", "a"),
        ("PreToolUse", "Bash", "http", "http://127.0.0.1:1"),
        ("PostToolUse", "", "command", "b"),
        ("Stop", "", "command", "c"),
    ]
    assert len({each.hook_id for each in handlers}) == 4 and all(len(each.hook_id) <= 12 for each in handlers)


WRONG: list[tuple[Any, str]] = [
    ([], "must be an object of events"),
    ({"Sometimes": []}, "is not a hook event"),
    ({"Stop": ["x"]}, "an entry must be an object"),
    ({"Stop": [{"hooks": "x"}]}, "`hooks` must be a list"),
    ({"Stop": [{"hooks": [7]}]}, "a handler must be an object"),
    ({"Stop": [{"hooks": [{"type": "carrier"}]}]}, "no handler type 'carrier'"),
    ({"Stop": [{"hooks": [{"type": "http"}]}]}, "needs `url`"),
    ({"Stop": [{"hooks": [{"type": "command"}]}]}, "needs `command`"),
    ({"Stop": [{"hooks": [{"type": "mcp_tool", "tool": "t"}]}]}, "needs `server`"),
    ({"SessionStart": [{"hooks": [{"type": "prompt", "prompt": "p"}]}]}, "only be a command or an MCP tool"),
    ({"Notification": [{"hooks": [{"type": "agent", "prompt": "p"}]}]}, "may not be of type agent"),
    ({"PreToolUse": [{"matcher": "(", "hooks": []}]}, "not a regular expression"),
]


@pytest.mark.parametrize(("hooks", "words"), WRONG)
def test_a_wrong_entry_is_named_with_file_and_line_and_the_others_count(hooks: Any, words: str) -> None:
    _, problems = parse_hooks(hooks, HERE)
    assert len(problems) == 1 and words in str(problems[0])
    assert str(problems[0]).startswith("/p/.assent/settings.json:4: hooks.")
    if isinstance(hooks, dict):
        more: dict[str, Any] = {**hooks, "PreCompact": [command("fine")]}
        both, _ = parse_hooks(more, HERE)
        assert "fine" in [each.command for each in both]


def test_an_agents_stop_is_the_end_of_that_agent() -> None:
    handlers, _ = parse_hooks({"Stop": [command("x")]}, HERE, agent=True)
    assert [each.event for each in handlers] == ["SubagentStop"]


def test_the_same_handler_in_two_files_runs_once() -> None:
    first, _ = parse_hooks({"PreToolUse": [{"matcher": "Bash", "hooks": [command("x", timeout=5)]}]}, HERE)
    second, _ = parse_hooks(
        {"PreToolUse": [{"matcher": "B.*", "hooks": [command("x", timeout=5), command("y")]}]}, HERE
    )
    assert [each.command for each in once_each([*first, *second])] == ["x", "y"]


@pytest.mark.parametrize(
    ("event", "handler", "seconds"),
    [
        ("PreToolUse", command("x"), 600),
        ("PreToolUse", command("x", timeout=5), 5),
        ("UserPromptSubmit", command("x"), 30),
        ("MessageDisplay", command("x"), 10),
        ("SessionEnd", command("x"), 1.5),
        ("SessionEnd", command("x", timeout=300), 60),
        ("Stop", {"type": "prompt", "prompt": "p"}, 30),
        ("Stop", {"type": "agent", "prompt": "p"}, 60),
        ("Stop", {"type": "http", "url": "u"}, 600),
    ],
)
def test_timeouts_depend_on_the_kind_and_the_event(event: str, handler: dict[str, Any], seconds: float) -> None:
    (made,), _ = parse_hooks({event: [{"hooks": [handler]}]}, HERE)
    assert made.seconds == seconds


def test_hooks_of_github_end_after_half_a_minute_unless_they_say_otherwise() -> None:
    there = HookOrigin(file="/project/.github/hooks/format.json", source="project")
    hooks = [{"type": "command", "command": "x"}, {"type": "command", "bash": "y", "timeoutSec": 90}]
    made, _ = parse_hooks({"postToolUse": hooks}, there)
    assert [each.seconds for each in made] == [30, 90]


def test_hooks_at_the_end_of_a_session_share_the_time_of_the_one_that_asks_for_most() -> None:
    ends, _ = parse_hooks({"SessionEnd": [{"hooks": [command("x"), command("y", timeout=20)]}]}, HERE)
    together = ending_together(ends)
    assert [each.seconds for each in together] == [20, 20]
    assert [each.hook_id for each in together] == [each.hook_id for each in ends]
    stops, _ = parse_hooks({"Stop": [{"hooks": [command("x"), command("y", timeout=900)]}]}, HERE)
    assert [each.seconds for each in ending_together(stops)] == [600, 900]


# --- what output means ------------------------------------------------------------------------------------------------


def test_exit_code_2_blocks_with_the_words_on_stderr_whatever_else_was_printed() -> None:
    outcome = answers.from_process("PreToolUse", 2, '{"continue": true}', "not on a Friday\n")
    assert (outcome.status, outcome.text, outcome.exit_code) == ("blocked", "not on a Friday", 2)
    outcome = answers.from_process("Stop", 2, '{"reason": "tests fail"}', "noise")
    assert (outcome.status, outcome.text) == ("blocked", "tests fail")


@pytest.mark.parametrize("event", ["PermissionRequest", "Notification", "SessionEnd", "PostCompact"])
def test_exit_code_2_blocks_nothing_where_there_is_nothing_to_block(event: HookEvent) -> None:
    assert answers.from_process(event, 2, "", "no").status == "error"


def test_other_exit_codes_are_errors_unless_the_json_decides() -> None:
    outcome = answers.from_process("PreToolUse", 7, "", "\nfirst line\nsecond")
    assert (outcome.status, outcome.text) == ("error", "exit code 7: first line")
    outcome = answers.from_process("PreToolUse", 1, '{"decision": "block", "reason": "r"}', "x")
    assert (outcome.decision, outcome.text) == ("deny", "r")


@pytest.mark.parametrize("event", EVENTS)
def test_plain_text_becomes_context_for_four_events_only(event: HookEvent) -> None:
    outcome = answers.from_process(event, 0, "the build is red\n", "")
    wanted = event in ("SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostModelSwitch")
    assert outcome.context == ("the build is red" if wanted else "")
    assert outcome.status == "success"


@pytest.mark.parametrize("event", EVENTS)
def test_continue_false_ends_the_turn_with_its_reason(event: HookEvent) -> None:
    outcome = answers.from_json(event, {"continue": False, "stopReason": "enough"})
    assert (outcome.status, outcome.text) == ("prevented", "enough")


def test_output_for_another_event_is_refused_in_words() -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "allow"}}
    outcome = answers.from_json("PreToolUse", answer)
    assert outcome.status == "error" and outcome.decision is None and "'Stop'" in outcome.text


def test_json_that_does_not_parse_is_an_error_with_words() -> None:
    outcome = answers.from_process("PreToolUse", 0, '{"decision": "block"', "")
    assert outcome.status == "error" and "does not parse" in outcome.text


def test_pre_tool_use_decides_with_a_reason_and_rewrites_the_whole_input() -> None:
    own = {"hookEventName": "PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": "fine"}
    outcome = answers.from_json(
        "PreToolUse", {"hookSpecificOutput": {**own, "updatedInput": {"command": "ls"}, "additionalContext": "c"}}
    )
    assert (outcome.decision, outcome.text, outcome.updated_input, outcome.context) == (
        "allow",
        "fine",
        {"command": "ls"},
        "c",
    )
    assert outcome.changed
    only = answers.from_json("PreToolUse", {"hookSpecificOutput": {"updatedInput": {"command": "ls"}}})
    assert only.decision is None and only.updated_input == {"command": "ls"}


def test_the_old_way_to_decide_is_understood_too() -> None:
    assert answers.from_json("PreToolUse", {"decision": "approve"}).decision == "allow"
    assert answers.from_json("PreToolUse", {"decision": "block", "reason": "r"}).decision == "deny"


def test_the_strictest_decision_counts() -> None:
    said = [HookOutcome(decision=each) for each in ("allow", "ask", "defer", "deny")]  # type: ignore[arg-type] -- each is one
    for most in ("deny", "defer", "ask", "allow"):
        found = strictest(said)
        assert found is not None and found.decision == most
        said = [each for each in said if each.decision != most]
    assert strictest(said) is None


def test_a_permission_request_is_answered_with_input_message_and_interrupt() -> None:
    said = {"behavior": "deny", "message": "no", "interrupt": True}
    outcome = answers.from_json("PermissionRequest", {"hookSpecificOutput": {"decision": said}})
    assert (outcome.decision, outcome.text, outcome.interrupt) == ("deny", "no", True)
    said = {"behavior": "allow", "updatedInput": {"a": 1}}
    outcome = answers.from_json("PermissionRequest", {"hookSpecificOutput": {"decision": said}})
    assert (outcome.decision, outcome.updated_input) == ("allow", {"a": 1})
    odd = answers.from_json("PermissionRequest", {"hookSpecificOutput": {"decision": {"behavior": "perhaps"}}})
    assert odd.decision is None


def test_long_texts_are_cut_and_kept_in_a_file() -> None:
    kept: list[str] = []

    def spill(text: str) -> str:
        kept.append(text)
        return "/spilled"

    outcome = answers.from_process("UserPromptSubmit", 0, "x" * 50_000, "", spill=spill)
    assert len(outcome.context) < 10_200 and "/spilled" in outcome.context and kept == ["x" * 50_000]


@pytest.mark.parametrize(
    ("event", "text", "ends", "status"),
    [
        ("Stop", '{"ok": true}', True, "success"),
        ("Stop", 'Sure: {"ok": false, "reason": "tests fail"}', True, "blocked"),
        ("Stop", '{"ok": false, "reason": "never", "impossible": true}', True, "success"),
        ("PreToolUse", '{"ok": false, "reason": "no"}', True, "prevented"),
        ("PreToolUse", '{"ok": false, "reason": "no"}', False, "blocked"),
        ("Stop", "I think so", True, "error"),
        ("Stop", '{"ok": "yes"}', True, "error"),
    ],
)
def test_a_models_verdict_is_ok_or_a_reason(event: HookEvent, text: str, ends: bool, status: str) -> None:
    assert answers.from_verdict(event, text, ends_turn=ends).status == status


def test_exported_values_refer_to_variables_as_in_a_shell() -> None:
    """The lines that hooks of the public docs write, and those of `export -p`."""
    around = {"PATH": "/usr/bin", "HOME": "/home/me"}
    text = (
        'export PATH="$PATH:./node_modules/.bin"\nexport PATH=$HOME/bin:${PATH}\n'
        "export LITERAL='$HOME' ESCAPED=\\$HOME\n"
        'declare -x LINES="one\ntwo \\"quoted\\" \\$kept"\ndeclare -x TAB=$\'a\\tb\'\n'
        "A=1; B=$A$UNKNOWN-2\n"
    )
    assert exported(text, around) == {
        "PATH": "/home/me/bin:/usr/bin:./node_modules/.bin",
        "LITERAL": "$HOME",
        "ESCAPED": "$HOME",
        "LINES": 'one\ntwo "quoted" $kept',
        "TAB": "a\tb",
        "A": "1",
        "B": "1-2",
    }


def test_exported_variables_are_read_without_running_anything() -> None:
    text = (
        "export A=1\nB='two words'\nexport C=\"x\" D=y # note\n$(touch /tmp/x)\nexport 9=no\nexport E=$(id)\n'broken\n"
    )
    assert exported(text) == {"A": "1", "B": "two words", "C": "x", "D": "y", "E": "$(id)"}
