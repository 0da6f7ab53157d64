"""Every front is started in a folder that somebody prepared, as users start it: nothing of the folder runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import acpclient
from canaries import Trap
from canaries.settings import configure
from lspclient import Client, Server
from lspclient.client import PLUGIN
from terminal import PATIENCE
from terminal.typescript import Typescript

ASSENT = str(Path(sys.executable).with_name("assent"))
KEY = "sk-ant-api03-not-for-this-folder"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Trap:
    return Trap(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def trap(prepared: Trap) -> Trap:
    prepared.log.unlink(missing_ok=True)
    return prepared


@pytest.fixture
def env(trap: Trap, tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("LANG", "LC_ALL")}
    (tmp_path / "home").mkdir()
    return {**kept, "PATH": trap.path(os.environ["PATH"]), "HOME": str(tmp_path / "home"), "ASSENT_OFFLINE": "1"}


def run(trap: Trap, env: dict[str, str], *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ASSENT, *arguments], env=env, cwd=trap.folder, input=stdin, capture_output=True, text=True, timeout=PATIENCE
    )


def test_the_canaries_do_run_where_python_is_not_isolated(trap: Trap, env: dict[str, str]) -> None:
    subprocess.run([sys.executable, "-m", "json.tool"], env=env, cwd=trap.folder, capture_output=True, check=False)
    subprocess.run(["git", "status"], env=env, cwd=trap.folder, capture_output=True, check=False)
    ran = trap.ran()
    assert any(line.startswith("module ") for line in ran)
    assert any(line.startswith("program git") for line in ran)


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        (["--version"], "", 0),
        (["ask", "find needle", "--json"], "", 0),
        (["ask", "run `ls`", "--json"], "", 0),
        (["ask", "read bin/git", "--json"], "", 0),
        (["doctor"], "", None),
        (["doctor", "--json"], "", None),
        (["explain"], '{"tool": "Bash", "input": {"command": "git status"}, "cwd": "FOLDER"}\n', 0),
        (["sessions"], "", 0),
    ],
    ids=["version", "ask", "ask-to-run", "ask-to-read", "doctor", "doctor-json", "explain", "sessions"],
)
def test_a_command_runs_nothing_of_the_folder_it_is_started_in(
    trap: Trap, env: dict[str, str], arguments: list[str], stdin: str, code: int | None
) -> None:
    done = run(trap, env, *arguments, stdin=stdin.replace("FOLDER", str(trap.folder)))
    assert trap.ran() == []
    assert code is None or done.returncode == code, done.stderr
    assert "a bug" not in done.stderr


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Trap:
    trap = Trap(tmp_path_factory.mktemp("configured"))
    configure(trap)
    return trap


@pytest.mark.parametrize(
    "lines",
    [
        "mcp list | mcp test evil",
        "hooks list | hooks test SessionStart",
        "import | import --all | mcp list | ask say_hello",
        "plugin list | plugin enable p | trace | sessions --live",
        "ask /c | ask /s | ask run_`ls` | trace --json",
        "doctor",
    ],
)
def test_a_command_starts_nothing_that_the_folders_settings_name(
    configured: Trap, env: dict[str, str], lines: str
) -> None:
    configured.log.unlink(missing_ok=True)
    here = {**env, "PATH": configured.path(os.environ["PATH"])}
    for line in lines.split(" | "):
        done = run(configured, here, *(word.replace("_", " ") for word in line.split()))
        assert configured.ran() == [], line
        assert "a bug" not in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_the_demo_runs_nothing_of_the_folder_it_is_started_in(trap: Trap, env: dict[str, str]) -> None:
    # Its `make test` is a command the user allows, and sees the user's own PATH, in which only full paths count.
    done = run(trap, env | {"PATH": f":bin:./bin:{os.environ['PATH']}"}, "demo")
    assert trap.ran() == []
    assert done.returncode == 0, done.stderr


def test_chat_runs_nothing_of_the_folder_it_is_started_in(trap: Trap, env: dict[str, str]) -> None:
    with Typescript([ASSENT, "chat"], env=env, cwd=trap.folder) as chat:
        chat.expect("❯")
        chat.type("find needle\n")
        chat.expect("completed")
        chat.expect("❯")
        chat.type("run `ls`\n")
        chat.expect("completed")
        chat.expect("❯")
        chat.type("\x04")
        chat.process.wait(timeout=PATIENCE)
    assert trap.ran() == []


@pytest.mark.parametrize("trusted", [False, True])
async def test_the_language_server_runs_nothing_of_the_folder_it_is_started_in(
    trap: Trap, env: dict[str, str], tmp_path: Path, trusted: bool
) -> None:
    place = {"PATH": env["PATH"], "ASSENT_OFFLINE": "1", "ANTHROPIC_API_KEY": KEY}
    server = Server(tmp_path / "home", env=place, command=(ASSENT, "serve", "--stdio"), cwd=trap.folder)
    client = Client(server)
    await client.start()
    try:
        await client.initialize(trap.folder, assent={"client": PLUGIN, "trusted": trusted})
        opened = await client.request("assent/session/new", {"cwd": str(trap.folder)})
        for prompt in ("find needle", "run `ls`", "run `git status`", "read bin/git"):
            send = {"sessionId": opened["sessionId"], "prompt": prompt, "wait": True}
            client.answers["assent/permission/ask"] = lambda _params: {"decision": "deny"}
            answer = await client.request("assent/session/send", send)
            assert answer["result"]["terminal"] == "completed"
        await client.request("assent/complete", {"sessionId": opened["sessionId"], "text": "@bi", "offset": 3})
    finally:
        await client.stop()
    assert trap.ran() == []


async def test_the_acp_agent_runs_nothing_of_the_folder_it_is_started_in(
    trap: Trap, env: dict[str, str], tmp_path: Path
) -> None:
    command = (ASSENT, "acp", "--offline")
    async with acpclient.running(tmp_path, env={"PATH": env["PATH"]}, command=command, cwd=trap.folder) as program:
        session = await program.new(trap.folder)
        for prompt in ("find needle", "run `ls`", "run `git status`"):
            await program.prompt(session, prompt)
    assert trap.ran() == []
