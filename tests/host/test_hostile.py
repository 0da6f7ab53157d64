# ruff: noqa: ASYNC240 -- nothing else runs on this loop
"""Whoever must not get in, and whatever must not be believed: other users, commands of the model, planted sockets."""

import asyncio
import json
import os
import socket
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from assent.host import connection, handshake, peers
from assent.host import place as places
from assent.host.connection import NoHost, RefusedByHost, connect
from assent.host.place import LONGEST, Unusable, place_of, prepared
from assent.host.wish import wanted
from assent.stdio import life
from assent.storage import paths
from assent.types import file_locks
from hostkit import Desk
from lspclient import Client
from processes import alive

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONNECT = """
import sys
from assent.host.connection import connect, RefusedByHost, NoHost
from assent.host.place import Unusable
try:
    connect(sys.argv[1]).close()
    print("in")
except (RefusedByHost, NoHost, Unusable) as error:
    print(type(error).__name__, getattr(error, "kind", ""), error)
"""


@pytest.fixture
def around(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """This process has the desk's environment, as one more program of its user."""
    for name, value in desk.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return desk


async def said(client: Client) -> str:
    """The warning in which a window says that it has an engine of its own."""
    status = await client.wait_notification("assent/status")
    return " ".join(warning["text"] for warning in status["warnings"])


async def test_a_command_that_the_model_runs_cannot_answer_its_own_ask(around: Desk) -> None:
    window = await around.connect()
    script = around.workspace / "answer.py"
    script.write_text(CONNECT)
    window.answers["assent/permission/ask"] = lambda _params: {"decision": "allow"}
    session = (await window.request("assent/session/new", {}))["sessionId"]
    # An orphan: its parent has died by the time it connects, and the host has adopted it.
    run = f"{sys.executable} {script} {around.workspace}"
    for command in (f"{run} > direct", f"({run} > orphan; echo done > over) & disown; while [ ! -e over ]; do :; done"):
        await window.request("assent/session/send", {"sessionId": session, "prompt": f"run `{command}`", "wait": True})
    for name in ("direct", "orphan"):
        assert (around.workspace / name).read_text().startswith("RefusedByHost descendant"), name
    assert await output_of(*run.split()) == "in\n"  # the same program, started by the user


async def test_the_host_is_nobodys_child_and_names_itself(around: Desk) -> None:
    window = await around.connect()
    await window.request("assent/session/roster", {})
    host = around.host
    assert Path(f"/proc/{host}/comm").read_text().strip() == life.ENGINE == peers.ENGINE
    parent = int(Path(f"/proc/{host}/stat").read_text().rpartition(")")[2].split()[1])
    assert parent not in (window.server.pid, os.getpid())
    assert peers.below_an_engine(host) and not peers.started_by_an_engine(host)
    assert not peers.below_an_engine(os.getpid())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be someone else for a moment")
async def test_another_user_is_refused_even_with_the_token_and_an_open_door(around: Desk) -> None:
    window = await around.connect()
    await window.request("assent/session/roster", {})
    place = place_of(str(around.workspace))
    token = Path(place.token).read_text()
    Path(place.folder).chmod(0o777)  # as if the user had opened everything to everyone
    Path(place.socket).chmod(0o777)
    words = json.dumps(connection.hello(token=token))
    script = textwrap.dedent(f"""
        import os, socket, json
        os.chdir({place.folder!r})
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
        s = socket.socket(socket.AF_UNIX); s.connect("socket")
        body = {words!r}.encode(); s.sendall(len(body).to_bytes(4, "big") + body)
        answer = s.recv(65536); print(answer[4:].decode())
    """)
    assert json.loads(await output_of(sys.executable, "-c", script))["refused"] == "user"


async def test_a_wrong_token_and_an_unknown_protocol_are_refused(around: Desk) -> None:
    window = await around.connect()
    await window.request("assent/session/roster", {})
    place = place_of(str(around.workspace))
    for change, kind in (
        ({"token": "0" * 64}, "token"),
        ({"token": None}, "token"),
        ({"protocols": [99]}, "protocol"),
        ({"protocols": "1"}, "protocol"),
        ({"methods": ["assent/not/yet"]}, "protocol"),
        ({"config": "/elsewhere"}, "config"),
    ):
        control = socket.socket(socket.AF_UNIX)
        control.settimeout(20)
        control.connect(place.socket)
        token = Path(place.token).read_text()
        await asyncio.to_thread(handshake.send, control, {**connection.hello(token=token), **change})
        answer, _ = await asyncio.to_thread(handshake.receive, control)
        assert answer["refused"] == kind
        control.close()
    for garbage in (b"", b"\0\0", b"\xff" * 64, b"\0\0\0\5nope!", b"\0\0\0\2[]"):
        control = socket.socket(socket.AF_UNIX)
        control.connect(place.socket)
        control.sendall(garbage)
        control.close()
    assert (await window.request("assent/session/roster", {}))["sessions"] == []
    assert alive(around.host)


async def test_a_newer_bridge_serves_itself_where_the_host_is_older(around: Desk) -> None:
    first = await around.connect()
    await first.request("assent/session/roster", {})
    newer = (sys.executable, "-I", "-c", (
        "import sys; sys.argv = ['assent', 'serve', '--stdio', '--host']\n"
        "from assent.lsp import served; served.METHODS = (*served.METHODS, 'assent/not/yet')\n"
        "from assent.cli.main import main; sys.exit(main())"
    ))  # fmt: skip
    second = await around.connect(command=newer)
    assert "another version" in await said(second)
    assert (await second.request("assent/session/new", {}))["sessionId"]
    assert await second.stop() == 0


async def test_a_stale_socket_and_a_link_in_its_place_are_replaced(around: Desk) -> None:
    place = prepared(place_of(str(around.workspace)))
    left = socket.socket(socket.AF_UNIX)
    left.bind(place.socket)
    left.close()  # nobody listens there
    window = await around.connect()
    await window.request("assent/session/roster", {})
    assert await window.stop() == 0
    await around.host_gone()
    precious = around.home / "precious"
    precious.write_text("mine")
    Path(place.socket).unlink()
    Path(place.socket).symlink_to(precious)
    Path(place.lock).unlink()
    again = await around.connect()
    await again.request("assent/session/roster", {})
    assert precious.read_text() == "mine"
    status = os.lstat(place.socket)
    assert stat.S_ISSOCK(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o600
    assert stat.S_IMODE(os.lstat(place.folder).st_mode) == 0o700


async def test_a_link_as_lock_is_refused_and_the_window_serves_itself(around: Desk) -> None:
    place = prepared(place_of(str(around.workspace)))
    precious = around.home / "precious"
    precious.write_text("mine")
    Path(place.starting).symlink_to(precious)
    window = await around.connect()
    assert "an engine of its own" in await said(window)
    assert precious.read_text() == "mine"


async def test_a_socket_that_a_command_planted_is_not_taken_for_the_host(around: Desk) -> None:
    """It listens at the right place, as the right user, and knows the token; but an engine started it."""
    window = await around.connect(command=(*window_command(), "--no-host"))
    window.answers["assent/permission/ask"] = lambda _params: {"decision": "allow"}
    place = prepared(place_of(str(around.workspace)))
    plant = around.workspace / "plant.py"
    plant.write_text(
        f"import socket\ns = socket.socket(socket.AF_UNIX); s.bind({place.socket!r}); s.listen()\n"
        "open('planted', 'w').close()\nc, _ = s.accept()\nopen('heard', 'wb').write(c.recv(65536))\n"
    )
    session = (await window.request("assent/session/new", {}))["sessionId"]
    window.start_request(
        "assent/session/send", {"sessionId": session, "prompt": f"run `{sys.executable} {plant}`", "wait": True}
    )
    async with asyncio.timeout(60):
        while not (around.workspace / "planted").exists():  # noqa: ASYNC110 -- another process makes it
            await asyncio.sleep(0.02)
    with pytest.raises(Unusable, match="not a host of yours"):
        await asyncio.to_thread(connect, str(around.workspace))
    heard = around.workspace / "heard"
    assert not heard.exists() or heard.read_bytes() == b""  # it was told nothing


async def test_a_frozen_host_costs_a_bounded_wait(around: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    window = await around.connect()
    await window.request("assent/session/roster", {})
    os.kill(around.host, 19)
    try:
        with pytest.raises(RefusedByHost, match="does not answer") as caught:
            await asyncio.to_thread(connect, str(around.workspace), timeout=0.3)
        assert caught.value.kind == "silent"
    finally:
        os.kill(around.host, 18)


async def test_places_are_short_private_and_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/d")  # as short as a home is; pytest's folders are longer
    assert places.data_dir() == str(paths.data_dir()) and places.config_dir() == str(paths.config_dir())
    near = place_of(str(tmp_path))
    assert near.socket.startswith(near.folder)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    assert place_of(str(link)) == near  # the real path counts
    assert place_of(str(tmp_path.parent)) != near
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / ("long" * 40)))
    far = place_of(str(tmp_path))
    assert far.key != near.key and len(os.fsencode(far.socket)) <= LONGEST
    assert far.socket.startswith(f"/tmp/assent-{os.geteuid()}/")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "r"))
    assert place_of(str(tmp_path)).socket.startswith(str(tmp_path / "r"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / ("r" * 90)))
    assert place_of(str(tmp_path)).socket == far.socket
    monkeypatch.setenv("XDG_DATA_HOME", "not/absolute")
    assert places.data_dir() == str(paths.data_dir())


async def test_a_folder_of_someone_else_is_refused(around: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    place = place_of(str(around.workspace))
    prepared(place)
    wide = Path(place.folder)
    wide.chmod(0o777)
    prepared(place)
    assert stat.S_IMODE(wide.stat().st_mode) == 0o700
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(Unusable, match="not a folder of yours"):
        prepared(place)
    monkeypatch.undo()
    wide.rmdir()
    wide.symlink_to(around.workspace)
    with pytest.raises(Unusable, match="not a folder of yours"):
        prepared(place)


async def test_a_socket_with_a_long_data_folder_still_works(desk: Desk) -> None:
    long = desk.home / ("x" * 90)
    window = await desk.connect(env={"XDG_DATA_HOME": str(long)})
    assert (await window.request("assent/session/roster", {})) == {"sessions": []}
    (lock,) = (long / "assent" / "host").glob("*/lock")
    assert alive(json.loads(lock.read_text())["pid"])
    assert await window.stop() == 0


async def test_only_the_user_says_whether_there_is_a_host(around: Desk) -> None:
    around.settings(host=False)
    assert not wanted(["serve", "--stdio"], {})
    assert wanted(["serve", "--stdio", "--host"], {})
    mine = {"initializationOptions": {"assent": {"settings": {"host": True}, "settingsLevel": "user"}}}
    project = {"initializationOptions": {"assent": {"settings": {"host": True}}}}
    assert wanted(["serve", "--stdio"], mine)
    assert not wanted(["serve", "--stdio"], project)
    assert not wanted(["serve", "--stdio", "--no-host"], mine)
    around.settings(host=True)
    assert wanted(["serve", "--stdio"], None)
    for broken in ("{", "[]", '{"host": "yes"}'):
        (around.home / "config" / "assent" / "settings.json").write_text(broken)
        assert not wanted(["serve", "--stdio"], None)


async def test_a_project_that_wants_a_host_is_ignored_with_a_notice(around: Desk) -> None:
    (around.workspace / ".assent").mkdir()
    (around.workspace / ".assent" / "settings.json").write_text('{"host": true, "hostKeepRunning": true}')
    window = await around.connect(command=window_command())
    await window.request("assent/session/new", {})
    told = (await window.wait_notification("assent/status"))["warnings"]
    for key in ("host", "hostKeepRunning"):
        assert any(f"{key}: is ignored here" in warning["text"] for warning in told)
    with pytest.raises(NoHost):
        connect(str(around.workspace))


async def output_of(*command: str) -> str:
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    async with asyncio.timeout(60):
        out, _ = await process.communicate()
    return out.decode()


def window_command() -> tuple[str, ...]:
    return (sys.executable, "-I", "-m", "assent.cli.main", "serve", "--stdio")


async def test_a_process_that_has_gone_is_not_known_by_its_number(tmp_path: Path) -> None:
    """Its number may be another's by now: one that connects, hands the connection on and ends is noticed."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "socket"))
    listener.listen()
    control = socket.socket(socket.AF_UNIX)
    code = "import socket, sys; socket.socket(fileno=int(sys.argv[1])).connect(sys.argv[2]); input()"
    child = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-I", "-c", code, str(control.fileno()), str(tmp_path / "socket")],
        stdin=subprocess.PIPE,
        pass_fds=(control.fileno(),),
    )
    with child:
        accepted, _ = listener.accept()
        assert peers.credentials(accepted)[0] == child.pid
        with peers.same_process(accepted) as alive:
            assert alive()
            child.communicate(b"\n")
            assert not alive()
    with peers.same_process(accepted) as alive:
        assert not alive()  # the same when it is asked for the first time
    with peers.same_process(control) as alive:
        assert alive()  # the one that listens is this process


async def test_a_lock_that_is_held_for_ever_costs_a_bounded_wait(around: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    place = prepared(place_of(str(around.workspace)))
    held = os.open(place.starting, os.O_RDWR | os.O_CREAT, 0o600)
    file_locks.try_lock(held)
    monkeypatch.setattr(connection, "PATIENCE", 0.2)
    with pytest.raises(Unusable, match="held by another process"):
        await asyncio.to_thread(connection.found_or_started, place, lambda _listener: None)
    os.close(held)


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"token":' + b"[" * 100_000, b"\xff", b"[]"])
async def test_a_frame_that_is_no_object_ends_the_conversation(body: bytes) -> None:
    ours, theirs = socket.socketpair()
    ours.sendall(len(body).to_bytes(4, "big") + body)
    with pytest.raises(handshake.Broken):
        handshake.receive(theirs)


async def test_a_token_that_is_no_text_is_refused_in_words(around: Desk) -> None:
    window = await around.connect()
    await window.request("assent/session/roster", {})
    place = prepared(place_of(str(around.workspace)))
    control = socket.socket(socket.AF_UNIX)
    control.connect(place.socket)
    control.settimeout(30)
    handshake.send(control, {**connection.hello(), "token": "\ud800"})
    answer, _ = await asyncio.to_thread(handshake.receive, control)
    assert answer["refused"] == "token"
