"""/skills, /agents, /plugins, /mcp, /todos, /output-style and /doctor: what there is, from where, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from time import localtime, strftime

import anyio
from anyio import run_process

from assent.context.tokens import estimate_content
from assent.extensions.catalogue import Catalogue
from assent.extensions.commands import CommandHost, SlashCommand
from assent.extensions.definitions import FileNotice
from assent.extensions.plugins.manifest import PluginError
from assent.sessions.slash import servers
from assent.sessions.slash.host import SlashSession
from assent.text.visible import visible
from assent.types.blocks import Json
from assent.types.errors import SettingsError
from assent.types.programs import NEUTRAL, python, python_environment

DOCTOR_SECONDS = 60
LATEST = 10  # runs of hooks beside their list
_TODO = {"completed": "x", "in_progress": "~"}


def commands(session: SlashSession) -> tuple[SlashCommand, ...]:
    async def skills(_arguments: str, _host: CommandHost) -> str:
        return skills_text(await catalogue_of(session))

    async def agents(_arguments: str, _host: CommandHost) -> str:
        runs = session.turns.engine.agents.list() if session.turns.engine.agents is not None else ()
        return agents_text(await catalogue_of(session), runs)

    async def plugins(arguments: str, _host: CommandHost) -> str:
        return await _plugins(session, arguments)

    async def mcp(arguments: str, _host: CommandHost) -> str:
        return await servers.answered(session, arguments)

    async def hooks(arguments: str, _host: CommandHost) -> str:
        source = session.deps.session_hooks
        if source is None:
            return "Hooks are not available here."
        runs = source.logged(session.id, session.folder, None)["runs"]
        if arguments.strip() == "log":
            return log_text(runs)
        listed = hooks_text(source.listed(session.cwd, session.id)) + _wrong(source.problems(session.cwd))
        return f"{listed}\n\n{log_text(runs[:LATEST])}" if runs else listed

    async def todos(_arguments: str, _host: CommandHost) -> str:
        items = [f"- [{_TODO.get(str(item.get('status')), ' ')}] {item.get('content')}" for item in session.state.todos]
        return "\n".join(items) or "The todo list is empty."

    async def style(arguments: str, _host: CommandHost) -> str:
        return _style(session, await catalogue_of(session), arguments.strip())

    async def doctor(_arguments: str, _host: CommandHost) -> str:
        return await _doctor(session.cwd)

    return (
        SlashCommand(name="skills", description="the skills that are there, and where from", run=skills),
        SlashCommand(name="agents", description="the agents that can be started, and where from", run=agents),
        SlashCommand(
            name="plugins",
            description="the plugins that are installed; switch one on or off",
            argument_hint="[enable|disable NAME]",
            run=plugins,
        ),
        SlashCommand(
            name="mcp",
            description="the MCP servers and their state; start, switch or sign in to one",
            argument_hint="[show|restart|enable|disable|sign-in|sign-out NAME]",
            run=mcp,
        ),
        SlashCommand(
            name="hooks",
            description="the hooks that run, those that wait for trust, and what they did",
            argument_hint="[log]",
            run=hooks,
        ),
        SlashCommand(name="todos", description="the todo list", run=todos),
        SlashCommand(
            name="output-style", description="show or set how answers are written", argument_hint="[name]", run=style
        ),
        SlashCommand(name="doctor", description="check the installation and say how to fix it", run=doctor),
    )


async def catalogue_of(session: SlashSession) -> Catalogue:
    definitions = session.deps.definitions
    return await definitions.load(session.cwd) if definitions is not None else Catalogue()


def skill_rows(catalogue: Catalogue) -> list[Json]:
    """`assent/skill/list`."""
    return [
        {
            "name": skill.name,
            "description": skill.listing,
            "source": skill.origin.source,
            "tokens": estimate_content(skill.listing),
            **({"withheld": skill.withheld} if skill.withheld else {}),
        }
        for skill in catalogue.skills
    ]


def agent_rows(catalogue: Catalogue) -> list[Json]:
    """`definitions` of `assent/agent/list`."""
    return [
        {
            "name": agent.name,
            "description": agent.description,
            "source": agent.origin.source,
            **({"withheld": agent.withheld} if agent.withheld else {}),
            **({"color": agent.color} if agent.color else {}),
            **({"isolation": agent.isolation} if agent.isolation else {}),
            **({"background": True} if agent.background else {}),
            **({"ignored": [notice.text for notice in agent.ignored]} if agent.ignored else {}),
        }
        for agent in catalogue.agents
    ]


def agent_problems(catalogue: Catalogue) -> Json:
    """`problems` of `assent/agent/list`, where there are any."""
    found = [str(each) for each in catalogue.notices if each.kind == "agents"]
    return {"problems": found} if found else {}


def skills_text(catalogue: Catalogue) -> str:
    rows = skill_rows(catalogue)
    if not rows:
        none = "There are no skills. One is a folder with a SKILL.md in `.claude/skills` or `.assent/skills`."
        return none + _wrong(_not_of_agents(catalogue))
    return "\n".join(["Skills:", "", *map(_line, rows)]) + _wrong(_not_of_agents(catalogue))


def agents_text(catalogue: Catalogue, runs: Sequence[Json]) -> str:
    lines = ["Agents:", "", *map(_line, agent_rows(catalogue))]
    if runs:
        lines += ["", "At work in this conversation, or done:", "", *map(_run_line, runs)]
    return "\n".join(lines) + _wrong(agent_problems(catalogue).get("problems", ()))


def _run_line(run: Json) -> str:
    state = f"{run.get('state')}{' in the background' if run.get('background') else ''}"
    spent = f"{run.get('tokens') or 0:,} tokens, ${run.get('costUsd') or 0:.4f}"
    return f"- `{run.get('agentId')}` {visible(run['name'])}: {visible(run.get('title') or '')} — {state}, {spent}"


def hooks_text(rows: Sequence[Json]) -> str:
    if not rows:
        return "No hooks are configured."
    lines = [
        f"- **{row['event']}**{' on `' + visible(row['matcher']) + '`' if row.get('matcher') else ''}: "
        f"{row['type']} `{visible(row['command'])}` ({row['source']})"
        + (f" — does not run: {row['withheld']}" if row.get("withheld") else "")
        for row in rows
    ]
    return "\n".join(["Hooks:", "", *lines])


def log_text(runs: Sequence[Json]) -> str:
    """What hooks did in this session, newest first."""
    if not runs:
        return "No hook has run in this session yet."
    lines = [
        f"- {strftime('%H:%M:%S', localtime(run['startedAt']))} **{run['event']}** {run['outcome']}"
        f"{', changed something' if run.get('changed') else ''}, {run['durationMs']} ms"
        f"{', exit ' + str(run['exitCode']) if run.get('exitCode') else ''}: `{visible(run['command'])[:80]}`"
        + (f" — {visible(run['text'])[:200]}" if run.get("text") else "")
        for run in runs
    ]
    return "\n".join(["What they did, newest first (`/hooks log` shows more):", "", *lines])


def _line(row: Json) -> str:
    withheld = f" — not used: {row['withheld']}" if row.get("withheld") else ""
    ignored = "".join(f"\n  - {visible(text)}" for text in row.get("ignored", ()))
    return f"- **{visible(row['name'])}**: {visible(row['description'])} ({row['source']}){withheld}{ignored}"


def _not_of_agents(catalogue: Catalogue) -> list[FileNotice]:
    """Those of skills, and of commands and styles, which have no list of their own."""
    return [each for each in catalogue.notices if each.kind != "agents"]


def _wrong(notices: Sequence[FileNotice | str]) -> str:
    return "".join(f"\n- ⚠ {visible(str(notice))}" for notice in notices)


async def _plugins(session: SlashSession, arguments: str) -> str:
    definitions = session.deps.definitions
    if definitions is None:
        return "Plugins are not available here."
    words = arguments.split()
    if len(words) == 2 and words[0] in ("enable", "disable"):
        try:
            definitions.plugins.enable(words[1], enabled=words[0] == "enable")
        except PluginError as error:
            return str(error)
        await definitions.load(session.cwd)
        return f"{words[1]} is {'on' if words[0] == 'enable' else 'off'} now."
    rows = await anyio.to_thread.run_sync(definitions.plugin_rows)
    lines: list[str] = []
    for row in rows:
        state = "" if row["enabled"] else " (off)"
        withheld = f" — not used: {visible(row['withheld'])}" if row.get("withheld") else ""
        lines.append(f"- **{visible(row['name'])}** {row['version']}{state}, from {visible(row['source'])}{withheld}")
        lines += [f"  - ⚠ {visible(problem)}" for problem in row.get("problems", ())]
    hint = "`assent plugin add|update|remove` in a terminal installs and updates them: only you can."
    return "\n".join([*(["Plugins:", "", *lines] if lines else ["No plugins are installed."]), "", hint])


def _style(session: SlashSession, catalogue: Catalogue, name: str) -> str:
    now = str(session.settings.get("outputStyle") or "default")
    if not name:
        lines = [
            f"- {'**' if style.name == now else ''}{visible(style.name)}{'**' if style.name == now else ''}: "
            f"{visible(style.description)} ({style.origin.source})"
            for style in catalogue.styles
            if not style.withheld
        ]
        return "\n".join([f"The output style is {now}. `/output-style NAME` changes it.", "", *lines])
    style = catalogue.style(name)
    if style is None:
        return f"There is no output style {name!r}. `/output-style` lists them."
    try:
        session.deps.settings.set("user", session.cwd, "outputStyle", style.name)
    except SettingsError as error:
        return f"The style could not be saved: {error}"
    return f"Answers are in the style {style.name} from the next turn on."


async def _doctor(cwd: str) -> str:
    """The program's own check, in a process of its own: it imports what a server never needs."""
    words = python("-m", "assent.cli.main", "doctor", "--cwd", cwd)
    with anyio.move_on_after(DOCTOR_SECONDS):
        done = await run_process(words, cwd=NEUTRAL, env=python_environment(), check=False)
        text = done.stdout.decode("utf-8", "replace").strip()
        return f"```\n{visible(text)}\n```" if text else "`assent doctor` said nothing."
    return f"`assent doctor` did not finish within {DOCTOR_SECONDS} s; run it in a terminal."
