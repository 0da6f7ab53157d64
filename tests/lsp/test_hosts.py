"""Only the configured endpoint is contacted: no telemetry, no update checks, no look-ups of other names."""

import json
import sys
from pathlib import Path

import pytest

from fakeapi import FakeApi, text, tool
from lspclient import Client, Json, Server

pytestmark = pytest.mark.asyncio

WATCHED = """
import json, sys
LOG = sys.argv[1]
def heard(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind"):
        place = args[1] if event in ("socket.connect", "socket.sendto", "socket.bind") else args[0]
        shown = [part.decode() if isinstance(part, bytes) else str(part) for part in place] if isinstance(place, tuple) else [str(place)]
        with open(LOG, "a") as file:
            file.write(json.dumps([event, *shown]) + chr(10))
sys.addaudithook(heard)
from assent.cli.main import main
sys.argv = ["assent", *sys.argv[2:]]
sys.exit(main())
"""


def contacts(log: Path) -> list[list[str]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


async def test_a_whole_conversation_contacts_the_configured_endpoint_only(tmp_path: Path) -> None:
    log = tmp_path / "contacts.jsonl"
    command = (sys.executable, "-I", "-c", WATCHED, str(log), "serve", "--stdio")
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("one\n")
    async with FakeApi() as api:
        client = Client(Server(tmp_path / "home", env=api.env, command=command))
        await client.start()
        await client.initialize(project, assent={"client": {"permissions": True}})
        client.answers["assent/permission/ask"] = lambda params: {"decision": "allow"}
        session = (await client.request("assent/session/new", {}))["sessionId"]
        api.reply(tool("Read", file_path="a.txt"), tool("Grep", pattern="one"))
        api.reply(tool("Bash", command="touch b.txt"))
        api.reply(tool("Edit", file_path="a.txt", old_string="one", new_string="two"))
        api.reply(text("Done."))
        send: Json = {"sessionId": session, "prompt": "work", "wait": True}
        assert (await client.request("assent/session/send", send))["result"]["subtype"] == "success"
        for method in ("assent/session/context", "assent/session/cost"):
            await client.request(method, {"sessionId": session})
        await client.stop()
        await client.close()
        port = api.url.rsplit(":", 1)[1]
    found = contacts(log)
    assert ["socket.connect", "127.0.0.1", port] in found, "the watch itself must have seen the endpoint"
    strangers = [contact for contact in found if contact[1:] not in (["127.0.0.1", port], ["127.0.0.1"])]
    assert strangers == []


async def test_without_a_key_nobody_at_all_is_contacted(tmp_path: Path) -> None:
    log = tmp_path / "contacts.jsonl"
    command = (sys.executable, "-I", "-c", WATCHED, str(log), "serve", "--stdio")
    client = Client(Server(tmp_path / "home", env={"ASSENT_OFFLINE": "1"}, command=command))
    await client.start()
    await client.initialize(tmp_path, assent={})
    session = (await client.request("assent/session/new", {}))["sessionId"]
    send: Json = {"sessionId": session, "prompt": "hello", "wait": True}
    assert (await client.request("assent/session/send", send))["result"]["subtype"] == "success"
    await client.stop()
    await client.close()
    assert contacts(log) == []
