"""`assent.Client`: one conversation of a program, turn by turn.

    async with assent.Client(cwd="…") as client:
        async for message in client.send("What does this do?"):
            …

Several clients live side by side: each has an engine, settings and files of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from assent.sdk.options import Options, options_of
from assent.sdk.prompts import Prompt, wire
from assent.types.blocks import Json
from assent.types.errors import AbortError, AssentError
from assent.types.messages import Message, Result, Spent, StreamEvent

if TYPE_CHECKING:
    from assent.app import App
    from assent.sdk.held_app import HeldApp
    from assent.sessions.live.session import Session
    from assent.sessions.stream.front import Front

ABORTED = ("aborted_streaming", "aborted_tools")


class Client:
    """One conversation. Enter it with `async with`; leaving it ends the engine, not what is saved.

    Another task may leave it than the one that entered it: `__aenter__` and `__aexit__` can be called in cells of a
    notebook, or in a test's fixture.
    """

    def __init__(self, *, cwd: str | Path | None = None, options: Options | Mapping[str, Any] | None = None) -> None:
        self.options = options_of(options)
        self.cwd = str(Path(cwd or Path.cwd()).expanduser().resolve())
        self.session_id = ""
        self._held: HeldApp | None = None
        self._session: Session | None = None
        self._entered = False
        self._own_front: Front | None = None

    async def __aenter__(self) -> Self:
        from assent.app import headless
        from assent.sdk.callbacks import add_hooks
        from assent.sdk.held_app import HeldApp
        from assent.sdk.wiring import app_options

        if self._entered:
            raise AssentError("This client is in use already: enter it once, or make another one")
        self._entered = True
        try:
            app = headless(app_options(self.options, cwd=self.cwd))
            add_hooks(app, self.options.hooks)
            self._held = await HeldApp.open(app)
            self.session_id = await self._open(app)
            self._session = await app.sessions.get({"sessionId": self.session_id})
        except BaseException:
            await self._leave()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leave()

    async def _leave(self) -> None:
        held, self._held, self._session = self._held, None, None
        try:
            if held is not None:
                await held.close()
        finally:
            self._entered = False

    # --- turns -------------------------------------------------------------------------------------------------------

    async def send(self, prompt: Prompt) -> AsyncGenerator[Message, None]:
        """One turn: `system/init` first, `result` last. Closing the generator interrupts it."""
        from assent.sessions.stream.front import Call

        app, session = self._live()
        messages: asyncio.Queue[Message] = asyncio.Queue()
        call = Call(front=self._front())
        params: Json = {"sessionId": self.session_id, "prompt": wire(prompt), "wait": True, "whenBusy": "refuse"}
        if self.options.token_budget is not None:
            params["tokenBudget"] = self.options.token_budget
        session.observers.append(messages.put_nowait)
        turn = asyncio.create_task(app.sessions.request("assent/session/send", params, call))
        try:
            while True:
                message = await _next(messages, turn)
                if message is None or isinstance(message, Spent):
                    if message is None:
                        break
                    continue
                if isinstance(message, Result):
                    yield self._typed(message)
                    break
                if not isinstance(message, StreamEvent) or self.options.include_partial_messages:
                    yield message
            await turn
        finally:
            session.observers.remove(messages.put_nowait)
            call.cancelled.set()
            with contextlib.suppress(asyncio.CancelledError, AssentError):
                await asyncio.shield(turn)

    async def ask(self, prompt: Prompt) -> Result:
        """One turn, its result alone. Raises AbortError when it was interrupted."""
        result: Result | None = None
        async with contextlib.aclosing(self.send(prompt)) as messages:
            async for message in messages:
                if isinstance(message, Result):
                    result = message
        if result is None or result.terminal in ABORTED:
            raise AbortError("The turn was interrupted")
        return result

    async def interrupt(self) -> None:
        """End the running turn; its result still comes."""
        await self._request("assent/session/interrupt")

    # --- the conversation --------------------------------------------------------------------------------------------

    async def set_model(self, model: str) -> None:
        await self._request("assent/session/configure", model=model)

    async def set_mode(self, mode: str) -> None:
        await self._request("assent/session/configure", mode=mode)

    async def rewind(
        self,
        message_id: str,
        *,
        restore: Literal["conversation", "code", "both"] = "both",
        dry_run: bool = False,
    ) -> Json:
        """Go back to before a prompt; answers which files change. `assent.read_session` has the `uuid` of each."""
        return await self._request("assent/session/rewind", messageId=message_id, restore=restore, dryRun=dry_run)

    async def fork(self, *, message_id: str | None = None) -> Client:
        """A client on a copy of this conversation. Enter it like any other."""
        params: Json = {} if message_id is None else {"messageId": message_id}
        forked = await self._request("assent/session/fork", **params)
        options = replace(self.options, resume=forked["sessionId"], continue_latest=False, fork=False)
        return Client(cwd=self.cwd, options=options)

    async def cost(self) -> Json:
        """What the session has spent: totalCostUsd, by model, the cache's share."""
        return await self._request("assent/session/cost")

    async def context(self) -> Json:
        """What fills the model's window, by category."""
        return await self._request("assent/session/context")

    # --- insides -----------------------------------------------------------------------------------------------------

    async def _open(self, app: App) -> str:
        from assent.sdk.output import schema_of
        from assent.sessions.stream.front import Call

        chosen = self.options
        resume = chosen.resume
        if resume is None and chosen.continue_latest:
            listed = await app.sessions.request("assent/session/list", {"cwd": self.cwd})
            resume = next((each["sessionId"] for each in listed["sessions"]), None)
        if resume is not None:
            if chosen.fork:
                resume = (await app.sessions.request("assent/session/fork", {"sessionId": resume}))["sessionId"]
            session = await app.sessions.get({"sessionId": resume})
            changes = {"model": chosen.model, "mode": chosen.mode, "thinking": chosen.thinking, "effort": chosen.effort}
            wanted = {name: value for name, value in changes.items() if value is not None}
            if wanted:
                await app.sessions.request("assent/session/configure", {"sessionId": resume, **wanted})
            limits = {
                "fallback_model": chosen.fallback_model,
                "custom_system_prompt": chosen.system_prompt,
                "append_system_prompt": chosen.append_system_prompt,
                "max_turns": chosen.max_turns,
                "max_budget_usd": chosen.max_budget_usd,
                "task_budget": chosen.task_budget,
                "json_schema": schema_of(chosen.output),
            }
            given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
            session.options = replace(session.options, **given)
            if chosen.title is not None:
                await app.sessions.request("assent/session/rename", {"sessionId": resume, "title": chosen.title})
            session.events.subscribe(self._front())
            return session.id
        if chosen.model is not None and not chosen.offline and chosen.replay is None:
            app.models.require(chosen.model)  # the stand-in does not answer for a model that was named
        wanted = {
            "cwd": self.cwd,
            "model": chosen.model,
            "fallbackModel": chosen.fallback_model,
            "mode": chosen.mode,
            "thinking": chosen.thinking,
            "effort": chosen.effort,
            "customSystemPrompt": chosen.system_prompt,
            "appendSystemPrompt": chosen.append_system_prompt,
            "maxTurns": chosen.max_turns,
            "maxBudgetUsd": chosen.max_budget_usd,
            "taskBudget": {"total": chosen.task_budget} if chosen.task_budget else None,
            "jsonSchema": schema_of(chosen.output),
            "title": chosen.title,
        }
        params = {name: value for name, value in wanted.items() if value is not None}
        opened = await app.sessions.request("assent/session/new", params, Call(front=self._front()))
        return cast("str", opened["sessionId"])

    def _front(self) -> Front:
        """One for the whole conversation: each front that is subscribed is asked."""
        from assent.sdk.front import ProgramFront

        if self._own_front is None:
            chosen = self.options
            self._own_front = ProgramFront(can_use_tool=chosen.can_use_tool, on_elicit=chosen.on_elicit)
        return self._own_front

    def _live(self) -> tuple[App, Session]:
        if self._held is None or self._session is None:
            raise AssentError("Enter the client first: async with assent.Client(…) as client")
        return self._held.app, self._session

    async def _request(self, method: str, **params: Any) -> Json:
        app, _ = self._live()
        return await app.sessions.request(method, {"sessionId": self.session_id, **params})

    def _typed(self, result: Result) -> Result:
        from assent.sdk.output import value_of

        return replace(result, structured_output=value_of(self.options.output, result.structured_output))


async def _next(messages: asyncio.Queue[Message], turn: asyncio.Task[Json]) -> Message | None:
    """The next message, or None when the turn ended without a result: then awaiting it says why."""
    waiting = asyncio.ensure_future(messages.get())
    try:
        await asyncio.wait({waiting, turn}, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        return messages.get_nowait() if not messages.empty() else None
    finally:
        waiting.cancel()
