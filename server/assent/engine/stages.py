"""The stages of one turn, in order (Q4): tools, context, orphaned calls, prompt, hooks, transcript, loop.

A turn that needs no model call (a command, a refused prompt) ends here. The engine adds the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from assent.engine.agents.forking import forked
from assent.engine.command_host import TurnCommands
from assent.engine.conversation_past import OrphanedPermission
from assent.engine.loop import run
from assent.engine.orphaned_calls import settle
from assent.engine.prompting.attachments import attach_at_start
from assent.engine.prompting.equipment import equip, freeze_context, init_of, take_wish
from assent.engine.prompting.user_input import UserInput, process
from assent.engine.reduction.snipping import snip_marked
from assent.engine.side_calls.aftermath import wake
from assent.engine.state import State, TurnEnd
from assent.engine.turn import Turn
from assent.tools.tool import TurnWish
from assent.types.blocks import Block, text_of
from assent.types.errors import ToolError
from assent.types.messages import Attachment, UserMessage


@dataclass(frozen=True, slots=True)
class Submitted:
    """What `submit` was called with."""

    blocks: tuple[Block, ...]
    uuid: str
    is_meta: bool


async def run_stages(
    turn: Turn,
    submitted: Submitted,
    *,
    orphans: Sequence[OrphanedPermission],
    host: Callable[[Turn], TurnCommands],
) -> TurnEnd:
    services, blocks, uuid = turn.services, submitted.blocks, submitted.uuid
    _reset(turn)
    equip(turn)
    await freeze_context(turn)
    await settle(turn, orphans)
    given = await process(turn, blocks, commands=services.commands(), is_meta=submitted.is_meta)
    if given.command is not None or given.error:
        return await _answer_locally(turn, given, submitted, host)
    await _as_the_command_wants(turn, given)
    if not turn.model.strip():
        raise ToolError("No model is set. Choose one with /model NAME or in the settings.")
    if turn.token_budget is None:
        turn.token_budget = given.token_budget
    content = blocks if given.agent else given.blocks  # an agent's task stays out of this conversation
    message = UserMessage(uuid=uuid, content=content, timestamp=services.now(), is_meta=submitted.is_meta)
    blocked = await _prompt_hooks(turn, blocks)
    if blocked is not None:
        return blocked
    await _remember(turn, message, given.attachments)
    turn.prompt_uuid = uuid
    await turn.begin(init_of(turn))
    if turn.config.replay_user_messages:
        await turn.tell(replace(message, is_replay=True))
    for attachment in given.attachments:
        await turn.tell(attachment)
    await attach_at_start(turn)
    if turn.config.max_turns is not None and turn.config.max_turns < 1:
        return TurnEnd(reason="max_turns", error=f"max_turns is {turn.config.max_turns}: no step is allowed.")
    if given.agent:
        return await forked(turn, given.agent, text_of(given.blocks))
    return await run(turn, State(messages=turn.history.view(), model=turn.model, tracking=turn.conversation.tracking))


def _reset(turn: Turn) -> None:
    wake(turn)
    turn.conversation.discovered_skills.clear()
    home = turn.app.worktree or turn.config.cwd
    if turn.app.cwd != home:
        turn.app.cwd = home
        turn.app.on_change("cwd")


async def _as_the_command_wants(turn: Turn, given: UserInput) -> None:
    turn.allowed = given.allowed_tools
    wish = TurnWish(model=given.model, effort=given.effort, without=given.disallowed_tools)
    await take_wish(turn, wish, "command")


async def _prompt_hooks(turn: Turn, submitted: Sequence[Block]) -> TurnEnd | None:
    """Run UserPromptSubmit on the prompt as the user wrote it: a slash command by its name."""
    data = {"prompt": "\n".join(str(block.get("text", "")) for block in submitted)}
    for outcome in await turn.run_hooks("UserPromptSubmit", data):
        if outcome.status in ("blocked", "prevented"):
            return TurnEnd(reason="hook_stopped", error=outcome.text)
    return None


async def _remember(turn: Turn, message: UserMessage, attachments: Sequence[Attachment]) -> None:
    """Write the prompt to disk before any model call, so that no crash loses it."""
    for each in (message, *attachments):
        turn.history.add(each)
        if turn.config.persist:
            turn.services.transcript.append(each)
    turn.mentioned.clear()
    await turn.services.transcript.flush(durable=True)


async def _answer_locally(
    turn: Turn, given: UserInput, submitted: Submitted, host: Callable[[Turn], TurnCommands]
) -> TurnEnd:
    """Answer a command or refuse a prompt without a model call (Q7): init, the prompt if it is replayed, the answer."""
    text = given.error
    turn.costs_nothing = given.command is None or given.command.name != "compact"
    if given.command is not None and given.command.run is not None:
        if given.command.name == "compact":
            await turn.begin(init_of(turn))
        text = await given.command.run(given.arguments, host(turn))
        await snip_marked(turn)
    await turn.begin(init_of(turn))
    if turn.config.replay_user_messages:
        now = turn.services.now()
        await turn.tell(UserMessage(uuid=submitted.uuid, content=submitted.blocks, timestamp=now, is_replay=True))
    if given.error:
        await turn.tell(turn.error_message(text, "invalid_prompt"))
        return TurnEnd(reason="model_error", error=text)
    answer = replace(turn.error_message(text or "Done.", ""), error=None)
    await turn.tell(answer)
    turn.last_text = text
    return TurnEnd(reason="completed")
