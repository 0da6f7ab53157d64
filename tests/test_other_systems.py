"""On a system without POSIX the program still imports, and `doctor` says what is absent."""

import subprocess
import sys

WITHOUT_POSIX = """
import importlib.util, pkgutil, sys
ABSENT = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
import anyio, asyncio, concurrent.futures, pathlib, shutil, subprocess, tempfile  # what Python itself brings there
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in ABSENT else found(name, package)
for name in ABSENT:
    sys.modules[name] = None
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-c", WITHOUT_POSIX + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_every_module_imports_where_there_is_no_posix() -> None:
    done = run("""
import assent
for module in pkgutil.walk_packages(assent.__path__, "assent."):
    if not module.name.startswith(("assent.acp", "assent.extensions.mcp.worker")):  # their libraries are POSIX-only
        __import__(module.name)
print("imported")
""")
    assert done.stdout.strip() == "imported", done.stderr[-2000:]


def test_doctor_names_what_such_a_system_lacks() -> None:
    done = run("""
from assent.cli import doctor
print(*[finding.text for finding in doctor._system()], sep="\\n")
""")
    assert "no file locks" in done.stdout, done.stderr[-2000:]
