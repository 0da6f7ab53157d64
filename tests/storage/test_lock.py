"""One owner per session file, across processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from assent.storage.lock import acquire, holder
from assent.types.errors import ProtocolError

HOLD = """
import sys
from pathlib import Path
from assent.storage.lock import acquire
lock = acquire(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_told_who_owns_the_session_and_death_frees_it(tmp_path: Path) -> None:
    path = tmp_path / "s.lock"
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert other.stdout.readline() == b"held\n"
    try:
        with pytest.raises(ProtocolError) as refused:
            acquire(path)
        assert refused.value.kind == "ownedElsewhere"
        assert refused.value.data == {"pid": other.pid}
        assert holder(path) == other.pid
    finally:
        other.kill()
        other.wait(10)
    acquire(path).release()
    assert holder(path) is None
