"""`assent import`: what other tools left here, what it means for Assent, and taking over what is not read live."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import cast

from assent.cli.chat.render import Palette, visible
from assent.cli.preflight import UsageError, project_folder
from assent.extensions.import_ import findings
from assent.extensions.import_.findings import Finding, Importable
from assent.storage import activation, paths
from assent.storage.settings import SettingsFiles
from assent.storage.settings.claude import claude_dir
from assent.storage.trust import EVERYTHING, TrustStore
from assent.types.blocks import Json

_MARKS = {"live": ("green", "✓"), "offered": ("yellow", "+"), "unusable": ("dim", "-")}


def run(*, cwd: Path | None, take: Sequence[str], everything: bool, json_output: bool) -> int:
    folder = project_folder(cwd)
    found = look(folder)
    if json_output and not (take or everything):
        print(json.dumps([asdict(each) for each in found.findings], indent=2))
    elif not (take or everything):
        print("\n".join(_lines(found, Palette.of(sys.stdout))))
    for notice in found.notices:
        print(f"assent: {visible(str(notice))}", file=sys.stderr)
    if take or everything:
        return _take(folder, _chosen(found, take))
    return 0


def run_sessions(*, folder: Path | None, json_output: bool) -> int:
    """Conversations of Claude Code into ours; where they lie nothing is changed."""
    import time

    from assent.sessions.library.importing import import_all

    source = folder or claude_dir() / "projects"
    if not source.is_dir():
        raise UsageError(f"there are no conversations: {source} is not a folder")
    keys = [os.environ.get(name, "") for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")]
    done = import_all(source, paths.data_dir(), now=time.time(), secrets=[key for key in keys if key])
    if json_output:
        print(json.dumps([asdict(each) for each in done], indent=2))
    for problem in (problem for each in done for problem in each.problems):
        print(f"assent: {visible(problem)}", file=sys.stderr)
    taken = [each for each in done if each.state == "imported"]
    if not json_output:
        print("\n".join(visible(f"{each.session_id}  {each.title}") for each in taken))
        known = sum(each.state == "known" for each in done)
        print(f"{len(taken)} conversations imported, {known} were here already. `assent sessions` lists them.")
    return 1 if any(each.state == "failed" for each in done) else 0


def look(folder: Path) -> Importable:
    settings = SettingsFiles.standard()
    own = settings.load(str(folder), trust=EVERYTHING).get("mcpServers", {})
    claude = str(claude_dir())
    return findings.look(cwd=str(folder), home=str(Path.home()), claude=claude, known=list(cast("Json", own)))


def _chosen(found: Importable, names: Sequence[str]) -> list[Finding]:
    offered = [each for each in found.findings if each.state == "offered"]
    for name in names:
        if all(each.name != name for each in offered):
            listed = ", ".join(dict.fromkeys(each.name for each in offered)) or "nothing"
            raise UsageError(f"{name!r} is not offered. There is: {listed}")
    return [each for each in offered if not names or each.name in names]


def _take(folder: Path, chosen: Sequence[Finding]) -> int:
    settings = SettingsFiles.standard()
    trust = TrustStore(paths.config_dir() / "trust.json")

    def take(scope: findings.Scope, entries: dict[str, Json]) -> str:
        file = str(settings.set("user" if scope == "user" else "local", str(folder), "mcpServers", entries, add=True))
        if scope == "project":  # the person just wrote it themselves
            trust.approve(str(folder), activation.activated({"mcpServers": entries}, (), file))
        return file

    if not chosen:
        print("There is nothing to take over.")
        return 0
    for file in findings.take_over(chosen, take):
        print(f"Written: {file}")
    for each in chosen:
        more = each.meaning.removeprefix("can be taken over").lstrip("; ")
        print(visible(f"  {each.name} of {each.tool}" + (f": {more}" if more else "")))
    print("The servers are asked about once more before they start.")
    return 0


def _lines(found: Importable, palette: Palette) -> list[str]:
    if not found.findings:
        return ["Nothing of other tools was found in this folder or in your home."]
    lines: list[str] = []
    for scope, title in (("user", "In your home:"), ("project", "In this folder:")):
        group = [each for each in found.findings if each.scope == scope]
        if group:
            lines += [palette.paint("bold", title), *(_line(each, palette) for each in group)]
    if any(each.state == "offered" for each in found.findings):
        lines += ["", "`assent import --take NAME` or `--all` writes what is marked + into your settings."]
    return lines


def _line(each: Finding, palette: Palette) -> str:
    style, mark = _MARKS[each.state]
    what = "MCP server" if each.kind == "mcpServer" else each.kind
    return f"  {palette.paint(style, mark)} " + visible(f"{each.tool}, {what} {each.name}: {each.meaning}")
