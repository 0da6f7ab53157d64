"""One server in full, for the views of editors: what it offers, what that costs, its instructions, its log.

Everything here is the server's word. Icons are passed on only when they carry their own data: nothing is fetched.
"""

from typing import Any, cast

from assent.extensions.mcp.results import specs_of
from assent.extensions.mcp.server import Server
from assent.types.blocks import Json

LARGEST_ICON = 64 * 1024
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


async def details(server: Server) -> Json:
    """As `assent/mcp/show` gives it."""
    known = server.known
    found: Json = {"server": server.summary(), "tools": _tools(server), "prompts": _prompts(server)}
    if known is not None:
        info = dict(known.info)
        extra = {"version": known.version, "title": info.get("title") or info.get("name"), "icon": icon(info)}
        found |= {key: value for key, value in extra.items() if value}
        if server.instructions:
            found["instructions"] = server.instructions
    if text := await server.log():
        found["log"] = text
    return found


def icon(holder: Json) -> str:
    """The first icon that is a `data:` address of an image; empty when there is none."""
    icons = holder.get("icons")
    for each in cast("list[Any]", icons) if isinstance(icons, list) else []:
        source = str(cast("Json", each).get("src", "")) if isinstance(each, dict) else ""
        if source.startswith("data:image/") and len(source) <= LARGEST_ICON:
            return source
    return ""


def _tools(server: Server) -> list[Json]:
    raw = {str(tool["name"]): tool for tool in (server.known.tools if server.known is not None else ())}
    held_back = specs_of(server.config, server.held_back)
    rows: list[Json] = []
    for spec in (*server.tools, *held_back):
        tool = raw.get(spec.tool, {})
        said = tool.get("annotations")
        annotations = cast("Json", said) if isinstance(said, dict) else {}
        row: Json = {
            "name": spec.name,
            "tool": spec.tool,
            "title": spec.title,
            "description": spec.description,
            "tokens": spec.tokens,
            "heldBack": server.holds_back(spec.tool),
            "hints": [name for name in _HINTS if annotations.get(name) is True],
        }
        rows.append({**row, "icon": icon(tool)} if icon(tool) else row)
    return rows


def _prompts(server: Server) -> list[Json]:
    return [
        {"name": str(prompt["name"]), "description": str(prompt.get("description") or prompt.get("title") or "")}
        for prompt in server.prompts
    ]
