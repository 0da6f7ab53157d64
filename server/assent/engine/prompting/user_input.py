"""Turns the user's input into a prompt (Q4): slash commands, token targets, @-mentions, very long pastes, images.

Nothing here calls the model. A command answered locally ends the turn before it begins (Q7).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from assent.context.tokens import estimate_content
from assent.engine.turn import Turn
from assent.extensions.commands import SlashCommand, find, split
from assent.extensions.instructions.quick_add import note_of
from assent.text.attached import is_attached
from assent.types.blocks import Block, text_block
from assent.types.errors import ToolError
from assent.types.messages import Attachment

PASTE_SHARE = 0.25  # of the window: a longer prompt goes to a file
PASTE_PREVIEW = 4_000
MAX_MENTIONS = 20

_BUDGET = re.compile(r"(?<=\s)\+(\d+(?:\.\d+)?)([kKmM])\s*$")  # alone at the end: `10k + 5k` is a sum
_MENTION = re.compile(r"(?<![\w@/])@(?:\"(?P<quoted>[^\"\n]+)\"|(?P<plain>[^\s\"'`<>|,;()\[\]{}]+))")
_LINES = re.compile(r"#L?(\d+)(?:-L?(\d+))?$")


@dataclass(slots=True, kw_only=True)
class UserInput:
    """What to do with a prompt: exactly one of `error`, `command` and `blocks` counts."""

    blocks: tuple[Block, ...] = ()
    error: str = ""
    command: SlashCommand | None = None
    arguments: str = ""
    token_budget: int | None = None
    model: str | None = None
    effort: str | None = None
    allowed_tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    agent: str = ""  # `blocks` are for this agent, in a context of its own
    attachments: list[Attachment] = field(default_factory=list[Attachment])


async def process(turn: Turn, blocks: Sequence[Block], *, commands: Sequence[SlashCommand], is_meta: bool) -> UserInput:
    blocks = tuple(block for block in blocks if block.get("type") != "text" or str(block.get("text", "")).strip())
    if not blocks:
        return UserInput(error="There is nothing to send: the prompt is empty.")
    only_text = str(blocks[0].get("text", "")) if len(blocks) == 1 and blocks[0].get("type") == "text" else None
    if only_text is not None and not is_meta:
        named = split(only_text)
        if named is not None:
            return await _command(turn, *named, commands)
        note, remember = note_of(only_text), find(commands, "#")
        if note is not None and remember is not None:
            return UserInput(command=remember, arguments=note)
    result = UserInput(blocks=blocks)
    if not is_meta:
        _take_token_budget(result)
        await _attach_mentions(turn, result)
    _spill_pastes(turn, result)
    return result


async def _command(turn: Turn, name: str, arguments: str, commands: Sequence[SlashCommand]) -> UserInput:
    command = find(commands, name)
    if command is None:
        return UserInput(error=f"There is no command /{name}. /help lists the commands.")
    if command.expand is None:
        return UserInput(command=command, arguments=arguments)
    data = {
        "expansion_type": "mcp_prompt" if name.startswith("mcp__") else "slash_command",
        "command_name": name,
        "command_args": arguments,
        "command_source": command.source,
        "prompt": f"/{name} {arguments}".rstrip(),
    }
    for outcome in await turn.run_hooks("UserPromptExpansion", data, subject=name):
        if outcome.status in ("blocked", "prevented"):  # before anything of the command runs
            return UserInput(error=f"A hook blocked /{name}: {outcome.text}")
    try:
        expansion = await command.expand(arguments)
    except ToolError as error:  # a command inside it may not run, or failed
        return UserInput(error=str(error))
    result = UserInput(
        blocks=expansion.blocks,
        model=expansion.model,
        effort=expansion.effort,
        allowed_tools=expansion.allowed_tools,
        disallowed_tools=expansion.disallowed_tools,
        agent=expansion.agent,
    )
    await _attach_mentions(turn, result)
    return result


def parse_token_budget(text: str) -> tuple[str, int | None]:
    """`fix it +500k` is the prompt `fix it` with a target of 500,000 tokens (L12)."""
    match = _BUDGET.search(text)
    if match is None or not text[: match.start()].strip():
        return text, None
    factor = 1_000 if match[2] in "kK" else 1_000_000
    return text[: match.start()].rstrip(), int(float(match[1]) * factor)


def _take_token_budget(result: UserInput) -> None:
    last = result.blocks[-1]
    if last.get("type") == "text":
        text, result.token_budget = parse_token_budget(str(last.get("text", "")))
        if result.token_budget is not None:
            result.blocks = (*result.blocks[:-1], text_block(text))


def mentions(text: str) -> list[tuple[str, int | None, int | None]]:
    """Paths named with @, each with the lines asked for: `@src/a.py`, `@"my file.md"`, `@a.py#L3-9`."""
    found: dict[tuple[str, int | None, int | None], None] = {}
    for match in _MENTION.finditer(text):
        path = match["quoted"] or match["plain"].rstrip(".,:;!?")
        lines = _LINES.search(path)
        first = int(lines[1]) if lines else None
        last = int(lines[2]) if lines and lines[2] else first
        if lines:
            path = path[: lines.start()]
        if path:
            count = None if first is None or last is None else max(1, last - first + 1)
            found[(path, first, count)] = None
    return list(found)[:MAX_MENTIONS]


async def _attach_mentions(turn: Turn, result: UserInput) -> None:
    """Read what was mentioned, through the tools and their permissions; what does not exist was no mention.

    A folder, whose name ends in a slash, comes as a list of its files, as long as Glob makes it.
    """
    if "Read" not in turn.tools:
        return
    texts = [str(block.get("text", "")) for block in result.blocks if block.get("type") == "text"]
    text = "\n".join(text for text in texts if not is_attached(text))
    wanted = await _without_resources(turn, result, mentions(text))
    if not wanted:
        return
    turn.marks_before = dict(turn.app.read_files)
    async with turn.quiet_executor() as reading:
        for path, offset, limit in wanted:
            call = f"mention_{turn.services.new_id()}"
            turn.mentioned.append(call)
            if path.endswith("/"):
                reading.add(
                    {"type": "tool_use", "id": call, "name": "Glob", "input": {"pattern": "**/*", "path": path}}
                )
                continue
            arguments = {"file_path": path, "offset": offset, "limit": limit}
            given = {name: value for name, value in arguments.items() if value is not None}
            reading.add({"type": "tool_use", "id": call, "name": "Read", "input": given})
        results = await reading.finish()
    for (path, _, _), read in zip(wanted, results, strict=True):
        if read.ended != "done" or read.summary == "unchanged":
            continue  # not a file after all, or the model still sees it
        content = read.block["content"]
        body: list[Block] = [text_block(content)] if isinstance(content, str) else list(content)
        result.attachments.append(
            Attachment(
                uuid=turn.services.new_id(),
                kind="folder" if path.endswith("/") else "file",
                content=(text_block(f"The user mentioned {path}:"), *body),
                data={"path": path, "tool_use_id": read.tool_use_id},
                timestamp=turn.services.now(),
            )
        )


async def _without_resources(
    turn: Turn, result: UserInput, wanted: list[tuple[str, int | None, int | None]]
) -> list[tuple[str, int | None, int | None]]:
    """Attach what `@server:scheme://path` names, and give back the mentions that are files."""
    if turn.services.mentioned is None:
        return wanted
    files: list[tuple[str, int | None, int | None]] = []
    for path, offset, limit in wanted:
        found = await turn.services.mentioned(path) if ":" in path and "://" in path else None
        if found is None:
            files.append((path, offset, limit))
            continue
        result.attachments.append(
            Attachment(
                uuid=turn.services.new_id(),
                kind="resource",
                content=(text_block(f"The user mentioned {path}:"), text_block(found)),
                data={"path": path},
                timestamp=turn.services.now(),
            )
        )
    return files


def _spill_pastes(turn: Turn, result: UserInput) -> None:
    """A prompt too long to sit in the window goes to a file the model can read in parts."""
    window = turn.info.context_window
    if estimate_content(result.blocks) <= window * PASTE_SHARE:
        return
    spill = turn.services.spill
    kept: list[Block] = []
    for number, block in enumerate(result.blocks):
        text = str(block.get("text", ""))
        if block.get("type") != "text" or estimate_content(text) <= window * PASTE_SHARE:
            kept.append(block)
        elif spill is None:
            result.error = (
                f"This prompt is too long to send: {len(text):,} characters. Put it into a file and mention it with @."
            )
            return
        elif (path := spill.write(f"prompt_{turn.services.new_id()}_{number}", text)) is None:
            result.error = (
                f"This prompt is too long to send ({len(text):,} characters), and the file for it could not be saved: "
                "is the disk full?"
            )
            return
        else:
            note = f"[The user's text is {len(text):,} characters long. All of it is in {path}; Read or Grep it there.]"
            kept.append(text_block(f"{text[:PASTE_PREVIEW]}\n\n… {note}"))
    result.blocks = tuple(kept)
