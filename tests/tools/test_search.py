"""Glob and Grep: what they find, in which order, how much of it, and the same without ripgrep (T4)."""

import os
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assent.tools.glob import Glob
from assent.tools.grep import Grep
from assent.tools.search import ripgrep
from assent.types.errors import ToolError
from oddfiles import ODD, put
from toolbox import Toolbox, gone

RG = ripgrep.system_program()


@pytest.fixture(params=["rg", "plain python"])
async def found(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Toolbox]:
    """A toolbox that searches with ripgrep, then one that has none."""
    assert RG is not None
    rg = RG if request.param == "rg" else None
    root = tmp_path / "project"
    root.mkdir()
    box = Toolbox(root, tools=[Glob(find_rg=lambda: rg), Grep(find_rg=lambda: rg)])
    yield box
    await box.jobs.close()


def _tree(root: Path, *paths: str) -> None:
    """Files whose age grows with their place in the list: the first is the newest."""
    for age, path in enumerate(paths):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.write_text(f"content of {path}\n")
        os.utime(file, (1_000_000 - age, 1_000_000 - age))


async def test_files_are_found_by_pattern_newest_first(found: Toolbox) -> None:
    _tree(found.root, "src/b.py", "a.py", "src/deep/c.py", "src/d.ts", ".hidden.py")
    assert await found.text("Glob", pattern="**/*.py") == "src/b.py\na.py\nsrc/deep/c.py\n.hidden.py"
    assert await found.text("Glob", pattern="*.py") == "src/b.py\na.py\nsrc/deep/c.py\n.hidden.py"
    assert await found.text("Glob", pattern="src/*.{py,ts}") == "src/b.py\nsrc/d.ts"
    assert await found.text("Glob", pattern="src/**/[cd].*") == "src/deep/c.py\nsrc/d.ts"
    assert await found.text("Glob", pattern="*.py", path="src/deep") == "src/deep/c.py"
    assert await found.text("Glob", pattern=f"{found.root}/src/*.py") == "src/b.py"
    assert await found.text("Glob", pattern="./src/?.ts") == "src/d.ts"
    assert "No files match" in await found.text("Glob", pattern="*.rs")


async def test_ignored_files_and_repositories_insides_are_left_out(found: Toolbox) -> None:
    _tree(found.root, "keep.log", "drop.log", "build/x.py", "src/build/y.py", "src/gen/z.py", ".git/config.py", "a.py")
    (found.root / ".gitignore").write_text("*.log\n!keep.log\n/build/\n# comment\n")
    (found.root / "src/.gitignore").write_text("gen\n")
    assert await found.text("Glob", pattern="**/*.py") == "src/build/y.py\na.py"
    assert await found.text("Glob", pattern="*.log") == "keep.log"
    assert await found.text("Glob", pattern="*.py", path="src") == "src/build/y.py"
    assert await found.text("Grep", pattern="content") == "keep.log\nsrc/build/y.py\na.py"


@pytest.mark.parametrize("rules", [".gitignore", ".ignore", ".rgignore"])
async def test_rules_above_the_folder_that_is_searched_count_there_too(found: Toolbox, rules: str) -> None:
    _tree(found.root, "src/a.py", "src/drop.py", "src/deep/drop.py", "src/gen/c.py")
    (found.root / rules).write_text("drop.py\n/src/gen\n")
    for where in ({"path": "src"}, {"pattern": "src/**/*.py"}):
        assert await found.text("Glob", **({"pattern": "*.py"} | where)) == "src/a.py"
    assert await found.text("Grep", pattern="content", path="src") == "src/a.py"
    found.state.cwd = str(found.root / "src" / "deep")
    assert "Nothing matches" in await found.text("Grep", pattern="content")
    assert "No files" in await found.text("Glob", pattern="*.py")


async def test_a_pattern_cannot_climb_after_a_wildcard(found: Toolbox) -> None:
    _tree(found.root, "a.py", "sub/b.py")
    found.state.cwd = str(found.root / "sub")
    assert await found.text("Glob", pattern="../*.py") == str(found.root / "a.py")
    assert "cannot follow a wildcard" in await found.error("Glob", pattern="*/../*.py")


async def test_many_files_are_capped_and_counted(found: Toolbox) -> None:
    for number in range(250):
        (found.root / f"{number}.txt").write_text("x")
    text = await found.text("Glob", pattern="*.txt")
    assert text.count("\n") == 200
    assert text.endswith("[200 of 250 files, the newest; use a narrower pattern for others]")
    assert (await found.text("Grep", pattern="x", head_limit=3)).endswith(
        "[Cut here: 250 files in all. Narrow the search, or raise head_limit]"
    )


async def test_links_are_not_followed(found: Toolbox, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("needle")
    (found.root / "link").symlink_to(outside)
    (found.root / "direct.py").symlink_to(outside / "secret.py")
    (found.root / "round").symlink_to(found.root)
    assert "No files" in await found.text("Glob", pattern="**/*.py")
    assert "Nothing matches" in await found.text("Grep", pattern="needle")


async def test_lines_come_with_names_numbers_and_surroundings(found: Toolbox) -> None:
    (found.root / "a.txt").write_text("one\ntwo\nthree\nfour\nfive\nsix\nseven\n")
    assert await found.text("Grep", pattern="t[wh]", output_mode="content") == "a.txt:2:two\na.txt:3:three"
    assert await found.text("Grep", pattern="TWO", output_mode="content", **{"-i": True, "-n": False}) == "a.txt:two"
    assert await found.text("Grep", pattern="two|six", output_mode="content", **{"-A": 1, "-B": 1}) == (
        "a.txt-1-one\na.txt:2:two\na.txt-3-three\n--\na.txt-5-five\na.txt:6:six\na.txt-7-seven"
    )
    assert await found.text("Grep", pattern="four", output_mode="content", path="a.txt", **{"-C": 1}) == (
        "a.txt-3-three\na.txt:4:four\na.txt-5-five"
    )


async def test_matches_can_span_lines(found: Toolbox) -> None:
    (found.root / "a.txt").write_text("start {\n  inner\n}\nother\n")
    text = await found.text("Grep", pattern=r"start \{.*?\}", output_mode="content", multiline=True)
    assert text == "a.txt:1:start {\na.txt:2:  inner\na.txt:3:}"
    assert "Nothing" in await found.text("Grep", pattern=r"start \{.*?\}", output_mode="content")


async def test_counts_types_and_globs_narrow_the_search(found: Toolbox) -> None:
    _tree(found.root, "a.py", "b.ts", "src/c.py", "src/d.test.py")
    (found.root / "a.py").write_text("content\ncontent\n")
    os.utime(found.root / "a.py", (2_000_000, 2_000_000))
    assert await found.text("Grep", pattern="content", output_mode="count", type="py") == (
        "a.py:2\nsrc/c.py:1\nsrc/d.test.py:1"
    )
    assert await found.text("Grep", pattern="content", glob="*.ts") == "b.ts"
    assert await found.text("Grep", pattern="content", glob="src/*.py") == "src/c.py\nsrc/d.test.py"
    assert await found.text("Grep", pattern="content", glob="!*.test.py", type="py") == "a.py\nsrc/c.py"
    assert await found.text("Grep", pattern="content", glob="*.{ts,js}", type="ts") == "b.ts"


async def test_binary_files_are_skipped_unless_named(found: Toolbox) -> None:
    (found.root / "a.bin").write_bytes(b"needle\n\0\n")
    (found.root / "b.txt").write_text("needle\n")
    assert await found.text("Grep", pattern="needle") == "b.txt"
    assert await found.text("Grep", pattern="needle", path="a.bin", output_mode="content") == "a.bin:1:needle"


async def test_names_and_lines_that_are_no_utf_8_are_shown_as_text(found: Toolbox) -> None:
    (found.root / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"na\xefve needle\n")
    assert await found.text("Glob", pattern="*.txt") == "caf\ufffd.txt"
    assert await found.text("Grep", pattern="needle", output_mode="content") == "caf\ufffd.txt:1:na\ufffdve needle"


async def test_long_lines_are_cut(found: Toolbox) -> None:
    (found.root / "min.js").write_text("needle" + "x" * 10_000)
    text = await found.text("Grep", pattern="needle", output_mode="content")
    assert len(text) < 600
    assert text.endswith("x […]")


@pytest.mark.parametrize("raw", [{"pattern": "("}, {"pattern": "x", "type": "nope"}, {"pattern": "x", "path": "gone"}])
async def test_what_cannot_be_searched_is_told(found: Toolbox, raw: dict[str, str]) -> None:
    assert await found.error("Grep", **raw)


async def test_a_pattern_or_path_is_never_taken_for_a_flag(found: Toolbox) -> None:
    (found.root / "--pre=touch x").write_text("--files here\n")
    assert await found.text("Grep", pattern="--files") == "--pre=touch x"
    assert await found.text("Grep", pattern="--files", path="--pre=touch x") == "--pre=touch x"
    assert await found.text("Glob", pattern="--pre*") == "--pre=touch x"
    assert sorted(p.name for p in found.root.iterdir()) == ["--pre=touch x"]


async def test_a_configuration_file_of_the_environment_is_not_read(
    found: Toolbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rc").write_text("--files-without-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    (found.root / "a.txt").write_text("needle")
    assert await found.text("Grep", pattern="needle") == "a.txt"


def _no_env() -> Callable[[str], bool]:
    return lambda path: not path.endswith(".env")


async def test_files_the_model_may_not_read_are_not_shown(tmp_path: Path) -> None:
    _tree(tmp_path, "a.txt", ".env")
    box = Toolbox(tmp_path, tools=[Glob(may_read=_no_env), Grep(may_read=_no_env)])
    assert await box.text("Glob", pattern="*") == "a.txt"
    assert await box.text("Grep", pattern="content") == "a.txt"
    assert await box.text("Grep", pattern="content", output_mode="content") == "a.txt:1:content of a.txt"
    await box.jobs.close()


async def test_a_search_without_a_session_cleans_up_after_itself(tmp_path: Path) -> None:
    _tree(tmp_path, "a.txt")
    box = Toolbox(tmp_path)
    output = await box.call_in(box.context(jobs=None), "Grep", {"pattern": "content"})
    assert output.content == "a.txt"


def _stand_in(folder: Path, script: str) -> str:
    """A program in the place of rg that misbehaves."""
    path = folder / "rg"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


async def test_a_search_that_takes_too_long_gives_what_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rg = _stand_in(tmp_path, "printf './hosts\\0'; exec sleep 1000")
    box = Toolbox(tmp_path, tools=[Glob(find_rg=lambda: rg), Grep(find_rg=lambda: rg)])
    for seconds in (1.0, 10.0, 100.0):  # a busy machine may need longer than the shortest to find anything
        monkeypatch.setattr(ripgrep, "SECONDS", seconds)
        text = await box.text("Grep", pattern="x")
        assert text.endswith("[The search was stopped early: it finds too much or takes too long. Narrow it]")
        cut = await box.text("Glob", pattern="/etc/*")
        if "hosts" in text and "hosts" in cut:
            break
    assert text.startswith("hosts\n[")
    assert "hosts" in cut and "cut short" in cut
    await box.jobs.close()


async def test_a_search_that_finds_too_much_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ripgrep, "OUTPUT", 1000)
    (tmp_path / "a.txt").write_text("needle\n" * 100_000)
    box = Toolbox(tmp_path)
    with anyio.fail_after(120):
        text = await box.text("Grep", pattern="needle", output_mode="content")
    assert text.endswith("Narrow it]")
    await box.jobs.close()


async def test_a_cancelled_search_leaves_no_process(tmp_path: Path) -> None:  # L14
    pid = tmp_path / "pid"
    os.mkfifo(pid)
    rg = _stand_in(tmp_path, f"echo $$ > {pid}; exec sleep 1000")
    box = Toolbox(tmp_path, tools=[Grep(find_rg=lambda: rg)])
    started = ""
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: box.call("Grep", pattern="x"))
        started = await anyio.to_thread.run_sync(pid.read_text)
        group.cancel_scope.cancel()
    await gone(int(started))
    await box.jobs.close()


async def test_a_program_that_cannot_be_run_is_told(tmp_path: Path) -> None:
    box = Toolbox(tmp_path, tools=[Grep(find_rg=lambda: "/nonexistent/rg")])
    assert "could not be run" in await box.error("Grep", pattern="x")
    await box.jobs.close()


names = st.sampled_from(["a", "b.py", "c.log", ".d", "é.py", "build", "x y.txt", "[z].py", "b.py.log"])
folders = st.lists(st.sampled_from(["src", "build", ".cfg", "deep"]), max_size=3).map("/".join)
rules = st.lists(
    st.sampled_from(
        [
            "*.log",
            "!c.log",
            "build",
            "/build",
            "build/",
            "src/*.py",
            "**/deep",
            "deep/**",
            "a",
            "/src/deep/a",
            ".d",
            "x\\ y.txt",
            "[ab]*",
            "!src",
        ]
    ),
    max_size=4,
).map("\n".join)
texts = st.sampled_from(
    ["needle\n", "x\nNEEDLE here\r\nneedle", "nothing", "", "a\nneedle\nb\nneedle\nneedle\n", "n\0needle"]
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    files=st.dictionaries(st.tuples(folders, names), texts, min_size=1, max_size=12),
    ignores=st.dictionaries(st.tuples(folders, st.sampled_from([".gitignore", ".ignore"])), rules, max_size=3),
    pattern=st.sampled_from(["**/*", "*.py", "src/**", "**/deep/*", "{a,*.log}", "**/[!b]*", "*/*"]),
    data=st.data(),
)
async def test_ripgrep_and_plain_python_agree_on_random_trees(
    tmp_path_factory: pytest.TempPathFactory,
    files: dict[tuple[str, str], str],
    ignores: dict[tuple[str, str], str],
    pattern: str,
    data: st.DataObject,
) -> None:
    root = tmp_path_factory.mktemp("tree")
    for (folder, name), text in {**files, **ignores}.items():
        path = root / folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue
        os.utime(path, (1, 1))
    boxes = [Toolbox(root, tools=[Glob(find_rg=lambda rg=rg: rg), Grep(find_rg=lambda rg=rg: rg)]) for rg in (RG, None)]
    searches: list[tuple[str, dict[str, object]]] = [
        ("Glob", {"pattern": pattern}),
        ("Grep", {"pattern": "needle"}),
        ("Grep", {"pattern": "needle", "output_mode": "count", "-i": True}),
        ("Grep", {"pattern": "needle$", "output_mode": "content", "-C": data.draw(st.integers(0, 2))}),
        ("Grep", {"pattern": "e.n", "output_mode": "content", "multiline": True, "glob": "*.py"}),
    ]
    try:
        for tool, raw in searches:
            answers: list[str] = []
            for box in boxes:
                try:
                    answers.append(await box.text(tool, **raw))
                except ToolError as error:
                    answers.append(f"error: {error}")
            assert answers[0] == answers[1], (tool, raw)
    finally:
        for box in boxes:
            await box.jobs.close()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("name", [".gitignore", ".ignore", ".git/info/exclude"])
async def test_a_rule_file_that_is_no_file_does_not_hold_a_search_up(tmp_path: Path, kind: str, name: str) -> None:
    root = tmp_path / "project"
    put(kind, root / name)
    (root / "plain").write_text("needle")
    box = Toolbox(root, tools=[Grep(find_rg=lambda: RG)])
    with anyio.fail_after(120):
        assert await box.text("Grep", pattern="needle") == "plain"
    await box.jobs.close()


@pytest.mark.timeout(300)
def test_the_memory_of_a_search_has_an_end(tmp_path: Path) -> None:
    assert RG is not None
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / ".gitignore").symlink_to("/dev/zero")
    (tmp_path / "deep" / "plain").write_text("needle")
    argv = ripgrep.bounded([RG, "--no-require-git", "needle"])
    assert subprocess.run(argv, cwd=tmp_path, capture_output=True, check=False).returncode != 0
