"""OAuth tokens in a real Secret Service (GNOME's keyring daemon): stored, found again, refreshed once, removed; and what
happens while it is locked, silent or gone."""

import asyncio
import json
import stat
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import pytest
from keyring.backends.SecretService import Keyring

from assent.extensions.mcp.worker import token_place
from assent.extensions.mcp.worker.token_place import TokenPlace
from assent.types.mcp import McpCall, McpResult
from extensions.mcp.test_web import signed_in, text
from mcpserver import entry
from mcpserver.stage import Stage, stage
from mcpserver.web import Site, site
from secretservice import SecretService, secret_service

MOVED = "its tokens are kept in the system's keyring"


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[SecretService, None, None]:
    with secret_service(tmp_path / "s") as running:
        monkeypatch.delenv("ASSENT_MCP_KEYRING", raising=False)
        for name, value in running.environment.items():
            monkeypatch.setenv(name, value)
        yield running


@pytest.fixture
async def scene(tmp_path: Path, service: SecretService) -> AsyncGenerator[Stage, None]:
    async with stage(tmp_path / "stage") as staged:
        yield staged


def key(served: Site) -> str:
    return TokenPlace(f"{served.url}/mcp", folder="/").key


def kept(served: Site) -> dict[str, Any]:
    """What lies in the keyring for this server; empty when nothing does."""
    return json.loads(Keyring().get_password("assent-mcp", key(served)) or "{}")


def outdate(served: Site) -> dict[str, Any]:
    """Make the tokens in the keyring old, at the server too. What lay there before."""
    before = kept(served)
    store: Any = Keyring()
    store.set_password("assent-mcp", key(served), json.dumps({**before, "until": 1.0}))
    served.expire()
    return before


def files(scene: Stage) -> list[Path]:
    """Files that hold anything at all: locks are empty."""
    return [file for file in (scene.place / "credentials").glob("*") if file.stat().st_size]


async def use(scene: Stage, tool: str, **arguments: object) -> McpResult:
    offer = scene.offer()
    spec = (await offer.search(f"select:mcp__web__{tool}", 1)).loaded[0]
    return await offer.call(spec, arguments, McpCall())


async def enter(scene: Stage, served: Site) -> None:
    """Be refused, and sign in."""
    scene.add("web", {"type": "http", "url": f"{served.url}/mcp"})
    scene.servers.begin()
    await scene.until(lambda: scene.status("web") == "needsAuth")
    await signed_in(scene, await scene.servers.named("web").sign_in())


async def again(scene: Stage) -> None:
    """As after a start of the program: a new worker, which knows nothing but what is stored."""
    await scene.folders.aclose()
    scene.folders = scene.make()


async def test_tokens_lie_in_the_systems_keyring_and_the_next_process_finds_them(
    scene: Stage, service: SecretService
) -> None:
    service.start()
    with site(oauth=True) as served:
        await enter(scene, served)
        stored = kept(served)
        assert stored["tokens"]["access_token"] in served.access
        assert files(scene) == [], "nothing of it is in a file"
        assert MOVED in await scene.servers.named("web").log()
        assert "problems" not in scene.servers.summaries()[0]
        await again(scene)
        assert "echo: again" in text(await use(scene, "echo", text="again"))
        assert len(served.clients) == 1 and kept(served) == stored


async def test_two_programs_refresh_tokens_of_the_keyring_once(scene: Stage, service: SecretService) -> None:
    service.start()
    with site(oauth=True) as served:
        await enter(scene, served)
        await again(scene)
        before = outdate(served)
        other = scene.make()
        try:
            both = [folders.at(scene.folder).named("web") for folders in (scene.folders, other)]
            await asyncio.gather(*(server.connected() for server in both))
            assert [server.status for server in both] == ["connected", "connected"]
        finally:
            await other.aclose()
        assert (served.refreshes, served.revoked) == (1, False)
        now = kept(served)["tokens"]
        assert now["access_token"] in served.access and now["refresh_token"] != before["tokens"]["refresh_token"]
        assert files(scene) == []


async def test_signing_out_removes_the_entry_from_the_keyring(scene: Stage, service: SecretService) -> None:
    service.start()
    with site(oauth=True) as served:
        await enter(scene, served)
        await scene.servers.named("web").sign_out()
        assert (kept(served), files(scene)) == ({}, [])
        await again(scene)
        await scene.until(lambda: scene.servers.begin() is None and scene.status("web") != "connecting")
        with pytest.raises(Exception, match="sign in"):
            await scene.servers.named("web").connected()
        assert scene.status("web") == "needsAuth"


async def test_while_the_keyring_is_locked_a_file_is_used_which_is_said_and_moves_into_it_later(
    scene: Stage, service: SecretService
) -> None:
    service.start()
    with site(oauth=True) as served:
        await enter(scene, served)
        first = kept(served)["tokens"]
        service.stop()
        service.start(unlocked=False)
        await again(scene)
        with pytest.raises(Exception, match="sign in \\(the system's keyring is locked"):
            await scene.servers.named("web").connected()
        await signed_in(scene, await scene.servers.named("web").sign_in())
        (file,) = files(scene)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        second = json.loads(file.read_text())["tokens"]
        assert second["access_token"] in served.access
        said = await scene.servers.named("web").log()
        assert "kept in a file that only you can read: the system's keyring" in said
        assert "kept in a file: the system's keyring" in scene.servers.summaries()[0]["problems"][0]
        service.stop()
        service.start()
        await again(scene)
        assert kept(served)["tokens"] == first, "the keyring still holds what was there before"
        served.access.pop(first["access_token"])
        assert "echo: newest" in text(await use(scene, "echo", text="newest")), "what was saved last counts"
        values = json.loads(file.read_text())
        file.write_text(json.dumps({**values, "until": 1.0}))
        await again(scene)
        assert "echo: moved" in text(await use(scene, "echo", text="moved"))
        assert kept(served)["tokens"]["access_token"] in served.access
        assert (files(scene), served.revoked, served.refreshes) == ([], False, 1)


async def test_without_a_keyring_a_file_is_used_and_the_log_says_so(scene: Stage) -> None:
    with site(oauth=True) as served:
        await enter(scene, served)  # the bus is there, the service is not
        (file,) = files(scene)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        said = await scene.servers.named("web").log()
        assert "kept in a file that only you can read: no keyring of the system is running" in said
        await again(scene)
        assert "echo: again" in text(await use(scene, "echo", text="again"))


async def test_a_sign_out_counts_although_the_keyring_is_locked(scene: Stage, service: SecretService) -> None:
    service.start()
    with site(oauth=True) as served:
        await enter(scene, served)
        service.stop()
        service.start(unlocked=False)
        await again(scene)
        await scene.servers.named("web").sign_out()
        service.stop()
        service.start()
        assert kept(served)
        await again(scene)
        with pytest.raises(Exception, match="sign in"):
            await scene.servers.named("web").connected()
        assert (kept(served), files(scene)) == ({}, []), "removed as soon as that was possible"


async def test_a_keyring_that_never_answers_is_not_waited_for(
    tmp_path: Path, service: SecretService, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.start()
    monkeypatch.setattr(token_place, "KEYRING_SECONDS", 0.5)
    place = TokenPlace("https://example.org/mcp", folder=str(tmp_path / "c"))
    service.freeze()
    await place.store(tokens="t-1")
    assert (await place.load())["tokens"] == "t-1"
    assert "did not answer" in place.problem
    service.stop()  # whoever still waits for it is told that it is gone


async def test_a_server_that_nobody_signed_in_to_never_makes_the_keyring_ask(
    tmp_path: Path, service: SecretService
) -> None:
    service.start(unlocked=False)
    place = TokenPlace("https://example.org/mcp", folder=str(tmp_path / "c"))
    assert await place.load() == {}
    assert place.problem == "", "it was not asked, so nobody was asked for a password"


async def test_what_two_programs_store_at_the_same_time_is_all_kept(tmp_path: Path, service: SecretService) -> None:
    service.start()
    places = [TokenPlace("https://example.org/mcp", folder=str(tmp_path / "c")) for _ in range(2)]
    await asyncio.gather(
        *(place.store(**{f"{who}{n}": n}) for n in range(5) for who, place in zip("ab", places, strict=True))
    )
    assert set(await places[0].load()) - {"at"} == {f"{who}{n}" for n in range(5) for who in "ab"}


async def test_a_connection_that_is_given_up_while_tokens_are_refreshed_loses_none(
    scene: Stage, service: SecretService
) -> None:
    service.start()
    with site(oauth=True, era="modern") as served:
        await enter(scene, served)
        await again(scene)
        scene.add("plain", entry())
        scene.servers.refresh()
        await scene.servers.named("plain").connected()
        before = outdate(served)
        served.slow.clear()
        web = scene.servers.named("web")
        web.connect()
        assert await asyncio.to_thread(served.asked.wait, 60)
        resting = asyncio.create_task(web.rest())
        for _ in range(3):  # the worker has read that nobody wants the connection any more
            await scene.servers.named("plain").request("list", kind="tools")
        served.slow.set()
        await resting
        await scene.until(lambda: kept(served)["tokens"] != before["tokens"])
        assert "echo: on" in text(await use(scene, "echo", text="on"))
        assert (served.refreshes, served.revoked) == (1, False)
