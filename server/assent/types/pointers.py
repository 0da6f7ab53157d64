"""The words that stand for a result the model still has (C7).

They name the call whose result is meant, so that whoever takes that result out of the view finds them again."""

import re

_POINTER = re.compile(r".+ is unchanged since you last read it; that result(?: \((\S+)\))?, above, still holds\.")


def unchanged(path: str, tool_use_id: str) -> str:
    return f"{path} is unchanged since you last read it; that result ({tool_use_id}), above, still holds."


def points_at(content: object) -> str | None:
    """The call whose result is meant; empty where it is not named, as in version 0.1; None for any other words."""
    found = _POINTER.fullmatch(content) if isinstance(content, str) else None
    return (found[1] or "") if found else None
