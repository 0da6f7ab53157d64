"""Writes server/assent/lsp/served.py: the names of what the server serves, for the early answer to `initialize`.

With `--check` nothing is written; exit code 1 says that the file is out of date.
"""

import sys
from pathlib import Path

from assent.lsp import features
from assent.lsp.registry import server
from assent.wire import CLIENT_REQUESTS, FEATURES, PROTOCOL_VERSION

TARGET = Path(__file__).resolve().parent.parent / "server/assent/lsp/served.py"


def written() -> str:
    features.load()
    names = {
        "METHODS": sorted(method for method in server.features if method in CLIENT_REQUESTS),
        "FEATURES": sorted(FEATURES),
        "COMMANDS": sorted(server.commands),
    }
    parts = ['"""What the server serves, by name. Written by `make protocol`; do not edit."""']
    parts.append(f"PROTOCOL_VERSION = {PROTOCOL_VERSION}")
    for name, values in names.items():
        lines = "".join(f'    "{value}",\n' for value in values)
        parts.append(f"{name}: tuple[str, ...] = (\n{lines})")
    return "\n\n".join(parts) + "\n"


def main() -> int:
    text = written()
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
