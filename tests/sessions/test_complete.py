"""Completion of @ files and / commands."""

from pathlib import Path
from typing import Any

import pytest

from assent.sessions.complete import FileList, best, fill, list_files
from assent.types.blocks import Json
from sessions.harness import running

COMMANDS: list[Json] = [
    {"name": "compact", "description": "Make room", "argumentHint": "[instructions]"},
    {"name": "cost", "description": "What it cost"},
    {"name": "my:context", "description": "What is in view"},
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    cwd = tmp_path / "project"
    for name in (
        "src/main.py",
        "src/parser.py",
        "src/deep/parse_tree.py",
        "docs/my notes.md",
        "README.md",
        ".git/HEAD",
        "out/skip.o",
    ):
        (cwd / name).parent.mkdir(parents=True, exist_ok=True)
        (cwd / name).write_text("x")
    (cwd / ".gitignore").write_text("out/\n")
    return tmp_path


async def completed(home: Path, text: str, offset: int | None = None) -> list[Json]:
    def commands(*_args: Any) -> list[Json]:
        return COMMANDS

    def roots() -> tuple[str, ...]:
        return (str(home / "project"),)

    async with running(home, commands=commands, roots=roots) as app:
        offset = len(text) if offset is None else offset
        return (await app.request("complete", text=text, offset=offset))["items"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("look at @pars", "@src/parser.py"),
        ("look at @src/deep", "@src/deep/"),
        ("(@READ", "@README.md"),
        ("@mynt", '@"docs/my notes.md"'),
        ('@"my no', '@"docs/my notes.md"'),
        ("@prstr", "@src/deep/parse_tree.py"),
    ],
)
async def test_files_are_found_by_name_path_and_scattered_letters(project: Path, text: str, first: str) -> None:
    assert (await completed(project, text))[0]["insertText"] == first


async def test_ignored_and_git_files_are_not_offered(project: Path) -> None:
    names = {item["insertText"] for item in await completed(project, "@")}
    assert "@src/main.py" in names
    assert not any("skip.o" in name or ".git/" in name for name in names)


@pytest.mark.parametrize(
    ("text", "offset"), [("mail me@pars", None), ("no sign", None), ("@pars here", None), ("x /co", None)]
)
async def test_ordinary_text_completes_to_nothing(project: Path, text: str, offset: int | None) -> None:
    assert await completed(project, text, offset) == []


async def test_only_what_stands_before_the_cursor_counts(project: Path) -> None:
    text = "🎉 @pars and more"
    assert (await completed(project, text, offset=8))[0]["insertText"] == "@src/parser.py"


async def test_without_a_folder_no_file_is_offered(tmp_path: Path) -> None:
    async with running(tmp_path, roots=lambda: ()) as app:
        assert (await app.request("complete", text="@e", offset=2))["items"] == []


async def test_commands_complete_at_the_start_only(project: Path) -> None:
    items = await completed(project, "/co")
    assert [item["insertText"] for item in items] == ["/compact ", "/cost", "/my:context"]
    assert items[0]["kind"] == "command" and items[0]["detail"] == "Make room"


def test_the_list_is_the_same_without_ripgrep(project: Path) -> None:
    from assent.sessions import complete

    walked = complete._by_walking(str(project / "project"))
    assert {"src/main.py", "docs/my notes.md"} <= set(walked)
    assert "src/" in list_files(str(project / "project"))


def test_a_files_own_name_goes_before_its_folders(project: Path) -> None:
    names = ["test/x.py", "src/test.py", "src/my_test_data.py", "test/"]
    files = FileList(str(project))
    fill(files, names)
    assert best(files, "test") == ["test/", "src/test.py", "src/my_test_data.py", "test/x.py"]


async def test_files_of_the_workspaces_other_folders_come_after_those_of_the_first(project: Path) -> None:
    library = project / "the library"
    library.mkdir()
    (library / "parser_notes.md").write_text("x")
    roots = (str(project / "project"), str(library))
    async with running(project, roots=lambda: roots) as app:
        items = (await app.request("complete", text="@pars", offset=5))["items"]
    assert items[0]["insertText"] == "@src/parser.py"
    other = items[-1]
    assert (other["label"], other["detail"]) == ("parser_notes.md", "the library")
    assert other["insertText"] == f'@"{library}/parser_notes.md"'
