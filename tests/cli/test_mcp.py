"""`assent mcp` from a terminal: the real program, a real server (T9)."""

import json
import os
import subprocess
import sys
from pathlib import Path

from mcpserver import entry


def assent(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(place), "ASSENT_OFFLINE": "1"}
    env |= {"XDG_CONFIG_HOME": str(place / "config"), "XDG_DATA_HOME": str(place / "data")}
    command = [sys.executable, "-I", "-m", "assent.cli.main", "mcp", *words]
    return subprocess.run(command, env=env, cwd=place, capture_output=True, text=True, timeout=120)


def test_servers_are_listed_tested_and_switched_off(tmp_path: Path) -> None:
    file = tmp_path / "config" / "assent" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"mcpServers": {"plain": entry()}}))
    assert "plain: idle (user, stdio)" in assent(tmp_path, "list").stdout
    tested = assent(tmp_path, "test", "plain")
    assert (tested.returncode, "connected" in tested.stdout, "9 tools" in tested.stdout) == (0, True, True)
    assert "disabled" in assent(tmp_path, "disable", "plain").stdout
    listed = json.loads(assent(tmp_path, "list", "--json").stdout)
    assert [(each["name"], each["status"]) for each in listed] == [("plain", "disabled")]


def test_an_unknown_server_and_a_missing_name_are_refused_in_words(tmp_path: Path) -> None:
    unknown = assent(tmp_path, "test", "nope")
    assert unknown.returncode == 1 and "There is no MCP server nope" in unknown.stderr
    missing = assent(tmp_path, "test")
    assert missing.returncode == 2 and "needs the name of a server" in missing.stderr
