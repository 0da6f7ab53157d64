"""Memory that is no longer needed goes back to the system.

glibc learns from every big block that is freed to keep the next ones, up to 32 MB each: after one answer of some
megabytes the process would stay at its largest for good. A fixed limit stops the learning.
"""

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LIMIT = 256 * 1024  # bytes; longer blocks are mapped one by one and unmapped when freed


def give_back() -> None:
    if sys.platform != "linux":
        return
    try:
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _LIMIT)
        library.mallopt(_M_TRIM_THRESHOLD, _LIMIT)
    except (OSError, AttributeError):
        return  # another C library, with other habits
