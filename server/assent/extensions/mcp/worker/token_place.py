"""Where OAuth tokens lie: in the system's keyring where there is one, else in a file that only the user can read.

A keyring may be locked or gone for a while: what was saved last counts, wherever it lies. Knows nothing of OAuth.
"""

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
import orjson

Json = dict[str, Any]
KEYRING_SECONDS = 10.0  # a locked one may ask the user for a password; one that hangs must not keep the server away
_SERVICE = "assent-mcp"
_CHANGE = ".change"  # held while something is stored; it stays, and says that something was
_PAUSE = 30.0  # seconds in which a keyring that could not be used is not asked again


class NoKeyring(Exception):
    """It cannot be used, and why. `there`: the system has one, so tokens may lie in it."""

    def __init__(self, why: str, *, there: bool = False) -> None:
        super().__init__(why)
        self.there = there


class TokenPlace:
    """What is kept for one server address, shared by all processes of the user."""

    def __init__(self, url: str, *, folder: str, say: Callable[[str], None] = lambda _words: None) -> None:
        self.key = hashlib.sha256(url.encode()).hexdigest()[:32]
        self._file = Path(folder) / f"{self.key}.json"
        self._say = say
        self._refused: NoKeyring | None = None
        self._again = 0.0
        self._said = ""

    @property
    def problem(self) -> str:
        """Why a keyring that the system has is not used, in words; empty: it is used, or there is none."""
        return str(self._refused) if self._refused is not None and self._refused.there else ""

    @asynccontextmanager
    async def alone(self, what: str) -> AsyncGenerator[None, None]:
        """Held by one process of this user at a time."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(self._file.with_suffix(what), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            await anyio.to_thread.run_sync(fcntl.flock, fd, fcntl.LOCK_EX, abandon_on_cancel=True)
            yield
        finally:
            os.close(fd)

    async def load(self) -> Json:
        in_file, in_keyring = _object(self._read()), await self._in_keyring()
        newest = in_file if in_file and _saved_at(in_file) > _saved_at(in_keyring) else in_keyring or in_file
        if newest is in_file and in_keyring and set(in_file) == {"at"}:  # a sign-out that the keyring did not hear of
            await self.forget()
        return newest

    async def store(self, **changes: Any) -> None:
        """Whoever stops waiting loses no tokens: those the server has taken back are worth nothing."""
        with anyio.CancelScope(shield=True):
            async with self.alone(_CHANGE):
                kept = await self.load()
                await self._save({**kept, **changes, "at": max(time.time(), _saved_at(kept) + 0.001)})

    async def forget(self) -> None:
        with anyio.CancelScope(shield=True):
            try:
                await self._ask("delete_password")
            except NoKeyring:
                self._write({"at": time.time()})  # newer than anything it may still hold
            else:
                self._file.unlink(missing_ok=True)

    async def _save(self, values: Json) -> None:
        try:
            await self._ask("set_password", orjson.dumps(values).decode())
        except NoKeyring as error:
            self._write(values)
            place = f"a file that only you can read: {error}"
        else:
            self._file.unlink(missing_ok=True)
            place = "the system's keyring"
        if place != self._said:
            self._said = place
            self._say(f"[assent] its tokens are kept in {place}")

    # --- the keyring -------------------------------------------------------------------------------------------------

    async def _in_keyring(self) -> Json:
        """Not asked before anything was stored: a locked one would ask the user, for a server without a sign-in too."""
        if not self._file.with_suffix(_CHANGE).exists():
            return {}
        with contextlib.suppress(NoKeyring):
            return _object(await self._ask("get_password"))
        return {}

    async def _ask(self, what: str, *values: str) -> Any:
        """Raises NoKeyring; one that has just refused is left alone for a while, and its user too."""
        if self._refused is not None and time.monotonic() < self._again:
            raise self._refused
        work = partial(_keyring, what, self.key, *values)
        try:
            with anyio.fail_after(KEYRING_SECONDS):
                answer = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except TimeoutError:
            refused = NoKeyring(f"the system's keyring did not answer within {KEYRING_SECONDS:.0f} s", there=True)
        except NoKeyring as error:
            refused = error
        else:
            self._refused = None
            return answer
        self._refused, self._again = refused, time.monotonic() + _PAUSE
        raise refused

    # --- the file ----------------------------------------------------------------------------------------------------

    def _read(self) -> bytes:
        with contextlib.suppress(OSError):
            return self._file.read_bytes()
        return b""

    def _write(self, values: Json) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = self._file.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(orjson.dumps(values))
        beside.replace(self._file)


def _keyring(what: str, *values: str) -> Any:
    """One request to the system's keyring. Raises NoKeyring."""
    if os.environ.get("ASSENT_MCP_KEYRING") == "off":
        raise NoKeyring("the keyring is switched off with ASSENT_MCP_KEYRING")
    try:
        keyring = import_module("keyring")
    except ImportError:
        raise NoKeyring("the extra `keyring` is not installed") from None
    errors: Any = keyring.errors
    try:
        if not _good(keyring.get_keyring()):
            keyring.core.init_backend()  # it may have been started meanwhile
        backend = keyring.get_keyring()
        if not _good(backend):
            raise NoKeyring("no keyring of the system is running")
        return getattr(backend, what)(_SERVICE, *values)
    except errors.PasswordDeleteError:
        return None  # it was not there
    except NoKeyring:
        raise
    except errors.KeyringLocked:
        raise NoKeyring("the system's keyring is locked", there=True) from None
    except Exception as error:
        raise NoKeyring(f"the system's keyring cannot be used: {str(error)[:200]}", there=True) from None


def _good(backend: Any) -> bool:
    return getattr(backend, "priority", 0) > 0.5  # those that keep plain text are below


def _object(data: bytes | str | None) -> Json:
    with contextlib.suppress(ValueError):
        value = orjson.loads(data or b"{}")
        return cast("Json", value) if isinstance(value, dict) else {}
    return {}


def _saved_at(values: Json) -> float:
    at = values.get("at")
    return float(at) if isinstance(at, int | float) else 0.0
