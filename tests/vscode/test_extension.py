"""The extension without an editor: its pure parts, its package, and its mirror of the protocol."""

import json
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from assent.wire import CLIENT_REQUESTS, SERVER_NOTIFICATIONS, SERVER_REQUESTS, asks, events, requests, results
from assent.wire.shapes import Wire

ROOT = Path(__file__).parent.parent.parent
EXTENSION = ROOT / "vscode-extension"
PROTOCOL = "\n".join(path.read_text(encoding="utf-8") for path in sorted((EXTENSION / "src" / "protocol").glob("*.ts")))

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


def test_typescript_mirrors_every_method_of_the_wire() -> None:
    mirrored = set(re.findall(r'"(assent/[\w/]+)"', PROTOCOL))
    assert mirrored == {*CLIENT_REQUESTS, *SERVER_REQUESTS, *SERVER_NOTIFICATIONS}


def _structs() -> list[type[Wire]]:
    modules = (requests, results, asks, events)
    found = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    return sorted(
        (cls for cls in found if issubclass(cls, Wire) and cls.__name__ not in ("Wire", "Event")),
        key=lambda cls: cls.__name__,
    )


@pytest.mark.parametrize("struct", _structs(), ids=lambda cls: cast("type[Wire]", cls).__name__)
def test_typescript_mirrors_the_shape(struct: type[Wire]) -> None:
    match = re.search(rf"^export interface {struct.__name__} \{{\n(.*?)^\}}", PROTOCOL, re.MULTILINE | re.DOTALL)
    assert match, f"src/protocol has no interface {struct.__name__}"
    theirs = {name: bool(optional) for name, optional in re.findall(r"^  (\w+)(\?)?:", match.group(1), re.MULTILINE)}
    theirs.pop("type", None)
    ours = {field.encode_name: not field.required for field in msgspec.structs.fields(struct)}
    assert theirs == ours


def test_node_is_there_to_build_with() -> None:
    assert shutil.which("node") and shutil.which("npm"), "install Node 20 or newer"
