"""Rules: instruction files with a header that says for which files they count.

    .claude/rules/**/*.md                 `paths`                      without it: always
    .github/instructions/**/*.instructions.md   `applyTo`              `**` or without it: always
    .cursor/rules/**/*.mdc                `globs`, `alwaysApply`       neither, but a description: the model chooses

Patterns start at the folder that holds `.claude`, `.github` or `.cursor`; one without a slash matches at any depth.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from assent.extensions.frontmatter import Complaint, Frontmatter
from assent.text.globs import BadPattern, check_pattern, compiled

When = Literal["always", "matching", "chosen", "never"]
FOLDERS = (
    (".claude/rules", ".md"),
    (".github/instructions", ".instructions.md"),
    (".cursor/rules", ".mdc"),
)
SINGLE = (".github/copilot-instructions.md", ".cursorrules")
DEEPEST = 5
MOST = 500
MOST_BRACES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionRule:
    path: str
    base: str  # where its patterns start
    when: When
    text: str
    patterns: tuple[str, ...] = ()
    description: str = ""
    complaints: tuple[Complaint, ...] = ()  # of its header

    def covers(self, path: str) -> bool:
        return any(matches(pattern, path, self.base) for pattern in self.patterns)


def rule_of(path: str, base: str, front: Frontmatter) -> InstructionRule:
    """A rule as its file says it. `base` is where its patterns start."""
    if path.endswith(".mdc"):
        patterns = front.patterns("globs")
        if front.flag("alwaysApply"):
            when: When = "always"
        elif patterns:
            when = "matching"
        else:
            when = "chosen" if front.text("description") else "never"
    else:
        patterns = front.patterns("applyTo" if path.endswith(".instructions.md") else "paths")
        when = "matching" if patterns and "**" not in patterns else "always"
    return InstructionRule(
        path=path,
        base=base,
        when=when,
        text=front.body,
        patterns=patterns,
        description=front.text("description"),
        complaints=front.complaints,
    )


def rule_paths(folder: str, ending: str) -> Iterator[str]:
    """The rule files of one folder and of its folders, in order of their names."""
    waiting, count = [(folder, 0)], 0
    while waiting:
        current, depth = waiting.pop()
        try:
            with os.scandir(current) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name.endswith(ending):
                count += 1
                if count > MOST:
                    return
                yield entry.path
            elif depth < DEEPEST and entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, depth + 1))


def matches(pattern: str, path: str, base: str) -> bool:
    """Whether the pattern, which starts at `base`, covers an absolute path."""
    for plain in expanded(pattern):
        name = plain.removeprefix("./")
        if not name.strip("/"):
            continue
        try:
            check_pattern(name)
        except BadPattern:
            continue
        anchored = f"{base}/{name.lstrip('/')}" if "/" in name.rstrip("/") else f"{base}/**/{name}"
        if compiled(anchored, folded=False).fullmatch(path):
            return True
    return False


def expanded(pattern: str) -> list[str]:
    """`a.{ts,tsx}` as the patterns it stands for; too many of them are cut off."""
    found = [pattern]
    while len(found) < MOST_BRACES:
        at = next((index for index, each in enumerate(found) if _brace(each) is not None), None)
        if at is None:
            break
        start, end = _brace(found[at]) or (0, 0)
        head, inner, tail = found[at][:start], found[at][start + 1 : end], found[at][end + 1 :]
        found[at : at + 1] = [f"{head}{part}{tail}" for part in _alternatives(inner)]
    return found[:MOST_BRACES]


def _brace(pattern: str) -> tuple[int, int] | None:
    """Where the first pair of braces with a comma in it stands."""
    start = pattern.find("{")
    while start >= 0:
        depth = 0
        for at in range(start, len(pattern)):
            depth += {"{": 1, "}": -1}.get(pattern[at], 0)
            if depth == 0:
                if "," in pattern[start:at]:
                    return start, at
                break
        start = pattern.find("{", start + 1)
    return None


def _alternatives(inner: str) -> Iterable[str]:
    part, depth = "", 0
    for character in inner:
        if character == "," and depth == 0:
            yield part
            part = ""
            continue
        depth += {"{": 1, "}": -1}.get(character, 0)
        part += character
    yield part
