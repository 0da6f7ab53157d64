"""What we keep is the user's alone: modes, links that lead elsewhere, and secrets in what outlives its moment."""

import json
import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.stdio import logs
from assent.storage.files import write_atomically
from assent.storage.history import FileHistory
from assent.storage.index import Index, Summary
from assent.storage.journal import Journal
from assent.storage.settings import SettingsFiles
from assent.storage.spill import SpillFolder
from assent.types.errors import SettingsError
from assent.types.ports import FileText
from assent.types.private_files import open_to_others, private_folder, tighten

TOKEN = "ghp" + "_" + "aB3" * 12


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    """A user whose new files everybody may read."""
    old = os.umask(0o022)
    yield
    os.umask(old)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_every_folder_that_is_made_on_the_way_is_private(tmp_path: Path) -> None:
    private_folder(tmp_path / "data" / "assent" / "sessions")
    made = [tmp_path / "data", tmp_path / "data" / "assent", tmp_path / "data" / "assent" / "sessions"]
    assert [mode(path) for path in made] == [0o700] * 3


def test_everything_the_storage_writes_is_the_users_alone(tmp_path: Path) -> None:
    data = tmp_path / "data" / "assent"
    SpillFolder(data / "a" / "results").write("t1", "text")
    Index(data).put(Summary(session_id="s1"))
    Journal(data / "sessions" / "k" / "s1.jsonl").close()
    write_atomically(data / "x" / "list.json", b"{}")
    history = FileHistory(data / "h" / "history")
    history.before("/p", FileText(path="/p", text="old", encoding="utf-8", bom=b"", sha256="", mtime_ns=0), at=0)
    history.close()
    logs.start_logging(data / "logs")
    logging.getLogger("assent.test").error("something")
    wide = [str(path) for path in open_to_others(data)]
    assert wide == []
    assert (data / "logs" / "server.log").is_file()


def test_what_was_open_to_others_before_is_closed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "sessions").mkdir(parents=True, mode=0o755)
    transcript = data / "sessions" / "s.jsonl"
    transcript.write_text("{}")
    outside = tmp_path / "outside"
    outside.write_text("not ours")
    (data / "link").symlink_to(outside)
    assert {path.name for path in open_to_others(data)} == {"data", "sessions", "s.jsonl"}
    assert tighten(data) == 3
    assert (mode(data), mode(transcript), mode(outside)) == (0o700, 0o600, 0o644)
    assert tighten(data) == 0


@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.parametrize("how", ["rule", "set"])
def test_a_projects_settings_that_link_elsewhere_are_not_written_through(tmp_path: Path, what: str, how: str) -> None:
    victim = tmp_path / "home" / "victim"
    victim.mkdir(parents=True)
    (victim / "settings.local.json").write_text('{"mine": true}')
    project = tmp_path / "project"
    project.mkdir()
    if what == "folder":
        (project / ".assent").symlink_to(victim)
    else:
        (project / ".assent").mkdir()
        (project / ".assent" / "settings.local.json").symlink_to(victim / "settings.local.json")
    files = SettingsFiles(config_dir=tmp_path / "config")
    with pytest.raises(SettingsError, match="is a symbolic link; nothing is written through it"):
        if how == "rule":
            files.add_rule("project", str(project), "allow", "Read")
        else:
            files.set("local", str(project), "model", "x")
    assert (victim / "settings.local.json").read_text() == '{"mine": true}'
    assert [path.name for path in victim.iterdir()] == ["settings.local.json"]


def test_a_link_that_leads_nowhere_yet_is_not_written_through_either(tmp_path: Path) -> None:
    (tmp_path / ".assent").mkdir()
    (tmp_path / ".assent" / "settings.local.json").symlink_to(tmp_path / ".bashrc")
    with pytest.raises(SettingsError):
        SettingsFiles(config_dir=tmp_path / "config").add_rule("project", str(tmp_path), "allow", "Read")
    assert not (tmp_path / ".bashrc").exists()


def test_the_users_own_settings_may_be_a_link_and_a_projects_keep_their_mode(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    kept = tmp_path / "dotfiles" / "settings.json"
    kept.write_text("{}")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.json").symlink_to(kept)
    files = SettingsFiles(config_dir=tmp_path / "config")
    files.add_rule("user", str(tmp_path), "allow", "Read")
    assert json.loads(kept.read_text()) == {"permissions": {"allow": ["Read"]}}
    assert (tmp_path / "config" / "settings.json").is_symlink()
    files.add_rule("project", str(tmp_path), "allow", "Read")
    assert mode(tmp_path / ".assent" / "settings.local.json") == 0o600


def test_index_spilled_results_and_log_hold_no_token(tmp_path: Path) -> None:
    SpillFolder(tmp_path / "results").write("t1", f"output {TOKEN} end")
    Index(tmp_path).put(Summary(session_id="s1", title=f"use {TOKEN}", text=f"please use {TOKEN} now"))
    logs.start_logging(tmp_path / "logs")
    logging.getLogger("assent.test").error("failed with %s and password=hunter2hunter2", TOKEN)
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(texts) == 3
    assert not any(TOKEN in text or "hunter2" in text for text in texts)
    assert "please use [redacted] now" in "".join(texts)
