"""`assent mcp serve` as another agent uses it: driven by the SDK's own client, in both eras (T9)."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import mcp.client.session as sdk_session
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own worker, which other tests load, lets the SDK probe for a moment only; the program takes longer to start."""
    monkeypatch.setattr(sdk_session, "DISCOVER_TIMEOUT_SECONDS", 120.0)


ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
Mode = Literal["legacy", "auto"]


@asynccontextmanager
async def agent(place: Path, mode: Mode) -> AsyncGenerator[Client, None]:
    env = {"PATH": os.environ["PATH"], "HOME": str(place), "ASSENT_OFFLINE": "1"}
    env |= {f"XDG_{kind.upper()}_HOME": str(place / kind) for kind in ("config", "data", "cache")}
    words = ["-I", "-m", "assent.cli.main", "mcp", "serve", "--cwd", str(place)]
    parameters = StdioServerParameters(command=sys.executable, args=words, env=env, cwd=str(place))
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


def said(result: types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))


@ERAS
async def test_another_agent_finds_the_editor_s_tools_and_is_told_when_there_is_no_editor(
    tmp_path: Path, mode: Mode
) -> None:
    async with agent(tmp_path, mode) as client:
        assert (client.session.discover_result is not None) == (mode == "auto")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"diagnostics", "definition", "references", "rename", "open_file", "ask_user"}
        assert set(tools["definition"].input_schema["required"]) == {"file_path", "line", "symbol"}
        hints = tools["definition"].annotations
        assert hints is not None and hints.read_only_hint
        calls: dict[str, dict[str, Any]] = {
            "diagnostics": {},
            "definition": {"file_path": "a.py", "line": 1, "symbol": "x"},
            "references": {"file_path": "a.py", "line": 1, "symbol": "x"},
            "rename": {"file_path": "a.py", "line": 1, "symbol": "x", "new_name": "y"},
            "open_file": {"file_path": "a.py"},
            "ask_user": {"questions": []},
        }
        for name, arguments in calls.items():
            result = await client.call_tool(name, arguments)
            assert result.is_error and said(result).startswith("noEditor: "), name
            assert '"host": true' in said(result), "it says what to do"
            assert result.structured_content is not None and result.structured_content["kind"] == "noEditor"
