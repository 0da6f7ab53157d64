"""`assent/settings/*`: read and write settings, and the editor's own settings as it hands them over."""

from pathlib import Path
from typing import Any

from assent.lsp.base import BaseServer
from assent.lsp.registry import server
from assent.types.blocks import Json
from assent.types.errors import ProtocolError, SettingsError
from assent.wire import requests

_RESTRICTING = ("permissions.deny", "permissions.ask")  # these hold in a folder that is not trusted too


@server.feature("initialized")
def initialized(ls: BaseServer, params: Any) -> None:
    ls.editor_settings.begin()


@server.feature("workspace/didChangeConfiguration")
def did_change_configuration(ls: BaseServer, params: Any) -> None:
    ls.editor_settings.pushed(params)


@server.feature("assent/settings/get", on_cancel="stop")
async def get_settings(ls: BaseServer, params: requests.SettingsGet) -> Json:
    cwd = await ls.folder(cwd=params.cwd, otherwise="/")
    settings = ls.app.settings.load(cwd, trust=ls.app.trust.of(cwd))
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
        "sources": [{"path": str(path), "exists": path.exists()} for path in ls.app.settings.files(cwd)],
        "warnings": [{"kind": "settings", "text": str(problem), "hint": problem.hint} for problem in settings.problems],
        "withheld": list(settings.withheld),
    }
    if params.key is not None:
        answer["value"] = settings.get(params.key)
    return answer


@server.feature("assent/settings/set")
async def set_setting(ls: BaseServer, params: requests.SettingsSet) -> Json:
    cwd = await ls.folder(cwd=params.cwd, otherwise="/")
    if params.scope != "user":
        _check_project(ls, params, cwd)
    before = ls.trust.state(cwd).items
    try:
        ls.app.settings.set(params.scope, cwd, params.key, params.value)
    except OSError as error:
        raise SettingsError(f"the setting could not be saved: {error.strerror}", key=params.key) from None
    written = [item for item in ls.trust.state(cwd).items if item not in before]
    if written:  # by the person themselves: not to be asked about as the project's
        ls.app.trust.approve(cwd, written)
    ls.status.publish()
    return await get_settings(ls, requests.SettingsGet(cwd=cwd))


def _check_project(ls: BaseServer, params: requests.SettingsSet, cwd: str) -> None:
    """Files of a project are written in the workspace only, and nothing that its trust would have to activate."""
    folders = {*ls.client.roots(), *(session.cwd for session in ls.app.sessions.live.values())}
    if not any(Path(cwd).resolve().is_relative_to(Path(folder).resolve()) for folder in folders):
        hint = 'Open the folder, or save the setting for yourself (scope "user").'
        raise ProtocolError("outsideWorkspace", f"{cwd} is not in the workspace", hint=hint)
    restricts = params.value is None or params.key in _RESTRICTING
    if not restricts and not ls.app.trust.trusted(cwd):
        hint = "Trust the folder first (assent/trust/set); until then its settings do not apply."
        raise ProtocolError("untrusted", f"{cwd} is not trusted", hint=hint)


@server.feature("assent/model/list", on_cancel="stop")
async def list_models(ls: BaseServer, params: requests.ModelList) -> Json:
    cwd = await ls.folder(cwd=params.cwd, otherwise="/")
    return await ls.app.offered_models(cwd, params.refresh is True)


@server.feature("assent/credentials/check", on_cancel="stop")
async def check_credentials(ls: BaseServer, params: requests.CredentialsCheck) -> Json:
    return await ls.app.check_key(params.api_key)
