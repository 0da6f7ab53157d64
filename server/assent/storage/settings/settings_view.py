"""One merged, checked view of all settings: values, rules and hooks, each with the file it came from.

Made by `SettingsFiles.load`. It is immutable; a changed file gives a new view.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from assent.storage import activation
from assent.storage.activation import TrustItem
from assent.types.blocks import Json
from assent.types.hook_limits import POLICY_ONLY, HookLimits
from assent.types.permissions import RuleSource

if TYPE_CHECKING:
    from assent.storage.settings.structure import SettingsFile

Behaviour = Literal["allow", "ask", "deny"]
BEHAVIOURS: tuple[Behaviour, ...] = ("deny", "ask", "allow")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedRule:
    rule: str
    source: RuleSource
    behaviour: Behaviour
    file: str = ""  # or what stands for one: "editor settings", "command line"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEntry:
    """One entry of `hooks.<event>`, as it stands in its file. What it means is decided by `extensions.hooks`."""

    event: str
    entry: Json
    source: RuleSource
    file: str
    line: int = 0
    foreign: bool = False  # from a file of another program


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEntry:
    """One entry of `mcpServers`, as it stands in its file. What it means is decided by `extensions.mcp`."""

    name: str
    entry: Json
    source: RuleSource
    file: str
    own: bool  # the user wrote it, not a project
    approved: bool  # trust does not withhold it


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    file: str
    key: str
    text: str
    line: int = 0
    foreign: bool = False  # in a file of another program: nothing of ours depends on it

    @property
    def hint(self) -> str:
        return "Correct that key; the rest of the file applies."

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.key}: {self.text}" if self.key else f"{place}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`values` is what the files say, without rules; `typed` adds the defaults."""

    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    rules: tuple[SourcedRule, ...] = ()
    hooks: tuple[HookEntry, ...] = ()
    stopped_hooks: tuple[HookEntry, ...] = ()  # which `only_policy_hooks` leaves out
    origins: Mapping[str, str] = field(default_factory=dict[str, str])  # dotted key → the file that set it
    problems: tuple[Problem, ...] = ()
    activates: tuple[TrustItem, ...] = ()  # what trust is about here: all of it, approved or not
    hook_limits: HookLimits = field(default_factory=HookLimits)
    unapproved: tuple[TrustItem, ...] = ()  # what of it has no effect, because nobody approved it

    @property
    def withheld(self) -> tuple[str, ...]:
        """What trusting the workspace would activate, in words."""
        return tuple(activation.summary(self.unapproved))

    @property
    def only_policy_hooks(self) -> str:
        """The setting that leaves only the policy's hooks; empty where none does."""
        if self.hook_limits.policy_only:
            return POLICY_ONLY
        return "disableAllHooks" if self.get("disableAllHooks") else ""

    @property
    def typed(self) -> "SettingsFile":
        """Every setting with its type and default."""
        import msgspec

        from assent.storage.settings.structure import SettingsFile

        values = {key: value for key, value in self.values.items() if key not in ("hooks", "$schema")}
        try:
            return msgspec.convert(values, SettingsFile)
        except msgspec.ValidationError:  # a key that the checker let pass; the others still count
            return msgspec.convert(dict(_converting(values)), SettingsFile)

    def get(self, key: str, default: Any = None) -> Any:
        """A value by dotted key, as the files say it."""
        value: Any = self.values
        for part in key.split("."):
            if not isinstance(value, Mapping) or part not in value:
                return default
            value = cast("Mapping[str, Any]", value)[part]
        return value

    def listed(self, behaviour: Behaviour) -> list[str]:
        return [rule.rule for rule in self.rules if rule.behaviour == behaviour]

    def with_rules(self, rules: Iterable[SourcedRule]) -> "Settings":
        more = tuple(rules)
        return replace(self, rules=(*self.rules, *more)) if more else self


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What one place says, checked, before it is merged with the others."""

    kind: RuleSource
    file: str
    values: Json = field(default_factory=dict[str, Any])
    rules: tuple[SourcedRule, ...] = ()
    problems: tuple[Problem, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
    foreign: bool = False

    def hooks(self, approves: Callable[[TrustItem], bool] | None) -> list[HookEntry]:
        """Its hooks, without those that trust withholds; `approves` is None where trust is not needed."""
        found: list[HookEntry] = []
        for event, entries in cast("dict[str, list[Json]]", self.values.get("hooks", {})).items():
            for at, entry in enumerate(entries):
                if approves is None or approves(activation.hook_item(event, entry, self.file)):
                    line = self.lines.get(f"hooks.{event}[{at}]", 0)
                    found.append(
                        HookEntry(
                            event=event,
                            entry=entry,
                            source=self.kind,
                            file=self.file,
                            line=line,
                            foreign=self.foreign,
                        )
                    )
        return found


def merge(into: dict[str, Any], values: Mapping[str, Any], origins: dict[str, str], file: str, path: str = "") -> None:
    """Later values win, objects are merged key by key, and hooks are united."""
    for key, value in values.items():
        name = f"{path}.{key}" if path else key
        old = into.get(key)
        if name == "hooks":
            united = dict(cast("dict[str, list[Any]]", old or {}))
            for event, entries in cast("dict[str, list[Any]]", value).items():
                united[event] = [*united.get(event, []), *entries]
                if entries:
                    before = origins.get(f"hooks.{event}")
                    origins[f"hooks.{event}"] = f"{before}, {file}" if before and before != file else file
            into[key] = united
        elif isinstance(value, dict) and _merges(name):
            inner = dict(cast("Json", old)) if isinstance(old, dict) else {}
            merge(inner, cast("Json", value), origins, file, name)
            into[key] = inner
        else:
            into[key] = value
            origins[name] = file


def _merges(name: str) -> bool:
    """An entry of a map (one server, one model) is taken whole, never field by field from two files."""
    return name != "thinking" and not name.startswith(("mcpServers.", "models."))


def strictest_first(rules: list[SourcedRule]) -> list[SourcedRule]:
    return sorted(rules, key=lambda rule: BEHAVIOURS.index(rule.behaviour))


def _converting(values: Json) -> Iterable[tuple[str, Any]]:
    import msgspec

    from assent.storage.settings.structure import SettingsFile

    for key, value in values.items():
        try:
            msgspec.convert({key: value}, SettingsFile)
        except msgspec.ValidationError:
            continue
        yield key, value
