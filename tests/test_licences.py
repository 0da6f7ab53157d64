"""The licence check of `make check`: what it lets pass, and that it passes what we need today."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "licences.py"


def check() -> Any:
    spec = importlib.util.spec_from_file_location("licences", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "good", ["MIT", "Apache-2.0 OR GPL-2.0-only", "(MIT AND ISC) OR GPL-3.0", "BSD-3-Clause and MIT"]
)
def test_what_lets_us_choose_permissive_licences_passes(good: str) -> None:
    assert check().permissive(good)


@pytest.mark.parametrize(
    "bad", ["", "GPL-2.0-or-later", "MIT AND GPL-3.0", "(MIT OR ISC", "MPL-2.0 AND (MIT)", "UNKNOWN", "MIT)"]
)
def test_everything_else_fails(bad: str) -> None:
    assert not check().permissive(bad)


class Package:
    name, version = "gpl-thing", "1"
    metadata: ClassVar = {"License-Expression": "GPL-2.0-or-later"}


def test_a_package_that_is_not_permissive_is_named_with_its_licence() -> None:
    assert check().problems([Package()]) == ["gpl-thing 1: GPL-2.0-or-later is not permissive"]


def test_everything_we_need_at_run_time_is_permissive_or_excepted_by_name() -> None:
    done = subprocess.run([sys.executable, "-I", str(SCRIPT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    names = {package.name for package in check().needed("assent-lsp")}
    assert {"anthropic", "pygls", "h11", "agent-client-protocol"} <= names  # also what is needed by what we need
