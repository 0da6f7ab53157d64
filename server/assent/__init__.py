"""Assent: an AI coding agent hosted as a language server, and a Python SDK.

    import assent

    async for message in assent.query("What does this project do?", cwd="."):
        print(message.type)

The names below load on first use: `import assent` itself costs next to nothing.
"""

TYPE_CHECKING = False  # checkers know the name; importing it from typing would cost more than all the rest
if TYPE_CHECKING:
    from typing import Any

    from assent import types as types
    from assent.engine.query_engine import QueryEngine as QueryEngine
    from assent.sdk.client import Client as Client
    from assent.sdk.library import list_sessions as list_sessions
    from assent.sdk.library import read_session as read_session
    from assent.sdk.options import HookMatcher as HookMatcher
    from assent.sdk.options import Options as Options
    from assent.sdk.options import PermissionAnswer as PermissionAnswer
    from assent.sdk.options import PermissionRequest as PermissionRequest
    from assent.sdk.query import query as query
    from assent.sdk.query import run as run
    from assent.sdk.tools import SdkServer as SdkServer
    from assent.sdk.tools import SdkTool as SdkTool
    from assent.sdk.tools import mcp_server as mcp_server
    from assent.sdk.tools import tool as tool
    from assent.types.errors import AbortError as AbortError
    from assent.types.errors import AssentError as AssentError
    from assent.types.errors import ToolError as ToolError
    from assent.types.hooks import HookCall as HookCall
    from assent.types.hooks import HookOutcome as HookOutcome

__version__ = "0.1.0"

_HOMES = {
    "QueryEngine": "assent.engine.query_engine",
    "Client": "assent.sdk.client",
    "list_sessions": "assent.sdk.library",
    "read_session": "assent.sdk.library",
    "HookMatcher": "assent.sdk.options",
    "Options": "assent.sdk.options",
    "PermissionAnswer": "assent.sdk.options",
    "PermissionRequest": "assent.sdk.options",
    "query": "assent.sdk.query",
    "run": "assent.sdk.query",
    "SdkServer": "assent.sdk.tools",
    "SdkTool": "assent.sdk.tools",
    "mcp_server": "assent.sdk.tools",
    "tool": "assent.sdk.tools",
    "AbortError": "assent.types.errors",
    "AssentError": "assent.types.errors",
    "ToolError": "assent.types.errors",
    "HookCall": "assent.types.hooks",
    "HookOutcome": "assent.types.hooks",
}

__all__ = [*_HOMES, "__version__", "types"]  # pyright: ignore[reportUnsupportedDunderAll]  # they load on first use


if not TYPE_CHECKING:  # a checker that saw it would believe every name, also a misspelt one

    def __getattr__(name: str) -> "Any":
        from importlib import import_module

        if name == "types":
            return import_module("assent.types")
        if name not in _HOMES:
            raise AttributeError(f"module 'assent' has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
