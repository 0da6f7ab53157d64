"""Where a path written by the model really leads.

Owns resolution: component by component, every link and its target kept, never through the process's own working
directory. A path that cannot be resolved for sure is refused. Reads the file system, never changes it; knows no rules.
"""

import os
import re
import stat
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

MAX_LINKS = 40
MAX_MATCHES = 4000
MAX_WILDCARDS = 12  # of one word
MAX_PATH = 4096
_OF_A_PROCESS = re.compile(r"/+proc/+(?:thread-)?self/+(?:task/+[0-9]+/+)?(cwd|root)(?=/|\Z)")
SYSTEM_FILES = frozenset({
    "/etc/os-release", "/usr/lib/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/alpine-release",
    "/etc/redhat-release", "/etc/fedora-release", "/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/loadavg",
    "/proc/uptime",
})  # fmt: skip
"""Files outside every workspace that say what kind of machine this is, and nothing of anybody's."""


class PathRefused(Exception):
    """The path cannot be resolved for sure; the message says why, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """One path: as written (absolute, normalised), where it leads, and each name it goes by on the way."""

    written: str
    target: str
    names: tuple[str, ...]
    exists: bool
    special: bool = False  # a device, a FIFO or a socket
    device: bool = False
    sure: bool = True  # False: `..` after something that does not exist, which may become a link


Seen = dict[str, int | None]
"""What was found at each path while one decision is made: the same directories are passed through again and again."""


def locate(path: str, *, cwd: str, home: str, seen: Seen | None = None) -> Located:
    """Resolve without following the last step blindly: both the link and its target are in `names`."""
    seen = {} if seen is None else seen
    absolute = _past_proc(absolute_path(path, cwd=cwd, home=home), cwd)
    names = [os.path.normpath(absolute)]
    current, pending, links = "/", _components(absolute), 0
    mode: int | None = stat.S_IFDIR
    sure = True
    while pending:
        part = pending.pop(0)
        if part == "..":
            sure = sure and mode is not None
            current = os.path.dirname(current)  # noqa: PTH120  Path is slow here
            mode = _mode(current, path, seen)
            continue
        step = _join(current, part)
        mode = _mode(step, path, seen) if mode is not None else None
        if mode is not None and stat.S_ISLNK(mode):
            links += 1
            if links > MAX_LINKS:
                raise PathRefused(f"{path}: too many links")
            names.append(_join(step, *pending))
            try:
                leads_to = os.readlink(step)  # noqa: PTH115  same
            except OSError as error:
                raise PathRefused(f"{path}: {error.strerror}") from None
            pending = _components(leads_to) + pending
            current = "/" if leads_to.startswith("/") else current
            mode = stat.S_IFDIR
            continue
        current = step
    if current not in names:
        names.append(current)
    return Located(
        written=names[0],
        target=current,
        names=tuple(dict.fromkeys(os.path.normpath(name) for name in names)),
        exists=mode is not None,
        special=mode is not None and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)),
        device=mode is not None and (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)),
        sure=sure,
    )


def _past_proc(path: str, cwd: str) -> str:
    """`/proc/self/cwd` and `/proc/self/root` are links that mean something else to each process that follows them."""
    for _ in range(MAX_LINKS):
        found = _OF_A_PROCESS.match(path)
        if found is None:
            break
        path = f"{cwd if found[1] == 'cwd' else ''}{path[found.end() :]}" or "/"
    return path


def absolute_path(path: str, *, cwd: str, home: str) -> str:
    if "\0" in path:
        raise PathRefused("a path with a NUL byte")
    if not cwd.startswith("/"):
        raise PathRefused(f"the working directory {cwd!r} is not absolute")
    if path == "~" or path.startswith("~/"):
        return home + path[1:]
    return path if path.startswith("/") else f"{cwd}/{path}"


def under(path: str, root: str) -> bool:
    """Prefix-safe: /w/proj-evil is not under /w/proj."""
    return path == root or path.startswith(root if root.endswith("/") else root + "/")


def inside(located: Located, roots: Iterable[str]) -> bool:
    """Both the written path and its target lie in a root. `roots` hold each root as given and as resolved."""
    roots = tuple(roots)
    return (
        located.sure
        and any(under(located.written, root) for root in roots)
        and any(under(located.target, root) for root in roots)
    )


def with_real(directories: Iterable[str], seen: Seen | None = None) -> tuple[str, ...]:
    """Each directory as given and as resolved."""
    given = [os.path.normpath(directory) for directory in directories]
    return tuple(dict.fromkeys((*given, *(real_directory(directory, seen) for directory in given))))


def real_directory(path: str, seen: Seen | None = None) -> str:
    """A root's own real path; a root that cannot be resolved stands for itself, and then holds nothing real."""
    try:
        return locate(path, cwd="/", home="/", seen=seen).target
    except PathRefused:
        return path


@lru_cache(maxsize=4096)
def fold(path: str) -> str:
    """The form under which names that some file system takes for the same compare equal."""
    if path.isascii():
        return path.casefold()
    visible = "".join(c for c in path if unicodedata.category(c) not in ("Cf", "Mn", "Cc"))
    return unicodedata.normalize("NFKC", visible).casefold()


def matches(pattern: str, *, cwd: str) -> list[str]:
    """What bash would make of a glob in `cwd`; raises PathRefused when there are too many to look at."""
    import glob

    if len(re.findall(r"[*?\[]", pattern)) > MAX_WILDCARDS or len(pattern) > MAX_PATH:
        raise PathRefused(f"{pattern[:100]}: too many wildcards to follow")
    python_pattern = pattern.replace("[^", "[!")
    try:
        found = list(islice(glob.iglob(python_pattern, root_dir=cwd), MAX_MATCHES + 1))  # noqa: PTH207  needs root_dir and laziness
        if re.search(r"[?\[]", pattern):  # in a plain locale one byte, not one character
            encoded = glob.iglob(os.fsencode(python_pattern), root_dir=os.fsencode(cwd))  # noqa: PTH207  same
            found += [os.fsdecode(name) for name in islice(encoded, MAX_MATCHES + 1)]
    except (OSError, ValueError) as error:
        raise PathRefused(f"{pattern}: {error}") from None
    found = list(dict.fromkeys(found))
    if len(found) > MAX_MATCHES:
        raise PathRefused(f"{pattern}: too many matches to check")
    return found


def is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(Path(path).lstat().st_mode)
    except (OSError, ValueError):
        return False


def _components(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _join(base: str, *parts: str) -> str:
    return "/".join((base.rstrip("/"), *parts))


def _mode(path: str, asked: str, seen: Seen) -> int | None:
    if path not in seen:
        try:
            seen[path] = os.lstat(path).st_mode
        except FileNotFoundError:
            seen[path] = None
        except OSError as error:
            raise PathRefused(f"{asked}: {error.strerror}") from None
        except ValueError:
            raise PathRefused(f"{asked!r}: not a path this system can hold") from None
    return seen[path]
