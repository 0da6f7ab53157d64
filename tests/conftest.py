"""How the tests are shared out when two run at a time, and what bounds a run that does not end.

A file stays together, and so does all that uses one workbench. A test that exceeds the `timeout` of pyproject.toml
fails and the next one runs; where even that does not help, the interpreter shows where it stands and is ended.
"""

import faulthandler
import os
import stat
import warnings
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

GRACE = 300  # seconds; a moment is what it takes
STDERR = pytest.StashKey[int]()

# Hypothesis bounds a single example by the wall clock, which says nothing on a busy machine. The
# test's own timeout stays, and so does what Hypothesis sets for CI.
settings.register_profile("assent", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("assent")


class _Files(LoadScopeScheduling):
    """Hands out whole files, so that what a file shares is made once."""

    def _split_scope(self, nodeid: str) -> str:
        # These build the extension in its own folder, which must not change under a workbench that runs it.
        return "vscode" if nodeid.startswith("tests/vscode/") else nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    return _Files(config, log)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[STDERR] = os.dup(2)  # the real one: while a test runs, 2 leads into its captured output


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool | None, bool | None]:
    """The failure of a test that hangs may hang again, in its clean-up; this is the end of that."""
    mark = item.get_closest_marker("timeout")
    bound = float(mark.args[0] if mark else item.config.getoption("timeout") or item.config.getini("timeout"))
    if bound > 0:  # zero, of the long seeded runs, means none
        _end_after(bound + GRACE, item.config)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(trylast=True)
def pytest_exception_interact(node: pytest.Item | pytest.Collector) -> None:
    """pytest itself takes such a bound off when something fails; the clean-up still needs one."""
    _end_after(GRACE, node.config)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """A thread that a test left behind would keep the interpreter, and the whole run, from ending."""
    if not hasattr(config, "workerinput"):  # a worker waits for its fellows, and is ended by the one that started it
        _end_after(GRACE, config)


def _end_after(seconds: float, config: pytest.Config) -> None:
    faulthandler.dump_traceback_later(seconds, exit=True, file=config.stash[STDERR])


def pytest_runtest_logfinish(nodeid: str) -> None:
    """A test that runs commands as root must not take `/dev/null` from the machine; one that does is named, and undone."""
    null = Path("/dev/null")
    if os.geteuid() == 0 and not null.is_char_device():
        warnings.warn(f"{nodeid} ended with /dev/null replaced; it is put back", stacklevel=1)
        fresh = Path("/dev/null.assent")
        fresh.unlink(missing_ok=True)
        os.mknod(fresh, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        fresh.chmod(0o666)
        fresh.replace(null)
