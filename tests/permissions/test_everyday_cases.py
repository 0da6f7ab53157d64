"""Everyday commands run unasked where they can be shown harmless; `cases/everyday.json` says why the others ask."""

import json
from pathlib import Path

import pytest

from permissions.red_team_project import RedTeamProject, make_red_team_project

CASES = Path(__file__).parents[1] / "cases"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> RedTeamProject:
    return make_red_team_project(tmp_path_factory.mktemp("everyday"))


def everyday() -> list[dict[str, str]]:
    return json.loads((CASES / "everyday.json").read_text())["cases"]


@pytest.mark.parametrize("case", everyday(), ids=lambda case: case["command"])
def test_everyday_commands_run_unasked_or_the_table_says_why_not(project: RedTeamProject, case: dict[str, str]) -> None:
    decision = project.ws.bash(case["command"])
    assert decision.decision == case["expect"], decision.reason
    assert bool(case.get("why")) == (case["expect"] == "ask")
