"""Permission rules: `Tool(pattern)` lines from every settings source, united.

    Bash                      every command             Read(~/.ssh/**)            a path pattern, as in .gitignore
    Bash(make test)           exactly this command      Edit(src/**)               covers every tool that edits files
    Bash(git status:*)        these words, then any     WebFetch(domain:x.org)     this host; `*.x.org` its subdomains
    mcp__server               all tools of a server     mcp__server__tool          one of them
    Bash(git * main), *, mcp__*                         deny and ask only: any text between; several tools
    WebFetch(domain:x.org, query)                       this host, with a path or query of any length

Owns parsing and which rule speaks to which tool. Does not know what a command does or where a path leads: the chain
hands it words, names and hosts. A rule that cannot be read is reported and never silently widened.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from assent.permissions.web import valid_domain_pattern
from assent.text import globs
from assent.types.permissions import RuleSource

Behaviour = Literal["allow", "ask", "deny"]
BEHAVIOURS: tuple[Behaviour, ...] = ("deny", "ask", "allow")
READERS = frozenset({"Read", "Glob", "Grep"})
EDITORS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_SPELLING = {name.casefold(): name for name in READERS | EDITORS | {"Bash", "WebFetch", "WebSearch", "Agent"}}
_SPELLING["task"] = "Agent"  # as it was called before
FROM_PROJECT: frozenset[RuleSource] = frozenset({"project", "local", "editor"})
"""Sources that a workspace's own files can fill: before trust they may only restrict (P14)."""

_SHAPE = re.compile(r"(?P<tool>[A-Za-z][A-Za-z0-9_.-]*(?:__\*)?)(?:\((?P<pattern>.*)\))?", re.DOTALL)
_SEVERAL_TOOLS = re.compile(r"(?:mcp__|(?!mcp__)[A-Za-z0-9_.-]*)\*")
_PLAIN_WORD = re.compile(r"'[^']*'|\"[^\"$`\\]*\"|(?:[^\s'\"\\$`;&|()<>]|\\.)+")


class RuleError(ValueError):
    """A rule that cannot be read; the message says what to write instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One parsed line. Exactly one of `words`, `path`, `host`, `name` is set, or none for a bare tool."""

    text: str
    tool: str
    behaviour: Behaviour = "allow"
    source: RuleSource = "session"
    words: tuple[str, ...] = ()
    prefix: bool = False  # `words` may be followed by others
    path: str | None = None
    host: str | None = None
    any_length: bool = False  # of the path and the query sent to `host`
    name: str | None = None

    @property
    def bare(self) -> bool:
        return not self.words and self.path is None and self.host is None and self.name is None

    def names_tool(self, tool: str) -> bool:
        """Does a bare rule speak of this tool?"""
        if self.tool == tool:
            return True
        if self.tool == "Edit" and tool in EDITORS:
            return True
        if self.tool.endswith("*"):
            return tool.startswith(self.tool[:-1])
        return self.tool.startswith("mcp__") and self.tool.count("__") == 1 and tool.startswith(self.tool + "__")

    def covers_words(self, argv: Sequence[str]) -> bool:
        """Whole words only: `npm run test:*` is not `npm run test:unit`."""
        n = len(self.words)
        return n > 0 and tuple(argv[:n]) == self.words and (self.prefix or len(argv) == n)

    def path_patterns(self, roots: Iterable[str], home: str) -> list[globs.PathPattern]:
        wide = self.behaviour != "allow"
        absolute = globs.absolute_patterns(self.path or "", roots=roots, home=home, wide=wide)
        return [globs.compiled(pattern, folded=wide) for pattern in absolute]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleProblem:
    """A line that does not apply, and why; shown to the user with its source."""

    text: str
    behaviour: Behaviour
    source: RuleSource
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """All rules of all sources. Immutable: a saved answer gives a new set."""

    rules: tuple[Rule, ...] = ()
    problems: tuple[RuleProblem, ...] = field(default=())

    @classmethod
    def from_settings(cls, sources: Mapping[RuleSource, Mapping[str, Any]]) -> "RuleSet":
        """From each source's `permissions` object. Deny rules are read first; what cannot be read is in `problems`."""
        rules: list[Rule] = []
        problems: list[RuleProblem] = []
        for behaviour in BEHAVIOURS:
            for source, permissions in sources.items():
                lines: object = permissions.get(behaviour, ())
                if not isinstance(lines, Sequence) or isinstance(lines, str):
                    message = f"`permissions.{behaviour}` must be a list of rules"
                    problems.append(
                        RuleProblem(text=str(lines)[:200], behaviour=behaviour, source=source, message=message)
                    )
                    continue
                for line in cast("Sequence[object]", lines):
                    try:
                        rules.append(parse_rule(line, behaviour=behaviour, source=source))
                    except RuleError as error:
                        problems.append(
                            RuleProblem(text=str(line)[:200], behaviour=behaviour, source=source, message=str(error))
                        )
        return cls(rules=tuple(rules), problems=tuple(problems))

    @classmethod
    def from_rules(cls, lines: Iterable[tuple[str, RuleSource, Behaviour]]) -> "RuleSet":
        """From (text, source, behaviour), as the settings loader gives them."""
        grouped: dict[RuleSource, dict[str, list[str]]] = {}
        for text, source, behaviour in lines:
            grouped.setdefault(source, {}).setdefault(behaviour, []).append(text)
        return cls.from_settings(grouped)

    def with_rule(self, rule: Rule) -> "RuleSet":
        return RuleSet(rules=(*self.rules, rule), problems=self.problems)

    def united(self, other: "RuleSet") -> "RuleSet":
        return RuleSet(rules=self.rules + other.rules, problems=self.problems + other.problems)

    def in_force(self, *, trusted: bool) -> "RuleSet":
        """Without what an untrusted workspace's files would allow (P14)."""
        if trusted:
            return self
        kept = tuple(rule for rule in self.rules if rule.behaviour != "allow" or rule.source not in FROM_PROJECT)
        return RuleSet(rules=kept, problems=self.problems)

    def of(self, behaviour: Behaviour) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.behaviour == behaviour)


def parse_rule(text: object, *, behaviour: Behaviour = "allow", source: RuleSource = "session") -> Rule:
    """Read one line, or raise RuleError saying what is wrong with it."""
    if not isinstance(text, str):
        raise RuleError("a rule is a string such as `Bash(git status:*)`")
    line = text.strip()
    if any(ord(c) < 32 or ord(c) == 127 for c in line) or len(line) > 2000:
        raise RuleError("a rule is one line of at most 2000 characters")
    if _SEVERAL_TOOLS.fullmatch(line):
        if behaviour == "allow":
            raise RuleError("only deny and ask rules may speak of several tools: write `mcp__server` or a tool's name")
        return Rule(text=line, tool=line, behaviour=behaviour, source=source)
    shape = _SHAPE.fullmatch(line)
    if shape is None:
        raise RuleError("write `Tool` or `Tool(pattern)`")
    tool, pattern = shape["tool"], shape["pattern"]
    tool = tool.removesuffix("__*")  # mcp__server__* is another way to write mcp__server
    tool = _SPELLING.get(tool.casefold(), tool)  # a deny rule must not be lost over a small letter
    rule = Rule(text=line, tool=tool, behaviour=behaviour, source=source)
    if pattern is None or (pattern.strip() in ("*", "**") and tool not in ("Bash", "WebFetch")):
        return rule
    if tool.startswith("mcp__"):
        raise RuleError("MCP rules take no pattern: write `mcp__server` or `mcp__server__tool`")
    if tool == "Bash":
        return _command_rule(rule, pattern)
    if tool == "WebFetch":
        return _host_rule(rule, pattern)
    if tool in READERS | EDITORS:
        try:
            globs.check_pattern(pattern)
        except globs.BadPattern as error:
            raise RuleError(str(error)) from None
        return _with(rule, path=pattern)
    if not pattern.strip():
        raise RuleError("the pattern is empty")
    return _with(rule, name=pattern.strip())


def _command_rule(rule: Rule, pattern: str) -> Rule:
    body = pattern.strip()
    if body == "*":
        return rule
    prefix = body.endswith((":*", " *"))
    body = body[:-2].rstrip() if prefix else body
    words: list[str] = []
    position = 0
    while position < len(body):
        piece, position = _rule_word(body, position)
        words.append(piece)
    if not words:
        raise RuleError("name the command: `Bash(git status:*)`")
    if prefix and any("*" in word for word in words) and rule.behaviour == "allow":
        raise RuleError("`*` is only understood at the end, as `:*`")
    return _with(rule, words=tuple(words), prefix=prefix)


def _rule_word(body: str, start: int) -> tuple[str, int]:
    """One shell word of a rule, unquoted, and where the next begins."""
    pieces: list[str] = []
    position = start
    while position < len(body) and not body[position].isspace():
        found = _PLAIN_WORD.match(body, position)
        if found is None:
            raise RuleError("a rule names one simple command: no operators, variables or substitutions")
        piece = found.group()
        pieces.append(piece[1:-1] if piece[0] in "'\"" else re.sub(r"\\(.)", r"\1", piece))
        position = found.end()
    while position < len(body) and body[position].isspace():
        position += 1
    return "".join(pieces), position


def _host_rule(rule: Rule, pattern: str) -> Rule:
    body = pattern.strip()
    if body == "*" or body == "domain:*":
        return rule
    if not body.startswith("domain:"):
        raise RuleError("write `WebFetch(domain:example.org)`")
    body, comma, option = body.partition(",")
    if comma and option.strip() != "query":
        raise RuleError("after the domain only `query` is understood: `WebFetch(domain:example.org, query)`")
    host = body.removeprefix("domain:").strip().casefold().rstrip(".")
    if not valid_domain_pattern(host):
        raise RuleError(
            "a domain is a host name such as `example.org` or `*.example.org`, without scheme, port or path"
        )
    return _with(rule, host=host, any_length=bool(comma))


def _with(
    rule: Rule,
    *,
    words: tuple[str, ...] = (),
    prefix: bool = False,
    path: str | None = None,
    host: str | None = None,
    any_length: bool = False,
    name: str | None = None,
) -> Rule:
    return Rule(
        text=rule.text,
        tool=rule.tool,
        behaviour=rule.behaviour,
        source=rule.source,
        words=words,
        prefix=prefix,
        path=path,
        host=host,
        any_length=any_length,
        name=name,
    )
