"""Servers over HTTP: both eras, HTTP+SSE, headers from a command, and OAuth with a server of our own on loopback."""

import asyncio
import json
import stat
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from assent.extensions.mcp.pipe import WorkerError
from assent.types.errors import ToolError
from assent.types.mcp import McpCall, McpResult
from mcpserver.stage import Stage, stage
from mcpserver.web import Site, site


@pytest.fixture
async def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Stage, None]:
    monkeypatch.setenv("ASSENT_MCP_KEYRING", "off")
    async with stage(tmp_path) as staged:
        yield staged


async def use(scene: Stage, tool: str, **arguments: object) -> McpResult:
    offer = scene.offer()
    spec = (await offer.search(f"select:mcp__web__{tool}", 1)).loaded[0]
    return await offer.call(spec, arguments, McpCall())


def text(result: McpResult) -> str:
    return "\n".join(str(block.get("text", "")) for block in result.blocks)


async def connected(scene: Stage, served: Site, path: str = "/mcp", kind: str = "http", **more: object) -> None:
    scene.add("web", {"type": kind, "url": served.url + path, **more})
    scene.servers.begin()
    await scene.servers.named("web").connected()


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_server_over_http_is_used_in_either_era(scene: Stage, era: str) -> None:
    with site(era=era) as served:
        await connected(scene, served)
        assert scene.servers.summaries()[0]["era"] == era
        assert "echo: hello" in text(await use(scene, "echo", text="hello"))
        if era == "modern":
            sent = [{name.lower(): value for name, value in headers.items()} for _, _, headers in served.requests]
            (call,) = [headers for headers in sent if headers.get("mcp-method") == "tools/call"]
            assert call["mcp-protocol-version"] == "2026-07-28"
            assert call["mcp-name"] == "echo"


async def test_a_modern_server_that_answers_the_probe_too_late_is_still_taken_for_one(scene: Stage) -> None:
    with site(era="modern") as served:
        served.late = True
        await connected(scene, served)
        assert scene.servers.summaries()[0]["era"] == "modern"
        assert "echo: late" in text(await use(scene, "echo", text="late"))


async def test_the_older_transport_is_used_when_asked_for_and_when_nothing_else_answers(scene: Stage) -> None:
    with site(sse_only=True) as served:
        await connected(scene, served, "/sse", "sse")
        assert "echo: old" in text(await use(scene, "echo", text="old"))
        scene.add("other", {"type": "http", "url": served.url + "/sse"})
        scene.servers.refresh()
        await scene.servers.named("other").connected()
        assert scene.status("other") == "connected"


async def test_a_command_supplies_headers(scene: Stage) -> None:
    with site() as served:
        command = 'printf \'{"X-Who": "%s"}\' "$CLAUDE_CODE_MCP_SERVER_NAME"'
        await connected(scene, served, headers={"X-Static": "1"}, headersHelper=command)
        assert (served.requests[-1][2]["X-Who"], served.requests[-1][2]["X-Static"]) == ("web", "1")


async def test_an_answer_of_a_hundred_megabytes_is_cut_off(scene: Stage) -> None:
    with site() as served:
        await connected(scene, served)
        with pytest.raises(ToolError):
            await use(scene, "huge")
        assert "echo: after" in text(await _used_again(scene))


async def _used_again(scene: Stage) -> McpResult:
    """The next call that succeeds: one that is made while the broken connection ends fails with it."""
    with anyio.fail_after(120):
        while True:
            try:
                return await use(scene, "echo", text="after")
            except (ToolError, IndexError):  # or it is not listed while it connects
                await anyio.sleep(0.05)  # bounded above; nothing announces that the connection has ended


async def test_a_session_that_the_server_forgot_is_made_again_and_the_call_succeeds(scene: Stage) -> None:
    with site(sessions=True) as served:
        await connected(scene, served)
        assert "echo: one" in text(await use(scene, "echo", text="one"))
        served.session = "another"  # as after a restart of the server
        assert "echo: two" in text(await use(scene, "echo", text="two"))
        assert scene.status("web") == "connected"


async def test_a_compressed_answer_that_nobody_asked_for_is_refused(scene: Stage) -> None:
    with site() as served:
        await connected(scene, served)
        assert {headers["Accept-Encoding"] for _, _, headers in served.requests} == {"identity"}
        served.packed = True  # a few kilobytes could become gigabytes
        with pytest.raises(ToolError):
            await use(scene, "echo", text="packed")
        served.packed = False
        assert "echo: after" in text(await _used_again(scene))


# --- OAuth -----------------------------------------------------------------------------------------------------------


def browse(address: str) -> str:
    """What a browser does: it follows the redirect to our loopback address. Gives the page's text."""
    with urllib.request.urlopen(address, timeout=120) as page:
        return page.read().decode()


def redirected(address: str) -> str:
    """Where the authorization server sends the browser, without going there."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(
            self, req: object, fp: object, code: int, msg: str, headers: object, newurl: str
        ) -> None: ...

    try:
        urllib.request.build_opener(Stay).open(address, timeout=120)
    except urllib.error.HTTPError as answer:
        return answer.headers["Location"]
    raise AssertionError("no redirect")


async def refused(scene: Stage, served: Site) -> None:
    scene.add("web", {"type": "http", "url": f"{served.url}/mcp"})
    scene.servers.begin()
    await scene.until(lambda: scene.status("web") == "needsAuth")


async def test_a_server_that_needs_a_sign_in_says_so_and_asks_nobody(scene: Stage) -> None:
    with site(oauth=True) as served:
        await refused(scene, served)
        assert served.clients == {}, "nothing is registered before the user wants to sign in"


async def test_signing_in_registers_authorizes_and_keeps_the_tokens_for_the_user_alone(scene: Stage) -> None:
    with site(oauth=True) as served:
        await refused(scene, served)
        address = await scene.servers.named("web").sign_in()
        assert "signed in" in await asyncio.to_thread(browse, address)
        await scene.until(lambda: scene.status("web") == "connected")
        assert "echo: me" in text(await use(scene, "echo", text="me"))
        client = next(iter(served.clients.values()))
        assert client["application_type"] == "native"
        files = list((scene.place / "credentials").glob("*.json"))
        assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
        await scene.folders.aclose()
        scene.folders = scene.make()
        assert "echo: again" in text(await use(scene, "echo", text="again")), "the next start needs no sign-in"


async def test_the_address_can_be_pasted_back_where_the_browser_cannot_reach_us(scene: Stage) -> None:
    with site(oauth=True) as served:
        await refused(scene, served)
        server = scene.servers.named("web")
        address = await server.sign_in()
        assert server.paste(await asyncio.to_thread(redirected, address))
        await scene.until(lambda: scene.status("web") == "connected")


async def test_an_answer_of_another_issuer_is_refused(scene: Stage) -> None:
    with site(oauth=True, iss="https://evil.example") as served:
        await refused(scene, served)
        address = await scene.servers.named("web").sign_in()
        await asyncio.to_thread(browse, address)
        await scene.until(lambda: scene.status("web") == "failed")
        assert served.access == {}


async def test_a_client_that_was_registered_beforehand_is_used(scene: Stage) -> None:
    with site(oauth=True, register=False) as served:
        served.clients["mine"] = {}
        scene.add("web", {"type": "http", "url": f"{served.url}/mcp", "oauth": {"clientId": "mine"}})
        scene.servers.begin()
        await scene.until(lambda: scene.status("web") == "needsAuth")
        address = await scene.servers.named("web").sign_in()
        assert "client_id=mine" in address
        await asyncio.to_thread(browse, address)
        await scene.until(lambda: scene.status("web") == "connected")


async def test_two_programs_refresh_one_after_the_other_so_no_token_family_is_revoked(scene: Stage) -> None:
    with site(oauth=True) as served:
        await refused(scene, served)
        await asyncio.to_thread(browse, await scene.servers.named("web").sign_in())
        await scene.until(lambda: scene.status("web") == "connected")
        await scene.folders.aclose()
        kept = next((scene.place / "credentials").glob("*.json"))
        values = json.loads(kept.read_text())
        kept.write_text(json.dumps({**values, "until": 1.0}))
        served.expire()
        scene.folders, other = scene.make(), scene.make()
        try:
            both = [folders.at(scene.folder).named("web") for folders in (scene.folders, other)]
            await asyncio.gather(*(server.connected() for server in both))
            assert [server.status for server in both] == ["connected", "connected"]
        finally:
            await other.aclose()
        assert (served.refreshes, served.revoked) == (1, False)


async def signed_in(scene: Stage, address: str) -> None:
    await asyncio.to_thread(browse, address)
    await scene.until(lambda: scene.status("web") == "connected")


async def test_a_call_that_needs_more_rights_works_after_a_sign_in_that_asks_for_them(scene: Stage) -> None:
    with site(oauth=True) as served:
        await refused(scene, served)
        await signed_in(scene, await scene.servers.named("web").sign_in())
        await scene.folders.aclose()
        scene.folders = scene.make()
        with pytest.raises(ToolError, match=r"more rights \(more\).*/mcp sign-in web"):
            await use(scene, "secret")
        assert "echo: still" in text(await use(scene, "echo", text="still")), "its other tools go on working"
        assert "more rights" in scene.servers.summaries()[0]["error"]
        address = await scene.servers.named("web").sign_in()
        assert "scope=basic+more" in address, "what it had is asked for again, and what was missing"
        await signed_in(scene, address)
        assert "secret:" in text(await use(scene, "secret"))


async def test_rights_that_were_asked_for_in_vain_are_not_asked_for_again(scene: Stage) -> None:
    with site(oauth=True, grants="basic") as served:
        await refused(scene, served)
        await signed_in(scene, await scene.servers.named("web").sign_in())
        await scene.folders.aclose()
        scene.folders = scene.make()
        with pytest.raises(ToolError, match="more rights"):
            await use(scene, "secret")
        await signed_in(scene, await scene.servers.named("web").sign_in())
        await scene.folders.aclose()
        scene.folders = scene.make()
        for _ in range(2):
            with pytest.raises(ToolError, match="although you signed in"):
                await use(scene, "secret")
        assert "echo: on" in text(await use(scene, "echo", text="on"))


async def test_a_client_that_describes_itself_by_a_document_needs_no_registration(scene: Stage) -> None:
    with site(oauth=True, register=False) as served:
        document = "https://client.example/assent.json"
        scene.add("web", {"type": "http", "url": f"{served.url}/mcp", "oauth": {"clientMetadataUrl": document}})
        scene.servers.begin()
        await scene.until(lambda: scene.status("web") == "needsAuth")
        address = await scene.servers.named("web").sign_in()
        assert "client_id=https%3A%2F%2Fclient.example%2Fassent.json" in address
        await signed_in(scene, address)
        assert served.clients == {}


async def test_a_configuration_can_say_where_the_authorization_server_describes_itself_and_which_rights_to_ask_for(
    scene: Stage,
) -> None:
    with site(oauth=True) as served:
        served.described = "/elsewhere/metadata.json"  # no discovery finds this
        oauth = {"authServerMetadataUrl": f"{served.url}/elsewhere/metadata.json", "scopes": "basic more"}
        scene.add("web", {"type": "http", "url": f"{served.url}/mcp", "oauth": oauth})
        scene.servers.begin()
        await scene.until(lambda: scene.status("web") == "needsAuth")
        address = await scene.servers.named("web").sign_in()
        assert "scope=basic+more" in address and "resource=" in address
        await signed_in(scene, address)
        assert "secret:" in text(await use(scene, "secret"))
        asked = [path for _, path, _ in served.requests if "well-known" in path]
        assert asked == [], "nothing else is looked up"


async def test_a_description_that_is_none_fails_the_sign_in_in_words(scene: Stage) -> None:
    with site(oauth=True) as served:
        oauth = {"authServerMetadataUrl": f"{served.url}/nothing/here"}
        scene.add("web", {"type": "http", "url": f"{served.url}/mcp", "oauth": oauth})
        scene.servers.begin()
        await scene.until(lambda: scene.status("web") == "needsAuth")
        with pytest.raises(WorkerError, match="description could not be read: HTTP 404"):
            await scene.servers.named("web").sign_in()
        assert served.clients == {}


async def test_a_server_is_probed_only_with_tokens_that_are_there_so_a_slow_sign_in_costs_it_nothing(
    scene: Stage,
) -> None:
    with site(oauth=True, era="modern") as served:
        await refused(scene, served)
        served.requests.clear()
        await signed_in(scene, await scene.servers.named("web").sign_in())
        await scene.folders.aclose()
        kept = next((scene.place / "credentials").glob("*.json"))
        kept.write_text(json.dumps({**json.loads(kept.read_text()), "until": 1.0}))
        served.expire()
        scene.folders = scene.make()
        assert "echo: again" in text(await use(scene, "echo", text="again"))
        sent = [{name.lower(): value for name, value in headers.items()} for _, _, headers in served.requests]
        probes = [headers for headers in sent if headers.get("mcp-method") == "server/discover"]
        assert [probe.get("authorization", "").partition(" ")[0] for probe in probes] == ["Bearer", "Bearer"]
        assert probes[0]["authorization"] != probes[1]["authorization"], "refreshed before it was probed again"
        assert scene.servers.summaries()[0]["era"] == "modern"


async def test_signing_out_forgets_the_tokens(scene: Stage) -> None:
    with site(oauth=True) as served:
        await refused(scene, served)
        await signed_in(scene, await scene.servers.named("web").sign_in())
        await scene.servers.named("web").sign_out()
        with pytest.raises(ToolError, match="sign-in"):
            await use(scene, "echo", text="hello")
        assert scene.status("web") == "needsAuth"


async def test_the_command_for_headers_is_asked_once_more_when_they_are_refused(scene: Stage) -> None:
    with site(wants="one") as served:
        key = scene.place / "key"
        key.write_text("one")
        command = f'echo x >> {scene.place}/runs; printf \'{{"X-Key": "%s"}}\' "$(cat {key})"'
        await connected(scene, served, headersHelper=command)
        served.wants = "two"
        key.write_text("two")
        assert "echo: new" in text(await use(scene, "echo", text="new"))
        assert (scene.place / "runs").read_text().count("x") == 2
        served.wants = "three"
        with pytest.raises(ToolError, match="sign-in"):
            await use(scene, "echo", text="old")
