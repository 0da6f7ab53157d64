"""Hooks (H): what users and programs want run on events. `runner` runs those of files, `in_process` functions."""

from assent.extensions.hooks.handlers import Handler, HookOrigin, HookProblem, parse_entry, parse_hooks
from assent.extensions.hooks.in_process import AllHooks, Hook, InProcessHooks
from assent.extensions.hooks.runner import HookRunner

__all__ = [
    "AllHooks",
    "Handler",
    "Hook",
    "HookOrigin",
    "HookProblem",
    "HookRunner",
    "InProcessHooks",
    "parse_entry",
    "parse_hooks",
]
