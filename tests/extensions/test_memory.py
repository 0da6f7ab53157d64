"""Memory files: which are found, in which order, and what they may not reach (X, P14)."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.extensions.memory import MemoryFiles, as_context, refusals
from oddfiles import ODD, put


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id").write_text("PRIVATE")
    (tmp_path / "config").mkdir()
    (tmp_path / "work" / "app" / "src").mkdir(parents=True)
    return tmp_path


def files(home: Path) -> MemoryFiles:
    return MemoryFiles(user_dirs=[home / "config"], home=home)


async def test_the_users_notes_come_first_then_the_projects_from_the_outside_in(home: Path) -> None:
    (home / "config" / "ASSENT.md").write_text("mine")
    (home / "work" / "AGENTS.md").write_text("of all work")
    (home / "work" / "app" / "CLAUDE.md").write_text("of the app")
    (home / "AGENTS.md").write_text("home is no project")
    found = await files(home).load(str(home / "work" / "app"))
    assert [(file.scope, file.text) for file in found] == [
        ("user", "mine"),
        ("project", "of all work"),
        ("project", "of the app"),
    ]
    assert 'from="the user\'s own notes"' in as_context(found)


async def test_imports_are_followed_inside_the_project_and_not_out_of_it(home: Path) -> None:
    app = home / "work" / "app"
    (app / "ASSENT.md").write_text(
        "see\n@docs/style.md\n@~/.ssh/id\n@../../.ssh/id\n```\n@docs/not.md\n```\n@ASSENT.md\n"
    )
    (app / "docs").mkdir()
    (app / "docs" / "style.md").write_text("short lines")
    (app / "docs" / "not.md").write_text("inside a fence")
    (app / "AGENTS.md").symlink_to(home / ".ssh" / "id")
    found = await files(home).load(str(app))
    assert [Path(file.path).name for file in found if not file.refused] == ["ASSENT.md", "style.md"]
    assert "PRIVATE" not in as_context(found)


async def test_the_same_file_under_two_names_counts_once(home: Path) -> None:
    app = home / "work" / "app"
    (app / "AGENTS.md").write_text("once")
    (app / "CLAUDE.md").symlink_to(app / "AGENTS.md")
    assert len(await files(home).load(str(app))) == 1


async def test_nested_notes_are_those_between_the_project_and_the_file(home: Path) -> None:
    app = home / "work" / "app"
    (app / "AGENTS.md").write_text("top")
    (app / "src" / "AGENTS.md").write_text("of src")
    source = files(home)
    assert [file.text for file in await source.nested(str(app / "src" / "a.py"), str(app))] == ["of src"]
    assert await source.nested(str(app / "a.py"), str(app)) == []
    assert await source.nested("/etc/passwd", str(app)) == []


async def test_a_changed_file_is_read_again_and_an_unreadable_one_is_left_out(home: Path) -> None:
    import os

    app = home / "work" / "app"
    note = app / "ASSENT.md"
    note.write_text("one")
    (app / "AGENTS.md").mkdir()
    source = files(home)
    assert [file.text for file in await source.load(str(app)) if not file.refused] == ["one"]
    note.write_text("two")
    os.utime(note, ns=(1, 1))
    assert [file.text for file in await source.load(str(app)) if not file.refused] == ["two"]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ODD)
async def test_what_stands_where_notes_should_be_is_refused_at_once_and_told(home: Path, kind: str) -> None:
    app = home / "work" / "app"
    (app / "AGENTS.md").write_text("good")
    word = put(kind, app / "ASSENT.md")
    found = await files(home).load(str(app))
    assert as_context(found).count("<memory") == 1
    (told,) = refusals(found)
    assert str(app / "ASSENT.md") in told
    assert word in told or "leads out of the project" in told


async def test_a_link_out_of_the_project_is_told_and_not_read(home: Path) -> None:
    app = home / "work" / "app"
    (app / "ASSENT.md").symlink_to(home / ".ssh" / "id")
    found = await files(home).load(str(app))
    assert as_context(found) == ""
    assert refusals(found) == (f"{app}/ASSENT.md is not used as memory: it leads out of the project",)
