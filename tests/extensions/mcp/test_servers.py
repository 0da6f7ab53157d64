"""Real servers of both eras behind the real worker (T9)."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path

import pytest

from assent.extensions.mcp.processes import descendants
from assent.extensions.mcp.servers import START_SECONDS
from assent.sessions.mcp import waits_for_words
from assent.types.errors import ToolError
from assent.types.mcp import McpCall, McpResult
from assent.types.messages import StreamEvent, SystemInit
from assent.types.ports import ElicitationAnswer
from mcpserver import entry, reference
from mcpserver.stage import Person, Stage, stage
from processes import alive

ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncGenerator[Stage, None]:
    async with stage(tmp_path) as staged:
        yield staged


async def use(scene: Stage, tool: str, call: McpCall | None = None, **arguments: object) -> McpResult:
    """Call a tool of the server `plain`, found by its name."""
    offer = scene.offer()
    found = await offer.search(f"select:mcp__plain__{tool}", 1)
    assert found.loaded, found
    return await offer.call(found.loaded[0], arguments, call or McpCall())


def text(result: McpResult) -> str:
    return "\n".join(str(block.get("text", "")) for block in result.blocks)


async def connected(scene: Stage, *flags: str, era: str = "legacy") -> None:
    scene.add("plain", entry(*flags, era=era))
    scene.servers.begin()
    await scene.servers.named("plain").connected()


@ERAS
async def test_tools_of_a_server_of_either_era_are_offered_and_called(scene: Stage, era: str) -> None:
    await connected(scene, era=era)
    assert scene.servers.summaries()[0]["era"] == era
    names = [spec.name for spec in scene.offer().offered()]
    assert "mcp__plain__echo" in names
    result = await use(scene, "echo", text="hello")
    assert "echo: hello" in text(result)
    assert text(result).startswith("[Data from the MCP server plain.")
    assert scene.offer().states()[0].instructions == "Be plain."


async def test_a_server_that_ignores_the_probe_is_taken_for_a_legacy_one_and_remembered(scene: Stage) -> None:
    log = scene.place / "log"
    await connected(scene, "--deaf", "--log", str(log))
    assert scene.servers.summaries()[0]["era"] == "legacy"
    assert "server/discover" in log.read_text()
    log.write_text("")
    await scene.servers.restart("plain")
    assert scene.status("plain") == "connected"
    assert "server/discover" not in log.read_text()


async def test_a_server_that_was_of_the_older_era_once_is_looked_at_again(scene: Stage) -> None:
    scene.add("plain", entry(env={"PLAIN_ERA": "legacy"}))
    scene.servers.begin()
    await scene.servers.named("plain").connected()
    scene.add("plain", entry(env={"PLAIN_ERA": "modern"}))
    scene.servers.refresh()
    await scene.servers.named("plain").connected()
    assert scene.servers.summaries()[0]["era"] == "modern"


@ERAS
async def test_all_pages_of_a_list_are_fetched(scene: Stage, era: str) -> None:
    await connected(scene, "--tools", "100", "--page", "7", era=era)
    assert scene.servers.summaries()[0]["tools"] == 109


async def test_a_hundred_tools_are_deferred_until_a_search_loads_them(scene: Stage) -> None:
    await connected(scene, "--tools", "100")
    offer = scene.offer()
    assert offer.offered() == []
    assert len(offer.deferred()) == 109
    found = await offer.search("penguins number 42", 3)
    assert found.loaded[0].name == "mcp__plain__extra_42"
    assert [spec.name for spec in offer.offered()] == [spec.name for spec in found.loaded]
    first = offer.offered()
    await offer.search("select:mcp__plain__echo,mcp__plain__nothing", 5)
    assert [*first, offer.offered()[-1]] == offer.offered(), "what was loaded keeps its place, the new one comes last"
    assert offer.offered()[-1].name == "mcp__plain__echo"
    assert (await offer.search("select:mcp__plain__nothing", 5)).missing == ["mcp__plain__nothing"]


async def test_the_next_start_offers_the_tools_without_connecting(scene: Stage) -> None:
    await connected(scene)
    await scene.folders.aclose()
    scene.folders = scene.make()
    scene.servers.begin()
    assert scene.status("plain") == "idle"
    assert scene.folders.worker is None, "no process was started"
    assert "mcp__plain__echo" in [spec.name for spec in scene.offer().offered()]
    assert "echo: again" in text(await use(scene, "echo", text="again"))
    assert scene.status("plain") == "connected"


@ERAS
async def test_a_tool_added_while_we_are_connected_is_offered_at_once(scene: Stage, era: str) -> None:
    await connected(scene, era=era)
    await use(scene, "grow", text="sprout")
    await scene.until(
        lambda: (
            "mcp__plain__sprout"
            in [spec.name for spec in scene.offer().deferred()] + [spec.name for spec in scene.offer().offered()]
        )
    )


@ERAS
async def test_a_form_the_server_asks_for_reaches_the_user_and_names_the_server(scene: Stage, era: str) -> None:
    await connected(scene, era=era)
    person = Person(ElicitationAnswer(action="accept", content={"colour": "green"}))
    result = await use(scene, "ask", McpCall(elicit=person))
    assert "accept green" in text(result)
    assert "plain" in person.asked[0].message
    assert person.asked[0].schema is not None
    assert "decline" in text(await use(scene, "ask", McpCall(elicit=Person())))


@ERAS
async def test_a_page_the_server_wants_opened_is_shown_with_its_host(scene: Stage, era: str) -> None:
    await connected(scene, era=era)
    person = Person(ElicitationAnswer(action="accept"))
    assert "accept" in text(await use(scene, "visit", McpCall(elicit=person)))
    assert person.asked[0].url == "https://example.org/sign"
    assert "example.org" in person.asked[0].message
    assert "plain" in person.asked[0].message


@ERAS
async def test_progress_is_reported_and_a_cancelled_call_is_cancelled_at_the_server(scene: Stage, era: str) -> None:
    log = scene.place / "log"
    await connected(scene, "--log", str(log), era=era)
    seen: list[str] = []
    task = asyncio.create_task(use(scene, "slow", McpCall(progress=seen.append)))
    await scene.until(lambda: bool(seen))
    assert seen[0] == "1/3 at it"
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await scene.until(lambda: "cancelled" in log.read_text())
    assert "echo: alive" in text(await use(scene, "echo", text="alive"))


async def test_prompts_and_resources_can_be_read(scene: Stage) -> None:
    await connected(scene)
    offer = scene.offer()
    prompt = offer.prompts()[0]
    assert prompt.command == "mcp__plain__review"
    assert await offer.prompt("plain", "review", {"what": "main.py"}) == "Please review main.py."
    assert [item["uri"] for item in await offer.resources()] == ["plain://note"]
    assert "The note says hello." in text(await offer.read_resource("plain", "plain://note", McpCall()))


# --- servers that fail -----------------------------------------------------------------------------------------------


async def test_a_server_killed_with_kill_9_comes_back_and_answers_again(scene: Stage) -> None:
    pid = scene.place / "pid"
    await connected(scene, "--pid", str(pid))
    first = int(pid.read_text())
    os.kill(first, signal.SIGKILL)
    await scene.until(lambda: pid.read_text() not in ("", str(first)) and scene.status("plain") == "connected")
    assert scene.slept == [START_SECONDS, 1.0]
    assert "echo: back" in text(await use(scene, "echo", text="back"))


async def test_restarts_wait_longer_each_time_and_end(scene: Stage) -> None:
    pid = scene.place / "pid"
    await connected(scene, "--pid", str(pid))
    for _ in range(6):
        await scene.until(lambda: scene.status("plain") == "connected")
        before = pid.read_text()
        os.kill(int(before), signal.SIGKILL)
        tries = len(scene.slept) - 1
        await scene.until(partial(_another, scene, pid, before, tries))
    assert scene.slept == [START_SECONDS, 1.0, 2.0, 4.0, 8.0, 16.0]
    assert "ended with status" in scene.servers.summaries()[0]["error"]


def _another(scene: Stage, pid: Path, before: str, tries: int) -> bool:
    """Whether the server started once more, or will not."""
    return pid.read_text() not in ("", before) if tries < 5 else scene.status("plain") == "failed"


async def test_a_server_that_dies_in_mid_call_is_reported_with_its_last_words(scene: Stage) -> None:
    await connected(scene)
    with pytest.raises(ToolError, match=r"ended with status 3.*it hurts.*`/mcp restart plain`"):
        await use(scene, "die")


@ERAS
async def test_a_call_that_the_server_refuses_is_named_with_the_reason_and_what_to_do(scene: Stage, era: str) -> None:
    await connected(scene, era=era)
    await use(scene, "grow", text="sprout")  # listed, and not there when it is called
    await scene.until(lambda: any(spec.tool == "sprout" for spec in scene.servers.named("plain").tools))
    with pytest.raises(ToolError) as refused:
        await use(scene, "sprout")
    told = str(refused.value)
    assert told.startswith("The call of sprout failed at the MCP server plain: no tool sprout. "), told
    assert "ToolSearch finds the tools that the server has now" in told and "`/mcp show plain`" in told
    assert "restart" not in told, "it works"


async def test_servers_that_nobody_uses_start_after_the_first_word_of_an_answer(scene: Stage) -> None:
    scene.add("plain", entry())
    observe = waits_for_words("session", lambda: scene.servers)
    observe(SystemInit(session_id="session", model="m", cwd="/"))
    scene.servers.begin()
    await scene.until(lambda: scene.slept == [START_SECONDS])
    for _ in range(10):
        await asyncio.sleep(0)  # whatever could go on now does
    assert (scene.status("plain"), scene.folders.worker) == ("idle", None)
    observe(StreamEvent(event={}))
    await scene.until(lambda: scene.status("plain") == "connected")


async def test_a_program_that_does_not_exist_is_named(scene: Stage) -> None:
    scene.add("plain", {"command": "no-such-program-anywhere"})
    scene.servers.begin()
    await scene.until(lambda: scene.status("plain") == "failed")
    assert "no-such-program-anywhere" in scene.servers.summaries()[0]["error"]


async def test_structured_content_that_contradicts_its_schema_is_an_error(scene: Stage) -> None:
    await connected(scene)
    with pytest.raises(ToolError, match="structured content"):
        await use(scene, "lie")
    spec = next(spec for spec in scene.offer().deferred() or scene.offer().offered() if spec.tool == "lie")
    assert set(spec.input_schema["properties"]) == {"a", "b"}, "alternatives at the root are united for the API"
    assert "anyOf" not in spec.input_schema


async def test_a_call_that_never_returns_can_be_cancelled_and_others_go_on(scene: Stage) -> None:
    await connected(scene)
    stuck = asyncio.create_task(use(scene, "never"))
    assert "echo: still here" in text(await use(scene, "echo", text="still here"))
    stuck.cancel()
    assert isinstance((await asyncio.gather(stuck, return_exceptions=True))[0], asyncio.CancelledError)


async def test_a_flood_of_notifications_delays_nobody(scene: Stage) -> None:
    await connected(scene, "--wild")
    assert "flooded" in text(await use(scene, "flood", text="5000"))
    assert "echo: dry" in text(await use(scene, "echo", text="dry"))


async def test_a_hundred_megabytes_end_the_connection_and_nothing_else(scene: Stage) -> None:
    await connected(scene, "--wild")
    with pytest.raises(ToolError, match="longer than 32 MB"):
        await use(scene, "huge", text=str(100 * 1024 * 1024))
    await scene.until(lambda: scene.status("plain") == "connected")
    assert "echo: fine" in text(await use(scene, "echo", text="fine"))


async def test_a_long_answer_is_kept_in_a_file_and_shown_in_part(scene: Stage) -> None:
    await connected(scene, "--wild")
    spill = scene.place / "spill"
    result = await use(scene, "huge", McpCall(tool_use_id="toolu_1", spill_folder=str(spill)), text="3000000")
    kept = spill / "mcp-toolu_1-1.txt"
    assert len(text(result)) < 30_000
    assert str(kept) in text(result)
    assert kept.read_text() == "x" * 3_000_000


# --- no orphans ------------------------------------------------------------------------------------------------------


async def test_the_worker_s_end_ends_every_server_those_still_connecting_too(scene: Stage) -> None:
    pids = [scene.place / f"pid{number}" for number in range(3)]
    scene.add("good", entry("--pid", str(pids[0]), "--child"))
    scene.add("silent", entry("--silent", "--pid", str(pids[1])))
    scene.add("slow", entry("--slow-start", "30", "--pid", str(pids[2])))
    scene.servers.begin()
    await scene.until(lambda: all(pid.exists() and pid.read_text() for pid in pids))
    worker = scene.folders.worker
    assert worker is not None
    await scene.until(lambda: len(descendants(worker)) >= 4)  # the child starts after its parent has said its number
    below = descendants(worker)
    await scene.folders.aclose()
    await scene.until(lambda: not any(alive(pid) for pid in [worker, *below]))


async def test_kill_9_of_the_worker_leaves_no_server_behind(scene: Stage) -> None:
    await connected(scene, "--child")
    worker = scene.folders.worker
    assert worker is not None
    below = descendants(worker)
    os.kill(worker, signal.SIGKILL)
    await scene.until(lambda: not any(alive(pid) for pid in below))
    await scene.until(lambda: scene.status("plain") == "connected")
    assert "echo: reborn" in text(await use(scene, "echo", text="reborn"))


# --- the reference servers -------------------------------------------------------------------------------------------


async def test_the_reference_server_s_tools_images_links_and_forms_work(scene: Stage) -> None:
    scene.add("plain", reference("everything"))
    scene.servers.begin()
    await scene.servers.named("plain").connected()
    assert "hi" in text(await use(scene, "echo", message="hi"))
    image = await use(scene, "get-tiny-image")
    assert any(block.get("type") == "image" for block in image.blocks)
    assert "resource" in text(await use(scene, "get-resource-links", count=2))
    assert "temperature" in text(await use(scene, "get-structured-content", location="Chicago"))
    assert Path(scene.folder).as_uri() in text(await use(scene, "get-roots-list"))
    person = Person(ElicitationAnswer(action="accept", content={"name": "Ada"}))
    assert "Ada" in text(await use(scene, "trigger-elicitation-request", McpCall(elicit=person)))
    assert "plain" in person.asked[0].message


async def test_the_reference_file_server_reads_only_its_folder(scene: Stage) -> None:
    (Path(scene.folder) / "a.txt").write_text("contents of a")
    scene.add("plain", reference("filesystem", scene.folder))
    scene.servers.begin()
    await scene.servers.named("plain").connected()
    assert "contents of a" in text(await use(scene, "read_text_file", path=f"{scene.folder}/a.txt"))
    assert (await use(scene, "read_text_file", path="/etc/passwd")).is_error
