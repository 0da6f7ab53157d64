"""What files define, over the wire: lists with sources, trust items, and rules that are edited."""

from pathlib import Path

import pytest

from assent.extensions.plugins.store import Plugins
from assent.storage.files import write_atomically
from fakeapi import FakeApi, text
from lspclient import Connect

pytestmark = pytest.mark.asyncio(loop_scope="module")


def put(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


async def test_a_projects_definitions_are_shown_trusted_by_hash_and_then_used(
    connect: Connect, place: Path, api: FakeApi
) -> None:
    folder, home = place / "defined", place / "defined-home"
    skill = put(
        folder / ".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: reads\nallowed-tools: Read\n---\nx"
    )
    put(folder / ".claude/commands/hi.md", "Say hi to $0")
    agent = put(folder / ".claude/agents/r.md", "---\nname: r\ndescription: reviews\n---\nYou review.")
    notes = put(folder / "AGENTS.md", "Use tabs.")
    client = await connect(assent={"client": {}}, root=folder, home=home, api=api)
    trust = {"uri": folder.as_uri()}
    shown = await client.request("assent/trust/get", trust)
    assert [(item["kind"], item["dangerous"]) for item in shown["items"]] == [
        ("skill", True),
        ("definitions", False),
        ("definitions", False),
        ("definitions", False),
    ]
    (row,) = (await client.request("assent/skill/list", {"cwd": str(folder)}))["skills"]
    assert row["withheld"] == "this folder is not trusted"
    session = await client.request("assent/session/new", {"cwd": str(folder)})
    assert "hi" not in {command["name"] for command in session["commands"]}

    await client.request("assent/trust/set", {**trust, "trusted": True, "hash": shown["hash"]})
    (row,) = (await client.request("assent/skill/list", {"cwd": str(folder)}))["skills"]
    assert row == {"name": "pdf", "description": "reads", "source": str(skill), "tokens": row["tokens"]}
    commands = (await client.request("assent/command/list", {"cwd": str(folder)}))["commands"]
    assert "hi" in {command["name"] for command in commands}
    definitions = (await client.request("assent/agent/list", {"cwd": str(folder)}))["definitions"]
    assert {"name": "r", "description": "reviews", "source": str(agent)} in definitions
    files = (await client.request("assent/memory/list", {"cwd": str(folder)}))["files"]
    assert [(file["path"], file["reason"]) for file in files] == [(str(notes), "always")]
    assert (await client.request("assent/plugin/list", {}))["plugins"] == []

    api.reply(text("hello"))
    sent = {"sessionId": session["sessionId"], "prompt": "/hi you", "wait": True}
    assert (await client.request("assent/session/send", sent))["result"]["subtype"] == "success"
    assert "Say hi to you" in str(api.calls[-1].messages)
    await client.stop()


async def test_rules_are_listed_and_edited_over_the_wire(connect: Connect, place: Path) -> None:
    folder, home = place / "ruled", place / "ruled-home"
    folder.mkdir()
    client = await connect(assent={"client": {}}, root=folder, home=home)
    added = [{"rule": "Bash(git push:*)", "behaviour": "deny", "scope": "local"}]
    (row,) = (await client.request("assent/permission/editRules", {"cwd": str(folder), "add": added}))["rules"]
    file = str(folder / ".assent" / "settings.local.json")
    assert row == {"rule": "Bash(git push:*)", "behaviour": "deny", "scope": "local", "file": file}
    gone = {"cwd": str(folder), "remove": [{"rule": row["rule"], "behaviour": "deny", "file": file}]}
    assert (await client.request("assent/permission/editRules", gone))["rules"] == []
    await client.stop()


async def test_agents_of_every_source_are_listed_with_their_files_and_broken_ones_with_the_reason(
    connect: Connect, place: Path
) -> None:
    folder, home = place / "agents", place / "agents-home"
    mine = put(folder / ".claude/agents/mine.md", "---\nname: mine\ndescription: of the project\n---\nx")
    own = put(home / ".claude/agents/own.md", "---\nname: own\ndescription: of the user\n---\nx")
    other = put(home / ".copilot/agents/other.agent.md", "---\ndescription: of Copilot\nhandoffs: [own]\n---\nx")
    bad = put(home / ".claude/agents/bad.md", "---\nname: bad\n---\nx")
    put(home / ".claude/skills/bad/SKILL.md", "no description")
    plugin = put(place / "agents-plugin/tools/agents/helper.md", "---\nname: helper\ndescription: d\n---\nx").parents[1]
    store = Plugins(home / "data/assent/plugins", write=write_atomically)
    copy = store.root(store.accept(store.stage(str(plugin), cwd="/")))
    client = await connect(assent={"client": {}}, root=folder, home=home)
    answer = await client.request("assent/agent/list", {"cwd": str(folder)})
    rows = {row["name"]: row for row in answer["definitions"]}
    assert {name: row["source"] for name, row in rows.items()} == {
        "mine": str(mine),
        "own": str(own),
        "other": str(other),
        "tools:helper": f"plugin tools: {copy}/agents/helper.md",
        "general-purpose": "built-in",
        "explore": "built-in",
    }
    assert rows["mine"]["withheld"] == "this folder is not trusted"
    assert [text.partition(":")[0] for text in rows["other"]["ignored"]] == ["handoffs is ignored"]
    (problem,) = answer["problems"]
    assert problem.startswith(f"{bad}:1: has no description")
    await client.stop()
