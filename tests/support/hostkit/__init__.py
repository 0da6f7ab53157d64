"""Windows that share a host: real bridges, a real host, and a look at the processes that are left."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from fakeapi import FakeApi
from lspclient import Client, Json, Server
from lspclient.client import TIMEOUT
from lspclient.process import COMMAND
from processes import alive

HOST = (*COMMAND, "--host")


class Desk:
    """One user and one workspace; `connect` opens a window, `hosts` lists the host processes that live."""

    def __init__(self, place: Path) -> None:
        self.home = place / "home"
        self.workspace = place / "workspace"
        self.workspace.mkdir()
        self.clients: list[Client] = []
        self.settings(hostIdleSeconds=0)

    def settings(self, **values: Any) -> None:
        file = self.home / "config" / "assent" / "settings.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))

    def environment(self) -> dict[str, str]:
        return Server(self.home).env

    async def connect(
        self,
        name: str = "window",
        *,
        assent: Json | None = None,
        env: dict[str, str] | None = None,
        api: FakeApi | None = None,
        command: tuple[str, ...] = HOST,
        flags: Json | None = None,
        **more: Any,
    ) -> Client:
        around = api.env if api is not None else {"ASSENT_OFFLINE": "1"}
        client = Client(Server(self.home, env={**around, **(env or {})}, command=command))
        self.clients.append(client)
        await client.start()
        given = {"client": {"permissions": True, "review": True, "partials": True, **(flags or {})}}
        options = {**given, "maxEventRate": 0, **(assent or {})}
        await client.initialize(self.workspace, assent=options, clientInfo={"name": name}, **more)
        return client

    def owner(self) -> Json:
        """What the host says of itself in its lock."""
        (lock,) = (self.home / "data" / "assent" / "host").glob("*/lock")
        return json.loads(lock.read_text())

    @property
    def host(self) -> int:
        return int(self.owner()["pid"])

    async def host_gone(self, *, within: float = TIMEOUT) -> None:
        """Also where there never was one."""
        if not list(self.home.glob("data/assent/host/*/lock")):
            return
        pid = self.host
        async with asyncio.timeout(within):
            while alive(pid):  # noqa: ASYNC110
                await asyncio.sleep(0.02)  # a process that is not our child can only be looked at


def mine(marker: str) -> list[int]:
    """Live processes whose command line or environment names this folder."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                told = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if marker.encode() in told and alive(int(entry.name)):
                found.append(int(entry.name))
    return found
