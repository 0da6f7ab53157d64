"""`assent.query`: a prompt in, typed messages out; and the same for scripts without an event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from pathlib import Path
from typing import Any

from assent.sdk.client import Client
from assent.sdk.options import Options
from assent.sdk.prompts import Prompt, prompts_of
from assent.types.errors import AssentError
from assent.types.messages import Message, Result


async def query(
    prompt: Prompt | AsyncIterable[Prompt],
    *,
    cwd: str | Path | None = None,
    options: Options | Mapping[str, Any] | None = None,
) -> AsyncGenerator[Message, None]:
    """Run a prompt, or several as they come, in one conversation.

    Of each turn the first message is `system/init` and the last one `result`. Without credentials the offline
    stand-in answers. Without `can_use_tool` whatever would be asked is denied. Closing the generator interrupts.
    """
    async with Client(cwd=cwd, options=options) as client, contextlib.aclosing(prompts_of(prompt)) as prompts:
        async for each in prompts:
            async with contextlib.aclosing(client.send(each)) as messages:
                async for message in messages:
                    yield message


def run(
    prompt: Prompt,
    *,
    cwd: str | Path | None = None,
    options: Options | Mapping[str, Any] | None = None,
) -> Result:
    """One prompt, one result, for scripts. Raises AbortError when the turn was interrupted."""
    if asyncio._get_running_loop() is not None:  # pyright: ignore[reportPrivateUsage]
        raise AssentError("run() is for scripts without an event loop; here, await assent.Client(…).ask(prompt)")

    async def once() -> Result:
        async with Client(cwd=cwd, options=options) as client:
            return await client.ask(prompt)

    return asyncio.run(once())
