"""Every published, collected and everyday case, put to the real `assent explain` as a program of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from permissions.red_team_project import RedTeamProject, make_red_team_project
from permissions.scratch import Scratch
from permissions.test_cases import FIELDS, published
from permissions.test_everyday_cases import everyday
from permissions.test_red_team_cases import collected
from permissions.test_red_team_classes import variants
from permissions.test_variants import VARIANTS, linked, plain

ASSENT = str(Path(sys.executable).with_name("assent"))
FILES = {path.name for path in (Path(__file__).parents[1] / "cases").glob("*.json")}
PLACES = ("shared", "linked", "plain", "project")

Asked = tuple[dict[str, Any], str]  # the question, and the answers that are right

__all__ = ["linked", "plain"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> RedTeamProject:
    return make_red_team_project(tmp_path_factory.mktemp("program"))


def question(ws: Scratch, tool: str, input: dict[str, str], given: dict[str, Any]) -> dict[str, Any]:
    rules = {name: given.get(name, []) for name in ("allow", "ask", "deny")}
    more = {name: given[name] for name in ("mode", "trusted") if name in given}
    shown = {"content": "x", "prompt": "x", "pattern": "x", **input}
    return {"tool": tool, "input": shown, "cwd": str(ws.root), "rules": rules, **more}


def of_published(ws: Scratch) -> Iterator[Asked]:
    for _, given, tool, text, expected in published():
        text = text.replace("/w/proj", str(ws.root)).replace("../proj-evil", f"../{ws.root.name}-evil")
        yield question(ws, tool, {FIELDS[tool]: text}, given), expected


def of_variants(ws: Scratch, workspace: str) -> Iterator[Asked]:
    for case in VARIANTS:
        for text in case["inputs"] if (case["workspace"] == "plain") == (workspace == "plain") else ():
            given = text.replace("{root}", str(ws.root)).replace("{home}", str(ws.home))
            yield question(ws, case["tool"], {case["field"]: given}, case["given"]), case["expect"]


def of_red_team(project: RedTeamProject) -> Iterator[Asked]:
    for case in everyday():
        yield question(project.ws, "Bash", {"command": case["command"]}, {}), case["expect"]
    for case in collected():
        input = {name: project.filled(text) for name, text in case["input"].items()}
        given = {"mode": case["mode"], "trusted": case["trusted"], **case.get("rules", {})}
        if case["id"] != "H09":  # that one needs a setting which the others must not have
            yield question(project.ws, case["tool"], input, given), case["expect"]
    for case in variants():
        for text in case["inputs"]:
            given = {"mode": case["mode"], "trusted": case["trusted"], **case["rules"]}
            yield question(project.ws, case["tool"], {case["field"]: project.filled(text)}, given), case["expect"]


def test_no_file_of_cases_is_left_out() -> None:
    assert {
        *("everyday.json", "permission-cases.json", "permission-controls.json", "permission-variants.json"),
        *("redteam-cases.json", "redteam-variants.json"),
        "slash-commands.json",  # of other tests: commands, not permissions
    } == FILES


@pytest.mark.parametrize("place", PLACES)
def test_the_program_answers_every_case_as_it_must(
    shared_ws: Scratch, linked: Scratch, plain: Scratch, project: RedTeamProject, tmp_path: Path, place: str
) -> None:
    ws = {"shared": shared_ws, "linked": linked, "plain": plain, "project": project.ws}[place]
    asked = {
        "shared": lambda: of_published(ws),
        "linked": lambda: of_variants(ws, "linked"),
        "plain": lambda: of_variants(ws, "plain"),
        "project": lambda: of_red_team(project),
    }[place]
    cases = list(asked())
    env = {"PATH": os.environ["PATH"], "HOME": str(ws.home), "LANG": "C.UTF-8"}
    lines = "".join(f"{json.dumps(one)}\n" for one, _ in cases)
    done = subprocess.run(
        [ASSENT, "explain"], input=lines, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True
    )
    answers = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
    assert len(answers) == len(cases) > 20
    wrong = {
        json.dumps(one)[:300]: answer
        for (one, expected), answer in zip(cases, answers, strict=True)
        if answer.get("decision", "deny" if "error" in answer else "") not in expected.split(" or ")
    }
    assert wrong == {}
