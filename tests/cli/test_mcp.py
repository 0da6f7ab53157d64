"""`assent mcp` from a terminal: the real program, a real server (T9)."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from extensions.mcp.test_web import browse, redirected
from mcpserver import entry
from mcpserver.web import site


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


def test_servers_of_an_untrusted_project_are_counted_and_take_no_name_of_the_users(tmp_path: Path) -> None:
    file = tmp_path / "config" / "assent" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"mcpServers": {"plain": entry()}}))
    servers = {"plain": {"command": "./evil"}, "other": {"command": "./evil", "args": ["${HOME}"]}}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    shown = assent(tmp_path, "list").stdout
    assert "plain: idle (user, stdio)" in shown and "evil" not in shown and "other" not in shown
    assert "1 MCP server of this project withheld until you trust the folder" in shown
    listed = assent(tmp_path, "list", "--json")
    assert [each["name"] for each in json.loads(listed.stdout)] == ["plain"] and "withheld" in listed.stderr


def test_a_server_that_fails_its_test_is_shown_with_its_last_words(tmp_path: Path) -> None:
    file = tmp_path / "config" / "assent" / "settings.json"
    file.parent.mkdir(parents=True)
    broken = {"command": "sh", "args": ["-c", "echo the database is locked >&2; exit 3"]}
    file.write_text(json.dumps({"mcpServers": {"broken": broken}}))
    tested = assent(tmp_path, "test", "broken")
    assert tested.returncode == 1 and "failed" in tested.stdout
    assert "its last words on stderr:\nthe database is locked" in tested.stderr


def test_an_unknown_server_and_a_missing_name_are_refused_in_words(tmp_path: Path) -> None:
    unknown = assent(tmp_path, "test", "nope")
    assert unknown.returncode == 1 and "There is no MCP server nope" in unknown.stderr
    missing = assent(tmp_path, "test")
    assert missing.returncode == 2 and "needs the name of a server" in missing.stderr


def test_no_server_of_the_users_runs_what_an_untrusted_folder_lays_out(tmp_path: Path) -> None:
    """`python -m`, `npx` and plain names look into the working directory or along the PATH first."""
    folder = tmp_path / "project"
    tool, module = folder / "bin" / "tool-server", folder / "module_server.py"
    tool.parent.mkdir(parents=True)
    tool.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-by-path\n")
    tool.chmod(0o755)
    module.write_text(f"open({str(tmp_path / 'ran-as-module')!r}, 'w')\n")
    servers = {
        "module": {"command": sys.executable, "args": ["-m", "module_server"]},
        "dotted": {"command": sys.executable, "args": ["-m", "module_server"], "cwd": "."},
        "path": {"command": "tool-server"},
    }
    settings, trust = (tmp_path / "config" / "assent" / name for name in ("settings.json", "trust.json"))
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"mcpServers": servers}))
    env = {"PATH": f"{tool.parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "ASSENT_OFFLINE": "1"}
    env |= {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_DATA_HOME": str(tmp_path / "data")}

    def ran() -> set[str]:
        for name in servers:
            command = [sys.executable, "-I", "-m", "assent.cli.main", "mcp", "test", name]
            done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=120)
            assert "failed" in done.stdout
        return {path.name for path in tmp_path.glob("ran-*")}

    assert not ran()
    trust.write_text(json.dumps({"folders": {str(folder): True}}))
    assert ran() == {"ran-by-path", "ran-as-module"}  # in a trusted folder they start where they always did


@pytest.mark.parametrize("how", ["browser", "paste"])
def test_a_person_signs_in_from_a_terminal_and_need_not_press_a_key_when_the_browser_came_back(
    tmp_path: Path, how: str
) -> None:
    file = tmp_path / "config" / "assent" / "settings.json"
    file.parent.mkdir(parents=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "ASSENT_OFFLINE": "1", "ASSENT_MCP_KEYRING": "off"}
    env |= {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_DATA_HOME": str(tmp_path / "data")}
    command = [sys.executable, "-I", "-u", "-m", "assent.cli.main", "mcp", "sign-in", "web"]
    with site(oauth=True) as served:
        file.write_text(json.dumps({"mcpServers": {"web": {"type": "http", "url": f"{served.url}/mcp"}}}))
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, env=env, cwd=tmp_path, **pipes) as program:
            assert program.stdin is not None and program.stdout is not None
            assert "Open this address" in program.stdout.readline()
            address = program.stdout.readline().strip()
            if how == "browser":
                browse(address)
            else:
                program.stdin.write(redirected(address) + "\n")
                program.stdin.flush()
            assert program.wait(120) == 0, "its stdin is still open"
            assert "web: connected (user, http), 3 tools" in program.stdout.read()
