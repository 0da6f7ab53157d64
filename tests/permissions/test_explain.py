"""`assent/permission/explain` and `assent explain`."""

import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assent.cli.explain import run
from assent.permissions.context import PermissionContext, Policy
from assent.permissions.explain import explain
from assent.permissions.rules import RuleSet
from assent.types.errors import ProtocolError
from permissions.scratch import Scratch


def test_it_says_what_which_step_which_rule_and_why(shared_ws: Scratch) -> None:
    answer = explain(
        {
            "tool": "Bash",
            "input": {"command": "make x"},
            "cwd": str(shared_ws.root),
            "rules": {"allow": ["Bash(make:*)"]},
        }
    )
    assert answer == {
        "decision": "allow",
        "step": "rules",
        "rule": "Bash(make:*)",
        "reason": "Allowed by your rules: Bash(make:*)",
    }
    answer = explain({"tool": "Bash", "input": {"command": "ls"}, "cwd": str(shared_ws.root)})
    assert answer == {"decision": "allow", "step": "readOnly", "reason": "It only reads, inside the workspace."}


def test_given_rules_replace_all_but_policy_and_iron_gate(shared_ws: Scratch) -> None:
    context = PermissionContext(
        cwd=str(shared_ws.root),
        home=str(shared_ws.home),
        roots=(str(shared_ws.root),),
        rules=RuleSet.from_settings({"user": {"deny": ["Bash(make:*)"]}}),
        policy=Policy.from_json({"permissions": {"deny": ["Bash(curl:*)"]}}),
    )
    ask = {"tool": "Bash", "input": {"command": "make"}}
    assert explain(ask, context=context)["decision"] == "deny"
    assert explain({**ask, "rules": {"allow": ["Bash"]}}, context=context)["decision"] == "allow"
    curl = {"tool": "Bash", "input": {"command": "curl x"}, "rules": {"allow": ["Bash"]}, "mode": "bypassPermissions"}
    assert explain(curl, context=context)["step"] == "policy"
    write = {
        "tool": "Write",
        "input": {"file_path": ".git/config"},
        "rules": {"allow": ["Edit"]},
        "mode": "bypassPermissions",
    }
    assert explain(write, context=context)["step"] == "ironGate"


def test_mode_trust_and_roots_can_be_given(shared_ws: Scratch, tmp_path: Path) -> None:
    cwd = str(shared_ws.root / "sub")
    read = {"tool": "Read", "input": {"file_path": "../a.py"}, "cwd": cwd}
    assert explain(read)["decision"] == "ask"
    assert explain({**read, "roots": [str(shared_ws.root)]})["decision"] == "allow"
    assert explain({**read, "roots": ["relative"]})["decision"] == "ask"
    git = {"tool": "Bash", "input": {"command": "git status"}, "cwd": str(tmp_path / "tree")}
    worktree = ["git", "-C", str(shared_ws.root), "worktree", "add", "-q", str(tmp_path / "tree")]
    subprocess.run(worktree, check=True, capture_output=True)
    assert explain(git)["decision"] == "allow"
    assert explain({**git, "trusted": False})["decision"] == "ask"
    assert explain({**git, "trusted": False, "mode": "dontAsk"})["decision"] == "deny"


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"tool": 1, "input": {}, "cwd": "/"},
        {"tool": "Bash", "input": "ls", "cwd": "/"},
        {"tool": "Bash", "input": {}, "cwd": "relative"},
        {"tool": "Bash", "input": {}},
        {"tool": "Bash", "input": {}, "cwd": "/a\0b"},
        {"tool": "Bash", "input": {}, "cwd": "/", "mode": "yolo"},
        {"tool": "Bash", "input": {}, "cwd": "/", "mode": ["default"]},
        {"tool": "Bash", "input": {}, "cwd": "/", "trusted": "yes"},
        {"tool": "Bash", "input": {}, "cwd": "/", "rules": []},
        {"tool": "Bash", "input": {}, "cwd": "/", "rules": {"deny": ["Bash(("]}},
    ],
)
def test_bad_questions_are_refused_by_name(params: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as refused:
        explain(params)
    assert refused.value.kind == "invalidParams"


@pytest.mark.parametrize("name", ["Nothing", "read", "mcp", "mcp__a", "Read ", "ToolFind"])
@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
def test_a_tool_that_does_not_exist_is_denied_at_the_first_step(shared_ws: Scratch, name: str, mode: str) -> None:
    question = {"tool": name, "input": {"file_path": "a.py"}, "cwd": str(shared_ws.root), "mode": mode}
    answer = explain({**question, "rules": {"allow": ["Read", "Bash"]}})
    assert (answer["decision"], answer["step"]) == ("deny", "exists") and name.strip() in answer["reason"]


def test_a_tool_of_a_server_may_exist_and_is_asked_about(shared_ws: Scratch) -> None:
    answer = explain({"tool": "mcp__git__log", "input": {}, "cwd": str(shared_ws.root)})
    assert (answer["decision"], answer["step"]) == ("ask", "consolidation")


@pytest.mark.parametrize(
    ("tool", "input", "field"),
    [
        ("Read", {}, "file_path"),
        ("Read", {"file_path": None}, "file_path"),
        ("Read", {"file_path": 3}, "file_path"),
        ("Read", {"path": "a.py"}, "file_path"),
        ("Write", {"content": "x"}, "file_path"),
        ("Edit", {"file_path": ["a.py"]}, "file_path"),
        ("MultiEdit", {"edits": []}, "file_path"),
        ("NotebookEdit", {"file_path": "a.ipynb"}, "notebook_path"),
        ("Glob", {"path": "."}, "pattern"),
        ("Glob", {"pattern": "*", "path": {}}, "path"),
        ("Grep", {"pattern": 1}, "pattern"),
        ("Grep", {"pattern": "x", "glob": ["*.py"]}, "glob"),
        ("Bash", {}, "command"),
        ("Bash", {"command": ["ls"]}, "command"),
        ("WebFetch", {"prompt": "x"}, "url"),
        ("Rename", {"new_name": "x"}, "file_path"),
    ],
)
def test_an_input_the_tool_would_not_take_is_not_judged_but_refused_by_name(
    shared_ws: Scratch, tool: str, input: dict[str, Any], field: str
) -> None:
    with pytest.raises(ProtocolError) as refused:
        explain({"tool": tool, "input": input, "cwd": str(shared_ws.root), "mode": "bypassPermissions"})
    assert refused.value.kind == "invalidParams"
    assert f"`{field}`" in str(refused.value) and tool in str(refused.value)


def ask(lines: list[str], tmp_path: Path, **options: Any) -> list[dict[str, Any]]:
    out = io.StringIO()
    assert (
        run(io.StringIO("\n".join(lines) + "\n"), out, policy_file=tmp_path / "policy.json", config=tmp_path, **options)
        == 0
    )
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_command_answers_every_line_in_order(shared_ws: Scratch, tmp_path: Path) -> None:
    cwd = str(shared_ws.root)
    answers = ask(
        [
            json.dumps({"tool": "Bash", "input": {"command": "ls"}, "cwd": cwd}),
            "not json",
            "",
            "[]",
            json.dumps({"tool": "Bash", "input": {"command": "make"}, "cwd": cwd}),
            json.dumps({"tool": "Bash", "input": {}}),
            '{"tool": "Bash", "input": {"command": "' + "a" * 1_100_000 + '"}}',
            json.dumps({"tool": "Bash", "input": {"command": "make"}, "cwd": cwd, "rules": {"allow": ["Bash(make)"]}}),
        ],
        tmp_path,
    )
    kinds = [answer.get("decision") or answer["error"]["kind"] for answer in answers]
    assert answers[0]["sandbox"] in ("bubblewrap", "landlock", "sandbox-exec", "none")
    assert kinds == ["allow", "invalidRequest", "invalidRequest", "ask", "invalidParams", "tooLarge", "allow"]


def test_a_directory_no_path_can_name_is_refused_in_words(shared_ws: Scratch, tmp_path: Path) -> None:
    question = {"tool": "Bash", "input": {"command": "ls"}, "cwd": f"{shared_ws.root}\0"}
    answer = ask([json.dumps(question)], tmp_path)[0]
    assert answer == {"error": {"kind": "invalidParams", "message": "`cwd` holds a NUL character, which no path can"}}
    rooted = {**question, "cwd": str(shared_ws.root), "roots": ["/a\0b"]}
    assert ask([json.dumps(rooted)], tmp_path)[0]["decision"] == "allow"


def test_the_command_reads_the_settings_files(ws: Scratch, tmp_path: Path) -> None:
    (ws.root / ".assent").mkdir()
    (ws.root / ".assent/settings.json").write_text(
        json.dumps({"permissions": {"allow": ["Bash(make:*)"], "deny": ["Bash(ls:*)"]}})
    )
    (tmp_path / "settings.json").write_text(json.dumps({"permissions": {"allow": ["Bash(npm test)"]}}))
    cwd = str(ws.root)

    def question(command: str, **more: object) -> str:
        return json.dumps({"tool": "Bash", "input": {"command": command}, "cwd": cwd, **more})

    answers = ask(
        [
            question("make"),
            question("ls"),
            question("npm test"),
            question("make", trusted=False),
            question("ls", trusted=False),
        ],
        tmp_path,
    )
    assert [answer["decision"] for answer in answers] == ["allow", "deny", "allow", "ask", "deny"]


def test_the_policy_file_counts_and_a_broken_one_restricts(shared_ws: Scratch, tmp_path: Path) -> None:
    question = json.dumps(
        {"tool": "Bash", "input": {"command": "make"}, "cwd": str(shared_ws.root), "mode": "bypassPermissions"}
    )
    assert ask([question], tmp_path)[0]["decision"] == "allow"
    (tmp_path / "policy.json").write_text(json.dumps({"permissions": {"deny": ["Bash(make:*)"]}}))
    assert ask([question], tmp_path)[0]["step"] == "policy"
    (tmp_path / "policy.json").write_text("{")
    assert ask([question], tmp_path)[0]["decision"] == "ask"
