"""No call waits for ever: a Neovim that stops at a question inside one is ended, so that the test fails and says so."""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any


class Stuck(AssertionError):
    """Neovim did not answer a call in time."""


class Watchdog:
    """Stands between pynvim's session and its user. `last_words` is asked for the screen once Neovim is gone."""

    def __init__(self, session: Any, *, pid: int, patience: float, last_words: Callable[[], str]) -> None:
        self._request: Callable[..., Any] = session.request
        self._pid = pid
        self.patience = patience
        self._last_words = last_words
        self._called_at: float | None = None
        self._bitten = False
        self._over = threading.Event()
        session.request = self._bounded
        threading.Thread(target=self._watch, name=f"watchdog of Neovim {pid}", daemon=True).start()

    def close(self) -> None:
        self._over.set()

    def end(self) -> None:
        """Kill it, as a crash would."""
        os.kill(self._pid, signal.SIGKILL)

    def _bounded(self, method: str, *arguments: Any, **options: Any) -> Any:
        self._called_at = time.monotonic()
        try:
            return self._request(method, *arguments, **options)
        except (OSError, EOFError):
            if not self._bitten:
                raise
            words = f"Neovim did not answer {method} in {self.patience:g} s and was ended; its last screen:\n"
            raise Stuck(words + self._last_words()) from None
        finally:
            self._called_at = None

    def _watch(self) -> None:
        while not self._over.wait(0.5):
            since = self._called_at
            if since is not None and time.monotonic() - since > self.patience:
                self._bitten = True
                self.end()
                return
