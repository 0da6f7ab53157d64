"""Hooks in the heads of a project's skills, commands and agents run when the user approved that very hook, and only
while the folder is trusted (P14). Every hook leaves a mark of its own."""

import json
from pathlib import Path

import pytest

from fakeapi import FakeApi, Reply, Request, text, tool
from fakeapi.script import Block
from lspclient import Client, Connect

pytestmark = pytest.mark.asyncio(loop_scope="module")

FILES = {"skill": "skills/s/SKILL.md", "command": "commands/c.md", "agent": "agents/a.md"}


def define(folder: Path, marks: Path, word: str) -> None:
    for kind, file in FILES.items():
        note = f"echo {kind}-{word} >> {marks}"
        hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": note}]}]}
        path = folder / ".claude" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"name: {Path(file).stem if kind == 'agent' else 's'}\ndescription: d\nhooks: {json.dumps(hooks)}\n"
        path.write_text(f"---\n{head}---\nDo it.\n")


async def say(client: Client, api: FakeApi, session: str, prompt: str, *calls: Block) -> None:
    """A turn with these calls, each answered with words where an agent or the model comes to its end."""
    waiting = [*calls, tool("Glob", pattern="*.none")]

    def answer(request: Request) -> Reply:
        ready = waiting and request.body.get("tools")
        return Reply(parts=(waiting.pop(0) if ready else text("Done."),))

    api.otherwise(answer)
    await client.request("assent/session/send", {"sessionId": session, "prompt": prompt, "wait": True})


async def opened(client: Client, folder: Path) -> str:
    return (await client.request("assent/session/new", {"cwd": str(folder)}))["sessionId"]


async def use_all(client: Client, api: FakeApi, folder: Path) -> None:
    """Each definition in every way, and a call after it that its hooks would hear of."""
    await say(client, api, await opened(client, folder), "/s")
    await say(client, api, await opened(client, folder), "/c")
    await say(client, api, await opened(client, folder), "go", tool("Skill", skill="s"))
    await say(
        client, api, await opened(client, folder), "go", tool("Agent", description="d", prompt="p", subagent_type="a")
    )


def ran(marks: Path) -> set[str]:
    found = set(marks.read_text().split()) if marks.exists() else set[str]()
    marks.unlink(missing_ok=True)
    return found


async def test_a_projects_definitions_run_only_the_hooks_that_were_approved_and_only_under_trust(
    connect: Connect, place: Path, api: FakeApi
) -> None:
    folder, marks, home = place / "heads", place / "marks", place / "heads-home"
    define(folder, marks, "one")
    client = await connect(assent={"client": {"permissions": True}, "trusted": True}, root=folder, home=home, api=api)
    client.answers["assent/permission/ask"] = lambda _params: {"decision": "allow"}
    uri = {"uri": folder.as_uri()}
    await use_all(client, api, folder)
    assert ran(marks) == set()  # the editor's word for the folder is not the user's for these hooks

    shown = await client.request("assent/trust/get", uri)
    await client.request("assent/trust/set", {**uri, "trusted": True, "hash": shown["hash"], "remember": "session"})
    await use_all(client, api, folder)
    assert ran(marks) == {"skill-one", "command-one", "agent-one"}
    live = await opened(client, folder)
    await say(client, api, live, "/s")
    assert ran(marks) == {"skill-one"}

    define(folder, marks, "two")
    await use_all(client, api, folder)
    assert ran(marks) == set()
    await say(client, api, live, "more")
    assert ran(marks) == {"skill-one"}  # what is in use was approved

    await client.request("assent/trust/set", {**uri, "trusted": False, "remember": "session"})
    await say(client, api, live, "more")
    await use_all(client, api, folder)
    assert ran(marks) == set()
    await client.stop()
