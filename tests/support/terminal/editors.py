"""Editors that run in a terminal, fetched for the tests."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]


def program(name: str) -> str:
    """The editor, fetched into the cache; another one can be named in the environment."""
    if named := os.environ.get(f"ASSENT_EDITOR_{name.upper()}"):
        return named
    found = subprocess.run([ROOT / "tests" / "editors" / "fetch.sh", name], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()
