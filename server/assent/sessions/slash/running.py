"""A command or skill from a file, made into a prompt: arguments put in, its own shell commands run, tools granted.

Shell commands in a text go through the permission chain and never ask: one that is not allowed, or fails, ends the
expansion in words. What `allowed-tools` grants counts until the turn ends, as allow rules, so deny rules, the policy
and the iron gate stand above it. Only texts whose activation the user approved get here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from assent.extensions.commands import Expansion
from assent.extensions.prompt_files import PromptFile
from assent.extensions.substitution import Arguments, filled
from assent.sessions.slash.host import Session
from assent.storage.settings import SourcedRule
from assent.tools.bash import Bash, BashInput
from assent.tools.skill import LoadedSkill
from assent.tools.tool import ToolContext
from assent.types.blocks import text_block
from assent.types.errors import ToolError
from assent.types.permissions import Allow

SHELL_MILLISECONDS = 60_000


async def expansion(session: Session, prompt: PromptFile, arguments: str) -> Expansion:
    """A slash command of the user's as the prompt it stands for."""
    text = await text_of(session, prompt, arguments)
    if prompt.fork:
        agent = prompt.agent or "general-purpose"
        text = (
            f"Run this task with the Agent tool as {agent!r} and tell me its result; the task, word for word:\n\n{text}"
        )
    taken = set(prompt.disallowed_tools)
    kept = tuple(tool.name for tool in session.tools() if tool.name not in taken) if taken else None
    return Expansion(blocks=(text_block(text),), model=prompt.model, allowed_tools=kept)


async def loaded(session: Session, prompt: PromptFile, arguments: str) -> LoadedSkill:
    """A skill that the model loads."""
    text = await text_of(session, prompt, arguments)
    agent = (prompt.agent or "general-purpose") if prompt.fork else ""
    return LoadedSkill(text=text, agent=agent, background=prompt.background)


async def text_of(session: Session, prompt: PromptFile, arguments: str) -> str:
    grant(session, prompt.allowed_tools)
    given = Arguments(
        text=arguments,
        variables=variables(session, prompt),
        names=prompt.arguments,
        first=prompt.first_argument,
    )
    outputs = [
        await _run(session, prompt, given.put_into(part.command), prompt.body_line + part.line - 1)
        for part in prompt.shell
    ]
    text = filled(prompt.body, given, prompt.shell, outputs)
    if prompt.kind == "skill":
        text = f"Base directory for this skill: {prompt.folder}\n\n{text}"
    return text


def variables(session: Session, prompt: PromptFile) -> Mapping[str, str]:
    known = {
        "SESSION_ID": session.id,
        "SKILL_DIR": prompt.folder,
        "PROJECT_DIR": session.cwd,
        "EFFORT": session.options.effort or "",
    }
    found = {f"{family}_{name}": value for family in ("CLAUDE", "ASSENT") for name, value in known.items()}
    definitions = session.deps.definitions
    if prompt.origin.plugin and definitions is not None:
        for plugin in definitions.plugins.active()[0]:
            if plugin.name == prompt.origin.plugin:
                found |= plugin.variables(definitions.plugins.data(plugin.name))
    return found


def grant(session: Session, tools: Sequence[str]) -> None:
    """Allow these until the turn ends; what is no rule is told and left out."""
    for rule in tools:
        try:
            session.deps.parse_rule(rule)
        except ValueError as error:
            session.notice("warning", f"allowed-tools: {rule!r} is not a rule and grants nothing: {error}")
            continue
        session.turn_rules.append(SourcedRule(rule=rule, source="session", behaviour="allow"))


async def _run(session: Session, prompt: PromptFile, command: str, line: int) -> str:
    """What a command of the text prints. Nobody is asked about it."""
    where = f"{prompt.origin.file}:{line}"
    bash = next((tool for tool in session.tools() if isinstance(tool, Bash)), None)
    if bash is None:
        raise ToolError(f"{where}: /{prompt.name} runs a command, and this session has no shell.")
    given = BashInput(command=command, timeout=SHELL_MILLISECONDS)
    judgement = replace(session.judgement(), interactive=False)
    decision = session.deps.decide(bash.action(given, cwd=session.state.cwd), judgement)
    if not isinstance(decision, Allow):
        raise ToolError(
            f"{where}: /{prompt.name} was not run. Its command `{command}` is not allowed: {decision.reason} "
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
