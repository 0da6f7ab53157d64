"""What the editor holds unsaved IS the file, for Grep and Glob too, with ripgrep and without (T3, T4)."""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assent.tools.files.disk_workspace import DiskWorkspace
from assent.tools.glob import Glob
from assent.tools.grep import Grep
from assent.tools.search import ripgrep
from toolbox import Toolbox

RG = ripgrep.system_program()


class Buffers(DiskWorkspace):
    """The disk, and an editor's texts that are not on it yet."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def unsaved(self) -> Mapping[str, str]:
        return self.texts


class Box(Toolbox):
    def __init__(self, root: Path, rg: str | None, may_read: ripgrep.MayRead = ripgrep.everything) -> None:
        self.buffers = Buffers()
        tools = [Glob(may_read=may_read, find_rg=lambda: rg), Grep(may_read=may_read, find_rg=lambda: rg)]
        super().__init__(root, tools=tools, workspace=self.buffers)

    def file(self, name: str, text: str, *, age: int = 0) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")
        os.utime(path, (1_000_000 - age, 1_000_000 - age))

    def type(self, name: str, text: str) -> None:
        self.buffers.texts[str(self.root / name)] = text


@pytest.fixture(params=["rg", "plain python"])
async def box(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Box]:
    assert RG is not None
    root = tmp_path / "project"
    root.mkdir()
    box = Box(root, RG if request.param == "rg" else None)
    yield box
    await box.jobs.close()


async def test_what_was_typed_is_found_and_what_was_deleted_is_not(box: Box) -> None:
    box.file("old.py", "needle\n")
    box.file("new.py", "nothing\n")
    box.type("old.py", "gone\n")
    box.type("new.py", "a\nneedle typed\nb\n")
    assert await box.text("Grep", pattern="needle") == "new.py"
    assert await box.text("Grep", pattern="needle", output_mode="content", **{"-C": 1}) == (
        "new.py-1-a\nnew.py:2:needle typed\nnew.py-3-b"
    )
    assert await box.text("Grep", pattern="needle", output_mode="count") == "new.py:1"
    assert "Nothing matches" in await box.text("Grep", pattern="nothing")
    assert await box.text("Grep", pattern="needle", path="new.py") == "new.py"
    assert "Nothing matches" in await box.text("Grep", pattern="needle", path="old.py")


async def test_unsaved_files_come_first_and_count_in_the_limits(box: Box) -> None:
    for number in range(5):
        box.file(f"{number}.txt", "needle\n", age=number)
    box.type("4.txt", "needle\nneedle\n")
    assert await box.text("Grep", pattern="needle") == "4.txt\n0.txt\n1.txt\n2.txt\n3.txt"
    assert await box.text("Grep", pattern="needle", output_mode="count", head_limit=2) == (
        "4.txt:2\n0.txt:1\n[Cut here: 6 matches in 5 files in all. Narrow the search, or raise head_limit]"
    )
    assert await box.text("Glob", pattern="*.txt") == "4.txt\n0.txt\n1.txt\n2.txt\n3.txt"


async def test_a_file_that_was_never_saved_is_found_by_name_and_by_content(box: Box) -> None:
    box.file("a.py", "x\n")
    box.type("src/new/b.py", "needle\n")
    box.type("src/c.ts", "needle\n")
    assert await box.text("Glob", pattern="**/*.py") == "src/new/b.py\na.py"
    assert await box.text("Glob", pattern="src/**/*.py") == "src/new/b.py"
    assert await box.text("Grep", pattern="needle", type="py") == "src/new/b.py"
    assert await box.text("Grep", pattern="needle", glob="*.ts") == "src/c.ts"
    assert await box.text("Grep", pattern="needle", glob="!*.ts") == "src/new/b.py"
    assert await box.text("Grep", pattern="needle", path="src/new/b.py", output_mode="content") == (
        "src/new/b.py:1:needle"
    )


async def test_what_a_search_leaves_out_stays_out_when_it_is_unsaved(box: Box) -> None:
    box.file(".gitignore", "*.log\n/build/\n!keep.log\n")
    box.file("src/.ignore", "secret\n")
    (box.root / ".git" / "info").mkdir(parents=True)
    (box.root / ".git" / "info" / "exclude").write_text("private.py\n")
    kept = ("keep.log", "src/build/y.py", "a.py", "a/a")
    for name in (*kept, "drop.log", "build/x.py", "src/secret", "src/secret2/../secret", ".git/config", "private.py"):
        box.type(name, "needle\n")
    box.type("../outside.py", "needle\n")
    found = await box.text("Grep", pattern="needle")
    assert set(found.split("\n")) == set(kept)
    assert set((await box.text("Glob", pattern="*")).split("\n")) == {*kept, ".gitignore", "src/.ignore"}


async def test_names_that_links_lead_to_are_one_file(box: Box, tmp_path: Path) -> None:
    box.file("a.py", "old\n")
    (tmp_path / "link").symlink_to(box.root)
    box.buffers.texts[str(tmp_path / "link" / "a.py")] = "needle\n"
    assert await box.text("Grep", pattern="needle|old", output_mode="content") == "a.py:1:needle"
    assert await box.text("Grep", pattern="needle", path="a.py", output_mode="count") == "a.py:1"
    (box.root / "outward.py").symlink_to(tmp_path / "elsewhere.py")
    box.type("outward.py", "needle elsewhere\n")
    assert await box.text("Grep", pattern="needle") == "a.py"


async def test_an_unsaved_ignore_file_and_odd_names_do_no_harm(box: Box) -> None:
    box.type(".gitignore", "needle.py\n*\n")
    box.type("needle.py", "needle\r\nlast")
    box.type("a", "needle")
    box.type("a/b", "needle")
    box.type("zero\0byte", "needle")
    box.type("-e", "needle \ud800")
    found = set((await box.text("Grep", pattern="needle", output_mode="content")).split("\n"))
    assert {"needle.py:1:needle", "a:1:needle", "a/b:1:needle"} <= found
    assert any(line.startswith("-e:1:needle") for line in found)


async def test_unsaved_text_that_may_not_be_read_is_not_shown(tmp_path: Path) -> None:
    def no_env() -> Callable[[str], bool]:
        return lambda path: not path.endswith(".env")

    box = Box(tmp_path, RG, may_read=no_env)
    box.type(".env", "needle\n")
    box.type("a.txt", "needle\n")
    assert await box.text("Grep", pattern="needle", output_mode="content") == "a.txt:1:needle"
    assert await box.text("Glob", pattern="*") == "a.txt"
    await box.jobs.close()


texts = st.sampled_from(["needle\n", "x\nNEEDLE here\r\nneedle", "", "a\nneedle\nb\nneedle\nneedle\n", "e\nn\n"])
names = st.sampled_from(["a", "b.py", "src/c.log", "src/b.py", "build/d.py", ".e", "é.py"])


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    disk=st.dictionaries(names, texts, max_size=6),
    typed=st.dictionaries(names, texts, min_size=1, max_size=4),
    rules=st.sampled_from(["", "*.log\n", "build\n", "src/*\n!src/b.py\n"]),
    rg=st.sampled_from([RG, None]),
)
async def test_a_search_finds_what_it_would_find_if_all_were_saved(
    tmp_path_factory: pytest.TempPathFactory,
    disk: dict[str, str],
    typed: dict[str, str],
    rules: str,
    rg: str | None,
) -> None:
    editing, saved = (Box(tmp_path_factory.mktemp("tree"), rg) for _ in range(2))
    for box in (editing, saved):
        box.file(".gitignore", rules, age=1_000)
    for name, text in disk.items():
        editing.file(name, text, age=100)
        saved.file(name, text, age=100)
    for name, text in typed.items():
        editing.type(name, text)
        saved.file(name, text, age=0)
    searches: list[tuple[str, dict[str, object]]] = [
        ("Glob", {"pattern": "**/*"}),
        ("Grep", {"pattern": "needle"}),
        ("Grep", {"pattern": "needle", "output_mode": "count", "-i": True, "glob": "*.py"}),
        ("Grep", {"pattern": "needle$", "output_mode": "content", "-A": 1, "type": "py"}),
        ("Grep", {"pattern": "e.n", "output_mode": "content", "multiline": True, "head_limit": 2}),
    ]
    try:
        for tool, raw in searches:
            ours = (await editing.text(tool, **raw)).replace(str(editing.root), "")
            assert ours == (await saved.text(tool, **raw)).replace(str(saved.root), ""), (tool, raw)
    finally:
        await editing.jobs.close()
        await saved.jobs.close()
