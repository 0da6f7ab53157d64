"""Runs the hooks that files name (H): all that match, side by side, each once, and writes down every run.

It is the provider of the port `types.hooks.Hooks` for settings, plugins, skills and agents. What a handler may change
is decided by whoever fired the event; this module decides what runs and what its output means.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

import anyio

from assent.extensions.hooks.handlers import Handler, HookOrigin, ending_together, once_each, parse_hooks
from assent.extensions.hooks.log import HookLog
from assent.extensions.hooks.ports import HookPorts, SessionFacts
from assent.extensions.hooks.registry import Registry, Scoped
from assent.extensions.hooks.run_handler import run_handler
from assent.types.blocks import Json
from assent.types.hooks import HookCall, HookEvent, HookOutcome
from assent.types.messages import HookRan, Notice

_ALIASES = {"Agent": "Task"}  # what older scripts match
_FOR_THE_NEXT_PROMPT: frozenset[HookEvent] = frozenset({"Setup", "PostModelSwitch"})  # no turn is there to take it
_MOST_ASYNC = 16  # programs that nobody waits for, in one session


class HookRunner:
    def __init__(self, ports: HookPorts, *, clock: Callable[[], float] = time.time) -> None:
        self.ports = ports
        self.registry = Registry(ports)
        self.log = HookLog()
        self._clock = clock
        self._shown: set[tuple[str, str]] = set()  # (session, text) of notices that were given
        self._ran_once: set[tuple[str, str]] = set()
        self._late: dict[str, list[HookOutcome]] = {}  # what async hooks had to say, for the next prompt
        self._running_async: dict[str, int] = {}
        self._starting: dict[str, anyio.Event] = {}  # sessions whose SessionStart hooks still run

    # --- the port ----------------------------------------------------------------------------------------------------

    def wants(self, event: HookEvent) -> bool:
        waiting = event == "UserPromptSubmit" and bool(self._late or self._starting)
        return waiting or event in self.registry.events()

    async def run(self, call: HookCall) -> list[HookOutcome]:
        if call.event == "UserPromptSubmit" and (starting := self._starting.get(call.session_id)):
            await starting.wait()
        facts = self.ports.facts(call.session_id) or SessionFacts(project=call.cwd)
        for problem in self.registry.problems(facts.project, call.session_id):
            self._notice(call.session_id, str(problem))
        chosen = self._chosen(call, facts)
        waited = [handler for handler in chosen if not handler.is_async]
        for handler in chosen:
            if handler.is_async:
                self._start_async(handler, call, facts)
        outcomes: list[HookOutcome | None] = [None] * len(waited)

        async def one(at: int, handler: Handler) -> None:
            outcomes[at] = await self._one(handler, call, facts)

        async with anyio.create_task_group() as group:
            for at, handler in enumerate(waited):
                group.start_soon(one, at, handler)
        found = [outcome for outcome in outcomes if outcome is not None]
        if call.detached:
            for outcome in found:
                self.ports.publish(call.session_id, outcome.ran(call.event, call.tool_use_id))
            if call.event in _FOR_THE_NEXT_PROMPT:
                self._keep_for_the_prompt(call.session_id, found)
        return [*self._late_ones(call), *found]

    async def start(
        self, call: HookCall, run: Callable[[HookCall], Awaitable[list[HookOutcome]]] | None = None
    ) -> list[HookOutcome]:
        """SessionStart: the first prompt waits for it, and takes what its hooks want the model to know. `run` also runs
        the hooks of other providers."""
        done = self._starting[call.session_id] = anyio.Event()
        try:
            outcomes = await (run or self.run)(call)
        finally:
            self._starting.pop(call.session_id, None)
            done.set()
        self._keep_for_the_prompt(call.session_id, outcomes)
        return outcomes

    def enter(
        self,
        hooks: Mapping[str, Any],
        *,
        session_id: str,
        source: Literal["skill", "command", "agent"],
        file: str,
        line: int = 0,
        agent_id: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Callable[[], None]:
        """The port `types.hooks.ScopedHooks`."""
        origin = HookOrigin(file=file, source=source, line=line, foreign=True, environment=environment or {})
        handlers, problems = parse_hooks(hooks, origin, agent=source == "agent")
        return self.registry.enter(
            Scoped(handlers=tuple(handlers), problems=tuple(problems), session_id=session_id, agent_id=agent_id)
        )

    def cleared(self, session_id: str) -> None:
        self.registry.forget(session_id, agents=False)

    # --- what lists and tests need -----------------------------------------------------------------------------------

    def listed(self, folder: str, session_id: str = "") -> list[Handler]:
        return [*self.registry.of_folder(folder), *self.registry.of_session(session_id)]

    async def try_out(self, handler: Handler, call: HookCall) -> HookOutcome:
        """Run one by hand, whatever its matcher says."""
        return await self._one(handler, call, self.ports.facts(call.session_id) or SessionFacts(project=call.cwd))

    def forget(self, session_id: str) -> None:
        """The session is over."""
        self.log.forget(session_id)
        self.registry.forget(session_id)
        self._late.pop(session_id, None)
        self._starting.pop(session_id, None)
        self._running_async.pop(session_id, None)
        self._shown = {each for each in self._shown if each[0] != session_id}
        self._ran_once = {each for each in self._ran_once if each[0] != session_id}

    # --- one event ---------------------------------------------------------------------------------------------------

    def _chosen(self, call: HookCall, facts: SessionFacts) -> list[Handler]:
        subjects = [call.subject, *([_ALIASES[call.subject]] if call.subject in _ALIASES else [])]
        matching = [
            handler
            for handler in self.registry.of_call(facts.project, call)
            if handler.event == call.event and any(handler.matches(subject) for subject in subjects)
        ]
        return ending_together([handler for handler in once_each(matching) if self._applies(handler, call)])

    def _applies(self, handler: Handler, call: HookCall) -> bool:
        if handler.once and (call.session_id, handler.hook_id) in self._ran_once:
            return False
        if handler.condition and "tool_input" not in call.data:
            return False  # there is no call that the rule could be about
        if handler.condition:
            try:
                return self.ports.matches_rule(handler.condition, call.subject, call.data["tool_input"], call.cwd)
            except ValueError as error:
                self._notice(call.session_id, f"{handler.origin}: hooks.{call.event}: `if` is not a rule: {error}")
        return True

    async def _one(self, handler: Handler, call: HookCall, facts: SessionFacts) -> HookOutcome:
        began, at = time.monotonic(), self._clock()
        if handler.once:
            self._ran_once.add((call.session_id, handler.hook_id))
        if status := handler.status_message:
            running = HookRan(event=call.event, outcome="running", text=status, hook_id=handler.hook_id)
            self.ports.publish(call.session_id, replace(running, tool_use_id=call.tool_use_id))
        outcome = await run_handler(handler, call, facts, self.ports)
        took = round((time.monotonic() - began) * 1000)
        outcome = replace(
            outcome,
            hook_id=handler.hook_id,
            name=handler.command[:200],
            duration_ms=took,
            source=str(handler.origin),
        )
        self._write_down(handler, call, facts, outcome, at)
        if outcome.status in ("error", "timeout"):
            words = f"{handler.origin}: the {call.event} hook `{handler.command[:120]}` failed: {outcome.text}"
            self._notice(call.session_id, words)
        if outcome.system_message:
            self.ports.publish(call.session_id, Notice(level="info", text=outcome.system_message))
        return outcome

    def _write_down(
        self, handler: Handler, call: HookCall, facts: SessionFacts, outcome: HookOutcome, at: float
    ) -> None:
        run: Json = {
            "hookId": handler.hook_id,
            "event": call.event,
            "outcome": outcome.status,
            "durationMs": outcome.duration_ms,
            "startedAt": at,
            "changed": outcome.changed,
            "source": str(handler.origin),
            "command": handler.command[:500],
        }
        more = {
            "toolUseId": call.tool_use_id,
            "exitCode": outcome.exit_code,
            "text": outcome.text or outcome.context[:500],
            "stdout": outcome.output,
        }
        self.log.add(
            call.session_id, facts.folder, run | {key: value for key, value in more.items() if value not in (None, "")}
        )

    # --- those that nobody waits for ---------------------------------------------------------------------------------

    def _start_async(self, handler: Handler, call: HookCall, facts: SessionFacts) -> None:
        running = self._running_async.get(call.session_id, 0)
        if running >= _MOST_ASYNC:
            self._notice(call.session_id, f"{handler.origin}: {_MOST_ASYNC} async hooks run already; one was left out")
            return
        self._running_async[call.session_id] = running + 1
        self.ports.spawn(self._unwaited(handler, call, facts))

    async def _unwaited(self, handler: Handler, call: HookCall, facts: SessionFacts) -> None:
        try:
            outcome = await self._one(handler, call, facts)
        finally:
            self._running_async[call.session_id] = max(0, self._running_async.get(call.session_id, 1) - 1)
        self.ports.publish(call.session_id, outcome.ran(call.event, call.tool_use_id))
        if handler.values.get("asyncRewake") and outcome.exit_code == 2:
            self.ports.wake(call.session_id, outcome.text)
        else:
            self._keep_for_the_prompt(call.session_id, [outcome])

    def _keep_for_the_prompt(self, session_id: str, outcomes: Iterable[HookOutcome]) -> None:
        for outcome in outcomes:
            if outcome.context:
                late = replace(outcome, status="success", decision=None, updated_input=None, text="")
                self._late.setdefault(session_id, []).append(late)

    def _late_ones(self, call: HookCall) -> Iterable[HookOutcome]:
        return self._late.pop(call.session_id, ()) if call.event == "UserPromptSubmit" else ()

    # --- notices -----------------------------------------------------------------------------------------------------

    def _notice(self, session_id: str, text: str) -> None:
        """Once for a session, however often it happens."""
        if (session_id, text) not in self._shown:
            self._shown.add((session_id, text))
            self.ports.publish(session_id, Notice(level="warning", text=text))
