"""Shapes that several examples of docs/protocol.md share: a proposal, an ask, a result, a session."""

from typing import Any

Json = dict[str, Any]

RANGE: Json = {"start": {"line": 3, "character": 0}, "end": {"line": 4, "character": 0}}
HUNK: Json = {
    "hunkId": "h7c2",
    "range": RANGE,
    "oldText": 'print("Helo")\n',
    "newText": 'print("Hello")\n',
    "state": "pending",
    "open": True,
}
PROPOSAL: Json = {
    "proposalId": "p41f",
    "uri": "file:///home/me/app/greeter.py",
    "version": 7,
    "baseHash": "9f86d081884c7d65",
    "hunks": [HUNK],
    "tool": "Edit",
    "reason": "Fix the greeting",
    "sessionId": "s3k9",
    "toolUseId": "toolu_01",
    "review": "before",
}
USAGE: Json = {
    "inputTokens": 812,
    "outputTokens": 64,
    "cacheCreationInputTokens": 0,
    "cacheReadInputTokens": 5120,
    "webSearchRequests": 0,
}
RESULT: Json = {
    "subtype": "success",
    "isError": False,
    "result": "Fixed.",
    "terminal": "completed",
    "stopReason": "end_turn",
    "numTurns": 3,
    "durationMs": 5200,
    "durationApiMs": 4100,
    "totalCostUsd": 0.0132,
    "usage": USAGE,
    "modelUsage": {"claude-sonnet-4-5": {**USAGE, "costUsd": 0.0132}},
    "permissionDenials": [],
    "sessionId": "s3k9",
}
ASK: Json = {
    "sessionId": "s3k9",
    "turnId": "t1",
    "askId": "a5d1",
    "toolUseId": "toolu_02",
    "tool": "Bash",
    "input": {"command": "npm test"},
    "title": "Run npm test",
    "reason": "No rule allows this command",
    "step": "rules",
    "suggestions": [{"rule": "Bash(npm test:*)", "scope": "project", "covers": "`npm test` with any arguments"}],
    "command": {
        "text": "npm test",
        "display": "npm test",
        "parts": [{"argv": ["npm", "test"], "decision": "ask", "display": "npm test"}],
    },
}
SESSION: Json = {"sessionId": "s3k9"}
INFO: Json = {
    "sessionId": "s3k9",
    "title": "Fix the greeting",
    "updatedAt": 1767225600.0,
    "turns": 2,
    "costUsd": 0.0132,
    "cwd": "/home/me/app",
    "branch": "main",
    "running": False,
}
SERVER: Json = {"name": "github", "status": "connected", "scope": "user", "transport": "http", "tools": 12}
RULE: Json = {
    "rule": "Bash(npm test:*)",
    "behaviour": "allow",
    "scope": "local",
    "file": "/home/me/app/.assent/settings.local.json",
}
MISSED: Json = {
    "sessions": [
        {
            "sessionId": "s4f2k9",
            "title": "Fix the greeting",
            "state": "waiting",
            "since": 1760000000.0,
            "epoch": "e1",
            "afterSeq": 118,
            "ask": "Run `make test`",
            "text": "While no window was open: “Fix the greeting” waits for your answer: Run `make test`.",
        }
    ]
}
ROSTER: Json = {
    "sessions": [
        {
            "sessionId": "s3k9",
            "title": "Fix the greeting",
            "cwd": "/home/me/app",
            "state": "waiting",
            "costUsd": 0.0132,
            "clients": 1,
            "asks": [{"askId": "a5d1", "title": "Run npm test", "tool": "Bash"}],
        }
    ]
}
SETTINGS: Json = {
    "settings": {"model": "claude-sonnet-4-5"},
    "sources": [{"path": "/home/me/.config/assent/settings.json", "exists": True}],
    "warnings": [],
    "value": "claude-sonnet-4-5",
}
SENT: Json = {"turnId": "t1", "queued": False}
SESSIONS: Json = {"sessions": [INFO], "nextCursor": "50"}
