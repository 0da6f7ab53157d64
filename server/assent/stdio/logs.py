"""The server's log: a file in the data directory, quiet and redacted. Nothing ever goes to stdout.

pygls logs every body at INFO and asyncio reports slow callbacks; neither belongs in a user's file.
"""

import logging
import logging.handlers
import os
import re
from pathlib import Path

_SECRET = re.compile(
    r"(sk-[A-Za-z0-9_-]{6})[A-Za-z0-9_-]+"
    r"|((?:api[_-]?key|auth[_-]?token|authorization|x-api-key|password|secret)[\"']?\s*[:=]\s*[\"']?(?:bearer\s+)?)[^\s\"',}]+",
    re.IGNORECASE,
)
_SECRET_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


def start_logging(directory: Path, *, level: int = logging.WARNING) -> None:
    """Log to `directory/server.log`, a megabyte at most, twice. A directory that cannot be written means no log."""
    for name in ("pygls", "asyncio", "httpx", "httpcore", "anthropic", "cattrs"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    root = logging.getLogger()
    root.setLevel(level)
    root.handlers[:] = [_handler(directory)]


def redact(text: str) -> str:
    for name in _SECRET_VARIABLES:
        value = os.environ.get(name)
        if value and len(value) > 7:
            text = text.replace(value, "[redacted]")
    return _SECRET.sub(lambda found: (found[1] or found[2] or "") + "[redacted]", text)


class _Redacting(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


def _handler(directory: Path) -> logging.Handler:
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        handler: logging.Handler = logging.handlers.RotatingFileHandler(
            directory / "server.log", maxBytes=1_000_000, backupCount=1, encoding="utf-8", errors="replace", delay=True
        )
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(_Redacting("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    return handler
