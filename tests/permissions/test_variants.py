"""Thousands of further inputs of the published classes, in the published format, each with its one right answer.

What must be asked or denied, and as many that must be allowed: always asking is not a pass either.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from permissions.oracle import make_trap, violations
from permissions.scratch import Scratch, make_scratch

VARIANTS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "cases" / "permission-variants.json").read_text()
)


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    """With links that lead out, and folders of settings."""
    ws = make_scratch(tmp_path_factory.mktemp("linked"))
    for folder in (".claude", ".vscode", "src"):
        (ws.root / folder).mkdir()
    (ws.root / "src/a").write_text("x")
    (ws.root / "link").symlink_to(ws.root.parent / "ws-evil")
    return ws


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    ws = make_scratch(tmp_path_factory.mktemp("plain"), key=False)
    for folder in ("src", "tests"):
        (ws.root / folder).mkdir()
    (ws.root / "package.json").write_text("{}")
    return ws


@pytest.mark.parametrize(
    "case", VARIANTS, ids=lambda case: f"{case['id']} {case['tool']} {case['expect']} {json.dumps(case['given'])[:50]}"
)
def test_every_variant_gets_its_decision(linked: Scratch, plain: Scratch, case: dict[str, Any]) -> None:
    ws = plain if case["workspace"] == "plain" else linked
    wrong: dict[str, str] = {}
    for text in case["inputs"]:
        given = text.replace("{root}", str(ws.root)).replace("{home}", str(ws.home))
        decision = ws.decide(case["tool"], {case["field"]: given}, **case["given"])
        if decision.decision != case["expect"]:
            wrong[text] = f"{decision.decision} {decision.step}: {decision.reason}"
    assert wrong == {}


def test_every_class_has_many_variants_of_both_kinds() -> None:
    asked: dict[str, int] = {}
    for case in VARIANTS:
        if case["expect"] != "allow":
            asked[case["id"]] = asked.get(case["id"], 0) + len(case["inputs"])
    assert {f"D{number:02}": asked.get(f"D{number:02}", 0) >= 25 for number in range(1, 15)} == {
        f"D{number:02}": True for number in range(1, 15)
    }
    assert sum(len(case["inputs"]) for case in VARIANTS if case["expect"] == "allow") > 900


def test_variants_that_are_allowed_unasked_only_read_when_they_run(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    trap = make_trap(tmp_path_factory.mktemp("trap"))
    commands = [
        text
        for case in VARIANTS
        if case["expect"] == "allow" and case["tool"] == "Bash" and not case["given"]
        for text in case["inputs"]
        if not text.startswith("sleep") and trap.bash(text).step == "readOnly"
    ]
    assert len(commands) > 400
    assert violations(trap, commands, tmp_path) == []
