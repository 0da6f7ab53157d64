"""A client that one task opens and another one closes: the cells of a notebook, the two halves of a test's fixture."""

import asyncio
from pathlib import Path

import pytest

import assent
from fakeapi import FakeApi, hold, text


async def test_every_cell_of_a_notebook_is_a_task_of_its_own(project: Path, model: FakeApi) -> None:
    client = await asyncio.create_task(assent.Client(cwd=project).__aenter__())
    for word in ("One.", "Two."):
        model.reply(text(word))
        assert (await asyncio.create_task(client.ask("go"))).result == word
    await asyncio.create_task(client.__aexit__(None, None, None))
    with pytest.raises(assent.AssentError, match="Enter the client first"):
        await client.ask("go")


def test_a_script_may_run_its_loop_cell_by_cell(project: Path) -> None:
    client = assent.Client(cwd=project, options=assent.Options(offline=True))
    with asyncio.Runner() as runner:
        runner.run(client.__aenter__())
        assert "not a language model" in runner.run(client.ask("hello")).result
        runner.run(client.__aexit__(None, None, None))


async def test_a_client_that_is_cancelled_while_it_opens_leaves_nothing_behind(project: Path) -> None:
    before = asyncio.all_tasks()
    opening = asyncio.create_task(assent.Client(cwd=project).__aenter__())
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert asyncio.all_tasks() == before


async def test_the_turn_of_another_task_ends_with_the_client(project: Path, model: FakeApi) -> None:
    model.reply(text("It ", hold("word"), "goes on."))
    async with assent.Client(cwd=project) as client:
        turn = asyncio.create_task(client.ask("go"))
        await model.reached("word")
    with pytest.raises(assent.AbortError):
        await turn
    model.release("word")


async def test_an_error_inside_the_block_arrives_as_it_was_raised(project: Path) -> None:
    with pytest.raises(KeyError, match="mine"):
        async with assent.Client(cwd=project):
            raise KeyError("mine")
