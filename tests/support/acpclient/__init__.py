"""An editor that speaks ACP: the protocol library's own client side, driving the spawned program.

It records every update, answers permission requests as it was told, and has buffers, whose unsaved text it reports.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acp.client.connection import ClientSideConnection
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    ClientCapabilities,
    CreateTerminalResponse,
    DeniedOutcome,
    FileSystemCapabilities,
    InitializeResponse,
    PermissionOption,
    PromptResponse,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TerminalExitStatus,
    TerminalOutputResponse,
    TextContentBlock,
    ToolCallUpdate,
    WaitForTerminalExitResponse,
    WriteTextFileResponse,
)

from acp import Client, RequestError, connect_to_agent
from fakeapi import FakeApi, text, tool

COMMAND = (sys.executable, "-I", "-m", "assent.cli.main", "acp")
PATIENCE = 120.0  # seconds; never reached but on a machine that is stuck
FIELDS = tuple(ToolCallUpdate.model_fields)
NOTE = "> **Assent:** "
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR")

FILES = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=True))


@dataclass(slots=True)
class Asked:
    session_id: str
    call: ToolCallUpdate
    options: list[PermissionOption]

    @property
    def ids(self) -> list[str]:
        return [option.option_id for option in self.options]

    @property
    def words(self) -> str:
        contents: list[Any] = list(self.call.content or [])
        return "\n".join(each.content.text for each in contents if each.type == "content")


def always(option_id: str) -> Callable[[Asked], str | None]:
    return lambda _asked: option_id


@dataclass(slots=True)
class Pane:
    """A terminal of the editor's: a real process, and what it printed."""

    argv: list[str]
    process: asyncio.subprocess.Process
    output: asyncio.Future[bytes]
    released: bool = False


@dataclass(slots=True)
class Editor:
    """Implements the library's `Client`; methods the protocol makes optional are left to the library to refuse."""

    answer: Callable[[Asked], Any] = field(default=always("reject"))
    buffers: dict[str, str] = field(default_factory=dict[str, str])  # unsaved text, by path
    saves: bool = True
    refuses: set[str] = field(default_factory=set[str])  # paths it will not open or write
    unreadable: set[str] = field(default_factory=set[str])  # paths it will not open, but would write
    formats: Callable[[str], str] = lambda text: text
    form: dict[str, Any] | None = None
    first_forms: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])  # answers before it, in turn
    updates: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    asked: list[Asked] = field(default_factory=list[Asked])
    written: list[str] = field(default_factory=list[str])
    forms: list[Any] = field(default_factory=list[Any])
    completed: list[str] = field(default_factory=list[str])  # pages that the person is done with
    terminals: dict[str, Pane] = field(default_factory=dict[str, Pane])
    terminal_env: dict[str, str] = field(default_factory=dict[str, str])  # what its terminals have besides
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    # --- the library's Client ----------------------------------------------------------------------------------------

    def on_connect(self, conn: Any) -> None: ...

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append((session_id, update))
        self._tell()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        asked = Asked(session_id, tool_call, options)
        self.asked.append(asked)
        self._tell()
        chosen = self.answer(asked)
        if asyncio.iscoroutine(chosen):
            chosen = await chosen
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=str(chosen)))

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> ReadTextFileResponse:
        if path in self.refuses | self.unreadable:
            raise RequestError.invalid_params({"path": path})
        if path in self.buffers:
            return ReadTextFileResponse(content=self.buffers[path])
        saved = _saved(path)
        if saved is None:
            raise RequestError.resource_not_found(path)
        return ReadTextFileResponse(content=saved.decode().replace("\r\n", "\n"))  # as editors keep it

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> WriteTextFileResponse:
        if path in self.refuses:
            raise RequestError.invalid_params({"path": path})
        self.written.append(path)
        content = self.formats(content)
        if self.saves:
            _save(path, content)
            self.buffers.pop(path, None)
        else:
            self.buffers[path] = content
        return WriteTextFileResponse()

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        self.forms.append((message, mode))
        content = self.first_forms.pop(0) if self.first_forms else self.form
        return AcceptElicitationResponse(action="accept", content=content or {})

    async def complete_elicitation(self, elicitation_id: str, **_: Any) -> None:
        self.completed.append(elicitation_id)

    async def create_terminal(
        self, session_id: str, command: str, args: list[str] | None = None, env: Any = None, **more: Any
    ) -> CreateTerminalResponse:
        process = await asyncio.create_subprocess_exec(
            command,
            *(args or ()),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, **self.terminal_env, **{each.name: each.value for each in env or ()}},
            cwd=more.get("cwd"),
            start_new_session=True,
        )
        id = f"terminal-{len(self.terminals)}"
        self.terminals[id] = Pane([command, *(args or ())], process, asyncio.ensure_future(_output(process)))
        self._tell()
        return CreateTerminalResponse(terminal_id=id)

    async def wait_for_terminal_exit(self, session_id: str, terminal_id: str, **_: Any) -> WaitForTerminalExitResponse:
        code = await self.terminals[terminal_id].process.wait()
        return WaitForTerminalExitResponse(exit_code=code if code >= 0 else None, signal=None if code >= 0 else "KILL")

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> TerminalOutputResponse:
        pane = self.terminals[terminal_id]
        text = (await pane.output).decode()
        code = await pane.process.wait()
        ended = TerminalExitStatus(exit_code=code if code >= 0 else None, signal=None if code >= 0 else "KILL")
        return TerminalOutputResponse(output=text, truncated=False, exit_status=ended)

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        process = self.terminals[terminal_id].process
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        self.terminals[terminal_id].released = True
        self._tell()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise RequestError.method_not_found(method)

    # --- what a test looks at ----------------------------------------------------------------------------------------

    def of(self, kind: str) -> list[Any]:
        return [update for _, update in self.updates if update.session_update == kind]

    def text(self, kind: str = "agent_message_chunk") -> str:
        """What the model said; on a busy machine Assent may have had a word about waiting for it."""
        return "".join(update.content.text for update in self.of(kind) if NOTE not in update.content.text)

    def notes(self) -> str:
        """What Assent itself said."""
        return "".join(u.content.text for u in self.of("agent_message_chunk") if NOTE in u.content.text)

    def calls(self) -> dict[str, dict[str, Any]]:
        """Every tool call as the client would show it: later fields over earlier ones."""
        shown: dict[str, dict[str, Any]] = {}
        for update in self.of_calls():
            fields = {name: value for name in FIELDS if (value := getattr(update, name)) is not None}
            if update.session_update == "tool_call":
                assert update.tool_call_id not in shown, "a call is begun once"
                shown[update.tool_call_id] = {"statuses": []}
            call = shown[update.tool_call_id]  # a KeyError: the client would not know this call
            call.update(fields)
            if update.status is not None:
                call["statuses"].append(update.status)
        return shown

    def of_calls(self) -> list[Any]:
        return [update for _, update in self.updates if update.session_update in ("tool_call", "tool_call_update")]

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self.changed.clear()
                await self.changed.wait()

    def forget(self) -> None:
        self.updates.clear()
        self.asked.clear()
        self.written.clear()

    def _tell(self) -> None:
        self.changed.set()


@dataclass(slots=True)
class Running:
    """One spawned `assent acp` and the editor at the other end."""

    editor: Editor
    agent: ClientSideConnection
    process: asyncio.subprocess.Process
    hello: InitializeResponse | None = None

    async def introduce(self, capabilities: ClientCapabilities) -> None:
        """Say who we are, perhaps once more: a program is dear to start, and what a client offers is not."""
        async with asyncio.timeout(PATIENCE):
            self.hello = await self.agent.initialize(protocol_version=1, client_capabilities=capabilities)

    async def prompt(self, session_id: str, *parts: Any) -> PromptResponse:
        blocks = [TextContentBlock(type="text", text=part) if isinstance(part, str) else part for part in parts]
        async with asyncio.timeout(PATIENCE):
            return await self.agent.prompt(session_id=session_id, prompt=blocks)

    async def new(self, cwd: Path, **more: Any) -> str:
        async with asyncio.timeout(PATIENCE):
            return (
                await self.agent.new_session(cwd=str(cwd), mcp_servers=more.pop("mcp_servers", []), **more)
            ).session_id

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """A request that the library's client has no function for."""
        async with asyncio.timeout(PATIENCE):
            return await self.agent._conn.send_request(method, params)

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        await self.agent._conn.send_notification(method, params)

    async def ended(self, *, within: float) -> int:
        async with asyncio.timeout(within):
            return await self.process.wait()


async def _output(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    return await process.stdout.read()


async def find_tool(run: Running, api: FakeApi, session: str, name: str) -> None:
    """Search for a tool of an MCP server until it is there: a search waits 5 s only, and a busy machine takes longer."""
    async with asyncio.timeout(PATIENCE):
        while True:
            api.reply(tool("ToolSearch", query=f"select:{name}"))
            api.reply(text("Looked."))
            await run.prompt(session, "find it")
            if name in [each["name"] for each in api.calls[-1].body["tools"]]:
                return


def _saved(path: str) -> bytes | None:
    return Path(path).read_bytes() if Path(path).is_file() else None


def _save(path: str, content: str) -> None:
    """With the line ends the file has."""
    dos = b"\r\n" in (_saved(path) or b"")
    Path(path).write_bytes((content.replace("\n", "\r\n") if dos else content).encode())


def environment(home: Path, env: Mapping[str, str]) -> dict[str, str]:
    home.mkdir(parents=True, exist_ok=True)
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_CACHE_HOME": str(home / "cache"),
        **env,
    }


@contextlib.asynccontextmanager
async def running(
    home: Path,
    *,
    env: Mapping[str, str],
    editor: Editor | None = None,
    capabilities: ClientCapabilities = FILES,
    initialize: bool = True,
    command: tuple[str, ...] = COMMAND,
    cwd: Path | None = None,
) -> AsyncGenerator[Running]:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment(home, env),
        cwd=cwd or home,
        limit=64 * 1024 * 1024,
    )
    assert process.stdin is not None and process.stdout is not None
    editor = editor or Editor()
    client: Client = editor  # pyright: ignore[reportAssignmentType] -- the library calls by name, not by position
    agent = connect_to_agent(client, process.stdin, process.stdout, use_unstable_protocol=True)
    run = Running(editor, agent, process)
    try:
        if initialize:
            await run.introduce(capabilities)
        yield run
    finally:
        await agent.close()
        if process.returncode is None:
            process.kill()
        await process.wait()
