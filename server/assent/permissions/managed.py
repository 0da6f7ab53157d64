"""Reads the organisation's policy file, and again only when it changed. Not aware of what the policy says.

A file that is there but cannot be read, or cannot even be looked at, restricts rather than vanishes.
"""

from pathlib import Path

import orjson

from assent.permissions.context import Policy


class ManagedPolicy:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._read: tuple[tuple[int, int], Policy] | None = None

    def current(self) -> Policy:
        try:
            status = self._file.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if self._read is None or self._read[0] != stamp:
                self._read = (stamp, Policy.from_json(orjson.loads(self._file.read_bytes())))
        except FileNotFoundError:
            return Policy()
        except (OSError, ValueError) as error:
            return Policy.broken(f"{self._file} cannot be read: {error}")
        return self._read[1]
