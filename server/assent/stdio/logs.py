"""The server's log: a file in the data directory, quiet and redacted. Nothing ever goes to stdout.

pygls logs every body at INFO and asyncio reports slow callbacks; neither belongs in a user's file.
"""

import logging
import logging.handlers
import os
import re
from io import TextIOWrapper
from pathlib import Path

from assent.types import redaction
from assent.types.private_files import create_private, private_folder

_ASSIGNED = re.compile(
    r"((?:api[_-]?key|auth[_-]?token|authorization|x-api-key|password|secret)[\"']?\s*[:=]\s*[\"']?(?:bearer\s+)?)[^\s\"',}]+",
    re.IGNORECASE,
)


def start_logging(directory: Path, *, level: int = logging.WARNING) -> None:
    """Log to `directory/server.log`, a megabyte at most, twice. A directory that cannot be written means no log."""
    redaction.hold(*(os.environ.get(name) for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")))
    for name in ("pygls", "asyncio", "httpx", "httpcore", "anthropic", "cattrs"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    root = logging.getLogger()
    root.setLevel(level)
    root.handlers[:] = [_handler(directory)]


def redact(text: str) -> str:
    """More than elsewhere: a log loses nothing by a value too few."""
    return _ASSIGNED.sub(rf"\1{redaction.REDACTED}", redaction.redact(text))


class _Redacting(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


class _PrivateFile(logging.handlers.RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        binary = open(self.baseFilename, "ab", opener=create_private)  # noqa: SIM115 -- the handler closes it
        return TextIOWrapper(binary, encoding=self.encoding, errors=self.errors)


def _handler(directory: Path) -> logging.Handler:
    try:
        private_folder(directory)
        handler: logging.Handler = _PrivateFile(
            directory / "server.log", maxBytes=1_000_000, backupCount=1, encoding="utf-8", errors="replace", delay=True
        )
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(_Redacting("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    return handler
