"""Files on disk as a `Workspace`: what the tools read and change when no editor has the document open.

Owns path resolution for the tools, too, so that what a tool tells the permission chain is what it then opens.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from anyio import to_thread

from assent.tools.files import disk
from assent.tools.files.encoding import NotText, decode, encode
from assent.types.errors import FileMissing, ToolError
from assent.types.ports import EditOutcome, EditPlan, FileText
from assent.types.regular_files import RegularFile

T = TypeVar("T")


class DiskWorkspace:
    """Implements `types.ports.Workspace` on plain files."""

    async def read(self, path: str) -> FileText:
        return await to_thread.run_sync(read_text, path)

    async def apply(self, plan: EditPlan) -> EditOutcome:
        after = await to_thread.run_sync(write_plan, plan)
        return EditOutcome(path=plan.path, after=after)

    async def save_barrier(self) -> str:
        return ""

    def unsaved(self) -> Mapping[str, str]:
        return {}


def absolute(path: str, cwd: str) -> str:
    """The path a tool means, links not followed unless `..` makes it matter where they lead."""
    if "\0" in path:
        raise ToolError("A path cannot hold a NUL character")
    if not path:
        raise ToolError("The path is empty")
    if path == "~" or path.startswith("~/"):
        path = os.path.expanduser(path)  # noqa: PTH111 -- pathlib would raise where HOME is unknown
    joined = os.path.join(cwd, path)  # noqa: PTH118 -- pathlib drops what decides below
    if ".." in joined.split("/"):
        return os.path.realpath(joined)
    return os.path.normpath(joined)


def target_of(path: str) -> str:
    """Where a path leads now, every link followed; the last components need not exist."""
    try:
        return str(Path(path).resolve())
    except (OSError, RuntimeError):
        raise ToolError(f"{path} is a loop of symbolic links") from None


def read_text(path: str) -> FileText:
    """Raises FileMissing, or ToolError for what is not a readable text."""
    try:
        found = disk.read_bytes(path)
    except FileMissing:
        raise FileMissing(f"{path} does not exist{_neighbours(path)}") from None
    return _as_text(path, found)


def write_plan(plan: EditPlan) -> FileText:
    """Make the change a plan describes, unless the file or the way to it is no longer what the plan was made from."""
    target = target_of(plan.path)
    if plan.target and target != plan.target:
        raise ToolError(f"{plan.path} leads to another place than when the change was planned; nothing was written")
    before = plan.before
    encoding, bom = (before.encoding, before.bom) if before else ("utf-8", b"")
    data = _told(plan.path, lambda: encode(plan.new_text, encoding=encoding, bom=bom))
    name = Path(target).name
    try:
        with disk.parent_of(target, create=before is None) as directory:
            old = _unchanged(directory, name, plan) if before else None
            status = disk.replace(directory, name, data, old=old)
    except FileExistsError:
        raise ToolError(f"{plan.path} exists now; Read it before writing over it") from None
    except OSError as error:
        raise ToolError(f"{plan.path} could not be written, and is unchanged: {error.strerror or error}") from None
    return FileText(
        path=plan.path,
        text=plan.new_text,
        encoding=encoding,
        bom=bom,
        sha256=hashlib.sha256(data).hexdigest(),
        mtime_ns=status.st_mtime_ns,
    )


def _as_text(path: str, found: RegularFile) -> FileText:
    try:
        decoded = decode(found.data)
    except NotText as error:
        raise ToolError(f"{path} cannot be read as text: {error}") from None
    return FileText(
        path=path,
        text=decoded.text,
        encoding=decoded.encoding,
        bom=decoded.bom,
        sha256=hashlib.sha256(found.data).hexdigest(),
        mtime_ns=found.status.st_mtime_ns,
    )


def _unchanged(directory: int, name: str, plan: EditPlan) -> os.stat_result:
    """The status of the file, if its bytes are still those of the plan."""
    try:
        found = disk.read_bytes(name, directory=directory)
    except FileMissing:
        raise ToolError(f"{plan.path} is gone since it was read; nothing was written") from None
    if plan.before and hashlib.sha256(found.data).hexdigest() != plan.before.sha256:
        raise ToolError(f"{plan.path} changed since it was read; Read it again, then repeat the change")
    if not os.access(name, os.W_OK, dir_fd=directory):
        raise ToolError(f"{plan.path} is write-protected (mode {stat.filemode(found.status.st_mode)})")
    return found.status


def _told(path: str, make: Callable[[], T]) -> T:
    try:
        return make()
    except ToolError as error:
        raise ToolError(f"{path}: {error}") from None


def _neighbours(path: str) -> str:
    """A hint at a name that was probably meant."""
    parent = Path(path).parent
    try:
        with os.scandir(parent) as entries:
            names = [entry.name for _, entry in zip(range(2000), entries, strict=False)]
    except OSError:
        return ""
    near = get_close_matches(Path(path).name, names, n=1, cutoff=0.7)
    return f". Did you mean {parent / near[0]}?" if near else ""
