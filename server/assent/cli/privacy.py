"""Keeps other processes of the same user, above all the commands we start, out of our memory and environment.

The key may be in both. It is in no child's environment, but on Linux a child could read its parent's under /proc, or
its memory; a process that is not dumpable shows neither, and leaves no core file. Root can still look; on macOS there
is no such switch.
"""

import os
import sys

_SET_DUMPABLE = 4


def close_memory() -> None:
    """For this process only: every program it starts begins as an ordinary one. ASSENT_DEBUG lets debuggers in."""
    if sys.platform != "linux" or os.environ.get("ASSENT_DEBUG"):
        return
    import ctypes  # not needed elsewhere

    ctypes.CDLL(None, use_errno=True).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
