"""`assent ask` for automation: flags, input on stdin, sessions, recordings. The real program against a strict model."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, text, tool

PROGRAM = str(Path(sys.executable).with_name("assent"))


class Asker:
    def __init__(self, home: Path, project: Path, model: FakeApi) -> None:
        self.project, self.model = project, model
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL")}
        self.env = {**kept, "HOME": str(home), **model.env}

    def __call__(self, *arguments: str, stdin: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [PROGRAM, "ask", *arguments],
            env={**self.env, **env},
            cwd=self.project,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def result(self, *arguments: str, stdin: str | None = None) -> dict[str, Any]:
        done = self("--json", *arguments, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Asker]:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    with FakeApi.threaded() as api:
        yield Asker(tmp_path / "home", tmp_path / "project", api)


def last_said(model: FakeApi) -> str:
    return json.dumps(model.calls[-1].body["messages"], ensure_ascii=False)


def test_piped_text_is_added_to_the_prompt(ask: Asker) -> None:
    ask.model.reply(text("A poem."))
    assert ask("what is this?", stdin="roses are red\n").stdout == "A poem.\n"
    assert "what is this?" in last_said(ask.model) and "roses are red" in last_said(ask.model)


def test_a_deny_rule_wins_over_an_allow_rule(ask: Asker) -> None:
    ask.model.reply(tool("Bash", command="touch made"))
    ask.model.reply(text("Not made."))
    result = ask.result("make it", "--allow", "Bash(touch:*)", "--deny", "Bash(touch made)")
    assert not (ask.project / "made").exists()
    assert [denial["toolName"] for denial in result["permissionDenials"]] == ["Bash"]


def test_a_session_is_resumed_by_its_id_and_continued_as_the_newest(ask: Asker) -> None:  # S2
    ask.model.reply(text("One."))
    first = ask.result("first")
    ask.model.reply(text("Two."))
    assert ask.result("second", "--resume", first["sessionId"])["sessionId"] == first["sessionId"]
    ask.model.reply(text("Three."))
    assert ask.result("third", "--continue")["sessionId"] == first["sessionId"]
    assert len(ask.model.calls[-1].body["messages"]) == 5


def test_continue_without_an_earlier_session_says_so(ask: Asker) -> None:
    done = ask("go on", "--continue")
    assert done.returncode == 1 and "no earlier session" in done.stderr


def test_an_answer_fits_the_schema_of_a_file(ask: Asker, tmp_path: Path) -> None:  # Q10
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}))
    ask.model.reply(tool("StructuredOutput", n=4))
    ask.model.reply(text("Done."))
    assert ask.result("count", "--output-schema", str(schema))["structuredOutput"] == {"n": 4}


def test_an_image_goes_along(ask: Asker) -> None:
    picture = ask.project / "dot.png"
    picture.write_bytes(
        bytes.fromhex(
            "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da6364f8cf"
            "500f0003860180a0f1b1d00000000049454e44ae426082"
        )
    )
    ask.model.reply(text("A dot."))
    assert ask("what is it?", "--image", str(picture)).stdout == "A dot.\n"
    assert '"image/png"' in last_said(ask.model)
    done = ask("what is it?", "--image", "notes.txt")
    assert done.returncode == 2 and "is not an image" in done.stderr


def test_lines_of_json_are_turns_of_one_conversation_and_events_come_back_as_lines(ask: Asker) -> None:
    ask.model.reply(text("One."))
    ask.model.reply(text("Two."))
    lines = [{"prompt": "first"}, {"type": "user", "message": {"role": "user", "content": "second"}}]
    done = ask("--stream-json", "--input-json", stdin="".join(json.dumps(line) + "\n" for line in lines))
    assert done.returncode == 0, done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["result"]["result"] for line in said if "result" in line] == ["One.", "Two."]
    assert [line["event"]["type"] for line in said if "event" in line].count("turnFinished") == 2
    assert len(ask.model.calls[-1].body["messages"]) == 3


def test_a_line_that_is_no_prompt_is_named(ask: Asker) -> None:
    done = ask("--input-json", stdin='{"colour": "blue"}\n')
    assert done.returncode == 2 and "line 1 of stdin has no prompt" in done.stderr


def test_a_recorded_conversation_is_replayed_without_an_endpoint_and_holds_no_key(ask: Asker, tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    (ask.project / "a.txt").write_text("the text of a")
    key = "sk-ant-" + "api03-" + "x" * 40
    ask.env["ANTHROPIC_API_KEY"] = key
    ask.model.reply(tool("Read", file_path="a.txt"))
    ask.model.reply(text("It says a."))
    assert ask("what does a.txt say?", "--record", str(tape)).stdout == "It says a.\n"
    assert key not in tape.read_text() and oct(tape.stat().st_mode & 0o777) == "0o600"
    asked = len(ask.model.calls)
    replayed = ask("what does a.txt say?", "--replay", str(tape), ANTHROPIC_API_KEY="")
    assert (replayed.returncode, replayed.stdout) == (0, "It says a.\n"), replayed.stderr
    assert len(ask.model.calls) == asked


def test_a_recording_that_ends_too_soon_fails_the_turn_in_words(ask: Asker, tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.write_text("")
    done = ask("hello", "--replay", str(tape))
    assert done.returncode == 1 and "has no further call" in done.stderr
    tape.write_text('{"not": "one"}\n')
    done = ask("hello", "--replay", str(tape))
    assert done.returncode == 1 and "not a recording" in done.stderr
