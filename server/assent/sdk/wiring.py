"""The options of a program as the application's: its rules, tools and settings."""

from __future__ import annotations

from typing import Any, cast

from assent.app import Options as AppOptions
from assent.sdk.options import Options
from assent.sdk.tools import SdkServer, engine_tool
from assent.types.blocks import Json


def app_options(chosen: Options) -> AppOptions:
    settings: Json = dict(chosen.settings or {})
    permissions: dict[str, Any] = dict(cast("Json", settings.get("permissions") or {}))
    in_process = [each for each in chosen.mcp_servers.values() if isinstance(each, SdkServer)]
    tools = [*chosen.tools, *(each for server in in_process for each in server.tools)]
    own = [each.name for each in tools]  # a program's own tools are its own code; deny and ask rules still hold
    for behaviour, rules in (("allow", (*chosen.allow, *own)), ("ask", chosen.ask), ("deny", chosen.deny)):
        if rules:
            permissions[behaviour] = [*cast("list[str]", permissions.get(behaviour) or []), *rules]
    if permissions:
        settings["permissions"] = permissions
    named = {name: each for name, each in chosen.mcp_servers.items() if not isinstance(each, SdkServer)}
    if named:
        settings["mcpServers"] = {**cast("Json", settings.get("mcpServers") or {}), **named}
    return AppOptions(
        offline=chosen.offline,
        interactive=chosen.can_use_tool is not None or chosen.on_elicit is not None,
        settings=settings,
        api_key=chosen.api_key,
        project_settings="project" in chosen.setting_sources,
        tools=tuple(engine_tool(each) for each in tools),
    )
