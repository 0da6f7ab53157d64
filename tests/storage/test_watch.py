"""Settings that change on disk are noticed."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio

from assent.storage.watch import FileWatch


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


async def test_the_real_watcher_stops_when_told(tmp_path: Path) -> None:
    watch = FileWatch(lambda: [tmp_path / "settings.json"])
    with anyio.fail_after(120):
        async with anyio.create_task_group() as group:
            group.start_soon(watch.run, lambda _changed: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType] -- start_soon types no arguments
            await anyio.lowlevel.checkpoint()
            watch.stop()
