"""A real Secret Service for tests: GNOME's keyring daemon on a bus of its own, both fetched into the cache.

Nothing of it touches the user's session: bus, control socket and keyring files lie in the test's folder.
"""

import os
import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from jeepney.bus_messages import message_bus
from jeepney.io.blocking import Proxy, open_dbus_connection

from terminal.editors import program

PASSWORD = b"open sesame"
_BUS = """<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


class SecretService:
    """`environment` is what a program needs to reach it."""

    def __init__(self, place: Path) -> None:
        place.mkdir(mode=0o700, parents=True)
        self._place = place
        self._folder = Path(program("gnome-keyring")).parent
        self._daemon: subprocess.Popen[bytes] | None = None
        self._bus: subprocess.Popen[str] | None = None
        self.environment = {
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={place / 'bus'}",
            "XDG_RUNTIME_DIR": str(place),
            "XDG_DATA_HOME": str(place / "data"),
        }

    def start_bus(self) -> None:
        config = self._place / "bus.conf"
        config.write_text(_BUS.format(socket=self._place / "bus"))
        argv = [self._folder / "dbus-daemon", f"--config-file={config}", "--nofork", "--print-address"]
        self._bus = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._bus.stdout is not None and self._bus.stdout.readline(), "the bus did not start"

    def start(self, *, unlocked: bool = True) -> None:
        """The daemon, with the login keyring open or locked. Returns once it answers on the bus."""
        argv = [self._folder / "gnome-keyring", "--foreground", "--components=secrets"]
        argv += [f"--control-directory={self._place}", *(["--unlock"] if unlocked else ["--start"])]
        self._daemon = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **self.environment, "HOME": str(self._place)},
        )  # fmt: skip
        assert self._daemon.stdin is not None and self._daemon.stdout is not None
        with self._daemon.stdin as password:
            password.write(PASSWORD if unlocked else b"")
        assert b"GNOME_KEYRING_CONTROL" in self._daemon.stdout.readline(), "the keyring daemon did not start"
        with closing(open_dbus_connection(bus=self.environment["DBUS_SESSION_BUS_ADDRESS"])) as bus:
            asked: Any = Proxy(message_bus, bus)
            deadline = time.monotonic() + 60
            while not asked.NameHasOwner("org.freedesktop.secrets")[0]:
                assert time.monotonic() < deadline, "the keyring daemon is not on the bus"
                time.sleep(0.01)  # bounded above

    def stop(self) -> None:
        if self._daemon is not None:
            self._end(self._daemon)
            self._daemon = None

    def freeze(self) -> None:
        """It stays on the bus and answers nothing."""
        assert self._daemon is not None
        self._daemon.send_signal(signal.SIGSTOP)

    def close(self) -> None:
        self.stop()
        if self._bus is not None:
            self._end(self._bus)

    @staticmethod
    def _end(process: "subprocess.Popen[bytes] | subprocess.Popen[str]") -> None:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


@contextmanager
def secret_service(place: Path) -> Generator[SecretService, None, None]:
    service = SecretService(place)
    try:
        service.start_bus()
        yield service
    finally:
        service.close()
