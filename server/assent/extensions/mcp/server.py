"""One configured server: its state, its connection, what it offers, and what a person still has to accept of it.

It connects when asked to and reconnects with growing pauses after it was lost. It knows neither sessions nor the wire.
"""

import asyncio
import contextlib
import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from assent.extensions.mcp.around import ServerSurroundings
from assent.extensions.mcp.config import ServerConfig
from assent.extensions.mcp.pipe import Answer, WorkerError
from assent.extensions.mcp.results import LONGEST_INSTRUCTIONS, specs_of
from assent.extensions.mcp.store import Known, changed_tools, difference, tool_text
from assent.types.blocks import Json
from assent.types.mcp import McpToolSpec

log = logging.getLogger(__name__)

Status = Literal["connecting", "connected", "failed", "needsAuth", "needsApproval", "disabled", "idle"]
LONGEST_CALL = 86_400.0  # the executor's own timeout comes first
_STABLE = 60.0  # seconds after which a lost connection counts as the first failure again
_MOST_RESTARTS = 5
_MOST_GONE = 2000  # tools that a server no longer has and that are remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """What a person has to accept, in words, and the hash that their answer must name."""

    hash: str
    text: str
    what: Literal["configuration", "tools"]


class Server:
    def __init__(self, config: ServerConfig, around: ServerSurroundings, *, status: Status = "idle") -> None:
        self.config = config
        self._around = around
        self.status: Status = status
        self.error = ""
        self.stderr = ""
        self._odd = ""  # about its connection
        self.pending: Pending | None = None
        self.known = around.known.get(config.identity)
        self.tools: tuple[McpToolSpec, ...] = ()
        self._held_back: dict[str, Json] = {}  # changed definitions by tool, until someone accepts them
        self._connecting: asyncio.Task[None] | None = None
        self._restarting: asyncio.Task[None] | None = None
        self._failures = 0
        self._since = 0.0
        self._relisting: asyncio.Task[None] | None = None
        self._stale: set[str] = set()  # kinds of lists that changed since they were read
        self._closed = False
        self._sign_in: asyncio.Future[str] | None = None  # the address to open
        self._pasted: asyncio.Future[str] | None = None
        if self.known is not None:
            self._offer(self.known.tools)

    # --- what people and the model see -------------------------------------------------------------------------------

    @property
    def key(self) -> str:
        return f"{self._around.folder}\n{self._around.agent}\n{self.config.name}"

    @property
    def usable(self) -> bool:
        """Whether its tools may be offered: a call connects it if need be."""
        return self.status in ("connected", "idle", "connecting", "failed") or (
            self.pending is not None and self.pending.what == "tools"
        )

    @property
    def instructions(self) -> str:
        return (self.known.instructions if self.known is not None else "")[:LONGEST_INSTRUCTIONS]

    @property
    def prompts(self) -> Sequence[Json]:
        return self.known.prompts if self.known is not None and self.usable else ()

    def summary(self) -> Json:
        """As `assent/mcp/list` gives it."""
        config = self.config
        state: Json = {
            "name": self._around.full_name(config.name),
            "scope": config.scope,
            "source": config.source,
            "transport": config.transport,
            "era": self.known.era if self.known is not None else "",
            "status": self.status,
            "tools": len(self.tools),
            "tokens": sum(tool.tokens for tool in self.tools),
            "shown": config.shown,
        }
        if self.error:
            state["error"] = self.error
        if self.stderr:
            state["stderrTail"] = self.stderr
        if config.problems or self._odd:
            state["problems"] = [*config.problems, *([f"tokens are kept in a file: {self._odd}"] if self._odd else [])]
        if self.pending is not None:
            state |= {"hash": self.pending.hash, "change": self.pending.text}
        return state

    # --- the connection ----------------------------------------------------------------------------------------------

    async def connected(self) -> None:
        """Return once it is connected. Raises WorkerError. A caller that is cancelled does not stop the attempt."""
        if self.status in ("disabled",) or (self.pending is not None and self.pending.what == "configuration"):
            raise WorkerError(self.error or f"it is {self.status}", kind="failed")
        if self.status == "connected" or self._since:
            return
        await asyncio.shield(self.connect())

    def connect(self, *, sign_in: bool = False) -> "asyncio.Task[None]":
        if self._connecting is None or self._connecting.done():
            self._say("connecting")
            self._connecting = asyncio.create_task(self._connect(sign_in), name=f"connecting {self.config.name}")
            self._connecting.add_done_callback(_looked_at)
        return self._connecting

    async def _connect(self, sign_in: bool) -> None:
        era = self.known.era if self.known is not None else ""
        try:
            said: Json = await self._around.pipe.request(
                "connect", server=self.key, config=self._around.for_worker(self.config, era, sign_in=sign_in)
            )
            tools = await self._request("list", kind="tools")
            prompts: Sequence[Json] = ()
            if "prompts" in said["capabilities"]:
                prompts = await self._request("list", kind="prompts")
        except WorkerError as error:
            self.stderr = error.stderr or self.stderr
            await self._close()  # it may have connected, and be of no use
            self._say("needsAuth" if error.kind == "needsAuth" else "failed", str(error))
            raise
        finally:
            self._sign_in = self._pasted = None
        self._since = time.monotonic()
        self._odd = str(said.get("problem", ""))
        self._accept(said, tools, prompts)

    def _accept(self, said: Json, tools: Sequence[Json], prompts: Sequence[Json]) -> None:
        """Take over what the server offers. Definitions that differ from what was accepted are held back."""
        tools = list({str(tool["name"]): tool for tool in reversed(tools) if tool.get("name")}.values())[::-1]
        before = (*self.known.gone, *self.known.tools) if self.known is not None else ()
        changes = changed_tools(before, tools)
        accepted = {str(tool["name"]): tool for tool in before}
        self._held_back = {name: now for name, (_, now) in changes.items()}
        if changes:
            text = "\n".join(difference(tool_text(was), tool_text(now)) for was, now in changes.values())
            digest = hashlib.sha256(text.encode()).hexdigest()
            self.pending = Pending(hash=digest, text=text, what="tools")
        elif self.pending is not None and self.pending.what == "tools":
            self.pending = None
        pins = tuple(accepted[str(tool["name"])] if str(tool["name"]) in changes else tool for tool in tools)
        names_now = {str(tool["name"]) for tool in tools}
        gone = [tool for name, tool in accepted.items() if name not in names_now]
        instructions = str(said.get("instructions", ""))
        self.known = Known(
            era=str(said["era"]),
            tools=pins,
            prompts=tuple(prompts),
            instructions=instructions,
            capabilities=said["capabilities"],
            info=said.get("serverInfo") or {},
            version=str(said.get("version", "")),
            gone=tuple(gone[-_MOST_GONE:]),
        )
        self._around.known.put(self.config.identity, self.known)
        self._offer([tool for tool in pins if str(tool["name"]) not in changes])
        names = ", ".join(changes)
        self._say("needsApproval" if changes else "connected", f"it changed the tools {names}" if changes else "")

    def accept_tools(self) -> None:
        """A person accepted the changed definitions."""
        if self.known is None or self.pending is None:
            return
        tools = tuple(self._held_back.get(str(tool["name"]), tool) for tool in self.known.tools)
        self.known = replace(self.known, tools=tools)
        self._around.known.put(self.config.identity, self.known)
        self._held_back, self.pending = {}, None
        self._offer(tools)
        self._say("connected" if self._since else "idle")

    def _offer(self, tools: Sequence[Json]) -> None:
        self.tools = specs_of(self.config, tools)

    # --- requests ----------------------------------------------------------------------------------------------------

    async def request(
        self, op: str, *, answer: Answer | None = None, progress: Callable[[Json], None] | None = None, **fields: Any
    ) -> Any:
        """Connect if need be, and ask the server. A session that the server ended meanwhile is made again, once."""
        await self.connected()
        try:
            return await self._request(op, answer=answer, progress=progress, **fields)
        except WorkerError as error:
            if error.kind != "ended":
                raise
        self._since = 0.0
        self._say("idle")
        await self.connected()
        return await self._request(op, answer=answer, progress=progress, **fields)

    async def _request(self, op: str, **fields: Any) -> Any:
        try:
            return await self._around.pipe.request(op, server=self.key, **fields)
        except WorkerError as error:
            if error.kind == "needsAuth":
                self._since = 0.0
                self._say("needsAuth", str(error))
            elif error.kind == "needsMore":
                self._say(self.status, str(error))  # its other tools still work
            raise

    async def tell_roots(self, roots: Sequence[str]) -> None:
        """The workspace's folders changed."""
        if self._since:
            with contextlib.suppress(WorkerError):
                await self._around.pipe.request("roots", server=self.key, roots=list(roots))

    def holds_back(self, tool: str) -> bool:
        return tool in self._held_back

    @property
    def held_back(self) -> Sequence[Json]:
        return tuple(self._held_back.values())

    async def log(self) -> str:
        """The last lines of its stderr and of what it logged."""
        if self._since:
            with contextlib.suppress(WorkerError):
                return str((await self._around.pipe.request("log", server=self.key))["tail"])
        return self.stderr

    async def sign_out(self) -> None:
        """Forget its tokens. Raises WorkerError."""
        await self._disconnect()
        folder = self._around.credentials
        await self._around.pipe.request("forget", server=self.key, url=self.config.url, folder=folder)
        self._say("idle")

    # --- events ------------------------------------------------------------------------------------------------------

    def lost(self, reason: str) -> None:
        """The connection ended by itself."""
        if self._closed or not self._since:
            return
        stable = time.monotonic() - self._since > _STABLE
        self._since = 0.0
        self._failures = 1 if stable else self._failures + 1
        self._say("failed", reason)
        if self._failures <= _MOST_RESTARTS:
            self._restarting = asyncio.create_task(self._restart())

    async def _restart(self) -> None:
        """Until it is back, with a longer pause each time."""
        while self._failures <= _MOST_RESTARTS:
            await self._around.sleep(min(2.0 ** (self._failures - 1), 30.0))
            if self._closed or self._since:
                return
            try:
                await asyncio.shield(self.connect())
                return
            except WorkerError as error:
                log.info("MCP server %s did not come back: %s", self.config.name, error)
                if error.kind == "needsAuth":
                    return
            self._failures += 1

    def listed_again(self, kinds: Sequence[str]) -> None:
        """The server said that its lists changed, perhaps while they are being read."""
        self._stale.update(kinds)
        if self._relisting is None or self._relisting.done():
            self._relisting = asyncio.create_task(self._relist_all())

    async def _relist_all(self) -> None:
        while self._stale and self.known is not None:
            kinds, self._stale = self._stale, set()
            await self._relist(self.known, kinds)

    async def _relist(self, known: Known, kinds: set[str]) -> None:
        try:
            tools = await self._request("list", kind="tools")
            prompts: Any = known.prompts
            if "prompts" in kinds:
                prompts = await self._request("list", kind="prompts")
        except WorkerError as error:
            log.info("MCP server %s: %s", self.config.name, error)
            return
        said = {"era": known.era, "instructions": known.instructions, "capabilities": known.capabilities}
        self._accept({**said, "serverInfo": known.info, "version": known.version}, tools, prompts)

    # --- signing in --------------------------------------------------------------------------------------------------

    async def sign_in(self) -> str:
        """The address the user has to open; empty when the server let us in without. Raises WorkerError."""
        if self._sign_in is not None:
            return await asyncio.shield(self._sign_in)
        await self._disconnect()
        shown = self._sign_in = asyncio.get_running_loop().create_future()
        self._pasted = asyncio.get_running_loop().create_future()
        connecting = self.connect(sign_in=True)
        await asyncio.wait({connecting, shown}, return_when=asyncio.FIRST_COMPLETED)
        if shown.done():
            return shown.result()
        await connecting
        return ""

    def paste(self, redirect: str) -> bool:
        """The address that the browser was sent to, for a browser that cannot reach us."""
        if self._pasted is None or self._pasted.done():
            return False
        self._pasted.set_result(redirect)
        return True

    async def shown_sign_in(self, url: str) -> Json:
        """The worker wants this address opened; it stops waiting for us when the browser reached it by itself."""
        if self._sign_in is None or self._pasted is None:
            return {"action": "cancel"}
        if not self._sign_in.done():
            self._sign_in.set_result(url)
        return {"pasted": await self._pasted}

    # --- the end -----------------------------------------------------------------------------------------------------

    async def restart(self) -> None:
        """Raises WorkerError."""
        self._failures = 0
        await self._disconnect()
        await asyncio.shield(self.connect())

    async def close(self) -> None:
        self._closed = True
        await self._disconnect()

    async def rest(self) -> None:
        """Close the connection until it is needed again."""
        await self._disconnect()
        self._say("idle")

    def abandon(self) -> None:
        self._closed = True
        for task in (self._restarting, self._relisting, self._connecting):
            if task is not None and not task.done():
                task.cancel()

    async def _disconnect(self) -> None:
        closed = self._closed
        self.abandon()
        self._closed = closed
        self._connecting = None
        self._since = 0.0
        await self._close()

    async def _close(self) -> None:
        """Whatever there is of a connection, one that is still being made too."""
        if self._around.pipe.pid is not None:
            with contextlib.suppress(WorkerError):  # it is gone already
                await self._around.pipe.request("close", server=self.key)

    def set(self, status: Status, error: str = "", pending: Pending | None = None) -> None:
        self.pending = pending
        self._say(status, error)

    def _say(self, status: Status, error: str = "") -> None:
        self.status, self.error = status, error
        self._around.changed()


def _looked_at(task: "asyncio.Task[None]") -> None:
    if not task.cancelled():
        task.exception()
