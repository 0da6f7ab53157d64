"""The table of methods: name, parameters, result. Dispatch, capabilities and the mirrors all read it."""

from dataclasses import dataclass

from assent.wire import asks, events, requests, results
from assent.wire.shapes import Empty, Wire

PROTOCOL_VERSION = 1

FEATURES: tuple[str, ...] = (
    "attach",
    "chatDocuments",
    "coalescing",
    "editorQueries",
    "elicitation",
    "keptQueue",
    "permissions",
    "proposals",
    "provenance",
    "reviewPending",
    "rewind",
    "saveBarrier",
    "steer",
    "textDocumentContent",
    "trust",
    "trustHash",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    params: type[Wire]
    result: type[Wire] | None


def _request(params: type[Wire], result: type[Wire]) -> Method:
    return Method(params=params, result=result)


def _notification(params: type[Wire]) -> Method:
    return Method(params=params, result=None)


CLIENT_REQUESTS: dict[str, Method] = {
    "assent/session/new": _request(requests.SessionNew, results.NewSession),
    "assent/session/send": _request(requests.SessionSend, results.Sent),
    "assent/session/interrupt": _request(requests.SessionRef, results.Interrupted),
    "assent/session/unqueue": _request(requests.SessionUnqueue, results.Unqueued),
    "assent/session/list": _request(requests.SessionList, results.Sessions),
    "assent/session/search": _request(requests.SessionList, results.Sessions),
    "assent/session/attach": _request(requests.SessionAttach, results.Attached),
    "assent/session/fork": _request(requests.SessionFork, results.Forked),
    "assent/session/rename": _request(requests.SessionRename, Empty),
    "assent/session/delete": _request(requests.SessionRef, Empty),
    "assent/session/export": _request(requests.SessionExport, results.Exported),
    "assent/session/close": _request(requests.SessionRef, Empty),
    "assent/session/configure": _request(requests.SessionConfigure, results.Configured),
    "assent/session/rewind": _request(requests.SessionRewind, results.Rewound),
    "assent/session/retry": _request(requests.SessionRef, results.Sent),
    "assent/session/context": _request(requests.SessionRef, results.ContextUsage),
    "assent/session/cost": _request(requests.SessionRef, results.Cost),
    "assent/tool/list": _request(requests.ToolList, results.Tools),
    "assent/tool/run": _request(requests.ToolRun, results.ToolRan),
    "assent/edit/list": _request(requests.EditList, results.Proposals),
    "assent/edit/resolve": _request(requests.EditResolve, results.Resolved),
    "assent/permission/explain": _request(requests.PermissionExplain, results.Explained),
    "assent/complete": _request(requests.Complete, results.Completions),
    "assent/document/read": _request(requests.DocumentRead, results.DocumentText),
    "assent/trust/get": _request(requests.TrustGet, results.TrustState),
    "assent/trust/set": _request(requests.TrustSet, results.Trusted),
    "assent/mcp/list": _request(requests.McpList, results.McpServers),
    "assent/mcp/restart": _request(requests.McpRestart, Empty),
    "assent/agent/list": _request(requests.AgentList, results.Agents),
    "assent/command/list": _request(requests.CommandList, results.Commands),
    "assent/job/list": _request(requests.JobList, results.Jobs),
    "assent/job/kill": _request(requests.JobKill, results.Killed),
    "assent/settings/get": _request(requests.SettingsGet, results.Settings),
    "assent/settings/set": _request(requests.SettingsSet, results.Settings),
}

CLIENT_NOTIFICATIONS: dict[str, Method] = {}

SERVER_REQUESTS: dict[str, Method] = {
    "assent/permission/ask": _request(asks.PermissionAsk, asks.PermissionAnswer),
    "assent/elicit": _request(asks.Elicit, asks.ElicitAnswer),
    "assent/editor/query": _request(asks.EditorQuery, asks.EditorAnswer),
    "assent/editor/save": _request(asks.EditorSave, asks.EditorSaved),
}

SERVER_NOTIFICATIONS: dict[str, Method] = {
    "assent/session/event": _notification(events.SessionEvent),
    "assent/withdrawn": _notification(asks.Withdrawn),
    "assent/status": _notification(asks.ServerStatus),
}
