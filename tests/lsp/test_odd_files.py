"""A folder whose files are pipes, devices or endless: the server opens a session in it at once, and tells what it left."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from lspclient import Client, Server
from lspclient.client import PLUGIN
from oddfiles import ODD, put

FILES = (
    *(".mcp.json", ".assent/settings.json", ".assent/settings.local.json", "ASSENT.md", "AGENTS.md", "CLAUDE.md"),
    *(".git/HEAD", ".git/config", "sub/ASSENT.md", ".assent/commands/x.md", ".assent/agents/y.md"),
)
TOLD = (".mcp.json", ".assent/settings.json", ".assent/settings.local.json", "ASSENT.md", "AGENTS.md", "CLAUDE.md")


@pytest_asyncio.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    client = Client(Server(tmp_path / "home", env={"ASSENT_OFFLINE": "1"}))
    await client.start()
    yield client
    await client.close()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("trusted", [False, True])
async def test_a_session_opens_and_answers_and_tells_every_file_it_did_not_read(
    client: Client, tmp_path: Path, kind: str, trusted: bool
) -> None:
    folder = tmp_path / "workspace"
    for name in FILES:
        put(kind, folder / name)
    (folder / "note.txt").write_text("a needle\n")
    await client.initialize(folder, assent={"client": PLUGIN, "trusted": trusted})
    opened = await client.request("assent/session/new", {"cwd": str(folder)}, timeout=120)
    send = {"sessionId": opened["sessionId"], "prompt": "read note.txt", "wait": True}
    told, missing = "", list(TOLD)
    for _ in range(10):  # what is not loaded within a moment is told with a later prompt
        answer = await client.request("assent/session/send", send, timeout=60)
        assert answer["result"]["terminal"] == "completed"
        told = "\n".join(each["event"]["text"] for each in client.events(kind="notice"))
        missing = [name for name in TOLD if str(folder / name) not in told]
        if not missing:
            break
    assert missing == [], told
