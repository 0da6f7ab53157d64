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
