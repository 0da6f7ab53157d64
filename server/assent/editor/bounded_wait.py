"""Waiting for an event for so long and no longer, by a clock that tests can replace."""

import anyio

from assent.editor.buffer_edits import Sleep


async def happens_within(event: anyio.Event, seconds: float, sleep: Sleep) -> bool:
    """Whether the event comes before `seconds` have passed."""
    async with anyio.create_task_group() as tasks:

        async def give_up() -> None:
            await sleep(seconds)
            tasks.cancel_scope.cancel()

        tasks.start_soon(give_up)
        await event.wait()
        tasks.cancel_scope.cancel()
    return event.is_set()
