"""The pages of docs/ and the README: no dead link, no page outside the site's list, and the blocks that can run do.

A fenced block of Python or of shell lines has a mark on the line before it: `<!-- run -->`, `<!-- install -->` for lines
that test_install_lines.py runs against an index on loopback, or `<!-- outside: why -->` for what needs another host or an
editor. `python tests/docs/test_pages.py` lists the latter.
"""

import ast
import asyncio
import inspect
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [*sorted(DOCS.glob("*.md")), README]
GENERATED = {"api.md", "protocol.md", "settings.md"}
RUNNABLE = ("python", "sh", "console", "bash")
FENCE = re.compile(
    r"^(?P<mark><!--[^\n]*-->\n)?(?P<fence>```+)(?P<kind>[\w!-]*)[^\n]*\n(?P<text>.*?)^(?P=fence)[ ]*$", re.M | re.S
)
LINK = re.compile(r"(?<!\\)\[[^\]\n]*\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    page: str
    kind: str
    mark: str
    text: str


def blocks() -> list[Block]:
    return [
        Block(page=page.name, kind=found["kind"], mark=(found["mark"] or "").strip("<>!- \n"), text=found["text"])
        for page in PAGES
        if page.name not in GENERATED
        for found in FENCE.finditer(page.read_text())
        if found["kind"] in RUNNABLE
    ]


def outside() -> list[Block]:
    return [each for each in blocks() if each.mark.startswith("outside: ")]


def to_run(*kinds: str) -> dict[str, list[Block]]:
    found: dict[str, list[Block]] = {}
    for each in blocks():
        if each.mark == "run" and each.kind in kinds:
            found.setdefault(each.page, []).append(each)
    return found


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them, by the rule that GitHub and MkDocs share for plain words."""
    text = FENCE.sub("", page.read_text())
    words = [re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", each) for each in re.findall(r"^#+ +(.+)$", text, re.M)]
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", each).strip().lower()) for each in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_link_is_dead(page: Path) -> None:
    dead: list[str] = []
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text()))
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (page != README and not file.is_relative_to(DOCS)):
            dead.append(target)  # the site has only what is in docs/
        elif anchor and anchor not in anchors(file):
            dead.append(target)
    assert dead == []


def test_every_page_is_in_the_sites_list_once() -> None:
    listed = re.findall(r"^ +- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    assert sorted(listed) == sorted(page.name for page in DOCS.glob("*.md"))


def test_every_block_that_could_run_says_whether_it_does() -> None:
    marks = ("run", "install")
    unmarked = [(each.page, each.text[:60]) for each in blocks() if each.mark not in marks and each not in outside()]
    assert unmarked == []
    assert sum(len(each) for each in to_run(*RUNNABLE).values()) >= 10
    assert len(outside()) <= 3  # the rest must be shown to work


def test_the_moving_picture_is_small_and_moves() -> None:
    assert "](docs/review.webp)" in README.read_text() and "](review.webp)" in (DOCS / "index.md").read_text()
    picture = (DOCS / "review.webp").read_bytes()
    assert picture[:4] == b"RIFF" and picture[8:12] == b"WEBP"
    assert picture.count(b"ANMF") >= 10 and len(picture) <= 1_500_000


@pytest.mark.parametrize("page", sorted(to_run("python")))
def test_the_python_of_a_page_runs_from_top_to_bottom(
    page: str, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    names: dict[str, Any] = {"__name__": "page"}
    for each in to_run("python")[page]:
        code = compile(each.text, page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        waiting = eval(code, names)
        if inspect.iscoroutine(waiting):
            asyncio.run(waiting)
    assert names["options"].hooks["PreToolUse"][0].matcher == "Read|Grep"  # the last block was reached
    assert "Hello" in (project / "greeter.py").read_text()  # and the conversation did what it says
    said = capsys.readouterr().out
    assert "completed [] greeter.py is Python, 2 lines." in said  # and so did the engine without a session
    assert "completed ['Edit'] I did not change greeter.py: this engine only reads" in said


@pytest.mark.parametrize("page", sorted(to_run("sh", "console", "bash")))
def test_the_shell_lines_of_a_page_run(page: str, project: Path) -> None:
    (project / ".venv").symlink_to(sys.prefix)  # as in a checkout after its set-up
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for each in to_run("sh", "console", "bash")[page]:
        text = each.text
        if each.kind == "console":
            text = "\n".join(line[2:] for line in text.splitlines() if line.startswith("$ "))
        assert text.strip()
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=project,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0 and done.stdout.strip(), f"{text}\n{done.stdout}{done.stderr}"


def test_the_reference_is_that_of_the_sources() -> None:
    done = subprocess.run(
        [sys.executable, "-I", ROOT / ".ci" / "reference.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_options_of_ask_are_all_on_the_page_and_no_others() -> None:
    program = Path(sys.executable).with_name("assent")
    said = subprocess.run([program, "ask", "--help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"(--[a-z][a-z-]+)", said)) - {"--help", "--json-schema"}
    table = (DOCS / "automation.md").read_text().split("## Options")[1].split("## Exit codes")[0]
    assert set(re.findall(r"`(--[a-z][a-z-]+)", table)) == known


if __name__ == "__main__":
    for each in outside():
        sys.stdout.write(f"{each.page}: {each.mark}: {each.text.splitlines()[0]}\n")
