"""A program as sessions see it: asks go to its callback, questions too; without one they are declined."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from assent.sdk.options import CanUseTool, OnElicit, PermissionAnswer, PermissionRequest
from assent.sdk.own_functions import own
from assent.sessions.stream.front import FrontFlags
from assent.sessions.stream.published import Published
from assent.types.blocks import Json
from assent.wire.asks import Elicit, PermissionAsk

logger = logging.getLogger(__name__)


class ProgramFront:
    def __init__(self, *, can_use_tool: CanUseTool | None, on_elicit: OnElicit | None) -> None:
        self.flags = FrontFlags(permissions=True, elicitation=True, max_event_rate=0, numbered=False)
        self._can_use_tool = can_use_tool
        self._on_elicit = on_elicit

    def event(self, published: Published) -> None:
        """Messages reach the program typed, from the engine itself."""

    async def ask(self, ask: PermissionAsk) -> Json:
        if self._can_use_tool is None:
            return {"decision": "deny", "message": "Nobody can be asked."}
        request = PermissionRequest(
            tool=ask.tool,
            input=ask.input,
            title=ask.title,
            reason=ask.reason,
            step=ask.step,
            tool_use_id=ask.tool_use_id,
            suggestions=tuple(msgspec.to_builtins(ask.suggestions)),
            proposal=msgspec.to_builtins(ask.proposal),
        )
        try:
            return _said(await own(self._can_use_tool, request))
        except Exception as error:
            logger.exception("can_use_tool failed")
            return {"decision": "deny", "message": f"The permission callback failed: {type(error).__name__}"}

    async def elicit(self, elicit: Elicit) -> Json:
        if self._on_elicit is None:
            return {"action": "decline"}
        try:
            content: Any = await own(self._on_elicit, msgspec.to_builtins(elicit))
            if content is not None and not isinstance(content, Mapping):
                raise TypeError(f"on_elicit answers with a mapping or None, not {type(content).__name__}")
        except Exception:
            logger.exception("on_elicit failed")
            return {"action": "decline"}
        if content is None:
            return {"action": "decline"}
        given: Json = dict(cast("Mapping[str, Any]", content))
        if elicit.questions and not given.keys() & {"answers", "other"}:
            given = {"answers": given}  # the short way: {"q1": "Blue"}
        return {"action": "accept", "content": given}

    def withdraw(self, request_id: str) -> None:
        """The callback's late answer is dropped by the session."""


def _said(answer: Any) -> Json:
    """The callback's answer as a session takes it; only a clear yes is one."""
    if isinstance(answer, bool):
        answer = PermissionAnswer(decision="allow" if answer else "deny")
    if not isinstance(answer, PermissionAnswer):
        kind = type(answer).__name__
        return {"decision": "deny", "message": f"The permission callback answered neither yes nor no, but {kind}"}
    said: Json = {"decision": answer.decision, "scope": answer.scope}
    if answer.message:
        said["message"] = answer.message
    if answer.updated_input is not None:
        said["updatedInput"] = dict(answer.updated_input)
    if answer.rule is not None:
        said["rule"] = answer.rule
    return said
