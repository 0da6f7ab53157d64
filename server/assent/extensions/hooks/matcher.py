"""Whether a hook's matcher matches the subject of an event. Pure.

Nothing or `*` matches all. A matcher of plain characters is a list of exact names; any other is a regular expression
that may match anywhere in the subject. Events without a subject ignore the matcher.
"""

import re
from functools import lru_cache

from assent.types.hooks import HookEvent

NO_SUBJECT: frozenset[HookEvent] = frozenset(
    {
        "UserPromptSubmit",
        "PostToolBatch",
        "Stop",
        "TeammateIdle",
        "TaskCreated",
        "TaskCompleted",
        "WorktreeCreate",
        "WorktreeRemove",
        "MessageDisplay",
        "CwdChanged",
        "PreModelSwitch",
        "PostModelSwitch",
    }
)
_NAMES = re.compile(r"[A-Za-z0-9_\- ,|]*")
_NARROW_NAMES = re.compile(r"[A-Za-z0-9_|]*")  # file names and error kinds hold commas and spaces themselves
_NARROW: frozenset[HookEvent] = frozenset({"FileChanged", "StopFailure"})


def matches(matcher: str, event: HookEvent, subject: str) -> bool:
    if matcher in ("", "*") or event in NO_SUBJECT:
        return True
    if (_NARROW_NAMES if event in _NARROW else _NAMES).fullmatch(matcher):
        return subject in exact_names(matcher)
    pattern = _compiled(matcher)
    return pattern.search(subject) is not None if pattern is not None else matcher == subject


def exact_names(matcher: str) -> list[str]:
    return [name.strip() for name in re.split(r"[|,]", matcher)]


def problem(matcher: str) -> str:
    """Why a matcher cannot be used, or nothing."""
    if _NAMES.fullmatch(matcher) or matcher == "*" or _compiled(matcher) is not None:
        return ""
    return "the matcher is not a regular expression; it is compared as plain text"


@lru_cache(maxsize=512)
def _compiled(matcher: str) -> re.Pattern[str] | None:
    """As JavaScript writes them; named groups are the one difference that matters."""
    try:
        return re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", matcher))
    except re.error:
        return None
