"""Our distribution is `assent-lsp`; the program and the import are `assent`. On PyPI, that name is taken by another project."""

import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parents[1]
SKIPPED = {".git", ".venv", "node_modules", ".cache", "dist", "out", ".pytest_cache", ".ruff_cache", ".hypothesis"}
COPIES = {ROOT / "vscode-extension" / name for name in ("CHANGELOG.md", "LICENSE")}  # made with the package
OTHER = "ass" + "ent"
NAMED = re.compile(
    rf"(?:pip3?|pipx|uv|uvx|npm|npx|poetry|conda)\s+(?:tool\s+)?(?:install|add|i)\b[^\n]*?[\s\"'`]{OTHER}(?![\w/-]|\.\w)"
    rf"|\b{OTHER}\[\w|pypi\.org/(?:project|simple)/{OTHER}(?![\w-])|(?:distribution|version|_needed)\([\"']{OTHER}[\"']\)"
)


def test_nothing_names_the_package_of_somebody_else() -> None:
    named: list[str] = []
    for path in sorted(ROOT.rglob("*")):
        if SKIPPED & set(path.relative_to(ROOT).parts) or not path.is_file() or path.stat().st_size > 2_000_000:
            continue
        if path in COPIES:
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        named += [f"{path.relative_to(ROOT)}: {found[0]}" for found in NAMED.finditer(text)]
    assert named == []


def test_the_check_would_find_it() -> None:
    for words in (
        f"pip install {OTHER}",
        f'pip install "{OTHER}[acp]"',
        f"pipx install {OTHER}.",
        f"uv tool install {OTHER}",
    ):
        assert NAMED.search(words), words
    for words in (
        "pip install assent-lsp",
        'pip install -e ".[acp]"',
        "pip install ./assent",
        "install assent-lsp[pdf]",
    ):
        assert not NAMED.search(words), words


def test_what_is_installed_here_is_ours_with_its_program() -> None:
    ours = distribution("assent-lsp")
    assert [entry.value for entry in ours.entry_points if entry.name == "assent"] == ["assent.cli.main:main"]


def test_an_environment_with_the_old_distribution_is_made_anew(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", str(venv)], check=True)
    packages = next(venv.glob("lib/python3*/site-packages"))
    old = packages / f"{OTHER}-0.1.0.dist-info"
    old.mkdir()
    (packages / "left-over.txt").touch()
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    (venv / ".installed").touch()  # newer than both: without the old distribution there would be nothing to do
    done = subprocess.run(
        [ROOT / ".ci" / "install", "venv", "venv/.installed", "./nowhere"],
        cwd=tmp_path,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHON": str(Path(sys.base_prefix, "bin", "python3")),
            "HOME": str(tmp_path),
            "PIP_NO_INDEX": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1  # there is nothing to install at ./nowhere
    assert "pip could not install that" in done.stderr
    assert not old.exists()
    assert not (packages / "left-over.txt").exists()
    assert (venv / "bin" / "pip").exists()
