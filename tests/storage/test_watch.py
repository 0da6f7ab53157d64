"""Settings that change on disk are noticed."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
import watchfiles

from assent.storage.watch import FileWatch, Kind


class ScriptedChanges:
    """Remembers which folders it was asked to watch, and tells of changes when the test does."""

    def __init__(self) -> None:
        self.watched: list[frozenset[str]] = []
        self.send, self._receive = anyio.create_memory_object_stream[set[str]](10)

    async def __call__(self, folders: frozenset[str], stop: anyio.Event) -> AsyncGenerator[set[str], None]:
        self.watched.append(folders)
        while not stop.is_set():
            yield await self._receive.receive()


async def test_a_folder_that_comes_into_being_is_watched_from_then_on(tmp_path: Path) -> None:
    file = tmp_path / ".assent" / "settings.json"
    changes = ScriptedChanges()
    heard = anyio.create_memory_object_stream[None](10)
    watch = FileWatch(lambda: [file], changes=changes)
    with anyio.fail_after(120):
        async with anyio.create_task_group() as group:
            group.start_soon(watch.run, lambda _changed: heard[0].send_nowait(None))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType] -- start_soon types no arguments
            await changes.send.send({str(tmp_path / "unrelated.txt")})
            file.parent.mkdir()
            await changes.send.send({str(file.parent)})
            await heard[1].receive()
            await changes.send.send({str(file)})
            await heard[1].receive()
            assert changes.watched == [frozenset({str(tmp_path)}), frozenset({str(file.parent)})]
            watch.stop()
            group.cancel_scope.cancel()
    for stream in (*heard, changes.send, changes._receive):
        stream.close()


async def test_a_change_made_while_the_watching_begins_is_heard(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    heard: list[dict[Path, Kind]] = []

    async def late(_folders: frozenset[str], _stop: anyio.Event) -> AsyncGenerator[set[str], None]:
        file.write_text("{}")  # nobody watches yet
        yield set()
        watch.stop()

    watch = FileWatch(lambda: [file], changes=late)
    with anyio.fail_after(120):
        await watch.run(heard.append)
    assert heard == [{file: "add"}]


async def test_the_real_watcher_hears_of_a_change_though_it_came_before_its_first_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.json"
    watch = FileWatch(lambda: [file])
    real: Any = vars(watchfiles)["awatch"]

    def begun(*folders: str, **options: Any) -> Any:
        file.write_text("{}")  # between the look at the files and the first thing that the system tells
        return real(*folders, **options)

    monkeypatch.setattr(watchfiles, "awatch", begun)
    heard: list[dict[Path, Kind]] = []

    def changed(files: dict[Path, Kind]) -> None:
        heard.append(files)
        watch.stop()

    with anyio.fail_after(120):
        await watch.run(changed)
    assert heard == [{file: "add"}]


async def test_the_real_watcher_stops_when_told(tmp_path: Path) -> None:
    watch = FileWatch(lambda: [tmp_path / "settings.json"])
    with anyio.fail_after(120):
        async with anyio.create_task_group() as group:
            group.start_soon(watch.run, lambda _changed: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType] -- start_soon types no arguments
            await anyio.lowlevel.checkpoint()
            watch.stop()
