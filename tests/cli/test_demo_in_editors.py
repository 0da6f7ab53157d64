"""`assent demo --in nvim` and `--in code`: the same conversation, opened in an editor."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nvimscreen import program
from terminal import Terminal

DEMO = [sys.executable, "-P", "-m", "assent.cli.main", "demo", "--in"]
PACKAGE = Path(__file__).parents[2] / "server" / "assent"

CODE = """\
#!/bin/sh
printf '%s\\n' "$@" > "$HOME/arguments"
printf '%s' "$ASSENT_OFFLINE" > "$HOME/offline"
for last; do :; done
cp -r "$last" "$HOME/opened"
"""

NPM = """\
#!/bin/sh
echo "$*" >> "$HOME/npm"
if [ "$1" = run ]; then mkdir -p dist; : > dist/extension.js; fi
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "scratch").mkdir()
    kept = {name: value for name, value in os.environ.items() if name in ("LANG", "LC_ALL")}
    search = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    return {**kept, "PATH": search, "HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "scratch")}


@pytest.mark.editor
def test_in_neovim_the_same_conversation_is_had_and_the_scratch_project_goes_with_it(
    env: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "bin" / "nvim").symlink_to(program("0.10"))
    with Terminal([*DEMO, "nvim"], env=env, cwd=tmp_path, columns=160, rows=50) as screen:
        screen.see("find Helo, replace 'Helo' by 'Hello'", "Assent asks", "Edit greeter.py")
        screen.see('-     return f"Helo, {name}!"', '+     return f"Hello, {name}!"')
        screen.type(":Assent answer\r")
        screen.type("y")
        screen.see("$ make test", "is not known to be read-only")
        screen.type(":Assent answer\r")
        screen.type("y")
        screen.see("`make test` succeeded", "Ran 1 test")
        screen.type("\x1b:qa!\r")
        assert screen.process.wait(timeout=120) == 0
    assert list((tmp_path / "scratch").glob("assent-*")) == []


@pytest.fixture
def clone(env: dict[str, str], tmp_path: Path) -> Path:
    """A clone with this very package, whose extension nobody has built yet."""
    folder = tmp_path / "clone"
    (folder / "vscode-extension").mkdir(parents=True)
    (folder / "server").mkdir()
    (folder / "server" / "assent").symlink_to(PACKAGE)
    env["PYTHONPATH"] = str(folder / "server")
    return folder


def put(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(script)
    (folder / name).chmod(0o755)


def demo_in_code(env: dict[str, str], tmp_path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DEMO, "code"], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=120)


def test_in_code_the_extension_is_built_once_and_a_window_opens_on_the_scratch_project(
    env: dict[str, str], clone: Path, tmp_path: Path
) -> None:
    put(tmp_path / "bin", "code", CODE)
    put(tmp_path / "bin", "npm", NPM)
    home = tmp_path / "home"
    done = demo_in_code(env, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "find Helo, replace" in done.stdout
    wait, window, extension, folder = (home / "arguments").read_text().splitlines()
    assert (wait, window) == ("--wait", "--new-window")
    assert extension == f"--extensionDevelopmentPath={clone / 'vscode-extension'}"
    assert (home / "offline").read_text() == "1"
    assert (home / "opened" / "greeter.py").is_file()
    settings = json.loads((home / "opened" / ".vscode" / "settings.json").read_text())
    assert settings == {"assent.server.python": sys.executable}
    assert not Path(folder).exists()  # it goes when the window is closed
    assert demo_in_code(env, tmp_path).returncode == 0
    assert (home / "npm").read_text().splitlines() == ["ci --no-audit --no-fund", "run build"]


@pytest.mark.parametrize(
    ("npm", "words"), [("", "that needs npm"), ("#!/bin/sh\necho no such thing >&2\nexit 1\n", "no such")]
)
def test_in_code_an_extension_that_cannot_be_built_is_told_in_one_line(
    env: dict[str, str], clone: Path, tmp_path: Path, npm: str, words: str
) -> None:
    put(tmp_path / "bin", "code", CODE)
    if npm:
        put(tmp_path / "bin", "npm", npm)
    done = demo_in_code({**env, "PATH": f"{tmp_path / 'bin'}:/nonexistent"}, tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and words in done.stderr
