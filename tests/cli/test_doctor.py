"""What `assent doctor` says about the surroundings of the program, each case with what to do."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assent.cli import surroundings
from oddfiles import put

ASSENT = str(Path(sys.executable).with_name("assent"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return tmp_path / "home"


def doctor(home: Path, **more: str) -> dict[str, list[dict[str, Any]]]:
    env = {"HOME": str(home), "PATH": f"{Path(ASSENT).parent}:/usr/bin:/bin", "ASSENT_OFFLINE": "1", **more}
    done = subprocess.run(
        [ASSENT, "doctor", "--json"], env=env, cwd=home.parent / "project", capture_output=True, text=True, timeout=120
    )
    found: dict[str, list[dict[str, Any]]] = {}
    for finding in json.loads(done.stdout):
        found.setdefault(finding["name"], []).append(finding)
    return found


def test_in_good_order_none_of_it_is_mentioned(home: Path) -> None:
    found = doctor(home)
    assert not {"package", "program", "path"} & found.keys()
    assert [finding["state"] for finding in found["settings"]] == ["ok"]
    assert [finding["state"] for finding in found["data"]] == ["ok"]


def test_another_program_of_our_name_is_told_and_never_started(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "assent").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (other / "assent").chmod(0o755)
    (told,) = doctor(home, PATH=f"{other}:{Path(ASSENT).parent}:/usr/bin:/bin")["program"]
    assert told["text"] == f"{other}/assent comes first on the PATH and is another program"
    assert "assent-lsp" in told["fix"]
    assert not (tmp_path / "ran").exists()
    assert surroundings.foreign_program(f"{Path(ASSENT).parent}:{other}") is None


def test_entries_of_the_path_that_do_not_count_are_named(home: Path) -> None:
    inside = home.parent / "project" / "bin"
    (told,) = doctor(home, PATH=f"{inside}::./bin:{Path(ASSENT).parent}:/usr/bin")["path"]
    assert str(inside) in told["text"] and "./bin" in told["text"] and "an empty entry" in told["text"]


def test_what_an_endpoint_was_found_not_to_take_is_told(home: Path) -> None:
    data = home / ".local/share/assent"
    data.mkdir(parents=True, mode=0o700)
    kept = {"anthropic http://127.0.0.1:8080": {"lacking": {"qwen3": ["cache", "thinking"]}}}
    (data / "models.json").write_text(json.dumps(kept))
    (told,) = doctor(home)["endpoint"]
    assert "qwen3 takes no prompt caching, thinking" in told["text"] and "models.json" in told["fix"]


def test_a_relative_pythonpath_is_told(home: Path) -> None:
    assert any("PYTHONPATH" in finding["text"] for finding in doctor(home, PYTHONPATH="lib")["python"])


def test_data_that_was_open_to_others_is_closed_and_told(home: Path) -> None:
    data = home / ".local" / "share" / "assent"
    data.mkdir(parents=True)
    data.chmod(0o755)
    (data / "x.jsonl").touch()
    (data / "x.jsonl").chmod(0o644)
    (told,) = doctor(home)["data"]
    assert "2 files and folders were open to other users; they are closed now" in told["text"]
    assert os.stat(data / "x.jsonl").st_mode & 0o777 == 0o600  # noqa: PTH116
    assert "yours alone" in doctor(home)["data"][0]["text"]


def test_settings_and_notes_that_are_no_files_or_lead_elsewhere_are_told(home: Path) -> None:
    project = home.parent / "project"
    put("fifo", project / "ASSENT.md")
    put("link-to-zero", project / ".mcp.json")
    (project / ".assent").symlink_to(home)
    found = doctor(home)
    assert any("named pipe" in finding["text"] for finding in found["memory"])
    told = [finding["text"] for finding in found["settings"]]
    assert any(".mcp.json: is a device" in text for text in told)
    assert any("is a symbolic link" in text for text in told)


def test_mcp_servers_are_named_and_one_whose_program_is_missing_is_a_problem(home: Path, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    program = tmp_path / "tool.sh"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    servers = {
        "there": {"command": str(program)},
        "gone": {"command": "no-such-program-here"},
        "wrong": {"type": "http"},
        "off": {"command": "no-such-program-here", "disabled": True},
    }
    settings = home / ".config" / "assent" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"mcpServers": servers}))
    (tmp_path / "project" / ".mcp.json").write_text(json.dumps({"mcpServers": {"theirs": {"command": "x"}}}))
    found = doctor(home)["mcp"]
    told = {each["text"].split(":")[0]: each for each in found}
    assert told["gone"]["state"] == "problem" and "no-such-program-here was not found" in told["gone"]["text"]
    assert "settings.json" in told["gone"]["fix"]
    assert told["wrong"]["state"] == "problem"
    (sound,) = [each["text"] for each in found if each["state"] == "ok"]
    assert "there" in sound and "off" in sound and "gone" not in sound
    (withheld,) = [each["text"] for each in found if each["state"] == "note"]
    assert "1 MCP server of this project withheld" in withheld and "theirs" not in withheld
    assert not mark.exists()  # nothing is started
