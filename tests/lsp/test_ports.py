"""No port listens (safety.md, Ports): not the server's, not its helpers', not while tools run."""

import asyncio
import os
from pathlib import Path

import pytest

from fakeapi import FakeApi, text, tool
from lspclient import Connect
from lspclient.client import PLUGIN
from lspclient.process import descendants

pytestmark = pytest.mark.asyncio(loop_scope="module")

TCP_LISTENS = "0A"
UDP_UNCONNECTED = "07"
UNIX_ACCEPTS = 0x10000


def _waiting_for_others(pid: int) -> set[str]:
    """The sockets of the machine, as this process sees it, that somebody could connect or send to: by inode."""
    found: set[str] = set()
    for table, state in (("tcp", TCP_LISTENS), ("udp", UDP_UNCONNECTED)):
        for version in ("", "6"):
            for line in Path(f"/proc/{pid}/net/{table}{version}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == state:
                    found.add(fields[9])
    for line in Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[3], 16) & UNIX_ACCEPTS:
            found.add(fields[6])
    return found


def _sockets(pid: int) -> set[str]:
    """By inode. A process that hides from its own user, as ours do, is seen by root only."""
    found: set[str] = set()
    try:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            target = str(entry.readlink())
            if target.startswith("socket:["):
                found.add(target[len("socket:[") : -1])
    except (FileNotFoundError, PermissionError):
        pass
    return found


async def test_nothing_listens_while_a_session_talks_searches_and_runs_commands(connect: Connect, place: Path) -> None:
    async with FakeApi() as api:
        client = await connect(assent={"client": dict(PLUGIN)}, api=api)
        client.answers["assent/permission/ask"] = lambda _params: {"decision": "allow", "scope": "once"}
        opened = await client.request("assent/session/new", {})
        api.reply(tool("Grep", pattern="Helo"), tool("Bash", command="sleep 1000", run_in_background=True))
        api.reply(text("done"))
        params = {"sessionId": opened["sessionId"], "prompt": "go", "wait": True}
        async with asyncio.timeout(60):
            await client.request("assent/session/send", params)
        processes = [client.server.pid, *descendants(client.server.pid)]
        assert len(processes) >= 2, "the supervisor at least is there"
        assert {pid: open & _waiting_for_others(pid) for pid in processes if (open := _sockets(pid))} == {
            pid: set[str]() for pid in processes if _sockets(pid)
        }


async def test_one_that_listens_would_be_seen() -> None:
    server = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
    try:
        assert _sockets(os.getpid()) & _waiting_for_others(os.getpid())
    finally:
        server.close()
