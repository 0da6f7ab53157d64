"""Memory files (X): what the user and the project want every session to know.

ASSENT.md, AGENTS.md and CLAUDE.md: the user's own, the project's from the root of the file system down to the working
directory, and on demand those nested beside a file that was touched. A line `@path` in one imports another. Memory only
informs: nothing in it grants a permission or runs anything. Notes that Assent took itself (`auto`) come after the
user's and import nothing. A project's files, links and imports included, must lie in
the project: otherwise a checkout could put the user's private files into the prompt.

Loading happens in a thread, cached by the files' times. What is there and cannot be read comes back as refused, with
the reason, for the user to see: memory never fails a turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import anyio.to_thread

from assent.types.regular_files import read_regular

NAMES = ("ASSENT.md", "AGENTS.md", "CLAUDE.md")
MAX_BYTES = 200_000  # of a file that are read
LARGEST = 5_000_000  # a file beyond that is no notes
MAX_IMPORTS = 5  # deep
_IMPORT = re.compile(r"^\s*@(?P<path>[^\s@`]+)\s*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    path: str
    text: str
    scope: str  # user, auto, project, nested
    refused: str = ""  # why it was not read; then there is no text


class MemorySource(Protocol):
    async def load(self, cwd: str) -> list[MemoryFile]:
        """The user's files and the project's, outermost first."""
        ...

    async def nested(self, path: str, cwd: str) -> list[MemoryFile]:
        """Memory files between cwd and the folder of `path`, for a file that was just touched."""
        ...


class MemoryFiles:
    """Memory on disk. `user_dirs` hold the user's own files; `home` ends the walk up the tree; `auto` says where the
    notes of a workspace are that Assent took itself."""

    def __init__(
        self,
        *,
        user_dirs: Iterable[Path] = (),
        home: Path | None = None,
        auto: Callable[[str], Path] | None = None,
    ) -> None:
        self._user_dirs = tuple(user_dirs)
        self._home = home
        self._auto = auto
        self._cache: dict[Path, tuple[int, str]] = {}

    async def load(self, cwd: str) -> list[MemoryFile]:
        user = [(folder / name, "user") for folder in self._user_dirs for name in NAMES]
        project = [(folder / name, "project") for folder in self._upwards(Path(cwd)) for name in NAMES]
        taken = [(self._auto(cwd), "auto")] if self._auto is not None else []
        return await self._read_all([*user, *taken, *project], Path(cwd))

    async def nested(self, path: str, cwd: str) -> list[MemoryFile]:
        base, folder = Path(cwd), Path(path).parent
        if not folder.is_relative_to(base):
            return []
        parts = folder.relative_to(base).parts
        between = [base.joinpath(*parts[: depth + 1]) for depth in range(len(parts))]
        return await self._read_all([(each / name, "nested") for each in between for name in NAMES], base)

    def _upwards(self, cwd: Path) -> list[Path]:
        """From the outermost folder that counts down to cwd. Above the home folder nothing is the user's project."""
        folders = [cwd, *cwd.parents]
        if self._home is not None and self._home in folders:
            folders = folders[: folders.index(self._home)]
        return list(reversed(folders))

    async def _read_all(self, wanted: list[tuple[Path, str]], cwd: Path) -> list[MemoryFile]:
        texts = await anyio.to_thread.run_sync(self._read, wanted, cwd)
        found: list[MemoryFile] = []
        seen: set[Path] = set()
        for (_, scope), parts in zip(wanted, texts, strict=True):
            for path, text, refused in parts:
                real = path if refused else _real(path)
                if real not in seen and (text.strip() or refused):
                    seen.add(real)
                    found.append(MemoryFile(path=str(path), text=text, scope=scope, refused=refused))
        return found

    def _read(self, wanted: list[tuple[Path, str]], cwd: Path) -> list[list[tuple[Path, str, str]]]:
        inside = _real(cwd)
        return [
            self._with_imports(
                path,
                () if scope in ("user", "auto") else (_real(path.parent), inside),
                MAX_IMPORTS if scope == "auto" else 0,
            )
            for path, scope in wanted
        ]

    def _with_imports(
        self, path: Path, bounds: tuple[Path, ...], depth: int = 0, seen: frozenset[Path] = frozenset()
    ) -> list[tuple[Path, str, str]]:
        """The file and what it imports, or why not; with bounds, only what really lies inside one of them."""
        real = _real(path)
        if real in seen:
            return []
        if bounds and not any(real.is_relative_to(bound) for bound in bounds):
            return [(path, "", "leads out of the project")] if depth == 0 and path.is_symlink() else []
        try:
            text = self._text(path)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            return [(path, "", error.strerror or str(error))]
        parts = [(path, text, "")]
        if depth < MAX_IMPORTS:
            for match in _IMPORT.finditer(_FENCE.sub("", text)):
                target = Path(match["path"]).expanduser()
                imported = target if target.is_absolute() else path.parent / target
                parts += self._with_imports(imported, bounds, depth + 1, seen | {real})
        return parts

    def _text(self, path: Path) -> str:
        stamp = path.stat().st_mtime_ns
        cached = self._cache.get(path)
        if cached is not None and cached[0] == stamp:
            return cached[1]
        text = read_regular(path, limit=LARGEST).data[:MAX_BYTES].decode("utf-8", "replace")
        self._cache[path] = (stamp, text)
        return text


def as_context(files: Iterable[MemoryFile]) -> str:
    """Memory as the model reads it, each file with where it comes from."""
    what = {
        "user": "the user's own notes",
        "auto": "notes you took in earlier sessions; they may be out of date",
        "project": "notes of the project",
        "nested": "notes of this folder",
    }
    return "\n\n".join(
        f'<memory path="{file.path}" from="{what.get(file.scope, file.scope)}">\n{file.text.strip()}\n</memory>'
        for file in files
        if not file.refused
    )


def refusals(files: Iterable[MemoryFile]) -> tuple[str, ...]:
    """What to tell the user of files that were not read."""
    return tuple(f"{file.path} is not used as memory: it {file.refused}" for file in files if file.refused)


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
