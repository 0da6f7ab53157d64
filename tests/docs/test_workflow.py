"""The GitHub workflow of docs/automation.md: its step runs here as written, against a strict model."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fakeapi import FakeApi, text, tool

PAGE = (Path(__file__).parents[2] / "docs" / "automation.md").read_text()
PART = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def part(kind: str) -> str:
    return next(found[2] for found in PART.finditer(PAGE) if found[1] == kind)


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("answers", [True, False], ids=["with findings", "when the model fails"])
def test_the_workflow_reviews_a_pull_request_and_touches_nothing(project: Path, answers: bool) -> None:
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "base")
    base = git(project, "rev-parse", "HEAD")
    (project / ".github").mkdir()
    (project / ".github" / "review.schema.json").write_text(part("json"))
    (project / "greeter.py").write_text('def greet():\n    return "Heloo"\n')
    git(project, "add", ".")
    git(project, "commit", "-qm", "change")
    step = textwrap.dedent(part("yaml").split("run: |\n")[1])
    commands, _, reading = step.partition("jq -r")
    finding = {"file": "greeter.py", "line": 2, "severity": "high", "text": "Heloo is misspelt"}
    with FakeApi.threaded() as model:
        model.reply(tool("Write", file_path="new.txt", content="new"))
        if answers:
            model.reply(tool("StructuredOutput", {"findings": [finding]}))
            model.reply(text("Done."))
        else:
            model.error(400, "no")
        done = subprocess.run(
            ["bash", "-e", "-c", commands],
            cwd=project,
            env={
                **os.environ,
                **model.env,
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "RUNNER_TEMP": str(project.parent),
                "BASE": base,
            },
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Heloo" in json.dumps(model.calls[0].body["messages"])  # it was shown the diff
        refused = next(iter(model.calls[1].tool_results.values()))
        assert refused["is_error"], refused
    assert not (project / "new.txt").exists() and git(project, "status", "--porcelain") == ""
    if not answers:
        assert done.returncode == 1  # and so the job fails
        return
    assert done.returncode == 0, done.stderr
    said = json.loads((project.parent / "review.json").read_text())
    assert said["structuredOutput"]["findings"] == [finding]
    assert [each["toolName"] for each in said["permissionDenials"]] == ["Write"]
    assert ".structuredOutput.findings[]" in reading  # where the lines after it look
