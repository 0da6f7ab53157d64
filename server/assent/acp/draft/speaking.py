"""Which protocol a client speaks: its first request says so."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

from assent.acp.agent import AcpAgent
from assent.acp.draft.draft_agent import VERSION, DraftAgent
from assent.acp.transport import LineTransport
from assent.types.blocks import Json

LIBRARY = "acp.experimental.v2"


def available() -> bool:
    """Whether the installed library has the draft."""
    return find_spec("acp.experimental") is not None and find_spec(LIBRARY) is not None


def wanted(first: Json | None) -> bool:
    """Whether this first message of a client asks for the draft; every other one is protocol 1's to answer."""
    if first is None or first.get("method") != "initialize":
        return False
    version = cast("Json", first.get("params") or {}).get("protocolVersion")
    return isinstance(version, int) and not isinstance(version, bool) and version >= VERSION


async def run_draft(agent: AcpAgent, transport: LineTransport) -> None:
    library: Any = import_module(LIBRARY)
    transport.speaks_draft()
    await library.run_agent(DraftAgent(agent), transport)
