"""Turns that go on without a window, what the next window is told, and the terminal's view of it (S4, S7)."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from assent.sessions.missed import MissedBoard
from assent.wire.roster import MissedSession
from hostkit import Desk
from lspclient import Client, Json
from processes import alive, descendants, niceness

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def program(desk: Desk, *arguments: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-m", "assent.cli.main", *arguments,
        env=desk.environment(), cwd=desk.workspace,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(60):
        out, errors = await process.communicate()
    return process.returncode or 0, out.decode(), errors.decode()


async def waiting(window: Client, command: str = "touch made") -> tuple[str, str]:
    """A session whose turn waits for an answer: its id and the ask's."""
    window.answers["assent/permission/ask"] = lambda _params: asyncio.Event().wait()
    session = (await window.request("assent/session/new", {}))["sessionId"]
    await window.request("assent/session/send", {"sessionId": session, "prompt": f"run `{command}`"})
    pending = await window.wait_event("permissionPending", session_id=session)
    return session, pending["event"]["askId"]


async def missed(window: Client) -> list[Json]:
    return (await window.wait_notification("assent/missed"))["sessions"]


async def test_an_ask_waits_without_a_window_and_the_next_one_is_told(desk: Desk) -> None:
    desk.settings(hostIdleSeconds=0, hostKeepRunning=True)
    first = await desk.connect("First")
    session, ask = await waiting(first)
    host = desk.host
    await first.server.kill()
    code, out, _ = await program(desk, "sessions", "--live", "--json")
    (row,) = json.loads(out)
    assert (code, row["sessionId"], row["state"], row["clients"]) == (0, session, "waiting", 0)
    assert row["workspace"] == str(desk.workspace) and "touch made" in row["asks"][0]["title"]
    assert not (desk.workspace / "made").exists()  # absence allows nothing

    second = await desk.connect("Second")
    (entry,) = await missed(second)
    assert (entry["sessionId"], entry["state"]) == (session, "waiting") and "touch made" in entry["ask"]
    told = await second.wait_notification("window/showMessage")
    assert told["message"] == f"Assent: {entry['text']}" and "waits for your answer" in entry["text"]
    second.answers["assent/permission/ask"] = lambda _params: asyncio.Event().wait()
    attached = await second.request(
        "assent/session/attach", {"sessionId": session, "epoch": entry["epoch"], "afterSeq": entry["afterSeq"]}
    )
    assert attached["reset"] is False  # exactly what it missed, as events
    await second.request("assent/permission/answer", {"askId": ask, "decision": "allow"})
    await second.wait_event("turnFinished", session_id=session)
    assert (desk.workspace / "made").exists() and desk.host == host
    third = await desk.connect("Third")
    await third.request("assent/session/roster", {})
    assert not [message for message in third.heard if message.get("method") == "assent/missed"]  # it was seen


async def test_a_turn_finishes_without_a_window_where_the_session_was_told_to(desk: Desk) -> None:
    first = await desk.connect("First")
    first.answers["assent/permission/ask"] = lambda _params: {"decision": "allow"}
    session = (await first.request("assent/session/new", {}))["sessionId"]
    await first.request("assent/session/configure", {"sessionId": session, "keepRunning": True})
    await first.request(
        "assent/session/send",
        {"sessionId": session, "prompt": "run `while [ ! -e go ]; do sleep 0.02; done; touch made`"},
    )
    await first.wait_event("toolStarted", session_id=session)
    host = desk.host
    await first.server.kill()
    code, out, _ = await program(desk, "sessions", "--live")
    assert code == 0 and session in out and "running" in out
    assert alive(host)
    async with asyncio.timeout(120):
        while any((nice := niceness(pid)) is not None and nice < 10 for pid in descendants(host)):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    (desk.workspace / "go").touch()
    await desk.host_gone()  # when it is done there is nothing to stay for
    assert (desk.workspace / "made").exists()
    later = await desk.connect("Later")
    (entry,) = await missed(later)
    assert (entry["sessionId"], entry["state"]) == (session, "finished")


async def test_without_keep_running_the_host_ends_and_the_turn_can_be_resumed(desk: Desk) -> None:
    first = await desk.connect("First")
    session, _ = await waiting(first)
    await first.server.kill()
    await desk.host_gone()
    later = await desk.connect("Later")
    (entry,) = await missed(later)
    assert (entry["sessionId"], entry["state"]) == (session, "interrupted")
    again: list[Json] = []
    later.answers["assent/permission/ask"] = lambda params: again.append(params) or {"decision": "deny"}
    attached = await later.request("assent/session/attach", {"sessionId": session})
    assert attached["reset"] is True and attached.get("interrupted")
    await later.until(lambda: len(again) == 1)  # the ask is put once more (Q11)


async def test_a_live_turn_is_stopped_from_the_terminal(desk: Desk) -> None:
    window = await desk.connect()
    session, _ = await waiting(window)
    assert (await program(desk, "stop", session))[:2] == (0, f"Stopped {session}.\n")
    done = await window.wait_event("turnFinished", session_id=session)
    assert done["event"]["result"]["terminal"].startswith("aborted")
    assert (await program(desk, "stop", session))[1] == f"Nothing was running in {session}.\n"
    code, _, errors = await program(desk, "stop", "snosuch")
    assert code == 1 and "no host runs the session snosuch" in errors
    assert "needs a terminal" in (await program(desk, "attach", session))[2]


async def test_no_host_is_said_in_words(desk: Desk) -> None:
    code, out, errors = await program(desk, "sessions", "--live")
    assert (code, out) == (0, "") and "No host runs" in errors


async def test_a_pointer_is_forgotten_after_its_hours(tmp_path: Path) -> None:
    now = [1000.0]
    board = MissedBoard(tmp_path / "missed.json", lambda: (), hours=lambda: 4, clock=lambda: now[0])
    text = "While no window was open: “t” has finished."
    entry = MissedSession(session_id="s1", title="t", state="finished", since=1000.0, epoch="e", after_seq=1, text=text)
    board._kept["s1"] = entry  # pyright: ignore[reportPrivateUsage]
    board._save()  # pyright: ignore[reportPrivateUsage]
    again = MissedBoard(tmp_path / "missed.json", lambda: (), hours=lambda: 4, clock=lambda: now[0])
    assert again.current().sessions == [entry]
    now[0] += 4 * 3600
    assert again.current().sessions == [entry]
    now[0] += 1
    assert again.current().sessions == []
    (tmp_path / "missed.json").write_text("{")
    broken = MissedBoard(tmp_path / "missed.json", lambda: (), hours=lambda: 4)
    assert broken.current().sessions == []
