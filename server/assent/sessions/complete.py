"""Completion of what a person types: `@` names files of the workspace, `/` at the start names commands.

File names are listed once and kept; an old list is used while a new one is made. Names are matched in one pass over
plain strings, so that a hundred thousand files are no reason to wait.
"""

import asyncio
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import islice

import anyio.to_thread

from assent.tools.search.ignore_rules import rules_are_sound
from assent.tools.search.ripgrep import NEVER_SEARCHED, bounded, system_program
from assent.types.blocks import Json

MOST_ITEMS = 50
MOST_FILES = 500_000
MOST_SCORED = 2_000
FRESH_SECONDS = 5.0
COMMON = "qjzxkvbwyfhgmdulpcr_-natosie/."  # letters of file names, the rare ones first; what is not here is rarer still
_FILE = re.compile(r'(?:^|(?<=[\s(\[{]))@("[^"\n]*|[^\s"]*)$')
_COMMAND = re.compile(r"^\s*/([\w:-]*)$")


@dataclass(slots=True)
class FileList:
    """The files of one folder, and the folders they are in, as relative paths."""

    root: str
    names: list[str] = field(default_factory=list[str])
    folded: list[str] = field(default_factory=list[str])  # in lower case
    own: list[str] = field(default_factory=list[str])  # only the last part of each
    made: float = float("-inf")
    making: "asyncio.Task[None] | None" = None


def fill(files: FileList, names: list[str]) -> None:
    _take(files, names, *_forms(names))


def _take(files: FileList, names: list[str], folded: list[str], own: list[str]) -> None:
    files.names, files.folded, files.own = names, folded, own


def _forms(names: list[str]) -> tuple[list[str], list[str]]:
    folded = [name.casefold() for name in names]
    return folded, [name[name.rfind("/", 0, -1) + 1 :] for name in folded]


class Completion:
    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._lists: dict[str, FileList] = {}
        self._clock = clock

    async def complete(self, text: str, offset: int, *, folders: Sequence[str], commands: Sequence[Json]) -> list[Json]:
        """`folders` are the session's own, if there is a session, then the workspace's: files come in this order."""
        before = _before(text, offset)
        if (match := _COMMAND.search(before)) is not None:
            return command_items(match.group(1), commands)
        if (match := _FILE.search(before)) is not None:
            query = match.group(1).removeprefix('"')
            found: list[Json] = []
            for root in folders:
                names = best(await self.files(root), query.casefold()) if len(found) < MOST_ITEMS else []
                found += [file_item(name, root="" if root == folders[0] else root) for name in names]
            return found[:MOST_ITEMS]
        return []

    async def files(self, cwd: str) -> FileList:
        """The list, at once if there is one: a stale one is replaced behind the scenes."""
        known = self._lists.setdefault(cwd, FileList(cwd))
        if self._clock() - known.made > FRESH_SECONDS and known.making is None:
            known.making = asyncio.get_running_loop().create_task(self._refresh(known))
        if known.made == float("-inf") and known.making is not None:
            await asyncio.shield(known.making)
        return known

    async def _refresh(self, known: FileList) -> None:
        try:
            names = await anyio.to_thread.run_sync(list_files, known.root)
            folded, own = await anyio.to_thread.run_sync(_forms, names)
            _take(known, names, folded, own)  # here, not in the thread: someone may be reading the three lists
        finally:
            known.made = self._clock()
            known.making = None


def best(files: FileList, query: str) -> list[str]:
    """The names that fit best: the file's own name before its path, a beginning before a middle, short before long."""
    names, folded, own = files.names, files.folded, files.own
    if not query:
        return nsmallest(MOST_ITEMS, names, key=lambda name: (name.count("/"), len(name), name))
    hits = [index for index, name in enumerate(folded) if query in name] or _scattered(folded, query)
    for better in (str.__contains__, str.startswith):
        if len(hits) > MOST_SCORED:  # rank only those that can win
            kept = [index for index in hits if better(own[index], query)]
            hits = kept if len(kept) >= MOST_ITEMS else hits
    hits = hits[:MOST_SCORED]
    stem = query.partition(".")[0]

    def rank(index: int) -> tuple[int, int, int, str]:
        name, path = own[index], folded[index]
        at = name.find(query)
        if at == 0:
            place = 0 if name.rstrip("/").partition(".")[0] == stem else 1
        elif at > 0:
            place = 2
        else:
            place = 3 if path.startswith(query) else 4
        return place, path.count("/"), len(path), path

    return [names[index] for index in nsmallest(MOST_ITEMS, hits, key=rank)]


def _scattered(folded: Sequence[str], query: str) -> list[int]:
    """Names that hold the letters in order, when none holds them together. The rarest letters are looked for first."""
    rare, next_rare = sorted(query, key=COMMON.find)[:2] if len(query) > 1 else (query, query)
    hits = [index for index, name in enumerate(folded) if rare in name and next_rare in name]
    fits = re.compile("".join(f"[^{re.escape(letter)}]*{re.escape(letter)}" for letter in query)).match
    return list(islice((index for index in hits if fits(folded[index])), MOST_SCORED // 4))


def list_files(root: str) -> list[str]:
    """Files that version control does not ignore, with their folders (which end in a slash)."""
    files = _by_ripgrep(root)
    if files is None:
        files = _by_walking(root)
    folders: set[str] = set()
    for name in files:
        at = name.rfind("/")
        while at > 0 and name[: at + 1] not in folders:
            folders.add(name[: at + 1])
            at = name.rfind("/", 0, at)
    return [*files, *sorted(folders)]


def _by_ripgrep(root: str) -> list[str] | None:
    import subprocess

    program = system_program()
    if program is None:
        return None
    hidden = [f"--glob=!{name}" for name in NEVER_SEARCHED]
    flags = ["--files", "--null", "--no-config", "--no-messages", "--hidden", "--no-require-git", *hidden]
    if not rules_are_sound(root):
        flags.append("--no-ignore")
    environment = {"PATH": os.defpath, "HOME": "/nonexistent"}
    try:
        done = subprocess.run(
            bounded([program, *flags]),
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return [os.fsdecode(name) for name in done.stdout.split(b"\0")[:MOST_FILES] if name]


def _by_walking(root: str) -> list[str]:
    found: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in NEVER_SEARCHED and name != "node_modules"]
        base = os.path.relpath(folder, root)
        found += [name if base == "." else f"{base}/{name}" for name in files]
        if len(found) > MOST_FILES:
            break
    return found


def file_item(name: str, *, root: str = "") -> Json:
    """A file of another root is named by its whole path: relative names belong to the session's own folder."""
    folder, _, own = name.rstrip("/").rpartition("/")
    if root:
        folder = f"{root.rpartition('/')[2]}/{folder}".rstrip("/")
        name = f"{root}/{name}"
    reference = f'@"{name}"' if " " in name else f"@{name}"
    kind = "folder" if name.endswith("/") else "file"
    return {"label": own + ("/" if kind == "folder" else ""), "insertText": reference, "kind": kind, "detail": folder}


def command_items(typed: str, commands: Sequence[Json]) -> list[Json]:
    typed = typed.casefold()
    fitting = [command for command in commands if typed in str(command.get("name", "")).casefold()]
    fitting.sort(key=lambda command: (not str(command["name"]).casefold().startswith(typed), str(command["name"])))
    return [
        {
            "label": f"/{command['name']}",
            "insertText": f"/{command['name']}" + (" " if command.get("argumentHint") else ""),
            "kind": "command",
            "detail": str(command.get("description", "")),
        }
        for command in fitting[:MOST_ITEMS]
    ]


def _before(text: str, offset: int) -> str:
    """The text before the cursor; offsets count UTF-16 units, as editors do."""
    if text.isascii() or offset >= len(text) * 2:
        return text[:offset]
    return text.encode("utf-16-le")[: offset * 2].decode("utf-16-le", "ignore")
