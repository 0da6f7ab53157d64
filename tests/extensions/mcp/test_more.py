"""What servers may ask of us beside forms: the model (sampling), and patience (tasks). Both eras (T9)."""

import asyncio
from collections.abc import AsyncGenerator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, cast

import pytest

from assent.extensions.mcp.details import details
from assent.tools.mcp_tool import McpTool
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.mcp import McpCall, McpResult, Sample
from assent.types.ports import ElicitationAnswer
from mcpserver import entry
from mcpserver.stage import Person, Stage, stage

ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncGenerator[Stage, None]:
    async with stage(tmp_path) as staged:
        yield staged


async def use(
    scene: Stage, tool: str, call: McpCall | None = None, sample: Sample | None = None, **arguments: object
) -> McpResult:
    offer = scene.offer(sample)
    found = await offer.search(f"select:mcp__plain__{tool}", 1)
    assert found.loaded, found
    return await offer.call(found.loaded[0], arguments, call or McpCall())


def text(result: McpResult) -> str:
    return "\n".join(str(block.get("text", "")) for block in result.blocks)


async def connected(scene: Stage, *flags: str, era: str, **more: object) -> None:
    scene.add("plain", entry("--more", *flags, era=era, **more))
    scene.servers.begin()
    await scene.servers.named("plain").connected()


ASKER: ContextVar[str] = ContextVar("asker", default="nobody")


class Model:
    def __init__(self) -> None:
        self.asked: list[Json] = []
        self.askers: list[str] = []

    async def __call__(self, params: Json) -> Json:
        self.asked.append(params)
        self.askers.append(ASKER.get())
        return {"text": "Paris", "model": "m-1", "stopReason": "endTurn"}


@ERAS
async def test_a_server_the_user_allowed_it_samples_the_model_during_its_call(scene: Stage, era: str) -> None:
    await connected(scene, era=era, sampling=True)
    model = Model()
    assert "m-1 said Paris" in text(await use(scene, "sample", sample=model))
    assert model.asked[0]["messages"][0]["content"]["text"] == "What is the capital of France?"


@ERAS
async def test_a_sample_is_taken_for_the_caller_whose_call_the_server_serves(scene: Stage, era: str) -> None:
    """The log and the trace say which turn it belongs to by the context of the caller."""
    await connected(scene, era=era, sampling=True)
    model = Model()

    async def asking(name: str) -> None:
        ASKER.set(name)
        await use(scene, "sample", sample=model)

    for name in ("first", "second"):
        await asyncio.create_task(asking(name))
    assert model.askers == ["first", "second"]


@ERAS
async def test_sampling_is_declined_unless_the_user_allowed_it_for_the_server(scene: Stage, era: str) -> None:
    await connected(scene, era=era)
    model = Model()
    try:
        answer = text(await use(scene, "sample", sample=model))
    except ToolError as error:
        answer = str(error)
    assert "Paris" not in answer
    assert model.asked == []


@ERAS
async def test_a_call_that_becomes_a_task_reports_asks_and_gives_its_result(scene: Stage, era: str) -> None:
    await connected(scene, era=era)
    person = Person(ElicitationAnswer(action="accept", content={"colour": "green"}))
    seen: list[str] = []
    result = await use(scene, "work", McpCall(elicit=person, progress=seen.append))
    assert "worked accept" in text(result) and "green" in text(result)
    assert seen[:1] == ["warming up"] and "waiting for you" in seen
    assert len(person.asked) == 1 and "plain" in person.asked[0].message


@ERAS
async def test_a_task_that_fails_is_an_error_and_a_cancelled_call_cancels_its_task(scene: Stage, era: str) -> None:
    log = scene.place / "log"
    await connected(scene, "--log", str(log), era=era)
    try:
        result = await use(scene, "work", text="fail")
        assert result.is_error
        answer = text(result)
    except ToolError as error:
        answer = str(error)
    assert "the oven broke" in answer
    running = asyncio.create_task(use(scene, "work", text="forever"))
    await scene.until(lambda: log.read_text().count("tasks/get") >= 4)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await scene.until(lambda: "cancelled task-2" in log.read_text())


async def test_pages_an_older_server_wants_opened_first_are_asked_about_and_the_call_is_made_again(
    scene: Stage,
) -> None:
    await connected(scene, era="legacy")
    person = Person(ElicitationAnswer(action="accept"))
    assert "through the gate" in text(await use(scene, "gate", McpCall(elicit=person)))
    assert person.asked[0].url == "https://example.org/gate"


async def test_a_changed_workspace_is_told_to_an_older_server(scene: Stage) -> None:
    log = scene.place / "log"
    await connected(scene, "--log", str(log), era="legacy")
    scene.more_roots.append("file:///elsewhere")
    scene.servers.refresh()
    await scene.until(lambda: "notifications/roots/list_changed" in log.read_text())
    assert "file:///elsewhere" in text(await use(scene, "roots"))


@ERAS
async def test_every_kind_of_content_reaches_the_model_as_what_it_can_read(scene: Stage, era: str) -> None:
    await connected(scene, era=era)
    spill = scene.place / "spill"
    result = await use(scene, "show", McpCall(tool_use_id="t", spill_folder=str(spill)))
    assert any(block.get("type") == "image" for block in result.blocks)
    assert f"[audio audio/mpeg, 6 bytes, saved as {spill}/mcp-t-2.mp3" in text(result)
    assert (spill / "mcp-t-2.mp3").read_bytes() == b"hello"
    assert "[resource plain://note text/plain: note]" in text(result)
    assert "a whole page" in text(result)


async def test_what_a_tool_says_of_itself_is_honoured_within_bounds_and_its_icon_is_never_fetched(scene: Stage) -> None:
    await connected(scene, "--tools", "50", era="legacy")
    offer = scene.offer()
    (always,) = offer.offered()
    assert always.tool == "show", "only the tool that wants to be loaded always is; the others are deferred"
    assert always.max_result_chars == 500_000
    action = McpTool(always, offer).action(cast("Any", {}), cwd="/")
    assert not action.read_only, "it says of itself that it only reads, and is asked about like any other"
    shown = await details(scene.servers.named("plain"))
    row = next(each for each in shown["tools"] if each["tool"] == "show")
    assert (row["icon"], row["hints"]) == ("data:image/png;base64,aGVsbG8=", ["readOnlyHint"])
    scene.add("plain", entry("--tools", "20", alwaysLoad=True))
    scene.servers.refresh()
    await scene.servers.named("plain").connected()
    assert len(scene.offer().offered()) == 29
