"""What the engine of one session works with: what the program provides, and what is the session's own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from assent.engine.services import Services
from assent.extensions.agents import AgentDefinition
from assent.extensions.commands import SlashCommand
from assent.extensions.hooks.exported import with_exported
from assent.sessions.files.agent_places import memory_folder
from assent.sessions.live import model_switch
from assent.sessions.live.session import Session
from assent.tools.process.environment import user_environment
from assent.tools.task_list import Team
from assent.tools.tool import Mine
from assent.types.messages import Attachment


def services_of(session: Session, provided: Services) -> Services:
    return replace(
        provided,
        workspace=session.files.workspace,
        roots=session.roots,
        effects=session.files.effects.around,
        env=partial(_env, session),
        editor=session.deps.editor,
        jobs=session.jobs,
        terminal=session.deps.terminal(session.id),
        spill=session.spill,
        tools=session.tools.all,
        commands=partial(_commands, session),
        skill_text=partial(_skill_text, session),
        attachment_sources=(*provided.attachment_sources, session.skills.hits),
        mcp_clients=session.tools.mcp_clients,
        mentioned=session.tools.mentioned,
        can_use_tool=session.gate.can_use_tool,
        review_edit=session.edit_review.run,
        handle_elicitation=session.elicit,
        transcript=session.record,
        state=lambda: session.state,
        abort=session.turns.abort_signal,
        waited_seconds=session.waiting.seconds,
        take_queued=session.turns.take_queued,
        take_decisions=partial(_late_decisions, session),
        publish=session.turns.output.show,
        require_model=session.deps.require_model,
        may_switch_model=partial(model_switch.refused, session),
        front_ended=session.background.foreground_ended,
        system_context=session.repository.text,
        team=Team(board=session.tasks),
        scratchpad=session.scratchpad.made,
        worktrees=session.deps.data_dir / "worktrees",
        agent_logs=session.agent_logs,
        agent_memory=partial(_agent_memory, session),
        agent_servers=session.tools.agent_servers,
    )


def _env(session: Session) -> Mapping[str, str]:
    """What settings and hooks add to the environment of commands."""
    around = user_environment(secrets=session.deps.secrets())
    return with_exported(session.settings.get("env", {}), session.folder, around)


def _commands(session: Session) -> Sequence[SlashCommand]:
    servers = session.tools.mcp
    return (*session.commands(), *(servers.commands() if servers is not None else ()))


def _skill_text(session: Session, name: str) -> str:
    """For agents that begin with a skill."""
    definitions = session.deps.definitions
    known = definitions.of(session.cwd).usable_skills if definitions is not None else ()
    return next((skill.body for skill in known if skill.name == name and not skill.shell), "")


def _late_decisions(session: Session, mine: Mine) -> Sequence[Attachment]:
    return session.late.take(session.deps.clock(), mine)


def _agent_memory(session: Session, agent: AgentDefinition) -> Path | None:
    return memory_folder(agent, cwd=session.cwd, trusted=session.trusted)
