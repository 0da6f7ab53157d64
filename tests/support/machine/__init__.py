"""Runs lines for real where they cannot hurt the machine that runs the tests.

As a plain user nothing of the machine can be replaced. As root a line gets a mount namespace of its own: `/dev` is a
private one, and nothing can be written but below the folder that is named. Whoever is root and cannot have that is told
so; the lines are never run on the machine itself.
"""

import os
import subprocess
from functools import lru_cache
from pathlib import Path

_PRIVATE = """
set -e
base=$1
shift
mount --bind "$base" "$base"
made=$(mktemp -d "$base/.dev.XXXXXX")
mount -t tmpfs -o mode=755 none "$made"
for node in null:3 zero:5 full:7 random:8 urandom:9; do
    mknod -m 666 "$made/${node%:*}" c 1 "${node#*:}"
done
mknod -m 666 "$made/tty" c 5 0
mknod -m 666 "$made/ptmx" c 5 2
mkdir "$made/pts" "$made/shm"
if [ -d /dev/pts ]; then mount --bind /dev/pts "$made/pts"; fi
mount -t tmpfs none "$made/shm"
ln -s /proc/self/fd "$made/fd"
for number in 0:stdin 1:stdout 2:stderr; do
    ln -s "/proc/self/fd/${number%:*}" "$made/${number#*:}"
done
mount --move "$made" /dev
rmdir "$made"
for place in / /sys /boot /proc; do
    if mountpoint -q "$place"; then mount -o remount,bind,ro "$place"; fi
done
cd "$PWD"
exec "$@"
"""


def spared(base: Path) -> list[str]:
    """What to put before a command so that it changes nothing outside `base`."""
    if os.geteuid() != 0:
        return []
    if why := _refused():
        raise RuntimeError(f"as root these lines need a mount namespace of their own; run the tests as a user: {why}")
    return [*_UNSHARE, "sh", "-c", _PRIVATE, "sh", str(base)]


_UNSHARE = ("unshare", "--mount", "--propagation", "private")


@lru_cache(maxsize=1)
def _refused() -> str:
    try:
        subprocess.run([*_UNSHARE, "true"], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return str(error)
    return ""
