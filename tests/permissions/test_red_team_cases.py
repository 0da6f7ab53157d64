"""The inputs that a red team collected: each was allowed once and must not be."""

import json
from pathlib import Path
from typing import Any

import pytest

from permissions.red_team_project import RedTeamProject, make_red_team_project

CASES = Path(__file__).parents[1] / "cases"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> RedTeamProject:
    return make_red_team_project(tmp_path_factory.mktemp("redteam"))


def collected() -> list[dict[str, Any]]:
    return json.loads((CASES / "redteam-cases.json").read_text())["cases"]


def label(case: dict[str, Any]) -> str:
    return f"{case['id']} {str(next(iter(case['input'].values())))[:50]}"


@pytest.mark.parametrize("case", collected(), ids=label)
def test_every_input_the_red_team_collected_is_asked_about_or_denied(
    project: RedTeamProject, case: dict[str, Any]
) -> None:
    project.set_ignored_revisions(harmful=case["id"] == "H09")
    input = {name: project.filled(text) for name, text in case["input"].items()}
    options = {"mode": case["mode"], "trusted": case["trusted"], **case.get("rules", {})}
    decision = project.ws.decide(case["tool"], input, **options)
    assert decision.decision in case["expect"].split(" or "), decision.reason


def test_blame_runs_unasked_where_no_setting_names_a_file_for_it(project: RedTeamProject) -> None:
    project.set_ignored_revisions(harmful=False)
    assert project.ws.bash("git blame README.md").decision == "allow"
