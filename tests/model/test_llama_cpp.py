"""llama.cpp's own server, as docs/models.md says to use it: by its address in the user's settings, without a key.

It runs with `make torture`: the program is built for some processors and not for others, and takes 34 MB.
"""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from assent.model.choice import Models
from assent.model.endpoint import Endpoint
from assent.model.endpoint_findings import Findings
from assent.model.model_settings import ModelSettings
from llamacpp import llama_server

CALL = '<tool_call>\n{"name": "Read", "arguments": {"file_path": "greeter.py"}}\n</tool_call>'
WORDS = ("It ", "says ", "Helo.")
ASSENT = str(Path(sys.executable).with_name("assent"))

pytestmark = pytest.mark.torture


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with llama_server(tmp_path_factory.mktemp("llama"), call=CALL, words=WORDS) as address:
        yield address


@pytest.fixture
def person(server: str, tmp_path: Path) -> dict[str, str]:
    """The environment of somebody who followed the page: an address and a model in the settings, and nothing else."""
    settings = tmp_path / "home" / ".config" / "assent" / "settings.json"
    settings.parent.mkdir(parents=True)
    model = {"contextWindow": 65536, "maxOutputTokens": 8192}
    settings.write_text(json.dumps({"baseUrl": server, "model": "tiny", "models": {"tiny": model}}))
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "greeter.py").write_text('def greet():\n    return "Helo"\n')
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return {**kept, "HOME": str(tmp_path / "home")}


def assent(*words: str, person: dict[str, str]) -> str:
    folder = Path(person["HOME"]).with_name("project")
    done = subprocess.run(
        [ASSENT, *words], env=person, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_conversation_with_tools_runs_and_goes_on(person: dict[str, str]) -> None:
    lines = [json.loads(line) for line in assent("ask", "--stream-json", "what is in it?", person=person).splitlines()]
    result: dict[str, Any] = lines[-1]["result"]
    assert (result["result"], result["stopReason"], result["isError"]) == ("It says Helo.", "end_turn", False)
    events = {line["event"]["type"]: line["event"] for line in lines if "event" in line}
    assert events["toolStarted"]["tool"] == "Read" and not events["toolFinished"]["isError"]
    assert "Helo" in json.dumps(events["toolFinished"]["content"])
    assert result["usage"]["outputTokens"] == 2 + len(WORDS) + 1 and result["usage"]["inputTokens"] > 1_000
    again = json.loads(assent("ask", "--json", "--continue", "and now?", person=person))
    assert (again["sessionId"], again["result"]) == (result["sessionId"], "It says Helo.")


async def test_the_list_of_models_is_read(server: str, tmp_path: Path) -> None:
    models = Models(ModelSettings(endpoint=Endpoint(base_url=server, env={})), findings=Findings(tmp_path))
    offer, rows = await models.offered(refresh=True, own=())
    await models.aclose()
    assert offer.error == ""
    assert [Path(row.id).name for row in rows if row.source == "endpoint"] == ["tiny.gguf"]


def test_doctor_finds_the_server_in_order(person: dict[str, str]) -> None:
    found = json.loads(assent("doctor", "--json", person=person))
    assert [each for each in found if each["state"] not in ("ok", "note", "warning")] == []
