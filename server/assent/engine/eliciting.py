"""The hooks around a question of an MCP server: Elicitation may answer it, ElicitationResult may change the answer.

These hooks never see questions of the program itself: a hook that answers servers must not answer those.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

from assent.types.blocks import Json
from assent.types.hooks import HookEvent, HookOutcome
from assent.types.ports import Elicitation, ElicitationAnswer

RunHooks = Callable[[HookEvent, Json, str], Awaitable[Sequence[HookOutcome]]]
"""(event, data, the server's name)."""


async def elicit_with_hooks(
    question: Elicitation, run_hooks: RunHooks, ask: Callable[[], Awaitable[ElicitationAnswer]]
) -> ElicitationAnswer:
    if not question.server:
        return await ask()
    data: Json = {
        "mcp_server_name": question.server,
        "message": question.words,
        "mode": "url" if question.url else "form",
    }
    more: Json = {"url": question.url} if question.url else {"requested_schema": question.schema}
    answer = _answered(await run_hooks("Elicitation", data | more, question.server)) or await ask()
    result = data | {"action": answer.action, "content": dict(answer.content)}
    return _answered(await run_hooks("ElicitationResult", result, question.server)) or answer


def _answered(outcomes: Sequence[HookOutcome]) -> ElicitationAnswer | None:
    """A hook's answer to a question, in place of the person's. A hook that blocks declines it."""
    for outcome in outcomes:
        action: Any = outcome.specific.get("action")
        content: Any = outcome.specific.get("content")
        if action in ("accept", "decline", "cancel"):
            given = cast("Mapping[str, Any]", content) if isinstance(content, Mapping) else None
            return ElicitationAnswer(action=action, content=given or {})
        if outcome.status in ("blocked", "prevented"):
            return ElicitationAnswer(action="decline")
    return None
