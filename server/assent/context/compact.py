"""Compaction in words: what the summarising call is asked, and what is kept beside its answer (C5).

Pure: the call itself, and reading the files that are kept, belong to the engine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assent.context.steps import steps
from assent.context.tokens import estimate_text
from assent.types.blocks import Block, text_block
from assent.types.messages import ConversationMessage, UserMessage

KEPT_FILES = 5
KEPT_SHARE = 0.15  # of the autocompact mark, for all kept files together
MAX_FAILURES = 3

PROMPT = """\
The conversation is about to be replaced by a summary that you write now. Answer with text only; do not call tools. \
Whoever continues sees nothing but this summary, so write what they need to go on without asking again.

Think it through inside <analysis> tags first: walk through the conversation in order. Then write inside <summary> tags:

1. What the user asked for, in their own words where the wording matters, with every later correction.
2. How things work here: files (absolute paths), functions, commands and conventions that turned out to matter.
3. What was done: each file changed and how; code that must be exact, quoted exactly.
4. What went wrong and how it was solved; what the user disliked.
5. Where the work stands: the task in hand at this very moment, what is finished, what is not.
6. The next step, if one was under way, with the last words of the user that ask for it. Nothing new.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    path: str
    text: str


def request_text(instructions: str = "") -> str:
    """The last message of the summarising call."""
    extra = f"\nThe user asks of this summary: {instructions.strip()}\n" if instructions.strip() else ""
    return PROMPT + extra


def summary_of(answer: str) -> str:
    """The summary inside an answer, with or without its tags; empty when there is none."""
    found = re.search(r"<summary>(.*?)(?:</summary>|\Z)", answer, re.DOTALL)
    text = found.group(1) if found else re.sub(r"<analysis>.*?(?:</analysis>|\Z)", "", answer, flags=re.DOTALL)
    return text.strip()


def kept_blocks(
    *,
    files: Sequence[KeptFile],
    todos: Sequence[Mapping[str, Any]],
    plan: str,
    tasks: Sequence[str],
    skills: Sequence[str],
    room: int,
) -> tuple[Block, ...]:
    """What the model gets back word for word right after the summary, newest files first, within `room` tokens."""
    blocks: list[Block] = []
    if todos:
        lines = "\n".join(f"- [{todo.get('status', 'pending')}] {todo.get('content', '')}" for todo in todos)
        blocks.append(text_block(f"The todo list as it stands:\n{lines}"))
    if plan:
        blocks.append(text_block(f"The plan as it stands:\n{plan}"))
    if tasks:
        blocks.append(text_block("Still running in the background:\n" + "\n".join(f"- {task}" for task in tasks)))
    if skills:
        blocks.append(text_block("Skills in use: " + ", ".join(skills)))
    for file in files[:KEPT_FILES]:
        cost = estimate_text(file.text)
        if cost <= room:
            room -= cost
            blocks.append(text_block(f"{file.path} as it is now:\n{file.text}"))
        else:
            blocks.append(text_block(f"{file.path} was in use; it is too long to keep here. Read it again if needed."))
    return tuple(blocks)


def shortened(view: Sequence[ConversationMessage]) -> tuple[ConversationMessage, ...] | None:
    """The view without its oldest third, for when even the summarising call does not fit; None when nothing is left.

    Cut between steps, so that no call is parted from its result.
    """
    found = steps(view)
    if len(found) < 2:
        return None
    cut = found[max(1, len(found) // 3)].start
    note = UserMessage(
        uuid="shortened", content=(text_block("[The beginning of this conversation did not fit.]"),), is_meta=True
    )
    return (note, *view[cut:])
