"""The ten steps, one table each: what goes in, which step speaks, what comes out (P)."""

import os
from typing import Any

import pytest

from assent.permissions.actions import action_for
from assent.permissions.chain import decide
from assent.permissions.context import PermissionContext, Policy
from assent.permissions.paths import MAX_MATCHES
from assent.permissions.rules import RuleSet
from assent.types.permissions import Action, Allow, Ask, Deny, Mode
from permissions.scratch import Scratch

Row = tuple[str, dict[str, Any], dict[str, Any], str]  # tool, input, options, "decision step"


def check(ws: Scratch, tool: str, input: dict[str, Any], options: dict[str, Any], expected: str) -> None:
    decision = ws.decide(tool, input, **options)
    assert f"{decision.decision} {decision.step}" == expected, decision.reason


TABLE: dict[str, list[Row]] = {
    "1 exists": [
        ("Nope", {}, {"tools": frozenset({"Read"})}, "deny exists"),
        ("Read", {"file_path": "a.py"}, {"tools": frozenset({"Read"})}, "allow readOnly"),
        ("Nope", {}, {}, "ask consolidation"),
    ],
    "2 enabled in this mode": [
        ("WebFetch", {"url": "https://example.org"}, {"disabled": {"WebFetch": "no network here"}}, "deny enabled"),
        ("Edit", {"file_path": "a.py"}, {"mode": "plan"}, "deny enabled"),
        ("Write", {"file_path": "new.py"}, {"mode": "plan", "allow": ["Edit"]}, "deny enabled"),
        ("Read", {"file_path": "a.py"}, {"mode": "plan"}, "allow readOnly"),
    ],
    "3 enterprise policy": [
        (
            "Bash",
            {"command": "curl x"},
            {"policy": {"permissions": {"deny": ["Bash(curl:*)"]}}, "allow": ["Bash"]},
            "deny policy",
        ),
        ("Bash", {"command": "ls"}, {"policy": {"permissions": {"deny": ["Bash"]}}}, "deny policy"),
        (
            "Bash",
            {"command": "make x"},
            {"policy": {"permissions": {"ask": ["Bash(make:*)"]}}, "mode": "bypassPermissions"},
            "ask policy",
        ),
        ("Bash", {"command": "make x"}, {"policy": {"permissions": {"allow": ["Bash(make:*)"]}}}, "allow policy"),
        (
            "WebSearch",
            {"query": "x"},
            {"policy": {"tools": {"disabled": ["WebSearch"]}}, "mode": "bypassPermissions"},
            "deny policy",
        ),
        (
            "Bash",
            {"command": "make x"},
            {"policy": {"permissions": {"managedRulesOnly": True}}, "allow": ["Bash(make:*)"]},
            "ask consolidation",
        ),
        (
            "Bash",
            {"command": "curl x"},
            {"policy": {"permissions": {"managedRulesOnly": True}}, "deny": ["Bash(curl:*)"]},
            "deny rules",
        ),
        (
            "Bash",
            {"command": "make"},
            {"policy": {"permissions": {"disableBypassPermissions": True}}, "mode": "bypassPermissions"},
            "ask consolidation",
        ),
        (
            "Bash",
            {"command": "make"},
            {"policy": {"permissions": {"modes": ["plan"]}}, "mode": "bypassPermissions"},
            "ask consolidation",
        ),
        ("Bash", {"command": "make"}, {"policy": [], "mode": "bypassPermissions"}, "ask consolidation"),
    ],
    "4 sandbox scope": [
        ("Read", {"file_path": "../ws-evil/secret.txt"}, {}, "ask sandbox"),
        ("Read", {"file_path": "/etc/hostname"}, {}, "ask sandbox"),
        ("Read", {"file_path": "a\0b"}, {}, "deny sandbox"),
        ("Write", {"file_path": "../x"}, {"mode": "acceptEdits"}, "ask sandbox"),
        ("Bash", {"command": "cat ../ws-evil/secret.txt"}, {}, "ask sandbox"),
        ("Read", {"file_path": "/dev/zero"}, {}, "ask sandbox"),
        ("Read", {"file_path": "/dev/null"}, {}, "allow readOnly"),
        ("Read", {"file_path": "../ws-evil/secret.txt"}, {"allow": ["Read(/**)"]}, "allow rules"),
        ("Read", {"file_path": "../ws-evil/secret.txt"}, {"mode": "bypassPermissions"}, "allow mode"),
    ],
    "5 read-only fast path": [
        ("Read", {"file_path": "a.py"}, {}, "allow readOnly"),
        ("Glob", {"pattern": "**/*.py"}, {}, "allow readOnly"),
        ("Glob", {"pattern": "/etc/*"}, {}, "ask sandbox"),
        ("Glob", {"pattern": "~/x/*"}, {}, "ask sandbox"),
        ("Grep", {"pattern": "x", "path": "sub"}, {}, "allow readOnly"),
        ("Grep", {"pattern": "/etc/x", "output_mode": "content"}, {}, "allow readOnly"),
        ("TodoWrite", {"todos": []}, {}, "allow readOnly"),
        ("Bash", {"command": "ls && git status"}, {}, "allow readOnly"),
        ("Bash", {"command": "git status"}, {"trusted": False}, "allow readOnly"),
        ("Bash", {"command": "ls"}, {"trusted": False}, "allow readOnly"),
        ("Read", {"file_path": "a.py"}, {"deny": ["Read(a.py)"]}, "deny rules"),
        ("Read", {"file_path": "a.py"}, {"ask": ["Read(*.py)"]}, "ask rules"),
    ],
    "6 rules": [
        ("Bash", {"command": "make test"}, {"allow": ["Bash(make test)"]}, "allow rules"),
        ("Bash", {"command": "make test x"}, {"allow": ["Bash(make test)"]}, "ask consolidation"),
        ("Bash", {"command": "make test x"}, {"allow": ["Bash(make test:*)"]}, "allow rules"),
        ("Bash", {"command": "make test:unit"}, {"allow": ["Bash(make test:*)"]}, "ask consolidation"),
        ("Bash", {"command": "make tests"}, {"allow": ["Bash(make test:*)"]}, "ask consolidation"),
        ("Bash", {"command": "make test"}, {"allow": ["Bash(make:*)"], "ask": ["Bash(make test:*)"]}, "ask rules"),
        (
            "Bash",
            {"command": "make test"},
            {"allow": ["Bash(make:*)"], "ask": ["Bash(make test:*)"], "deny": ["Bash(make:*)"]},
            "deny rules",
        ),
        ("Bash", {"command": "make && rm x"}, {"allow": ["Bash(make:*)"]}, "ask consolidation"),
        ("Bash", {"command": "make && ls"}, {"allow": ["Bash(make:*)"]}, "allow rules"),
        ("Bash", {"command": "make > log"}, {"allow": ["Bash(make:*)"]}, "ask consolidation"),
        ("Bash", {"command": "make > sub/log"}, {"allow": ["Bash(make:*)", "Edit(sub/**)"]}, "allow rules"),
        ("Bash", {"command": "make 2>&1 >/dev/null"}, {"allow": ["Bash(make:*)"]}, "allow rules"),
        ("Bash", {"command": "anything at all > x"}, {"allow": ["Bash"]}, "allow rules"),
        ("Bash", {"command": "echo $(x)"}, {"allow": ["Bash"]}, "ask tool"),
        ("Edit", {"file_path": "sub/a.py"}, {"allow": ["Edit(sub/**)"]}, "allow rules"),
        ("Write", {"file_path": "sub/new.py"}, {"allow": ["Edit(sub/**)"]}, "allow rules"),
        ("Write", {"file_path": "sub/new.py"}, {"allow": ["Write(sub/**)"]}, "allow rules"),
        ("Edit", {"file_path": "sub/a.py"}, {"allow": ["Write(sub/**)"]}, "ask consolidation"),
        ("Edit", {"file_path": "a.py"}, {"allow": ["Edit(sub/**)"]}, "ask consolidation"),
        ("Edit", {"file_path": "a.py"}, {"allow": ["Edit"]}, "allow rules"),
        ("MultiEdit", {"file_path": "a.py"}, {"deny": ["Edit(a.py)"], "allow": ["Edit"]}, "deny rules"),
        ("mcp__git__log", {}, {"allow": ["mcp__git"]}, "allow rules"),
        ("mcp__git__log", {}, {"allow": ["mcp__git__log"]}, "allow rules"),
        ("mcp__github__log", {}, {"allow": ["mcp__git"]}, "ask consolidation"),
        ("mcp__git__log", {}, {"allow": ["mcp__git"], "deny": ["mcp__git__log"]}, "deny rules"),
        (
            "Agent",
            {"subagent_type": "reviewer", "prompt": "x", "description": "x"},
            {"deny": ["Agent(reviewer)"]},
            "deny rules",
        ),
        ("Agent", {"subagent_type": "other"}, {"deny": ["Agent(reviewer)"]}, "allow readOnly"),
        ("WebSearch", {"query": "weather"}, {"allow": ["WebSearch(weather)"]}, "allow rules"),
        ("WebFetch", {"url": "https://example.org/x"}, {"allow": ["WebFetch(domain:example.org)"]}, "allow rules"),
        (
            "WebFetch",
            {"url": "https://www.example.org/x"},
            {"allow": ["WebFetch(domain:example.org)"]},
            "ask consolidation",
        ),
        (
            "WebFetch",
            {"url": "https://www.example.org/x"},
            {"allow": ["WebFetch(domain:*.example.org)"]},
            "allow rules",
        ),
        (
            "WebFetch",
            {"url": "https://www.example.org/x"},
            {"allow": ["WebFetch"], "deny": ["WebFetch(domain:example.org)"]},
            "deny rules",
        ),
    ],
    "7 mode": [
        ("Edit", {"file_path": "a.py"}, {"mode": "acceptEdits"}, "allow mode"),
        ("Edit", {"file_path": "a.py"}, {"mode": "acceptEdits", "trusted": False}, "allow mode"),
        ("Bash", {"command": "mkdir -p new && touch new/x"}, {"mode": "acceptEdits"}, "allow mode"),
        ("Bash", {"command": "cp a.py c.py"}, {"mode": "acceptEdits"}, "allow mode"),
        ("Bash", {"command": "mv a.py sub/z.py"}, {"mode": "acceptEdits"}, "allow mode"),
        ("Bash", {"command": "cp a.py ../c.py"}, {"mode": "acceptEdits"}, "ask sandbox"),
        ("Bash", {"command": "cp -r sub copy"}, {"mode": "acceptEdits"}, "ask consolidation"),
        ("Bash", {"command": "mv sub other"}, {"mode": "acceptEdits"}, "ask consolidation"),
        ("Bash", {"command": "cp key stolen"}, {"mode": "acceptEdits"}, "ask ironGate"),
        ("Bash", {"command": "echo x > sub/new.txt"}, {"mode": "acceptEdits"}, "allow mode"),
        ("Bash", {"command": "echo x > ../new.txt"}, {"mode": "acceptEdits"}, "ask sandbox"),
        ("Bash", {"command": "rm a.py"}, {"mode": "acceptEdits"}, "ask consolidation"),
        ("Bash", {"command": "make"}, {"mode": "acceptEdits"}, "ask consolidation"),
        ("Bash", {"command": "make"}, {"mode": "plan", "allow": ["Bash(make:*)"]}, "ask mode"),
        ("Bash", {"command": "ls"}, {"mode": "plan"}, "allow readOnly"),
        ("mcp__x__y", {}, {"mode": "plan", "allow": ["mcp__x"]}, "ask mode"),
        ("WebFetch", {"url": "https://x.org"}, {"mode": "plan", "allow": ["WebFetch"]}, "allow rules"),
        ("WebSearch", {"query": "weather"}, {"mode": "plan", "allow": ["WebSearch"]}, "allow rules"),
        ("Bash", {"command": "make"}, {"mode": "dontAsk"}, "deny consolidation"),
        ("Bash", {"command": "make"}, {"interactive": False}, "deny consolidation"),
        ("Bash", {"command": "ls"}, {"mode": "dontAsk"}, "allow readOnly"),
        ("Bash", {"command": "make"}, {"mode": "bypassPermissions"}, "allow mode"),
        ("Bash", {"command": "for i in 1; do make; done"}, {"mode": "bypassPermissions"}, "allow mode"),
        ("Bash", {"command": "c=curl; $c x"}, {"mode": "bypassPermissions", "deny": ["Bash(curl:*)"]}, "ask tool"),
        ("Bash", {"command": "make"}, {"mode": "auto"}, "ask consolidation"),
    ],
    "8 iron gate": [
        ("Write", {"file_path": ".git/hooks/pre-commit"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Edit", {"file_path": ".vscode/tasks.json"}, {"allow": ["Edit"]}, "ask ironGate"),
        ("Read", {"file_path": "~/.ssh/id_rsa"}, {"allow": ["Read"]}, "ask ironGate"),
        ("Read", {"file_path": "/proc/self/environ"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "rm -rf ."}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "rm -rf /"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "rm -rf *"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "rm -rf ~"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "rm -rf ./*"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "rm -rf .*"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "rm -rf /*"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "rm -rf ~/*"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "cd .. && rm -rf ws"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "mv ../ws ../gone"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "rm -rf sub/*"}, {"mode": "bypassPermissions"}, "allow mode"),
        ("Bash", {"command": "rm -rf $x"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "sudo rm -rf /"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "bash -c 'rm -rf ..'"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "find . -delete"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "cat ~/.ssh/id_rsa"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        (
            "Bash",
            {"command": "for f in 1; do echo x > .git/config; done"},
            {"mode": "bypassPermissions"},
            "ask ironGate",
        ),
        ("Bash", {"command": "x=.git; echo > $x/config"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "chmod +x .husky/pre-push"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "git add .github/workflows/ci.yml"}, {"mode": "bypassPermissions"}, "allow mode"),
        ("Bash", {"command": "rm -rf sub"}, {"mode": "bypassPermissions"}, "allow mode"),
        ("Bash", {"command": "echo x > .gi{t,}/config"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "x=.gi; echo x > ${x}t/config"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "cp a.py $x/config"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "cd $x && echo > hooks/pre-commit"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "cd $x && echo > /tmp/y"}, {"mode": "bypassPermissions"}, "allow mode"),
        ("Bash", {"command": "echo > a.py/x"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "ls; " * 60_000}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "for f in a b; do $f; done"}, {"mode": "bypassPermissions"}, "allow mode"),
        ("Bash", {"command": "python /usr/lib/x.py"}, {"mode": "bypassPermissions"}, "allow mode"),
        ("Bash", {"command": "cp a.py /usr/lib/x.py"}, {"mode": "bypassPermissions"}, "ask ironGate"),
        ("Bash", {"command": "echo 'x"}, {"allow": ["Bash(echo:*)"]}, "ask ironGate"),
    ],
    "9 the tool's own check": [
        ("ExitPlanMode", {"plan": "x"}, {"mode": "bypassPermissions"}, "ask tool"),
        ("Bash", {"command": "echo $(date)"}, {}, "ask tool"),
        ("Bash", {"command": "echo ${x:-y}"}, {"allow": ["Bash(echo:*)"]}, "ask tool"),
        ("WebFetch", {"url": "https://a@example.org/"}, {"allow": ["WebFetch"]}, "ask tool"),
        ("WebFetch", {"url": "http://127.0.0.1:8000/"}, {"allow": ["WebFetch"]}, "deny tool"),
        ("WebFetch", {"url": "http://localhost/"}, {"mode": "bypassPermissions"}, "deny tool"),
        ("WebFetch", {"url": "http://localhost/"}, {"allow": ["WebFetch(domain:localhost)"]}, "allow rules"),
    ],
    "10 consolidation": [
        ("WebFetch", {"url": "https://example.org/"}, {}, "ask consolidation"),
        ("Edit", {"file_path": "a.py"}, {}, "ask consolidation"),
        ("Bash", {"command": "make"}, {}, "ask consolidation"),
    ],
}


@pytest.mark.parametrize(
    ("step", "row"), [(step, row) for step, rows in TABLE.items() for row in rows], ids=lambda value: str(value)[:60]
)
def test_each_step_speaks_when_it_must(shared_ws: Scratch, step: str, row: Row) -> None:
    check(shared_ws, *row)


def test_deny_rules_and_the_iron_gate_run_in_every_mode(shared_ws: Scratch) -> None:
    modes: tuple[Mode, ...] = ("default", "acceptEdits", "bypassPermissions", "auto")
    for mode in modes:
        assert shared_ws.decide("Read", {"file_path": "a.py"}, mode=mode, deny=["Read(a.py)"]).decision == "deny"
        asked = shared_ws.decide("Write", {"file_path": ".mcp.json"}, mode=mode, allow=["Edit", "Write"])
        assert isinstance(asked, Ask)
        assert asked.iron


def test_an_ask_says_what_why_and_what_could_be_saved(shared_ws: Scratch) -> None:  # P11
    decision = shared_ws.bash("npm run build && ls")
    assert isinstance(decision, Ask)
    assert decision.title == "Run npm run build && ls"
    assert [(part.argv, part.decision) for part in decision.parts] == [
        (("npm", "run", "build"), "ask"),
        (("ls",), "allow"),
    ]
    assert [(s.rule, s.scope) for s in decision.suggestions] == [
        ("Bash(npm run build:*)", "session"),
        ("Bash(npm run build:*)", "project"),
    ]


@pytest.mark.parametrize(
    ("tool", "input", "title"),
    [
        ("WebFetch", {"url": "https://example.org/\u202ex"}, "Fetch https://example.org/⟨U+202E⟩x"),
        ("Write", {"file_path": "new.py"}, "Write new.py"),
        ("Edit", {"file_path": "a.py"}, "Edit a.py"),
        ("Read", {"file_path": "/etc/hosts"}, "Read /etc/hosts"),
        ("mcp__a__b", {}, "Use mcp__a__b"),
    ],
)
def test_titles_are_plain_and_show_hidden_characters(
    shared_ws: Scratch, tool: str, input: dict[str, Any], title: str
) -> None:
    decision = shared_ws.decide(tool, input)
    assert isinstance(decision, Ask)
    assert decision.title == title


def test_an_untrusted_workspace_may_only_restrict() -> None:  # P14
    for source in ("project", "local", "editor"):
        rules = RuleSet.from_settings(
            {source: {"allow": ["Bash(make:*)"], "deny": ["Bash(curl:*)"], "ask": ["Read(x)"]}}
        )
        for trusted, expected in ((False, "ask"), (True, "allow")):
            context = PermissionContext(cwd="/w", home="/h", rules=rules, trusted=trusted)
            assert decide(action_for("Bash", {"command": "make"}), context).decision == expected
            assert decide(action_for("Bash", {"command": "curl x"}), context).decision == "deny"
            assert decide(action_for("Read", {"file_path": "x"}), context).decision == "ask"


def test_a_broken_policy_restricts_instead_of_vanishing() -> None:
    files: list[object] = [
        [],
        {"permissions": []},
        {"tools": 1},
        {"permissions": {"modes": "all"}},
        {"tools": {"disabled": "x"}},
    ]
    for broken in files:
        policy = Policy.from_json(broken)
        assert policy.problems
        assert "bypassPermissions" not in policy.modes
    named = Policy.from_json({"permissions": {"deny": ["Bash(("]}})
    assert named.problems
    assert "Bash((" in named.problems[0]


def test_a_call_that_reads_several_places_needs_all_of_them_in_scope(shared_ws: Scratch) -> None:
    action = Action(tool="Read", input={}, reads=("a.py", "/etc/hosts"), read_only=True)
    assert isinstance(decide(action, shared_ws.context()), Ask)
    action = Action(tool="Read", input={}, reads=("a.py", "b.py"), read_only=True)
    assert isinstance(decide(action, shared_ws.context()), Allow)
    both = Action(tool="Edit", input={}, writes=("a.py", "sub/a.py"))
    assert isinstance(decide(both, shared_ws.context(allow=["Edit(sub/**)"])), Ask)
    assert isinstance(decide(both, shared_ws.context(allow=["Edit(sub/**)", "Edit(./a.py)"])), Allow)


def test_our_own_directories_are_protected_wherever_they_are(shared_ws: Scratch) -> None:
    own = str(shared_ws.root / "elsewhere")
    decision = shared_ws.decide(
        "Write", {"file_path": "elsewhere/settings.json"}, mode="bypassPermissions", own_dirs=(own,)
    )
    assert isinstance(decision, Ask)
    assert decision.iron


def test_spilled_results_can_be_read_but_not_written(shared_ws: Scratch) -> None:
    spill = str(shared_ws.home / "spill")
    assert shared_ws.decide("Read", {"file_path": f"{spill}/x"}, read_roots=(spill,)).decision == "allow"
    assert (
        shared_ws.decide("Write", {"file_path": f"{spill}/x"}, read_roots=(spill,), mode="acceptEdits").decision
        == "ask"
    )


def test_pipes_are_asked_about(ws: Scratch) -> None:
    os.mkfifo(ws.root / "pipe")
    assert ws.decide("Read", {"file_path": "pipe"}).step == "sandbox"
    assert ws.bash("cat pipe").step == "sandbox"


def test_rules_about_other_things_say_nothing(shared_ws: Scratch) -> None:
    denied = ["Read(b.py)", "Edit(b.py)", "Bash(curl:*)", "WebFetch(domain:x.org)", "mcp__x", "Agent(x)"]
    assert shared_ws.decide("Read", {"file_path": "a.py"}, deny=denied).decision == "allow"
    assert shared_ws.bash("{ ls; } > out", deny=denied, mode="acceptEdits").decision == "allow"
    assert shared_ws.decide("WebFetch", {"url": "https://y.org"}, deny=denied).decision == "ask"


def test_a_wildcard_that_could_become_a_flag_asks(ws: Scratch) -> None:
    (ws.root / "sub/--pre=x").write_text("")
    assert ws.bash("cd sub && rg x *").decision == "ask"
    assert ws.bash("cd sub && rg x -- *").decision == "allow"
    assert ws.bash("cd sub && rg x ./*").decision == "allow"


def test_more_matches_than_can_be_checked_ask(ws: Scratch) -> None:
    (ws.root / "many").mkdir()
    for number in range(MAX_MATCHES + 1):
        (ws.root / "many" / str(number)).touch()
    assert ws.bash("cd many && grep x *").decision == "ask"
    assert ws.bash("cat many/*").decision == "ask"
    assert ws.bash("cd many && sed -n ?* x").decision == "ask"


def test_loops_are_asked_about_or_refused(ws: Scratch) -> None:
    (ws.root / "loop").symlink_to("loop")
    assert ws.decide("Read", {"file_path": "loop"}).decision == "deny"
    assert ws.bash("git -C loop status").decision == "ask"
    assert ws.bash("cat loop", allow=["Edit"]).decision == "ask"
    assert ws.bash("ls > loop", allow=["Edit(./loop)"]).decision == "ask"
    assert ws.bash("cd loop && ls").decision == "ask"
    assert ws.bash("rg x loop", deny=["Read(secret/**)"]).decision == "ask"


def test_nobody_to_ask_means_deny_with_the_reason(shared_ws: Scratch) -> None:  # P12
    for options in ({"mode": "dontAsk"}, {"interactive": False}):
        decision = shared_ws.bash("make", **options)
        assert isinstance(decision, Deny)
        assert "needs permission" in decision.reason
