"""`assent mcp`: list the configured MCP servers, approve, switch and test them, sign in; or be a server."""

import asyncio
import contextlib
import json
import os
import sys
import threading
from pathlib import Path

from assent.cli.chat.render import visible
from assent.cli.preflight import UsageError, project_folder
from assent.extensions.mcp.servers import withheld_words
from assent.types.blocks import Json
from assent.types.errors import ProtocolError


def run(*, action: str, name: str | None, cwd: Path | None, json_output: bool) -> int:
    if action == "serve":
        from assent.cli import mcp_serve

        asyncio.run(mcp_serve.run(project_folder(cwd)))
        return 0
    if action != "list" and name is None:
        raise UsageError(f"say which: assent mcp {action} needs the name of a server")
    try:
        return asyncio.run(_run(action, name or "", str(project_folder(cwd)), json_output=json_output))
    except ProtocolError as error:
        print(visible(f"{error}. {error.hint}".strip()), file=sys.stderr)
        return 1


async def _run(action: str, name: str, folder: str, *, json_output: bool) -> int:
    from assent.app import Options, headless

    servers = headless(Options(interactive=False)).mcp
    try:
        match action:
            case "approve":
                shown = [each for each in servers.list(folder) if each["name"] == name]
                print("\n".join(map(_line, shown)), file=sys.stderr)  # what is approved, word for word
                hash = shown[0].get("hash") if shown else None
                _print(servers.approve(name, folder, hash), json_output=json_output)
            case "enable":
                _print(servers.enable(name, folder), json_output=json_output)
            case "disable":
                _print(servers.disable(name, folder), json_output=json_output)
            case "test":
                state = await servers.restart(name, folder)
                _print(state, json_output=json_output)
                if state.get("stderrTail") and not json_output:
                    print(visible(f"its last words on stderr:\n{state['stderrTail']}"), file=sys.stderr)
                return 0 if state["status"] == "connected" else 1
            case "sign-in":
                return await _sign_in(name, folder)
            case "sign-out":
                _print(await servers.sign_out(name, folder), json_output=json_output)
            case _:
                listed = servers.list(folder)
                if json_output:
                    print(json.dumps(listed, indent=2))
                else:
                    print("\n".join(map(_line, listed)) or "No MCP servers are configured.")
                if withheld := servers.withheld(folder):
                    print(withheld_words(withheld), file=sys.stderr if json_output else sys.stdout)
    finally:
        await servers.aclose()
    return 0


async def _sign_in(name: str, folder: str) -> int:
    from assent.app import Options, headless

    servers = headless(Options(interactive=False)).mcp
    try:
        url = (await servers.sign_in(name, folder)).get("url")
        if not url:
            print(f"{name} needs no sign-in.")
            return 0
        print(f"Open this address in a browser:\n{visible(url)}")
        print("If the browser cannot come back here, paste the address it was sent to and press Enter.")
        server = servers.folders.at(folder).named(name)
        pasting = _typed(asyncio.get_running_loop())
        connecting = server.connect()
        await asyncio.wait({connecting, pasting}, return_when=asyncio.FIRST_COMPLETED)
        if not connecting.done() and pasting.done() and pasting.result().strip():
            server.paste(pasting.result().strip())
        await asyncio.wait({connecting})
        print(_line(server.summary()))
        return 0 if server.status == "connected" else 1
    finally:
        await servers.aclose()


def _typed(loop: asyncio.AbstractEventLoop) -> "asyncio.Future[str]":
    """The next line of stdin. Nobody waits for the thread that reads it: the browser may come back first."""
    typed: asyncio.Future[str] = loop.create_future()

    def found(line: bytes) -> None:
        if not typed.done():
            typed.set_result(line.decode("utf-8", "replace"))

    def read() -> None:
        line = b""
        with contextlib.suppress(OSError):
            while not line.endswith(b"\n") and (more := os.read(0, 4096)):
                line += more
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(found, line)

    threading.Thread(target=read, daemon=True).start()
    return typed


def _print(state: Json, *, json_output: bool) -> None:
    print(json.dumps(state, indent=2) if json_output else _line(state))


def _line(state: Json) -> str:
    words = f"{state['name']}: {state['status']} ({state['scope']}, {state['transport'] or 'unusable'})"
    if state.get("tools"):
        words += f", {state['tools']} tools, {state['tokens']} tokens"
    if state.get("error"):
        words += f"\n  {state['error']}"
    words += "".join(f"\n  {problem}" for problem in state.get("problems") or ())
    if state.get("change"):
        words += "\n" + "\n".join(f"  {line}" for line in str(state["change"]).splitlines())
    return visible(words)
