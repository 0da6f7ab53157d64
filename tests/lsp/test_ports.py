"""safety.md, Ports: none listening. What the server and its children hold is compared with what the kernel lists."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterable
from pathlib import Path

import pytest

from fakeapi import FakeApi, text, tool
from lspclient import Connect
from processes import descendants

pytestmark = pytest.mark.asyncio(loop_scope="module")

LISTENING = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}  # a bound udp socket is said to be "closed"


def listening() -> set[str]:
    """The inodes of every socket in this network that takes connections or datagrams."""
    found: set[str] = set()
    for table, state in LISTENING.items():
        path = Path("/proc/net") / table
        if path.exists():
            rows = [line.split() for line in path.read_text().splitlines()[1:]]
            found |= {row[9] for row in rows if row[3] == state}
    return found


def held_by(pids: Iterable[int]) -> set[str]:
    """The inodes of sockets these processes hold, as far as we may look: our own server lets only root do so."""
    found: set[str] = set()
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended, or we may not look
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):  # closed since
                    link = str(entry.readlink())
                    found |= {link[len("socket:[") : -1]} if link.startswith("socket:[") else set()
    return found


def suspects(before: set[str], ours: set[int]) -> set[str]:
    """New listeners that belong to the server's processes, or to nobody whom we may look at."""
    everyone = {int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    fresh = listening() - before
    return fresh - (held_by(everyone - ours) - held_by(ours))


async def test_no_port_is_opened_by_the_server_or_its_children(
    connect: Connect, api: FakeApi, workspace: Path, place: Path
) -> None:
    before = listening()
    client = await connect(assent={"client": {"permissions": True}}, api=api, home=place / "ports")
    session = (await client.request("assent/session/new", {}))["sessionId"]
    client.answers["assent/permission/ask"] = lambda _params: {"decision": "allow"}
    api.reply(tool("Grep", pattern="two"), tool("Bash", command="sleep 60; mkdir late", run_in_background=True))
    api.reply(text("Done."))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})
    server = client.server.pid
    ours = {server, *descendants(server)}
    assert len(ours) > 2, "its supervisor and the job are among those looked at"
    found = suspects(before, ours)
    for _ in range(3):  # another test's listener may come and go between two looks; ours would stay
        await asyncio.sleep(0)
        found &= suspects(before, ours)
    assert found == set()


async def test_a_listener_would_be_seen() -> None:
    before = listening()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        inode = str(os.fstat(taken.fileno()).st_ino)
        assert inode in suspects(before, {os.getpid()})
