"""Odd parameters and odd terminals of a client: each is refused in words, and the session goes on."""

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest
from acp.schema import ClientCapabilities

from acp import RequestError
from acpclient import FILES, Editor, Running, always, running
from fakeapi import FakeApi, text, tool

pytestmark = pytest.mark.asyncio(loop_scope="module")

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 40).decode()


async def refusal(run: Running, method: str, params: dict[str, Any]) -> str:
    with pytest.raises(RequestError) as caught:
        await run.request(method, params)
    assert caught.value.code == -32602, caught.value
    return str(caught.value)


@pytest.mark.parametrize("name", ["/a\0b", "/" + "a" * 5000, "/http://[", "~"], ids=["nul", "long", "bracket", "home"])
async def test_a_folder_that_cannot_be_is_refused_as_such(run: Running, workspace: Path, name: str) -> None:
    assert "folder" in await refusal(run, "session/new", {"cwd": name, "mcpServers": []}) or name == "~"
    params = {"cwd": str(workspace), "mcpServers": [], "additionalDirectories": [name]}
    assert "additionalDirectories" in await refusal(run, "session/new", params)


async def test_a_server_over_acp_is_refused_before_a_session_is_opened(run: Running, workspace: Path) -> None:
    before = (await run.agent.list_sessions(cwd=str(workspace))).sessions
    server = {"type": "acp", "name": "inside", "serverId": "1"}
    words = await refusal(run, "session/new", {"cwd": str(workspace), "mcpServers": [server]})
    assert "'inside' cannot be reached over ACP" in words
    assert (await run.agent.list_sessions(cwd=str(workspace))).sessions == before


@pytest.mark.parametrize("url", ["", "nonsense", "http://[::1"])
async def test_a_server_with_a_wrong_address_does_not_keep_a_session_from_opening(
    run: Running, api: FakeApi, workspace: Path, url: str
) -> None:
    server: dict[str, Any] = {"type": "http", "name": "far", "url": url, "headers": []}
    opened = await run.request("session/new", {"cwd": str(workspace), "mcpServers": [server]})
    api.reply(text("Here."))
    assert (await run.prompt(opened["sessionId"], "hi")).stop_reason == "end_turn"


BROKEN: dict[str, dict[str, Any]] = {
    "not base64": {"type": "image", "data": "!!!", "mimeType": "image/png"},
    "not ascii": {"type": "image", "data": "ä", "mimeType": "image/png"},
    "empty": {"type": "image", "data": "", "mimeType": "image/png"},
    "no picture": {"type": "image", "data": base64.b64encode(b"hello").decode(), "mimeType": "image/png"},
    "no PDF": {
        "type": "resource",
        "resource": {"uri": "file:///a.pdf", "blob": base64.b64encode(b"hi").decode(), "mimeType": "application/pdf"},
    },
}


@pytest.mark.parametrize("block", BROKEN.values(), ids=BROKEN)
async def test_a_broken_picture_is_refused_and_does_not_break_the_turns_after_it(
    run: Running, api: FakeApi, workspace: Path, block: dict[str, Any]
) -> None:
    session = await run.new(workspace)
    prompt = [{"type": "text", "text": "look"}, block]
    await refusal(run, "session/prompt", {"sessionId": session, "prompt": prompt})
    api.reply(text("Still here."))
    assert (await run.prompt(session, "hi")).stop_reason == "end_turn"


async def test_a_picture_is_sent_as_what_its_bytes_are(run: Running, api: FakeApi, workspace: Path) -> None:
    session = await run.new(workspace)
    for named in ("IMAGE/PNG", "image/jpeg"):
        api.reply(text("A picture."))
        block = {"type": "image", "data": PNG, "mimeType": named}
        await run.request("session/prompt", {"sessionId": session, "prompt": [block]})
        (sent,) = [each for each in api.requests[-1].messages[-1]["content"] if each["type"] == "image"]
        assert sent["source"]["media_type"] == "image/png"


async def test_a_link_that_is_no_address_is_passed_on_as_it_is(run: Running, api: FakeApi, workspace: Path) -> None:
    session = await run.new(workspace)
    api.reply(text("Odd."))
    link = {"type": "resource_link", "uri": "http://[::1", "name": "odd"}
    await run.request("session/prompt", {"sessionId": session, "prompt": [link]})
    assert "[odd](http://[::1)" in str(api.requests[-1].messages[-1])


class Faulty(Editor):
    """Its terminals answer one request with an error, or with something that is no answer."""

    fault = ""
    answer_wrongly = False

    async def _refused(self, name: str) -> None:
        if self.fault == name:
            raise RequestError(-32603, f"{name} is out of order")

    async def create_terminal(self, *args: Any, **more: Any) -> Any:
        await self._refused("create")
        made = await super().create_terminal(*args, **more)
        return {"terminalId": 7} if self.answer_wrongly else made

    async def wait_for_terminal_exit(self, *args: Any, **more: Any) -> Any:
        await self._refused("wait")
        return await super().wait_for_terminal_exit(*args, **more)

    async def terminal_output(self, *args: Any, **more: Any) -> Any:
        await self._refused("output")
        return await super().terminal_output(*args, **more)

    async def kill_terminal(self, *args: Any, **more: Any) -> Any:
        await self._refused("kill")
        return await super().kill_terminal(*args, **more)

    async def release_terminal(self, *args: Any, **more: Any) -> Any:
        await self._refused("release")
        return await super().release_terminal(*args, **more)


async def test_a_terminal_that_fails_is_told_to_the_model_and_the_turn_goes_on(place: Path, workspace: Path) -> None:
    editor = Faulty(answer=always("allow"))
    capabilities: ClientCapabilities = FILES.model_copy(update={"terminal": True})
    async with (
        FakeApi() as api,
        running(place / "faulty", env=api.env, editor=editor, capabilities=capabilities) as run,
    ):
        session = await run.new(workspace)
        for fault in ("create", "wait", "output", "release", "wrong"):
            editor.fault, editor.answer_wrongly = fault, fault == "wrong"
            api.reply(tool("Bash", command=f"touch {fault}.txt; echo told"))
            api.reply(text("Seen."))
            async with asyncio.timeout(60):
                assert (await run.prompt(session, "run it")).stop_reason == "end_turn"
            (result,) = api.requests[-1].messages[-1]["content"]
            told = fault in ("create", "release")  # our own shell ran it; the output was there already
            assert ("told" in str(result["content"])) is told, (fault, result)
            assert told or ("terminal" in str(result["content"]) and result["is_error"]), (fault, result)
