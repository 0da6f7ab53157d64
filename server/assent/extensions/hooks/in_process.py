"""In-process hooks (H): functions that get events and may answer, with matchers and timeouts.

They run in parallel and never raise: a crash or a timeout is an outcome, shown and without effect. An answer that is
none blocks the call that it was to judge. Hooks that files
name are for another provider of the same port (`runner`).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import get_args

import anyio

from assent.extensions.hooks.matcher import matches
from assent.types.hooks import STRICTEST_FIRST, HookCall, HookEvent, HookOutcome, Hooks, HookStatus

logger = logging.getLogger(__name__)

DEFAULT_SECONDS = 60.0
JUDGES: frozenset[HookEvent] = frozenset({"PreToolUse", "PermissionRequest"})

HookFunction = Callable[[HookCall], Awaitable[HookOutcome | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """`matcher` is written as in files: names, a regular expression, or nothing for all."""

    event: HookEvent
    run: HookFunction
    matcher: str = ""
    timeout: float = DEFAULT_SECONDS
    name: str = ""

    def matches(self, call: HookCall) -> bool:
        return call.event == self.event and matches(self.matcher, call.event, call.subject)


class InProcessHooks:
    def __init__(self, hooks: tuple[Hook, ...] = ()) -> None:
        self._hooks: list[Hook] = list(hooks)

    def add(self, hook: Hook) -> Callable[[], None]:
        """Register a hook; gives the way to take it away again."""
        self._hooks.append(hook)
        return lambda: self._hooks.remove(hook)

    def wants(self, event: HookEvent) -> bool:
        return any(hook.event == event for hook in self._hooks)

    async def run(self, call: HookCall) -> list[HookOutcome]:
        matching: list[Hook] = []
        for hook in self._hooks:
            if hook.matches(call) and all(hook.run is not other.run for other in matching):
                matching.append(hook)
        outcomes: list[HookOutcome | None] = [None] * len(matching)

        async def one(at: int, hook: Hook) -> None:
            outcomes[at] = await _outcome(hook, call)

        async with anyio.create_task_group() as group:
            for at, hook in enumerate(matching):
                group.start_soon(one, at, hook)
        return [outcome for outcome in outcomes if outcome is not None]


class AllHooks:
    """Several providers as one."""

    def __init__(self, *providers: Hooks) -> None:
        self._providers = providers

    def wants(self, event: HookEvent) -> bool:
        return any(provider.wants(event) for provider in self._providers)

    async def run(self, call: HookCall) -> list[HookOutcome]:
        found: list[list[HookOutcome]] = [[] for _ in self._providers]

        async def one(at: int, provider: Hooks) -> None:
            found[at] = await provider.run(call)

        async with anyio.create_task_group() as group:
            for at, provider in enumerate(self._providers):
                group.start_soon(one, at, provider)
        return [outcome for outcomes in found for outcome in outcomes]


async def _outcome(hook: Hook, call: HookCall) -> HookOutcome | None:
    name = hook.name or getattr(hook.run, "__name__", "hook")
    try:
        with anyio.fail_after(hook.timeout):
            outcome = await hook.run(call)
    except TimeoutError:
        return HookOutcome(status="timeout", text=f"{name} did not answer within {hook.timeout:g} s", name=name)
    except Exception as error:
        logger.exception("hook %s failed", name)
        return HookOutcome(status="error", text=f"{name}: {type(error).__name__}: {error}", name=name)
    if outcome is None:
        return None
    if wrong := _problem(outcome):
        logger.error("hook %s %s", name, wrong)
        status: HookStatus = "blocked" if call.event in JUDGES else "error"  # who meant to say no is not passed over
        return HookOutcome(status=status, text=f"The hook {name} {wrong}", name=name)
    return replace(outcome, name=outcome.name or name)


def _problem(outcome: object) -> str:
    """Why an answer cannot be used, or nothing. A program may answer anything."""
    if not isinstance(outcome, HookOutcome):
        return f"answered with {type(outcome).__name__}, not with a HookOutcome or None"
    if outcome.status not in get_args(HookStatus):
        return f"answered with the status {outcome.status!r}, which does not exist"
    if outcome.decision is not None and outcome.decision not in STRICTEST_FIRST:
        return f"answered with the decision {outcome.decision!r}, which does not exist"
    if outcome.updated_input is not None and not isinstance(outcome.updated_input, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        return f"answered with an input that is {type(outcome.updated_input).__name__}, not a mapping"
    for field in ("text", "context", "system_message", "name"):
        if not isinstance(getattr(outcome, field), str):
            return f"answered with a {field} that is not text"
    return ""
