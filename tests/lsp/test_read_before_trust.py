"""What is read of a project that nobody trusts yet: instructions, what trust would activate, and nothing further."""

import json
from pathlib import Path

import pytest

from fakeapi import FakeApi
from lspclient import Connect
from opened_files import opened_files

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEVER = {
    "../beside.txt": "outside of the project, imported by its instructions\n",
    ".env": "TOKEN=1\n",
    "check.sh": "#!/bin/sh\ntouch PWNED\n",
    "src/module.py": "x = 1\n",
    ".claude/skills/deploy/scripts/helper.py": "print(1)\n",
    ".claude/skills/deploy/reference.md": "long words\n",
    "node_modules/left-pad/index.js": "module.exports = 1\n",
    "plugin/.claude-plugin/plugin.json": '{"name": "own"}',
    "plugin/hooks/hooks.json": "{}",
}
SAYING = {
    "CLAUDE.md": "Be kind. @more.txt and @../beside.txt\n",
    "AGENTS.md": "See @../beside.txt\n",
    "more.txt": "a part of the instructions\n",
    ".claude/settings.json": json.dumps(
        {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "./check.sh"}]}]}}
    ),
    ".mcp.json": json.dumps({"mcpServers": {"own": {"command": "./check.sh"}}}),
    ".claude/skills/deploy/SKILL.md": "---\nname: deploy\ndescription: d\n---\nRun scripts/helper.py\n",
    ".claude/agents/worker.md": "---\nname: worker\ndescription: d\n---\nYou work. @src/module.py\n",
    ".claude/commands/ship.md": "---\ndescription: d\n---\n!`./check.sh` @src/module.py\n",
    ".assent/settings.json": json.dumps({"permissions": {"allow": ["Bash"]}}),
}


async def test_only_files_that_say_what_trust_would_activate_are_opened(connect: Connect, place: Path) -> None:  # P14
    folder = place / "area" / "project"
    for name, words in {**NEVER, **SAYING}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(words)
    async with FakeApi() as api:
        with opened_files(folder.parent) as opened:
            client = await connect(assent={"client": {"permissions": True}}, root=folder, home=place / "home", api=api)
            client.answers["window/showMessageRequest"] = lambda _params: None  # trust stays unanswered
            session = (await client.request("assent/session/new", {"cwd": str(folder)}))["sessionId"]
            for prompt in ("/skills", "/agents", "/hooks", "/mcp", "/status", "/permissions"):
                params = {"sessionId": session, "prompt": prompt, "wait": True}
                assert (await client.request("assent/session/send", params))["result"]["subtype"] == "success"
            shown = await client.request("assent/settings/get", {"cwd": str(folder)})
            await client.stop()
    assert shown["withheld"]
    assert "project/.claude/settings.json" in opened  # or nothing was seen at all
    assert opened <= {f"project/{name}" for name in SAYING}
