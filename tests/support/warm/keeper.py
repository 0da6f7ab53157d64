"""Imports the program, then forks a server for every launcher that connects. One thread: a fork keeps only one."""

import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import traceback
from typing import Any, NoReturn

import assent

LEFT_OUT = {"assent.cli.main"}  # it is run, as if by its name
LAZY = (  # what a first turn would import
    *("anthropic.resources.messages", "anthropic.types", "anthropic.lib.streaming", "httpcore2", "truststore"),
    *("anyio._backends._asyncio", "pygls.progress", "tree_sitter", "tree_sitter_bash", "watchfiles"),
)


def load() -> None:
    for module in pkgutil.walk_packages(assent.__path__, "assent."):
        if module.name not in LEFT_OUT and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in LAZY:
        importlib.import_module(name)


def _woken(_number: int, _frame: object) -> None:
    """A handler there must be, or the signal is not written to the pipe."""


class Keeper:
    def __init__(self, address: str) -> None:
        self._servers: dict[int, socket.socket] = {}
        self._waiting = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen(16)
        # A child's end wakes the selector through this pipe.
        self._ended, woken = socket.socketpair()
        self._ended.setblocking(False)
        woken.setblocking(False)
        signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _woken)
        self._own = [self._listener, self._ended, woken]

    def run(self) -> None:
        for source in (0, self._listener, self._ended):
            self._waiting.register(source, selectors.EVENT_READ)
        os.write(1, b"ready\n")
        while True:
            for key, _ in self._waiting.select():
                if key.fileobj == 0:
                    self._end()
                elif key.fileobj is self._listener:
                    self._start()
                elif key.fileobj is self._ended:
                    self._ended.recv(4096)
                    self._reap()
                else:
                    self._hear(key.data)

    def _start(self) -> None:
        launcher, _ = self._listener.accept()
        said, streams, _, _ = socket.recv_fds(launcher, 4 * 1024 * 1024, 3)
        pid = os.fork()
        if pid == 0:
            self._become(streams, json.loads(said), launcher)
        for stream in streams:
            os.close(stream)
        self._servers[pid] = launcher
        self._waiting.register(launcher, selectors.EVENT_READ, pid)

    def _become(self, streams: list[int], start: dict[str, Any], launcher: socket.socket) -> NoReturn:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._waiting.close()
        for each in (*self._own, *self._servers.values(), launcher):
            each.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        # As after a start: the keeper's own streams may know theirs as files, which these are not.
        sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
        os.setsid()
        os.chdir(start["cwd"])
        os.environ.clear()
        os.environ.update(start["env"])
        sys.argv = ["assent", *start["arguments"]]
        code = 1
        try:
            runpy.run_module("assent.cli.main", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _hear(self, pid: int) -> None:
        """A launcher passes on a signal it got; one that is gone takes its server along."""
        launcher = self._servers[pid]
        said = launcher.recv(1)
        if said:
            os.kill(pid, said[0])
        else:
            self._waiting.unregister(launcher)
            os.kill(pid, signal.SIGKILL)

    def _reap(self) -> None:
        while self._servers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            launcher = self._servers.pop(pid)
            if launcher in {key.fileobj for key in self._waiting.get_map().values()}:
                self._waiting.unregister(launcher)
            code = os.waitstatus_to_exitcode(status)
            try:
                launcher.send(bytes([code if code >= 0 else 128 - code]))
            except OSError:
                pass  # it is gone already
            launcher.close()

    def _end(self) -> NoReturn:
        for pid in self._servers:
            os.kill(pid, signal.SIGKILL)
        os._exit(0)


if __name__ == "__main__":
    load()
    gc.freeze()
    Keeper(sys.argv[1]).run()
