"""A copy of the repository for one agent: a git worktree with what the user has now, and later what the agent changed.

The copy holds every file that git tracks or would track, as it is on disk or unsaved in the editor, so uncommitted work
is there; ignored files are not, nor what the session may not read. No filter of the repository runs: files are copied
byte by byte, and what they were is kept in an object store of our own that borrows from the repository's. The user's
branches, index and stash are never touched.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread

from assent.tools.process.git_output import Git
from assent.tools.worktrees.worktree_records import FOLDER, PREFIX, OpenRecord, make_folder, record, remove
from assent.types.errors import ToolError

GITLINK = "160000"
LISTED = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
MayRead = Callable[[str], bool]
_making = anyio.Lock()  # git's own files of worktrees are made by one at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """One file that the agent left otherwise than it found it; `base` and `now` are None where it was not there."""

    path: str  # inside the repository
    base: bytes | None
    now: bytes | None
    executable: bool | None = None  # what the agent made of its executable bit; None: it is as it was
    odd: str = ""  # why it cannot be taken over as a text: it became a link, say


@dataclass(slots=True, kw_only=True, eq=False)
class Isolation:
    """One open worktree. `close` removes it, whatever state it is in."""

    git: Git
    repository: str
    path: str
    store: Path  # of what the files were
    admin: str = ""  # git's folder for it; empty for one that a hook made
    record: OpenRecord | None = None
    base: dict[str, str] = field(default_factory=dict[str, str])  # by path: the object that holds what it was
    seen: dict[str, tuple[int, int, int]] = field(default_factory=dict[str, tuple[int, int, int]])
    executables: frozenset[str] = frozenset()

    async def changed(self) -> list[Changed]:
        """What is otherwise than when the agent began, by path. Ignored files do not count."""
        try:
            listed = await self.git.names(*LISTED, cwd=self.path)
        except ToolError:
            if self.admin:
                raise
            listed = await anyio.to_thread.run_sync(lambda: list(_walked(self.path)))
        names = sorted({*listed, *self.base})
        kinds = await anyio.to_thread.run_sync(lambda: {name: _kind(self.path, name) for name in names})
        suspects = [name for name in names if kinds[name] == "file" and _stat(self.path, name) != self.seen.get(name)]
        hashes = await self._hashed(suspects, write=False)
        executables = await anyio.to_thread.run_sync(self._executable, names)
        found: list[Changed] = []
        for name in names:
            kind, was = kinds[name], self.base.get(name)
            bit = name in executables if (name in executables) != (name in self.executables) else None
            if kind == "file" and (hashes.get(name, was) != was or bit is not None):
                now = await anyio.to_thread.run_sync(Path(self.path, name).read_bytes)
                found.append(Changed(path=name, base=await self._was(was), now=now, executable=bit))
            elif kind == "gone" and was is not None:
                found.append(Changed(path=name, base=await self._was(was), now=None))
            elif kind == "odd" and was is not None:
                words = "is no plain file any more"
                found.append(Changed(path=name, base=await self._was(was), now=None, odd=words))
        return found

    async def close(self) -> None:
        """Remove it. One that a hook made is the hook's to remove; only our store goes."""

        def gone() -> None:
            shutil.rmtree(self.store, ignore_errors=True)
            if self.admin:
                remove(self.path, self.admin)
            if self.record is not None:
                self.record.close()

        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(gone)

    async def remember(self, names: Sequence[str]) -> None:
        """Take down what these files are now."""
        self.base = await self._hashed(names, write=True)
        self.seen = await anyio.to_thread.run_sync(lambda: {name: _stat(self.path, name) for name in self.base})
        self.executables = await anyio.to_thread.run_sync(self._executable, list(self.base))

    def _executable(self, names: Sequence[str]) -> frozenset[str]:
        return frozenset(name for name in names if is_executable(Path(self.path, name)))

    async def _hashed(self, names: Sequence[str], *, write: bool) -> dict[str, str]:
        if not names:
            return {}
        lines = b"".join(os.fsencode(Path(self.path, name)) + b"\n" for name in names)
        command = ["hash-object", "--no-filters", "--stdin-paths", *(["-w"] if write else [])]
        said = await self.git.bytes(f"--git-dir={self.store}", *command, cwd=self.path, stdin=lines)
        return dict(zip(names, said.decode("ascii").split(), strict=True))

    async def _was(self, blob: str | None) -> bytes | None:
        if blob is None:
            return None
        return await self.git.bytes(f"--git-dir={self.store}", "cat-file", "blob", blob, cwd=self.path)


async def repository_of(git: Git, cwd: str) -> str:
    """The top of the repository, if a worktree of it can be made. Raises ToolError saying why not."""
    try:
        top = await git.text("rev-parse", "--show-toplevel", cwd=cwd)
    except ToolError as error:
        raise ToolError(f"A worktree needs a git repository, and {cwd} is in none ({error})") from None
    try:
        await git.text("rev-parse", "--verify", "--quiet", "HEAD^{commit}", cwd=top)
    except ToolError:
        raise ToolError(f"The repository {top} has no commit yet, and a worktree needs one. Commit first") from None
    if dirty := await _dirty_submodules(git, top):
        raise ToolError(
            f"Submodules hold changes that a worktree cannot show: {', '.join(dirty[:5])}. Commit them in the "
            "submodule and in the repository, or start the agent without isolation"
        )
    return top


async def isolate(
    git: Git,
    *,
    repository: str,
    name: str,
    store: Path,
    records: Path,
    unsaved: Mapping[str, bytes],
    may_read: MayRead | None,
) -> Isolation:
    """Make a worktree with everything as the user has it now. Raises ToolError, and then nothing is left."""
    path = Path(repository, FOLDER, f"{PREFIX}{name}")
    async with _making:
        common = await git.text("rev-parse", "--path-format=absolute", "--git-common-dir", cwd=repository)
        admin = str(Path(common, "worktrees", path.name))
        facts = {"path": str(path), "admin": admin, "base": str(store)}
        try:
            await anyio.to_thread.run_sync(make_folder, path.parent)
            kept = record(records, path.name, facts)
        except OSError as error:
            raise ToolError(f"No worktree could be made: {error.strerror or error}") from None
        made = Isolation(git=git, repository=repository, path=str(path), store=store, admin=admin, record=kept)
        try:
            await git.text("worktree", "add", "--detach", "--no-checkout", "--", str(path), "HEAD", cwd=repository)
            await git.text("read-tree", "HEAD", cwd=str(path))
        except BaseException:
            await made.close()
            raise
    try:
        await _fill(made, unsaved, may_read, common)
    except BaseException:
        await made.close()
        raise
    return made


async def adopt(git: Git, *, repository: str, path: str, store: Path) -> Isolation:
    """A folder that a WorktreeCreate hook made: the agent's changes are what differs from how it is now."""
    real = _usable(path, repository)
    made = Isolation(git=git, repository=repository, path=real, store=store)
    try:
        await _make_store(made, "")
        try:
            listed = await git.names(*LISTED, cwd=real)
        except ToolError:
            listed = await anyio.to_thread.run_sync(lambda: list(_walked(real)))
        await made.remember([name for name in dict.fromkeys(listed) if _kind(real, name) == "file"])
    except BaseException:
        await made.close()
        raise
    return made


def _usable(path: str, repository: str) -> str:
    real = os.path.realpath(path)
    if not path.startswith("/") or not Path(real).is_dir():
        raise ToolError(f"The WorktreeCreate hook named {path!r}, which is not the absolute path of a folder")
    if f"{os.path.realpath(repository)}/".startswith(f"{real}/"):
        raise ToolError(f"The WorktreeCreate hook named {path}, which holds the session's own folder")
    return real


async def _fill(made: Isolation, unsaved: Mapping[str, bytes], may_read: MayRead | None, common: str) -> None:
    listed = dict.fromkeys(await made.git.names(*LISTED, cwd=made.repository))
    names = [name for name in listed if "\n" not in name and not name.endswith("/")]

    def copy() -> list[str]:
        return [name for name in names if _copied(made.repository, made.path, name, unsaved, may_read)]

    await _make_store(made, common)
    await made.remember(await anyio.to_thread.run_sync(copy))


async def _make_store(made: Isolation, common: str) -> None:
    await made.git.text("init", "--quiet", "--bare", "--template=", "--", str(made.store), cwd=made.path)
    if common and "\n" not in common:
        info = made.store / "objects" / "info"
        info.mkdir(exist_ok=True)
        (info / "alternates").write_bytes(os.fsencode(Path(common, "objects")) + b"\n")


def _copied(source: str, target: str, name: str, unsaved: Mapping[str, bytes], may_read: MayRead | None) -> bool:
    """One file as the user has it; whether it is a plain one, whose changes count. Links stay links."""
    came, goes = Path(source, name), Path(target, name)
    if may_read is not None and not may_read(str(came)):
        return False
    data = unsaved.get(str(came))
    if os.path.realpath(came.parent) != os.path.normpath(Path(os.path.realpath(source), name).parent):
        return False  # a folder of the list has become a link
    try:
        found = came.lstat()
    except OSError:
        if data is None:
            return False  # tracked, and deleted by the user
        found = None
    goes.parent.mkdir(parents=True, exist_ok=True)
    if found is not None and stat.S_ISLNK(found.st_mode):
        goes.symlink_to(came.readlink())
        return False
    if found is not None and not stat.S_ISREG(found.st_mode):
        return False
    try:
        if data is not None:
            goes.write_bytes(data)
        else:
            shutil.copyfile(came, goes, follow_symlinks=False)
        if found is not None:
            goes.chmod(stat.S_IMODE(found.st_mode) & 0o777 | 0o600)
        # An old time, so that whoever writes to the copy leaves another one, however soon that is.
        os.utime(goes, ns=(0, found.st_mtime_ns if found is not None else 0))
    except PermissionError:
        return False  # what we cannot read the agent cannot either
    return True


async def _dirty_submodules(git: Git, top: str) -> list[str]:
    found: list[str] = []
    for entry in await git.names("ls-files", "-z", "--stage", cwd=top):
        facts, _, name = entry.partition("\t")
        mode, commit, _ = facts.split(" ", 2)
        place = Path(top, name)
        if mode == GITLINK and (place / ".git").exists():
            inner = await git.unfiltered(str(place))
            head = await inner.text("rev-parse", "HEAD", cwd=str(place))
            if head != commit or await inner.text("status", "--porcelain", "--ignore-submodules=all", cwd=str(place)):
                found.append(name)
    return found


def _kind(folder: str, name: str) -> str:
    try:
        mode = Path(folder, name).lstat().st_mode
    except OSError:
        return "gone"
    plain = stat.S_ISREG(mode) and "\n" not in name
    inside = f"{os.path.realpath(Path(folder, name).parent)}/".startswith(f"{os.path.realpath(folder)}/")
    return "file" if plain and inside else "odd"


def is_executable(path: Path) -> bool:
    """Whether it is a plain file with the one bit of its mode that git keeps."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & stat.S_IXUSR)


def _stat(folder: str, name: str) -> tuple[int, int, int]:
    try:
        found = Path(folder, name).lstat()
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino


def _walked(folder: str) -> Iterable[str]:
    """Every file of a folder that git knows nothing of."""
    for place, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if each not in (".git", ".hg", ".svn", ".jj")]
        yield from (os.path.relpath(Path(place, name), folder) for name in files)
