"""Others of the red team's classes: inputs like those it collected, and beside them what must stay allowed."""

import json
from pathlib import Path
from typing import Any

import pytest

from permissions.red_team_project import RedTeamProject, make_red_team_project

CASES = Path(__file__).parents[1] / "cases"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> RedTeamProject:
    return make_red_team_project(tmp_path_factory.mktemp("classes"))


def variants() -> list[dict[str, Any]]:
    return json.loads((CASES / "redteam-variants.json").read_text())["cases"]


@pytest.mark.parametrize(
    "case", variants(), ids=lambda case: f"{case['id']} {case['tool']} {case['expect']} {case['inputs'][0][:30]}"
)
def test_others_of_the_same_classes_get_their_decision(project: RedTeamProject, case: dict[str, Any]) -> None:
    wrong: dict[str, str] = {}
    for text in case["inputs"]:
        input = {case["field"]: project.filled(text), "content": "x"}
        options = {"mode": case["mode"], "trusted": case["trusted"], **case["rules"]}
        decision = project.ws.decide(case["tool"], input, **options)
        if decision.decision not in case["expect"].split(" or "):
            wrong[text[:200]] = f"{decision.decision} {decision.step}: {decision.reason}"
    assert wrong == {}


def test_every_class_has_at_least_five_inputs() -> None:
    counts: dict[str, int] = {}
    for case in variants():
        if case["expect"] != "allow":
            counts[case["id"]] = counts.get(case["id"], 0) + len(case["inputs"])
    assert {id: count for id, count in counts.items() if count < 5} == {}
