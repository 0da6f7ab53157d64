"""Commits and trees of a git repository, read from its files: which paths differ between two of them.

Starts no program and heeds no configuration, so that it can be used where nothing of the repository may run. Reads
loose objects, packs with version 2 indexes, loose and packed refs. What it does not understand, and what would take too
long, raises `Unreadable`: then nobody can tell.
"""

import os
import re
import zlib
from collections.abc import Iterator
from functools import cached_property

from assent.types.git_packs import LARGEST, Pack, Unreadable
from assent.types.regular_files import Signature, read_regular, signature

MOST = 400  # objects for one question
_REF_FILE = 4096
_STEP = re.compile(r"\^(\d{1,2})?|~(\d{1,3})?")
_NAMES = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
_MOVED = re.compile(rb"\tcheckout: moving from (\S+) to \S+$")

Entry = tuple[str, bytes]  # mode in octal, object id
_TREES: dict[tuple[str, bytes], tuple[Signature, dict[str, Entry]]] = {}
"""Trees that were read, by repository and id, with the state of the file they were in."""
_MOST_TREES = 8192

__all__ = ["MOST", "Entry", "GitObjects", "Unreadable"]


class GitObjects:
    """`store` is the git directory of the checkout, `common` the one it shares with other worktrees."""

    def __init__(self, store: str, common: str, *, hash_size: int = 20) -> None:
        self._store = store
        self._common = common
        self._size = hash_size
        self._left = MOST
        if _replaced(common):
            raise Unreadable("objects that stand for others")

    # --- names -------------------------------------------------------------------------------------------------------

    def commit(self, name: str) -> bytes:
        """The commit that a revision means. Several meanings, or a form that is not read here, are nobody's guess."""
        match = re.fullmatch(r"(-|@\{-1\}|@|[\w][\w./+-]*)((?:\^\d{0,2}|~\d{0,3})*)", name)
        if match is None or ".." in name:
            raise Unreadable(name)
        found = self._named(match[1])
        for step in _STEP.finditer(match[2]):
            for _ in range(int(step[2] or 1) if step[0].startswith("~") else 1):
                parents = self.parents(found)
                number = int(step[1] or 1) if step[0].startswith("^") else 1
                if number == 0:
                    continue
                if number > len(parents):
                    raise Unreadable(name)
                found = parents[number - 1]
        return found

    def branch(self) -> str | None:
        """The branch that is checked out."""
        try:
            text = read_regular(f"{self._store}/HEAD", limit=_REF_FILE, follow=False).data.decode().strip()
        except (OSError, UnicodeDecodeError):
            return None
        return text.removeprefix("ref: refs/heads/") if text.startswith("ref: refs/heads/") else None

    def tracking(self, branch: str) -> list[str]:
        """The refs under which remotes' branches of this name were fetched."""
        return [
            ref for ref in dict.fromkeys(self._candidates(branch)) if ref.startswith("refs/remotes/") and self._ref(ref)
        ]

    def _named(self, name: str) -> bytes:
        if name in ("-", "@{-1}"):
            name = self._moved_from()
        found = {value for each in self._candidates("HEAD" if name == "@" else name) if (value := self._ref(each))}
        if re.fullmatch(r"[0-9a-f]{4,64}", name):
            found |= set(self._abbreviated(name))
        commits = {self._peeled(each) for each in found}
        if len(commits) != 1:
            raise Unreadable(name)
        return commits.pop()

    def _candidates(self, name: str) -> Iterator[str]:
        yield from (pattern.format(name) for pattern in _NAMES)
        try:
            for remote in os.listdir(f"{self._common}/refs/remotes"):  # noqa: PTH208  `checkout` makes a branch of a remote's
                yield f"refs/remotes/{remote}/{name}"
        except OSError:
            pass
        for ref in self._packed_refs:
            if ref.startswith("refs/remotes/") and ref.split("/", 3)[3:] == [name]:
                yield ref

    def _ref(self, name: str, depth: int = 0) -> bytes | None:
        place = self._common if name.startswith("refs/") else self._store
        try:
            text = read_regular(f"{place}/{name}", limit=_REF_FILE, follow=False).data.decode().strip()
        except (OSError, UnicodeDecodeError):
            return self._packed_refs.get(name)
        if text.startswith("ref: ") and depth < 5:
            return self._ref(text.removeprefix("ref: ").strip(), depth + 1)
        line = text.partition("\t")[0] if "\n" not in text else ""
        return bytes.fromhex(line) if re.fullmatch(rf"[0-9a-f]{{{self._size * 2}}}", line) else None

    @cached_property
    def _packed_refs(self) -> dict[str, bytes]:
        if os.path.isdir(f"{self._common}/reftable"):  # noqa: PTH112
            raise Unreadable("reftable")
        try:
            text = read_regular(f"{self._common}/packed-refs", limit=LARGEST, follow=False).data.decode()
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError):
            raise Unreadable("packed-refs") from None
        lines = re.findall(rf"^([0-9a-f]{{{self._size * 2}}}) (\S+)$", text, re.M)
        return {name: bytes.fromhex(value) for value, name in lines}

    def _moved_from(self) -> str:
        try:
            log = read_regular(f"{self._store}/logs/HEAD", limit=LARGEST, follow=False).data
        except OSError:
            raise Unreadable("HEAD's log") from None
        for line in reversed(log.splitlines()):
            if found := _MOVED.search(line):
                return os.fsdecode(found[1])
        raise Unreadable("HEAD's log")

    def _abbreviated(self, start: str) -> list[bytes]:
        folder = f"{self._common}/objects/{start[:2]}"
        loose = os.listdir(folder) if os.path.isdir(folder) else []  # noqa: PTH112, PTH208
        found = [bytes.fromhex(start[:2] + name) for name in loose if name.startswith(start[2:])]
        for pack in self._packs:
            found += [each for each in pack.beginning(int(start[:2], 16)) if each.hex().startswith(start)]
        return found

    def _peeled(self, name: bytes) -> bytes:
        for _ in range(5):
            kind, data = self.read(name)
            if kind != "tag":
                break
            name = bytes.fromhex(data.split(b"\n")[0].removeprefix(b"object ").decode())
        else:
            raise Unreadable("tag")
        if kind != "commit":
            raise Unreadable(kind)
        return name

    # --- trees -------------------------------------------------------------------------------------------------------

    def parents(self, commit: bytes) -> list[bytes]:
        return self._of_commit(commit, b"parent")

    def tree(self, commit: bytes) -> bytes:
        return self._of_commit(commit, b"tree")[0]

    def _of_commit(self, commit: bytes, what: bytes) -> list[bytes]:
        kind, data = self.read(commit)
        if kind != "commit":
            raise Unreadable(kind)
        head = data.partition(b"\n\n")[0]
        return [bytes.fromhex(line.split(b" ")[1].decode()) for line in head.split(b"\n") if line.startswith(what)]

    def differing(self, one: bytes | None, other: bytes | None, prefix: str = "") -> Iterator[tuple[str, Entry | None]]:
        """Files, links and submodules that are not the same in two trees: path, and what the other one has there.

        None is an empty tree.
        """
        if one == other:
            return
        if one is None and other is not None:
            yield from self._everything(other, prefix)
            return
        old, new = self._entries(one), self._entries(other)
        for name in (*new, *(each for each in old if each not in new)):
            before, after = old.get(name), new.get(name)
            if before == after:
                continue
            trees = [entry[1] if entry is not None and entry[0] == "40000" else None for entry in (before, after)]
            if any(entry is not None and entry[0] != "40000" for entry in (before, after)):
                yield f"{prefix}{name}", None if trees[1] else after
            if any(trees):
                yield from self.differing(trees[0], trees[1], f"{prefix}{name}/")

    def _everything(self, tree: bytes, prefix: str) -> Iterator[tuple[str, Entry]]:
        pending = [(prefix, tree)]
        while pending:
            folder, id = pending.pop()
            for name, entry in self._entries(id).items():
                if entry[0] == "40000":
                    pending.append((f"{folder}{name}/", entry[1]))
                else:
                    yield f"{folder}{name}", entry

    def _entries(self, tree: bytes | None) -> dict[str, Entry]:
        if tree is None:
            return {}
        self._count()
        key = (self._common, tree)
        held = self._held(tree)
        if held and (known := _TREES.get(key)) is not None and known[0] == held:
            return known[1]
        kind, data = self._found(tree)
        if kind != "tree":
            raise Unreadable(kind)
        found: dict[str, Entry] = {}
        position = 0
        while position < len(data):
            end = data.index(b"\0", position)
            mode, _, name = data[position:end].partition(b" ")
            position = end + 1 + self._size
            found[os.fsdecode(name)] = (mode.decode(), data[end + 1 : position])
        if held:
            if len(_TREES) >= _MOST_TREES:
                _TREES.clear()
            _TREES[key] = (held, found)
        return found

    def _held(self, name: bytes) -> Signature:
        """What changes with the file that holds the object; empty where nothing is to be remembered of it."""
        text = name.hex()
        try:
            return signature(f"{self._common}/objects/{text[:2]}/{text[2:]}")
        except OSError:
            return self._packs_signature

    @cached_property
    def _packs_signature(self) -> Signature:
        """Of all packs together."""
        each = [pack.signature() for pack in self._packs]
        return tuple(number for one in each for number in one) if all(each) else ()

    # --- objects -----------------------------------------------------------------------------------------------------

    def read(self, name: bytes) -> tuple[str, bytes]:
        self._count()
        return self._found(name)

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Unreadable("too much")

    def _found(self, name: bytes) -> tuple[str, bytes]:
        try:
            return self._loose(name) or self._packed(name)
        except (OSError, zlib.error, ValueError, IndexError):
            raise Unreadable(name.hex()) from None

    def _loose(self, name: bytes) -> tuple[str, bytes] | None:
        text = name.hex()
        try:
            packed = read_regular(f"{self._common}/objects/{text[:2]}/{text[2:]}", limit=LARGEST, follow=False).data
        except FileNotFoundError:
            return None
        whole = zlib.decompressobj().decompress(packed, LARGEST)
        head, _, data = whole.partition(b"\0")
        kind, size = head.decode().split(" ")
        if int(size) != len(data):
            raise ValueError
        return kind, data

    @cached_property
    def _packs(self) -> list[Pack]:
        folder = f"{self._common}/objects/pack"
        if os.path.lexists(f"{self._common}/objects/info/alternates"):
            raise Unreadable("objects of another repository")
        names = os.listdir(folder) if os.path.isdir(folder) else []  # noqa: PTH112, PTH208
        return [Pack(f"{folder}/{name}", self._size) for name in names if name.endswith(".idx")]

    def _packed(self, name: bytes) -> tuple[str, bytes]:
        for pack in self._packs:
            if (offset := pack.offset(name)) is not None:
                return pack.read(offset, self.read)
        raise ValueError


def _replaced(common: str) -> bool:
    """Does git take other objects for some of them (`git replace`), or other parents (the older grafts)?"""
    if os.path.lexists(f"{common}/info/grafts"):
        return True
    try:
        if any(os.scandir(f"{common}/refs/replace")):
            return True
    except OSError:
        pass
    try:
        return b" refs/replace/" in read_regular(f"{common}/packed-refs", limit=LARGEST, follow=False).data
    except OSError:
        return False
