"""`tool_response` of PostToolUse: for each tool the object that existing scripts read; and such an object given back
as `updatedToolOutput`. One conversation, in which a real script notes what it gets (H)."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from assent.app import Options, headless
from assent.sessions.stream.front import Call, FrontFlags
from assent.tools.tool_responses import response_words, structured_patch
from assent.types.blocks import Json
from assent.wire.asks import Elicit, PermissionAsk
from fakeapi import Answer, FakeApi, Reply, Request, text, tool

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
NOTEBOOK: Json = {
    "cells": [{"cell_type": "code", "id": "one", "metadata": {}, "source": ["1"], "outputs": [], "execution_count": 1}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}
QUESTION: Json = {"question": "Which colour?", "header": "Colour", "multiSelect": False}
QUESTION["options"] = [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]
TODO = {"content": "test it", "activeForm": "testing it", "status": "pending"}


class OfType:
    """Equal to whatever has the type."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.kind)

    __hash__ = None  # pyright: ignore[reportAssignmentType]


TEXT, NUMBER = OfType(str), OfType(int)
HUNK = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": ["-one", "+ONE", " two"]}


@dataclass(frozen=True)
class Row:
    """A call, and what its response must hold; HERE stands for the project's folder."""

    tool: str
    given: Mapping[str, Any]
    holds: Mapping[str, Any]
    id: str = ""


ROWS = [
    Row(
        "Write",
        {"file_path": "new.txt", "content": "one\ntwo\n"},
        {
            "type": "create",
            "filePath": "HERE/new.txt",
            "success": True,
            "content": "one\ntwo\n",
            "originalFile": None,
            "userModified": False,
            "structuredPatch": [
                {"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 2, "lines": ["+one", "+two"]}
            ],
        },
    ),
    Row(
        "Edit",
        {"file_path": "new.txt", "old_string": "one", "new_string": "ONE"},
        {
            "filePath": "HERE/new.txt",
            "success": True,
            "oldString": "one",
            "newString": "ONE",
            "replaceAll": False,
            "originalFile": "one\ntwo\n",
            "structuredPatch": [HUNK],
            "userModified": False,
        },
    ),
    Row(
        "MultiEdit",
        {"file_path": "new.txt", "edits": [{"old_string": "two", "new_string": "three"}]},
        {"filePath": "HERE/new.txt", "success": True, "originalFile": "ONE\ntwo\n"},
    ),
    Row(
        "Write",
        {"file_path": "new.txt", "content": "three\n"},
        {"type": "update", "filePath": "HERE/new.txt", "success": True, "originalFile": "ONE\nthree\n"},
        id="Write over a file",
    ),
    Row(
        "Read",
        {"file_path": "lines.txt", "offset": 2, "limit": 2},
        {
            "type": "text",
            "file": {
                "filePath": "HERE/lines.txt",
                "content": "b\nc",
                "numLines": 2,
                "startLine": 2,
                "totalLines": 4,
            },
        },
    ),
    Row(
        "Read",
        {"file_path": "lines.txt", "offset": 2, "limit": 2},
        {"type": "file_unchanged", "file": {"filePath": "HERE/lines.txt"}},
        id="Read once more",
    ),
    Row(
        "Read",
        {"file_path": "dot.png"},
        {
            "type": "image",
            "file": {"base64": base64.b64encode(PIXEL).decode(), "type": "image/png", "originalSize": len(PIXEL)},
        },
        id="Read an image",
    ),
    Row(
        "Read",
        {"file_path": "book.ipynb"},
        {"type": "notebook", "file": {"filePath": "HERE/book.ipynb", "cells": NOTEBOOK["cells"]}},
        id="Read a notebook",
    ),
    Row(
        "NotebookEdit",
        {"notebook_path": "book.ipynb", "cell_id": "one", "new_source": "2"},
        {
            "notebook_path": "HERE/book.ipynb",
            "new_source": "2",
            "cell_id": "one",
            "edit_mode": "replace",
            "original_file": json.dumps(NOTEBOOK),
            "updated_file": TEXT,
        },
    ),
    Row(
        "Bash",
        {"command": "echo out; echo err >&2"},
        {"stdout": "out\nerr", "stderr": "", "interrupted": False, "isImage": False},
    ),
    Row(
        "Bash",
        {"command": "sleep 300", "run_in_background": True},
        {"stdout": "", "stderr": "", "interrupted": False, "backgroundTaskId": TEXT},
        id="Bash in the background",
    ),
    Row(
        "KillShell",
        {"shell_id": "JOB"},
        {"message": TEXT, "shell_id": TEXT, "command": "sleep 300"},
    ),
    Row(
        "Glob",
        {"pattern": "*.ipynb"},
        {
            "filenames": ["book.ipynb"],
            "numFiles": 1,
            "truncated": False,
            "totalMatches": 1,
            "countIsComplete": True,
            "durationMs": NUMBER,
        },
    ),
    Row(
        "Glob",
        {"pattern": "*.none"},
        {"filenames": [], "numFiles": 0, "truncated": False},
        id="Glob for nothing",
    ),
    Row(
        "Grep",
        {"pattern": "[ab]", "path": "lines.txt", "output_mode": "content"},
        {
            "mode": "content",
            "numFiles": 1,
            "filenames": [],
            "numLines": 2,
            "totalLines": 2,
            "content": "lines.txt:1:a\nlines.txt:2:b",
        },
    ),
    Row(
        "Grep",
        {"pattern": "c", "glob": "*.txt"},
        {"mode": "files_with_matches", "numFiles": 1, "filenames": ["lines.txt"], "totalFiles": 1},
        id="Grep for files",
    ),
    Row(
        "Grep",
        {"pattern": "[abc]", "path": "lines.txt", "output_mode": "count"},
        {"mode": "count", "numFiles": 1, "filenames": [], "content": "lines.txt:3", "numMatches": 3},
        id="Grep to count",
    ),
    Row("Grep", {"pattern": "nowhere"}, {"numFiles": 0, "filenames": []}, id="Grep for nothing"),
    Row("TodoWrite", {"todos": [TODO]}, {"oldTodos": [], "newTodos": [{**TODO, "id": TEXT}]}),
    Row("AskUserQuestion", {"questions": [QUESTION]}, {"questions": [QUESTION], "answers": {"Which colour?": "blue"}}),
    Row("TaskCreate", {"subject": "one"}, {"task": {"id": "1", "subject": "one"}}),
    Row(
        "TaskUpdate",
        {"taskId": "1", "status": "completed"},
        {
            "success": True,
            "taskId": "1",
            "updatedFields": ["status"],
            "statusChange": {"from": "pending", "to": "completed"},
        },
    ),
    Row("TaskList", {}, {"tasks": [{"id": "1", "subject": "one", "status": "completed", "blockedBy": []}]}),
    Row("Skill", {"skill": "greet"}, {"success": True, "commandName": "greet"}),
    Row(
        "Agent",
        {"prompt": "Say hello.", "description": "hello", "subagent_type": "general-purpose"},
        {
            "status": "completed",
            "agentId": TEXT,
            "content": [{"type": "text", "text": "Done."}],
            "totalToolUseCount": 0,
            "totalTokens": NUMBER,
            "totalDurationMs": NUMBER,
            "usage": OfType(dict),
        },
    ),
    Row("EnterWorktree", {"name": "side"}, {"worktreePath": TEXT, "worktreeBranch": "worktree/side", "message": TEXT}),
    Row(
        "ExitWorktree",
        {"remove": True},
        {"action": "remove", "originalCwd": "HERE", "worktreePath": TEXT, "message": TEXT},
    ),
    Row("EnterPlanMode", {}, {"message": TEXT}),
    Row("ExitPlanMode", {"plan": "1. Test."}, {"plan": "1. Test.", "isAgent": False, "filePath": TEXT}),
]


@dataclass
class Heard:
    cwd: str
    responses: list[Json] = field(default_factory=list[Json])
    batches: list[Json] = field(default_factory=list[Json])
    failures: list[Json] = field(default_factory=list[Json])


@pytest.mark.parametrize("number", range(len(ROWS)), ids=[row.id or row.tool for row in ROWS])
def test_scripts_get_the_object_that_they_read_of_each_tool(heard: Heard, number: int) -> None:
    row = ROWS[number]
    given = heard.responses[number]
    assert given["tool_name"] == row.tool
    held = {key: given["tool_response"].get(key) for key in row.holds}
    assert held == _placed(row.holds, heard.cwd), given["tool_response"]


def _placed(value: Any, cwd: str) -> Any:
    if isinstance(value, str):
        return value.replace("HERE", cwd)
    if isinstance(value, list):
        return [_placed(each, cwd) for each in cast("list[Any]", value)]
    return {key: _placed(each, cwd) for key, each in cast("Json", value).items()} if isinstance(value, dict) else value


def test_the_batch_event_has_the_text_that_the_model_reads_and_a_failure_has_no_response(heard: Heard) -> None:
    reads = [call for batch in heard.batches for call in batch["tool_calls"] if call["tool_name"] == "Read"]
    assert reads[0]["tool_response"].startswith("     2→b\n     3→c")
    assert all(isinstance(call["tool_response"], str) for batch in heard.batches for call in batch["tool_calls"])
    (failed,) = heard.failures
    assert "Exit code 3" in failed["error"] and "tool_response" not in failed


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("plain words", "plain words"),
        ({"stdout": "[redacted]", "stderr": "", "interrupted": False, "isImage": False}, "[redacted]"),
        ({"stdout": "out", "stderr": "a note"}, "out\na note"),
        ({"type": "text", "file": {"filePath": "/a", "content": "x = 1", "numLines": 1}}, "x = 1"),
        ({"status": "completed", "content": [{"type": "text", "text": "found"}]}, "found"),
        ({"mode": "content", "numFiles": 1, "filenames": [], "content": "a:1:b"}, "a:1:b"),
        ({"numFiles": 2, "filenames": ["a", "b"]}, "a\nb"),
        ({"url": "https://a", "code": 200, "result": "a page"}, "a page"),
        ([{"type": "text", "text": "from a server"}], "from a server"),
        ({"anything": [1, 2]}, '{"anything":[1,2]}'),
    ],
)
def test_an_object_that_a_hook_gives_back_is_read_as_its_text(given: object, words: str) -> None:
    assert response_words(given) == words


def test_the_hunks_of_a_patch_turn_the_old_text_into_the_new_one() -> None:
    old = [f"{number}\n" for number in range(60)]
    new = [*old[:5], "five\n", *old[6:9], *old[10:40], "forty\n", "more\n", *old[40:]]
    patch = structured_patch("".join(old), "".join(new))
    assert [(hunk["oldStart"], hunk["newStart"]) for hunk in patch] == [(3, 3), (38, 37)]
    made: list[str] = []
    at = 0
    for hunk in patch:
        begin = hunk["oldStart"] - 1
        made += old[at:begin]
        assert len(made) == hunk["newStart"] - 1
        assert [f"{line[1:]}\n" for line in hunk["lines"] if line[0] in " -"] == old[begin : begin + hunk["oldLines"]]
        added = [f"{line[1:]}\n" for line in hunk["lines"] if line[0] in " +"]
        assert len(added) == hunk["newLines"]
        made += added
        at = begin + hunk["oldLines"]
    assert made + old[at:] == new


# --- the conversation -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    root = tmp_path_factory.mktemp("responses")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(root / "home"))
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"):
            patch.delenv(name, raising=False)
        project = root / "project"
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        who = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *who, "commit", "-q", "--allow-empty", "-m", "first"], cwd=project, check=True)
        return asyncio.run(asyncio.wait_for(_conversation(root, patch), 600))


class Person:
    flags = FrontFlags(permissions=True, elicitation=True, partials=True, max_event_rate=0)

    def event(self, published: Any) -> None: ...

    async def ask(self, ask: PermissionAsk) -> Json:
        return {"decision": "allow"}

    async def elicit(self, elicit: Elicit) -> Json:
        return {"action": "accept", "content": {"answers": {"q1": ["blue"]}}}

    def withdraw(self, request_id: str) -> None: ...


async def _conversation(root: Path, patch: pytest.MonkeyPatch) -> Heard:
    home, cwd, given = root / "home", root / "project", root / "given.jsonl"
    for folder in (home / ".config/assent", home / ".claude/skills/greet"):
        folder.mkdir(parents=True)
    (home / ".claude/skills/greet/SKILL.md").write_text("---\nname: greet\ndescription: Greets.\n---\nSay hello.\n")
    (cwd / "lines.txt").write_text("a\nb\nc\nd\n")
    (cwd / "dot.png").write_bytes(PIXEL)
    (cwd / "book.ipynb").write_text(json.dumps(NOTEBOOK))
    script = root / "note.py"
    script.write_text(
        f"import json, sys\ngiven = json.load(sys.stdin)\nopen({str(given)!r}, 'a').write(json.dumps(given) + '\\n')\n"
    )
    handler = {"type": "command", "command": sys.executable, "args": ["-I", "-S", str(script)]}
    hooks = {event: [{"hooks": [handler]}] for event in ("PostToolUse", "PostToolUseFailure", "PostToolBatch")}
    rules = {"allow": ["Bash", "Edit", "Write", "Skill", "Agent", "EnterWorktree", "ExitWorktree"]}
    (home / ".config/assent/settings.json").write_text(json.dumps({"hooks": hooks, "permissions": rules}))

    def heard() -> list[Json]:
        return [json.loads(line) for line in given.read_text().splitlines()] if given.exists() else []

    async with FakeApi() as api:
        for name, value in api.env.items():
            patch.setenv(name, value)
        api.otherwise(_model)
        async with headless(Options(source_seconds=60, interactive=True)) as app:
            call = Call(front=Person())
            request = app.sessions.request
            session_id = (await request("assent/session/new", {"cwd": str(cwd)}, call))["sessionId"]
            for row in [*ROWS, Row("Bash", {"command": "exit 3"}, {})]:
                job = next((each["tool_response"].get("backgroundTaskId", "") for each in heard()[-2:-1]), "")
                words = json.dumps([row.tool, row.given]).replace("JOB", job)
                params = {"sessionId": session_id, "prompt": f"CALL {words}", "wait": True}
                await request("assent/session/send", params, call)
            await request("assent/session/close", {"sessionId": session_id})
    found = Heard(str(cwd))
    lists = {
        "PostToolUse": found.responses,
        "PostToolBatch": found.batches,
        "PostToolUseFailure": found.failures,
    }
    for each in heard():
        lists[each["hook_event_name"]].append(each)
    return found


def _model(request: Request) -> Answer:
    said = [block for _, block in request.blocks if block.get("type") in ("text", "tool_result")]
    words = request.last_text
    if "CALL " in words and not any(block.get("type") == "tool_result" for block in said[-1:]):
        name, given = json.JSONDecoder().raw_decode(words[words.index("CALL ") + 5 :])[0]
        return Reply(parts=(tool(name, given),))
    return Reply(parts=(text("Done."),))
