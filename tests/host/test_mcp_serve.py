"""Another agent uses the user's editor through `assent mcp serve` and the workspace's host (T9)."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client as Agent
from mcp.client.stdio import StdioServerParameters, stdio_client

from hostkit import Desk
from lspclient import Json
from lspclient.client import PLUGIN

pytestmark = pytest.mark.asyncio(loop_scope="module")
SOURCE = "def greet():\n    return 1\n\n\ngreet()\n"


@asynccontextmanager
async def agent(desk: Desk) -> AsyncGenerator[Agent, None]:
    words = ["-I", "-m", "assent.cli.main", "mcp", "serve", "--cwd", str(desk.workspace)]
    parameters = StdioServerParameters(command=sys.executable, args=words, env=desk.environment())
    async with Agent(stdio_client(parameters)) as client:
        yield client


async def called(client: Agent, name: str, **arguments: Any) -> types.CallToolResult:
    return await client.call_tool(name, arguments, read_timeout_seconds=60)


def said(result: types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))


def span(line: int) -> Json:
    column = 4 if line == 0 else 0
    return {"start": {"line": line, "character": column}, "end": {"line": line, "character": column + 5}}


async def test_another_agent_asks_the_editor_and_its_changes_are_reviewed(desk: Desk) -> None:
    file = desk.workspace / "greet.py"
    file.write_text(SOURCE)
    uri = file.as_uri()

    def query(params: Json) -> Json:
        found: Any = [{"uri": uri, "range": span(0)}]
        if params["kind"] == "rename":
            edits = [{"range": span(line), "newText": params["newName"]} for line in (0, 4)]
            found = {"changes": {uri: edits}}
        return {"status": "success", "value": found}

    window = await desk.connect("Window", flags={**PLUGIN, "editorQueries": True})
    asked: list[Json] = []

    def allow(params: Json) -> Json:
        asked.append(params)
        return {"decision": "allow", "scope": "once"}

    window.answers["assent/editor/query"] = query
    window.answers["assent/permission/ask"] = allow
    window.answers["assent/elicit"] = lambda params: {"action": "accept", "content": {"answers": {"q1": ["Tabs"]}}}
    async with agent(desk) as other:
        here = {"file_path": str(file), "line": 5, "symbol": "greet"}
        answer = said(await called(other, "definition", **here))
        assert "greet.py:1" in answer, answer
        alone = await called(other, "rename", **here, new_name="hello")
        assert "noEditor" in said(alone), "nobody would see the proposal"
        session = (await window.request("assent/session/new", {}))["sessionId"]
        renamed = await called(other, "rename", **here, new_name="hello")
        assert not renamed.is_error, said(renamed)
        assert file.read_text() == SOURCE.replace("greet", "hello")
        assert asked[0]["tool"] == "Rename" and asked[0]["sessionId"] == session
        window.answers["assent/permission/ask"] = lambda params: {"decision": "deny"}
        here["symbol"] = "hello"
        refused = await called(other, "rename", **here, new_name="bye")
        assert refused.is_error and "hello()" in file.read_text()
        questions = [{"question": "Tabs or spaces?", "options": [{"label": "Tabs"}, {"label": "Spaces"}]}]
        assert "Tabs" in said(await called(other, "ask_user", questions=questions))
        assert await window.stop() == 0
        await desk.host_gone()
        assert "noEditor" in said(await called(other, "definition", **here))


async def test_another_agent_gets_what_the_editor_answers_for_problems_uses_and_files_to_show(desk: Desk) -> None:
    file, other_file = desk.workspace / "greet.py", desk.workspace / "other.py"
    for each in (file, other_file):
        each.write_text(SOURCE)
    problem = {"range": span(4), "severity": 1, "message": "greet is not defined", "source": "pylint", "code": "E602"}
    values: dict[str, Any] = {
        "references": [{"uri": file.as_uri(), "range": span(0)}, {"uri": other_file.as_uri(), "range": span(4)}],
        "openEditors": [{"uri": file.as_uri()}, {"uri": other_file.as_uri()}],
        "openFile": {},
    }
    asked: list[Json] = []

    def query(params: Json) -> Json:
        asked.append(params)
        if params["kind"] == "diagnostics":
            mine = [problem] if params["uri"] == file.as_uri() else []
            return {"status": "success", "value": mine, "settled": True}
        return {"status": "success", "value": values[params["kind"]]}

    window = await desk.connect("Window", flags={**PLUGIN, "editorQueries": True})
    window.answers["assent/editor/query"] = query
    await window.request("assent/session/new", {})
    async with agent(desk) as other:
        for arguments in ({"file_path": str(file)}, {}):
            answer = await called(other, "diagnostics", **arguments)
            assert not answer.is_error and "greet.py:5" in said(answer) and "greet is not defined" in said(answer)
        assert said(await called(other, "diagnostics", file_path=str(other_file))) == "No problems."
        kinds = [params["kind"] for params in asked]
        assert kinds == ["diagnostics", "openEditors", "diagnostics", "diagnostics", "diagnostics"]
        asked.clear()
        uses = await called(other, "references", file_path=str(file), line=1, symbol="greet")
        assert not uses.is_error and "greet.py:1" in said(uses) and "other.py:5" in said(uses)
        position = {"line": 0, "character": 4}
        assert [(each["kind"], each["uri"], each["position"]) for each in asked] == [
            ("references", file.as_uri(), position)
        ]
        asked.clear()
        shown = await called(other, "open_file", file_path=str(other_file), line=5)
        assert said(shown) == f"The user sees {other_file} now."
        line = {"line": 4, "character": 0}
        assert [(each["kind"], each["uri"], each["range"]) for each in asked] == [
            ("openFile", other_file.as_uri(), {"start": line, "end": line})
        ]
        asked.clear()
        missing = await called(other, "open_file", file_path=str(desk.workspace / "nowhere.py"))
        assert missing.is_error and "nowhere.py" in said(missing) and asked == []
    assert await window.stop() == 0
    await desk.host_gone()


async def test_another_agent_gets_nothing_of_files_outside_the_workspace_unless_a_person_allows_it(desk: Desk) -> None:
    outside = desk.workspace.parent / "outside"
    outside.mkdir()
    secret = outside / "secret.py"
    secret.write_text("KEY = 'hunter2'\n")
    (desk.workspace / "link.py").symlink_to(secret)
    (desk.workspace / "linked").symlink_to(outside)
    asked: list[Json] = []
    queries: list[Json] = []

    def query(params: Json) -> Json:
        queries.append(params)
        return {"status": "success", "value": {"changes": {secret.as_uri(): [{"range": span(0), "newText": "EVIL"}]}}}

    def deny(params: Json) -> Json:
        asked.append(params)
        return {"decision": "deny"}

    window = await desk.connect("Window", flags={**PLUGIN, "editorQueries": True})
    window.answers["assent/editor/query"] = query
    window.answers["assent/permission/ask"] = deny
    await window.request("assent/session/new", {})
    names = [
        str(secret),
        "../outside/secret.py",
        f"{desk.workspace}/../outside/secret.py",
        str(desk.workspace / "link.py"),
        "linked/secret.py",
        "/dev/zero",
        "/proc/self/environ",
        "~/.ssh/id",
        "a\0b",
    ]
    async with agent(desk) as other:
        for name in names:
            place = {"file_path": name, "line": 1, "symbol": "not there"}
            for tool in ("definition", "references", "diagnostics", "open_file", "rename"):
                asked.clear()
                arguments = {"file_path": name} if tool in ("diagnostics", "open_file") else place
                answer = await called(other, tool, **arguments, **({"new_name": "EVIL"} if tool == "rename" else {}))
                assert answer.is_error, (tool, name)
                assert "hunter2" not in said(answer), (tool, name)
                assert len(asked) == (0 if tool == "rename" or "\0" in name else 1), (tool, name, said(answer))
        assert queries == []
    assert secret.read_text() == "KEY = 'hunter2'\n"
    assert await window.stop() == 0
    await desk.host_gone()
