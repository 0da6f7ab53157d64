"""What running hooks needs from the rest of the program; `app.py` fills it in. Data and function types only."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assent.extensions.hooks.handlers import HookOrigin
from assent.types.blocks import Json
from assent.types.hook_limits import HookLimits
from assent.types.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One entry of `hooks.<event>` in a settings file."""

    event: str
    entry: Json
    origin: HookOrigin


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """What hooks are told of the session besides the event."""

    project: str  # the folder whose settings count
    folder: Path | None = None  # where the session keeps its files
    transcript: str = ""
    mode: str = "default"
    effort: str = ""
    title: str = ""
    prompt_id: str = ""
    scratchpad: str = ""  # the folder that the session's agents share, once there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    exit_code: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    error: str = ""  # it could not be started
    timed_out: bool = False


RunCommand = Callable[[str, Sequence[str], str, Mapping[str, str], bytes, float], Awaitable[CommandResult]]
"""(session id, argv, cwd, environment, stdin, seconds)."""


async def _no_command(*_given: Any) -> CommandResult:
    return CommandResult(error="commands cannot be run here")


async def _no_model(*_given: Any) -> str:
    raise OSError("no model can be asked here")


async def _no_tool(*_given: Any) -> tuple[str, bool]:
    raise OSError("there are no MCP servers here")


def _dropped(work: Coroutine[Any, Any, None]) -> None:
    work.close()


@dataclass(slots=True, kw_only=True)
class HookPorts:
    folders: Callable[[], Sequence[str]] = lambda: ()  # of live sessions
    written: Callable[[str], Sequence[Written]] = lambda _folder: ()  # what the settings of a folder say, trusted only
    disabled: Callable[[str], bool] = lambda _folder: False  # settings of a folder let only the policy's run
    counts: Callable[[str, str], bool] = lambda _folder, _file: True  # whether what a file defines counts there still
    limits: Callable[[str], HookLimits] = lambda _folder: HookLimits()
    facts: Callable[[str], SessionFacts | None] = lambda _session: None
    environment: Callable[[str], Mapping[str, str]] = lambda _session: {}
    run_command: RunCommand = _no_command
    ask_model: Callable[[str, str | None, str, str], Awaitable[str]] = _no_model  # (session, model, system, text)
    run_agent: Callable[[str, str | None, str, str], Awaitable[str]] = _no_model  # (session, model, system, text)
    call_mcp: Callable[[str, str, str, Json], Awaitable[tuple[str, bool]]] = _no_tool  # → (text, is an error)
    matches_rule: Callable[[str, str, Json, str], bool] = lambda _rule, _tool, _input, _cwd: True
    publish: Callable[[str, Message], None] = lambda _session, _message: None
    spawn: Callable[[Coroutine[Any, Any, None]], None] = _dropped
    wake: Callable[[str, str], None] = lambda _session, _text: None  # start a turn of an idle session
    spill: Callable[[str, str], str | None] = lambda _session, _text: None
