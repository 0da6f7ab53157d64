"""A command or skill with `context: fork`: a subagent runs it in its own context, and its answer ends the turn."""

from __future__ import annotations

from assent.engine.state import TurnEnd
from assent.engine.turn import Turn
from assent.tools.tool import ToolOutput
from assent.types.blocks import text_block, text_of
from assent.types.errors import ToolError
from assent.types.messages import AssistantMessage, ToolFinished, ToolStarted


async def forked(turn: Turn, agent: str, task: str) -> TurnEnd:
    """Run the agent to its end. Clients see it as a call of Agent; the conversation keeps the answer alone."""
    call = turn.services.new_id()
    began = turn.services.clock()
    given = {"subagent_type": agent, "prompt": task}

    def finished(output: ToolOutput) -> ToolFinished:
        return ToolFinished(
            tool_use_id=call,
            tool="Agent",
            is_error=output.is_error,
            summary=output.summary,
            content=(text_block(text_of(output.content)),),
            duration_ms=round((turn.services.clock() - began) * 1000),
        )

    await turn.tell(ToolStarted(tool_use_id=call, tool="Agent", input=given, title=f"Agent {agent}"))
    try:
        output = await _run(turn, agent, task, call)
    except ToolError as error:
        output = ToolOutput(content=str(error), is_error=True, summary="failed")
    except BaseException:  # aborted: nobody else ends the call, and clients would show it as running
        words = turn.interruption()
        turn.post(finished(ToolOutput(content=words, is_error=True, summary=words)))
        raise
    await turn.tell(finished(output))
    answer = text_of(output.content)
    if output.is_error:
        await turn.tell(turn.error_message(answer, "agent"))
        return TurnEnd(reason="model_error", error=answer)
    new_id = turn.services.new_id()
    await turn.publish(
        AssistantMessage(
            uuid=new_id,
            message_id=new_id,
            content=(text_block(answer),),
            model=turn.model,
            timestamp=turn.services.now(),
        )
    )
    turn.last_text = answer
    return TurnEnd(reason="completed")


async def _run(turn: Turn, agent: str, task: str, call: str) -> ToolOutput:
    if turn.agents is None:
        raise ToolError("Agents are not available here.")
    context = turn.tool_context(tool_use_id=call, progress=_unheard)
    return await turn.agents.run(agent=agent, prompt=task, description=agent, background=False, ctx=context)


def _unheard(_text: str) -> None:
    """An agent tells of itself by its messages."""
