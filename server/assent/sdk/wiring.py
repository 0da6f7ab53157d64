"""The options of a program as the application's: its rules, tools and settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from assent.app import Options as AppOptions
from assent.sdk.options import Options
from assent.sdk.output import check_for
from assent.sdk.tools import SdkServer, engine_tool, tools_under
from assent.types.blocks import Json


def app_options(chosen: Options, *, cwd: str) -> AppOptions:
    settings: Json = dict(chosen.settings or {})
    named: object = settings.get("permissions") or {}
    if not isinstance(named, Mapping):
        raise TypeError(f"settings: permissions must be an object, not {named!r}")
    permissions: dict[str, Any] = dict(cast("Json", named))
    tools = list(chosen.tools)
    for key, server in chosen.mcp_servers.items():
        if isinstance(server, SdkServer):
            tools += tools_under(key, server)
    own = [each.name for each in tools]  # a program's own tools are its own code; deny and ask rules still hold
    if twice := sorted({name for name in own if own.count(name) > 1}):
        raise ValueError(f"tools: two have the name {twice[0]}; the model could call only one of them")
    for behaviour, rules in (("allow", (*chosen.allow, *own)), ("ask", chosen.ask), ("deny", chosen.deny)):
        if rules:
            permissions[behaviour] = [*cast("list[str]", permissions.get(behaviour) or []), *rules]
    if permissions:
        settings["permissions"] = permissions
    outside = {name: each for name, each in chosen.mcp_servers.items() if not isinstance(each, SdkServer)}
    if outside:
        settings["mcpServers"] = {**cast("Json", settings.get("mcpServers") or {}), **outside}
    _check(settings, chosen, cwd)
    return AppOptions(
        offline=chosen.offline or chosen.replay is not None,
        interactive=chosen.can_use_tool is not None or chosen.on_elicit is not None,
        settings=settings,
        api_key=chosen.api_key,
        project_settings="project" in chosen.setting_sources,
        tools=tuple(engine_tool(each) for each in tools),
        check_answer=check_for(chosen.output),
        record=Path(chosen.record) if chosen.record is not None else None,
        replay=Path(chosen.replay) if chosen.replay is not None else None,
    )


def _check(settings: Json, chosen: Options, cwd: str) -> None:
    """Raises ValueError for what would have no effect: a wrong rule or setting, a source that does not exist."""
    if wrong := set(chosen.setting_sources) - {"user", "project"}:
        raise ValueError(f"setting_sources: {sorted(wrong)} are not among 'user' and 'project'")
    if not settings:
        return
    from assent.permissions.rules import parse_rule
    from assent.storage.settings import SettingsFiles
    from assent.storage.trust import EVERYTHING

    loaded = SettingsFiles.standard(cli=settings, parse_rule=parse_rule).load(cwd, trust=EVERYTHING)
    for problem in loaded.problems:
        if problem.file == "command line":
            raise ValueError(f"{problem.key}: {problem.text}" if problem.key else problem.text)
