"""The draft's client as the agent of protocol 1 knows one: permissions and forms, asked in the draft's words.

Everything but an option that was clearly selected is a no, here as there.
"""

from collections.abc import Callable
from typing import Any

from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    CancelElicitationResponse,
    DeclineElicitationResponse,
    DeniedOutcome,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallUpdate,
)
from pydantic import BaseModel

from assent.acp.draft.draft_words import state
from assent.acp.updates import Translator
from assent.types.blocks import Json

Tell = Callable[[str, Json], None]  # (session, update)


class DraftClient:
    """`connection` is the library's; `tell` sends an update, `translator` has the words of a session, and `runs` says
    whether it has a turn: trust is asked before there is one, and a question may outlive the turn it was of."""

    def __init__(
        self, connection: Any, tell: Tell, translator: Callable[[str], Translator], runs: Callable[[str], bool]
    ) -> None:
        self._connection = connection
        self._tell = tell
        self._translator = translator
        self._runs = runs
        self._open: dict[str, int] = {}  # questions nobody has answered yet, by session

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption]
    ) -> RequestPermissionResponse:
        call = self._translator(session_id).call(_dump(tool_call))
        answer = await self._asked(
            session_id,
            self._connection.request_permission,
            title=tool_call.title or "Permission",
            description=_words(call) or None,
            subject={"type": "tool_call", "toolCall": call},
            options=[_dump(option) for option in options],
        )
        if answer.outcome.outcome != "selected":
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        chosen = str(answer.outcome.option_id)
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def create_elicitation(self, message: str, mode: BaseModel) -> Any:
        asked = _dump(mode)
        answer = await self._asked(
            asked["sessionId"],
            self._connection.create_elicitation,
            message=message,
            mode="url" if "url" in asked else "form",
            requested_schema=asked.get("requestedSchema"),
            elicitation_id=asked.get("elicitationId"),
            url=asked.get("url"),
        )
        match answer.action:
            case "accept":
                return AcceptElicitationResponse(action="accept", content=_dump(answer).get("content") or {})
            case "decline":
                return DeclineElicitationResponse(action="decline")
            case _:
                return CancelElicitationResponse(action="cancel")

    async def complete_elicitation(self, elicitation_id: str) -> None:
        await self._connection.complete_elicitation(elicitation_id=elicitation_id)

    async def _asked(self, session_id: str, ask: Callable[..., Any], **about: Any) -> Any:
        """The turn needs a person meanwhile, and the client is told so."""
        self._open[session_id] = self._open.get(session_id, 0) + 1
        self._tell(session_id, state("requires_action"))
        try:
            return await ask(session_id=session_id, **about)
        finally:
            self._open[session_id] -= 1
            if not self._open[session_id]:
                self._tell(session_id, state("running" if self._runs(session_id) else "idle"))


def _dump(model: BaseModel) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _words(call: Json) -> str:
    texts = [each["content"].get("text") for each in call.get("content", ()) if each["type"] == "content"]
    return "\n\n".join(text for text in texts if text)
