"""The configurations of editors that are not run here: the command each one names really starts the server."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EDITORS = Path(__file__).parents[2] / "editors"


def sublime() -> list[str]:
    return json.loads((EDITORS / "sublime" / "LSP.sublime-settings").read_text())["clients"]["assent"]["command"]


def kate() -> list[str]:
    return json.loads((EDITORS / "kate" / "lspclient.json").read_text())["servers"]["markdown"]["command"]


@pytest.mark.parametrize("command", [sublime(), kate()], ids=["sublime", "kate"])
def test_the_named_command_answers_initialize(command: list[str], tmp_path: Path) -> None:
    launcher = tmp_path / "assent"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m assent.cli.main "$@" --offline\n')
    launcher.chmod(0o755)
    params: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    done = subprocess.run(
        command,
        input=b"Content-Length: %d\r\n\r\n%s" % (len(body), body),
        capture_output=True,
        check=False,
        timeout=60,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)},
    )
    answer: Any = json.loads(done.stdout.split(b"\r\n\r\n", 1)[1].split(b"Content-Length")[0])
    assert "assent" in answer["result"]["capabilities"]["experimental"]
