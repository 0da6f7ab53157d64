"""The spawned program, isolated: own home, own XDG folders, no credentials but what the test gives."""

import asyncio
import os
import signal
import sys
from pathlib import Path

COMMAND = (sys.executable, "-I", "-m", "assent.cli.main", "serve", "--stdio")
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")


class Server:
    def __init__(
        self,
        home: Path,
        *,
        env: dict[str, str] | None = None,
        command: tuple[str, ...] = COMMAND,
        cwd: Path | None = None,
    ) -> None:
        self.home = home
        self.cwd = cwd or home
        self.command = command
        self.env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_CACHE_HOME": str(home / "cache"),
            **(env or {}),
        }
        self.process: asyncio.subprocess.Process | None = None

    @property
    def data(self) -> Path:
        return self.home / "data" / "assent"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    async def start(self, *, stderr: int | None = None) -> asyncio.subprocess.Process:
        self.home.mkdir(parents=True, exist_ok=True)
        self.process = await asyncio.create_subprocess_exec(
            *self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env=self.env,
            cwd=self.cwd,
            limit=1024 * 1024,
        )
        return self.process

    async def ended(self, *, within: float) -> int:
        """The exit code; raises TimeoutError when the process is still there after `within` seconds."""
        assert self.process is not None
        async with asyncio.timeout(within):
            return await self.process.wait()

    async def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    def memory(self) -> int:
        """Resident bytes now."""
        return resident(self.pid)

    def stop(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)


def resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_resident(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmHWM")
