"""`python -m assent.wire.generate [--check]`, in the root of the repository: writes the mirrors, or compares them."""

import sys
from pathlib import Path

from assent.wire.generate import lua, reference, typescript


def mirrors() -> dict[str, str]:
    """Every generated file, by its path in the repository."""
    extension, plugin = "vscode-extension/src", "editors/neovim/lua/assent"
    return {
        **{f"{extension}/protocol/{name}": text for name, text in typescript.files().items()},
        f"{extension}/protocol.ts": typescript.index(),
        f"{plugin}/protocol.lua": lua.names(),
        f"{plugin}/wire.lua": lua.annotations(),
        "docs/protocol.md": reference.reference(),
    }


def differing(root: Path) -> list[str]:
    found: list[str] = []
    for name, text in mirrors().items():
        path = root / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            found.append(name)
    return found


def main(arguments: list[str]) -> int:
    root = Path.cwd()
    if arguments == ["--check"]:
        wrong = differing(root)
        if wrong:
            sys.stderr.write(f"not what `make protocol` writes: {', '.join(wrong)}\n")
        return 1 if wrong else 0
    if arguments:
        sys.stderr.write("usage: python -m assent.wire.generate [--check]\n")
        return 2
    for name, text in mirrors().items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
