"""`assent acp` from its first byte to its last: the transport, the library's connection, the app, and the end.

There is no farewell in this protocol: the client closes our stdin. From then on `stdio.life` bounds everything, and a
question that was open is left for the next process to ask again.
"""

import asyncio
import contextlib
import logging
import signal
from pathlib import Path
from typing import Any, cast

from acp import Agent, run_agent
from assent.acp.agent import AcpAgent
from assent.acp.draft import speaking
from assent.acp.host import Build
from assent.acp.transport import LineTransport
from assent.stdio import life
from assent.stdio.background import in_thread
from assent.stdio.logs import start_logging
from assent.stdio.pipes import take_stdio

log = logging.getLogger("assent.acp")


def serve_stdio(build: Build, *, data_dir: Path, draft: bool = False) -> int:
    """Serve this process's stdin and stdout until the client goes; ends the process itself, with its exit code."""
    incoming, outgoing = take_stdio()
    start_logging(data_dir / "logs")
    life.be_an_engine()
    loop = asyncio.new_event_loop()  # not asyncio.run: that would wait for threads which may never return
    code = loop.run_until_complete(_serve(build, incoming, outgoing, draft=draft))
    life.leave(code)
    return code


async def _serve(build: Build, incoming: int, outgoing: int, *, draft: bool) -> int:
    ending = life.Life()
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        with contextlib.suppress(NotImplementedError, AttributeError, ValueError):
            loop.add_signal_handler(getattr(signal, name), ending.end, name, 0)
    transport = LineTransport(incoming, outgoing, on_end=lambda: ending.end("the client has gone"))
    agent = AcpAgent(transport, build)
    stop = asyncio.Event()
    background: list[asyncio.Task[Any]] = [asyncio.create_task(life.reap_orphans())]

    async def live() -> None:
        async with agent.app:
            transport.start()
            serving = asyncio.create_task(_speak(agent, transport, draft=draft))
            serving.add_done_callback(lambda _serving: ending.end("nobody listens any more"))
            background.append(serving)
            await stop.wait()

    living = asyncio.create_task(live())
    background.append(asyncio.create_task(in_thread(agent.app.warm_up)))
    over = asyncio.create_task(ending.over())
    await asyncio.wait({living, over}, return_when=asyncio.FIRST_COMPLETED)
    if living.done():
        living.result()  # the app could not start: said as any other failure of the program
    log.info("ending: %s", ending.reason)
    stop.set()

    async def closed() -> None:
        await living

    await life.close_within(closed)
    await transport.finish(seconds=0.3)
    for task in background:
        task.cancel()
    return ending.code


async def _speak(agent: AcpAgent, transport: LineTransport, *, draft: bool) -> None:
    if draft and speaking.wanted(await transport.first()):
        await speaking.run_draft(agent, transport)
        return
    # session/resume and session/close are stable in the protocol; the library still files them as unstable.
    offered = cast("Agent", agent)  # what it lacks, the library answers as an unknown method
    await run_agent(offered, transport, use_unstable_protocol=True)
