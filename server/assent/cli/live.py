"""What runs in hosts now: `assent sessions --live`, `assent attach ID`, `assent stop ID`."""

import asyncio
import json
import sys
from pathlib import Path
from typing import NamedTuple

from assent.cli.chat import conversation as chat
from assent.cli.server_process import HostConnection
from assent.host.connection import held
from assent.host.place import HostPlace, hosts_dir, owner_of, place_by_key, supported
from assent.text.visible import visible
from assent.types.blocks import Json
from assent.types.errors import AssentError, ProtocolError

NONE = "No host runs. The setting `host` lets windows share one; docs/sessions.md says more."


class Running(NamedTuple):
    place: HostPlace
    workspace: str
    sessions: list[Json]


def show(*, json_output: bool) -> int:
    hosts = asyncio.run(_hosts())
    rows: list[Json] = [{**session, "workspace": host.workspace} for host in hosts for session in host.sessions]
    if json_output:
        print(json.dumps(rows, indent=2))
    elif not rows:
        print("Nothing runs in the hosts." if hosts else NONE, file=sys.stderr)
    for row in [] if json_output else rows:
        print(_line(row))
        for ask in row["asks"]:
            print(f"{'':14}asks: {visible(ask['title'])}")
    return 0


def attach(session: str) -> int:
    host = asyncio.run(_host_of(session))
    return chat.run(cwd=Path(host.workspace), prompts=[], session=session, host=host.place)


def stop(session: str) -> int:
    return asyncio.run(_stop(session))


async def _stop(session: str) -> int:
    host = await _host_of(session)
    connection = HostConnection(host.place)
    await connection.start()
    try:
        await _introduce(connection)
        answer = await connection.request("assent/session/interrupt", {"sessionId": session})
    finally:
        await connection.stop()
    print(f"Stopped {session}." if answer["interrupted"] else f"Nothing was running in {session}.")
    return 0


async def _host_of(session: str) -> Running:
    for host in await _hosts():
        if any(entry["sessionId"] == session for entry in host.sessions):
            return host
    hint = f"`assent sessions --live` lists those that do; to go on with it: assent chat --session {session}"
    raise ProtocolError("unknownSession", f"no host runs the session {session}", hint=hint)


async def _hosts() -> list[Running]:
    if why := supported():
        raise AssentError(f"there are no hosts here: {why}")
    try:
        keys = await asyncio.to_thread(lambda: sorted(folder.name for folder in Path(hosts_dir()).iterdir()))
    except OSError:
        return []
    found = await asyncio.gather(*(_look(place_by_key(key)) for key in keys))
    return [host for host in found if host is not None]


async def _look(place: HostPlace) -> Running | None:
    """What a host says of its sessions; None where none lives, or it does not answer."""
    if not held(place):
        return None
    workspace = str(owner_of(place).get("workspace", ""))
    connection = HostConnection(place)
    try:
        await connection.start()
        await _introduce(connection)
        async with asyncio.timeout(10):
            roster = await connection.request("assent/session/roster", {})
    except (AssentError, TimeoutError, OSError) as error:
        print(f"assent: the host of {visible(workspace or place.folder)}: {visible(str(error))}", file=sys.stderr)
        return None
    finally:
        await connection.stop()
    return Running(place, workspace, roster["sessions"])


async def _introduce(connection: HostConnection) -> None:
    """Without claiming anything: nobody is to be asked here."""
    await connection.request(
        "initialize", {"processId": None, "clientInfo": {"name": "assent"}, "rootUri": None, "capabilities": {}}
    )
    connection.notify("initialized", {})


def _line(row: Json) -> str:
    title = visible(row["title"] or "(no title)").replace("\n", " ")[:50]
    windows = f"{row['clients']} window{'' if row['clients'] == 1 else 's'}"
    return (
        f"{row['sessionId']:<13} {row['state']:<9} ${row['costUsd']:.4f}  {windows:<10} {title}  {visible(row['cwd'])}"
    )
