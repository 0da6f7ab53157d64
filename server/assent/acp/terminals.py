"""Commands in the client's own terminals, where the person sees them run. Implements the `TerminalClient` port.

Only commands that somebody allowed come here: what our reader judged harmless runs inside the fence, which an editor's
terminal does not have. The environment of a terminal is the client's, so the shell starts in privileged mode, which
reads no BASH_ENV and inherits no functions, without the variables that hold our key or that lead git and the shell
elsewhere, and both programs are named by their place: a PATH of the client's may begin in the workspace.
"""

import contextlib
import logging
from collections.abc import Callable, Collection, Mapping

import anyio
from acp.schema import EnvVariable, TerminalToolCallContent, ToolCallProgress
from pydantic import ValidationError

from acp import Client, RequestError
from assent.types.errors import ToolError
from assent.types.ports import TerminalEnd
from assent.types.programs import find_program

log = logging.getLogger("assent.acp")

_OURS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_CLEANED = 'unset -v ${!ANTHROPIC_@} ${!ASSENT_@} ${!CLAUDE_CODE_@}; exec "$0" --norc --noprofile -p -c "$1"'
"""Names that only the client knows are left out by how they begin; started anew, the shell no longer holds them."""
_FAULTS = (RequestError, ValidationError, ConnectionError)
_KILL_SECONDS = 5.0  # for the client to end a command that is no longer wanted


class ClientTerminal:
    def __init__(
        self,
        *,
        client: Callable[[], Client | None],
        offered: Callable[[], bool],
        session_id: str,
        shown: Callable[[str, str, str], None],
    ) -> None:
        """`shown(session, call, terminal)` is told which call a terminal belongs to."""
        self._client = client
        self._offered = offered
        self._session_id = session_id
        self._shown = shown

    async def run(
        self,
        script: str,
        *,
        cwd: str,
        env: Mapping[str, str],
        without: Collection[str],
        tool_use_id: str,
        seconds: float,
        most: int,
    ) -> TerminalEnd | None:
        client = self._client()
        if client is None or not self._offered():
            return None
        session = self._session_id
        variables = [EnvVariable(name=name, value=value) for name, value in env.items()]
        try:
            created = await client.create_terminal(
                session_id=session,
                command=find_program("env") or "env",
                args=_argv(script, without=without),
                env=variables,
                cwd=cwd,
                output_byte_limit=most,
            )
        except RequestError as error:
            log.warning("terminal/create: %s", error)
            return None  # nothing has run: our own shell takes it
        except ValidationError:
            raise _lost("it did not say which terminal it made") from None
        id = created.terminal_id
        self._shown(session, tool_use_id, id)
        try:
            with anyio.move_on_after(seconds) as scope:
                await client.wait_for_terminal_exit(session_id=session, terminal_id=id)
            if scope.cancelled_caught:
                await client.kill_terminal(session_id=session, terminal_id=id)
            output = await client.terminal_output(session_id=session, terminal_id=id)
        except BaseException as error:
            with anyio.move_on_after(_KILL_SECONDS, shield=True), contextlib.suppress(*_FAULTS):
                await client.kill_terminal(session_id=session, terminal_id=id)
            if isinstance(error, _FAULTS):
                raise _lost(str(error)) from None
            raise
        finally:
            with anyio.move_on_after(_KILL_SECONDS, shield=True), contextlib.suppress(*_FAULTS):
                await client.release_terminal(session_id=session, terminal_id=id)
        ended = output.exit_status
        return TerminalEnd(
            output=output.output,
            truncated=output.truncated,
            timed_out=scope.cancelled_caught,
            status=None if ended is None else ended.exit_code,
            signal=None if ended is None else ended.signal,
        )


def _lost(why: str) -> ToolError:
    return ToolError(f"The editor's terminal failed: {why}. The command may have run; look before you repeat it")


def content_of(terminal_id: str) -> TerminalToolCallContent:
    return TerminalToolCallContent(type="terminal", terminal_id=terminal_id)


def shown_in(tool_use_id: str, terminal_id: str) -> ToolCallProgress:
    return ToolCallProgress(
        session_update="tool_call_update", tool_call_id=tool_use_id, content=[content_of(terminal_id)]
    )


def _argv(script: str, *, without: Collection[str]) -> list[str]:
    left_out = [part for name in dict.fromkeys((*_OURS, *without)) for part in ("-u", name)]
    bash = find_program("bash") or "bash"
    return [*left_out, bash, "--norc", "--noprofile", "-p", "-c", _CLEANED, bash, script]
