"""Compaction in words: what the summarising call is asked, and what is kept beside its answer (C5).

Pure: the call itself, and reading the files that are kept, belong to the engine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assent.context.reread import without_dangling
from assent.context.steps import is_prompt
from assent.context.tokens import estimate_all, estimate_text
from assent.text.words import one_line
from assent.types.blocks import Block, text_block, text_of
from assent.types.messages import AssistantMessage, CompactBoundary, ConversationMessage, UserMessage

KEPT_FILES = 5
KEPT_SHARE = 0.15  # of the autocompact mark, for all kept files together
MAX_FAILURES = 3
QUOTED = 80  # characters of a prompt that was left out
QUOTED_PROMPTS = 5
NOTE = "left_out"  # the uuid of the message that says so
PROMPT_KEPT = "What the user asked for, word for word; this is what you are working on:"

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


def request_text(instructions: str = "", *, prompt_apart: bool = False) -> str:
    """The last message of the summarising call. `prompt_apart`: the latest words of the user are not shown to it."""
    extra = f"\nThe user asks of this summary: {instructions.strip()}\n" if instructions.strip() else ""
    apart = "\nThe user's latest message is not shown here: it is kept word for word beside the summary.\n"
    return PROMPT + extra + (apart if prompt_apart else "")


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
    skills: Mapping[str, str],
    room: int,
    prompt: Sequence[Block] = (),
) -> tuple[Block, ...]:
    """What the model gets back word for word right after the summary, newest files first, within `room` tokens.

    The words of the user that are being answered come last, and count in no room (C6).
    """
    blocks: list[Block] = []
    if todos:
        lines = "\n".join(f"- [{todo.get('status', 'pending')}] {todo.get('content', '')}" for todo in todos)
        blocks.append(text_block(f"The todo list as it stands:\n{lines}"))
    if plan:
        blocks.append(text_block(f"The plan as it stands:\n{plan}"))
    if tasks:
        blocks.append(text_block("Still running in the background:\n" + "\n".join(f"- {task}" for task in tasks)))
    for name, text in reversed(list(skills.items())):  # the newest first: an old one makes way
        cost = estimate_text(text)
        if cost <= room:
            room -= cost
            blocks.append(text_block(f"The skill {name}, which is in use:\n{text}"))
        else:
            blocks.append(text_block(f"The skill {name} was in use; load it again with Skill if it is still needed."))
    for file in files[:KEPT_FILES]:
        cost = estimate_text(file.text)
        if cost <= room:
            room -= cost
            blocks.append(text_block(f"{file.path} as it is now:\n{file.text}"))
        else:
            blocks.append(text_block(f"{file.path} was in use; it is too long to keep here. Read it again if needed."))
    if prompt:
        blocks += [text_block(PROMPT_KEPT), *prompt]
    return tuple(blocks)


def open_prompt(view: Sequence[ConversationMessage]) -> tuple[tuple[Block, ...], frozenset[str]]:
    """The user's last words if nobody has answered them yet: their blocks, and the uuids of their messages."""
    answered = False
    for message in reversed(view):
        if isinstance(message, AssistantMessage) and message.error is None:
            answered = answered or all(block.get("type") != "tool_use" for block in message.content)
        elif is_prompt(message) and isinstance(message, UserMessage):
            return ((), frozenset()) if answered else (message.content, frozenset({message.uuid}))
        elif isinstance(message, CompactBoundary):
            return ((), frozenset()) if answered else (_prompt_in(message), frozenset())
        if answered:
            break
    return (), frozenset()


def prompts_since(messages: Sequence[ConversationMessage], uuid: str) -> tuple[tuple[Block, ...], frozenset[str]]:
    """The words of the user from this message on, those steered into the turn included."""
    found: list[UserMessage] = []
    for message in reversed(messages):
        if isinstance(message, UserMessage) and (message.uuid == uuid or is_prompt(message)):
            found.append(message)
        if message.uuid == uuid:
            blocks = tuple(block for each in reversed(found) for block in each.content)
            return blocks, frozenset(each.uuid for each in found)
    return (), frozenset()


def rounds(view: Sequence[ConversationMessage]) -> list[tuple[ConversationMessage, ...]]:
    """The view in the pieces it can lose without parting a call from its result: a prompt, a step, a summary."""
    found: list[list[ConversationMessage]] = []
    answer = ""
    for message in view:
        begins = is_prompt(message) or isinstance(message, CompactBoundary)
        if isinstance(message, AssistantMessage):
            begins = message.message_id != answer
            answer = message.message_id
        elif begins:
            answer = ""
        if begins or not found:
            found.append([])
        found[-1].append(message)
    return [tuple(each) for each in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """What the summarising call is shown, and what it is not because that did not fit."""

    view: tuple[ConversationMessage, ...]
    left_out: tuple[ConversationMessage, ...] = ()

    @property
    def tokens(self) -> int:
        return estimate_all(self.view)

    def smaller(self, room: int) -> Portion:
        """At most `room` tokens of it: what was kept beside an earlier summary goes first, then the oldest rounds,
        and that summary last, for it stands for all that was before."""
        parts = rounds([_bare(message) for message in self.view if message.uuid != NOTE])
        gone: list[ConversationMessage] = []
        while parts and (room <= 0 or sum(map(estimate_all, parts)) > room):
            oldest = 1 if len(parts) > 1 and isinstance(parts[0][0], CompactBoundary) else 0
            gone += parts.pop(oldest)
        kept = tuple(message for part in parts for message in part)
        if not gone:
            return Portion(view=kept, left_out=self.left_out)
        note = UserMessage(
            uuid=NOTE, content=(text_block("[Older parts of this conversation did not fit.]"),), is_meta=True
        )
        at = 1 if kept and isinstance(kept[0], CompactBoundary) else 0
        view = (*kept[:at], note, *kept[at:]) if kept else ()
        return Portion(view=without_dangling(view, self.view), left_out=(*self.left_out, *gone))


def with_left_out(summary: str, left_out: Sequence[ConversationMessage]) -> str:
    """The summary, and the name of what is not in it: nobody should take it for the whole story."""
    if not left_out:
        return summary
    prompts = [text_of(each.content) for each in left_out if is_prompt(each) and isinstance(each, UserMessage)]
    answers = {each.message_id for each in left_out if isinstance(each, AssistantMessage) and each.error is None}
    parts: list[str] = []
    if prompts:
        quoted = ", ".join(f'"{one_line(prompt, most=QUOTED)}"' for prompt in prompts[-QUOTED_PROMPTS:])
        parts.append(f"{len(prompts)} message{'s' * (len(prompts) > 1)} of the user (the latest: {quoted})")
    if answers:
        parts.append(f"{len(answers)} answer{'s' * (len(answers) > 1)} with calls and results")
    if any(isinstance(each, CompactBoundary) for each in left_out):
        parts.append("an earlier summary")
    named = " and ".join(parts) or "older messages"
    words = f"Not in this summary, because it did not fit into the call that made it: {named}."
    return f"{summary}\n\n{words}" if summary else words


def _prompt_in(boundary: CompactBoundary) -> tuple[Block, ...]:
    """The words of the user that an earlier compaction kept."""
    for at, block in enumerate(boundary.kept):
        if block.get("text") == PROMPT_KEPT:
            return boundary.kept[at + 1 :]
    return ()


def _bare(message: ConversationMessage) -> ConversationMessage:
    return replace(message, kept=()) if isinstance(message, CompactBoundary) and message.kept else message
