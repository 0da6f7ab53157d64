"""The real server of llama.cpp on loopback, with a tiny model that we write ourselves.

The server is the one of the wheel `xllamacpp`, which holds llama.cpp's own HTTP routes; it is installed into a cache when
it is missing. The model (`tiny_model`) knows nothing: it says the tokens it was written to say.
"""

import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from llamacpp.tiny_model import write_model

PACKAGE = "xllamacpp==2026.10.11549"
CACHE = Path("~/.cache/assent-tests").expanduser() / PACKAGE.replace("==", "-")


def installed() -> Path:
    """The folder with the package in it."""
    if not (CACHE / "xllamacpp").exists():
        CACHE.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(CACHE), PACKAGE]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
    return CACHE


@contextmanager
def llama_server(folder: Path, *, call: str, words: Sequence[str]) -> Generator[str]:
    """Its address. The model answers a person by `call`, the text of a tool call, and a tool's result by `words`."""
    model = folder / "tiny.gguf"
    write_model(model, call=call, words=words)
    env = {**os.environ, "PYTHONPATH": str(installed())}
    command = [sys.executable, "-S", str(Path(__file__).with_name("serve.py")), str(model)]
    with (folder / "llama-server.log").open("wb") as log:
        server = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
    assert server.stdout is not None and server.stdin is not None
    try:
        address = server.stdout.readline().decode().strip()
        assert address, (folder / "llama-server.log").read_text(errors="replace")[-3000:]
        yield address
    finally:
        server.stdin.close()  # it ends with whoever started it
        server.kill()
        server.wait()
        server.stdout.close()
