"""What a client sees in which order, page after page, and which servers it may pass through."""

from pathlib import Path
from typing import Any

import pytest
from acp.schema import EnvVariable, HttpHeader, HttpMcpServer, McpServerStdio, SseMcpServer

from acpclient import Running, find_tool
from assent.storage.index import PAGE
from fakeapi import FakeApi, Reply, text, tool
from mcpserver import entry
from mcpserver.web import site

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Wire:
    """The messages of the agent as they come, in order: the names of updates, and `answer` for results."""

    def __init__(self, run: Running) -> None:
        self.seen: list[str] = []
        run.agent._conn.add_observer(self._see)

    def _see(self, event: Any) -> None:
        message = event.message
        if message.get("method") == "session/update":
            self.seen.append(message["params"]["update"]["sessionUpdate"])
        elif "result" in message and "modes" in message["result"]:
            self.seen.append("answer")


async def test_the_answer_that_names_a_session_comes_before_everything_about_it(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    wire = Wire(run)
    session = await run.new(workspace)
    await run.editor.until(lambda: run.editor.of("available_commands_update"))
    assert wire.seen[0] == "answer" and "available_commands_update" in wire.seen
    api.reply(text("Here."))
    await run.prompt(session, "are you there?")
    for resumed in (True, False):
        await run.agent.close_session(session_id=session)
        run.editor.forget()
        wire.seen.clear()
        if resumed:
            await run.agent.resume_session(session_id=session, cwd=str(workspace), mcp_servers=[])
        else:
            await run.agent.load_session(session_id=session, cwd=str(workspace), mcp_servers=[])
        await run.editor.until(lambda: run.editor.of("available_commands_update"))
        before = wire.seen[: wire.seen.index("answer")]
        assert before == ([] if resumed else ["user_message_chunk", "agent_message_chunk"])
        assert "available_commands_update" in wire.seen[len(before) :]


async def test_the_chunks_of_a_message_carry_its_id(run: Running, api: FakeApi, workspace: Path) -> None:
    session = await run.new(workspace)
    for words in (("One ", "word."), ("Another ", "word.")):
        api.reply(text(*words))
        await run.prompt(session, "say it")
    ids = [update.message_id for update in run.editor.of("agent_message_chunk")]
    assert None not in ids and len(set(ids)) == 2


async def test_a_list_of_sessions_goes_on_where_its_page_ended(run: Running, api: FakeApi, place: Path) -> None:
    folder = place / "many"
    folder.mkdir()
    api.otherwise(Reply(parts=(text("Kept."),)))
    made: set[str] = set()
    for number in range(PAGE + 1):
        session = await run.new(folder)
        await run.prompt(session, f"number {number}")
        await run.agent.close_session(session_id=session)
        made.add(session)
    first = await run.agent.list_sessions(cwd=str(folder))
    assert len(first.sessions) == PAGE and first.next_cursor is not None
    second = await run.agent.list_sessions(cwd=str(folder), cursor=first.next_cursor)
    assert len(second.sessions) == 1 and second.next_cursor is None
    assert {each.session_id for page in (first, second) for each in page.sessions} == made


@pytest.mark.parametrize("way", ["load", "resume", "fork"])
async def test_further_folders_count_for_sessions_that_go_on(
    run: Running, api: FakeApi, place: Path, workspace: Path, way: str
) -> None:
    more = place / f"more-{way}"
    more.mkdir()
    (more / "note.txt").write_text(f"a note for {way}\n")
    session = await run.new(workspace)
    api.reply(text("Begun."))
    await run.prompt(session, "begin")
    if way != "fork":
        await run.agent.close_session(session_id=session)
    going_on: Any = getattr(run.agent, f"{way}_session")
    answer = await going_on(session_id=session, cwd=str(workspace), mcp_servers=[], additional_directories=[str(more)])
    session = answer.session_id if way == "fork" else session
    api.reply(tool("Read", id=f"toolu_{way}", file_path=str(more / "note.txt")))
    api.reply(text("Read."))
    await run.prompt(session, "read it")
    assert f"a note for {way}" in str(api.requests[-1].tool_results[f"toolu_{way}"]["content"])
    assert run.editor.asked == []


async def test_a_server_of_the_client_gets_its_arguments_and_its_environment(
    run: Running, api: FakeApi, workspace: Path
) -> None:
    plain = entry()
    script = 'printf "%s" "$WHO" > "$0"; exec "$@"'
    server = McpServerStdio(
        name="named",
        command="/bin/sh",
        args=["-c", script, str(workspace / "who.txt"), plain["command"], *plain["args"]],
        env=[EnvVariable(name="WHO", value="the client's word")],
    )
    session = await run.new(workspace, mcp_servers=[server])
    await find_tool(run, api, session, "mcp__named__echo")
    assert (workspace / "who.txt").read_text() == "the client's word"


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_servers_over_the_web_are_reached_with_the_clients_headers(
    run: Running, api: FakeApi, workspace: Path, kind: str
) -> None:
    assert run.hello is not None and run.hello.agent_capabilities is not None
    offered = run.hello.agent_capabilities.mcp_capabilities
    assert offered is not None and (offered.http, offered.sse) == (True, True)
    headers = [HttpHeader(name="X-Key", value="sesame")]
    with site(sse_only=kind == "sse", wants="sesame") as served:
        address = f"{served.url}/{'sse' if kind == 'sse' else 'mcp'}"
        make: Any = SseMcpServer if kind == "sse" else HttpMcpServer
        server = make(type=kind, name=kind, url=address, headers=headers)
        session = await run.new(workspace, mcp_servers=[server])
        await find_tool(run, api, session, f"mcp__{kind}__echo")
        run.editor.answer = lambda _asked: "allow"
        api.reply(tool(f"mcp__{kind}__echo", id=f"toolu_{kind}", text="hello"))
        api.reply(text("Echoed."))
        await run.prompt(session, "use it")
        (result,) = [value for id, value in api.requests[-1].tool_results.items() if id == f"toolu_{kind}"]
        assert "echo: hello" in str(result["content"])
