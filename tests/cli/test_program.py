"""The program as a person starts it: a real process, a scratch home, the offline model."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from terminal import picture

PROGRAM = [str(Path(sys.executable).with_name("assent"))]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL")}
    return {**kept, "HOME": str(home)}


def run(
    env: dict[str, str], *arguments: str, stdin: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments],
        env=env,
        input=stdin,
        cwd=cwd or env["HOME"],
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_demo_shows_the_diff_the_ask_and_the_passing_tests_and_says_that_it_answers_itself(
    env: dict[str, str],
) -> None:
    done = run(env, "demo")
    assert done.returncode == 0, done.stderr
    for shown in (
        '-     return f"Helo, {name}!"',
        '+     return f"Hello, {name}!"',
        "? Edit",
        "? Run make test",
        "(no terminal: answering for you)",
        "Ran 1 test",
        "OK",
        "not a language model",
        "✓ completed",
    ):
        assert shown in done.stdout
    assert done.stderr == ""


def test_the_demo_leaves_nothing_behind(env: dict[str, str], tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    assert run(env | {"TMPDIR": str(scratch)}, "demo").returncode == 0
    assert list(scratch.iterdir()) == []


def test_ask_prints_the_answer_and_says_on_stderr_that_it_is_offline(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("one\nneedle here\n")
    done = run(env, "ask", "find needle", cwd=tmp_path)
    assert done.returncode == 0
    assert "notes.txt:2:needle here" in done.stdout
    assert "offline stand-in" in done.stderr


def test_ask_json_gives_the_whole_result(env: dict[str, str], tmp_path: Path) -> None:
    result = json.loads(run(env, "ask", "find needle", "--json", cwd=tmp_path).stdout)
    assert (result["subtype"], result["terminal"], result["isError"]) == ("success", "completed", False)
    assert result["sessionId"]


def test_ask_stream_json_gives_every_event_in_order_and_the_result_last(env: dict[str, str], tmp_path: Path) -> None:
    done = run(env, "ask", "find needle", "--stream-json", cwd=tmp_path)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert "result" in lines[-1]
    numbers = [line["seq"] for line in lines[:-1]]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    kinds = [line["event"]["type"] for line in lines[:-1]]
    assert kinds.index("turnStarted") < kinds.index("toolStarted") < kinds.index("turnFinished")


def test_ask_denies_what_it_would_have_to_ask_about_and_tells_the_model(
    env: dict[str, str], tmp_path: Path
) -> None:  # P12
    result = json.loads(run(env, "ask", "run `touch made`", "--json", cwd=tmp_path).stdout)
    assert [denial["toolName"] for denial in result["permissionDenials"]] == ["Bash"]
    assert not (tmp_path / "made").exists()
    assert "nobody is there to be asked" in result["result"]


def test_ask_does_what_a_rule_on_the_command_line_allows(env: dict[str, str], tmp_path: Path) -> None:
    result = json.loads(
        run(env, "ask", "run `touch made`", "--json", "--allow", "Bash(touch made)", cwd=tmp_path).stdout
    )
    assert result["permissionDenials"] == []
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize("shape", [(), ("--json",), ("--stream-json",)])
def test_a_reader_that_goes_away_ends_the_program_without_a_fuss(env: dict[str, str], shape: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        done = subprocess.run(
            [*PROGRAM, "ask", *shape, "hello"],
            env=env,
            cwd=env["HOME"],
            stdin=subprocess.DEVNULL,
            stdout=nobody,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if "offline stand-in" not in line] == []


def test_ask_reads_the_prompt_from_stdin(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("needle\n")
    assert "a.txt:1:needle" in run(env, "ask", "-", stdin="find needle", cwd=tmp_path).stdout


BAD_INPUT = {
    "an unknown command": (("frobnicate",), 2),
    "no command": ((), 2),
    "ask without a prompt": (("ask",), 2),
    "an empty prompt": (("ask", "  "), 2),
    "a folder that is not there": (("ask", "hi", "--cwd", "/nonexistent/folder"), 2),
    "chat without a terminal": (("chat",), 2),
    "a session that is not there": (("sessions", "show", "snosuch"), 1),
    "sessions show without an id": (("sessions", "show"), 2),
    "a schema that is not there": (("ask", "hi", "--json-schema", "/nonexistent.json"), 2),
    "no steps at all": (("ask", "hi", "--max-turns", "0"), 2),
    "a number of steps that is none": (("ask", "hi", "--max-turns", "many"), 2),
    "a budget that is no number": (("ask", "hi", "--max-budget-usd", "nan"), 2),
    "a budget of nothing": (("ask", "hi", "--max-budget-usd", "-1"), 2),
    "a rule that is none": (("ask", "hi", "--allow", "Bash("), 2),
    "a model without a key": (("ask", "hi", "--model", "claude-opus-5-5"), 1),
    "an unknown action on sessions": (("sessions", "shred", "s1"), 2),
    "sessions of a folder that is not there": (("sessions", "--cwd", "/nonexistent/folder"), 2),
    "the health of a folder that is not there": (("doctor", "--cwd", "/nonexistent/folder"), 2),
    "an editor nobody knows": (("demo", "--in", "ed"), 2),
}


@pytest.mark.parametrize("case", BAD_INPUT, ids=list(BAD_INPUT))
def test_bad_input_gets_one_clear_line_and_no_traceback(case: str, env: dict[str, str]) -> None:
    arguments, code = BAD_INPUT[case]
    done = run(env, *arguments)
    assert done.returncode == code
    said = (done.stderr + done.stdout).strip()
    assert said
    assert "Traceback" not in said and "a bug:" not in said
    if arguments:
        assert len(said.splitlines()) == 1, said


def test_a_wrong_number_is_named_and_an_unknown_session_comes_with_a_way_out(env: dict[str, str]) -> None:
    assert "'many' is not a whole number of at least 1" in run(env, "ask", "hi", "--max-turns", "many").stderr
    assert "'nan' is not an amount of more than 0" in run(env, "ask", "hi", "--max-budget-usd", "nan").stderr
    assert "There is no session s1 — List the sessions" in run(env, "sessions", "show", "s1").stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_cannot_show_every_character_is_no_reason_to_fail(env: dict[str, str], encoding: str) -> None:
    done = subprocess.run(
        [*PROGRAM, "demo"],
        env=env | {"PYTHONIOENCODING": encoding},
        stdin=subprocess.DEVNULL,
        cwd=env["HOME"],
        capture_output=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"? completed" in done.stdout


def test_a_data_folder_that_cannot_be_written_is_named(env: dict[str, str]) -> None:
    done = run(env | {"XDG_DATA_HOME": "/proc/nowhere"}, "ask", "find x")
    assert done.returncode == 1
    assert "/proc/nowhere" in done.stderr and "Traceback" not in done.stderr


def test_broken_settings_are_told_with_file_and_key_and_the_rest_applies(env: dict[str, str], tmp_path: Path) -> None:
    folder = Path(env["HOME"]) / ".config" / "assent"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text('{"maxTurns": "many", "permissions": {"allow": ["Bash(touch made)"]}}')
    doctor = run(env, "doctor", "--json", cwd=tmp_path)
    assert doctor.returncode == 1
    problems = [finding for finding in json.loads(doctor.stdout) if finding["state"] == "problem"]
    assert [finding["name"] for finding in problems] == ["settings"]
    assert "settings.json" in problems[0]["text"] and "maxTurns" in problems[0]["text"]
    asked = run(env, "ask", "run `touch made`", cwd=tmp_path)
    assert asked.returncode == 0
    assert "settings.json:1: maxTurns" in asked.stderr
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize("command", [("ask", "find x"), ("demo",)])
def test_settings_that_cannot_be_read_at_all_stop_a_conversation_before_it_begins(
    env: dict[str, str], command: tuple[str, ...]
) -> None:
    folder = Path(env["HOME"]) / ".config" / "assent"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text('{"maxTurns": 3,')
    done = run(env, *command)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and "Traceback" not in done.stderr
    assert str(folder / "settings.json") in done.stderr and "assent doctor" in done.stderr


def test_serve_typed_by_a_person_says_what_it_is_for(env: dict[str, str]) -> None:
    ours, child = pty.openpty()
    done = subprocess.run(
        [*PROGRAM, "serve"],
        env=env,
        stdin=child,
        capture_output=True,
        text=True,
        timeout=120,
    )
    os.close(child)
    os.close(ours)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1 and "assent chat" in done.stderr


def test_no_conversations_are_told_in_one_line(env: dict[str, str]) -> None:
    done = run(env, "sessions")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "No conversations yet. Start one: assent chat\n"


def test_doctor_says_what_is_there_and_how_to_fix_what_is_not(env: dict[str, str]) -> None:
    done = run(env, "doctor", "--json")
    found = {finding["name"]: finding for finding in json.loads(done.stdout)}
    assert done.returncode == 0
    assert found["model"]["state"] == "note" and "ANTHROPIC_API_KEY" in found["model"]["fix"]
    assert found["search"]["state"] == "ok"
    assert found["sandbox"]["text"]
    keyed = json.loads(run(env | {"ANTHROPIC_API_KEY": "sk-secret"}, "doctor", "--json").stdout)
    assert next(finding for finding in keyed if finding["name"] == "model")["state"] == "ok"
    assert "sk-secret" not in json.dumps(keyed)


def test_sessions_lists_shows_and_deletes(env: dict[str, str], tmp_path: Path) -> None:
    session = json.loads(run(env, "ask", "find needle", "--json", cwd=tmp_path).stdout)["sessionId"]
    assert session in run(env, "sessions").stdout
    assert "find needle" in run(env, "sessions", "show", session).stdout
    assert run(env, "sessions", "delete", session).returncode == 0
    assert json.loads(run(env, "sessions", "--json").stdout) == []


def test_explain_answers_every_line(env: dict[str, str], tmp_path: Path) -> None:
    asked = [
        {"tool": "Bash", "input": {"command": "ls"}, "cwd": str(tmp_path)},
        {"tool": "Bash", "input": {"command": "rm -rf /"}, "cwd": str(tmp_path), "mode": "bypassPermissions"},
        {"tool": "Bash", "input": {"command": "curl x"}, "cwd": str(tmp_path), "rules": {"deny": ["Bash(curl:*)"]}},
    ]
    done = run(env, "explain", stdin="\n".join([json.dumps(asked[0]), "nonsense", *map(json.dumps, asked[1:])]) + "\n")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.get("decision") for answer in answers] == ["allow", None, "ask", "deny"]
    assert (answers[2]["step"], answers[3]["rule"]) == ("ironGate", "Bash(curl:*)")


def test_help_names_every_command_and_each_command_explains_itself(env: dict[str, str]) -> None:
    shown = run(env, "--help").stdout
    for command in ("serve", "acp", "chat", "ask", "explain", "sessions", "doctor", "demo"):
        assert f"    {command} " in shown
        own = run(env, command, "--help").stdout
        usage, _, rest = own.partition("\n\n")
        assert usage.startswith(f"usage: assent {command}")
        assert not rest.startswith(("options:", "positional")), f"{command} does not say what it is for"


def test_a_machine_without_python_gets_one_clear_line(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "env"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    script = Path(__file__).parents[2] / ".ci" / "python"
    done = subprocess.run(
        [script, tmp_path / "venv"], env={"PATH": str(tools)}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "Python 3.11" in done.stderr


def test_the_readme_picture_is_what_one_sees(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    assert "docs/demo.svg" in (root / "README.md").read_text()
    shown = picture.drawn(picture.demo(tmp_path), title="make demo")
    assert shown == (root / "docs" / "demo.svg").read_text(), "draw it anew with `make picture`"


def test_the_demo_in_an_editor_that_is_not_there_says_so(env: dict[str, str]) -> None:
    done = run(env | {"PATH": "/nonexistent"}, "demo", "--in", "nvim")
    assert done.returncode == 1
    assert "nvim is not on the PATH" in done.stderr
