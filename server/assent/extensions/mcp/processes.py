"""Which processes descend from one, read from /proc. Knows nothing of MCP."""

import contextlib
import os
from pathlib import Path


def descendants(ancestor: int) -> list[int]:
    """All processes below this one that are alive. Empty where there is no /proc."""
    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for entry in os.listdir("/proc"):  # noqa: PTH208 -- names are all it needs
            if entry.isdigit():
                with contextlib.suppress(OSError, IndexError, ValueError):
                    state, parent = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[:2]
                    if state != "Z":
                        children.setdefault(int(parent), []).append(int(entry))
    found: list[int] = []
    pending = [ancestor]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += below
    return found


def marked(variable: str, value: str) -> list[int]:
    """Processes of this user whose environment holds the variable with this value."""
    wanted = f"{variable}={value}".encode()
    found: list[int] = []
    with contextlib.suppress(OSError):
        for entry in os.listdir("/proc"):  # noqa: PTH208
            if entry.isdigit() and int(entry) != os.getpid():
                with contextlib.suppress(OSError):
                    if wanted in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                        found.append(int(entry))
    return found
