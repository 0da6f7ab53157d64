"""What tools reach in a trial besides files and commands: an editor, a server of tools, skills. They count."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assent.tools.files.text_edits import path_of, uri_of
from assent.tools.skill import LoadedSkill, Skills
from assent.types.blocks import Json, text_block
from assent.types.mcp import McpCall, McpFound, McpResult, McpServerState, McpToolSpec
from faultkit.steps import MCP_TOOL, STATIC

SPEC = McpToolSpec(
    server="fake",
    tool="do",
    name=MCP_TOOL,
    title="Do",
    description="Does what the key says.",
    input_schema={"type": "object", "properties": {"key": {"type": "string"}}},
)


class FakeEditor:
    """Answers like a client with language servers; its edits add a mark to the second line each time."""

    encoding = "utf-16"

    def __init__(self, folder: Path) -> None:
        self.shown: list[int] = []  # lines that the user was shown
        self._static = uri_of(str(folder / STATIC[0]))

    async def query(self, kind: str, params: Json) -> Json:
        await asyncio.sleep(0)
        return {"status": "success", "value": self._value(kind, params)}

    def _value(self, kind: str, params: Json) -> Any:
        uri = str(params.get("uri", self._static))
        span = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
        key = Path(path_of(uri)).stem
        at = {"line": 1, "character": 4}
        edits = [{"range": {"start": at, "end": at}, "newText": f"+{key}"}]
        match kind:
            case "definition" | "references":
                return [{"uri": self._static, "range": span}]
            case "hover":
                return {"markdown": "what f0.txt says"}
            case "symbols":
                return [{"name": str(params.get("query")), "kind": 12, "range": span}]
            case "diagnostics" if uri == self._static:
                return [{"range": span, "severity": 2, "message": "odd"}]
            case "selection":
                return {"uri": self._static, "range": span, "text": "selected words"}
            case "openFile":
                self.shown.append(int(params["range"]["start"]["line"]) + 1)
                return None
            case "rename":
                return {"changes": {uri: edits}}
            case "format":
                return edits
            case "codeActions":
                return [{"title": f"fix {key}", "edit": {"changes": {uri: edits}}}]
            case _:
                return []


class FakeServers:
    """One MCP server with one tool, whose calls count."""

    def __init__(self) -> None:
        self.served: list[str] = []

    def offered(self) -> Sequence[McpToolSpec]:
        return [SPEC]

    def deferred(self) -> Sequence[McpToolSpec]:
        return []

    def states(self) -> Sequence[McpServerState]:
        return [McpServerState(name="fake", status="connected", tools=1)]

    async def search(self, query: str, most: int) -> McpFound:
        await asyncio.sleep(0)
        return McpFound(loaded=[SPEC])

    async def call(self, spec: McpToolSpec, arguments: Json, call: McpCall) -> McpResult:
        self.served.append(str(arguments["key"]))
        await asyncio.sleep(0)
        return McpResult(blocks=[text_block(f"served {arguments['key']}")])

    async def read_resource(self, server: str, uri: str, call: McpCall) -> McpResult:
        await asyncio.sleep(0)
        return McpResult(blocks=[text_block(f"text of {uri}")])

    async def resources(self, server: str | None = None) -> Sequence[Json]:
        await asyncio.sleep(0)
        return [{"server": "fake", "uri": "doc://one", "name": "one"}]

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> str:
        raise AssertionError("no prompt is asked for")


async def _load(_name: str, args: str) -> LoadedSkill:
    await asyncio.sleep(0)
    return LoadedSkill(text=f"skill for {args}")


SKILLS = Skills(known=lambda: [("brew", "makes tea")], load=_load)
