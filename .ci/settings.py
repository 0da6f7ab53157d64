"""Writes what is made from the settings' structure: the schema, its copy for VS Code, and docs/settings.md.

`--check` writes nothing and fails when a file differs.
"""

import sys
from pathlib import Path

from assent.storage.settings.page import page
from assent.storage.settings.schema import rendered

ROOT = Path(__file__).resolve().parent.parent
MADE = {
    "server/assent/storage/settings/settings.schema.json": rendered,
    "vscode-extension/media/settings.schema.json": rendered,
    "docs/settings.md": lambda: page().encode(),
}


def main() -> int:
    stale: list[str] = []
    for name, make in MADE.items():
        path, wanted = ROOT / name, make()
        if path.is_file() and path.read_bytes() == wanted:
            continue
        stale.append(name)
        if "--check" not in sys.argv:
            path.write_bytes(wanted)
    if "--check" in sys.argv and stale:
        sys.stderr.write(f"run `make settings`: {', '.join(stale)} differ from the settings' structure\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
