"""`assent acp --draft` and an editor that speaks the draft of protocol 2, by the library's own client (`bridge.py`).

The library that has the draft is a pre-release, which is installed into a cache when it is missing: beside the one that
everything else is tested with, since that is what people get.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from acpclient import PATIENCE, environment

PACKAGE = "agent-client-protocol==1.0.0rc3"
CACHE = Path("~/.cache/assent-tests").expanduser() / PACKAGE.replace("==", "-")
AGENT = (sys.executable, "-P", "-m", "assent.cli.main", "acp", "--draft")
BRIDGE = (sys.executable, "-P", str(Path(__file__).with_name("bridge.py")))


class Refused(Exception):
    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


def library() -> Path:
    """The folder with the newer library in it."""
    if not (CACHE / "acp").exists():
        CACHE.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(CACHE), PACKAGE]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
    return CACHE


class DraftEditor:
    """What the client saw: updates with the names of the library's types, questions, and answers it gives."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._changed = asyncio.Event()
        self.updates: list[tuple[str, dict[str, Any]]] = []
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.completed: list[str] = []
        self.answers: dict[str, Callable[[dict[str, Any]], Any]] = {"permission": lambda _about: chosen("reject")}
        self.hello: dict[str, Any] = {}

    async def call(self, name: str, **given: Any) -> Any:
        """A function of the library's client, by its name."""
        id = len(self._calls)
        self._calls[id] = asyncio.get_running_loop().create_future()
        self._say(id=id, call=name, **{"with": given})
        async with asyncio.timeout(PATIENCE):
            return await self._calls[id]

    async def new(self, cwd: Path, **more: Any) -> str:
        return (await self.call("new_session", cwd=str(cwd), **more))["sessionId"]

    async def say(self, session: str, *parts: Any) -> str:
        """Send a prompt: the id of its message."""
        blocks = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
        return (await self.call("prompt", session_id=session, prompt=blocks))["messageId"]

    async def turn(self, session: str, *parts: Any) -> dict[str, Any]:
        """Send a prompt and wait until the session is idle again: that update."""
        before = len(self.of("IdleSessionStateUpdate"))
        await self.say(session, *parts)
        await self.until(lambda: len(self.of("IdleSessionStateUpdate")) > before)
        return self.of("IdleSessionStateUpdate")[-1]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [update for name, update in self.updates if name == kind]

    def states(self) -> list[str]:
        return [update["state"] for name, update in self.updates if name.endswith("StateUpdate")]

    def text(self, kind: str = "AgentMessageChunk") -> str:
        return "".join(update["content"]["text"] for update in self.of(kind))

    def calls(self) -> dict[str, dict[str, Any]]:
        """Tool calls as the client shows them: later fields over earlier ones."""
        shown: dict[str, dict[str, Any]] = {}
        for update in self.of("SessionToolCallUpdate"):
            shown.setdefault(update["toolCallId"], {}).update(update)
        return shown

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def listen(self) -> None:
        while line := await self._stdout.readline():
            told = json.loads(line)
            if "id" in told:
                call = self._calls[told["id"]]
                if "error" in told:
                    call.set_exception(Refused(*told["error"]))
                else:
                    call.set_result(told["result"])
            elif "update" in told:
                self.updates.append((told["kind"], told["update"]))
            elif "completed" in told:
                self.completed.append(told["completed"])
            else:
                self.asked.append((told["asked"], told["about"]))
                given = self.answers[told["asked"]](told["about"])
                if given is not None:
                    self._say(answer=told["number"], **{"with": given})
            self._changed.set()

    def _say(self, **message: Any) -> None:
        self._stdin.write(json.dumps(message).encode() + b"\n")


def chosen(option: str) -> dict[str, Any]:
    return {"outcome": {"outcome": "selected", "optionId": option}}


@asynccontextmanager
async def draft_editor(
    home: Path, *, env: Mapping[str, str], capabilities: Mapping[str, Any] | None = None
) -> AsyncGenerator[DraftEditor]:
    process = await asyncio.create_subprocess_exec(
        *BRIDGE,
        *AGENT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**environment(home, env), "PYTHONPATH": str(library()), "PYTHONWARNINGS": "ignore"},
        cwd=home,
        limit=1 << 26,
    )
    editor = DraftEditor(process)
    listening = asyncio.create_task(editor.listen())
    try:
        editor.hello = await editor.call(
            "initialize",
            protocol_version=2,
            info={"name": "tests", "version": "1"},
            capabilities=dict(capabilities or {}),
        )
        yield editor
        process.stdin.close()  # pyright: ignore[reportOptionalMemberAccess] -- piped
        async with asyncio.timeout(PATIENCE):
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        listening.cancel()
