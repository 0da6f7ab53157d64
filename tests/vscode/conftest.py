"""The extension, built once for all tests here; and the tools of the real workbench, fetched once for all runs."""

import contextlib
import fcntl
import hashlib
import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
EXTENSION = ROOT / "vscode-extension"


def run(*command: str | Path, cwd: Path, timeout: float, env: dict[str, str] | None = None) -> str:
    """The command's output; a failure shows its end, in the test's own words."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except FileNotFoundError:
        pytest.fail(f"{command[0]} is not installed. The VS Code tests need Node 20 or newer with npm on PATH.")
    if done.returncode != 0:
        pytest.fail(f"{' '.join(map(str, command))} failed:\n{(done.stdout + done.stderr)[-6000:]}")
    return done.stdout


@contextlib.contextmanager
def alone() -> Generator[None]:
    """One at a time, also among several runs of the tests in this folder: they share the packages and the build."""
    with (EXTENSION / "package-lock.json").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def packages() -> Path:
    """The extension's folder with its packages in place, exactly as its lock file says."""
    stamp = EXTENSION / "node_modules" / ".assent-lock"
    digest = hashlib.sha256((EXTENSION / "package-lock.json").read_bytes()).hexdigest()
    with alone():
        if not stamp.exists() or stamp.read_text() != digest:
            run("npm", "ci", "--no-audit", "--no-fund", cwd=EXTENSION, timeout=400)
            stamp.write_text(digest)
    return EXTENSION


@pytest.fixture(scope="session")
def built(packages: Path) -> Path:
    with alone():
        run("npm", "run", "build", cwd=packages, timeout=120)
    return packages


@pytest.fixture(scope="session")
def package(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension as it is shipped."""
    target = tmp_path_factory.mktemp("package") / "assent.vsix"
    with alone():
        run("npm", "run", "package", "--", str(target), cwd=built, timeout=240)
    return target
