"""Understanding requests: plain English in, a list of wishes out. No grammar, just the phrases people use.

Not aware of tools, files or what was done before.
"""

import re
from collections.abc import Callable

from assent.model.offline.wishes import (
    AddDocstring,
    AddTest,
    AskMe,
    Explain,
    Find,
    Help,
    MakeTodos,
    Plan,
    Replace,
    RunCommand,
    RunTests,
    Unknown,
    Wish,
)


def understand(prompt: str) -> list[Wish]:
    """Every part of a request as one wish, in order; what is not understood is an `Unknown`."""
    text = _ASIDE.sub("", _FENCED.sub("", prompt)).strip() or prompt.strip()
    if not text:
        return [Help()]
    if planned := _PLAN.match(text):
        goal = re.sub(r"^(?:to|for|how to)\s+", "", text[planned.end() :]).strip()
        return [Plan(tuple(_wishes(goal)) if goal else (), goal)]
    return _wishes(text)


_FENCED = re.compile(r"\n\s*(`{3,}).*?\n\1[^\n]*", re.S)
# What the editor's actions add for models that would otherwise do too much.
_ASIDE = re.compile(r"\.\s+(?:change (?:nothing|no code)|keep its behaviour)[^.]*(?=\.|$)|,? in the style [^.]*", re.I)
_POLITE = r"(?:(?:please|now|then|also|can you|could you|would you|i want you to|let's)\s+)*"
_VERBS = (
    "find|search|look|locate|grep|where|replace|change|substitute|rename|swap|fix|add|write|create|generate|document|"
    "explain|read|show|open|describe|summarise|summarize|what|run|execute|test|make|ask|plan|list|help|then"
)
_JOINT = re.compile(
    r"(?:\s*[,;.]\s*(?:and\s+)?(?:then\s*,?\s+|after that\s*,?\s+|finally\s*,?\s+)?"
    r"|\s+and\s+(?:then\s+|finally\s+)?|\s+then\s+|\s*\n+\s*(?:[-*]|\d+[.)])?\s*)"
    rf"(?=(?:please\s+)?(?:{_VERBS})\b)",
    re.I,
)
_PLAN = re.compile(rf"{_POLITE}(?:make|write|draft|show)?\s*(?:me\s+)?(?:a\s+)?plan\b[\s:,]*", re.I)
# The items of a list, and the words after "ask me", are not requests of their own.
_UNDIVIDED = re.compile(
    rf"{_POLITE}(?:(?:make|write|create|start)\s+(?:me\s+)?(?:a\s+|the\s+)?(?:todo|to-do|task)|ask\b)", re.I
)
_QUOTED = re.compile(r"\"([^\"\n]+)\"|'([^'\n]+)'|`([^`\n]+)`|“([^”\n]+)”|‘([^’\n]+)’")

_FILE = r"(?P<path>\0\d+\0|@?[\w./~-]*[\w-]\.\w+|@[\w./~-]+|Makefile|Dockerfile)"
_IN_FILE = rf"(?:\s+(?:everywhere\s+)?(?:in|of|from|inside)\s+(?:the\s+)?(?:file\s+)?{_FILE})?"
_PLACE = rf"{_FILE}\s+lines?\s+(?P<line>\d+)"
_NAME = r"(?:the\s+)?(?:function\s+|method\s+|class\s+|symbol\s+)?(?P<name>\0\d+\0|[A-Za-z_]\w*)(?:\(\))?"
_OLD = r"(?:every\s+|all\s+|the\s+(?:text|word|string)\s+)?(?P<old>\0\d+\0|\S+)"
_NEW = r"(?:by|with|to|for|into|->|→|=>)\s+(?P<new>\0\d+\0|\S+)"
_TESTS = r"(?:(?:the|all|my|its|unit|project|project's)\s+)*tests?(?:\s+suite)?"
_DOC = r"(?:add|write|create)\s+(?:a\s+)?(?:docstring|doc\s?string|documentation|doc\s+comment)\s+(?:to|for|in)"
_STUB = (
    r"(?:add|write|create|make|generate)\s+(?:a\s+|an\s+|some\s+)?(?:unit\s+)?tests?(?:\s+(?:stub|case|function))?s?"
)
_READ = r"(?:explain|read|show|open|describe|summari[sz]e|what\s+does|what\s+is\s+in|what's\s+in)"
_SEARCH = r"(?:find|search|locate|grep|look)(?:\s+up)?(?:\s+(?:for|out))?"


class _Masked:
    """Quoted text is set aside while the sentence is taken apart, so that words in quotes are never verbs."""

    def __init__(self, text: str) -> None:
        self._quotes: list[str] = []
        self.text = _QUOTED.sub(self._hide, text.replace("\0", ""))

    def _hide(self, found: re.Match[str]) -> str:
        self._quotes.append(next(each for each in found.groups() if each is not None))
        return f"\0{len(self._quotes) - 1}\0"

    def open(self, text: str | None) -> str:
        return re.sub(r"\0(\d+)\0", lambda at: self._quotes[int(at.group(1))], text or "")

    def quotes(self, text: str) -> list[str]:
        return [self._quotes[int(at)] for at in re.findall(r"\0(\d+)\0", text)]


Make = Callable[[re.Match[str], _Masked], Wish | None]


def _wishes(text: str) -> list[Wish]:
    masked = _Masked(text)
    parts = [masked.text] if _UNDIVIDED.match(masked.text) else _JOINT.split(masked.text)
    found = [_wish(part.strip(" ,;\n"), masked) for part in parts if part and part.strip(" .,;\n")]
    return found or [Unknown(text)]


def _wish(part: str, masked: _Masked) -> Wish:
    text = re.sub(rf"^{_POLITE}", "", part, flags=re.I)
    for pattern, make in _PHRASES:
        if (found := pattern.match(text)) is not None and (wish := make(found, masked)) is not None:
            return wish
    return Unknown(masked.open(text))


def _path(found: re.Match[str], masked: _Masked) -> str:
    return masked.open(found.groupdict().get("path")).strip().removeprefix("@").rstrip(".?!,")


def _explain(found: re.Match[str], masked: _Masked) -> Wish | None:
    path = _path(found, masked)
    return Explain(path) if path else None


def _find(found: re.Match[str], masked: _Masked) -> Wish | None:
    rest = found.group("rest").strip(" .?!")
    where = re.search(rf"\s+in\s+(?:the\s+)?(?:file\s+)?{_FILE}$", rest)
    path = _path(where, masked) if where else ""
    rest = rest[: where.start()] if where else rest
    if named := _DEFINITION.fullmatch(rest):
        name = named.group("name") or named.group("named") or named.group("kind")
        return Find(masked.open(name), definition=True, path=path)
    if quotes := masked.quotes(rest):
        return Find(quotes[0], path=path)
    what = re.sub(r"^(?:(?:for|all|every|the|text|word|string|uses? of|usages? of)\s+)+", "", rest, flags=re.I)
    what = re.sub(r"^where\s+(?:is\s+|are\s+)?(.+?)(?:\s+(?:is|are))?(?:\s+used)?$", r"\1", what, flags=re.I)
    return Find(what, path=path) if what else None


def _replace(found: re.Match[str], masked: _Masked) -> Wish | None:
    new = found.group("new")
    new = masked.open(new if "\0" in new else new.rstrip("."))
    return Replace(masked.open(found.group("old")), new, _path(found, masked))


def _todos(found: re.Match[str], masked: _Masked) -> Wish | None:
    items = re.split(r"[,;\n]|\s+and\s+", masked.open(found.group("rest")))
    bare = [re.sub(r"^(?:[-*]|\d+[.)])\s*|^and\s+", "", each.strip(" .\n")) for each in items]
    return MakeTodos(tuple(each for each in bare if each))


def _ask(found: re.Match[str], masked: _Masked) -> Wish | None:
    rest = masked.open(found.group("rest")).strip(" .:?")
    if not rest:
        return AskMe("What shall I do next?", ("Explain a file", "Find something", "Run the tests"))
    if choice := _CHOICE.match(rest):
        options = [*re.split(r",\s*", choice.group("first")), choice.group("last")]
        words = tuple(each.strip() for each in options if each.strip())[:6]
        return AskMe(f"{' or '.join(words)}?".capitalize(), words)
    return AskMe(f"{rest[0].upper()}{rest[1:]}?", ("Yes", "No"))


_DEFINITION = re.compile(
    rf"(?:where\s+)?(?:is\s+|are\s+)?(?:the\s+)?(?:definition\s+of\s+{_NAME}"
    rf"|{_NAME.replace('?P<name>', '?P<named>')}\s+(?:is\s+)?(?:defined|declared|implemented)"
    r"|(?:function|class|method|symbol)\s+(?P<kind>[A-Za-z_]\w*)(?:\(\))?)",
    re.I,
)
_CHOICE = re.compile(
    r"(?:whether|if|which)?\s*(?:(?:i|we|you)\s+)?(?:should|want|would\s+like|prefer)?\s*(?:to\s+)?(?:use\s+)?"
    r"(?P<first>.+?),?\s+or\s+(?P<last>.+)$",
    re.I,
)


def _phrase(pattern: str, make: Make) -> tuple[re.Pattern[str], Make]:
    return re.compile(pattern, re.I | re.S), make


# Tried in this order: the narrow ones first.
_PHRASES: list[tuple[re.Pattern[str], Make]] = [
    _phrase(rf"(?:run|execute|start|do)\s+{_TESTS}\s*[.!]?$", lambda _found, _masked: RunTests()),
    _phrase(r"tests?\s*(?:it|the project|everything)?\s*[.!]?$", lambda _found, _masked: RunTests()),
    _phrase(
        rf"{_STUB}\s+(?:for|to|of)\s+{_PLACE}",
        lambda found, masked: AddTest("", _path(found, masked), int(found.group("line"))),
    ),
    _phrase(
        rf"(?:{_DOC}|document)\s+{_PLACE}",
        lambda found, masked: AddDocstring("", _path(found, masked), int(found.group("line"))),
    ),
    _phrase(
        rf"{_STUB}\s+(?:for|to|of)\s+{_NAME}{_IN_FILE}",
        lambda found, masked: AddTest(masked.open(found.group("name")), _path(found, masked)),
    ),
    _phrase(
        rf"(?:{_DOC}|document)\s+{_NAME}{_IN_FILE}",
        lambda found, masked: AddDocstring(masked.open(found.group("name")), _path(found, masked)),
    ),
    _phrase(rf"(?:replace|change|substitute|swap|rename|fix)\s+{_OLD}\s+{_NEW}{_IN_FILE}", _replace),
    _phrase(
        r"(?:make|write|create|start)\s+(?:me\s+)?(?:a\s+|the\s+)?(?:todo|to-do|task)s?(?:\s+list)?\b"
        r"\s*(?:of|for|with|:|-)?\s*(?P<rest>.*)$",
        _todos,
    ),
    _phrase(r"ask\s+(?:me|us|the\s+user)?\s*(?:a\s+question)?\s*(?:about|:|,)?\s*(?P<rest>.*)$", _ask),
    _phrase(
        r"(?:run|execute)\s+(?:the\s+)?(?:shell\s+)?(?:command\s+)?:?\s*(?P<command>.+)$",
        lambda found, masked: RunCommand(masked.open(found.group("command")).strip()),
    ),
    _phrase(
        rf"{_READ}\s+(?:me\s+)?(?:what\s+(?:is\s+)?(?:in|does)\s+)?(?:the\s+)?(?:file\s+|contents?\s+of\s+)?{_FILE}",
        _explain,
    ),
    _phrase(rf"{_SEARCH}\s+(?P<rest>.+)$", _find),
    _phrase(r"(?P<rest>where\s+(?:is|are)\s+.+)$", _find),
    _phrase(r"(?:help|hello|hi|hey|what can you do|who are you|what are you)\b.*$", lambda _found, _masked: Help()),
]
