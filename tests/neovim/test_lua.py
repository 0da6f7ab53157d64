"""The plugin's Lua: formatted, linted, and its pure parts tried out inside the real Neovim."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from nvimscreen import ROOT, program

pytestmark = pytest.mark.editor

PLUGIN = ROOT / "editors" / "neovim"
CACHE = Path(os.environ.get("ASSENT_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "assent-tests"))
STYLUA = "@johnnymorganz/stylua-bin@2.5.2"


def run(*command: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def stylua() -> Path:
    folder = CACHE.expanduser() / "stylua"
    found = folder / "node_modules" / ".bin" / "stylua"
    if not found.exists():
        assert shutil.which("npm"), "stylua is missing, and npm to get it: install Node.js with npm"
        got = run("npm", "install", "--no-audit", "--no-fund", "--prefix", folder, STYLUA)
        assert found.exists(), f"stylua could not be fetched by npm install {STYLUA}: {got.stderr}"
    return found


def luacheck() -> str:
    if not shutil.which("luacheck") and os.geteuid() == 0 and shutil.which("apt-get"):
        run("apt-get", "install", "-y", "--no-install-recommends", "lua-check")
    found = shutil.which("luacheck")
    assert found, "luacheck is missing: apt-get install lua-check, or luarocks install luacheck"
    return found


def test_the_lua_is_formatted() -> None:
    done = run(stylua(), "--check", "--config-path", PLUGIN / "stylua.toml", PLUGIN)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_lua_has_no_warnings() -> None:
    done = run(luacheck(), "--config", PLUGIN / ".luacheckrc", "--no-color", "-q", PLUGIN)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("version", ["0.10", pytest.param("0.11", marks=pytest.mark.torture), "0.12"])
def test_the_pure_parts_do_what_they_say(version: str, tmp_path: Path) -> None:
    homes = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **homes}
    suite = Path(__file__).parent / "lua" / "run.lua"
    done = run(program(version), "--clean", "--cmd", f"set rtp^={PLUGIN}", "-l", suite, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
