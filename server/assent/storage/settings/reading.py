"""Reads and checks one place of settings: a file of ours, a file of another program, or values handed over.

A file that is partly wrong still counts: its good keys apply, its deny and ask rules even when the rest cannot be
parsed, and the problem is named with file, line and key.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import orjson

from assent.storage.settings import check
from assent.storage.settings.settings_view import BEHAVIOURS, Behaviour, Problem, Source, SourcedRule
from assent.storage.settings.structure import OWN_ONLY
from assent.text.json_lines import key_lines
from assent.types.blocks import Json
from assent.types.permissions import RuleSource
from assent.types.regular_files import RefusedFile, read_regular

LARGEST = 1_000_000  # bytes of a settings file; more is none
MCP_FILE = ".mcp.json"
_CREDENTIALS = re.compile(r"^(ANTHROPIC_|AWS_|GOOGLE_APPLICATION_|VERTEX_|CLAUDE_CODE_).*|.*(API_KEY|AUTH_TOKEN)$")
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*+)(?:"|\\?\Z)', re.DOTALL)  # one that nothing closes takes all the rest
_WHOLE_ENTRY = re.compile(r"(mcpServers\.[^.]+)\..+")  # half a server is another server


ParseRule = Callable[..., object]
"""(text, behaviour=…); raises ValueError on a rule that cannot be used, which depends on what it is for."""

Taken = Callable[[Json], Json]
"""What of another program's file is ours to read."""


def read_file(path: Path, kind: RuleSource, parse_rule: ParseRule | None, taken: Taken | None = None) -> Source:
    """`taken` picks what is read of a file that belongs to another program too; its other keys are not judged."""
    foreign = taken is not None
    try:
        data = read_regular(path, limit=LARGEST).data
    except OSError as error:
        text = error.strerror if isinstance(error, RefusedFile) else f"cannot be read: {error.strerror}"
        problem = Problem(file=str(path), key="", text=text or "cannot be read", foreign=foreign)
        return Source(kind=kind, file=str(path), problems=(problem,), foreign=foreign)
    try:
        values = parse(data)
        if taken is not None:
            values = taken(values)
        source = checked(values, kind, str(path), parse_rule, foreign=foreign)
        if source.problems or source.values.get("hooks"):
            lines = key_lines(data)
            located = tuple(replace(each, line=lines.get(each.key, 0)) for each in source.problems)
            source = replace(source, problems=located, lines=lines)
    except ValueError as error:
        saved = checked({"permissions": _salvaged(data)}, kind, str(path), parse_rule, foreign=foreign)
        applied = f"; {len(saved.rules)} deny and ask rules in it still apply" if saved.rules else ""
        text = f"is not valid JSON ({error}){applied}"
        line = getattr(error, "lineno", 0) if isinstance(error, orjson.JSONDecodeError) else 0
        problem = Problem(file=str(path), key="", text=text, line=line, foreign=foreign)
        source = replace(saved, problems=(problem, *saved.problems))
    return source


def checked(raw: Json, kind: RuleSource, file: str, parse_rule: ParseRule | None, *, foreign: bool = False) -> Source:
    found = [
        Problem(file=file, key=key, text=text, foreign=foreign)
        for key, text in check.problems(raw, unknown=not foreign)
    ]
    bad = {
        _WHOLE_ENTRY.sub(r"\1", problem.key) if check.UNKNOWN not in problem.text else problem.key for problem in found
    }
    values = cast("Json", _pruned(raw, bad, ""))
    rules: list[SourcedRule] = []
    permissions = values.get("permissions")
    if isinstance(permissions, dict):
        permissions = dict(cast("Json", permissions))
        skipped: list[str] = []
        for behaviour in BEHAVIOURS:
            for rule in permissions.pop(behaviour, []):
                wrong = _rule_problem(rule, behaviour, parse_rule)
                if wrong is None:
                    rules.append(SourcedRule(rule=rule, source=kind, behaviour=behaviour, file=file))
                elif foreign and behaviour == "allow":
                    skipped.append(rule)  # nothing is lost but a question less
                else:
                    key = f"permissions.{behaviour}"
                    found.append(Problem(file=file, key=key, text=f"{rule!r} {wrong}", foreign=foreign))
        if skipped:
            shown = ", ".join(skipped[:3]) + (f" and {len(skipped) - 3} more" if len(skipped) > 3 else "")
            text = f"rules that Assent does not understand are skipped: {shown}"
            found.append(Problem(file=file, key="permissions.allow", text=text, foreign=True))
        values["permissions"] = permissions
    return Source(kind=kind, file=file, values=values, rules=tuple(rules), problems=tuple(found), foreign=foreign)


def parse(data: bytes) -> Json:
    value: Any = orjson.loads(data.removeprefix(b"\xef\xbb\xbf") or b"{}")
    if not isinstance(value, dict):
        raise ValueError("the file must hold one JSON object")
    return cast("Json", value)


def mcp_part(values: Json) -> Json:
    return {key: value for key, value in values.items() if key == "mcpServers"}


def without_own_only(source: Source) -> Source:
    """What comes with a repository has no say in whom we talk to, with whose key, and how we run."""
    told: list[Problem] = []
    kept: Json = {}
    for key, value in source.values.items():
        if key in OWN_ONLY:
            told.append(refused(source, key, "is ignored here: only your own settings may set it"))
            continue
        if key == "env":
            env = cast("dict[str, str]", value)
            bad = [name for name in env if _CREDENTIALS.match(name)]
            told += [refused(source, f"env.{name}", "is ignored here: credentials are yours") for name in bad]
            value = {name: text for name, text in env.items() if name not in bad}
        kept[key] = value
    return replace(source, values=kept, problems=(*source.problems, *told))


def refused(source: Source, key: str, text: str) -> Problem:
    return Problem(file=source.file, key=key, text=text, line=source.lines.get(key, 0), foreign=source.foreign)


def _rule_problem(rule: str, behaviour: Behaviour, parse_rule: ParseRule | None) -> str | None:
    if parse_rule is None:
        return None
    try:
        parse_rule(rule, behaviour=behaviour)
    except ValueError as error:
        return f"is not a rule: {error}"
    return None


def _salvaged(data: bytes) -> dict[str, list[str]]:
    """Deny and ask rules out of a file that does not parse: refusing too much is safe, allowing is not."""
    text = data.decode("utf-8", "replace")
    found: dict[str, list[str]] = {}
    for behaviour in ("deny", "ask"):
        for match in re.finditer(rf'"{behaviour}"\s*:\s*\[([^\]]*)', text):
            for literal in _LITERAL.findall(match.group(1)):
                try:
                    found.setdefault(behaviour, []).append(str(orjson.loads(f'"{literal}"')))
                except orjson.JSONDecodeError:
                    continue
    return found


def _pruned(value: object, bad: set[str], path: str) -> object:
    """The value without the parts whose path is bad."""
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        named = [(key, item, f"{path}.{key}" if path else key) for key, item in items]
        return {key: _pruned(item, bad, name) for key, item, name in named if name not in bad}
    if isinstance(value, list):
        items = list(enumerate(cast("list[object]", value)))
        return [_pruned(item, bad, f"{path}[{i}]") for i, item in items if f"{path}[{i}]" not in bad]
    return value
