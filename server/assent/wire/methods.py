"""The table of methods: one row each with its name, direction, parameters, result, errors and purpose.

Dispatch, capabilities, the mirrors and the reference all read it. A row may describe a method that no front serves yet
(`planned`): its shapes are fixed, and `initialize` does not announce it.
"""

from dataclasses import dataclass
from typing import Literal

from assent.wire import asks, events, extensions, requests, results, roster, rules
from assent.wire.shapes import Empty, Wire

PROTOCOL_VERSION = 1

FEATURES: tuple[str, ...] = (
    "attach",
    "chatDocuments",
    "coalescing",
    "contextMentions",
    "displayText",
    "editLines",
    "editMoved",
    "editReopen",
    "editorQueries",
    "elicitation",
    "keptQueue",
    "mcp",
    "permissions",
    "proposals",
    "provenance",
    "resolvedProposal",
    "reviewPending",
    "rewind",
    "saveBarrier",
    "searchSnippets",
    "steer",
    "textDocumentContent",
    "trust",
    "trustHash",
)

Direction = Literal["clientRequest", "serverRequest", "serverNotification"]
ErrorKind = Literal[
    "busy",
    "cancelled",
    "invalidRequest",
    "noCredentials",
    "outsideWorkspace",
    "ownedElsewhere",
    "permissionDenied",
    "staleProposal",
    "staleTrust",
    "tooLarge",
    "unknownAsk",
    "unknownHunk",
    "unknownProposal",
    "unknownSession",
    "unsupported",
    "untrusted",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One row. `errors` are the kinds of its own; any request may also answer invalidParams, cancelled or internal."""

    name: str
    direction: Direction
    params: type[Wire]
    result: type[Wire] | None
    purpose: str
    errors: tuple[ErrorKind, ...] = ()
    planned: bool = False


def _client(
    name: str,
    params: type[Wire],
    result: type[Wire],
    purpose: str,
    errors: tuple[ErrorKind, ...] = (),
    *,
    planned: bool = False,
) -> Method:
    return Method(
        name=f"assent/{name}",
        direction="clientRequest",
        params=params,
        result=result,
        purpose=purpose,
        errors=errors,
        planned=planned,
    )


def _server(name: str, params: type[Wire], result: type[Wire], purpose: str) -> Method:
    return Method(name=f"assent/{name}", direction="serverRequest", params=params, result=result, purpose=purpose)


def _notify(name: str, params: type[Wire], purpose: str, *, planned: bool = False) -> Method:
    return Method(
        name=f"assent/{name}",
        direction="serverNotification",
        params=params,
        result=None,
        purpose=purpose,
        planned=planned,
    )


_SESSION: tuple[ErrorKind, ...] = ("unknownSession", "ownedElsewhere", "unsupported")
_IDLE: tuple[ErrorKind, ...] = (*_SESSION, "busy")

METHODS: tuple[Method, ...] = (
    _client("session/new", requests.SessionNew, results.NewSession, "Start a conversation."),
    _client("session/send", requests.SessionSend, results.Sent, "Send a prompt.", (*_IDLE, "tooLarge")),
    _client("session/interrupt", requests.SessionRef, results.Interrupted, "Stop the running turn.", _SESSION),
    _client("session/unqueue", requests.SessionUnqueue, results.Unqueued, "Take back a queued message.", _SESSION),
    _client("session/list", requests.SessionList, results.Sessions, "List saved conversations, newest first."),
    _client("session/search", requests.SessionList, results.Sessions, "Search titles and prompts."),
    _client("session/attach", requests.SessionAttach, results.Attached, "Join or resume a conversation.", _SESSION),
    _client("session/fork", requests.SessionFork, results.Forked, "Copy a conversation up to a message.", _SESSION),
    _client("session/rename", requests.SessionRename, Empty, "Give a conversation a title.", _SESSION),
    _client("session/delete", requests.SessionRef, Empty, "Delete a conversation and its files.", _SESSION),
    _client("session/export", requests.SessionExport, results.Exported, "Write a conversation as text.", _SESSION),
    _client("session/close", requests.SessionRef, Empty, "Stop a conversation and free its file.", _SESSION),
    _client("session/configure", requests.SessionConfigure, results.Configured, "Change model, mode, …", _SESSION),
    _client("session/rewind", requests.SessionRewind, results.Rewound, "Go back to a message.", _IDLE),
    _client("session/retry", requests.SessionRef, results.Sent, "Run a turn again that a crash cut short.", _IDLE),
    _client("session/context", requests.SessionRef, results.ContextUsage, "Tokens by category.", _SESSION),
    _client("session/cost", requests.SessionRef, results.Cost, "Spend by model.", _SESSION),
    _client("session/snip", requests.SessionSnip, results.Snip, "Take messages out of the model's view.", _IDLE),
    _client(
        "session/trace", requests.SessionTrace, results.Traced, "What a turn did, with times and tokens.", _SESSION
    ),
    _client("session/unsnip", requests.SessionUnsnip, Empty, "Show snipped messages again.", _IDLE),
    _client("session/roster", roster.RosterRequest, roster.Roster, "All live sessions and their asks."),
    _client("tool/list", requests.ToolList, results.Tools, "List the tools of a session.", _SESSION),
    _client(
        "tool/run",
        requests.ToolRun,
        results.ToolRan,
        "Run a tool without the model, under the same permissions.",
        (*_SESSION, "permissionDenied", "cancelled"),
    ),
    _client("edit/list", requests.EditList, results.Proposals, "List open proposals.", _SESSION),
    _client(
        "edit/resolve",
        requests.EditResolve,
        results.Resolved,
        "Decide hunks of a proposal.",
        ("unknownProposal", "unknownHunk", "staleProposal"),
    ),
    _client("permission/explain", rules.PermissionExplain, rules.Explained, "What would be decided, and why."),
    _client("permission/rules", rules.PermissionRules, rules.Rules, "List the rules in force."),
    _client(
        "permission/editRules",
        rules.PermissionEditRules,
        rules.Rules,
        "Add and remove rules in the user's files.",
        ("untrusted", "outsideWorkspace"),
    ),
    _client("permission/answer", rules.PermissionReply, Empty, "Answer an open ask.", ("unknownAsk",)),
    _client("model/list", requests.ModelList, results.ModelChoices, "List the models one can choose."),
    _client(
        "credentials/check",
        requests.CredentialsCheck,
        results.CredentialsChecked,
        "Ask the endpoint whether it takes a key.",
    ),
    _client("complete", requests.Complete, results.Completions, "Complete @ and / in a prompt.", ("unknownSession",)),
    _client(
        "document/read", requests.DocumentRead, results.DocumentText, "Read an `assent:` document.", ("unsupported",)
    ),
    _client("trust/get", requests.TrustGet, results.TrustState, "What trusting a folder would activate."),
    _client("trust/set", requests.TrustSet, results.Trusted, "Trust a folder, or stop trusting it.", ("staleTrust",)),
    _client("mcp/list", extensions.McpList, extensions.McpServers, "List MCP servers.", ("unknownSession",)),
    _client("mcp/restart", extensions.McpRef, extensions.McpAnswer, "Start an MCP server again.", ("invalidRequest",)),
    _client("mcp/enable", extensions.McpRef, extensions.McpAnswer, "Use an MCP server."),
    _client("mcp/disable", extensions.McpRef, extensions.McpAnswer, "Stop using an MCP server."),
    _client("mcp/show", extensions.McpRef, extensions.McpDetails, "One MCP server with its tools, prompts and log."),
    _client("mcp/signIn", extensions.McpRef, extensions.McpAnswer, "Sign in to an MCP server."),
    _client("mcp/signOut", extensions.McpRef, extensions.McpAnswer, "Forget the tokens of an MCP server."),
    _client(
        "mcp/approve",
        extensions.McpRef,
        extensions.McpAnswer,
        "Allow a project's MCP server to start.",
        ("staleTrust", "untrusted"),
    ),
    _client("agent/list", extensions.AgentList, extensions.Agents, "List agents.", ("unknownSession",)),
    _client("agent/stop", extensions.AgentStop, extensions.AgentStopped, "Stop an agent.", _SESSION),
    _client(
        "agent/read",
        extensions.AgentRead,
        extensions.AgentConversation,
        "Read an agent's conversation.",
        (*_SESSION, "invalidRequest"),
    ),
    _client("command/list", extensions.CommandList, extensions.Commands, "List slash commands.", ("unknownSession",)),
    _client("hook/list", extensions.HookList, extensions.Hooks, "List hooks.", ("unknownSession",)),
    _client("hook/log", extensions.HookLog, extensions.HookRuns, "What hooks did lately.", _SESSION),
    _client("skill/list", extensions.FolderRef, extensions.Skills, "List skills."),
    _client("memory/list", extensions.FolderRef, extensions.MemoryFiles, "List memory files."),
    _client("plugin/list", extensions.FolderRef, extensions.Plugins, "List plugins."),
    _client("job/list", extensions.JobList, extensions.Jobs, "List background commands.", ("unknownSession",)),
    _client("job/kill", extensions.JobKill, extensions.Killed, "Stop a background command.", ("unknownSession",)),
    _client(
        "job/background",
        extensions.JobBackground,
        extensions.Backgrounded,
        "Move a running call to the background.",
        (*_SESSION, "invalidRequest"),
    ),
    _client(
        "job/foreground",
        extensions.JobForeground,
        extensions.Foregrounded,
        "Wait for a background job again.",
        (*_SESSION, "invalidRequest"),
    ),
    _client("settings/get", requests.SettingsGet, results.Settings, "Read settings and where they come from."),
    _client(
        "settings/set",
        requests.SettingsSet,
        results.Settings,
        "Save one setting.",
        ("untrusted", "outsideWorkspace"),
    ),
    _server("permission/ask", asks.PermissionAsk, asks.PermissionAnswer, "Ask the user whether a call may run."),
    _server("elicit", asks.Elicit, asks.ElicitAnswer, "Ask the user a question."),
    _server("editor/query", asks.EditorQuery, asks.EditorAnswer, "Ask the editor what its language servers know."),
    _server("editor/save", asks.EditorSave, asks.EditorSaved, "Save documents before a command runs."),
    _notify("session/event", events.SessionEvent, "One event of a session, in order and without gaps."),
    _notify("withdrawn", asks.Withdrawn, "A request to the client needs no answer any more."),
    _notify("status", asks.ServerStatus, "What the server as a whole is doing, and what it warns of."),
    _notify("roster", roster.Roster, "The roster has changed."),
    _notify("missed", roster.Missed, "What went on while no window was open; sent once, to whoever comes next."),
)


def _served(direction: Direction) -> dict[str, Method]:
    return {row.name: row for row in METHODS if row.direction == direction and not row.planned}


CLIENT_REQUESTS = _served("clientRequest")
SERVER_REQUESTS = _served("serverRequest")
SERVER_NOTIFICATIONS = _served("serverNotification")
