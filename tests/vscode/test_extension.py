"""The extension without an editor: its pure parts, its package, and its mirror of the protocol."""

import json
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
EXTENSION = ROOT / "vscode-extension"

pytestmark = pytest.mark.editor


def run(*command: str, cwd: Path, timeout: float) -> str:
    import subprocess

    done = subprocess.run(list(command), cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout


def test_the_pure_parts_keep_their_promises(packages: Path) -> None:
    output = run("npm", "test", cwd=packages, timeout=180)
    assert re.search(r"# fail 0$", output, re.MULTILINE)


def test_the_package_holds_the_server_and_nothing_it_does_not_need(package: Path) -> None:
    with zipfile.ZipFile(package) as packed:
        names = packed.namelist()
        manifest: Any = json.loads(packed.read("extension/package.json"))
    assert "extension/dist/extension.js" in names
    assert {f"extension/dist/media/{name}.js" for name in ("chat", "math", "mermaid")} <= set(names)
    assert any(re.fullmatch(r"extension/server/assent_lsp-[\w.]+-py3-none-any\.whl", name) for name in names)
    assert not [name for name in names if "node_modules" in name or name.endswith((".ts", ".map"))]
    assert "enabledApiProposals" not in manifest


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (EXTENSION / "package-lock.json").read_text(encoding="utf-8")


def test_node_is_there_to_build_with() -> None:
    assert shutil.which("node") and shutil.which("npm"), "install Node 20 or newer"
