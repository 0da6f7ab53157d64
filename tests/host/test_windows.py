"""Several windows on one session, through one host (S6, S7)."""

import asyncio
import os
import sys

import pytest

from assent.host.connection import NoHost, connect
from hostkit import Desk
from lspclient import Client, RpcError
from lspclient.process import COMMAND
from processes import alive

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_two_windows_share_one_host_and_hear_the_same_stream(desk: Desk) -> None:
    first = await desk.connect("First")
    session = (await first.request("assent/session/new", {}))["sessionId"]
    second = await desk.connect("Second")
    attached = await second.request("assent/session/attach", {"sessionId": session})
    assert attached["reset"] is True and not attached.get("readOnly")
    for client in (first, second):
        done = client.wait_event("turnFinished", session_id=session, after=len(client.heard))
        await client.request("assent/session/send", {"sessionId": session, "prompt": "hello"})
        await done
    await asyncio.gather(*(_idle(client, session) for client in (first, second)))
    heard = [
        [event for event in client.events(session) if event["seq"] > attached["lastSeq"]] for client in desk.clients
    ]
    assert heard[0] == heard[1]
    assert [event["seq"] for event in heard[0]] == list(range(heard[0][0]["seq"], heard[0][-1]["seq"] + 1))
    host = desk.host
    assert await first.stop() == 0
    assert alive(host)  # the other window is still there
    (entry,) = (await second.request("assent/session/roster", {}))["sessions"]
    assert (entry["sessionId"], entry["clients"], entry["state"]) == (session, 1, "finished")
    assert await second.stop() == 0
    await desk.host_gone()


async def test_one_answers_an_ask_and_the_other_is_told_who(desk: Desk) -> None:
    first, second = await desk.connect("First"), await desk.connect("Second")
    first.answers["assent/permission/ask"] = lambda _params: asyncio.Event().wait()  # nobody looks at this window
    second.answers["assent/permission/ask"] = lambda _params: {"decision": "allow"}
    session = (await first.request("assent/session/new", {}))["sessionId"]
    await second.request("assent/session/attach", {"sessionId": session})
    answer = await first.request(
        "assent/session/send", {"sessionId": session, "prompt": "run `touch made`", "wait": True}
    )
    assert answer["result"]["subtype"] == "success" and (desk.workspace / "made").exists()
    (told,) = first.events(session, "permissionResolved")
    assert (told["event"]["decision"], told["event"]["by"], told["event"]["client"]) == ("allow", "client", "Second")
    assert await first.wait_notification("assent/withdrawn")


async def test_a_waiting_send_of_a_window_that_dies_does_not_stop_the_turn(desk: Desk) -> None:
    first, second = await desk.connect("First"), await desk.connect("Second")
    session = (await first.request("assent/session/new", {}))["sessionId"]
    await second.request("assent/session/attach", {"sessionId": session})
    first.start_request("assent/session/send", {"sessionId": session, "prompt": "run `touch made`", "wait": True})
    pending = await second.wait_event("permissionPending", session_id=session)
    await first.server.kill()
    second.answers["assent/permission/ask"] = lambda _params: {"decision": "deny"}  # not asked again: answered below
    await second.request("assent/permission/answer", {"askId": pending["event"]["askId"], "decision": "allow"})
    done = await second.wait_event("turnFinished", session_id=session)
    assert done["event"]["result"]["subtype"] == "success" and (desk.workspace / "made").exists()


async def test_a_window_without_a_host_gets_an_engine_of_its_own(desk: Desk) -> None:
    shared = await desk.connect("Shared")
    session = (await shared.request("assent/session/new", {}))["sessionId"]
    alone = await desk.connect("Alone", command=COMMAND)
    with pytest.raises(RpcError) as caught:
        await alone.request("assent/session/attach", {"sessionId": session})
    assert caught.value.kind == "ownedElsewhere" and caught.value.data["pid"] == desk.host


async def test_a_program_connects_to_the_host_of_a_folder(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in desk.environment().items():
        monkeypatch.setenv(name, value)
    with pytest.raises(NoHost):
        connect(str(desk.workspace))
    link = await asyncio.to_thread(connect, str(desk.workspace), start=True)
    reader, writer = await asyncio.open_connection(sock=link.stream)
    body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
    writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    async with asyncio.timeout(120):
        assert b"Content-Length" in await reader.readuntil(b"\r\n\r\n")
    host = desk.host
    assert alive(host)
    writer.close()
    link.close()
    await desk.host_gone()


async def test_windows_that_come_and_go_leave_nothing_in_the_host(desk: Desk) -> None:
    stays = await desk.connect("Stays")
    await stays.request("assent/session/roster", {})
    host = desk.host

    def held() -> tuple[int, int]:
        return len(os.listdir(f"/proc/{host}/fd")), len(os.listdir(f"/proc/{host}/task"))  # noqa: PTH208

    async def come_and_go(way: int) -> None:
        window = await desk.connect("Goes")
        await window.request("assent/session/roster", {})
        if way == 0:
            assert await window.stop() == 0
        elif way == 1:
            await window.close()  # kill -9
        else:
            assert window.process.stdin is not None
            window.process.stdin.close()
            await window.server.ended(within=120)
            await window.close()

    for way in range(3):
        await come_and_go(way)
    before = held()
    for way in range(6):
        await come_and_go(way % 3)
    async with asyncio.timeout(120):
        while held()[0] > before[0] or held()[1] > before[1] + 1:  # noqa: ASYNC110 -- one thread of a pool may be new
            await asyncio.sleep(0.02)


async def _idle(client: Client, session: str) -> None:
    """The last turn's last event has been heard."""

    def last() -> bool:
        events = client.events(session)
        return events[-1]["event"].get("state") == "idle" and len(client.events(session, "turnFinished")) == 2

    await client.until(last)


async def test_the_bridge_loads_nothing_that_an_editor_would_wait_for() -> None:
    slow = ("asyncio", "dataclasses", "hashlib", "inspect", "msgspec", "pathlib", "subprocess", "urllib.parse")
    code = (
        f"import sys, assent.cli.serve, assent.host.bridge; print([name for name in {slow!r} if name in sys.modules])"
    )
    asked = await asyncio.create_subprocess_exec(sys.executable, "-I", "-c", code, stdout=asyncio.subprocess.PIPE)
    told, _ = await asked.communicate()
    assert told.decode().strip() == "[]"
