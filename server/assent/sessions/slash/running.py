"""A command or skill from a file, made into a prompt: arguments put in, its own shell commands run, tools granted.

Shell commands in a text go through the permission chain and never ask: one that is not allowed, or fails, ends the
expansion in words. What `allowed-tools` grants counts until the turn ends, as allow rules, so deny rules, the policy
and the iron gate stand above it. Only texts whose activation the user approved get here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from assent.extensions.commands import Expansion
from assent.extensions.plugins.manifest import Plugin
from assent.extensions.prompt_files import PromptFile
from assent.extensions.substitution import Arguments, filled
from assent.sessions.slash import powershell, roles
from assent.sessions.slash.host import SlashSession
from assent.storage.settings import SourcedRule
from assent.tools.bash import Bash, BashInput
from assent.tools.skill import LoadedSkill
from assent.tools.tool import ToolContext, TurnWish
from assent.types.errors import ToolError
from assent.types.permissions import Allow

SHELL_MILLISECONDS = 60_000


async def expansion(session: SlashSession, prompt: PromptFile, arguments: str) -> Expansion:
    """A slash command of the user's as the prompt it stands for."""
    text = await text_of(session, prompt, arguments)
    if prompt.kind == "skill" and not prompt.fork:
        session.state.skills[prompt.name] = text  # a compaction keeps it, as if the model had loaded it
    return roles.expanded(session, prompt, text)


async def loaded(session: SlashSession, prompt: PromptFile, arguments: str) -> LoadedSkill:
    """A skill that the model loads."""
    text = await text_of(session, prompt, arguments)
    agent = (prompt.agent or "general-purpose") if prompt.fork else ""
    wish = TurnWish(model=prompt.model, effort=prompt.effort, without=prompt.disallowed_tools)
    return LoadedSkill(text=text, agent=agent, background=prompt.background, wish=wish)


async def text_of(session: SlashSession, prompt: PromptFile, arguments: str) -> str:
    given = Arguments(
        text=arguments,
        variables=variables(session, prompt),
        names=prompt.arguments,
        first=prompt.first_argument,
    )
    grant(session, [given.variables_in(rule) for rule in prompt.allowed_tools])
    use_hooks(session, prompt)
    outputs = [
        await _run(session, prompt, given.put_into(part.command), prompt.body_line + part.line - 1)
        for part in prompt.shell
    ]
    text = filled(prompt.body, given, prompt.shell, outputs)
    if prompt.kind == "skill":
        text = f"Base directory for this skill: {prompt.folder}\n\n{text}"
    return text


def _plugin(session: SlashSession, prompt: PromptFile) -> Plugin | None:
    definitions = session.deps.definitions
    if not prompt.origin.plugin or definitions is None:
        return None
    return next((each for each in definitions.plugins.active()[0] if each.name == prompt.origin.plugin), None)


def _options(session: SlashSession, prompt: PromptFile) -> Mapping[str, str]:
    """The values that a plugin's user gave, for its programs."""
    plugin, definitions = _plugin(session, prompt), session.deps.definitions
    return definitions.plugins.given(plugin).environment() if plugin is not None and definitions is not None else {}


def variables(session: SlashSession, prompt: PromptFile) -> Mapping[str, str]:
    known = {
        "SESSION_ID": session.id,
        "SKILL_DIR": prompt.folder,
        "PROJECT_DIR": session.cwd,
        "EFFORT": session.options.effort or "",
    }
    found = {f"{family}_{name}": value for family in ("CLAUDE", "ASSENT") for name, value in known.items()}
    plugin, definitions = _plugin(session, prompt), session.deps.definitions
    if plugin is not None and definitions is not None:
        found |= plugin.variables(definitions.plugins.data(plugin.name))
        found |= definitions.plugins.given(plugin).texts()
    return found


def use_hooks(session: SlashSession, prompt: PromptFile) -> None:
    """Its hooks count from now on, until the session ends or its conversation starts afresh."""
    scoped = session.services.scoped_hooks
    if prompt.hooks and scoped is not None:
        names = variables(session, prompt)
        scoped.enter(
            prompt.hooks,
            session_id=session.id,
            source=prompt.kind,
            file=prompt.origin.file,
            environment={
                **{name: value for name, value in names.items() if "PLUGIN" in name or "SKILL" in name},
                **_options(session, prompt),
            },
        )


def grant(session: SlashSession, tools: Sequence[str]) -> None:
    """Allow these until the turn ends; what is no rule is told and left out."""
    for rule in tools:
        try:
            session.deps.parse_rule(rule)
        except ValueError as error:
            session.notice("warning", f"allowed-tools: {rule!r} is not a rule and grants nothing: {error}")
            continue
        session.turn_rules.append(SourcedRule(rule=rule, source="session", behaviour="allow"))


async def _run(session: SlashSession, prompt: PromptFile, command: str, line: int) -> str:
    """What a command of the text prints. Nobody is asked about it."""
    where = f"{prompt.origin.file}:{line}"
    bash = next((tool for tool in session.tools.all() if isinstance(tool, Bash)), None)
    if bash is None:
        raise ToolError(f"{where}: /{prompt.name} runs a command, and this session has no shell.")
    line_of_shell = command
    if prompt.powershell:
        line_of_shell = powershell.line(command, f"{where}: /{prompt.name} was not run.")
        if powershell.granted(prompt.allowed_tools, command):
            grant(session, [f"Bash({line_of_shell})"])
    given = BashInput(command=line_of_shell, timeout=SHELL_MILLISECONDS)
    facts = replace(session.permission_facts(), interactive=False)
    decision = session.deps.decide(bash.action(given, cwd=session.state.cwd), facts)
    if not isinstance(decision, Allow):
        raise ToolError(
            f"{where}: /{prompt.name} was not run. Its command `{line_of_shell}` is not allowed: {decision.reason} "
            "Allow it with a rule (`/permissions`) or name it in `allowed-tools`."
        )
    context = ToolContext(session_id=session.id, tool_use_id="", state=session.state, services=session.services)
    try:
        output = await bash.call(given, context)
    except ToolError as error:
        raise ToolError(f"{where}: /{prompt.name} was not run. `{command}` failed: {error}") from None
    text = output.content if isinstance(output.content, str) else ""
    if output.is_error:
        raise ToolError(f"{where}: /{prompt.name} was not run. `{command}` failed:\n{text}")
    return text
