"""A program as sessions see it: asks go to its callback, questions too; without one they are declined."""

from __future__ import annotations

import logging

from assent.sdk.options import CanUseTool, OnElicit, PermissionAnswer, PermissionRequest
from assent.sessions.stream.front import FrontFlags
from assent.sessions.stream.published import Published
from assent.types.blocks import Json

logger = logging.getLogger(__name__)


class ProgramFront:
    def __init__(self, *, can_use_tool: CanUseTool | None, on_elicit: OnElicit | None) -> None:
        self.flags = FrontFlags(permissions=True, elicitation=True, max_event_rate=0, numbered=False)
        self._can_use_tool = can_use_tool
        self._on_elicit = on_elicit

    def event(self, published: Published) -> None:
        """Messages reach the program typed, from the engine itself."""

    async def ask(self, params: Json) -> Json:
        if self._can_use_tool is None:
            return {"decision": "deny", "message": "Nobody can be asked."}
        request = PermissionRequest(
            tool=params["tool"],
            input=params["input"],
            title=params.get("title", ""),
            reason=params.get("reason", ""),
            step=params.get("step", ""),
            tool_use_id=params.get("toolUseId", ""),
            suggestions=tuple(params.get("suggestions") or ()),
            proposal=params.get("proposal"),
        )
        try:
            answer = await self._can_use_tool(request)
        except Exception as error:
            logger.exception("can_use_tool failed")
            return {"decision": "deny", "message": f"The permission callback failed: {type(error).__name__}"}
        if isinstance(answer, bool):
            answer = PermissionAnswer(decision="allow" if answer else "deny")
        said: Json = {"decision": answer.decision, "scope": answer.scope}
        if answer.message:
            said["message"] = answer.message
        if answer.updated_input is not None:
            said["updatedInput"] = dict(answer.updated_input)
        if answer.rule is not None:
            said["rule"] = answer.rule
        return said

    async def elicit(self, params: Json) -> Json:
        if self._on_elicit is None:
            return {"action": "decline"}
        content = await self._on_elicit(params)
        return {"action": "decline"} if content is None else {"action": "accept", "content": content}

    def withdraw(self, request_id: str) -> None:
        """The callback's late answer is dropped by the session."""
