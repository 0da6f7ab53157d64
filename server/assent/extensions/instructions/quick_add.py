"""A quick note: a prompt `# always use tabs` becomes a line of an instruction file.

Says which file and what it should hold; who asked writes it.
"""

from __future__ import annotations

import os
import re
from typing import Literal

NoteScope = Literal["project", "local", "user"]
_NOTE = re.compile(r"#(?!#)[ \t]*(?P<text>\S[^\n]*)")
NAMES = ("ASSENT.md", "AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md")


def note_of(prompt: str) -> str | None:
    """The note, when the prompt is exactly one: a single line that begins with one number sign."""
    match = _NOTE.fullmatch(prompt.strip())
    return match["text"].strip() if match is not None else None


def note_file(scope: NoteScope, *, cwd: str, config: str) -> str:
    """Where a note goes: the project's own file that is already there, else a new ASSENT.md."""
    if scope == "user":
        return f"{config}/ASSENT.md"
    if scope == "local":
        return f"{cwd}/CLAUDE.local.md"
    there = next((name for name in NAMES if os.path.isfile(f"{cwd}/{name}")), NAMES[0])  # noqa: PTH113 -- four names
    return f"{cwd}/{there}"


def with_note(text: str, note: str) -> str:
    """The file's text with the note at its end, as an item of a list."""
    line = f"- {' '.join(note.split())}"
    if line in text.splitlines():
        return text
    if not text.strip():
        return f"{line}\n"
    separator = "" if text.endswith("\n") else "\n"
    last = text.rstrip().rsplit("\n", 1)[-1]
    gap = "" if last.lstrip().startswith(("- ", "* ")) else "\n"
    return f"{text}{separator}{gap}{line}\n"
