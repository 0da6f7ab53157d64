"""Tool output over its cap (C1), one file per call in the session's folder, without secrets. An id gives one path."""

import contextlib
import hashlib
import logging
import re
from pathlib import Path

from assent.storage.lines import clean
from assent.types.private_files import create_private, private_folder
from assent.types.redaction import redact

log = logging.getLogger(__name__)
_PLAIN = re.compile(r"[0-9A-Za-z_-]{1,80}")


class SpillFolder:
    """Implements `types.ports.SpillStore`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, tool_use_id: str) -> Path:
        # Ids come from the model's endpoint; one that is no plain name must not choose the path.
        name = (
            tool_use_id
            if _PLAIN.fullmatch(tool_use_id)
            else hashlib.sha256(tool_use_id.encode("utf-8", "replace")).hexdigest()[:32]
        )
        return self.folder / f"{name}.txt"

    def write(self, tool_use_id: str, text: str) -> str | None:
        """None when the disk refuses: a call that has run must not fail because its output is long."""
        path = self.path(tool_use_id)
        try:
            private_folder(self.folder)
            with open(path, "w", encoding="utf-8", newline="", opener=create_private) as file:
                file.write(redact(clean(text)))
        except OSError as error:
            log.warning("%s could not be written: %s", path.name, error.strerror)
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        return str(path)
