"""What a command finds in its input, where the line itself says so: heredocs, here-strings, an `echo` before a pipe."""

import re

from assent.permissions.shell.syntax.simple_commands import Command

_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}
_PRINTED = re.compile(r"(?:%s(?:\\n| )?)+|[^%]*")


def input_text(command: Command) -> str | None:
    """The text, as far as it is written down; None when nobody can say before it runs."""
    if command.given is not None:
        return command.given
    if len(command.feeders) != 1 or any(redirect.operator == "<" for redirect in command.redirects):
        return None
    return _printed(command.feeders[0])


def piped(command: Command) -> bool:
    return bool(command.feeders) and command.given is None


def _printed(command: Command) -> str | None:
    """What the plainest of commands print."""
    if not command.words or not command.known or any(word.wild for word in command.words):
        return None
    name, *words = command.argv
    if name == "cat" and (not words or words == ["-"]):
        return input_text(command)
    if name == "echo":
        while words and re.fullmatch(r"-[neE]+", words[0]):
            words = words[1:]
        return _unescaped(" ".join(words))
    if name == "printf" and words and _PRINTED.fullmatch(words[0]):
        shape, *values = words
        return "\n".join(values) if "%" in shape else _unescaped(shape)
    return None


def _unescaped(text: str) -> str:
    return re.sub(r"\\[nt\\]", lambda found: _ESCAPES[found.group()], text)
