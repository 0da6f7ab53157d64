"""What a Markdown file defines, and where it came from: shared by commands, skills, agents and output styles.

`Shelf` reads such files once and again only when they changed. A file that cannot be used becomes a notice with file
and line; the others are not affected. Knows nothing of what the fields mean.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field, replace
from typing import Literal

from assent.extensions import frontmatter
from assent.extensions.frontmatter import Frontmatter
from assent.types.regular_files import read_regular

LARGEST = 1_000_000  # bytes of a definition
Scope = Literal["built-in", "user", "project", "plugin"]
Stamp = tuple[int, int, int, int]
"""Time, size, device and inode of a file: another one means that it must be read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a definition comes from. `folder` is the directory of definitions it was found in."""

    scope: Scope
    file: str = ""
    folder: str = ""
    plugin: str = ""
    nested: bool = False  # in a folder further down than the one that was opened, found when a file there was touched

    @property
    def source(self) -> str:
        """For people: the file, or who brought it."""
        if self.scope == "built-in":
            return "built-in"
        return f"plugin {self.plugin}: {self.file}" if self.plugin else self.file


BUILT_IN = Origin(scope="built-in")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNotice:
    """One thing that is wrong with one file, for the user."""

    file: str
    text: str
    line: int | None = None
    kind: str = field(default="", compare=False)  # what the file defines: commands, skills, agents, output-styles

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownFile:
    path: str
    front: Frontmatter
    stamp: Stamp

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode: the same under every name."""
        return self.stamp[2:]

    def notices(self) -> list[FileNotice]:
        return [FileNotice(file=self.path, line=each.line, text=each.text) for each in self.front.complaints]

    def left_out(self, text: str, line: int | None = None) -> list[FileNotice]:
        """What is wrong with it, with why it is not used; a line that has both is told once."""
        known = self.notices()
        because = "; ".join(each.text for each in known if each.line == line)
        rest = [each for each in known if each.line != line]
        return [*rest, FileNotice(file=self.path, line=line, text=f"{because}; it {text}" if because else text)]


class Shelf:
    """Markdown files by path, each with the stamp it had when it was read."""

    def __init__(self) -> None:
        self._files: dict[str, MarkdownFile | FileNotice] = {}
        self._stamps: dict[str, Stamp] = {}

    def stamp(self, path: str) -> Stamp | FileNotice | None:
        """What the file is now, or why it cannot be read; None when it is not there."""
        try:
            status = os.stat(path)  # noqa: PTH116 -- hundreds of files at once; a Path costs three times as much
        except FileNotFoundError:
            return None
        except OSError as error:
            return (
                None
                if error.errno in (errno.ENOTDIR, errno.ELOOP)
                else FileNotice(file=path, text=f"cannot be read: {error.strerror}")
            )
        return status.st_mtime_ns, status.st_size, status.st_dev, status.st_ino

    def read(self, path: str, stamp: Stamp) -> MarkdownFile | FileNotice:
        """The file, which had this stamp just now, or why it cannot be read."""
        if self._stamps.get(path) != stamp:
            self._files[path] = _read(path, stamp)
            self._stamps[path] = stamp
        return self._files[path]


def _read(path: str, stamp: Stamp) -> MarkdownFile | FileNotice:
    try:
        data = read_regular(path, limit=LARGEST).data
    except OSError as error:
        return FileNotice(file=path, text=f"is not read: it {error.strerror or error}")
    front = frontmatter.read(data.decode("utf-8", "replace"))
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        lost = frontmatter.Complaint(line=line, text="is not UTF-8 text; what cannot be read is left out")
        front = replace(front, complaints=(lost, *front.complaints))
    return MarkdownFile(path=path, front=front, stamp=stamp)
