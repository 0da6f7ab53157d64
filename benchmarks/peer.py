"""A client of our server with nothing to slow it down: frames out, frames in, one thing waited for at a time."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.processes import cpu_seconds

Json = dict[str, Any]
SERVE = [sys.executable, "-I", "-m", "assent.cli.main", "serve", "--stdio"]


def settle(pid: int) -> None:
    """Waits until what a program does in the background after its start is done: it uses no processor any more."""
    used = -1.0
    while (now := cpu_seconds(pid)) != used:
        used = now
        time.sleep(0.5)  # long enough that a process at work shows on the clock, which counts hundredths


class Peer:
    def __init__(
        self,
        command: list[str],
        env: dict[str, str],
        *,
        settings: Json | None = None,
        home: str | None = None,
        stdout: int = subprocess.PIPE,
    ) -> None:
        """`stdout` is a descriptor where nothing of what the server says is to be read."""
        home = home or tempfile.mkdtemp(prefix="assent-bench-")
        if settings is not None:
            Path(home, "assent").mkdir(exist_ok=True)
            Path(home, "assent", "settings.json").write_text(json.dumps(settings))
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        homes = {"HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            env={**kept, **homes, **env},
        )
        assert self.process.stdin is not None
        self._in, self._out = self.process.stdin, self.process.stdout
        self._id = 0
        self._buffer = b""
        self.received = 0
        self.home = home

    def ready(self, *, rate: int) -> str:
        self.initialize(rate=rate)
        return self.request("assent/session/new", {})["sessionId"]

    def initialize(self, *, rate: int = 0, folder: Path | None = None) -> None:
        self._answer_to(self.send_initialize(rate=rate, folder=folder))
        self.notify("initialized", {})

    def send_initialize(self, *, rate: int = 0, folder: Path | None = None) -> int:
        root = (folder or Path(self.home)).as_uri()
        options = {"assent": {"client": {"partials": True}, "maxEventRate": rate}}
        params = {"processId": None, "rootUri": root, "capabilities": {}, "initializationOptions": options}
        return self._send("initialize", {**params, "workspaceFolders": [{"uri": root, "name": "w"}]})

    def turn(
        self,
        session: str,
        prompt: str,
        *,
        on_delta: Callable[[str], object] = len,
        on_event: Callable[[Json], object] = len,
    ) -> None:
        self._send("assent/session/send", {"sessionId": session, "prompt": prompt})
        while True:
            message = self._read()
            if message.get("method") != "assent/session/event":
                continue
            event = message["params"]["event"]
            on_event(event)
            if event["type"] == "textDelta":
                on_delta(event["text"])
            elif event["type"] == "turnFinished":
                assert event["result"]["subtype"] == "success", message
            elif event["type"] == "status" and event["state"] == "idle":
                return

    def request(self, method: str, params: Json) -> Any:
        return self._answer_to(self._send(method, params))

    def _answer_to(self, number: int) -> Any:
        while True:
            message = self._read()
            if message.get("id") == number and "method" not in message:
                return message["result"]

    def notify(self, method: str, params: Json) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def memory(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def settle(self) -> None:
        settle(self.process.pid)

    def kill(self) -> None:
        self.end()
        shutil.rmtree(self.home, ignore_errors=True)

    def hang_up(self) -> None:
        """As an editor that ends without a word; returns when the server has gone."""
        self._in.close()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()

    def _send(self, method: str, params: Json) -> int:
        self._id += 1
        self._write({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return self._id

    def _write(self, message: Json) -> None:
        body = json.dumps(message).encode()
        self._in.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._in.flush()

    def _read(self) -> Json:
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            self._fill()
        length = int(self._buffer[:end].split(b"Content-Length:")[1].split(b"\r\n")[0])
        while len(self._buffer) < end + 4 + length:
            self._fill()
        body, self._buffer = self._buffer[end + 4 : end + 4 + length], self._buffer[end + 4 + length :]
        return json.loads(body)

    def _fill(self) -> None:
        assert self._out is not None
        chunk = os.read(self._out.fileno(), 65536)
        if not chunk:
            raise RuntimeError("the server ended")
        self.received += len(chunk)
        self._buffer += chunk
