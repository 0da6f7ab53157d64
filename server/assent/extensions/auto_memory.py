"""Auto memory (X): what earlier sessions of one workspace found worth knowing, a fact a line.

One small Markdown file in the user's data folder, never in the repository. People may edit it: lines that are no facts
stay as they are. It is not aware of models: the engine asks one and hands over what it said. What comes from a model
is cleaned here, because it is read by every later session: a fact is one short line, holds no secret and cannot look
like the end of its own quotation. `MemoryFiles` loads the file as notes, so like all memory it informs and permits
nothing.

Several windows may write at once: each change is read, made and written under a lock, and replaces the file whole.
"""

import os
import re
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio.to_thread

from assent.text.words import one_line
from assent.types.file_locks import wait_for_lock
from assent.types.private_files import private_folder

MAX_BYTES = 6_000  # of the whole file: every session pays for it
FACT_CHARS = (8, 240)
HEADER = "# Notes Assent took in this workspace\n"

_FACT = re.compile(r"^\s*[-*]\s+(.*\S)\s*$")
_QUOTATION = re.compile(r"</?\s*(memory|context|system)\b", re.IGNORECASE)
_SECRET = re.compile(
    r"(sk-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA)[\w-]{8,}|-----BEGIN|eyJ[\w-]{10,}\.|://[^\s/:]+:[^\s/@]+@"
    r"|\b(password|passwd|secret|token|api[ _-]?key)\b\s*(is|are|[:=])\s*\S",
    re.IGNORECASE,
)


class AutoMemory:
    """The file of one workspace. `write` replaces a file whole or leaves it; `secrets` are values nobody may note."""

    def __init__(
        self, path: Path, *, write: Callable[[Path, bytes], None], secrets: Callable[[], Sequence[str]] = tuple
    ) -> None:
        self.path = path
        self._write = write
        self._secrets = secrets

    async def facts(self) -> list[str]:
        return await anyio.to_thread.run_sync(lambda: _facts(self._lines()))

    async def add(self, facts: Iterable[str]) -> list[str]:
        """Append what is new and fit to be kept; the oldest facts make room. Gives back what was added."""
        return await anyio.to_thread.run_sync(self._add, list(facts))

    async def replace(self, before: Sequence[str], after: Iterable[str]) -> bool:
        """Put `after` in the place of `before`. False, and nothing changed, when the facts are no longer `before`."""
        return await anyio.to_thread.run_sync(self._replace, list(before), list(after))

    def _add(self, facts: list[str]) -> list[str]:
        with self._locked():
            lines = self._lines()
            seen = {_key(fact) for fact in _facts(lines)}
            new = self._fit(facts, seen)
            if new:
                self._save([*lines, *(f"- {fact}" for fact in new)])
            return new

    def _replace(self, before: list[str], after: list[str]) -> bool:
        with self._locked():
            lines = self._lines()
            if _facts(lines) != before:
                return False
            others = [line for line in lines if not _FACT.match(line)]
            self._save([*others, *(f"- {fact}" for fact in self._fit(after, set()))])
            return True

    def _fit(self, facts: Iterable[str], seen: set[str]) -> list[str]:
        """Those worth keeping, each once. A fact that is too long is left out: cut, it might say something else."""
        shortest, longest = FACT_CHARS
        secrets = self._secrets()
        kept: list[str] = []
        for fact in map(one_line, facts):
            key = _key(fact)
            if not shortest <= len(fact) <= longest or not key or key in seen:
                continue
            if _QUOTATION.search(fact) or _SECRET.search(fact) or any(secret in fact for secret in secrets):
                continue
            seen.add(key)
            kept.append(fact)
        return kept

    def _lines(self) -> list[str]:
        try:
            return self.path.read_bytes()[: 10 * MAX_BYTES].decode("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return [HEADER]

    def _save(self, lines: list[str]) -> None:
        while (size := len("\n".join(lines).encode())) > MAX_BYTES:
            oldest = next((at for at, line in enumerate(lines) if _FACT.match(line)), None)
            if oldest is None:
                raise OSError(f"{self.path} holds {size} bytes that are no facts: there is no room for more")
            del lines[oldest]
        self._write(self.path, ("\n".join(lines) + "\n").encode())

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Held for one reading and writing; the end of the process frees it too."""
        private_folder(self.path.parent)
        fd = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            wait_for_lock(fd)
            yield
        finally:
            os.close(fd)


def facts_in(answer: str) -> list[str]:
    """The facts a model listed, one to a line that begins with a dash. Anything else it said is no fact."""
    return _facts(answer.splitlines())


def _facts(lines: Iterable[str]) -> list[str]:
    return [found[1] for line in lines if (found := _FACT.match(line))]


def _key(fact: str) -> str:
    """Two facts that differ only in case, spacing and punctuation are one."""
    return " ".join(re.findall(r"\w+", fact.casefold()))
