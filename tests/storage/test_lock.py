"""One owner per session file, across processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from assent.storage.lock import acquire, busy, holder
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
        other.wait(120)
    acquire(path).release()
    assert holder(path) is None


BUSY = HOLD.replace('print("held"', 'lock.busy(True)\nprint("held"')


def test_a_turn_under_way_is_known_to_others_until_its_process_dies(tmp_path: Path) -> None:
    path = tmp_path / "s.lock"
    assert not busy(path)
    other = subprocess.Popen([sys.executable, "-c", BUSY, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None and other.stdout.readline() == b"held\n"
    try:
        assert busy(path) and holder(path) == other.pid
    finally:
        other.kill()
        other.wait(120)
    assert "busy" in path.read_text() and not busy(path)
    lock = acquire(path)
    assert not busy(path)
    lock.busy(True)
    assert busy(path)
    lock.busy(False)
    assert not busy(path)
    lock.release()
    lock.busy(True)  # nothing is written any more: its descriptor may be another file's
    assert "busy" not in path.read_text()
    path.write_text("99999999999999999999\nbusy\n")
    assert not busy(path)


ON_A_FULL_DISK = """
import resource, sys
from pathlib import Path
from assent.storage.lock import acquire
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
lock = acquire(Path(sys.argv[1]))
lock.busy(True)
lock.release()
acquire(Path(sys.argv[1])).release()
"""


def test_a_disk_without_room_for_a_name_in_the_lock_keeps_nobody_out(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", ON_A_FULL_DISK, str(tmp_path / "s.lock")], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
