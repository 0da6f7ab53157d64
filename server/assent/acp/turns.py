"""Prompts and what becomes of them: the words before the first one, the turn itself, how it ended, and cancelling."""

import contextlib
import time
from collections.abc import Sequence

import anyio
from acp.schema import PromptResponse, StopReason

from acp import RequestError
from assent.acp import trust, updates
from assent.acp.front import AcpFront
from assent.acp.host import ServingApp
from assent.sessions.live.session import Session
from assent.sessions.stream.front import Call, CannotAnswer
from assent.types.blocks import Json
from assent.types.ids import new_id

STOPS: dict[str, StopReason] = {
    "completed": "end_turn",
    "token_budget_stop": "end_turn",
    "stop_hook_prevented": "end_turn",
    "hook_stopped": "end_turn",
    "max_turns": "max_turn_requests",
    "budget_usd": "max_turn_requests",
    "max_output_tokens_exhausted": "max_tokens",
    "refusal": "refusal",
    "aborted_streaming": "cancelled",
    "aborted_tools": "cancelled",
}  # every other end is a failure, and answers the prompt as one


class Turns:
    def __init__(self, app: ServingApp, front: AcpFront) -> None:
        self._app = app
        self._front = front
        self._under_way: dict[str, list[Call]] = {}  # by session
        self._notes: dict[str, Sequence[str]] = {}  # to be said with the first prompt of a session

    def opened(self, session_id: str, notes: Sequence[str]) -> None:
        self._notes[session_id] = notes

    async def prompt(self, session: Session, blocks: list[Json], call: Call) -> PromptResponse:
        under_way = self._under_way.setdefault(session.id, [])
        under_way.append(call)
        try:
            await self._before(session, call)
            if call.cancelled.is_set():
                return PromptResponse(stop_reason="cancelled")
            wanted: Json = {"sessionId": session.id, "prompt": blocks, "wait": True}
            answer = await self._app.sessions.request("assent/session/send", wanted, call)
        finally:
            under_way.remove(call)
        self._front.update(session.id, updates.info_of(session.title, time.time()))
        return self._ended(session.id, answer["result"])

    async def accept(self, session: Session, blocks: list[Json], call: Call) -> str | None:
        """Take a prompt in; its turn follows. The id of the message, or None if it was cancelled before that."""
        under_way = self._under_way.setdefault(session.id, [])
        under_way.append(call)
        try:
            await self._before(session, call)
            if call.cancelled.is_set():
                return None
            sent = new_id("c")
            wanted: Json = {"sessionId": session.id, "prompt": blocks, "clientMessageId": sent}
            await self._app.sessions.request("assent/session/send", wanted, call)
        finally:
            under_way.remove(call)
        taken = session.turns.inbox.known(sent)
        assert taken is not None
        return taken[0].uuid

    async def cancel(self, session_id: str) -> None:
        under_way = self._under_way.get(session_id)
        for call in under_way or ():
            call.cancelled.set()
        if not under_way and session_id in self._app.sessions.live:
            stopped = await self._app.sessions.request("assent/session/interrupt", {"sessionId": session_id})
            for waiting in stopped["queued"]:  # accepted, and its turn had not come: it is cancelled too
                wanted = {"sessionId": session_id, "clientMessageId": waiting}
                await self._app.sessions.request("assent/session/unqueue", wanted)

    async def _before(self, session: Session, call: Call) -> None:
        for note in self._notes.pop(session.id, ()):
            self._front.update(session.id, updates.note(note))

        async def cancelled() -> None:
            await call.cancelled.wait()
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(cancelled)
            with contextlib.suppress(CannotAnswer):
                await trust.ask(self._app, self._front, session)
            group.cancel_scope.cancel()

    def _ended(self, session_id: str, result: Json) -> PromptResponse:
        stop = STOPS.get(result["terminal"])
        if stop is None:
            raise RequestError(-32603, result["result"] or "The turn failed.", {"kind": result["terminal"]})
        if result["isError"] and stop != "cancelled" and result["result"]:
            self._front.update(session_id, updates.note(result["result"]))
        return PromptResponse(stop_reason=stop)
