"""Settings from seven places, merged into one view (X).

user < project < local < editor < command line < session < policy. Later places win; rule lists are united. Two rules
stand above the order:

1. A file that is partly wrong still counts: its good keys apply, its deny and ask rules even when the rest cannot be
   parsed, and the problem is told with file and key.
2. What comes with a repository (project, local, and editor settings not marked as the user's own) can only restrict
   until the user trusts it; what it activates then is what the user was shown (`activation`). It can never say whom
   we talk to or with whose key.
"""

import errno
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from assent.storage import activation, schema
from assent.storage.activation import TrustItem
from assent.storage.files import write_atomically, write_beside_links
from assent.storage.paths import POLICY_FILE
from assent.storage.trust import FolderTrust
from assent.types.blocks import Json
from assent.types.errors import SettingsError
from assent.types.permissions import RuleSource
from assent.types.regular_files import RefusedFile, read_regular

Behaviour = Literal["allow", "ask", "deny"]
BEHAVIOURS: tuple[Behaviour, ...] = ("deny", "ask", "allow")
MCP_FILE = ".mcp.json"
LARGEST = 1_000_000  # bytes of a settings file; more is none
ORDER: tuple[RuleSource, ...] = ("user", "project", "local", "editor", "cli", "session", "policy")
_CREDENTIALS = re.compile(r"^(ANTHROPIC_|AWS_|GOOGLE_APPLICATION_|VERTEX_|CLAUDE_CODE_).*|.*(API_KEY|AUTH_TOKEN)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedRule:
    rule: str
    source: RuleSource
    behaviour: Behaviour


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    file: str
    key: str
    text: str

    @property
    def hint(self) -> str:
        if self.key in schema.NOT_YET:
            return "Take it out, or leave it for a version that reads it."
        return "Correct that key; the rest of the file applies."

    def __str__(self) -> str:
        return f"{self.file}: {self.key}: {self.text}" if self.key else f"{self.file}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One merged, checked view. `rules` keeps its sources; `values` holds everything else."""

    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    rules: tuple[SourcedRule, ...] = ()
    problems: tuple[Problem, ...] = ()
    activates: tuple[TrustItem, ...] = ()  # what trust is about here: all of it, approved or not
    unapproved: tuple[TrustItem, ...] = ()  # what of it has no effect, because nobody approved it

    @property
    def withheld(self) -> tuple[str, ...]:
        """What trusting the workspace would activate, in words."""
        return tuple(activation.summary(self.unapproved))

    def get(self, key: str, default: Any = None) -> Any:
        """A value by dotted key."""
        value: Any = self.values
        for part in key.split("."):
            if not isinstance(value, Mapping) or part not in value:
                return default
            value = cast("Mapping[str, Any]", value)[part]
        return value

    def listed(self, behaviour: Behaviour) -> list[str]:
        return [rule.rule for rule in self.rules if rule.behaviour == behaviour]

    def with_rules(self, rules: Iterable[SourcedRule]) -> "Settings":
        return replace(self, rules=(*self.rules, *rules))


class SettingsFiles:
    """All the places. Files are read again only when they changed; `load` is cheap enough for every turn."""

    def __init__(
        self,
        *,
        config_dir: Path,
        policy_file: Path = POLICY_FILE,
        cli: Json | None = None,
        parse_rule: Callable[[str], object] | None = None,
    ) -> None:
        self.user_file = config_dir / "settings.json"
        self.policy_file = policy_file
        self.cli = cli or {}
        self._editor: Json = {}
        self._editor_is_user = False
        self._parse_rule = parse_rule
        self._cache: dict[Path, tuple[tuple[int, int] | None, _Source]] = {}

    def set_editor(self, values: Json, *, user_level: bool = False) -> None:
        """Settings the editor handed over; project-level unless the client marks them as the user's own."""
        self._editor = values
        self._editor_is_user = user_level

    def load(self, cwd: str, *, trust: FolderTrust, session: Json | None = None) -> Settings:
        sources = [
            self._file(self.user_file, "user"),
            self._file(mcp_file(cwd), "project"),
            self._file(project_file(cwd), "project"),
            self._file(local_file(cwd), "local"),
            self._checked(self._editor, "editor", "editor settings"),
            self._checked(self.cli, "cli", "command line"),
            self._checked(session or {}, "session", "session"),
            self._file(self.policy_file, "policy"),
        ]
        values: dict[str, Any] = {}
        rules: list[SourcedRule] = []
        found: list[Problem] = []
        activates: list[TrustItem] = []
        for source in sources:
            found += source.problems
            from_project = source.kind in ("project", "local") or (source.kind == "editor" and not self._editor_is_user)
            kept, kept_rules = source.values, source.rules
            if from_project:
                kept, refused = _without_credentials(kept, source.file)
                found += refused
                allows = [rule.rule for rule in kept_rules if rule.behaviour == "allow"]
                activates += activation.activated(kept, allows, source.file)
                kept = activation.approved_part(kept, source.file, trust.approves)
                kept_rules = tuple(
                    rule
                    for rule in kept_rules
                    if rule.behaviour != "allow" or activation.approved_rule(rule.rule, source.file, trust.approves)
                )
            _merge(values, kept)
            rules += kept_rules
        activates = activation.in_order(activates)
        return Settings(
            values=values,
            rules=tuple(_strictest_first(rules)),
            problems=tuple(found),
            activates=tuple(activates),
            unapproved=tuple(item for item in activates if not trust.approves(item)),
        )

    def files(self, cwd: str) -> list[Path]:
        return [self.user_file, mcp_file(cwd), project_file(cwd), local_file(cwd), self.policy_file]

    def add_rule(self, scope: Literal["project", "user"], cwd: str, behaviour: Behaviour, rule: str) -> Path:
        """Save a rule where the user said: "project" means settings.local.json, which is not shared."""

        def change(values: Json) -> None:
            permissions = values.setdefault("permissions", {})
            rules = permissions.setdefault(behaviour, [])
            if rule not in rules:
                rules.append(rule)

        path = local_file(cwd) if scope == "project" else self.user_file
        self._change(path, change, cwd if scope == "project" else None)
        return path

    def set(self, scope: Literal["user", "project", "local"], cwd: str, key: str, value: Any) -> Path:
        """Set one dotted key (None removes it). Raises SettingsError when the value does not fit the schema."""
        root: Json = {}
        node = root
        *parents, last = key.split(".")
        for part in parents:
            node = node.setdefault(part, {})
        node[last] = value
        path = {"user": self.user_file, "project": project_file(cwd), "local": local_file(cwd)}[scope]
        wrong = schema.problems(root, schema.SCHEMA) if value is not None else []
        if wrong or schema.unknown_keys(root):
            text = wrong[0][1] if wrong else "is not a setting"
            raise SettingsError(f"{key} {text}", file=str(path), key=key)

        def change(values: Json) -> None:
            node = values
            for part in parents:
                node = node.setdefault(part, {})
            if value is None:
                node.pop(last, None)
            else:
                node[last] = value

        self._change(path, change, cwd if scope != "user" else None)
        return path

    def _change(self, path: Path, change: Callable[[Json], None], project: str | None) -> None:
        """Read, change and write one file. A file we cannot parse is never overwritten.

        The user's own settings may be a link to wherever they keep them. Those of a project may not: whoever made the
        project would choose which file of the user's we write.
        """
        values: Json = {}
        if project is not None and (linked := next((p for p in (path.parent, path) if p.is_symlink()), None)):
            raise SettingsError(f"{linked} is a symbolic link; nothing is written through it", file=str(path))
        if path.exists():
            try:
                values = _parse(read_regular(path, limit=LARGEST).data)
            except (OSError, ValueError) as error:
                raise SettingsError(f"{path} is not valid JSON; fix it first: {error}", file=str(path)) from None
        change(values)
        data = orjson.dumps(values, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        if project is None:
            write_atomically(path, data)
        else:
            write_beside_links(Path(project), path.name, data, within=path.parent.name)
        self._cache.pop(path, None)

    def _file(self, path: Path, kind: RuleSource) -> "_Source":
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
        except OSError as error:
            stamp = (0, 0) if error.errno == errno.ELOOP else None
        cached = self._cache.get(path)
        if cached is None or cached[0] != stamp:
            cached = (stamp, self._read(path, kind) if stamp else _Source(kind=kind, file=str(path)))
            self._cache[path] = cached
        return cached[1]

    def _read(self, path: Path, kind: RuleSource) -> "_Source":
        try:
            data = read_regular(path, limit=LARGEST).data
        except OSError as error:
            text = error.strerror if isinstance(error, RefusedFile) else f"cannot be read: {error.strerror}"
            problem = Problem(file=str(path), key="", text=text or "cannot be read")
            return _Source(kind=kind, file=str(path), problems=(problem,))
        try:
            values = _parse(data)
            if path.name == MCP_FILE:  # other programs' too: the rest of it is their affair
                values = {key: value for key, value in values.items() if key == "mcpServers"}
            return self._checked(values, kind, str(path))
        except ValueError as error:
            saved = self._checked({"permissions": _salvaged(data)}, kind, str(path))
            applied = f"; {len(saved.rules)} deny and ask rules in it still apply" if saved.rules else ""
            problem = Problem(file=str(path), key="", text=f"is not valid JSON ({error}){applied}")
            return replace(saved, problems=(problem, *saved.problems))

    def _checked(self, raw: Json, kind: RuleSource, file: str) -> "_Source":
        found = [Problem(file=file, key=key, text=text) for key, text in schema.problems(raw, schema.SCHEMA)]
        found += [Problem(file=file, key=key, text="is not a setting") for key in schema.unknown_keys(raw)]
        bad = {problem.key for problem in found}
        ignored = [key for key in raw if key in schema.NOT_YET and raw[key] and key not in bad]
        found += [Problem(file=file, key=key, text="is not supported yet and has no effect") for key in ignored]
        values = cast("Json", _pruned(raw, bad, ""))
        rules: list[SourcedRule] = []
        permissions = values.get("permissions")
        if isinstance(permissions, dict):
            permissions = dict(cast("Json", permissions))
            for behaviour in BEHAVIOURS:
                for rule in permissions.pop(behaviour, []):
                    problem = self._rule_problem(rule)
                    if problem is None:
                        rules.append(SourcedRule(rule=rule, source=kind, behaviour=behaviour))
                    else:
                        found.append(Problem(file=file, key=f"permissions.{behaviour}", text=f"{rule!r} {problem}"))
            values["permissions"] = permissions
        return _Source(kind=kind, file=file, values=values, rules=tuple(rules), problems=tuple(found))

    def _rule_problem(self, rule: str) -> str | None:
        if self._parse_rule is None:
            return None
        try:
            self._parse_rule(rule)
        except ValueError as error:
            return f"is not a rule: {error}"
        return None


def mcp_file(cwd: str) -> Path:
    return Path(cwd) / MCP_FILE


def project_file(cwd: str) -> Path:
    return Path(cwd) / ".assent" / "settings.json"


def local_file(cwd: str) -> Path:
    return Path(cwd) / ".assent" / "settings.local.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    kind: RuleSource
    file: str
    values: Json = field(default_factory=dict[str, Any])
    rules: tuple[SourcedRule, ...] = ()
    problems: tuple[Problem, ...] = ()


def _parse(data: bytes) -> Json:
    value: Any = orjson.loads(data.removeprefix(b"\xef\xbb\xbf") or b"{}")
    if not isinstance(value, dict):
        raise ValueError("the file must hold one JSON object")
    return cast("Json", value)


def _salvaged(data: bytes) -> dict[str, list[str]]:
    """Deny and ask rules out of a file that does not parse: refusing too much is safe, allowing is not."""
    text = data.decode("utf-8", "replace")
    found: dict[str, list[str]] = {}
    for behaviour in ("deny", "ask"):
        for match in re.finditer(rf'"{behaviour}"\s*:\s*\[([^\]]*)', text):
            for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', match.group(1)):
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


def _without_credentials(values: Json, file: str) -> tuple[Json, list[Problem]]:
    refused: list[Problem] = []
    kept: Json = {}
    for key, value in values.items():
        if key in schema.NEVER_FROM_PROJECT:
            refused.append(Problem(file=file, key=key, text="is ignored here: only your own settings may set it"))
            continue
        if key == "env":
            env = cast("dict[str, str]", value)
            bad = [name for name in env if _CREDENTIALS.match(name)]
            refused += [
                Problem(file=file, key=f"env.{name}", text="is ignored here: credentials are yours") for name in bad
            ]
            value = {name: text for name, text in env.items() if name not in bad}
        kept[key] = value
    return kept, refused


def _merge(into: dict[str, Any], values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        old = into.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            merged = dict(cast("Json", old))
            if key == "hooks":
                for event, hooks in cast("dict[str, list[Any]]", value).items():
                    merged[event] = [*merged.get(event, []), *hooks]
            else:
                _merge(merged, cast("Json", value))
            into[key] = merged
        else:
            into[key] = value


def _strictest_first(rules: list[SourcedRule]) -> list[SourcedRule]:
    return sorted(rules, key=lambda rule: BEHAVIOURS.index(rule.behaviour))
