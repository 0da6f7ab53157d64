"""Which rules speak to an opened call, and whether together they cover the whole of it.

Restrictions are read widely: a deny or ask rule counts for every name a file goes by, every command anywhere in a line,
in any letter case. Permissions are read narrowly: everything the call does must be covered.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from assent.permissions import reach
from assent.permissions.case import Case
from assent.permissions.paths import SYSTEM_FILES, Located, fold, inside
from assent.permissions.repositories import SETTLED_BY_RULES
from assent.permissions.rules import READERS, Behaviour, Rule, RuleSet
from assent.permissions.shell.syntax.parts import Part, PathUse
from assent.permissions.shell.tables.git import without_global_flags
from assent.permissions.web import Site, host_denied, host_matches
from assent.text import globs

By = Literal["table", "rules", "mode"]
"""How far coverage may reach: the read-only table alone, allow rules too, or what acceptEdits adds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    behaviour: Behaviour
    rule: str
    reason: str = ""
    doubtful: bool = False  # an ask in place of a denial that nobody can be sure of: only a person may answer it


def match(case: Case, rules: RuleSet) -> Match | None:
    """The strongest rule that speaks: deny, then ask, then allow."""
    if not rules.rules:
        return None
    deny, ask = rules.of("deny"), rules.of("ask")
    for rule in (*deny, *ask):
        if _restricts(case, rule):
            return Match(behaviour=rule.behaviour, rule=rule.text)
    for rule in (*deny, *ask):
        if rule.words and any(part.weak and _denies_part(rule, part) for part in _shell_parts(case)):
            reason = f"It may run what the rule {rule.text} covers."
            return Match(behaviour="ask", rule=rule.text, reason=reason, doubtful=rule.behaviour == "deny")
        if what := _reaches_below(case, rule):
            reason = f"It may {what} files that the rule {rule.text} covers."
            return Match(behaviour="ask", rule=rule.text, reason=reason, doubtful=rule.behaviour == "deny")
    return _allowed(case, rules)


def outside_scope(case: Case) -> str | None:
    """What the call touches outside the workspace, in words."""
    for located in (*case.reads, *case.writes):
        if not _in_scope(case, located, reading=located in case.reads and located not in case.writes):
            return f"{located.written} is outside the workspace."
        if located.special and located.target != "/dev/null":
            return f"{located.written} is not a regular file."
    if case.shell is None:
        return None
    for part in case.shell.parts:
        for uses, reading in ((part.reads, True), (part.writes, False), (part.outputs, False)):
            for use in uses if part.certain else ():
                if not _use_in_scope(case, use, reading=reading):
                    return f"`{use.word.text}` is outside the workspace or cannot be resolved."
    return None


def shell_covered(case: Case, *, by: By) -> bool:
    """Is every command of the line covered?"""
    shell = case.shell
    return (
        shell is not None
        and not shell.doubts
        and all(part_covered(case, part, by=by) is not None for part in shell.parts if part.certain)
    )


def part_covered(case: Case, part: Part, *, by: By, rules: RuleSet | None = None) -> Rule | Literal[True] | None:
    allow = (rules or case.rules).of("allow") if by != "table" else ()
    outputs = _outputs_covered(case, part, allow, by=by)
    if outputs is None:
        return None
    harmless = part.harmless and all(_use_in_scope(case, use, reading=True) for use in part.reads)
    if harmless and not case.context.unfenced:
        return outputs
    for rule in allow:
        if covers_part(rule, part):
            return rule
    if harmless:
        return outputs
    if by == "mode" and part.edits_only and _all_editable(case, (*part.writes, *part.reads)):
        return outputs
    return None


def edit_covered(case: Case) -> bool:
    """acceptEdits: edits inside the workspace, by an editing tool or by a plain file command.

    The mode is the user's own word: what an untrusted project's files say about it never gets here.
    """
    if case.shell is not None:
        return shell_covered(case, by="mode")
    return bool(case.writes) and not case.refused and not outside_scope(case)


def has_restrictions(case: Case) -> bool:
    """Are there deny or ask rules that a command nobody understands could slip past?"""
    return any(rule.words or rule.path is not None for rule in restrictions(case))


def denies_something(case: Case) -> bool:
    return any(rule.behaviour == "deny" for rule in restrictions(case))


def restricts_names(case: Case) -> bool:
    """Are there rules that arguments nobody sees could slip past? Those for files, and for a command that goes on."""
    begun = {(fold(part.argv[0].rpartition("/")[2]), *part.argv[1:]) for part in _shell_parts(case) if part.argv}
    return any(
        rule.path is not None or any(rule.words[:size] in begun for size in range(1, len(rule.words)))
        for rule in restrictions(case)
    )


def restrictions(case: Case) -> Iterator[Rule]:
    for rule in (*case.rules.rules, *case.context.policy.rules.rules):
        if rule.behaviour != "allow":
            yield rule


def _shell_parts(case: Case) -> tuple[Part, ...]:
    return case.shell.parts if case.shell is not None else ()


def private_site_allowed(case: Case) -> bool:
    """Only a rule that names the very host."""
    rules = (*case.rules.of("allow"), *case.context.policy.rules.of("allow"))
    return case.site is not None and any(rule.host is not None and rule.host == case.site.host for rule in rules)


def _restricts(case: Case, rule: Rule) -> bool:
    action = case.action
    if rule.bare:
        return rule.names_tool(action.tool)
    if rule.words:
        return any(not part.weak and _denies_part(rule, part) for part in _shell_parts(case))
    if rule.host is not None:
        return case.site is not None and host_denied(case.site, rule.host)
    if rule.path is not None:
        return any(_path_speaks(case, rule, located) for located in _touched(case, rule))
    return rule.tool == action.tool and rule.name in _names(case)


def _touched(case: Case, rule: Rule) -> Iterator[Located]:
    reading = rule.tool in READERS
    yield from case.reads if reading else case.writes
    for part in _shell_parts(case):
        sure = (*part.reads, *part.removes) if reading else (*part.writes, *part.outputs, *part.removes)
        for use in (*sure, *part.maybe) if not part.weak else ():
            yield from case.locations(use) or ()
        for use in (*part.writes, *part.outputs) if not part.weak and not reading else ():
            yield from case.written(use)


def _reaches_below(case: Case, rule: Rule) -> str | None:
    """Would a command read or change files that a rule keeps back, without naming them? Then what it would do.

    (The Grep tool leaves them out itself.)
    """
    if rule.path is None:
        return None
    reading = rule.tool in READERS
    for part in _shell_parts(case):
        if reading and reach.reads_below(case, rule, part):
            return "read"
        if not reading and reach.changes_below(case, rule, part):
            return "change"
    return None


def _denies_part(rule: Rule, part: Part) -> bool:
    """Any spelling of the command: by path, in another case, with git's global flags in between."""
    argv, first = part.argv, fold(rule.words[0])
    if not argv:
        return False
    base = fold(argv[0].rpartition("/")[2]).removesuffix(".exe")  # as WSL takes it
    rests = [argv[1:]]
    if base == "git":
        rests.append(without_global_flags(argv[1:]))
    if any("*" in word for word in rule.words):  # Bash(curl*), Bash(git * main)
        pattern = fold(" ".join(rule.words))
        patterns = (pattern, f"{pattern} *") if rule.prefix else (pattern,)
        said = [fold(" ".join((name, *rest))) for rest in rests for name in (argv[0], base)]
        return any(globs.matches_pieces(each.split("*"), text) for each in patterns for text in said)
    if first not in (fold(argv[0]), base):
        return False
    wanted = rule.words[1:]
    size = len(wanted)
    return any(rest[:size] == wanted and (rule.prefix or len(rest) == size) for rest in rests)


def _path_speaks(case: Case, rule: Rule, located: Located) -> bool:
    patterns = case.patterns(rule)
    return any(pattern.fullmatch(fold(name)) for pattern in patterns for name in located.names)


def _path_allowed(case: Case, rule: Rule, located: Located) -> bool:
    """An allow rule must match the path as written and the place it leads to."""
    patterns = case.patterns(rule)
    return all(any(pattern.fullmatch(name) for pattern in patterns) for name in (located.written, located.target))


def _allowed(case: Case, rules: RuleSet) -> Match | None:
    action = case.action
    if case.shell is not None:
        return _shell_allowed(case, rules)
    for rule in rules.of("allow"):
        if rule.bare and rule.names_tool(action.tool):
            return Match(behaviour="allow", rule=rule.text)
        if case.site is not None and _site_covered(case.site, rule):
            return Match(behaviour="allow", rule=rule.text)
        if rule.name is not None and rule.tool == action.tool and rule.name in _names(case):
            return Match(behaviour="allow", rule=rule.text)
    return _paths_allowed(case, rules)


def _site_covered(site: Site, rule: Rule) -> bool:
    return rule.host is not None and host_matches(site, rule.host, any_length=rule.any_length)


def stopped_by_length(case: Case) -> bool:
    """Does a rule speak of the host, and only what the address carries is too long for it?"""
    site = case.site
    if site is None or not site.long:
        return False
    short = replace(site, long=False)
    return any(_site_covered(short, rule) for rule in (*case.rules.of("allow"), *case.context.policy.rules.of("allow")))


def _shell_allowed(case: Case, rules: RuleSet) -> Match | None:
    assert case.shell is not None
    if case.shell.doubts or not rules.of("allow"):
        return None
    needed: str | None = None
    for part in case.shell.parts:
        if part.certain:
            covered = part_covered(case, part, by="rules", rules=rules)
            if covered is None:
                return None
            if covered is not True:
                needed = needed or covered.text
    return None if needed is None else Match(behaviour="allow", rule=needed)


def _paths_allowed(case: Case, rules: RuleSet) -> Match | None:
    """Every path needs a rule; what an edit reads is the file it writes."""
    located = case.writes or case.reads
    if case.refused or not located:
        return None
    tools = {case.action.tool, "Edit" if case.writes else "Read"}
    candidates = [rule for rule in rules.of("allow") if rule.path is not None and rule.tool in tools]
    first: str | None = None
    for one in located:
        found = next((rule for rule in candidates if _path_allowed(case, rule, one)), None)
        if found is None:
            return None
        first = first or found.text
    return None if first is None else Match(behaviour="allow", rule=first)


def covers_part(rule: Rule, part: Part) -> bool:
    if rule.tool != "Bash" or not part.known or part.repository_doubt not in SETTLED_BY_RULES:
        return False
    if rule.bare:
        return True
    if not rule.covers_words(part.argv):
        return False
    return not rule.prefix or set(part.spelled) <= set(rule.words)


def _outputs_covered(case: Case, part: Part, allow: Iterable[Rule], *, by: By) -> Rule | Literal[True] | None:
    """Redirections write files: a rule for the command does not cover them, a rule for the path does."""
    editing = [rule for rule in allow if rule.tool == "Edit" or (rule.tool == "Bash" and rule.bare)]
    needed: Rule | Literal[True] = True
    for use in part.outputs:
        if by == "mode" and _all_editable(case, (use,)):
            continue
        rule = next((rule for rule in editing if _use_allowed(case, rule, use)), None)
        if rule is None:
            return None
        needed = rule
    return needed


def _use_allowed(case: Case, rule: Rule, use: PathUse) -> bool:
    if not use.word.known or use.directories is None:
        return False
    found = case.locations(use)
    return found is not None and (rule.bare or all(_path_allowed(case, rule, located) for located in found))


def _all_editable(case: Case, uses: Iterable[PathUse]) -> bool:
    return all(use.word.known and _use_in_scope(case, use, reading=False) for use in uses)


def _use_in_scope(case: Case, use: PathUse, *, reading: bool) -> bool:
    key = (use.word.text, use.word.pattern, use.directories, reading)
    if key not in case.scope:
        found = None if use.directories is None else case.locations(use)
        case.scope[key] = found is not None and all(
            _in_scope(case, located, reading=reading) and not _odd(located) for located in found
        )
    return case.scope[key]


def _in_scope(case: Case, located: Located, *, reading: bool) -> bool:
    if located.written == "/dev/null" or (reading and {located.written, located.target} <= SYSTEM_FILES):
        return True
    return inside(located, (*case.roots, *case.read_roots) if reading else case.roots)


def _odd(located: Located) -> bool:
    return located.special and located.target != "/dev/null"


def _names(case: Case) -> set[str]:
    """What `Agent(reviewer)` or `Skill(pdf)` is held against."""
    return {
        value
        for key in ("subagent_type", "skill", "name", "query")
        if isinstance(value := case.action.input.get(key), str)
    }
