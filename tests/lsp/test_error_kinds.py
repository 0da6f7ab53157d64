"""Each kind of error the wire has, met where a user would meet it: its code, its hint, never a traceback."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assent.types.errors import ERROR_CODES
from fakeapi import FakeApi, hold, text, tool
from lspclient import Client, Connect, Json, RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")
BROKEN_ON_PURPOSE = ("assent/session/attach failed",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    client: Client
    api: FakeApi
    connect: Connect
    workspace: Path
    place: Path

    async def new(self, **params: Any) -> str:
        return (await self.client.request("assent/session/new", params))["sessionId"]


async def _never(_params: Json) -> Json:
    await asyncio.Event().wait()
    raise AssertionError


async def untrusted(stage: Stage) -> Any:
    change = {"key": "permissions.allow", "value": ["Bash(make:*)"], "scope": "project"}
    return await stage.client.request("assent/settings/set", change)


async def stale_trust(stage: Stage) -> Any:
    folder = stage.place / "shown"
    (folder / ".assent").mkdir(parents=True)
    (folder / ".assent" / "settings.json").write_text('{"env": {"A": "b"}}')
    return await stage.client.request("assent/trust/set", {"uri": folder.as_uri(), "trusted": True, "hash": "old"})


async def no_credentials(stage: Stage) -> Any:
    client = await stage.connect(assent={"client": {}}, env={"ASSENT_OFFLINE": ""}, home=stage.place / "keyless")
    session = await client.request("assent/session/new", {})
    return await client.request("assent/session/configure", {"sessionId": session["sessionId"], "model": "opus"})


async def outside_workspace(stage: Stage) -> Any:
    change = {"key": "permissions.deny", "value": ["Bash"], "scope": "local", "cwd": str(stage.workspace / "..")}
    return await stage.client.request("assent/settings/set", change)


async def busy(stage: Stage) -> Any:
    session = await stage.new()
    stage.api.reply(text("Wait ", hold("busy"), "for me."))
    await stage.client.request("assent/session/send", {"sessionId": session, "prompt": "go"})
    await stage.api.reached("busy")
    try:
        params = {"sessionId": session, "prompt": "more", "whenBusy": "refuse"}
        return await stage.client.request("assent/session/send", params)
    finally:
        stage.api.release("busy")
        await stage.client.wait_event("turnFinished", session_id=session)


async def unknown_ask(stage: Stage) -> Any:
    answer = {"command": "assent.answerAsk", "arguments": [{"askId": "nope"}]}
    return await stage.client.request("workspace/executeCommand", answer)


async def unknown_hunk(stage: Stage) -> Any:
    async with _Proposed(stage) as proposal:
        decisions = [{"hunkId": "nope", "decision": "accept"}]
        params = {"proposalId": proposal["proposalId"], "decisions": decisions}
        return await stage.client.request("assent/edit/resolve", params)


async def stale_proposal(stage: Stage) -> Any:
    async with _Proposed(stage) as proposal:
        params = {"proposalId": proposal["proposalId"], "decisions": {"all": "accept"}, "version": 99}
        return await stage.client.request("assent/edit/resolve", params)


async def unknown_proposal(stage: Stage) -> Any:
    return await stage.client.request("assent/edit/resolve", {"proposalId": "nope", "decisions": {"all": "accept"}})


async def unknown_session(stage: Stage) -> Any:
    return await stage.client.request("assent/session/close", {"sessionId": "nope"})


async def owned_elsewhere(stage: Stage) -> Any:
    session = await stage.new()
    other = await stage.connect(assent={"client": {}})
    try:
        return await other.request("assent/session/attach", {"sessionId": session})
    except RpcError as error:
        assert error.data["pid"] == stage.client.server.pid
        raise


async def permission_denied(stage: Stage) -> Any:
    stage.client.answers["assent/permission/ask"] = lambda params: {"decision": "deny"}
    return await stage.client.request("assent/tool/run", {"name": "Bash", "input": {"command": "touch x"}})


async def too_large(stage: Stage) -> Any:
    """A frame beyond the limit: its bytes are let pass, its request is answered, and the next one is served."""
    size = 64 * 1024 * 1024 + 1
    head = b'{"jsonrpc":"2.0","id":"big","method":"assent/session/list","params":{"query":"'
    stage.client.raw(b"Content-Length: %d\r\n\r\n" % size + head + b"x" * (size - len(head)))
    answer = await stage.client.answer_to("big")
    await stage.client.request("assent/session/list", {})
    raise RpcError(answer["error"])


async def unsupported(stage: Stage) -> Any:
    return await stage.client.request("assent/document/read", {"uri": "https://example.org/"})


async def not_initialized(stage: Stage) -> Any:
    client = await stage.connect(initialize=False)
    return await client.request("assent/session/list", {})


async def cancelled(stage: Stage) -> Any:
    stage.client.answers["assent/permission/ask"] = _never
    start = len(stage.client.heard)
    params = {"name": "Bash", "input": {"command": "touch x"}}
    number, answer = stage.client.start_request("assent/tool/run", params)
    await stage.client.wait_for(lambda m: m.get("method") == "assent/permission/ask", after=start)
    stage.client.notify("$/cancelRequest", {"id": number})
    return await answer


async def invalid_params(stage: Stage) -> Any:
    return await stage.client.request("assent/session/send", {"sessionId": 5})


async def method_not_found(stage: Stage) -> Any:
    return await stage.client.request("assent/no/such", {})


async def invalid_request(stage: Stage) -> Any:
    return await stage.client.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})


async def internal(stage: Stage) -> Any:
    """A transcript that is a folder now: nothing we foresee, and still an answer."""
    session = await stage.new()
    await stage.client.request("assent/session/close", {"sessionId": session})
    (path,) = stage.client.server.data.rglob(f"{session}.jsonl")
    path.unlink()
    path.mkdir()
    try:
        return await stage.client.request("assent/session/attach", {"sessionId": session})
    finally:
        path.rmdir()


WAYS: dict[str, Callable[[Stage], Awaitable[Any]]] = {
    "untrusted": untrusted,
    "noCredentials": no_credentials,
    "outsideWorkspace": outside_workspace,
    "busy": busy,
    "unknownAsk": unknown_ask,
    "unknownHunk": unknown_hunk,
    "unknownProposal": unknown_proposal,
    "unknownSession": unknown_session,
    "staleProposal": stale_proposal,
    "staleTrust": stale_trust,
    "ownedElsewhere": owned_elsewhere,
    "permissionDenied": permission_denied,
    "tooLarge": too_large,
    "unsupported": unsupported,
    "notInitialized": not_initialized,
    "cancelled": cancelled,
    "invalidParams": invalid_params,
    "methodNotFound": method_not_found,
    "invalidRequest": invalid_request,
    "internal": internal,
}


@pytest.mark.parametrize("kind", sorted(ERROR_CODES))
async def test_each_kind_of_error_reaches_the_client(
    client: Client, api: FakeApi, connect: Connect, workspace: Path, place: Path, kind: str
) -> None:
    stage = Stage(client=client, api=api, connect=connect, workspace=workspace, place=place)
    with pytest.raises(RpcError) as caught:
        async with asyncio.timeout(60):
            await WAYS[kind](stage)
    error = caught.value
    assert (error.kind, error.code) == (kind, ERROR_CODES[kind])
    assert isinstance(error.data["hint"], str)
    assert error.error["message"]
    assert "Traceback" not in str(error.error)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("assent/session/new", {"thinking": "zzz"}),
        ("assent/session/new", {"thinking": {"type": "zzz"}}),
        ("assent/session/new", {"jsonSchema": {"type": "zzz"}}),
        ("assent/session/new", {"jsonSchema": {"type": "array"}}),
        ("assent/session/list", {"cursor": "zzz"}),
    ],
)
async def test_params_that_make_no_sense_are_refused_with_a_hint(client: Client, method: str, params: Json) -> None:
    with pytest.raises(RpcError) as caught:
        await client.request(method, params)
    assert caught.value.kind == "invalidParams"
    assert caught.value.data["hint"]


async def test_restrictions_can_be_saved_where_nothing_is_trusted(client: Client, workspace: Path) -> None:
    change = {"key": "permissions.deny", "value": ["WebFetch"], "scope": "project"}
    await client.request("assent/settings/set", change)
    assert "WebFetch" in (workspace / ".assent" / "settings.json").read_text()
    await client.request("assent/settings/set", {**change, "value": None})


class _Proposed:
    """A turn that waits for the review of an edit; over, when the block is left."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._turn: asyncio.Future[Any] | None = None
        self._proposal: Json = {}

    async def __aenter__(self) -> Json:
        stage, path = self._stage, str(self._stage.workspace / "notes.txt")
        stage.client.answers["assent/permission/ask"] = _never
        stage.api.reply(tool("Read", file_path=path))
        stage.api.reply(tool("Edit", file_path=path, old_string="one", new_string="1"))
        stage.api.reply(text("As you like."))
        session = await stage.new()
        send = {"sessionId": session, "prompt": "edit", "wait": True}
        self._turn = stage.client.start_request("assent/session/send", send)[1]
        self._proposal = (await stage.client.wait_event("editProposed", session_id=session))["event"]["proposal"]
        return self._proposal

    async def __aexit__(self, *_: object) -> None:
        assert self._turn is not None
        params = {"proposalId": self._proposal["proposalId"], "decisions": {"all": "reject"}}
        await self._stage.client.request("assent/edit/resolve", params)
        await self._turn
