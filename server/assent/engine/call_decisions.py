"""The decisions about calls, as the engine sees them: who decides is a service, denials and status are noted here."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from assent.engine.conversation import Conversation
from assent.engine.prompting.equipment import OWN_TOOLS
from assent.engine.services import Services
from assent.types.permissions import Allow, Deny, Verdict
from assent.types.ports import EditOutcome, ToolCall


class CallDecisions:
    def __init__(self, services: Services, conversation: Conversation) -> None:
        self._services = services
        self._conversation = conversation
        self._pending = 0  # decisions that a turn waits for

    async def permit(self, call: ToolCall) -> Verdict:
        """The verdict of the permission service; a denial is noted."""
        if call.action.tool in OWN_TOOLS:
            return Allow(step="tool", reason="it acts only inside the conversation")
        with self._waiting():
            verdict = await self._services.can_use_tool(call)
        if isinstance(verdict, Deny):
            self._conversation.note_denial(call.action.tool, call.tool_use_id, call.action.input)
        return verdict

    async def review(self, call: ToolCall) -> EditOutcome | None:
        """The outcome of an edit that people review; an edit rejected as a whole is a denial."""
        with self._waiting():
            outcome = await self._services.review_edit(call)
        if outcome is not None and outcome.refused:
            self._conversation.note_denial(call.action.tool, call.tool_use_id, call.action.input)
        return outcome

    @contextmanager
    def _waiting(self) -> Generator[None]:
        """The status is `waiting` while a decision is pending for longer than one iteration of the event loop."""
        shown = False

        def show() -> None:
            nonlocal shown
            shown = True
            self._pending += 1
            self._services.set_status("waiting")

        later = asyncio.get_running_loop().call_soon(show)
        try:
            yield
        finally:
            later.cancel()
            if shown:
                self._pending -= 1
                if not self._pending:
                    self._services.set_status("running")
