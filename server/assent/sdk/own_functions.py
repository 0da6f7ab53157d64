"""Functions that a program gives us: plain ones and coroutine functions both work."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

Given = TypeVar("Given")
Value = TypeVar("Value")


async def own(function: Callable[[Given], Value | Awaitable[Value]], given: Given) -> Value:
    """What a program's function answers, now or later.

    One that was cancelled from within, by a task of the program's, has failed: a CancelledError would end our own task
    without a word, and whoever waits for the answer would wait for ever.
    """
    try:
        answer = function(given)
        if inspect.isawaitable(answer):
            return await cast("Awaitable[Value]", answer)
        return cast("Value", answer)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise RuntimeError("it was cancelled") from None
