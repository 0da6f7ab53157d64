"""`assent ask` for automation: flags, input on stdin, sessions, recordings. The real program against a strict model."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakeapi import FakeApi, Reply, text, tool
from mcpserver import entry

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


@pytest.mark.parametrize(
    ("options", "subtype"),
    [(("--max-turns", "1"), "error_max_turns"), (("--max-budget-usd", "0.000001"), "error_max_budget_usd")],
    ids=["steps", "budget"],
)
def test_a_limit_that_is_reached_ends_the_turn_as_a_failure(ask: Asker, options: tuple[str, str], subtype: str) -> None:
    ask.model.reply(tool("Glob", pattern="*"))
    ask.model.reply(tool("Glob", pattern="*"))
    done = ask("--json", "look", *options)
    assert done.returncode == 1, done.stderr
    said = json.loads(done.stdout)
    assert (said["subtype"], said["isError"]) == (subtype, True)


def test_the_mode_of_the_command_line_counts(ask: Asker) -> None:
    (ask.project / "a.txt").write_text("one\n")
    for mode, landed in (("plan", "one\n"), ("acceptEdits", "two\n")):
        ask.model.reply(tool("Read", file_path="a.txt"))
        ask.model.reply(tool("Edit", file_path="a.txt", old_string="one", new_string="two"))
        ask.model.reply(text("Done."))
        ask.result("change it", "--mode", mode)
        assert (ask.project / "a.txt").read_text() == landed, mode


def test_an_answer_fits_the_schema_of_a_file(ask: Asker, tmp_path: Path) -> None:  # Q10
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}))
    ask.model.reply(tool("StructuredOutput", n=4))
    ask.model.reply(text("Done."))
    assert ask.result("count", "--output-schema", str(schema))["structuredOutput"] == {"n": 4}


@pytest.mark.parametrize(
    ("option", "content", "words"),
    [
        ("--output-schema", None, "No such file or directory"),
        ("--output-schema", "{", "is not JSON"),
        ("--output-schema", "[]", "must be an object"),
        ("--mcp-config", None, "No such file or directory"),
        ("--mcp-config", "{}", "must hold an object `mcpServers`"),
        ("--mcp-config", '{"mcpServers": {"web": {"url": "https://example.org"}}}', "a `url` needs a `type`"),
        ("--mcp-config", '{"mcpServers": {"a__b": {"command": "true"}}}', "holds no `__`"),
        ("--image", None, "No such file or directory"),
        ("--image", "words", "is named like an image but is none"),
    ],
    ids=[
        *("no schema", "a broken schema", "a list", "no servers' file", "no servers", "a url alone", "a reserved name"),
        *("no image", "words for an image"),
    ],
)
def test_a_file_that_cannot_be_used_is_wrong_usage(ask: Asker, option: str, content: str | None, words: str) -> None:
    file = ask.project / "given.png"
    if content is not None:
        file.write_text(content)
    done = ask("hello", option, str(file))
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr and "Errno" not in done.stderr
    assert ask.model.calls == []


def test_a_pipe_in_which_nothing_comes_is_named_instead_of_silently_left_out(ask: Asker) -> None:
    ask.model.reply(text("Hello."))
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [PROGRAM, "ask", "hello"], env=ask.env, cwd=ask.project, stdin=reading, capture_output=True, text=True
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.returncode, done.stdout) == (0, "Hello.\n")
    assert "nothing came on stdin" in done.stderr


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
    ask.model.reply(text("Three."))
    second = {"role": "user", "content": "second"}
    lines = [{"prompt": "first"}, second, {"type": "user", "message": second}]
    done = ask("--stream-json", "--input-json", stdin="".join(json.dumps(line) + "\n" for line in lines))
    assert done.returncode == 0, done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["result"]["result"] for line in said if "result" in line] == ["One.", "Two.", "Three."]
    assert [line["event"]["type"] for line in said if "event" in line].count("turnFinished") == 3
    assert len(ask.model.calls[-1].body["messages"]) == 5


def test_a_program_talks_in_lines_both_ways_and_ctrl_c_ends_the_wait_for_the_next_one(ask: Asker) -> None:
    ask.model.otherwise(Reply(parts=(text("Well."),)))
    command = [PROGRAM, "ask", "--stream-json", "--input-json"]
    with subprocess.Popen(
        command, env=ask.env, cwd=ask.project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdin is not None and program.stdout is not None
        for count in (1, 2):  # the second prompt is written when the first one's result is there
            program.stdin.write(json.dumps({"prompt": f"turn {count}"}) + "\n")
            program.stdin.flush()
            kinds: list[str] = []
            while not kinds or kinds[-1] != "result":
                line: dict[str, Any] = json.loads(program.stdout.readline())
                kinds.append("result" if "result" in line else line["event"]["type"])
            assert {"turnStarted", "turnFinished"} <= set(kinds)
        program.send_signal(signal.SIGINT)  # stdin is still open
        assert program.wait(timeout=120) == 130
    assert len(ask.model.calls) == 2


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        ((), '{"colour": "blue"}', "line 1 of stdin has no prompt"),
        ((), '{"role": "assistant", "content": "hi"}', "line 1 of stdin has no prompt"),
        (("--resume", ""), '{"prompt": "hi"}', "--resume: it is empty"),
        (("--model", " "), '{"prompt": "hi"}', "--model: it is empty"),
        ((), '\n{"prompt": " "}', "the prompt of line 2 of stdin is empty"),
        ((), '{"message": {"content": []}}', "the prompt of line 1 of stdin is empty"),
        ((), "hello", "line 1 of stdin is not JSON"),
        (("hello",), '{"prompt": "hi"}', "not on the command line"),
        (("--image", "dot.png"), '{"prompt": "hi"}', "not on the command line"),
    ],
    ids=[
        "no prompt",
        "another role",
        "no session",
        "no model",
        "blank",
        "no blocks",
        "no JSON",
        "words besides",
        "an image besides",
    ],
)
def test_a_line_that_cannot_be_used_is_named(ask: Asker, arguments: tuple[str, ...], stdin: str, words: str) -> None:
    done = ask("--input-json", *arguments, stdin=f"{stdin}\n")
    assert (done.returncode, done.stdout) == (2, "") and words in done.stderr
    assert ask.model.calls == []


def test_background_work_is_left_out_and_memory_and_hooks_are_not(ask: Asker) -> None:  # L13
    noted = "what was said in the latest turn"
    home = Path(ask.env["HOME"])
    (home / ".config" / "assent").mkdir(parents=True)
    hooks = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo from the hook"}]}]}
    settings = {"backgroundCalls": {"memory": True, "suggestion": True}, "hooks": hooks}
    (home / ".config" / "assent" / "settings.json").write_text(json.dumps(settings))
    (home / ".config" / "assent" / "ASSENT.md").write_text("Prefer tabs.\n")
    ask.model.when(noted, Reply(parts=(text("- A note."),)))
    ask.model.otherwise(Reply(parts=(text("Well."),)))
    done = ask("--input-json", stdin="".join(f'{{"prompt": "turn {number}"}}\n' for number in range(3)))
    assert done.returncode == 0, done.stderr
    assert len(ask.model.calls) == 3  # no notes and no suggestion between the turns
    assert "from the hook" in str(ask.model.calls[0].body)
    assert "Prefer tabs." in str(ask.model.calls[-1].body)  # the first turn waits a quarter of a second for it


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


def test_a_recording_never_replaces_a_file_that_is_none(ask: Asker, tmp_path: Path) -> None:
    source = tmp_path / "app.py"
    source.write_text("print(1)\n")
    done = ask("hello", "--record", str(source))
    assert done.returncode == 1 and "not a recording" in done.stderr
    assert source.read_text() == "print(1)\n"
    done = ask("hello", "--record", str(tmp_path / "nowhere" / "tape"))
    assert done.returncode == 1 and "cannot be written" in done.stderr
    done = ask("hello", "--replay", str(tmp_path / "nowhere"))
    assert done.returncode == 1 and "cannot be read" in done.stderr


def test_a_recording_is_not_written_through_a_link_that_the_folder_holds(ask: Asker, tmp_path: Path) -> None:
    for target in (tmp_path / "not yet there", tmp_path / "there"):
        link = ask.project / target.name
        link.symlink_to(target)
        if target.name == "there":
            target.write_text("")  # it could pass for an empty recording
        done = ask("hello", "--record", str(link))
        assert done.returncode == 1 and "is a link or a pipe" in done.stderr
        assert link.is_symlink()
    assert not (tmp_path / "not yet there").exists() and not (tmp_path / "there").read_text()


def test_words_without_quotes_are_one_prompt(ask: Asker) -> None:
    ask.model.reply(text("Well."))
    assert ask.result("explain", "this", "file")["result"] == "Well."
    assert "explain this file" in last_said(ask.model)


def test_a_turn_can_be_traced_into_a_file_and_shown_as_a_tree(ask: Asker) -> None:
    ask.model.reply(tool("Glob", pattern="*"))
    ask.model.reply(text("Nothing is here."))
    file = ask.project / "trace.jsonl"
    assert ask("--trace", str(file), "look around").returncode == 0
    first, second = (json.loads(line) for line in file.read_text().splitlines())
    assert first["chain"] == second["chain"] and (first["depth"], second["transition"]) == (0, "next_turn")

    def trace(*arguments: str) -> str:
        done = subprocess.run(
            [PROGRAM, "trace", *arguments], env=ask.env, cwd=ask.project, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    shown = trace()
    assert 'Turn 1  "look around"' in shown and "└─ Glob *" in shown and "2 steps" in shown
    (turn,) = json.loads(trace("--json", first["sessionId"]))
    assert turn["chain"] == first["chain"] and turn["calls"][0]["calls"][0]["tool"] == "Glob"


def test_calls_that_hooks_and_tools_make_are_of_the_same_chain_as_the_turn_they_serve(ask: Asker) -> None:  # M6
    home = Path(ask.env["HOME"], ".config", "assent")
    home.mkdir(parents=True)
    hook = {"type": "prompt", "prompt": "Is this a good prompt?"}
    (home / "settings.json").write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}))
    ask.model.when("Is this a good prompt?", Reply(parts=(text('{"ok": true}'),)))
    ask.model.reply(tool("WebSearch", query="tea"))
    ask.model.reply(text("Tea is hot."))
    ask.model.reply(text("Read it."))
    file = ask.project / "trace.jsonl"
    assert ask("--trace", str(file), "--allow", "WebSearch", "look it up").returncode == 0
    calls = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(call["source"], call["depth"]) for call in calls] == [
        ("hook", 1),
        ("main", 0),
        ("summary", 1),
        ("main", 0),
    ]
    assert len({call["chain"] for call in calls}) == 1 and calls[0]["chain"]
    marked = ["cache_control" in json.dumps(call.body) for call in ask.model.calls]
    assert marked == [False, True, False, True]  # nothing goes on from a call beside the turn: it writes no cache


def test_calls_beside_a_subagent_stand_one_below_it_in_the_trace(ask: Asker) -> None:
    settings, agents = Path(ask.env["HOME"], ".config", "assent"), Path(ask.env["HOME"], ".claude", "agents")
    for folder in (settings, agents):
        folder.mkdir(parents=True)
    agent = "---\nname: finder\ndescription: finds\ntools: WebSearch\n---\nYou find."
    (agents / "finder.md").write_text(agent)
    asked = [{"type": "prompt", "prompt": "Is this a good search?"}]
    checked = [{"type": "agent", "prompt": "Is this a good agent?"}]
    hooks = [{"matcher": "WebSearch", "hooks": asked}, {"matcher": "Agent", "hooks": checked}]
    (settings / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": hooks}}))
    for question in ("Is this a good search?", "Is this a good agent?"):
        ask.model.when(question, Reply(parts=(text('{"ok": true}'),)))
    ask.model.reply(tool("Agent", id="toolu_a", prompt="Find tea.", description="tea", subagent_type="finder"))
    ask.model.reply(tool("WebSearch", query="tea"))
    ask.model.reply(text("Tea is hot."))
    ask.model.reply(text("Found it."))
    ask.model.reply(text("Read it."))
    file = ask.project / "trace.jsonl"
    assert ask("--trace", str(file), "--allow", "WebSearch", "look it up").returncode == 0
    calls = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(call["source"], call["depth"], call["parentToolUseId"]) for call in calls] == [
        ("main", 0, None),
        ("subagent", 1, None),  # of the hook
        ("subagent", 1, "toolu_a"),
        ("hook", 2, "toolu_a"),
        ("summary", 2, "toolu_a"),
        ("subagent", 1, "toolu_a"),
        ("main", 0, None),
    ]
    assert len({call["chain"] for call in calls}) == 1 and calls[0]["chain"]


def test_a_server_of_the_command_line_runs_without_approval_and_its_tool_is_called(  # T9
    ask: Asker, tmp_path: Path
) -> None:
    file, pid, own = tmp_path / "servers.json", tmp_path / "pid", tmp_path / "project-pid"
    file.write_text(json.dumps({"mcpServers": {"plain": entry("--pid", str(pid))}}))
    (ask.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": entry("--pid", str(own))}}))
    for number in range(8):  # a search waits for a server that still connects; the next one costs nothing afterwards
        ask.model.reply(tool("ToolSearch", id=f"toolu_{number}", query="select:mcp__plain__echo"))
    ask.model.reply(tool("mcp__plain__echo", id="toolu_e", text="from the command line"))
    ask.model.reply(text("Done."))
    result = ask.result("go", "--mcp-config", str(file), "--allow", "mcp__plain")
    assert (result["result"], result["permissionDenials"]) == ("Done.", [])
    assert "echo: from the command line" in last_said(ask.model)
    assert "mcp__plain__echo" in [each["name"] for each in ask.model.calls[-1].body["tools"]]
    assert pid.exists() and not own.exists(), "the project's own server still needs trust and approval"


@pytest.mark.parametrize("output", [(), ("--json",), ("--stream-json",)])
def test_a_full_disk_behind_the_answer_ends_the_run_in_words(ask: Asker, output: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [PROGRAM, "ask", "--offline", *output, "hello"],
            cwd=ask.project,
            env=ask.env,
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_lead_nowhere(ask: Asker, closed: str) -> None:
    words = shlex.join([PROGRAM, "ask", "--offline", "hello"])
    done = subprocess.run(
        ["/bin/sh", "-c", f"{words} {closed}"],
        cwd=ask.project,
        env=ask.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "a bug" not in done.stderr and "credentials" not in done.stdout


@pytest.mark.parametrize("schema", ['{"type": "nonsense"}', '{"type": "array"}'])
def test_a_schema_that_no_answer_fits_is_wrong_usage(ask: Asker, tmp_path: Path, schema: str) -> None:
    file = tmp_path / "schema.json"
    file.write_text(schema)
    done = ask("--output-schema", str(file), "hello")
    assert done.returncode == 2 and str(file) in done.stderr
