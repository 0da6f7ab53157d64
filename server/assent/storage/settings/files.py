"""Settings from many places, merged into one view (X).

user < project < local < editor < command line < session < policy. Later places win; rule lists and hooks are united.
Beside the user's, the project's and the local file stand those of Claude Code, of which only hooks and rules are read
(`claude`). Two rules stand above the order:

1. A file that is partly wrong still counts (`reading`).
2. What comes with a repository (project, local, and editor settings not marked as the user's own) can only restrict
   until the user trusts it; what it activates then is what the user was shown (`activation`). It can never say whom
   we talk to or with whose key.
"""

import errno
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from assent.storage import activation, paths
from assent.storage.activation import TrustItem
from assent.storage.files import write_atomically, write_beside_links
from assent.storage.paths import POLICY_FILE
from assent.storage.settings import check, claude
from assent.storage.settings.reading import (
    LARGEST,
    MCP_FILE,
    ParseRule,
    Taken,
    checked,
    mcp_part,
    parse,
    read_file,
    refused,
    without_own_only,
)
from assent.storage.settings.settings_view import (
    Behaviour,
    HookEntry,
    Problem,
    ServerEntry,
    Settings,
    Source,
    SourcedRule,
    merge,
)
from assent.storage.settings.settings_view import strictest_first as _strictest_first
from assent.storage.trust import FolderTrust
from assent.types.blocks import Json
from assent.types.errors import SettingsError
from assent.types.hook_limits import POLICY_ONLY, URLS, VARIABLES, HookLimits
from assent.types.permissions import RuleSource
from assent.types.regular_files import read_regular

NOTHING: Json = {}
ConfigKind = Literal["user_settings", "project_settings", "local_settings", "policy_settings"]
ORDER: tuple[RuleSource, ...] = ("user", "project", "local", "editor", "cli", "session", "policy")


class SettingsFiles:
    """All the places. Files are read again only when they changed; `load` is cheap enough for every turn."""

    def __init__(
        self,
        *,
        config_dir: Path,
        policy_file: Path = POLICY_FILE,
        cli: Json | None = None,
        parse_rule: ParseRule | None = None,
        claude_dir: Path | None = None,
        project: bool = True,
    ) -> None:
        """`project`: whether what a folder's own files say is read at all."""
        self.user_file = config_dir / "settings.json"
        self.claude_user_file = claude_dir / "settings.json" if claude_dir else None
        self.policy_file = policy_file
        self.cli = cli or {}
        self._editors: dict[str, Json] = {}  # by the name of the place
        self._user_editors: set[str] = set()  # those marked as the user's own
        self._project = project
        self._parse_rule = parse_rule
        self.more_items: Callable[[str], Sequence[TrustItem]] = lambda _cwd: ()
        """What else of a folder trust is about: definitions in files of their own. The same object while unchanged."""
        self._cache: dict[Path, tuple[tuple[int, int] | None, Source]] = {}
        self._before: dict[Path, Source] = {}  # what a file said before it changed last
        self._held: dict[Path, tuple[tuple[int, int] | None, Source]] = {}  # changes that do not count
        self._checked: dict[str, tuple[Json, Source]] = {}  # by the name of the place
        self._merged: dict[str, tuple[list[Source], FolderTrust, Sequence[TrustItem], Settings]] = {}  # by folder

    @classmethod
    def standard(
        cls, *, cli: Json | None = None, parse_rule: ParseRule | None = None, project: bool = True
    ) -> "SettingsFiles":
        """Where the files are for the user who runs the program."""
        return cls(
            config_dir=paths.config_dir(),
            cli=cli,
            parse_rule=parse_rule,
            claude_dir=claude.claude_dir(),
            project=project,
        )

    def set_editor(self, values: Json, *, user_level: bool = False, client: str = "") -> None:
        """Settings the editor handed over; project-level unless the client marks them as the user's own.

        Several editors' are laid over each other, each under its own name, and stay when the editor leaves: what it
        forbade holds for the turns it began.
        """
        name = f"editor settings ({client})" if client else "editor settings"
        self._editors[name] = values
        self._user_editors.discard(name)
        if user_level:
            self._user_editors.add(name)

    def load(self, cwd: str, *, trust: FolderTrust, session: Json | None = None) -> Settings:
        """The merged view. While no place and no trust has changed, it is the same object as before."""
        sources, more = self._sources(cwd, session or NOTHING), self.more_items(cwd)
        known = self._merged.get(cwd)
        same = known is not None and len(known[0]) == len(sources) and all(map(operator.is_, known[0], sources))
        if known is None or not same or known[1] != trust or known[2] is not more:
            known = self._merged[cwd] = (sources, trust, more, self._merge(sources, trust, more))
        return known[3]

    def _merge(self, sources: list[Source], trust: FolderTrust, more: Sequence[TrustItem]) -> Settings:
        values: dict[str, Any] = {}
        rules: list[SourcedRule] = []
        hooks: list[HookEntry] = []
        origins: dict[str, str] = {}
        found: list[Problem] = []
        activates: list[TrustItem] = []
        for source in sources:
            kept, kept_rules, approves = source.values, source.rules, None
            if self._from_project(source):
                source = without_own_only(source)
                approves = trust.approves
                allows = [rule.rule for rule in kept_rules if rule.behaviour == "allow"]
                activates += activation.activated(source.values, allows, source.file)
                kept = activation.approved_part(source.values, source.file, approves)
                kept_rules = tuple(
                    rule
                    for rule in kept_rules
                    if rule.behaviour != "allow" or activation.approved_rule(rule.rule, source.file, approves)
                )
            found += source.problems
            if POLICY_ONLY in kept and source.kind != "policy":
                found.append(refused(source, POLICY_ONLY, "is ignored here: it counts in the policy file only"))
            merge(values, kept, origins, source.file)
            rules += kept_rules
            hooks += source.hooks(approves)
        limits = self._hook_limits(sources)
        stopped: list[HookEntry] = []
        if values.get("disableAllHooks") or limits.policy_only:  # nobody but the organisation switches its hooks off
            stopped = [entry for entry in hooks if entry.source != "policy"]
            hooks = [entry for entry in hooks if entry.source == "policy"]
        activates = activation.in_order([*activates, *more])
        return Settings(
            values=values,
            rules=tuple(_strictest_first(rules)),
            hooks=tuple(hooks),
            stopped_hooks=tuple(stopped),
            hook_limits=limits,
            origins=origins,
            problems=tuple(found),
            activates=tuple(activates),
            unapproved=tuple(item for item in activates if not trust.approves(item)),
        )

    def _hook_limits(self, sources: list[Source]) -> HookLimits:
        """They only restrict, so a project's count before it is trusted."""

        def lists(key: str) -> tuple[tuple[str, ...], ...]:
            levels: dict[bool, tuple[str, ...]] = {}
            for source in sources:
                if key in source.values:
                    level = self._from_project(source)
                    levels[level] = (*levels.get(level, ()), *cast("list[str]", source.values[key]))
            return tuple(levels.values())

        only = any(source.kind == "policy" and source.values.get(POLICY_ONLY) for source in sources)
        return HookLimits(policy_only=only, urls=lists(URLS), variables=lists(VARIABLES))

    def servers(self, cwd: str, *, trust: FolderTrust, session: Json | None = None) -> list[ServerEntry]:
        """The MCP servers of all places; of one name the last place's entry counts, whole. Withheld ones are marked.

        A withheld entry takes the name of no other: a project that nobody trusts switches off no server of the user's.
        """
        found: dict[str, ServerEntry] = {}
        for source in self._sources(cwd, session or {}):
            project = self._from_project(source)
            for name, entry in cast("dict[str, Json]", source.values.get("mcpServers", {})).items():
                items = activation.activated({"mcpServers": {name: entry}}, (), source.file)
                approved = not project or all(trust.approves(item) for item in items)
                if not approved and name in found and found[name].approved:
                    continue
                found[name] = ServerEntry(
                    name=name, entry=entry, source=source.kind, file=source.file, own=not project, approved=approved
                )
        return list(found.values())

    def files(self, cwd: str) -> list[Path]:
        """Every file that counts in this folder, whether it exists or not."""
        found = [self.user_file, mcp_file(cwd), project_file(cwd), local_file(cwd), self.policy_file]
        if self._reads_claude(self._own({})):
            user = [self.claude_user_file] if self.claude_user_file else []
            found += [*user, *claude.project_files(cwd), claude.local_file(cwd)]
        return found

    def _sources(self, cwd: str, session: Json) -> list[Source]:
        own = self._own(session)
        user, *above = own
        ordered = [user, self._file(mcp_file(cwd), "project", mcp_part)]
        ordered += [self._file(project_file(cwd), "project"), self._file(local_file(cwd), "local")]
        if self._reads_claude(own):
            if self.claude_user_file is not None:
                ordered.insert(0, self._file(self.claude_user_file, "user", claude.taken))
            shared, *github = claude.project_files(cwd)
            ordered.insert(2, self._file(shared, "project", claude.taken))
            ordered[3:3] = [self._file(path, "project", claude.hooks_only) for path in github]
            ordered.insert(-1, self._file(claude.local_file(cwd), "local", claude.taken))
        if not self._project:
            ordered = [source for source in ordered if source.kind not in ("project", "local")]
        return [*ordered, *above]

    def _own(self, session: Json) -> list[Source]:
        """All that is no file of the project's, in order; the user's file first."""
        return [
            self._file(self.user_file, "user"),
            *(self._given(values, "editor", name) for name, values in self._editors.items()),
            self._given(self.cli, "cli", "command line"),
            self._given(session, "session", "session"),
            self._file(self.policy_file, "policy"),
        ]

    def _given(self, values: Json, kind: RuleSource, name: str) -> Source:
        """Settings that came as a value; checked once for each value."""
        known = self._checked.get(name)
        if known is None or known[0] is not values:
            known = self._checked[name] = (values, checked(values, kind, name, self._parse_rule))
        return known[1]

    def _from_project(self, source: Source) -> bool:
        return source.kind in ("project", "local") or (
            source.kind == "editor" and source.file not in self._user_editors
        )

    def _reads_claude(self, own: list[Source]) -> bool:
        """`readClaudeSettings` counts in the user's own settings only, so it is known before the rest is read."""
        said = True
        for source in own:
            if not self._from_project(source):
                said = bool(source.values.get("readClaudeSettings", said))
        return said

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

    def set(
        self, scope: Literal["user", "project", "local"], cwd: str, key: str, value: Any, *, add: bool = False
    ) -> Path:
        """Set one dotted key (None removes it). With `add` the entries of an object are added to those that the file
        has. Raises SettingsError when the value does not fit the schema."""
        root: Json = {}
        node = root
        *parents, last = key.split(".")
        for part in parents:
            node = node.setdefault(part, {})
        node[last] = value
        path = {"user": self.user_file, "project": project_file(cwd), "local": local_file(cwd)}[scope]
        wrong = check.problems(root)
        if value is None:  # taking a key away needs no value, but a key that exists
            wrong = [problem for problem in wrong if check.UNKNOWN in problem[1]]
        if wrong:
            raise SettingsError(f"{wrong[0][0]} {wrong[0][1]}", file=str(path), key=key)

        def change(values: Json) -> None:
            node = values
            for part in parents:
                node = node.setdefault(part, {})
            if value is None:
                node.pop(last, None)
            elif add and isinstance(there := node.get(last), dict):
                node[last] = {**cast("Json", there), **value}
            else:
                node[last] = value

        self._change(path, change, cwd if scope != "user" else None)
        return path

    def edit(self, path: Path, change: Callable[[Json], None], project: str | None) -> None:
        """Change one file of the user's, or of the project at `project`, as the user asked for."""
        self._change(path, change, project)

    def kind_of(self, path: Path, cwd: str) -> ConfigKind | None:
        """Whose settings a file holds, as hooks are told it; None for one that does not count in this folder."""
        if path not in self.files(cwd):
            return None
        if path in (self.user_file, self.claude_user_file):
            return "user_settings"
        if path == self.policy_file:
            return "policy_settings"
        return "local_settings" if path.name == "settings.local.json" else "project_settings"

    def hold(self, path: Path) -> bool:
        """What changed in this file last has no effect, until it changes again; False where nothing is known of it."""
        before = self._before.get(path)
        cached = self._cache.get(path)
        if before is None or cached is None:
            return False
        self._held[path] = (cached[0], before)
        return True

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
                values = parse(read_regular(path, limit=LARGEST).data)
            except (OSError, ValueError) as error:
                raise SettingsError(f"{path} is not valid JSON; fix it first: {error}", file=str(path)) from None
        change(values)
        data = orjson.dumps(values, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        if project is None:
            write_atomically(path, data)
        else:
            write_beside_links(Path(project), path.name, data, within=path.parent.name)
        cached = self._cache.pop(path, None)
        if cached is not None:
            self._before[path] = cached[1]
        self._held.pop(path, None)

    def _file(self, path: Path, kind: RuleSource, taken: Taken | None = None) -> Source:
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
        except OSError as error:
            stamp = (0, 0) if error.errno == errno.ELOOP else None
        cached = self._cache.get(path)
        if cached is None or cached[0] != stamp:
            empty = Source(kind=kind, file=str(path), foreign=taken is not None)
            if cached is not None:
                held = self._held.pop(path, None)
                self._before[path] = held[1] if held else cached[1]
            cached = (stamp, read_file(path, kind, self._parse_rule, taken) if stamp else empty)
            self._cache[path] = cached
        held = self._held.get(path)
        return held[1] if held is not None and held[0] == stamp else cached[1]


@lru_cache(maxsize=1000)
def mcp_file(cwd: str) -> Path:
    return Path(cwd) / MCP_FILE


@lru_cache(maxsize=1000)
def project_file(cwd: str) -> Path:
    return Path(cwd) / ".assent" / "settings.json"


@lru_cache(maxsize=1000)
def local_file(cwd: str) -> Path:
    return Path(cwd) / ".assent" / "settings.local.json"
