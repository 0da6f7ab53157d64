"""One example per method for docs/protocol.md: parameters, and the result where there is one.

A test decodes each of them with the structs of its method.
"""

from assent.wire.generate.example_shapes import (
    ASK,
    HUNK,
    INFO,
    MISSED,
    PROPOSAL,
    RANGE,
    ROSTER,
    RULE,
    SENT,
    SERVER,
    SESSION,
    SESSIONS,
    SETTINGS,
    USAGE,
    Json,
)

_EXAMPLES: dict[str, tuple[Json, Json | None]] = {
    "session/new": (
        {"cwd": "/home/me/app", "mode": "default"},
        {
            "sessionId": "s3k9",
            "model": "claude-sonnet-4-5",
            "mode": "default",
            "tools": ["Read", "Edit", "Bash"],
            "commands": [{"name": "review", "description": "Review a change", "argumentHint": "[branch]"}],
            "agents": [{"name": "explore", "description": "Finds things in the code"}],
            "mcpServers": [{"name": "github", "status": "connected"}],
        },
    ),
    "session/send": (
        {
            "sessionId": "s3k9",
            "prompt": "Fix the greeting",
            "mentions": [{"uri": "file:///home/me/app/greeter.py"}],
            "clientMessageId": "c1",
        },
        SENT,
    ),
    "session/interrupt": (SESSION, {"interrupted": True, "queued": ["c2"]}),
    "session/unqueue": (
        {"sessionId": "s3k9", "clientMessageId": "c2"},
        {"unqueued": True, "prompt": "And the tests, please"},
    ),
    "session/list": ({"cwd": "/home/me/app"}, SESSIONS),
    "session/search": ({"query": "greeting"}, {"sessions": [INFO]}),
    "session/attach": (
        {"sessionId": "s3k9", "epoch": "e8", "afterSeq": 41},
        {
            "epoch": "e8",
            "lastSeq": 57,
            "reset": False,
            "messages": [],
            "running": True,
            "turnId": "t1",
            "pendingAsks": [ASK],
            "pendingElicits": [],
            "proposals": [PROPOSAL],
            "todos": [{"id": "1", "content": "Fix it", "activeForm": "Fixing it", "status": "in_progress"}],
            "mode": "default",
            "model": "claude-sonnet-4-5",
            "state": "waiting",
        },
    ),
    "session/fork": ({"sessionId": "s3k9", "messageId": "u2"}, {"sessionId": "s4m1"}),
    "session/rename": ({"sessionId": "s3k9", "title": "Greeting"}, {}),
    "session/delete": (SESSION, {}),
    "session/export": ({"sessionId": "s3k9", "format": "json"}, {"text": "[…]"}),
    "session/close": (SESSION, {}),
    "session/configure": (
        {"sessionId": "s3k9", "mode": "acceptEdits", "review": "after"},
        {"model": "claude-sonnet-4-5", "mode": "acceptEdits", "review": "after"},
    ),
    "session/rewind": (
        {"sessionId": "s3k9", "messageId": "u2", "restore": "both", "dryRun": True},
        {"files": [{"path": "/home/me/app/greeter.py", "change": "modified"}], "conflicts": []},
    ),
    "session/retry": (SESSION, SENT),
    "session/context": (
        SESSION,
        {"tokens": {"system": 3100, "messages": 2800}, "window": 200000, "used": 5900, "autoCompactAt": 167000},
    ),
    "session/cost": (
        SESSION,
        {
            "totalCostUsd": 0.0132,
            "models": [{"model": "claude-sonnet-4-5", **USAGE, "costUsd": 0.0132}],
            "cacheShare": 0.86,
        },
    ),
    "session/snip": ({"sessionId": "s3k9", "messageIds": ["u2", "m3"]}, {"snipId": "n1", "tokensFreed": 1840}),
    "session/trace": (
        {"sessionId": "s3k9", "turn": 2},
        {"turns": [{"turn": 2, "steps": 1, "cacheShare": 0.9, "calls": []}], "text": 'Turn 2  "fix it"'},
    ),
    "session/unsnip": ({"sessionId": "s3k9", "snipId": "n1"}, {}),
    "session/roster": ({}, ROSTER),
    "tool/list": (
        SESSION,
        {"tools": [{"name": "Glob", "description": "Finds files", "inputSchema": {"type": "object"}}]},
    ),
    "tool/run": (
        {"sessionId": "s3k9", "name": "Glob", "input": {"pattern": "**/*.py"}},
        {"content": [{"type": "text", "text": "greeter.py"}], "isError": False, "durationMs": 12},
    ),
    "edit/list": (SESSION, {"proposals": [PROPOSAL]}),
    "edit/resolve": (
        {
            "proposalId": "p41f",
            "version": 7,
            "decisions": [
                {"hunkId": "h7c2", "decision": "accept", "lines": {"old": [[0, 1]], "new": [[0, 1]]}},
            ],
        },
        {"proposal": {**PROPOSAL, "hunks": [{**HUNK, "state": "accepted", "open": False}]}, "refused": []},
    ),
    "permission/explain": (
        {"tool": "Bash", "input": {"command": "git log"}, "cwd": "/home/me/app"},
        {"decision": "allow", "step": "readOnly", "reason": "git log only reads"},
    ),
    "permission/rules": ({"cwd": "/home/me/app"}, {"rules": [RULE]}),
    "permission/editRules": (
        {"cwd": "/home/me/app", "add": [{"rule": "Bash(npm test:*)", "behaviour": "allow", "scope": "local"}]},
        {"rules": [RULE]},
    ),
    "permission/answer": ({"askId": "a5d1", "decision": "allow", "scope": "session"}, {}),
    "model/list": (
        {"cwd": "/home/you/project"},
        {
            "models": [
                {"id": "claude-sonnet-5-5", "name": "Claude Sonnet 5.5", "source": "endpoint"},
                {"id": "claude-opus-5-5", "name": "Opus", "source": "known"},
            ],
            "endpoint": "https://api.anthropic.com",
            "askedAt": 1794900000.0,
        },
    ),
    "credentials/check": (
        {"apiKey": "sk-…"},
        {"verdict": "refused", "endpoint": "https://api.anthropic.com", "detail": "invalid x-api-key"},
    ),
    "complete": (
        {"text": "look at @gree", "offset": 13},
        {"items": [{"label": "greeter.py", "insertText": "@greeter.py", "kind": "file", "detail": "/home/me/app"}]},
    ),
    "document/read": ({"uri": "assent:/plan/s3k9.md"}, {"text": "1. Fix it", "languageId": "markdown"}),
    "trust/get": (
        {"uri": "file:///home/me/app"},
        {
            "trusted": False,
            "hash": "5e884898",
            "items": [
                {
                    "kind": "hook",
                    "name": "PostToolUse",
                    "value": "make format",
                    "file": "/home/me/app/.assent/settings.json",
                    "dangerous": True,
                }
            ],
            "changed": False,
        },
    ),
    "trust/set": (
        {"uri": "file:///home/me/app", "trusted": True, "remember": "always", "hash": "5e884898"},
        {"trusted": True},
    ),
    "mcp/list": (SESSION, {"servers": [SERVER]}),
    "mcp/restart": ({"name": "github"}, {"server": SERVER}),
    "mcp/enable": ({"name": "github"}, {"server": SERVER}),
    "mcp/disable": ({"name": "github"}, {"server": {"name": "github", "status": "disabled"}}),
    "mcp/show": (
        {"name": "github"},
        {
            "server": SERVER,
            "tools": [
                {
                    "name": "mcp__github__search",
                    "tool": "search",
                    "title": "Search",
                    "description": "Searches issues.",
                    "tokens": 120,
                    "heldBack": False,
                    "hints": ["readOnlyHint"],
                }
            ],
            "prompts": [{"name": "triage", "description": "Sort new issues."}],
        },
    ),
    "mcp/signIn": ({"name": "github"}, {"server": SERVER}),
    "mcp/signOut": ({"name": "github"}, {"server": SERVER}),
    "mcp/approve": ({"name": "github", "hash": "1f2e"}, {"server": SERVER}),
    "agent/list": (
        SESSION,
        {
            "agents": [{"name": "explore", "agentId": "g1", "state": "running", "tokens": 9100, "costUsd": 0.004}],
            "definitions": [{"name": "explore", "description": "Finds things in the code", "source": "built-in"}],
        },
    ),
    "agent/read": (
        {"sessionId": "s3k9", "agentId": "g1"},
        {
            "messages": [{"id": "u1", "role": "user", "content": [{"type": "text", "text": "Find the bug."}]}],
            "agent": {"name": "explore", "agentId": "g1", "state": "finished", "tokens": 9100, "costUsd": 0.004},
        },
    ),
    "agent/stop": ({"sessionId": "s3k9", "agentId": "g1"}, {"stopped": True}),
    "command/list": (SESSION, {"commands": [{"name": "review", "description": "Review a change"}]}),
    "hook/list": (
        {"cwd": "/home/me/app"},
        {
            "hooks": [
                {
                    "hookId": "k1",
                    "event": "PostToolUse",
                    "matcher": "Edit|Write",
                    "type": "command",
                    "command": "make format",
                    "source": "/home/me/app/.assent/settings.json",
                    "active": False,
                    "withheld": "the folder is not trusted",
                }
            ]
        },
    ),
    "hook/log": (
        SESSION,
        {
            "runs": [
                {"hookId": "k1", "event": "PostToolUse", "outcome": "success", "durationMs": 80, "exitCode": 0},
            ]
        },
    ),
    "skill/list": (
        {"cwd": "/home/me/app"},
        {"skills": [{"name": "pdf", "description": "Reads PDF files", "source": "user", "tokens": 40}]},
    ),
    "memory/list": (
        {"cwd": "/home/me/app"},
        {
            "files": [
                {
                    "path": "/home/me/app/AGENTS.md",
                    "kind": "project",
                    "scope": "project",
                    "tokens": 310,
                    "reason": "always",
                }
            ]
        },
    ),
    "plugin/list": (
        {"cwd": "/home/me/app"},
        {
            "plugins": [
                {"name": "docs", "version": "1.2.0", "source": "user", "enabled": True, "parts": ["skills", "commands"]}
            ]
        },
    ),
    "job/list": (
        SESSION,
        {"jobs": [{"sessionId": "s3k9", "jobId": "j1", "command": "npm run dev", "state": "running"}]},
    ),
    "job/kill": ({"sessionId": "s3k9", "jobId": "j1"}, {"killed": True}),
    "job/background": ({"sessionId": "s3k9", "toolUseId": "toolu_02"}, {"jobId": "j1"}),
    "job/foreground": ({"sessionId": "s3k9", "jobId": "j1"}, {"toolUseId": "toolu_02"}),
    "settings/get": ({"key": "model", "cwd": "/home/me/app"}, SETTINGS),
    "settings/set": ({"key": "model", "value": "claude-sonnet-4-5"}, SETTINGS),
    "permission/ask": ({"requestId": "r1", **ASK}, {"decision": "allow", "scope": "session"}),
    "elicit": (
        {
            "requestId": "r2",
            "sessionId": "s3k9",
            "elicitId": "q1",
            "message": "Which greeting?",
            "questions": [
                {
                    "id": "g",
                    "header": "Greeting",
                    "question": "Which greeting?",
                    "multiSelect": False,
                    "options": [{"label": "Hello"}, {"label": "Hi", "description": "Shorter"}],
                    "allowOther": True,
                }
            ],
        },
        {"action": "accept", "content": {"answers": {"g": ["Hello"]}}},
    ),
    "editor/query": (
        {
            "requestId": "r3",
            "kind": "definition",
            "uri": "file:///home/me/app/greeter.py",
            "position": {"line": 3, "character": 4},
            "timeoutMs": 3000,
        },
        {"status": "success", "value": [{"uri": "file:///home/me/app/greeter.py", "range": RANGE}]},
    ),
    "editor/save": (
        {"requestId": "r4", "uris": ["file:///home/me/app/greeter.py"]},
        {"saved": ["file:///home/me/app/greeter.py"], "failed": []},
    ),
    "session/event": (
        {
            "sessionId": "s3k9",
            "seq": 42,
            "event": {"type": "textDelta", "blockId": "m3", "text": "The greeting is misspelt."},
        },
        None,
    ),
    "withdrawn": ({"requestId": "r1"}, None),
    "status": (
        {
            "state": "idle",
            "model": "claude-sonnet-4-5",
            "offline": False,
            "credentials": "env",
            "trust": [{"uri": "file:///home/me/app", "trusted": True, "withheld": []}],
            "warnings": [],
        },
        None,
    ),
    "roster": (ROSTER, None),
    "missed": (MISSED, None),
}

EXAMPLES = {f"assent/{name}": example for name, example in _EXAMPLES.items()}
