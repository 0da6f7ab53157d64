"""The wire as types: the page's names are all there, and what `initialize` promises is what is registered."""

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from lsprotocol import types

from assent.lsp import features
from assent.lsp.capabilities import initialize_result
from assent.lsp.registry import server
from assent.types.errors import ERROR_CODES
from assent.wire import CLIENT_REQUESTS, METHODS
from assent.wire.schema import schema

ROOT = Path(__file__).parents[2]

EVENTS = [
    "turnStarted",
    "stepStarted",
    "textDelta",
    "thinkingDelta",
    "toolPreparing",
    "toolInputDelta",
    "toolStarted",
    "toolProgress",
    "toolFinished",
    "toolSummary",
    "message",
    "tombstone",
    "retrying",
    "heartbeat",
    "compacting",
    "compacted",
    "permissionPending",
    "permissionResolved",
    "elicitationPending",
    "elicitationResolved",
    "editProposed",
    "editUpdated",
    "editResolved",
    "editMoved",
    "reviewPending",
    "todos",
    "tasks",
    "planProposed",
    "hook",
    "snipped",
    "compactSoon",
    "mcpChanged",
    "usage",
    "status",
    "queued",
    "dequeued",
    "unqueued",
    "completed",
    "maxTurnsReached",
    "job",
    "notice",
    "turnFinished",
]

REQUESTS = [
    "credentials/check",
    "mcp/show",
    "mcp/signOut",
    "model/list",
    "session/new",
    "session/send",
    "session/interrupt",
    "session/unqueue",
    "session/list",
    "session/search",
    "session/attach",
    "session/fork",
    "session/rename",
    "session/delete",
    "session/export",
    "session/close",
    "session/configure",
    "session/rewind",
    "session/context",
    "session/cost",
    "session/retry",
    "session/snip",
    "session/trace",
    "session/unsnip",
    "session/roster",
    "tool/list",
    "tool/run",
    "edit/list",
    "edit/resolve",
    "permission/explain",
    "permission/rules",
    "permission/editRules",
    "permission/answer",
    "complete",
    "document/read",
    "trust/get",
    "trust/set",
    "mcp/list",
    "mcp/restart",
    "mcp/enable",
    "mcp/disable",
    "mcp/signIn",
    "mcp/approve",
    "agent/list",
    "agent/stop",
    "agent/read",
    "hook/list",
    "hook/log",
    "skill/list",
    "memory/list",
    "plugin/list",
    "command/list",
    "job/list",
    "job/kill",
    "job/background",
    "job/foreground",
    "settings/get",
    "settings/set",
]

NOTIFICATIONS = ["missed", "session/event", "withdrawn", "status", "roster"]
SERVER_REQUESTS = ["permission/ask", "elicit", "editor/query", "editor/save"]


def test_every_name_of_the_contract_is_there() -> None:
    described = schema()
    assert set(described["events"]) == set(EVENTS)
    assert {f"assent/{name}" for name in REQUESTS} == set(described["requests"])
    assert set(described["serverRequests"]) == {f"assent/{name}" for name in SERVER_REQUESTS}
    assert set(described["serverNotifications"]) == {f"assent/{name}" for name in NOTIFICATIONS}
    assert described["errors"]["staleProposal"] == -32803


def test_fields_are_camel_case_and_say_whether_they_may_be_left_out() -> None:
    described = schema()
    send = described["requests"]["assent/session/send"]["params"]
    assert {name for name, field in send.items() if not field["optional"]} == {"sessionId", "prompt"}
    assert "clientMessageId" in send
    for method in described["requests"].values():
        assert all(re.fullmatch(r"[a-z][A-Za-z]*", name) for name in method["params"])


def test_every_row_of_the_table_has_a_name_of_its_own_and_known_errors() -> None:
    names = [row.name for row in METHODS]
    assert len(names) == len(set(names))
    for row in METHODS:
        assert set(row.errors) <= set(ERROR_CODES), row.name
        assert row.purpose.endswith((".", "…")), row.name
        assert (row.result is None) == (row.direction == "serverNotification"), row.name


def test_initialize_lists_exactly_what_is_served() -> None:
    features.load()
    capabilities = initialize_result({})["capabilities"]
    assert set(capabilities["executeCommandProvider"]["commands"]) == set(server.commands)
    served = {method for method in server.features if method.startswith("assent/")}
    assert set(capabilities["experimental"]["assent"]["methods"]) == served == set(CLIENT_REQUESTS)
    provided = {
        "codeActionProvider": "textDocument/codeAction",
        "codeLensProvider": "textDocument/codeLens",
        "hoverProvider": "textDocument/hover",
        "completionProvider": "textDocument/completion",
    }
    assert {name for name in capabilities if name.endswith("Provider")} == {*provided, "executeCommandProvider"}
    assert set(provided.values()) <= set(server.features)


def test_the_names_for_the_early_answer_are_those_that_make_protocol_writes() -> None:
    ran = subprocess.run([sys.executable, str(ROOT / ".ci/served.py"), "--check"], timeout=60)
    assert ran.returncode == 0, "run `make protocol`"


def test_every_handler_takes_the_parameters_of_its_row() -> None:
    features.load()
    for method, feature in server.features.items():
        given = list(inspect.signature(feature.function).parameters.values())
        assert given[0].name == "ls", "pygls injects the server by this name"
        if method in CLIENT_REQUESTS:
            assert given[1].annotation is CLIENT_REQUESTS[method].params, method
        elif feature.is_request:
            kind: Any = types.METHOD_TO_TYPES[method][2]
            assert given[1].annotation == f"types.{kind.__name__}", method
