"""Settings over the wire: what the editor hands over, and what a client reads and writes.

The editor's come three ways (`initializationOptions.assent.settings`, `workspace/configuration`, and pushed by
`workspace/didChangeConfiguration`); the newest counts, laid over the first.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from assent.lsp import trust
from assent.lsp.peer import RemoteError
from assent.sessions.stream.front import Call
from assent.types.blocks import Json
from assent.types.errors import ProtocolError, SettingsError
from assent.types.ids import new_id

if TYPE_CHECKING:
    from assent.lsp.connection import Connection

_RESTRICTING = ("permissions.deny", "permissions.ask")  # these hold in a folder that is not trusted too


def apply(connection: "Connection", values: Json) -> None:
    """`settingsLevel` among the values goes before the one of `initialize`: a file may come to count later."""
    values = dict(values)
    level = values.pop("settingsLevel", connection.client.options.settings_level)
    connection.app.settings.set_editor(values, user_level=level == "user")


def begin(connection: "Connection") -> None:
    """After `initialized`: hear of changes where that must be asked for, and fetch what is set now."""
    if connection.client.can("workspace.didChangeConfiguration.dynamicRegistration"):
        connection.spawn(_register(connection))
    _fetch_later(connection)


def changed(connection: "Connection", params: Any) -> None:
    settings: Any = cast("Json", params).get("settings") if isinstance(params, dict) else None
    own: Any = cast("Json", settings).get("assent") if isinstance(settings, dict) else None
    if isinstance(own, dict):
        _lay_over(connection, cast("Json", own))
    else:
        _fetch_later(connection)


def _fetch_later(connection: "Connection") -> None:
    if connection.client.can("workspace.configuration"):
        connection.spawn(_fetch(connection))


async def _fetch(connection: "Connection") -> None:
    try:
        answer: Any = await connection.peer.request("workspace/configuration", {"items": [{"section": "assent"}]})
    except RemoteError:
        return
    values: Any = cast("list[Any]", answer)[0] if isinstance(answer, list) and answer else None
    if isinstance(values, dict):
        _lay_over(connection, cast("Json", values))


def _lay_over(connection: "Connection", values: Json) -> None:
    present = {key: value for key, value in values.items() if value is not None}
    apply(connection, {**(connection.client.options.settings or {}), **present})
    connection.status.publish()


async def _register(connection: "Connection") -> None:
    registration = {
        "id": new_id(),
        "method": "workspace/didChangeConfiguration",
        "registerOptions": {"section": "assent"},
    }
    try:
        await connection.peer.request("client/registerCapability", {"registrations": [registration]})
    except RemoteError:
        return  # the client then pushes changes by itself, or has none


async def get_settings(connection: "Connection", params: Json, call: Call) -> Json:
    cwd = _folder(connection, params)
    app = connection.app
    settings = app.settings.load(cwd, trust=app.trust.of(cwd))
    values: Json = dict(settings.values)
    permissions = dict(values.get("permissions") or {})
    for behaviour in ("allow", "ask", "deny"):
        permissions[behaviour] = settings.listed(behaviour)
    values["permissions"] = permissions
    answer: Json = {
        "settings": values,
        "origins": dict(settings.origins),
        "rules": [
            {"rule": rule.rule, "behaviour": rule.behaviour, "scope": rule.source, "file": rule.file}
            for rule in settings.rules
        ],
        "sources": [{"path": str(path), "exists": path.exists()} for path in app.settings.files(cwd)],
        "warnings": [{"kind": "settings", "text": str(problem), "hint": problem.hint} for problem in settings.problems],
        "withheld": list(settings.withheld),
    }
    if "key" in params:
        answer["value"] = settings.get(params["key"])
    return answer


async def set_setting(connection: "Connection", params: Json, call: Call) -> Json:
    cwd, scope = _folder(connection, params), params.get("scope", "user")
    if scope != "user":
        _check_project(connection, params, cwd)
    before = trust.state(connection, cwd).items
    try:
        connection.app.settings.set(scope, cwd, params["key"], params["value"])
    except OSError as error:
        raise SettingsError(f"the setting could not be saved: {error.strerror}", key=params["key"]) from None
    written = [item for item in trust.state(connection, cwd).items if item not in before]
    if written:  # by the person themselves: not to be asked about as the project's
        connection.app.trust.approve(cwd, written)
    connection.status.publish()
    return await get_settings(connection, {"cwd": cwd}, call)


HANDLERS = {
    "assent/settings/get": get_settings,
    "assent/settings/set": set_setting,
}


def _check_project(connection: "Connection", params: Json, cwd: str) -> None:
    """Files of a project are written in the workspace only, and nothing that its trust would have to activate."""
    folders = {*connection.client.roots(), *(session.cwd for session in connection.app.sessions.live.values())}
    if not any(Path(cwd).resolve().is_relative_to(Path(folder).resolve()) for folder in folders):
        hint = 'Open the folder, or save the setting for yourself (scope "user").'
        raise ProtocolError("outsideWorkspace", f"{cwd} is not in the workspace", hint=hint)
    restricts = params["value"] is None or params["key"] in _RESTRICTING
    if not restricts and not connection.app.trust.trusted(cwd):
        hint = "Trust the folder first (assent/trust/set); until then its settings do not apply."
        raise ProtocolError("untrusted", f"{cwd} is not trusted", hint=hint)


def _folder(connection: "Connection", params: Json) -> str:
    roots = connection.client.roots()
    return str(params.get("cwd") or (roots[0] if roots else "/"))
