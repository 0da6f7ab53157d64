"""What outlives the server: edits under review, who wrote a line; and what a client sees of numbers and jobs."""

import asyncio
import re
from pathlib import Path

import pytest

from fakeapi import FakeApi, hold, text, tool
from lspclient import Client, Connect, Json
from lspclient.client import PLUGIN, RpcError

pytestmark = pytest.mark.asyncio(loop_scope="module")
ASK = "assent/permission/ask"


async def never(_params: Json) -> Json:
    await asyncio.Event().wait()
    raise AssertionError


def edit(api: FakeApi, path: Path) -> None:
    api.reply(tool("Read", file_path=str(path)))
    api.reply(tool("Edit", file_path=str(path), old_string="Helo", new_string="Hello"))


async def new(client: Client, **params: object) -> str:
    return (await client.request("assent/session/new", params))["sessionId"]


async def test_who_wrote_a_line_is_known_after_a_restart_and_can_be_taken_back(
    connect: Connect, api: FakeApi, workspace: Path
) -> None:
    path = workspace / "greeter.py"
    first = await connect(assent={"client": dict(PLUGIN)}, api=api)
    first.answers[ASK] = lambda params: {"decision": "allow"}
    edit(api, path)
    api.reply(text("Done."))
    session = await new(first)
    await first.request("assent/session/send", {"sessionId": session, "prompt": "mend the greeting", "wait": True})
    assert '"Hello"' in path.read_text()
    await first.stop()
    path.write_text("# a line of mine\n" + path.read_text())
    second = await connect(assent={"client": dict(PLUGIN)}, api=api, root=workspace)
    document = second.open(path)
    where: Json = {"textDocument": {"uri": path.as_uri()}, "position": {"line": 2, "character": 5}}
    await second.request("assent/session/attach", {"sessionId": session})
    hover = await second.request("textDocument/hover", where)
    assert "mend the greeting" in hover["contents"]["value"]
    where["position"]["line"] = 0
    assert await second.request("textDocument/hover", where) is None
    (hunk,) = re.findall(r"%22(h\w+)%22", hover["contents"]["value"])
    await second.request("workspace/executeCommand", {"command": "assent.revertHunk", "arguments": [hunk]})
    assert '"Helo"' in document.text and document.text.startswith("# a line of mine\n")
    await second.stop()


@pytest.mark.parametrize("answer", ["allow", "deny"])
async def test_an_edit_open_at_the_end_is_decided_after_it(
    connect: Connect, api: FakeApi, workspace: Path, answer: str
) -> None:
    path = workspace / "greeter.py"
    first = await connect(assent={"client": dict(PLUGIN)}, api=api)
    first.answers[ASK] = never
    document = first.open(path)
    edit(api, path)
    session = await new(first)
    await first.request("assent/session/send", {"sessionId": session, "prompt": "mend it", "wait": False})
    await first.wait_for(lambda m: m.get("method") == ASK)
    assert await first.stop() == 0
    second = await connect(assent={"client": dict(PLUGIN)}, api=api)
    document = second.open(path)
    second.answers[ASK] = lambda params: {"decision": answer}
    attached = await second.request("assent/session/attach", {"sessionId": session})
    assert [len(proposal["hunks"]) for proposal in attached["proposals"]] == [1]
    await second.wait_event("editResolved", session_id=session)
    assert ('"Hello"' in document.text) is (answer == "allow")
    api.reply(text("I see."))
    await second.request("assent/session/send", {"sessionId": session, "prompt": "go on", "wait": True})
    told = str(api.calls[-1].messages)
    assert ("Changed" in told) is (answer == "allow") and ("was not changed" in told) is (answer == "deny")
    if answer == "allow":
        where = {"textDocument": {"uri": path.as_uri()}, "position": {"line": 1, "character": 5}}
        hover = await second.request("textDocument/hover", where)
        assert "mend it" in hover["contents"]["value"]
    await second.stop()


async def test_a_client_without_partials_sees_no_gap_beside_a_chat_document(
    connect: Connect, api: FakeApi, workspace: Path
) -> None:
    client = await connect(assent={"client": {"permissions": True}}, api=api)
    path = workspace / "beside.assent.md"
    path.write_text("## You\n\nTell me a story.\n")
    document = client.open(path, language="markdown")
    api.reply(text("Once upon a time, ", "there was ", "a server."))
    await client.request("workspace/executeCommand", {"command": "assent.send", "arguments": [document.uri]})
    await client.until(lambda: document.text.endswith("a server.\n\n## You\n\n"))
    session = document.text.split("session=")[1].split(" ")[0]
    await client.request("assent/session/attach", {"sessionId": session})
    api.reply(text("And then ", "it ", "ended."))
    client.type(document, len(document.text), len(document.text), "And then?\n")
    await client.request("workspace/executeCommand", {"command": "assent.send", "arguments": [document.uri]})
    await client.until(lambda: document.text.endswith("it ended.\n\n## You\n\n"))
    heard = client.events(session)
    numbers = [params["seq"] for params in heard]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) and len(numbers) > 5
    assert not [params for params in heard if params["event"]["type"].endswith("Delta")]
    assert not [m for m in client.heard if m.get("method") == "$/cancelRequest"], "an edit that landed is not recalled"
    await client.stop()


async def test_a_running_job_is_listed_and_killed(connect: Connect, api: FakeApi) -> None:
    client = await connect(assent={"client": dict(PLUGIN)}, api=api)
    client.answers[ASK] = lambda params: {"decision": "allow"}
    session = await new(client)
    api.reply(tool("Bash", command="echo begun; sleep 300", run_in_background=True))
    api.reply(text("It runs."))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "serve", "wait": True})
    started = (await client.wait_event("job", session_id=session))["event"]
    (job,) = (await client.request("assent/job/list", {"sessionId": session}))["jobs"]
    assert (job["sessionId"], job["jobId"], job["state"]) == (session, started["jobId"], "running")
    assert "sleep 300" in job["command"]
    assert (await client.request("assent/job/list", {}))["jobs"] == [job]
    start = len(client.heard)
    assert await client.request("assent/job/kill", {"jobId": job["jobId"]}) == {"killed": True}
    ended = (await client.wait_event("job", session_id=session, after=start))["event"]
    assert (ended["jobId"], ended["state"]) == (job["jobId"], "killed")
    assert await client.request("assent/job/kill", {"jobId": job["jobId"]}) == {"killed": False}
    api.reply(text("Noted."))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "and now?", "wait": True})
    assert f"The background command {job['jobId']} has ended" in str(api.calls[-1].messages)
    await client.stop()


async def test_a_command_moved_to_the_background_lets_the_turn_go_on_and_its_end_is_told(  # S5
    connect: Connect, api: FakeApi
) -> None:
    client = await connect(assent={"client": dict(PLUGIN)}, api=api)
    client.answers[ASK] = lambda params: {"decision": "allow"}
    session = await new(client)
    api.reply(tool("Bash", command="echo begun; sleep 300"))
    api.reply(text("I go on."))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "build", "wait": False})
    call = (await client.wait_event("toolStarted", session_id=session))["event"]
    moved = await client.request("assent/job/background", {"sessionId": session, "toolUseId": call["toolUseId"]})
    finished = (await client.wait_event("turnFinished", session_id=session))["event"]
    assert finished["result"]["result"] == "I go on."
    (job,) = (await client.request("assent/job/list", {"sessionId": session}))["jobs"]
    assert (job["jobId"], job["state"]) == (moved["jobId"], "running")
    with pytest.raises(RpcError) as refused:
        await client.request("assent/job/background", {"sessionId": session, "toolUseId": call["toolUseId"]})
    assert refused.value.kind == "invalidRequest"
    start = len(client.heard)
    await client.request("assent/job/kill", {"jobId": job["jobId"]})
    await client.wait_event("job", session_id=session, after=start)
    api.reply(text("Noted."))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "and now?", "wait": True})
    assert f"The background command {job['jobId']} has ended" in str(api.calls[-1].messages)
    assert await client.request("assent/agent/stop", {"sessionId": session, "agentId": "none"}) == {"stopped": False}
    await client.stop()


async def test_attaching_in_the_middle_of_an_answer_gives_the_words_so_far(connect: Connect, api: FakeApi) -> None:
    client = await connect(assent={"client": dict(PLUGIN), "maxEventRate": 0}, api=api)
    session = await new(client)
    api.reply(text("Half ", "a ", hold("bread"), "loaf."))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": False})
    await client.until(lambda: len(client.events(session, "textDelta")) == 2)
    start = len(client.heard)
    attached = await client.request("assent/session/attach", {"sessionId": session})
    api.release("bread")
    await client.wait_event("turnFinished", session_id=session, after=start)
    after = [m["params"] for m in client.heard[start:] if m.get("method") == "assent/session/event"]
    assert after[0]["seq"] == attached["lastSeq"] + 1
    said = "".join(p["event"]["text"] for p in after if p["event"]["type"] == "textDelta")
    assert said == "Half a loaf."
    await client.stop()
