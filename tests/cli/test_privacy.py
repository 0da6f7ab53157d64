"""Our key is in our own environment at most, and there no command of ours can read it (safety.md, Secrets)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KEY = "sk-ant-api03-a-key-that-nobody-else-may-see"
INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"capabilities":{}}}'


POWERLESS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
"""Root is an ordinary user without its right to look into every process."""


def _look(path: str) -> subprocess.CompletedProcess[str]:
    """As any command of the same user may."""
    return subprocess.run([*POWERLESS, "cat", path], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows processes under /proc")
@pytest.mark.parametrize("looked_at", ["environ", "mem", "maps"])
def test_a_command_of_the_same_user_cannot_look_into_the_server(tmp_path: Path, looked_at: str) -> None:
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": KEY}
    plain = subprocess.Popen([*POWERLESS, "sleep", "1000"], env=env)
    server = subprocess.Popen(
        [*POWERLESS, sys.executable, "-I", "-m", "assent.cli.main", "serve", "--stdio"],
        env=env,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(INITIALIZE), INITIALIZE))
        server.stdin.flush()
        assert server.stdout.readline().startswith(b"Content-Length")  # it is up
        seen = _look(f"/proc/{plain.pid}/{looked_at}")  # a process that does not guard itself
        assert "ermission denied" not in seen.stderr
        assert (KEY in seen.stdout) == (looked_at == "environ")
        refused = _look(f"/proc/{server.pid}/{looked_at}")
        assert refused.stdout == ""
        assert "ermission denied" in refused.stderr
    finally:
        for process in (plain, server):
            process.kill()
            process.wait()
        for pipe in (server.stdin, server.stdout):
            if pipe is not None:
                pipe.close()
