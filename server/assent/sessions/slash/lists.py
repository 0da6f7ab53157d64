"""/skills, /agents, /plugins, /mcp, /todos, /output-style and /doctor: what there is, from where, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
from anyio import run_process

from assent.context.tokens import estimate_content
from assent.extensions.catalogue import Catalogue
from assent.extensions.commands import Command, CommandHost
from assent.extensions.definitions import Notice
from assent.extensions.plugins.manifest import PluginError
from assent.sessions.slash.host import Session
from assent.text.visible import visible
from assent.types.blocks import Json
from assent.types.errors import SettingsError
from assent.types.programs import NEUTRAL, python, python_environment

DOCTOR_SECONDS = 60
_TODO = {"completed": "x", "in_progress": "~"}


def commands(session: Session) -> tuple[Command, ...]:
    async def skills(_arguments: str, _host: CommandHost) -> str:
        return skills_text(await catalogue_of(session))

    async def agents(_arguments: str, _host: CommandHost) -> str:
        return agents_text(await catalogue_of(session))

    async def plugins(arguments: str, _host: CommandHost) -> str:
        return await _plugins(session, arguments)

    async def mcp(_arguments: str, _host: CommandHost) -> str:
        return mcp_text(session.deps.mcp_servers(session.cwd))

    async def hooks(_arguments: str, _host: CommandHost) -> str:
        source = session.deps.session_hooks
        return hooks_text(source.listed(session.cwd) if source is not None else [])

    async def todos(_arguments: str, _host: CommandHost) -> str:
        items = [f"- [{_TODO.get(str(item.get('status')), ' ')}] {item.get('content')}" for item in session.state.todos]
        return "\n".join(items) or "The todo list is empty."

    async def style(arguments: str, _host: CommandHost) -> str:
        return _style(session, await catalogue_of(session), arguments.strip())

    async def doctor(_arguments: str, _host: CommandHost) -> str:
        return await _doctor(session.cwd)

    return (
        Command(name="skills", description="the skills that are there, and where from", run=skills),
        Command(name="agents", description="the agents that can be started, and where from", run=agents),
        Command(
            name="plugins",
            description="the plugins that are installed; switch one on or off",
            argument_hint="[enable|disable NAME]",
            run=plugins,
        ),
        Command(name="mcp", description="the MCP servers and their state", run=mcp),
        Command(name="hooks", description="the hooks that run, and those that wait for trust", run=hooks),
        Command(name="todos", description="the todo list", run=todos),
        Command(
            name="output-style", description="show or set how answers are written", argument_hint="[name]", run=style
        ),
        Command(name="doctor", description="check the installation and say how to fix it", run=doctor),
    )


async def catalogue_of(session: Session) -> Catalogue:
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
        }
        for agent in catalogue.agents
    ]


def skills_text(catalogue: Catalogue) -> str:
    rows = skill_rows(catalogue)
    if not rows:
        return "There are no skills. One is a folder with a SKILL.md in `.claude/skills` or `.assent/skills`." + _wrong(
            catalogue.notices
        )
    return "\n".join(["Skills:", "", *map(_line, rows)]) + _wrong(catalogue.notices)


def agents_text(catalogue: Catalogue) -> str:
    return "\n".join(["Agents:", "", *map(_line, agent_rows(catalogue))]) + _wrong(catalogue.notices)


def mcp_text(servers: Sequence[Json]) -> str:
    if not servers:
        return "No MCP server is configured. `assent import` takes over those of other tools."
    lines = [f"- {visible(str(server['name']))}: {server['status']}" for server in servers]
    return "\n".join(["MCP servers:", "", *lines])


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


def _line(row: Json) -> str:
    withheld = f" — not used: {row['withheld']}" if row.get("withheld") else ""
    return f"- **{visible(row['name'])}**: {visible(row['description'])} ({row['source']}){withheld}"


def _wrong(notices: Sequence[Notice]) -> str:
    return "".join(f"\n- ⚠ {visible(str(notice))}" for notice in notices)


async def _plugins(session: Session, arguments: str) -> str:
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
    _, notices = await anyio.to_thread.run_sync(definitions.plugins.active)
    lines = [
        f"- **{visible(each.name)}** {each.version}{'' if each.enabled else ' (off)'}, from {visible(each.source)}"
        for each in definitions.plugins.installed()
    ]
    hint = "`assent plugin add|update|remove` in a terminal installs and updates them: only you can."
    return "\n".join([*(["Plugins:", "", *lines] if lines else ["No plugins are installed."]), "", hint]) + _wrong(
        notices
    )


def _style(session: Session, catalogue: Catalogue, name: str) -> str:
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
