"""The examples of docs/examples, each run as a program's author would, against a strict model over real HTTP.

They use nothing of Assent but `import assent`; that is checked too.
"""

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from assent.types import Result
from fakeapi import Answer, FakeApi, Reply, Request, hold, text, tool
from terminal import PATIENCE, Terminal

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
ALL = sorted(EXAMPLES.glob("*.py"))


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def structured(**value: object) -> Reply:
    return Reply(parts=(tool("StructuredOutput", raw_json=json.dumps(value)),))


def told(model: FakeApi) -> str:
    """What the model was told last."""
    return json.dumps(model.calls[-1].body["messages"], ensure_ascii=False)


def test_there_are_ten_and_they_import_only_the_sdk_and_the_standard_library() -> None:
    assert len(ALL) == 10
    for path in ALL:
        imported: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module or "")
        outside = {name for name in imported if name.partition(".")[0] not in sys.stdlib_module_names}
        assert outside == {"assent"}, path.name
        assert len(path.read_text().splitlines()) <= 60, path.name


async def test_the_reviewer_bot_reports_findings_and_cannot_change_anything(project: Path, model: FakeApi) -> None:
    finding = {"file": "greeter.py", "line": 2, "severity": "high", "text": "Helo is misspelt"}
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(tool("Edit", file_path="greeter.py", old_string="Helo", new_string="Hello"))
    model.add(structured(summary="One defect.", findings=[finding]))
    model.reply(text("Done."))
    found = await example("reviewer_bot").review('+    return "Helo"', project)
    assert found.summary == "One defect."
    assert [(each.file, each.line, each.severity) for each in found.findings] == [("greeter.py", 2, "high")]
    assert "Helo" in (project / "greeter.py").read_text()


async def test_the_migration_changes_fifty_files_each_by_its_own_conversation(project: Path, model: FakeApi) -> None:
    files = [project / f"part_{number:02}.py" for number in range(50)]
    for file in files:
        file.write_text("print('hello')\n")

    def answer(request: Request) -> Answer:
        asked = json.dumps(request.messages)
        mine = next(file.name for file in files if f"in {file.name}, and" in asked)
        match len(request.tool_results):
            case 0:
                return Reply(parts=(tool("Read", file_path=mine),))
            case 1:
                return Reply(parts=(tool("Edit", file_path=mine, old_string="print(", new_string="log("),))
            case 2 if mine == "part_07.py":  # one goes astray: it may not touch what is another's
                return Reply(parts=(tool("Write", file_path="greeter.py", content="gone"),))
            case 2 | 3 if "Reported" not in asked:
                return structured(changed=True, summary=f"Reported {mine}")
            case _:
                return Reply(parts=(text("Done."),))

    model.otherwise(answer)
    reports = await example("migrate_files").migrate(project, files, "Replace print() by log()")
    assert len(reports) == 50
    assert {name: report.summary for name, report in reports.items()} == {
        file.name: f"Reported {file.name}" for file in files
    }
    assert {file.read_text() for file in files} == {"log('hello')\n"}
    assert "Helo" in (project / "greeter.py").read_text()


async def test_a_custom_tool_works_in_this_process_and_its_error_reaches_the_model(
    project: Path, model: FakeApi
) -> None:
    shop = example("custom_tool")
    model.reply(tool("mcp__store__stock", item="pen"))
    model.reply(tool("mcp__store__order", item="pen", count=500))
    model.reply(tool("mcp__store__order", item="pen", count=7))
    model.reply(text("Ordered seven."))
    assert await shop.shopkeeper("Enough pens?", project) == "Ordered seven."
    assert shop.STOCK["pen"] == 10
    assert "need a signature" in told(model)


async def test_the_hook_blocks_the_one_command_and_lets_the_other_run(project: Path, model: FakeApi) -> None:
    model.reply(tool("Bash", command="echo prod-db"))
    model.reply(tool("Bash", command="echo staging-db is clean"))
    model.reply(text("Cleaned staging."))
    result: Result = await example("blocking_hook").guarded("Clean up", project)
    assert result.result == "Cleaned staging."
    results = list(model.calls[-1].tool_results.values())
    assert "off limits" in json.dumps(results[0]) and "staging-db is clean" in json.dumps(results[1])


async def test_a_conversation_is_resumed_with_all_that_was_said(project: Path, model: FakeApi) -> None:
    module = example("resume_session")
    model.reply(text("Noted."))
    first: Result = await module.go_on("My favourite colour is blue.", project)
    model.reply(text("Blue."))
    second: Result = await module.go_on("Which colour did I name?", project)
    assert second.session_id == first.session_id and second.result == "Blue."
    assert "My favourite colour is blue." in told(model)
    assert module.prompts_of(first.session_id) == ["My favourite colour is blue.", "Which colour did I name?"]


async def test_two_engines_work_at_once_each_by_its_own_mode(project: Path, model: FakeApi) -> None:
    planned = project.parent / "planned"
    planned.mkdir()
    (planned / "greeter.py").write_text('"Helo"\n')
    meeting: set[str] = set()

    def answer(request: Request) -> Answer:
        asked = json.dumps(request.messages)
        who = "planner" if "Outline" in asked else "worker"
        meeting.add(who)
        match len(request.tool_results):
            case 0:
                return Reply(parts=(tool("Read", file_path="greeter.py"),))
            case 1:
                return Reply(parts=(tool("Edit", file_path="greeter.py", old_string="Helo", new_string="Hello"),))
            case _:
                return Reply(parts=(text(f"I am the {who}."),))

    model.otherwise(answer)
    assert await example("two_engines").both(planned, project) == ("I am the planner.", "I am the worker.")
    assert meeting == {"planner", "worker"}
    assert "Hello" in (project / "greeter.py").read_text()
    assert "Helo" in (planned / "greeter.py").read_text()  # plan mode changes nothing


async def test_what_was_recorded_is_replayed_without_the_endpoint_and_holds_no_key(
    project: Path, model: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-ant-api03-" + "x1Y2" * 20
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    tape = project.parent / "tape.jsonl"
    module = example("record_replay")
    model.reply(tool("Read", file_path="greeter.py"))
    model.reply(text("It greets."))
    assert await module.summary(project, module.on_tape(tape)) == "It greets."
    called = len(model.calls)
    assert key not in tape.read_text()
    assert await module.summary(project, module.on_tape(tape)) == "It greets."
    assert len(model.calls) == called == 2


async def test_the_notebook_shows_text_as_it_comes_and_keeps_one_conversation(project: Path, model: FakeApi) -> None:
    module = example("notebook")
    shown: list[str] = []
    options = module.assent.Options(include_partial_messages=True)
    async with module.assent.Client(cwd=project, options=options) as session:
        model.reply(tool("Read", file_path="greeter.py"))
        model.reply(text("It ", "greets."))
        first: Result = await module.cell(session, "What is this?", shown.append)
        assert first.result == "It greets."
        assert shown[-2:] == ["It ", "greets."] and "greeter.py" in shown[0]
        model.reply(text("Once."))
        assert (await module.cell(session, "How often?", shown.append)).session_id == first.session_id
    assert "What is this?" in told(model)


def test_the_notebook_ends_quietly_where_its_input_ends(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "notebook.py"],
        cwd=project,
        input="hello\nread greeter.py\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("In: ") == 3 and done.stdout.count(" steps, ") == 2


def test_ctrl_c_ends_the_cell_that_runs_and_at_the_prompt_the_notebook(project: Path) -> None:
    with FakeApi.threaded() as api:
        env = {**os.environ, **api.env}
        with Terminal([sys.executable, str(EXAMPLES / "notebook.py")], env=env, cwd=project) as terminal:
            api.reply(text("It ", hold("word"), "greets."))
            api.reply(text("Once more."))
            terminal.see("In:")
            terminal.type("What is this?\n")
            terminal.see("\nIt")
            terminal.type("\x03")
            terminal.see("(interrupted)")
            api.release("word")
            terminal.type("again\n")
            terminal.see("Once more.", "(1 steps")
            terminal.type("\x03")
            assert terminal.process.wait(timeout=PATIENCE) == 0
            assert "Traceback" not in terminal.screen()


async def test_the_permission_callback_allows_rewrites_and_denies(project: Path, model: FakeApi) -> None:
    (project / "Makefile").write_text("test:\n\t@echo all green\n")
    (project / "keep.txt").touch()
    model.reply(tool("Bash", command="make test"))
    model.reply(tool("Bash", command="rm keep.txt"))
    model.reply(tool("Bash", command="touch made"))
    model.reply(text("Done."))
    result: Result = await example("permission_callback").work("Run the tests and tidy up", project)
    ran, rewritten, denied = (json.dumps(each) for each in model.calls[-1].tool_results.values())
    assert "all green" in ran and "would run: rm keep.txt" in rewritten and "Not here" in denied
    assert (project / "keep.txt").exists() and not (project / "made").exists()
    assert [each.tool_input for each in result.permission_denials] == [{"command": "touch made"}]


async def test_the_budget_guard_stops_when_the_money_is_spent(project: Path, model: FakeApi) -> None:
    model.otherwise(Reply(parts=(text("An answer."),), usage={"input_tokens": 1_000, "output_tokens": 1_000}))
    module = example("budget_guard")
    one, price = await module.within(100.0, ["one"], project)
    assert one == ["An answer."] and price > 0
    before = len(model.calls)
    budget = price * 2.5
    answers, spent = await module.within(budget, [f"job {number}" for number in range(20)], project)
    calls = len(model.calls) - before
    assert 2 <= len(answers) < 20 and calls - len(answers) in (0, 1)  # what went over it is not an answer
    assert budget <= spent <= budget + price


def test_an_example_runs_as_a_program(project: Path) -> None:
    """As from a shell, offline: the stand-in says that it is none."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / "resume_session.py", "hello"],
        cwd=project,
        env={**os.environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "not a language model" in done.stdout and done.stdout.endswith("(1 prompts so far)\n")
