"""`assent plugin`: install, list, update and remove plugins. Nothing of one counts before the user said yes here."""

import json
import sys
from collections.abc import Sequence
from getpass import getpass
from pathlib import Path

from assent.cli.chat.render import Palette, visible
from assent.cli.preflight import UsageError, project_folder
from assent.extensions.plugins.manifest import Plugin, PluginError
from assent.extensions.plugins.options import Given, text_of
from assent.extensions.plugins.parts import parts_of, problems_of
from assent.extensions.plugins.store import Plugins, Staged
from assent.storage import paths
from assent.storage.files import write_atomically
from assent.storage.settings import SettingsFiles
from assent.storage.trust import UNTRUSTED
from assent.types.blocks import Json

SHOWN_FILES = 40


def run(
    *, action: str, name: str | None, cwd: Path | None, yes: bool, json_output: bool, values: Sequence[str] = ()
) -> int:
    plugins = installed_plugins()
    if action == "list":
        return _list(plugins, json_output=json_output)
    if name is None and action != "update":
        what = "a folder, a git address or NAME@MARKETPLACE" if action == "add" else "the name of a plugin"
        raise UsageError(f"say which: assent plugin {action} needs {what}")
    match action:
        case "add":
            return _decide(plugins, plugins.stage(name or "", cwd=str(project_folder(cwd))), yes=yes)
        case "update":
            names = [name] if name else [each.name for each in plugins.installed()]
            if not names:
                print("No plugins are installed.", file=sys.stderr)
            return max((_update(plugins, each, yes=yes) for each in names), default=0)
        case "configure":
            return _configure(plugins, name or "", values)
        case "remove":
            plugins.remove(name or "")
            print(f"Removed {name}.")
        case "enable" | "disable":
            plugins.enable(name or "", enabled=action == "enable")
            print(f"{name} is {'on' if action == 'enable' else 'off'} from the next session on.")
        case _:
            raise UsageError(f"there is no action {action}")
    return 0


def installed_plugins() -> Plugins:
    files = SettingsFiles(config_dir=paths.config_dir(), project=False)
    home = str(Path.home())
    return Plugins(
        paths.data_dir() / "plugins",
        write=write_atomically,
        said=lambda: files.load(home, trust=UNTRUSTED).get("plugins", {}),
    )


def _configure(plugins: Plugins, name: str, values: Sequence[str]) -> int:
    """Set options of a plugin, or say which there are."""
    pairs = {key: value for key, equals, value in (each.partition("=") for each in values) if equals}
    if len(pairs) != len(values):
        raise UsageError("write each value as KEY=VALUE; KEY= takes one back")
    found = plugins.configure(name, pairs)
    if not found.options:
        print(f"{name} asks for nothing.")
    for line in options_text(found):
        print(visible(line))
    return 1 if found.problems else 0


def options_text(found: Given) -> Sequence[str]:
    """Every option with its value, and what is still wrong."""
    lines: list[str] = []
    for option in found.options:
        value = found.values.get(option.key)
        shown = "not set" if value is None else "(set)" if option.sensitive else text_of(value)
        lines.append(f"  {option.key} = {shown}  {option.label}{' (required)' if option.required else ''}")
    return [*lines, *(f"  problem: {problem}" for problem in found.problems)]


def _list(plugins: Plugins, *, json_output: bool) -> int:
    active, notices = plugins.active()
    by_name = {plugin.name: plugin for plugin in active}
    rows: list[Json] = []
    for each in plugins.installed():
        plugin = by_name.get(each.name)
        row: Json = {"name": each.name, "version": each.version, "source": each.source, "enabled": each.enabled}
        wrong = {"problems": problems_of(plugin)} if plugin and problems_of(plugin) else {}
        rows.append({**row, "parts": parts_of(plugin) if plugin else [], **wrong})
    if json_output:
        print(json.dumps(rows, indent=2))
    elif not rows:
        print("No plugins are installed. Add one: assent plugin add FOLDER|URL|NAME@MARKETPLACE", file=sys.stderr)
    for row in rows if not json_output else ():
        state = "" if row["enabled"] else " (off)"
        print(visible(f"{row['name']} {row['version']}{state}  from {row['source']}"))
        for part in row["parts"]:
            print(visible(f"  {part}"))
    for row in rows if not json_output else ():
        for problem in row.get("problems", ()):
            print(visible(f"assent: plugin {row['name']}: {problem}"), file=sys.stderr)
    own = [f"{plugin.root}: {text}" for plugin in active for text in plugin.problems]  # told among those above
    for notice in (text for text in map(str, notices) if json_output or text not in own):
        print(f"assent: {visible(notice)}", file=sys.stderr)
    return 1 if notices else 0


def _update(plugins: Plugins, name: str, *, yes: bool) -> int:
    staged = plugins.stage_update(name)
    if not staged.changes and not plugins.active()[1]:
        plugins.drop(staged)
        print(f"{name} is up to date.")
        return 0
    return _decide(plugins, staged, yes=yes)


def _decide(plugins: Plugins, staged: Staged, *, yes: bool) -> int:
    palette = Palette.of(sys.stdout)
    print("\n".join(visible(line) for line in description(staged)))
    for line in difference(staged, palette):
        print(line)
    question = "Install this update?" if staged.replaces else "Install this plugin?"
    if not yes and not _says_yes(question):
        plugins.drop(staged)
        print("Nothing has changed." if sys.stdin.isatty() else "Nothing has changed. --yes installs it.")
        return 1
    installed = plugins.accept(staged)
    print(visible(f"Installed {installed.name} {installed.version}".rstrip()) + ". It counts from the next session on.")
    if staged.plugin.options:
        _ask_for(plugins, staged.plugin)
    return 0


def _ask_for(plugins: Plugins, plugin: Plugin) -> None:
    """The values that a plugin wants: asked for at a terminal, else named."""
    found = plugins.given(plugin)
    for option in plugin.options if sys.stdin.isatty() else ():
        if option.key in found.values:
            continue
        try:
            question = f"{visible(option.label)}{' (required)' if option.required else ''}: "
            text = getpass(question) if option.sensitive else input(question)
            if text:
                found = plugins.configure(plugin.name, {option.key: text})
        except EOFError:
            break
        except PluginError as error:
            print(f"assent: {visible(str(error))}", file=sys.stderr)
    if found.problems:
        print(f"It asks for values; `assent plugin configure {plugin.name} KEY=VALUE` sets them:")
    for line in options_text(found):
        print(visible(line))


def description(staged: Staged) -> Sequence[str]:
    """What a staged plugin is and would do, programs first."""
    plugin = staged.plugin
    lines = [f"{plugin.name} {plugin.version}".rstrip() + (f": {plugin.description}" if plugin.description else "")]
    own = str((staged.entry or {}).get("name") or plugin.name)
    if own != plugin.name:
        lines.append(f"  Another plugin is called {own}; this one is installed as {plugin.name}, beside it.")
    lines += [f"  from {staged.source}", f"  {len(staged.files)} files, each hashed"]
    programs = staged.brings()
    if programs:
        lines += ["  It would run, or allow unasked:", *(f"    {each}" for each in programs)]
    if plugin.options:
        lines += ["  It asks for:", *(f"    {option.key}: {option.label}" for option in plugin.options)]
    if wrong := problems_of(plugin):
        lines += ["  Of it, this is not used as it stands:", *(f"    {each}" for each in wrong)]
    offered = [part for part in parts_of(plugin) if not part.startswith(("hook ", "server "))]
    if offered:
        lines += ["  It offers:", *(f"    {each}" for each in offered)]
    return lines


def difference(staged: Staged, palette: Palette) -> Sequence[str]:
    """What an update changes, file by file."""
    if staged.replaces is None:
        return []
    lines = [f"  {len(staged.changes)} files differ from what is installed:"]
    for change in staged.changes[:SHOWN_FILES]:
        lines.append(palette.paint("bold", visible(f"{change.kind} {change.path}")))
        for line in change.lines:
            style = "green" if line.startswith("+") else "red" if line.startswith("-") else "dim"
            lines.append(palette.paint(style, visible(line)))
    if len(staged.changes) > SHOWN_FILES:
        lines.append(f"… and {len(staged.changes) - SHOWN_FILES} more files")
    return lines


def _says_yes(question: str) -> bool:
    if not sys.stdin.isatty():
        return False
    try:
        return input(f"{question} [y/N] ").strip().casefold() in ("y", "yes")
    except EOFError:
        return False
