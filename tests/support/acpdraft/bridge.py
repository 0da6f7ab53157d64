"""The client of the protocol library's draft, as a program of its own: `bridge.py COMMAND…` starts that agent.

It runs apart from the tests, because only a newer library than theirs has the draft. Lines of JSON come in, each a call
of a function of the library's client or the answer to a question; lines of JSON go out, each a result, an update or a
question. Everything in between is the library's: what does not fit the draft's schema is an error here.
"""

import asyncio
import importlib
import json
import sys
from typing import Any, cast

from acp import RequestError

v2: Any = importlib.import_module("acp.experimental.v2")  # only the newer library has it


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def dumped(model: Any) -> Any:
    return None if model is None else model.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Editor:
    def __init__(self) -> None:
        self._open: dict[int, asyncio.Future[Any]] = {}

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        say(update=dumped(update), kind=type(update).__name__, session=session_id)

    async def request_permission(self, **about: Any) -> Any:
        return await self._ask("permission", about)

    async def create_elicitation(self, **about: Any) -> Any:
        return await self._ask("elicitation", about)

    async def complete_elicitation(self, elicitation_id: str, **_: Any) -> None:
        say(completed=elicitation_id)

    def answer(self, number: int, given: Any) -> None:
        self._open.pop(number).set_result(given)

    async def _ask(self, what: str, about: dict[str, Any]) -> Any:
        number = len(self._open) + 1
        self._open[number] = asyncio.get_running_loop().create_future()
        plain = {name: _plain(value) for name, value in about.items()}
        say(asked=what, number=number, about=plain)
        return await self._open[number]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[Any]", value)]
    return dumped(value) if hasattr(value, "model_dump") else value if isinstance(value, str | None) else str(value)


async def main() -> None:
    process = await asyncio.create_subprocess_exec(
        *sys.argv[1:], stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 26
    )
    editor = Editor()
    agent = v2.connect_to_agent(editor, process.stdin, process.stdout)

    async def call(id: int, name: str, given: dict[str, Any]) -> None:
        try:
            say(id=id, result=dumped(await getattr(agent, name)(**given)))
        except RequestError as error:
            say(id=id, error=[error.code, str(error)])
        except Exception as error:
            say(id=id, error=[0, repr(error)])

    incoming = asyncio.StreamReader(limit=1 << 26)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(incoming), sys.stdin)
    running: set[asyncio.Task[None]] = set()
    while line := await incoming.readline():
        told = json.loads(line)
        if "answer" in told:
            editor.answer(told["answer"], told["with"])
        else:
            task = asyncio.create_task(call(told["id"], told["call"], told["with"]))
            running.add(task)
            task.add_done_callback(running.discard)
    await agent.close()
    assert process.stdin is not None
    process.stdin.close()
    await process.wait()


asyncio.run(main())
