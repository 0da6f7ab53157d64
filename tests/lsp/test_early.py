"""The early answer to `initialize`: sent by the standard library alone, and left to the loop whenever in doubt."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assent.lsp.capabilities import initialize_result, position_encoding
from assent.lsp.early import Opening, answer_initialize
from opened_files import opened_files

REQUEST: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {"capabilities": {}}}


def frame(message: Any) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def opened(data: bytes) -> tuple[Opening, bytes]:
    """What becomes of a stream that begins like this and then ends, and what was answered."""
    incoming, theirs = os.pipe()
    ours, outgoing = os.pipe()
    os.write(theirs, data)
    os.close(theirs)
    try:
        opening = answer_initialize(incoming, outgoing)
    finally:
        os.close(outgoing)
        os.close(incoming)
    with os.fdopen(ours, "rb") as answers:
        return opening, answers.read()


def test_initialize_is_answered_and_the_rest_is_handed_over() -> None:
    rest = frame({"jsonrpc": "2.0", "method": "initialized", "params": {}})[:-3]
    opening, answered = opened(frame(REQUEST) + rest)
    header, _, body = answered.partition(b"\r\n\r\n")
    assert header == b"Content-Length: %d" % len(body)
    assert json.loads(body) == {"jsonrpc": "2.0", "id": 7, "result": initialize_result({"capabilities": {}})}
    assert (opening.initialize, opening.unread) == ({"capabilities": {}}, rest)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"garbage\r\n\r\n", id="garbage"),
        pytest.param(frame(REQUEST)[:-1], id="cut short"),
        pytest.param(b"Content-Length: 99999999999999999\r\n\r\n{", id="an absurd length"),
        pytest.param(b"Content-Length: 9999999\r\n\r\n{", id="a long body"),
        pytest.param(b"Content-Type: x\r\n" + frame(REQUEST), id="another header"),
        pytest.param(frame({**REQUEST, "method": "shutdown"}), id="another method"),
        pytest.param(frame({**REQUEST, "id": None}), id="no id"),
        pytest.param(frame({**REQUEST, "id": True}), id="an id that is none"),
        pytest.param(frame({**REQUEST, "params": []}), id="an array of parameters"),
        pytest.param(frame({**REQUEST, "jsonrpc": "1.0"}), id="another version"),
        pytest.param(frame([REQUEST]), id="a batch"),
        pytest.param(frame(b'{"jsonrpc": "2.0", "id": NaN, "method": "initialize"}'), id="not JSON"),
        pytest.param(frame(b"[" * 100_000), id="nested too deeply"),
    ],
)
def test_anything_else_is_left_to_the_loop_byte_for_byte(data: bytes) -> None:
    opening, answered = opened(data[:60_000])
    assert answered == b""
    assert opening.initialize is None
    assert data.startswith(opening.unread) and (len(opening.unread) == min(len(data), 60_000))


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (None, "utf-16"),
        ([], "utf-16"),
        (["utf-8", "utf-16"], "utf-16"),
        (["utf-32", "utf-8"], "utf-32"),
        (["new"], "utf-16"),
        ("utf-8", "utf-16"),
    ],
)
def test_utf_16_is_chosen_whenever_it_is_offered(offered: Any, chosen: str) -> None:
    assert position_encoding({"general": {"positionEncodings": offered}}) == chosen


def test_the_early_answer_imports_nothing_but_the_standard_library() -> None:
    program = "import sys, assent.cli.main, assent.cli.serve; print(*sorted(sys.modules))"
    ran = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, timeout=60, check=True)
    loaded = {name.split(".")[0] for name in ran.stdout.split()}
    assert loaded & {"asyncio", "anyio", "argparse", "dataclasses", "msgspec", "orjson", "pygls", "lsprotocol"} == set()


def test_nothing_of_the_project_is_read_before_initialize_is_answered(tmp_path: Path) -> None:
    for name in (".claude/skills/s/SKILL.md", ".claude/commands/c.md", ".claude/agents/a.md", "AGENTS.md", ".mcp.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("---\nname: x\ndescription: d\n---\nx\n")
    params = {"rootUri": tmp_path.as_uri(), "workspaceFolders": [{"uri": tmp_path.as_uri(), "name": "w"}]}
    request: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"capabilities": {}, **params},
    }
    program = "import assent.cli.main, assent.cli.serve; assent.cli.serve.open_wire()"
    with opened_files(tmp_path) as read:
        ran = subprocess.run(
            [sys.executable, "-I", "-c", program], input=frame(request), cwd=tmp_path, capture_output=True, timeout=60
        )
    assert b'"capabilities"' in ran.stdout
    assert read == set()
