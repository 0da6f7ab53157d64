"""Memory (X): the instruction files that the user and the project want every session to know.

    managed   /etc/claude-code/CLAUDE.md, of whoever manages the machine
    user      ASSENT.md, AGENTS.md, CLAUDE.md of our own folder, ~/.claude/CLAUDE.md, rules of ~/.claude and ~/.copilot
    project   from the root of the file system down to the working directory: ASSENT.md, AGENTS.md, CLAUDE.md,
              .claude/CLAUDE.md, CLAUDE.local.md; inside the repository also rules (`instructions/rules.py`)
    nested    the same files of the folders between the working directory and a file that was touched, and every rule
              whose patterns cover that file

`@path` in one imports another. Memory only informs: nothing in it grants a permission or runs anything. Notes that
Assent took itself (`auto`) come after the user's and import nothing. A project's files, links and imports included,
must lie in the project: otherwise a checkout could put the user's private files into the prompt.

Loading happens in a thread, cached by the files' times. What is there and cannot be read comes back as refused, with
the reason, for the user to see: memory never fails a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

import anyio.to_thread

from assent.extensions import frontmatter
from assent.extensions.instructions import instruction_rules
from assent.extensions.instructions.imports import imports, without_comments
from assent.extensions.instructions.instruction_rules import InstructionRule
from assent.extensions.places import project_folders
from assent.types.regular_files import read_regular

NAMES = ("ASSENT.md", "AGENTS.md", "CLAUDE.md")
IN_FOLDER = (*NAMES, ".claude/CLAUDE.md", "CLAUDE.local.md")
MAX_BYTES = 200_000  # of a file that are read
LARGEST = 5_000_000  # a file beyond that is no notes
MAX_IMPORTS = 4  # hops from the first file
CHOSEN = "Rules that may concern the task; Read the file of one that does:"

Reason = Literal["session_start", "nested_traversal", "path_glob_match", "include", "compact"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    """`reason` and the fields below it say why it was loaded, as the InstructionsLoaded hooks are told."""

    path: str
    text: str
    scope: str  # managed, user, auto, project, local, nested
    refused: str = ""  # why it was not read; then there is no text
    line: int | None = None  # where that shows, in an importing file
    kind: str = "notes"  # notes, rule, import, rules (a list of those the model may choose)
    reason: Reason = "session_start"
    globs: tuple[str, ...] = ()
    parent: str = ""  # the file that imports it


class MemorySource(Protocol):
    async def load(self, cwd: str) -> list[MemoryFile]:
        """The user's files and the project's, outermost first."""
        ...

    async def nested(self, path: str, cwd: str) -> list[MemoryFile]:
        """Memory files between cwd and the folder of `path`, for a file that was just touched."""
        ...


@dataclass(frozen=True, slots=True)
class _Wanted:
    path: Path
    scope: str
    bounds: tuple[Path, ...] = ()
    reason: Reason = "session_start"


class MemoryFiles:
    """Memory on disk. `user_dirs` hold the user's own files; `home` ends the walk up the tree; `auto` says where the
    notes of a workspace are that Assent took itself; `claude_home` is ~/.claude or wherever it was moved to; `managed`
    is the file of whoever manages the machine."""

    def __init__(
        self,
        *,
        user_dirs: Iterable[Path] = (),
        home: Path | None = None,
        auto: Callable[[str], Path] | None = None,
        claude_home: Path | None = None,
        managed: Path | None = None,
    ) -> None:
        self._user_dirs = tuple(user_dirs)
        self._home = home
        self._auto = auto
        self._claude_home = claude_home
        self._managed = managed
        self._cache: dict[Path, tuple[int, str]] = {}
        self._rules: dict[str, tuple[str, InstructionRule]] = {}

    async def load(self, cwd: str) -> list[MemoryFile]:
        return await anyio.to_thread.run_sync(self.load_now, cwd)

    async def nested(self, path: str, cwd: str) -> list[MemoryFile]:
        return await anyio.to_thread.run_sync(self.nested_now, path, cwd)

    def load_now(self, cwd: str) -> list[MemoryFile]:
        base = Path(cwd)
        inside = _real(base)
        wanted = [_Wanted(self._managed, "managed")] if self._managed is not None else []
        wanted += [_Wanted(folder / name, "user") for folder in self._user_dirs for name in NAMES]
        if self._claude_home is not None:
            wanted.append(_Wanted(self._claude_home / "CLAUDE.md", "user"))
        if self._auto is not None:
            wanted.append(_Wanted(self._auto(cwd), "auto"))
        for folder in self._upwards(base):
            bounds = (_real(folder), inside)
            wanted += [_Wanted(folder / name, _project_scope(name), bounds) for name in IN_FOLDER]
        found = self._read_all(wanted)
        chosen: list[InstructionRule] = []
        for rule, scope, refused in self._all_rules(cwd):
            if refused:
                found.append(_as_refused(rule, scope, refused))
            elif rule.when == "always":
                found.append(_as_file(rule, scope, "session_start"))
            elif rule.when == "chosen":
                chosen.append(rule)
        if chosen:
            lines = [f"- {rule.path}: {' '.join(rule.description.split())}" for rule in chosen]
            text = "\n".join([CHOSEN, *lines])
            found.append(MemoryFile(path=chosen[0].base, text=text, scope="project", kind="rules"))
        return _once(found)

    def nested_now(self, path: str, cwd: str) -> list[MemoryFile]:
        base, folder = Path(cwd), Path(path).parent
        if not folder.is_relative_to(base):
            return []
        parts = folder.relative_to(base).parts
        between = [base.joinpath(*parts[: depth + 1]) for depth in range(len(parts))]
        bounds = (_real(base),)
        reason: Reason = "nested_traversal"
        found = self._read_all(
            [_Wanted(each / name, "nested", bounds, reason) for each in between for name in IN_FOLDER]
        )
        for each in between:
            for rule, _, refused in self._rules_in(str(each), "nested", cwd):
                if refused:
                    found.append(_as_refused(rule, "nested", refused))
                elif rule.when == "always":
                    found.append(_as_file(rule, "nested", reason))
                elif rule.when == "matching" and rule.covers(path):
                    found.append(_as_file(rule, "nested", "path_glob_match"))
        for rule, scope, refused in self._all_rules(cwd):
            if not refused and rule.when == "matching" and rule.covers(path):
                found.append(_as_file(rule, scope, "path_glob_match"))
        return _once(found)

    # --- which folders -----------------------------------------------------------------------------------------------

    def _upwards(self, cwd: Path) -> list[Path]:
        """From the outermost folder that counts down to cwd. Above the home folder nothing is the user's project."""
        folders = [cwd, *cwd.parents]
        if self._home is not None and self._home in folders:
            folders = folders[: folders.index(self._home)]
        return list(reversed(folders))

    def _all_rules(self, cwd: str) -> Iterable[tuple[InstructionRule, str, str]]:
        if self._claude_home is not None:
            yield from self._rules_of(str(self._claude_home / "rules"), ".md", cwd, "user", "")
        if self._home is not None:
            yield from self._rules_of(str(self._home / ".copilot/instructions"), ".instructions.md", cwd, "user", "")
        folders = project_folders(cwd, str(self._home or ""))
        for folder in reversed(folders):
            yield from self._rules_in(folder, "project", folders[-1])

    def _rules_in(self, folder: str, scope: str, bound: str) -> Iterable[tuple[InstructionRule, str, str]]:
        for name, ending in instruction_rules.FOLDERS:
            yield from self._rules_of(f"{folder}/{name}", ending, folder, scope, bound)
        for name in instruction_rules.SINGLE:
            yield from self._one_rule(f"{folder}/{name}", folder, scope, bound)

    def _rules_of(
        self, folder: str, ending: str, base: str, scope: str, bound: str
    ) -> Iterable[tuple[InstructionRule, str, str]]:
        for path in instruction_rules.rule_paths(folder, ending):
            yield from self._one_rule(path, base, scope, bound)

    def _one_rule(self, path: str, base: str, scope: str, bound: str) -> Iterable[tuple[InstructionRule, str, str]]:
        empty = InstructionRule(path=path, base=base, when="never", text="")
        try:
            text = self._text(Path(path))
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            yield empty, scope, error.strerror or str(error)
            return
        if bound and not _real(Path(path)).is_relative_to(_real(Path(bound))):
            yield empty, scope, "leads out of the project"
            return
        known = self._rules.get(path)
        if known is None or known[0] is not text or known[1].base != base:
            front = frontmatter.read(text)
            known = self._rules[path] = (text, instruction_rules.rule_of(path, base, front))
        yield known[1], scope, ""
        for complaint in known[1].complaints:
            yield replace(empty, complaints=(complaint,)), scope, complaint.text

    # --- reading -----------------------------------------------------------------------------------------------------

    def _read_all(self, wanted: Iterable[_Wanted]) -> list[MemoryFile]:
        found: list[MemoryFile] = []
        for each in wanted:
            follow = each.scope != "auto"
            for file in self._with_imports(each.path, each.bounds, 0 if follow else MAX_IMPORTS):
                why: Reason = "include" if file.parent else each.reason
                found.append(replace(file, scope=each.scope, reason=why))
        return found

    def _with_imports(
        self, path: Path, bounds: tuple[Path, ...], depth: int = 0, via: tuple[Path, ...] = ()
    ) -> list[MemoryFile]:
        """The file and what it imports, or why not; with bounds, only what really lies inside one of them."""
        real = _real(path)
        if bounds and not any(real.is_relative_to(bound) for bound in bounds):
            return [_refused(path, "leads out of the project")] if depth == 0 and path.is_symlink() else []
        try:
            text = self._text(path)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            return [_refused(path, error.strerror or str(error))]
        here = MemoryFile(path=str(path), text=without_comments(text), scope="", parent=str(via[-1]) if via else "")
        found = [replace(here, kind="import") if via else here]
        if depth == 0 and not text.strip():
            return []
        for each in imports(text) if depth < MAX_IMPORTS else ():
            target = Path(each.path).expanduser() if each.path.startswith("~") else Path(each.path)
            imported = target if target.is_absolute() else path.parent / target
            if _real(imported) in (real, *map(_real, via)):
                words = f"imports {each.path}, which leads back to it; the import is left out"
                found.append(_refused(path, words, each.line))
                continue
            parts = self._with_imports(imported, bounds, depth + 1, (*via, path))
            if not parts and each.alone:
                outside = bounds and not any(_real(imported).is_relative_to(bound) for bound in bounds)
                why = "lies outside of the project" if outside else "is not there"
                parts = [_refused(path, f"imports {each.path}, which {why}", each.line)]
            in_passing = not each.alone and len(parts) == 1 and parts[0].refused and parts[0].line is None
            found += [] if in_passing else parts  # a word such as @team may happen to name a folder
        return found

    def _text(self, path: Path) -> str:
        stamp = path.stat().st_mtime_ns
        cached = self._cache.get(path)
        if cached is not None and cached[0] == stamp:
            return cached[1]
        text = read_regular(path, limit=LARGEST).data[:MAX_BYTES].decode("utf-8-sig", "replace")
        self._cache[path] = (stamp, text)
        return text


def as_context(files: Iterable[MemoryFile]) -> str:
    """Memory as the model reads it, each file with where it comes from."""
    what = {
        "managed": "notes of whoever manages this machine",
        "user": "the user's own notes",
        "auto": "notes you took in earlier sessions; they may be out of date",
        "project": "notes of the project",
        "local": "the user's own notes on this project",
        "nested": "notes of this folder",
    }
    return "\n\n".join(
        f'<memory path="{file.path}" from="{what.get(file.scope, file.scope)}">\n{file.text.strip()}\n</memory>'
        for file in files
        if not file.refused
    )


def refusals(files: Iterable[MemoryFile]) -> tuple[str, ...]:
    """What to tell the user of files that were not read."""
    return tuple(
        f"{file.path}:{file.line}{':' if file.kind == 'rule' else ''} {file.refused}"
        if file.line is not None
        else f"{file.path} is not used as memory: it {file.refused}"
        for file in files
        if file.refused
    )


def _project_scope(name: str) -> str:
    return "local" if name == "CLAUDE.local.md" else "project"


def _as_file(rule: InstructionRule, scope: str, reason: Reason) -> MemoryFile:
    text = without_comments(rule.text)
    return MemoryFile(path=rule.path, text=text, scope=scope, kind="rule", reason=reason, globs=rule.patterns)


def _as_refused(rule: InstructionRule, scope: str, words: str) -> MemoryFile:
    line = rule.complaints[0].line if rule.complaints else None
    return MemoryFile(path=rule.path, text="", scope=scope, kind="rule", refused=words, line=line)


def _refused(path: Path, words: str, line: int | None = None) -> MemoryFile:
    return MemoryFile(path=str(path), text="", scope="", refused=words, line=line)


def _once(files: Iterable[MemoryFile]) -> list[MemoryFile]:
    """Each file once, however it was reached; files without a word are left out."""
    found: list[MemoryFile] = []
    seen: set[object] = set()
    for file in files:
        key: object = (file.path, file.refused) if file.refused else _real(Path(file.path))
        if key not in seen and (file.text.strip() or file.refused):
            seen.add(key)
            found.append(file)
    return found


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
