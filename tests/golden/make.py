"""Writes what this version leaves on disk after a few conversations, for later versions to read.

    PYTHONPATH=tests:tests/support python tests/golden/make.py FOLDER

FOLDER gets `project`, `data` and `config`. The committed folders beside this file were written by the version they are
named after, in /tmp/golden, and are never written again: `test_golden.py` opens each of them with today's version.
"""

import asyncio
import json
import shutil
import sys
from pathlib import Path

from fakeapi import FakeApi, hold, text, thinking, tool
from lspclient import Client, Json, Server

USER_SETTINGS: Json = {
    "model": "claude-opus-4-8",
    "permissions": {"allow": ["Bash(make test)", "Edit(src/**)"], "ask": ["WebFetch"], "deny": ["Read(~/.ssh/**)"]},
    "env": {"EDITOR": "vi"},
    "sandbox": {"scope": "reading"},
    "maxBudgetUsd": 5,
    "backgroundCalls": {"summary": False},
}
PROJECT_SETTINGS: Json = {"permissions": {"allow": ["Bash(make lint)"], "deny": ["Bash(curl:*)"]}, "review": "before"}
GREETER = 'def greet():\n    return "Helo"\n'


async def make(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    project = folder / "project"
    (project / ".assent").mkdir(parents=True)
    (folder / "config" / "assent").mkdir(parents=True)
    (project / "greeter.py").write_text(GREETER)
    (project / ".assent" / "settings.json").write_text(json.dumps(PROJECT_SETTINGS, indent=2))
    (folder / "config" / "assent" / "settings.json").write_text(json.dumps(USER_SETTINGS, indent=2))
    async with FakeApi() as api:
        client = Client(Server(folder, env=api.env))
        await client.start()
        await client.initialize(project, assent={"client": {"permissions": True, "review": True}})
        client.answers["assent/permission/ask"] = lambda params: {"decision": "allow", "scope": "once"}
        client.answers["window/showMessageRequest"] = lambda params: {"title": "Trust this folder"}
        fixed = await edited(client, api)
        await compacted(client, api)
        await forked(client, fixed)
        await cut_off(client, api)


async def edited(client: Client, api: FakeApi) -> str:
    """Thinking, a Read, an Edit that was reviewed, a Bash that was asked about and one that was denied."""
    session = (await client.request("assent/session/new", {"title": "Fix the greeting"}))["sessionId"]
    api.reply(thinking("There is a typo."), text("Let me look."), tool("Read", file_path="greeter.py"))
    api.reply(tool("Edit", file_path="greeter.py", old_string="Helo", new_string="Hello"))
    api.reply(tool("Bash", command="touch made.txt", description="Make a file"))
    api.reply(tool("TodoWrite", todos=[{"content": "Greet", "activeForm": "Greeting", "status": "completed"}]))
    api.reply(text("The greeting is right now."))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "fix the typo", "wait": True})
    client.answers["assent/permission/ask"] = lambda params: {"decision": "deny", "message": "not that"}
    api.reply(tool("Bash", command="rm greeter.py"))
    api.reply(text("Then it stays."))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "remove it", "wait": True})
    return session


async def compacted(client: Client, api: FakeApi) -> None:
    session = (await client.request("assent/session/new", {"title": "A long talk"}))["sessionId"]
    for number in range(3):
        api.reply(text(f"Answer {number}."))
        await client.request(
            "assent/session/send", {"sessionId": session, "prompt": f"question {number}", "wait": True}
        )
    api.reply(text("They asked three questions and got three answers."))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "/compact", "wait": True})
    api.reply(text("After the summary."))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "go on", "wait": True})


async def forked(client: Client, session: str) -> None:
    fork = (await client.request("assent/session/fork", {"sessionId": session}))["sessionId"]
    await client.request("assent/session/rename", {"sessionId": fork, "title": "Another way"})


async def cut_off(client: Client, api: FakeApi) -> None:
    """The server is killed while an edit waits for its review."""
    session = (await client.request("assent/session/new", {"title": "Cut off"}))["sessionId"]
    client.answers["assent/permission/ask"] = lambda params: asyncio.Event().wait()
    api.reply(tool("Read", file_path="greeter.py"))
    api.reply(tool("Edit", file_path="greeter.py", old_string="Hello", new_string="Good day"), hold("never"))
    client.start_request("assent/session/send", {"sessionId": session, "prompt": "politer, please"})
    await client.wait_event("editProposed", session_id=session)
    assert client.server.process is not None
    client.server.process.kill()
    await client.server.process.wait()
    api.release("never")


def main(folder: Path) -> None:
    asyncio.run(make(folder))
    for passing in (*folder.rglob("*.log"), *folder.rglob("*.lock")):
        passing.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
