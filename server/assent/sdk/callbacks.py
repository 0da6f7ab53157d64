"""Hooks that a program gives us as functions."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from assent.extensions.hooks import matcher
from assent.sdk.options import HookFunction, HookMatcher
from assent.sdk.own_functions import own
from assent.types.hooks import EVENTS, HookCall, HookEvent, HookOutcome

if TYPE_CHECKING:
    from assent.app import App


def add_hooks(app: App, hooks: Mapping[HookEvent, Sequence[HookMatcher | HookFunction]]) -> None:
    """Each function at its event. Raises ValueError or TypeError for what would never run."""
    for event, functions in hooks.items():
        if event not in EVENTS:
            near = difflib.get_close_matches(event, EVENTS, 1)
            raise ValueError(f"there is no hook event {event!r}{f'; {near[0]} is one' if near else ''}")
        for each in functions:
            hook = each if isinstance(each, HookMatcher) else HookMatcher(run=each)
            if not callable(hook.run):
                raise TypeError(f"hooks: {hook.run!r} at {event} is not a function")
            if wrong := matcher.problem(hook.matcher):
                raise ValueError(f"hooks: {hook.matcher!r} at {event}: {wrong}")
            app.add_hook(event, _awaited(hook.run), matcher=hook.matcher, timeout=hook.timeout)


def _awaited(function: HookFunction) -> Callable[[HookCall], Awaitable[HookOutcome | None]]:
    @functools.wraps(function)
    async def run(call: HookCall) -> HookOutcome | None:
        return await own(function, call)

    return run
