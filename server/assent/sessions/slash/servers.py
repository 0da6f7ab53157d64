"""/mcp: the MCP servers of the session's folder, and what a person can do with one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from assent.extensions.mcp.servers import withheld_words
from assent.sessions.mcp import Mcp
from assent.sessions.slash.host import SlashSession
from assent.text.visible import visible
from assent.types.blocks import Json
from assent.types.errors import ProtocolError

_NONE = "No MCP server is configured. `assent import` takes over those of other tools."
_USAGE = "`/mcp show|restart|enable|disable|sign-in|sign-out NAME`"


async def answered(session: SlashSession, arguments: str) -> str:
    mcp, words = session.deps.mcp, arguments.split()
    if mcp is None:
        return _NONE
    if not words:
        withheld = mcp.withheld(session.cwd)
        return listed(mcp.list(session.cwd)) + (f"\n\n{withheld_words(withheld)}" if withheld else "")
    if len(words) == 3 and words[0] == "sign-in":
        await mcp.sign_in(words[1], session.cwd, redirect=words[2])
        return "The sign-in goes on with that address; `/mcp` shows how it ended."
    if len(words) != 2:
        return f"Say what and which: {_USAGE}"
    try:
        return await _done(mcp, words[0], words[1], session.cwd)
    except ProtocolError as error:
        return visible(f"{error}. {error.hint}".strip())


async def _done(mcp: Mcp, action: str, name: str, cwd: str) -> str:
    match action:
        case "show":
            return shown(await mcp.show(name, cwd))
        case "restart":
            return _line(await mcp.restart(name, cwd))
        case "enable":
            return _line(mcp.enable(name, cwd))
        case "disable":
            return _line(mcp.disable(name, cwd))
        case "sign-out":
            return _line(await mcp.sign_out(name, cwd))
        case "sign-in":
            state = await mcp.sign_in(name, cwd)
            if not state.get("url"):
                return _line(state)
            paste = f"If it cannot come back here, paste its last address: `/mcp sign-in {visible(name)} ADDRESS`."
            return f"Open this address in a browser:\n\n{visible(str(state['url']))}\n\n{paste}"
        case _:
            return f"There is no `{visible(action)}`: {_USAGE}"


def listed(servers: Sequence[Json]) -> str:
    if not servers:
        return _NONE
    return "\n".join(["MCP servers:", "", *map(_line, servers), "", _USAGE])


def shown(details: Json) -> str:
    lines = [_line(details["server"])]
    if details["server"].get("shown"):
        lines += ["", "```", visible(str(details["server"]["shown"])), "```"]
    tools = cast("list[Json]", details["tools"])
    if tools:
        lines += ["", "Tools:", ""]
        lines += [
            f"- `{visible(tool['name'])}` ({tool['tokens']} tokens{', held back' if tool['heldBack'] else ''}): "
            + visible(tool["description"].strip().splitlines()[0][:120])
            for tool in tools
        ]
    if details.get("log"):
        lines += ["", "Its last lines:", "", "```", visible(str(details["log"])), "```"]
    return "\n".join(lines)


def _line(state: Json) -> str:
    words = f"- **{visible(str(state['name']))}**: {state['status']}"
    about = [str(state.get(key)) for key in ("scope", "transport", "era") if state.get(key)]
    if state.get("tools"):
        about += [f"{state['tools']} tools", f"{state['tokens']} tokens"]
    if about:
        words += f" ({', '.join(about)})"
    if state.get("error"):
        words += f" — {visible(str(state['error']))}"
    if state.get("change"):
        words += "\n\n```\n" + visible(str(state["change"])) + "\n```"
    return words
