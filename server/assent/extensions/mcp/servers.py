"""The servers of one folder: which are configured, which may run, and what they offer to sessions there.

`refresh` follows the configuration. A server of the project runs only once the folder is trusted and a person approved
its configuration; what changes afterwards is asked about again. Sessions share the folder's connections.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from assent.extensions.mcp.around import ServerSurroundings
from assent.extensions.mcp.config import Rejected, ServerConfig
from assent.extensions.mcp.flat_forms import LONGEST_QUESTION, flat
from assent.extensions.mcp.form_answers import checked, in_words
from assent.extensions.mcp.pipe import WorkerError
from assent.extensions.mcp.server import Pending, Server
from assent.extensions.mcp.store import Approvals, difference
from assent.text.uris import split
from assent.types.blocks import Json
from assent.types.errors import ProtocolError
from assent.types.ports import Elicitation, ElicitationAnswer, HandleElicitation

log = logging.getLogger(__name__)

APPROVE, REFUSE = "Start it", "Not now"
START_SECONDS = 0.5
ACCEPT, KEEP_OUT = "Accept the change", "Keep the tools switched off"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredServers:
    """What the configuration says now, in order, without what an untrusted folder brings."""

    servers: Sequence[ServerConfig] = ()
    rejected: Sequence[Rejected] = ()
    unseen: Sequence[Rejected] = ()  # of a trusted folder, new or changed since: nothing of them counts yet
    withheld: int = 0  # how many a folder brings that nobody trusted


class Servers:
    def __init__(
        self,
        around: ServerSurroundings,
        *,
        read: Callable[[], ConfiguredServers],
        approvals: Approvals,
    ) -> None:
        self._around = around
        self._read = read
        self._approvals = approvals
        self._servers: dict[str, Server] = {}
        self._rejected: Sequence[Rejected] = ()
        self._unseen: Sequence[Rejected] = ()
        self.withheld = 0
        self._people: list[HandleElicitation] = []
        self._asked: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._begun = self._started = False
        self._waited_for: set[str] = set()  # sessions whose answer has not begun
        self._free = asyncio.Event()
        self._roots = tuple(around.roots())

    @property
    def folder(self) -> str:
        return self._around.folder

    def full_name(self, name: str) -> str:
        return self._around.full_name(name)

    # --- configuration -----------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Follow the configuration. Cheap when nothing changed; starts nothing by itself before `begin`."""
        configured = self._read()
        self._rejected, self._unseen = configured.rejected, configured.unseen
        self.withheld = configured.withheld
        wanted = {config.name: config for config in configured.servers}
        for name in [name for name, server in self._servers.items() if wanted.get(name) != server.config]:
            self._spawn(self._servers.pop(name).close())
        for config in configured.servers:
            server = self._servers.get(config.name)
            if server is None:
                server = Server(config, self._around)
            self._servers[config.name] = server
            self._judge(server)
        self._servers = {config.name: self._servers[config.name] for config in configured.servers}
        roots = tuple(self._around.roots())
        if roots != self._roots:
            self._roots = roots
            for server in self._servers.values():
                self._spawn(server.tell_roots(roots))

    def _judge(self, server: Server) -> None:
        """May it run? Changes its status only when the answer changed."""
        config = server.config
        if config.disabled or self._approvals.disabled(self.folder, self.full_name(config.name)):
            if server.status != "disabled":
                server.set("disabled")
                self._spawn(server.close())
            return
        if config.withheld:
            if server.status != "needsApproval":
                server.set("needsApproval", config.withheld)
            return
        if not config.own and not self._approvals.approved(self.folder, self.full_name(config.name), config.hash):
            before = self._approvals.shown(self.folder, self.full_name(config.name))
            text = difference(before, config.shown) if before else config.shown
            pending = Pending(hash=config.hash, text=text, what="configuration")
            if server.pending != pending:
                reason = "its configuration changed" if before else "nobody approved it yet"
                server.set("needsApproval", reason, pending)
            self._ask_about(server)
            return
        if server.status == "disabled" or (server.pending is not None and server.pending.what == "configuration"):
            self._servers[config.name] = server = Server(config, self._around)
            self._around.changed()
        self._start(server)

    def begin(self) -> None:
        """Connect, in the background, the servers of which nothing is known yet. Others connect on first use.

        Not at once: starting many programs takes the processor from whoever prompts in the same moment.
        """
        if not self._begun:
            self._begun = True
            self._spawn(self._start_soon())
        self.refresh()

    async def _start_soon(self) -> None:
        await self._around.sleep(START_SECONDS)
        while self._waited_for:
            self._free.clear()
            await self._free.wait()
        self.start()

    def hold(self, session_id: str) -> None:
        """Someone waits for the first word of an answer: servers that nobody uses start after it."""
        self._waited_for.add(session_id)

    def release(self, session_id: str) -> None:
        self._waited_for.discard(session_id)
        self._free.set()

    def start(self) -> None:
        """Connect them now: someone looks for tools."""
        self._started = self._begun = True
        for server in self._servers.values():
            self._start(server)

    def _start(self, server: Server) -> None:
        if self._started and server.status == "idle" and server.known is None:
            server.connect()

    # --- people ------------------------------------------------------------------------------------------------------

    def attach(self, elicit: HandleElicitation) -> Callable[[], None]:
        """Someone who can be asked. Gives back how to take them away."""
        if elicit not in self._people:
            self._people.append(elicit)
        self.refresh()

        def detach() -> None:
            if elicit in self._people:
                self._people.remove(elicit)

        return detach

    def _ask_about(self, server: Server) -> None:
        """Ask once per hash; nothing waits for the answer."""
        if server.pending is None or not self._people or server.pending.hash in self._asked:
            return
        self._asked.add(server.pending.hash)
        self._spawn(self._ask(server, server.pending))

    async def _ask(self, server: Server, pending: Pending) -> None:
        name = server.config.name
        if pending.what == "configuration":
            where = server.config.source
            who = f"agent {self._around.agent}" if self._around.agent else "project"
            question = f"The {who} wants to start the MCP server {name} ({where}). Start it?\n\n{pending.text}"
            yes, no = APPROVE, REFUSE
        else:
            question = f"The MCP server {name} changed how it describes its tools. Accept that?\n\n{pending.text}"
            yes, no = ACCEPT, KEEP_OUT
        options = [{"label": no}, {"label": yes}]
        asked = {"id": "approve", "header": "MCP server", "question": question, "multiSelect": False}
        elicitation = Elicitation(
            message=f"MCP server {name}", questions=({**asked, "options": options, "allowOther": False},)
        )
        answer = await self._people[-1](elicitation)
        answers: object = answer.content.get("answers")
        chosen: object = cast("Json", answers).get("approve") if isinstance(answers, Mapping) else None
        if answer.action == "accept" and chosen == [yes] and server.pending == pending:
            with contextlib.suppress(OSError):
                self._approved(server, pending)

    def approve(self, name: str, hash: str | None) -> Server:
        """A client approved what it was shown. Raises ProtocolError."""
        server = self.named(name)
        pending = server.pending
        if server.config.withheld:
            raise ProtocolError("untrusted", f"{name} cannot be approved: {server.config.withheld}")
        if pending is None:
            raise ProtocolError("invalidRequest", f"There is nothing to approve for {name}")
        if hash != pending.hash:
            raise ProtocolError(
                "staleTrust", f"The MCP server {name} is not what was shown", hint="Show `change` of assent/mcp/list."
            )
        self._approved(server, pending)
        return self.named(name)

    def _approved(self, server: Server, pending: Pending) -> None:
        if pending.what == "tools":
            server.accept_tools()
            return
        config = server.config
        self._approvals.approve(self.folder, self.full_name(config.name), hash=config.hash, shown=config.shown)
        self.refresh()
        if self._begun:
            self.start()  # whoever approved it waits for it

    # --- use ---------------------------------------------------------------------------------------------------------

    def listed(self) -> list[Server]:
        return list(self._servers.values())

    def summaries(self) -> list[Json]:
        broken = [_row(entry, "failed") for entry in self._rejected]
        unseen = [_row(entry, "needsApproval") for entry in self._unseen]
        return [server.summary() for server in self._servers.values()] + unseen + broken

    def named(self, name: str) -> Server:
        """Raises ProtocolError."""
        server = self._servers.get(name)
        if server is None:
            for entry in self._unseen:
                if entry.name == name:
                    raise ProtocolError("untrusted", f"The MCP server {name}: {entry.problem}")
            raise ProtocolError(
                "invalidParams",
                f"There is no MCP server {name}",
                hint="Those of a project are known once its folder is trusted.",
            )
        return server

    async def restart(self, name: str) -> Server:
        server = self.named(name)
        if server.status in ("disabled", "needsApproval"):
            raise ProtocolError("invalidRequest", f"The MCP server {name} is {server.status}", hint=server.error)
        with contextlib.suppress(WorkerError):
            await server.restart()
        return server

    def switch(self, name: str, *, on: bool) -> Server:
        """Enable or disable it for this folder. Raises ProtocolError, OSError."""
        self.named(name)
        self._approvals.set_disabled(self.folder, self.full_name(name), not on)
        self.refresh()
        return self.named(name)

    async def settled(self, seconds: float) -> Sequence[str]:
        """Wait until no server is connecting, at most so long. The names of those that still are."""
        self.start()
        tasks = [server.connect() for server in self._servers.values() if server.status == "connecting"]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        return [server.config.name for server in self._servers.values() if server.status == "connecting"]

    async def answer(self, message: Json) -> Json:
        """A question of a server that belongs to no call."""
        if message["kind"] == "signIn":
            server = self.by_key(str(message["server"]))
            return await server.shown_sign_in(str(message["params"]["url"])) if server else {"action": "cancel"}
        if not self._people:
            return {"action": "cancel", "error": "nobody is there to answer"}
        return await answered(message, self._people[-1], self._name_of(str(message["server"])))

    def _name_of(self, key: str) -> str:
        return key.rpartition("\n")[2]

    # --- events ------------------------------------------------------------------------------------------------------

    def by_key(self, key: str) -> Server | None:
        return next((server for server in self._servers.values() if server.key == key), None)

    def heard(self, event: Json) -> None:
        if event["event"] == "died":
            for server in self._servers.values():
                server.lost("the worker process ended")
            return
        server = self.by_key(str(event["server"]))
        if server is None:
            return
        if event["event"] == "closed":
            server.lost(str(event["error"]))
        elif event["event"] == "changed":
            server.listed_again(event["kinds"])

    def changed(self) -> None:
        """After any change of a server: ask about what has to be accepted."""
        for server in self._servers.values():
            if server.pending is not None and server.pending.what == "tools":
                self._ask_about(server)

    def retry(self) -> None:
        """Connect them now, those that failed before too: an agent begins that brings them."""
        self.start()
        for server in self._servers.values():
            if server.status == "failed":
                server.connect()

    def rest(self) -> None:
        """Nobody works here any more: close the connections. What the servers offer stays known."""
        self._begun = self._started = False
        for server in self._servers.values():
            if server.status in ("connected", "connecting"):
                self._spawn(server.rest())

    def abandon(self) -> None:
        """The program ends: whoever waits stops waiting. The worker ends the processes."""
        for task in list(self._tasks):
            task.cancel()
        for server in self._servers.values():
            server.abandon()

    def _spawn(self, work: object) -> None:
        task = asyncio.ensure_future(cast("asyncio.Future[None]", work))
        self._tasks.add(cast("asyncio.Task[None]", task))
        task.add_done_callback(self._tasks.discard)  # pyright: ignore[reportArgumentType] -- it is a task


def withheld_words(count: int) -> str:
    servers = "1 MCP server" if count == 1 else f"{count} MCP servers"
    how = "`assent chat`, `:Assent trust` or Assent: Trust This Folder shows what that starts"
    return f"{servers} of this project withheld until you trust the folder: {how}."


def _row(entry: Rejected, status: str) -> Json:
    """An entry that is no server now, as `assent/mcp/list` gives it."""
    known: Json = {"name": entry.name, "scope": entry.scope, "source": entry.source, "transport": "", "era": ""}
    return {**known, "status": status, "tools": 0, "tokens": 0, "error": entry.problem}


async def answered(message: Json, elicit: HandleElicitation | None, server: str) -> Json:
    """A server's question, put to a person. The person always sees which server asks."""
    params: Json = message["params"]
    if message["kind"] != "elicit" or elicit is None:
        return {"action": "decline", "error": "declined: this client does not allow it"}
    words = str(params.get("message", ""))[:LONGEST_QUESTION]
    if params.get("mode") == "url":
        address = str(params.get("url", ""))
        parts = split(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return {"action": "decline"}
        said = f"MCP server {server} asks you to open {parts.hostname}: {words}"
        question = Elicitation(message=said, url=address, server=server, words=words)
    else:
        schema = flat(params.get("requestedSchema"))
        if schema is None:
            log.info("a form of the MCP server %s was declined: nobody could fill it in", server)
            return {"action": "decline"}
        said = f"MCP server {server} asks: {words}"
        question = Elicitation(message=said, schema=schema, server=server, words=words)
    answer: ElicitationAnswer = await elicit(question)
    content = dict(answer.content)
    if answer.action == "accept" and question.schema is not None:
        content, problems = checked(question.schema, content)
        if problems:  # a hook's: people are asked again
            log.warning("an answer to the MCP server %s does not fit its form: %s", server, in_words(problems))
            return {"action": "cancel"}
    return {"action": answer.action, "content": content}
