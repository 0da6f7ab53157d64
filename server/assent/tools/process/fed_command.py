"""A program of the user's that gets text on stdin, through the session's supervisor: hooks run so.

Its input is a file, so a program that never reads it cannot block anyone; its stderr is a file, so the two outputs
stay apart. Both are removed afterwards. It dies with the session. Knows nothing of hooks.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from assent.tools.process.shell_process import Keeper
from assent.types.errors import ToolError

KEEP = 512 * 1024  # bytes kept of the head of stdout, and again of its tail
LARGEST_STDERR = 64 * 1024  # bytes of it that are read
FLOOD = 256 * 1024 * 1024  # bytes of stderr at which it is stopped
GRACE = 1.0
_LOOK = 1.0  # seconds between two looks at how much it wrote to stderr
_REDIRECT = 'exec <"$1" 2>"$2"; shift 2; exec "$@"'


@dataclass(frozen=True, slots=True, kw_only=True)
class FedResult:
    status: int | None  # exit code, or minus the signal
    stdout: bytes = b""
    stderr: bytes = b""
    error: str = ""
    timed_out: bool = False


async def run_fed(
    keeper: Keeper, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], stdin: bytes, seconds: float
) -> FedResult:
    place: Path | None = None
    try:
        place = _prepared(argv[0], cwd, env, stdin)
        line = ["/bin/sh", "-c", _REDIRECT, "sh", str(place / "stdin"), str(place / "stderr"), *argv]
        return await _watched(keeper, line, cwd, env, place / "stderr", seconds)
    except (OSError, ToolError) as error:
        return FedResult(status=None, error=str(error))
    finally:
        if place is not None:
            shutil.rmtree(place, ignore_errors=True)


def _prepared(program: str, cwd: str, env: Mapping[str, str], stdin: bytes) -> Path:
    """A private folder with its two files. Raises OSError for what can never start: sh would say that less clearly."""
    if not Path(cwd).is_dir():
        raise NotADirectoryError(f"{cwd} is not a folder")
    found = Path(cwd, program) if "/" in program else shutil.which(program, path=env.get("PATH"))
    if found is None or not Path(found).exists():
        raise FileNotFoundError(f"there is no program {program}")
    place = Path(tempfile.mkdtemp(prefix="assent-"))
    (place / "stdin").write_bytes(stdin)
    (place / "stderr").touch()
    return place


async def _watched(
    keeper: Keeper, line: Sequence[str], cwd: str, env: Mapping[str, str], complaints: Path, seconds: float
) -> FedResult:
    process = await keeper.start(line, cwd=cwd, env=env, keep=KEEP)
    flooded = timed_out = False
    try:
        with anyio.move_on_after(seconds):
            while not process.ended.is_set() and not flooded:
                with anyio.move_on_after(_LOOK):
                    await process.ended.wait()
                flooded = process.flooded or _size(complaints) > FLOOD
    finally:
        if not process.ended.is_set():
            timed_out = not flooded
            with anyio.CancelScope(shield=True):
                await keeper.stop(process, grace=GRACE)
    with complaints.open("rb") as file:
        stderr = file.read(LARGEST_STDERR)
    if flooded:
        return FedResult(status=None, error="it wrote more than anyone reads and was stopped", stderr=stderr)
    return FedResult(
        status=process.status, stdout=process.output(), stderr=stderr, error=process.error or "", timed_out=timed_out
    )


def _size(file: Path) -> int:
    with contextlib.suppress(OSError):
        return file.stat().st_size
    return 0
