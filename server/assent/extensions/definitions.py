"""What a Markdown file defines, and where it came from: shared by commands, skills, agents and output styles.

`Shelf` reads such files once and again only when they changed. A file that cannot be used becomes a notice with file
and line; the others are not affected. Knows nothing of what the fields mean.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import Literal

from assent.extensions import frontmatter
from assent.extensions.frontmatter import Frontmatter
from assent.types.regular_files import read_regular

LARGEST = 1_000_000  # bytes of a definition
Scope = Literal["built-in", "user", "project", "plugin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a definition comes from. `folder` is the directory of definitions it was found in."""

    scope: Scope
    file: str = ""
    folder: str = ""
    plugin: str = ""

    @property
    def source(self) -> str:
        """For people: the file, or who brought it."""
        if self.scope == "built-in":
            return "built-in"
        return f"plugin {self.plugin}: {self.file}" if self.plugin else self.file


BUILT_IN = Origin(scope="built-in")


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing that is wrong with one file, for the user."""

    file: str
    text: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownFile:
    path: str
    front: Frontmatter
    stamp: tuple[int, int]  # time and size
    identity: tuple[int, int] = (0, 0)  # device and inode: the same under every name

    def notices(self) -> list[Notice]:
        return [Notice(file=self.path, line=each.line, text=each.text) for each in self.front.complaints]


class Shelf:
    """Markdown files by path, each with the time and size it had when it was read."""

    def __init__(self) -> None:
        self._files: dict[str, MarkdownFile | Notice] = {}
        self._stamps: dict[str, tuple[int, int]] = {}

    def read(self, path: str) -> MarkdownFile | Notice | None:
        """The file, or why it cannot be read; None when it is not there."""
        try:
            status = os.stat(path)  # noqa: PTH116 -- hundreds of files at once; a Path costs three times as much
        except FileNotFoundError:
            return None
        except OSError as error:
            return (
                None
                if error.errno in (errno.ENOTDIR, errno.ELOOP)
                else Notice(file=path, text=f"cannot be read: {error.strerror}")
            )
        stamp = (status.st_mtime_ns, status.st_size)
        if self._stamps.get(path) != stamp:
            self._files[path] = _read(path, stamp, (status.st_dev, status.st_ino))
            self._stamps[path] = stamp
        return self._files[path]


def _read(path: str, stamp: tuple[int, int], identity: tuple[int, int]) -> MarkdownFile | Notice:
    try:
        data = read_regular(path, limit=LARGEST).data
    except OSError as error:
        return Notice(file=path, text=f"is not read: it {error.strerror or error}")
    front = frontmatter.read(data.decode("utf-8", "replace"))
    return MarkdownFile(path=path, front=front, stamp=stamp, identity=identity)
