"""MCP servers for tests: entries for settings, and the reference servers from npm.

`plain.py` is a server of our own for either era, written against the specification with the standard library alone, so
that it shares no mistake with the SDK. Its flags make it misbehave. `rogue.py` says whatever a file tells it to.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PLAIN = Path(__file__).with_name("plain.py")
ROGUE = Path(__file__).with_name("rogue.py")
NPM = Path("~/.cache/assent-tests/mcp-servers").expanduser()
PACKAGES = ("@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem")


def entry(*flags: str, era: str = "legacy", **more: Any) -> dict[str, Any]:
    """An entry of `mcpServers` that starts our own server."""
    return {"command": sys.executable, "args": ["-I", "-S", str(PLAIN), "--era", era, *flags], **more}


def rogue(file: Path, **told: Any) -> dict[str, Any]:
    """An entry that starts a server which says what the file tells it to."""
    file.write_text(json.dumps(told))
    return {"command": sys.executable, "args": ["-I", "-S", str(ROGUE), str(file)]}


def reference(name: str, *args: str) -> dict[str, Any]:
    """An entry for a reference server; they are installed into a cache when they are missing."""
    program = NPM / "node_modules" / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    if not program.exists():
        NPM.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(NPM), *PACKAGES]
        subprocess.run(command, check=True, capture_output=True, timeout=600, env={**os.environ})
    return {"command": "node", "args": [str(program), *args]}
