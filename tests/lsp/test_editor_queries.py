"""The user's own language servers asked through the client (T8): every kind of `assent/editor/query`, and every answer."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from lspclient import Client, Connect, Json, RpcError

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("workspace")]

QUERY = "assent/editor/query"
PLACE: Json = {"file_path": "greeter.py", "line": 1, "symbol": "greet"}


def span(line: int, start: int, end: int) -> Json:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def editor(connect: Connect) -> AsyncIterator[Client]:
    """A client whose editor answers; `decision` says what it does when asked for permission."""
    flags = {"permissions": True, "editorQueries": True}
    client = await connect(assent={"client": flags, "trusted": True})
    client.answers["assent/permission/ask"] = lambda params: {"decision": "allow"}
    yield client


def answering(client: Client, answer: Any) -> list[Json]:
    """From now on every query gets this answer (or what it computes); the queries, as they come."""
    asked: list[Json] = []

    def reply(params: Json) -> Any:
        asked.append(params)
        return answer(params) if callable(answer) else answer

    client.answers[QUERY] = reply
    return asked


def found(value: Any, **more: Any) -> Json:
    return {"status": "success", "value": value, **more}


async def run(client: Client, tool: str, given: Json, *, is_error: bool = False) -> str:
    result = await client.request("assent/tool/run", {"name": tool, "input": given})
    assert result["isError"] is is_error, result
    return str(result["content"][0]["text"])


@pytest.mark.parametrize(("tool", "kind"), [("Definition", "definition"), ("References", "references")])
async def test_places_are_told_as_paths_and_lines(editor: Client, workspace: Path, tool: str, kind: str) -> None:
    uri = (workspace / "greeter.py").as_uri()
    asked = answering(editor, found([{"uri": uri, "range": span(4, 4, 8)}]))
    assert await run(editor, tool, PLACE) == "greeter.py:5: def part():"
    (query,) = asked
    assert {key: query[key] for key in ("kind", "uri", "position")} == {
        "kind": kind,
        "uri": uri,
        "position": {"line": 0, "character": 4},
    }
    assert query["requestId"] and query["timeoutMs"] == 5000


async def test_hover_symbols_and_diagnostics_are_told_in_words(editor: Client, workspace: Path) -> None:
    uri = (workspace / "greeter.py").as_uri()
    answering(editor, found({"markdown": "def greet() -> str"}))
    assert await run(editor, "Hover", PLACE) == "def greet() -> str"
    asked = answering(editor, found([{"name": "greet", "kind": 12, "range": span(0, 0, 5)}]))
    assert "greet" in await run(editor, "Symbols", {"file_path": "greeter.py"})
    assert (asked[0]["kind"], asked[0]["uri"]) == ("symbols", uri)
    problem = {"range": span(1, 4, 10), "severity": 1, "message": "Helo is misspelt", "source": "speller"}
    asked = answering(editor, found([problem], settled=True))
    words = await run(editor, "Diagnostics", {"file_path": "greeter.py"})
    assert words == "greeter.py:2:5: error: Helo is misspelt (speller)"
    assert (asked[0]["kind"], asked[0]["settleMs"], asked[0]["timeoutMs"]) == ("diagnostics", 300, 3000)
    answering(editor, found([], settled=False))
    assert "Not confirmed" in await run(editor, "Diagnostics", {"file_path": "greeter.py"})


async def test_the_users_screen_is_told_and_shown(editor: Client, workspace: Path) -> None:
    uri = (workspace / "greeter.py").as_uri()

    def screen(params: Json) -> Json:
        if params["kind"] == "selection":
            return found({"uri": uri, "range": span(0, 0, 11), "text": "def greet()"})
        if params["kind"] == "openEditors":
            return found([{"uri": uri, "version": 1, "active": True, "visible": True, "dirty": True}])
        return found(None)

    asked = answering(editor, screen)
    words = await run(editor, "CurrentSelection", {})
    assert "def greet()" in words and "greeter.py (active, dirty)" in words
    assert [query["kind"] for query in asked] == ["selection", "openEditors"]
    await run(editor, "OpenFile", {"file_path": "greeter.py", "line": 3})
    assert (asked[-1]["kind"], asked[-1]["range"]["start"]) == ("openFile", {"line": 2, "character": 0})


async def test_a_rename_is_not_applied_by_the_editor_but_becomes_an_edit_of_ours(
    editor: Client, workspace: Path
) -> None:
    path = workspace / "greeter.py"
    change = {"changes": {path.as_uri(): [{"range": span(0, 4, 9), "newText": "welcome"}]}}
    asked = answering(editor, found(change))
    asks: list[Json] = []

    def allow(params: Json) -> Json:
        asks.append(params)
        return {"decision": "allow"}

    editor.answers["assent/permission/ask"] = allow
    await run(editor, "Rename", {**PLACE, "new_name": "welcome"})
    assert (asked[0]["kind"], asked[0]["newName"]) == ("rename", "welcome")
    assert asks[0]["proposal"]["hunks"][0]["newText"].startswith("def welcome()")
    assert path.read_text().startswith("def welcome():")


async def test_each_file_of_a_rename_is_proposed_and_only_accepted_ones_are_written(
    editor: Client, workspace: Path
) -> None:
    paths = [workspace / name for name in ("one.py", "two.py", "three.py")]
    for path in paths:
        path.write_text("foo()\n")
    edit = {"range": span(0, 0, 3), "newText": "bar"}
    answering(editor, found({"changes": {path.as_uri(): [edit] for path in paths}}))
    editor.answers["assent/permission/ask"] = lambda _params: {"decision": "allow"}
    start = len(editor.heard)
    given = {"file_path": "one.py", "line": 1, "symbol": "foo", "new_name": "bar"}
    _, answer = editor.start_request("assent/tool/run", {"name": "Rename", "input": given})
    first = await editor.wait_event("editResolved", after=start)
    listed = (await editor.request("assent/edit/list", {}))["proposals"]
    assert [one["uri"] for one in listed] == [path.as_uri() for path in paths[1:]], first
    assert not answer.done() and [path.read_text() for path in paths] == ["bar()\n", "foo()\n", "foo()\n"]
    for proposal, verb in zip(listed, ("reject", "accept"), strict=True):
        decisions = [{"hunkId": hunk["hunkId"], "decision": verb} for hunk in proposal["hunks"]]
        await editor.request("assent/edit/resolve", {"proposalId": proposal["proposalId"], "decisions": decisions})
    async with asyncio.timeout(60):
        words = str((await answer)["content"])
    assert [path.read_text() for path in paths] == ["bar()\n", "foo()\n", "bar()\n"]
    assert f"Changed {paths[0]}." in words and f"Changed {paths[2]}." in words
    assert f"{paths[1]} was not changed" in words and "rejected by the user" in words


async def test_formatting_and_code_actions_are_edits_too(editor: Client, workspace: Path) -> None:
    path = workspace / "greeter.py"
    edit = {"range": span(1, 12, 16), "newText": "Hello"}
    fix = {"title": "Correct the spelling", "edit": {"changes": {path.as_uri(): [edit]}}}
    asked = answering(editor, found([fix, {"title": "Explain", "command": {"command": "x"}}]))
    assert await run(editor, "CodeActions", {"file_path": "greeter.py", "line": 2}) == "Correct the spelling\nExplain"
    assert asked[0]["range"] == {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 17}}
    await run(editor, "CodeActions", {"file_path": "greeter.py", "line": 2, "apply": "Correct the spelling"})
    assert '"Hello"' in path.read_text()
    answering(editor, found([{"range": span(0, 0, 0), "newText": "# tidy\n"}]))
    await run(editor, "Format", {"file_path": "greeter.py"})
    assert path.read_text().startswith("# tidy\n")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"status": "starting", "value": None}, "still starting"),
        ({"status": "noServer", "value": None}, "No language server answers"),
        ({"status": "error", "value": None, "message": "it crashed"}, "it crashed"),
        ({"status": "perhaps"}, "no known status"),
        ({}, "no known status"),
        (None, "no known status"),
        ([], "no known status"),
    ],
)
async def test_an_answer_that_helps_nobody_is_told_in_words(editor: Client, answer: Any, words: str) -> None:
    answering(editor, answer)
    assert words in await run(editor, "Definition", PLACE, is_error=True)


async def test_an_error_or_no_method_is_told_in_words_and_ends_nothing(editor: Client) -> None:
    def broken(_params: Json) -> Json:
        raise RpcError({"code": -32603, "message": "the extension host is gone"})

    answering(editor, broken)
    assert "gone" in await run(editor, "Definition", PLACE, is_error=True)
    del editor.answers[QUERY]
    assert QUERY in await run(editor, "Definition", PLACE, is_error=True)
    answering(editor, found([]))
    assert await run(editor, "Definition", PLACE) == "Nothing was found."


async def test_cancelling_the_call_takes_the_question_back(editor: Client) -> None:
    asked = asyncio.Event()

    async def never(_params: Json) -> Json:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    editor.answers[QUERY] = never
    start = len(editor.heard)
    number, answer = editor.start_request("assent/tool/run", {"name": "Definition", "input": PLACE})
    async with asyncio.timeout(60):
        await asked.wait()
        editor.notify("$/cancelRequest", {"id": number})
        with pytest.raises(RpcError) as cancelled:
            await answer
    assert cancelled.value.code == -32800
    query = await editor.wait_for(lambda m: m.get("method") == QUERY, after=start)
    taken_back = await editor.wait_for(lambda m: m.get("method") == "$/cancelRequest", after=start)
    assert taken_back["params"]["id"] == query["id"]


async def test_a_client_that_does_not_claim_queries_is_never_asked(connect: Connect) -> None:
    client = await connect(assent={"client": {"permissions": True}})
    tools = [tool["name"] for tool in (await client.request("assent/tool/list", {}))["tools"]]
    assert "Read" in tools and not {"Definition", "Rename", "CurrentSelection"} & set(tools)
    await client.stop()
