"""The install lines of the README and the pages, each as printed, against the built wheel in an index on loopback."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import wheelhouse

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "editors").rglob("*.md"))]
LINE = re.compile(r"(?:uvx --from|uv tool install|pipx install|pip install) [\"']?assent-lsp[^`#\n]*")


def lines() -> dict[str, list[str]]:
    """Every install line that is printed anywhere, and where."""
    found: dict[str, list[str]] = {}
    for page in PAGES:
        for line in LINE.findall(page.read_text(encoding="utf-8")):
            found.setdefault(line.strip(), []).append(page.name)
    return found


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    wheels = tmp_path_factory.mktemp("wheels")
    wheelhouse.fill(wheels, "acp")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(wheels)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=300)
    assert list(wheels.glob("assent_lsp-*.whl"))
    with wheelhouse.index(wheels) as address:
        yield address


@pytest.fixture
def stranger(index: str, tmp_path: Path) -> dict[str, str]:
    """The environment of somebody who has Python, pip, uv and pipx, and nothing of ours."""
    home, bin = tmp_path / "home", tmp_path / "bin"
    for folder in (home, bin):
        folder.mkdir()
    tools = Path(sys.executable).parent
    for name in ("uv", "uvx", "pipx"):
        (bin / name).symlink_to(tools / name)
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    pip = environment / "bin" / "pip"  # the real one, which works on that environment
    pip.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pip --python "{environment}/bin/python" "$@"\n')
    pip.chmod(0o755)
    return {
        "PATH": f"{environment / 'bin'}:{home / '.local' / 'bin'}:{bin}:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PIP_INDEX_URL": index,
        "PIP_NO_CACHE_DIR": "1",
        "PIP_NO_COMPILE": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "UV_DEFAULT_INDEX": index,
        "UV_NO_CONFIG": "1",
        "UV_PYTHON": sys.executable,
        "UV_PYTHON_DOWNLOADS": "never",
    }


def test_every_kind_of_line_is_printed_somewhere() -> None:
    kinds = {line.split(" assent-lsp")[0].split(' "assent-lsp')[0] for line in lines()}
    assert kinds == {"uvx --from", "uv tool install", "pipx install", "pip install"}


def test_a_block_of_install_lines_holds_nothing_else() -> None:
    for page in PAGES:
        for block in re.findall(r"<!-- install -->\n```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            assert all(LINE.match(line) for line in block.splitlines()), block


# uv needs seconds for a line, pip half a minute: `make dist` runs those, too.
SLOW = [pytest.param(line, marks=pytest.mark.torture) for line in sorted(lines()) if line.startswith("pip ")]
QUICK = [line for line in sorted(lines()) if not line.startswith("pip ")]


@pytest.mark.parametrize("line", [*QUICK, *SLOW])
def test_an_install_line_works_as_printed(line: str, stranger: dict[str, str], tmp_path: Path) -> None:
    def run(words: str) -> str:
        done = subprocess.run(
            ["bash", "-euc", words],
            cwd=tmp_path,
            env=stranger,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout

    said = run(line)
    if line.startswith("uvx"):
        assert "Hello" in said  # the demo mended the typo of its scratch project
        return
    assert str(tmp_path) in run("command -v assent")
    assert "not a language model" in run("assent ask --offline hello")
    if "[acp]" in line:
        run("assent acp")  # a client that is gone before its first word
