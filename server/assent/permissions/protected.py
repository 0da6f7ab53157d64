"""The iron gate: is this path one whose change runs code or hands over keys? Asked about whatever rules and modes say.

Judged by name (the table is `protected_names.py`), so a file counts before it exists, in any letter case. Names above
the workspace root do not count: somebody who opens their dotfiles works on dotfiles.
`roots` and `own_dirs` hold each directory as given and as resolved.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from assent.permissions.paths import Located, fold, under
from assent.permissions.protected_names import TABLE
from assent.text.words import names

_FOLDERS: dict[str, str] = {}
_NAMES: dict[str, str] = {}
_PAIRS: dict[tuple[str, str], str] = {}
_PATTERNS: list[tuple[re.Pattern[str], str]] = []
for _row in TABLE:
    for _name in _row.names.split():
        if _row.kind == "folder":
            _FOLDERS[_name] = _row.why
        elif _row.kind == "name":
            _NAMES[_name] = _row.why
        elif _row.kind == "pair":
            _folder, _, _file = _name.partition("/")
            _PAIRS[_folder, _file] = _row.why
        else:
            _PATTERNS.append((re.compile(_name), _row.why))
_ANY_PATTERN = re.compile("|".join(pattern.pattern for pattern, _ in _PATTERNS))
_SYSTEM = ("/etc", "/boot", "/proc", "/sys", "/dev", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/var/spool", "/System")
_NODES = ("/dev", "/proc", "/sys", "/boot")
_STREAMS = re.compile(r"/dev/(?:null|zero|full|tty|stdout|stderr|fd/[0-9]+)")
_GIT_SHORT_NAME = re.compile(r"git~\d+")

_SECRET_DIRECTORIES = (".ssh", ".gnupg", ".password-store")
_SECRET_PAIRS = ((".aws", "credentials"), (".docker", "config.json"), (".kube", "config"), ("gh", "hosts.yml"))
_SECRET_NAMES = names(".netrc _netrc .pgpass .git-credentials .pypirc .vault-token id_rsa id_dsa id_ecdsa id_ed25519")
_PROCESS_SECRETS = re.compile(
    r"/proc/.*/?(?:environ|mem|auxv|maps|cmdline)|/proc/kcore|/dev/(?:mem|kmem|port)|/dev/(?:tcp|udp)/.*"
)


def protected_write(
    located: Located,
    *,
    roots: Iterable[str],
    home: str,
    own_dirs: Iterable[str] = (),
    sure: bool = True,
    in_place: bool = False,
) -> str | None:
    """Why changing this path needs a person, by any of its names; None for an ordinary path.

    Not `sure`: the path is only an argument of a program nobody knows; system paths are then commonplace.
    `in_place`: it is opened and written to, never removed, replaced or given another mode.
    """
    roots, own_dirs = tuple(roots), tuple(own_dirs)
    if in_place and _STREAMS.fullmatch(located.written):
        return None
    if sure and (reason := protected_node(located)):
        return reason
    for name in located.names:
        if any(under(name, own) for own in own_dirs):
            return "Assent's own settings and data"
        below, in_root = _below_root(name, roots)
        if reason := _named(below):
            return reason
        if not sure:
            continue
        if not in_root and name.startswith(_SYSTEM) and any(under(name, system) for system in _SYSTEM):
            return "a system file"
        if name == home.rstrip("/") or name == "/":
            return "a whole home or system directory"
    return None


def protected_node(located: Located) -> str | None:
    """Why nobody removes or replaces it, or changes its mode: the whole machine writes to it, or starts from it."""
    if located.device or any(under(name, place) for name in located.names for place in _NODES):
        return "a device, or a file of the kernel or its start"
    return None


def protected_name(path: str, roots: Iterable[str]) -> str | None:
    """Why the iron gate asks about this very path, by its names alone."""
    return _named(_below_root(path, tuple(roots))[0])


def protected_read(located: Located, *, roots: Iterable[str]) -> str | None:
    """Why even reading this path needs a person."""
    roots = tuple(roots)
    for name in located.names:
        if _PROCESS_SECRETS.fullmatch(name):
            return "the memory, environment or sockets of a process"
        if name in ("/etc/shadow", "/etc/gshadow", "/etc/sudoers"):
            return "the system's passwords"
        parts = [fold(part) for part in _below_root(name, roots)[0].split("/")]
        if parts[-1].endswith(".pub"):
            continue
        if parts[-1] in _SECRET_NAMES or any(part in _SECRET_DIRECTORIES for part in parts):
            return "keys and passwords"
        if any(pair in _SECRET_PAIRS for pair in pairwise(parts)):
            return "keys and passwords"
    return None


def root_at_risk(located: Located, *, roots: Iterable[str], home: str) -> str | None:
    """Why removing or moving this path would take a whole workspace, home or system with it."""
    for name in located.names:
        if name.count("/") == 1:
            return "a directory at the top of the system"
        if under(home.rstrip("/"), name):
            return "the home directory"
        for root in roots:
            if under(root, name):
                return "a whole workspace folder"
    return None


def mentions_protected(text: str) -> str | None:
    """For shell text nobody could parse: the name of a protected place in it, if any, with its quotes or without."""
    folded = fold(text)
    for spelled in dict.fromkeys((folded, re.sub(r"\\\n|[\\'\"]", "", folded))):
        for word in re.split(r"[\s'\"=;&|()<>{},:$`\\]+", spelled):
            if reason := _named(word):
                return reason
    return None


@lru_cache(maxsize=8192)
def _named(path: str) -> str | None:
    folder, slash, last = path.rpartition("/")
    reason, parent = _of_folder(folder) if slash else (None, "")
    return reason or _of_part(_part(last)) or _PAIRS.get((parent, _part(last))) or _by_pattern(_part(last))


@lru_cache(maxsize=4096)
def _of_folder(path: str) -> tuple[str | None, str]:
    """Why what lies in the folder counts, and the folder's own name."""
    parts = [_part(part) for part in path.split("/")]
    reasons = (*map(_of_part, parts), *map(_PAIRS.get, pairwise(parts)))
    return next(filter(None, reasons), None), parts[-1]


def _part(part: str) -> str:
    """One name as the file systems that take most for the same would see it."""
    folded = fold(part).rstrip(". ") or part
    return folded.split(":", 1)[0] if ":" in folded else folded  # NTFS streams: .git::$INDEX_ALLOCATION


def _of_part(part: str) -> str | None:
    if reason := _FOLDERS.get(part) or _NAMES.get(part):
        return reason
    return _FOLDERS[".git"] if part.startswith("git~") and _GIT_SHORT_NAME.fullmatch(part) else None


def _by_pattern(part: str) -> str | None:
    if not _ANY_PATTERN.fullmatch(part):
        return None
    return next(reason for pattern, reason in _PATTERNS if pattern.fullmatch(part))


def _below_root(name: str, roots: tuple[str, ...]) -> tuple[str, bool]:
    """The part of the path below the deepest root that holds it, and whether there is one."""
    best = ""
    for root in roots:
        if len(root) > len(best) and name.startswith(root) and under(name, root):
            best = root
    return (name[len(best.rstrip("/")) + 1 :], True) if best else (name, False)
